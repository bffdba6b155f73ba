/* The loop over the steps. */
#include "exec/exec.h"
#include "ir/nested.h"
#include "ops/elementwise.h"

static EvalStatus step_static(evl_session *s, evl_context *ctx, size_t step)
{
    evl_call *call = &s->calls[step];
    call->ctx = ctx;
    return s->plan->steps[step].run(call);
}

/* Elements of a part: a few operands' stay in the first cache. */
enum { PART = 4096 };

typedef struct together {
    const evl_step *steps;
    const evl_call *calls;
    size_t n_steps, count;
} together;

static void run_tile(void *arg, size_t tile, size_t lane)
{
    const together *t = arg;
    size_t end = evl_tile_start(t->count, tile + 1);
    (void)lane;
    for (size_t from = evl_tile_start(t->count, tile), to; from < end; from = to) {
        to = end - from < PART ? end : from + PART;
        for (size_t i = 0; i < t->n_steps; i++)
            t->steps[i].part(&t->calls[i], from, to);
    }
}

/* Step i and those that run together with it: parts do not fail. */
static void run_together(evl_session *s, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    together t = { step, &s->calls[i], step->together,
                   evl_shape_count(&s->calls[i].out[0]->shape) };
    if (t.count)
        evl_parallel_for(s->plan->machine->pool, evl_tile_count(t.count), run_tile, &t);
}

static EvalStatus step_carrying(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    evl_call *call = &s->calls[i];
    call->ctx = ctx;
    EvalStatus st = evl_states_carry(ctx, s->states, step->node->state - 1, step->carried_bytes,
                                     &call->carried);
    if (st == EVAL_OK)
        st = step->run(call);
    return st == EVAL_OK ? st : evl_node_failed(ctx, step->node, st);
}

static EvalStatus (*const runners[EVL_N_STEP_KINDS])(evl_session *, evl_context *, size_t) = {
    [EVL_STEP_STATIC] = step_static, [EVL_STEP_DYNAMIC] = evl_step_dynamic,
    [EVL_STEP_IF] = evl_step_if,     [EVL_STEP_LOOP] = evl_step_loop,
    [EVL_STEP_SCAN] = evl_step_scan, [EVL_STEP_MAP] = evl_step_map,
    [EVL_STEP_CARRYING] = step_carrying,
    [EVL_STEP_DELAY] = evl_step_delay, [EVL_STEP_RECURRENCE] = evl_step_recurrence,
};

static EvalStatus run_step(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    EvalStatus st = runners[step->kind](s, ctx, i);
    return st != EVAL_OK && step->kind == EVL_STEP_STATIC ? evl_node_failed(ctx, step->node, st) : st;
}

static EvalStatus run_timed(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    const evl_op *op = step->node->op;
    const uint64_t begin = evl_clock();
    s->strategy = step->strategy;
    EvalStatus st = run_step(s, ctx, i);
    EvalStep done = { .size = sizeof done,
                      .name = evl_node_name(step->node),
                      .op = op->name,
                      .domain = op->domain ? op->domain : "",
                      .method = s->strategy ? s->strategy : "",
                      .depth = s->depth,
                      .nanoseconds = evl_clock() - begin };
    if (st == EVAL_OK)
        s->step(s->user, &done);
    return st;
}

/* Steps that are timed run one by one. */
EvalStatus evl_session_run(evl_session *s, evl_context *ctx)
{
    const evl_plan *p = s->plan;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0, n; i < p->n_steps && st == EVAL_OK; i += n) {
        n = s->step ? 1 : p->steps[i].together;
        if (s->stop && s->stop(s->user))
            st = evl_fail(ctx, EVAL_ERR_CANCELLED, "cancelled before node '%s'",
                          p->steps[i].node->name);
        else if (s->step)
            st = run_timed(s, ctx, i);
        else if (n > 1)
            run_together(s, i);
        else
            st = run_step(s, ctx, i);
        for (size_t j = i; j < i + n && st == EVAL_OK; j++)
            evl_session_end_values(s, j);
    }
    return st;
}

static EvalStatus reserve_scratch(evl_session *s, evl_context *ctx, size_t bytes)
{
    if (bytes <= s->scratch_capacity)
        return EVAL_OK;
    evl_release(s->plan->memory, s->scratch);
    s->scratch_capacity = 0;
    s->scratch = evl_allocate(s->plan->memory, bytes);
    if (!s->scratch)
        return evl_no_memory(ctx);
    s->scratch_capacity = bytes;
    return EVAL_OK;
}

/* Outputs have their inferred shape: a place of their own if the run decides it. */
static EvalStatus give_places(evl_session *s, evl_context *ctx, const evl_step *step,
                              const evl_tensor *inferred)
{
    for (size_t i = 0; i < step->node->n_outputs; i++) {
        evl_slot_index slot = step->out[i];
        if (slot == EVL_NO_SLOT)
            continue;
        if (!evl_shape_is_known(&inferred[i].shape))
            return evl_fail(ctx, EVAL_ERR_INTERNAL, "output %zu: no shape, with all inputs known", i);
        if (s->plan->slots[slot].place == EVL_PLACE_OWN) {
            EvalStatus st = evl_type_is_nested(inferred[i].type)
                                ? evl_session_keep(s, ctx, slot, &inferred[i])
                                : evl_session_own(s, ctx, slot, &inferred[i]);
            if (st != EVAL_OK)
                return st;
        } else if (!evl_shape_equal(&inferred[i].shape, &s->values[slot].shape))
            return evl_fail(ctx, EVAL_ERR_INTERNAL, "output %zu: another shape than planned", i);
    }
    return EVAL_OK;
}

/* What a dynamic step goes through, in memory of the step's arena. */
typedef struct dynamic {
    const evl_step *step;
    const evl_call *call;
    evl_use use;
    evl_tensor *inferred, *nested;
    const evl_tensor **out; /* inferred, where they are wanted */
} dynamic;

static EvalStatus start(evl_session *s, evl_context *ctx, dynamic *d)
{
    size_t n = d->call->n_out;
    evl_arena_reset(s->step_arena);
    d->inferred = evl_arena_take_many(s->step_arena, n + 1, sizeof *d->inferred);
    d->nested = evl_arena_take_many(s->step_arena, n + 1, sizeof *d->nested);
    d->out = evl_arena_take_many(s->step_arena, n + 1, sizeof *d->out);
    if (!d->inferred || !d->nested || !d->out)
        return evl_no_memory(ctx);
    EvalStatus st = evl_infer_use(ctx, &d->use, s->plan->machine->real, d->inferred, n);
    for (size_t i = 0; i < n; i++)
        d->out[i] = d->call->out[i] ? &d->inferred[i] : NULL;
    return st;
}

static EvalStatus prepare(evl_session *s, evl_context *ctx, dynamic *d, evl_prepare *p)
{
    const evl_impl *impl;
    EvalStatus st = evl_use_impl(ctx, &d->use, d->call->machine->precision, &impl);
    if (st != EVAL_OK)
        return st;
    *p = (evl_prepare){ .ctx = ctx,
                        .use = d->use,
                        .out = d->out,
                        .n_out = d->call->n_out,
                        .machine = d->call->machine,
                        .arena = s->step_arena,
                        .store = s->plan->store,
                        .run = impl->run,
                        .nested = d->nested };
    st = impl->prepare ? impl->prepare(p) : EVAL_OK;
    for (size_t i = 0; i < d->call->n_out && st == EVAL_OK; i++)
        if (evl_type_is_nested(d->inferred[i].type)) {
            d->inferred[i].shape = d->nested[i].shape;
            d->inferred[i].data = d->nested[i].data;
        }
    return st;
}

EvalStatus evl_step_dynamic(evl_session *s, evl_context *ctx, size_t i)
{
    evl_call now = s->calls[i];
    dynamic d = { .step = &s->plan->steps[i], .call = &now };
    evl_prepare p;
    d.use = (evl_use){ d.step->node, now.in, now.n_in };
    EvalStatus st = start(s, ctx, &d);
    if (st != EVAL_OK)
        return st; /* names the node already, or is about memory */
    st = prepare(s, ctx, &d, &p);
    if (st == EVAL_OK)
        st = give_places(s, ctx, d.step, d.inferred);
    if (st == EVAL_OK)
        st = reserve_scratch(s, ctx, p.scratch_bytes);
    if (st == EVAL_OK) {
        now.ctx = ctx;
        now.state = p.state;
        now.scratch = s->scratch;
        s->strategy = p.strategy;
        if (d.step->node->op->traits & EVL_OP_CARRIES)
            st = evl_states_carry(ctx, s->states, d.step->node->state - 1, p.carried_bytes, &now.carried);
    }
    if (st == EVAL_OK)
        st = p.run(&now);
    return st == EVAL_OK ? st : evl_node_failed(ctx, d.step->node, st);
}
