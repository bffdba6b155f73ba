/* Slots and steps: the graph's values and nodes as arrays, each operator prepared. */
#include "ir/constant.h"
#include "ir/nested.h"
#include "ops/ops.h"
#include "plan/plan.h"
#include <assert.h>

typedef struct builder {
    evl_context *ctx;
    evl_plan *plan;
    size_t slot_capacity;
} builder;

/* Slots are numbered from 1 in evl_value.slot, so that 0 means: none yet. */
static EvalStatus slot_of(builder *b, evl_value *v, evl_slot_index *index)
{
    evl_plan *p = b->plan;
    *index = EVL_NO_SLOT;
    if (!v)
        return EVAL_OK;
    if (!v->slot) {
        evl_slot *all =
            evl_arena_grow(p->arena, p->slots, p->n_slots, &b->slot_capacity, sizeof *all);
        if (!all)
            return evl_no_memory(b->ctx);
        p->slots = all;
        all[p->n_slots++] =
            (evl_slot){ .t = v->t, .place = v->is_constant ? EVL_PLACE_CONSTANT : EVL_PLACE_BLOCK };
        v->slot = p->n_slots;
    }
    *index = (evl_slot_index)v->slot - 1;
    return EVAL_OK;
}

static EvalStatus slots_of(builder *b, evl_value *const *values, size_t n,
                           const evl_slot_index **slots)
{
    evl_slot_index *all = evl_arena_take_many(b->plan->arena, n + 1, sizeof *all);
    if (!all)
        return evl_no_memory(b->ctx);
    *slots = all;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < n && st == EVAL_OK; i++)
        st = slot_of(b, values[i] ? evl_value_final(values[i]) : NULL, &all[i]);
    return st;
}

static bool is_known(const builder *b, const evl_slot_index *slots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (slots[i] != EVL_NO_SLOT && (evl_type_is_nested(b->plan->slots[slots[i]].t.type) ||
                                        !evl_shape_is_known(&b->plan->slots[slots[i]].t.shape)))
            return false;
    return true;
}

/* Operators that exec/ knows how to run. */
static const struct {
    const evl_op *op;
    evl_step_kind kind;
} special[] = {
    { &evl_op_if, EVL_STEP_IF },
    { &evl_op_loop, EVL_STEP_LOOP },
    { &evl_op_scan, EVL_STEP_SCAN },
    { &evl_op_sequence_map, EVL_STEP_MAP },
    { &evl_op_recurrence, EVL_STEP_RECURRENCE },
    { &evl_op_delay, EVL_STEP_DELAY },
};

static evl_step_kind kind_of(const builder *b, const evl_step *s)
{
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++)
        if (s->node->op == special[i].op)
            return special[i].kind;
    if (!is_known(b, s->in, s->node->n_inputs) || !is_known(b, s->out, s->node->n_outputs))
        return EVL_STEP_DYNAMIC;
    return s->node->op->traits & EVL_OP_CARRIES ? EVL_STEP_CARRYING : EVL_STEP_STATIC;
}

/* Pointers to the tensors of slots, in the order of a node's operands. */
static const evl_tensor **tensors(builder *b, const evl_slot_index *slots, size_t n)
{
    const evl_tensor **all = evl_arena_take_many(b->plan->arena, n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        all[i] = slots[i] == EVL_NO_SLOT ? NULL : &b->plan->slots[slots[i]].t;
    return all;
}

/* Constants among a step's inputs are aligned, but for those of the bits `but`. */
static EvalStatus settle_inputs(builder *b, const evl_step *s, unsigned but)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < s->node->n_inputs && st == EVAL_OK; i++) {
        evl_slot *slot = s->in[i] == EVL_NO_SLOT ? NULL : &b->plan->slots[s->in[i]];
        if (slot && slot->place == EVL_PLACE_CONSTANT && !(i < 8 && but >> i & 1))
            st = evl_constant_settle(b->ctx, b->plan->store, slot->t.type, &slot->t);
    }
    return st;
}

static EvalStatus prepare(builder *b, evl_step *s)
{
    const evl_node *node = s->node;
    const unsigned packs = node->op->traits & EVL_OP_PACKS ? 1u << 1 : 0;
    const evl_impl *impl;
    evl_prepare p = {
        .ctx = b->ctx,
        .use = { node, tensors(b, s->in, node->n_inputs), node->n_inputs },
        .out = tensors(b, s->out, node->n_outputs),
        .n_out = node->n_outputs,
        .machine = b->plan->machine,
        .arena = b->plan->arena,
        .store = b->plan->store,
    };
    if (!p.use.in || !p.out)
        return evl_no_memory(b->ctx);
    EvalStatus st = evl_use_impl(b->ctx, &p.use, b->plan->machine->precision, &impl);
    if (st == EVAL_OK)
        st = settle_inputs(b, s, packs);
    if (st != EVAL_OK)
        return st;
    p.run = impl->run;
    st = impl->prepare ? impl->prepare(&p) : EVAL_OK;
    if (st == EVAL_OK)
        st = settle_inputs(b, s, p.packed & packs);
    if (st != EVAL_OK)
        return evl_node_failed(b->ctx, node, st);
    s->run = p.run;
    s->part = p.part;
    s->state = p.state;
    s->strategy = p.strategy;
    s->scratch_bytes = p.scratch_bytes;
    s->carried_bytes = p.carried_bytes;
    return EVAL_OK;
}

static EvalStatus build(builder *b, evl_graph *g, evl_value *const *captured, size_t n_captured);

/* A body's plan lives in the same arena. Values that it captures have a slot here and
** one there; evl_value.slot holds the one being worked on. */
static EvalStatus build_body(builder *outer, evl_step *s, evl_graph *body, evl_body *result)
{
    evl_plan *p = evl_arena_take(outer->plan->arena, sizeof *p);
    evl_value **captured;
    size_t n;
    builder b = { outer->ctx, p, 0 };
    if (!p)
        return evl_no_memory(outer->ctx);
    if (body->failure != EVAL_OK)
        return EVAL_OK; /* no plan: the step fails when it takes this branch */
    *p = (evl_plan){ .memory = outer->plan->memory, .arena = outer->plan->arena,
                     .machine = outer->plan->machine, .store = outer->plan->store };
    EvalStatus st = evl_node_captures(outer->ctx, p->arena, s->node, &captured, &n);
    if (st == EVAL_OK)
        st = slots_of(outer, captured, n, &result->captured);
    for (size_t i = 0; i < n && st == EVAL_OK; i++)
        captured[i]->slot = 0;
    if (st == EVAL_OK)
        st = build(&b, body, captured, n);
    for (size_t i = 0; i < n && st == EVAL_OK; i++)
        captured[i]->slot = (size_t)result->captured[i] + 1;
    result->plan = p;
    result->n_own = body->n_inputs;
    result->n_captured = n;
    return st;
}

static EvalStatus build_bodies(builder *b, evl_step *s)
{
    while (evl_node_body(s->node, s->n_bodies))
        s->n_bodies++;
    s->bodies = evl_arena_take_many(b->plan->arena, s->n_bodies + 1, sizeof *s->bodies);
    if (!s->bodies)
        return evl_no_memory(b->ctx);
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < s->n_bodies && st == EVAL_OK; i++)
        st = build_body(b, s, evl_node_body(s->node, i), &s->bodies[i]);
    return st;
}

/* A recurrence writes each frame of each output where it belongs, and reads it there
** again: sizes must be known, and no output may come from elsewhere. */
static EvalStatus check_recurrence(builder *b, const evl_step *s)
{
    const evl_node *node = s->node;
    for (size_t i = 0; i < node->n_outputs; i++)
        if (s->out[i] == EVL_NO_SLOT)
            return evl_fail(b->ctx, EVAL_ERR_UNSUPPORTED,
                            "a value inside a recurrence cannot be given from outside");
    if (!is_known(b, s->out, node->n_outputs) || !is_known(b, s->in, node->n_inputs))
        return evl_fail(b->ctx, EVAL_ERR_UNSUPPORTED, "a recurrence over sizes not known before");
    return EVAL_OK;
}

static EvalStatus check_delays(builder *b, const evl_step *s)
{
    size_t n;
    const int64_t *output = evl_node_ints(s->node, "delay_output", &n);
    const evl_plan *body = s->bodies[0].plan;
    for (size_t i = 0; i < n; i++) {
        const evl_tensor *shown = &body->slots[body->outputs[output[i]]].t;
        const evl_tensor *delayed = &body->slots[body->inputs[s->node->n_inputs + i]].t;
        if (!evl_shape_equal(&shown->shape, &delayed->shape) || shown->type != delayed->type)
            return evl_fail(b->ctx, EVAL_ERR_SHAPE, "delay %zu is not shaped as what it delays", i);
    }
    return EVAL_OK;
}

static EvalStatus number_carried(builder *b, evl_step *s)
{
    evl_plan *p = b->plan;
    for (size_t i = 0; i < s->n_bodies; i++)
        if (s->bodies[i].plan && s->bodies[i].plan->n_states > p->n_states)
            p->n_states = s->bodies[i].plan->n_states;
    if (!(s->node->op->traits & EVL_OP_CARRIES))
        return EVAL_OK;
    if (s->node->state == 0)
        return evl_fail(b->ctx, EVAL_ERR_UNSUPPORTED,
                        "it keeps state along a sequence, and is none of the model's own nodes");
    if (s->node->state > p->n_states)
        p->n_states = s->node->state;
    return EVAL_OK;
}

static EvalStatus add_step(builder *b, const evl_node *node)
{
    evl_step *s = &b->plan->steps[b->plan->n_steps++];
    s->node = node;
    EvalStatus st = slots_of(b, node->inputs, node->n_inputs, &s->in);
    if (st == EVAL_OK)
        st = slots_of(b, node->outputs, node->n_outputs, &s->out);
    if (st == EVAL_OK)
        st = build_bodies(b, s);
    if (st != EVAL_OK)
        return st;
    st = number_carried(b, s);
    s->kind = kind_of(b, s);
    if (st == EVAL_OK && s->kind == EVL_STEP_RECURRENCE) {
        st = check_recurrence(b, s);
        if (st == EVAL_OK)
            st = check_delays(b, s);
    }
    return st == EVAL_OK ? st : evl_node_failed(b->ctx, node, st);
}

/* Two rounds, since preparing takes the addresses of slots: no slot is added after the first. */
static EvalStatus add_steps(builder *b, const evl_graph *g)
{
    evl_plan *p = b->plan;
    EvalStatus st = EVAL_OK;
    p->steps = evl_arena_take_many(p->arena, g->n_nodes + 1, sizeof *p->steps);
    if (!p->steps)
        return evl_no_memory(b->ctx);
    for (size_t i = 0; i < g->n_nodes && st == EVAL_OK; i++)
        st = add_step(b, g->nodes[i]);
    return st;
}

static bool is_prepared(const evl_step *s)
{
    return s->kind == EVL_STEP_STATIC || s->kind == EVL_STEP_CARRYING;
}

static EvalStatus prepare_steps(builder *b)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < b->plan->n_steps && st == EVAL_OK; i++)
        st = is_prepared(&b->plan->steps[i]) ? prepare(b, &b->plan->steps[i])
                                             : settle_inputs(b, &b->plan->steps[i], 0);
    return st;
}

static void forget_slots(evl_graph *g)
{
    for (size_t i = 0; i < g->n_values; i++)
        g->values[i]->slot = 0;
}

/* The inputs: the graph's own, then those captured from outer graphs. */
static EvalStatus add_inputs(builder *b, const evl_graph *g, evl_value *const *captured,
                             size_t n_captured)
{
    evl_plan *p = b->plan;
    const size_t n_own = g->n_inputs, n = n_own + n_captured;
    p->inputs = evl_arena_take_many(p->arena, n + 1, sizeof *p->inputs);
    if (!p->inputs)
        return evl_no_memory(b->ctx);
    p->n_inputs = n;
    for (size_t i = 0; i < n; i++) {
        evl_value *v = i < n_own ? g->inputs[i] : captured[i - n_own];
        EvalStatus st = slot_of(b, v, &p->inputs[i]);
        if (st != EVAL_OK)
            return st;
        if (v->is_constant) /* a captured constant is simply there */
            continue;
        assert(p->slots);
        p->slots[p->inputs[i]].place = EVL_PLACE_INPUT;
        p->slots[p->inputs[i]].at = i;
    }
    return EVAL_OK;
}

static EvalStatus build(builder *b, evl_graph *g, evl_value *const *captured, size_t n_captured)
{
    evl_plan *p = b->plan;
    const evl_slot_index *outputs;
    forget_slots(g);
    EvalStatus st = add_inputs(b, g, captured, n_captured);
    if (st == EVAL_OK)
        st = add_steps(b, g);
    if (st == EVAL_OK)
        st = slots_of(b, g->outputs, g->n_outputs, &outputs);
    if (st == EVAL_OK) {
        p->n_outputs = g->n_outputs;
        p->outputs = (evl_slot_index *)outputs; /* ours, taken a moment ago */
        st = prepare_steps(b);
    }
    if (st == EVAL_OK)
        st = evl_plan_ended(b->ctx, p);
    if (st == EVAL_OK)
        st = evl_plan_memory(b->ctx, p);
    if (st == EVAL_OK)
        evl_plan_together(p);
    if (st == EVAL_OK && !(p->lock = evl_mutex_new(p->memory)))
        st = evl_no_memory(b->ctx);
    return st;
}

static void end(evl_plan *p)
{
    for (size_t i = 0; i < p->n_steps; i++)
        for (size_t j = 0; j < p->steps[i].n_bodies; j++)
            if (p->steps[i].bodies[j].plan)
                end(p->steps[i].bodies[j].plan);
    evl_mutex_free(p->lock);
}

EvalStatus evl_plan_build(evl_context *ctx, evl_arena *arena, const evl_machine *machine,
                          evl_store *store, evl_graph *graph, evl_plan **result)
{
    evl_plan *p = evl_arena_take(arena, sizeof *p);
    builder b = { ctx, p, 0 };
    if (!p) {
        evl_arena_free(arena);
        return evl_no_memory(ctx);
    }
    *p = (evl_plan){
        .memory = evl_arena_memory(arena), .arena = arena, .machine = machine, .store = store
    };
    EvalStatus st = build(&b, graph, NULL, 0);
    if (st == EVAL_OK)
        *result = p;
    else
        evl_plan_free(p);
    return st;
}

void evl_plan_free(evl_plan *p)
{
    if (!p)
        return;
    end(p);
    evl_arena_free(p->arena);
}
