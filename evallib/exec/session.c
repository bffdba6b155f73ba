/* Sessions: a plan's slots and steps bound to memory. */
#include "exec/exec.h"
#include "ir/nested.h"

static evl_session *new_session(evl_context *, const evl_plan *, evl_arena *, evl_arena *texts);

/* A value of no element still has an address: NULL would say that it is not known. */
static void *at_block(const evl_session *s, size_t at)
{
    return s->block + at;
}

static void bind_values(evl_session *s)
{
    for (size_t i = 0; i < s->plan->n_slots; i++) {
        s->values[i] = s->plan->slots[i].t;
        if (s->plan->slots[i].place == EVL_PLACE_BLOCK)
            s->values[i].data = at_block(s, s->plan->slots[i].at);
        if (s->plan->slots[i].place != EVL_PLACE_CONSTANT)
            s->values[i].life = EVL_LIFE_RUN;
    }
}

/* The slots of each place that the caller names, in lists. */
static void list_aliases(evl_session *s)
{
    const evl_plan *p = s->plan;
    for (size_t i = 0; i < p->n_inputs; i++)
        s->first_input[i] = EVL_NO_SLOT;
    for (size_t i = 0; i < p->n_outputs; i++)
        s->first_output[i] = EVL_NO_SLOT;
    for (size_t i = 0; i < p->n_slots; i++) {
        const evl_slot *slot = &p->slots[i];
        if (slot->place != EVL_PLACE_INPUT && slot->place != EVL_PLACE_OUTPUT)
            continue;
        evl_slot_index *first = slot->place == EVL_PLACE_INPUT ? &s->first_input[slot->at]
                                                               : &s->first_output[slot->at];
        s->next_alias[i] = *first;
        *first = (evl_slot_index)i;
    }
}

static bool bind_operands(evl_session *s, const evl_slot_index *slots, size_t n,
                          evl_tensor ***tensors)
{
    *tensors = evl_arena_take_many(s->arena, n + 1, sizeof **tensors);
    for (size_t i = 0; *tensors && i < n; i++)
        (*tensors)[i] = slots[i] == EVL_NO_SLOT ? NULL : &s->values[slots[i]];
    return *tensors;
}

static bool bind_children(evl_context *ctx, evl_session *s, const evl_step *step,
                          evl_session ***children)
{
    *children = evl_arena_take_many(s->arena, step->n_bodies + 1, sizeof **children);
    for (size_t i = 0; *children && i < step->n_bodies; i++)
        if (step->bodies[i].plan &&
            !((*children)[i] = new_session(ctx, step->bodies[i].plan, s->arena, s->texts)))
            return false;
    return *children;
}

/* A loop has one body: rooms for what goes in and for what comes out. */
static size_t room_count(const evl_step *step)
{
    bool is_loop = step->kind == EVL_STEP_LOOP || step->kind == EVL_STEP_SCAN;
    size_t n = 0;
    for (size_t b = 0; is_loop && b < step->n_bodies; b++)
        if (step->bodies[b].plan)
            n += step->bodies[b].n_own + step->bodies[b].plan->n_outputs;
    return n;
}

static bool take_rooms(evl_session *s, size_t i)
{
    size_t n = room_count(&s->plan->steps[i]);
    if (n)
        s->rooms[i] = evl_arena_take_many(s->arena, n, sizeof **s->rooms);
    return n == 0 || s->rooms[i];
}

static bool bind_step(evl_context *ctx, evl_session *s, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    evl_call *call = &s->calls[i];
    evl_tensor **in, **out;
    if (!bind_operands(s, step->in, step->node->n_inputs, &in) ||
        !bind_operands(s, step->out, step->node->n_outputs, &out) ||
        !bind_children(ctx, s, step, &s->children[i]) || !take_rooms(s, i))
        return false;
    *call = (evl_call){ .machine = s->plan->machine,
                        .node = step->node,
                        .state = step->state,
                        .in = (const evl_tensor *const *)in,
                        .n_in = step->node->n_inputs,
                        .out = out,
                        .n_out = step->node->n_outputs,
                        .scratch = at_block(s, s->plan->scratch_at),
                        .texts = s->texts };
    return true;
}

static bool take_arrays(evl_session *s)
{
    const evl_plan *p = s->plan;
    s->values = evl_arena_take_many(s->arena, p->n_slots + 1, sizeof *s->values);
    s->calls = evl_arena_take_many(s->arena, p->n_steps + 1, sizeof *s->calls);
    s->own = evl_arena_take_many(s->arena, p->n_slots + 1, sizeof *s->own);
    s->own_capacity = evl_arena_take_many(s->arena, p->n_slots + 1, sizeof *s->own_capacity);
    s->children = evl_arena_take_many(s->arena, p->n_steps + 1, sizeof *s->children);
    s->rooms = evl_arena_take_many(s->arena, p->n_steps + 1, sizeof *s->rooms);
    s->next_alias = evl_arena_take_many(s->arena, p->n_slots + 1, sizeof *s->next_alias);
    s->first_input = evl_arena_take_many(s->arena, p->n_inputs + 1, sizeof *s->first_input);
    s->first_output = evl_arena_take_many(s->arena, p->n_outputs + 1, sizeof *s->first_output);
    s->block = evl_arena_take(s->arena, p->block_bytes + EVL_ALIGNMENT);
    return s->values && s->calls && s->own && s->own_capacity && s->children && s->rooms &&
           s->next_alias &&
           s->first_input && s->first_output && s->block;
}

static void free_own(evl_session *s)
{
    for (size_t i = 0; s->own && i < s->plan->n_slots; i++)
        evl_release(s->plan->memory, s->own[i]);
    evl_release(s->plan->memory, s->scratch);
    evl_arena_free(s->step_arena);
    for (size_t i = 0; s->rooms && i < s->plan->n_steps; i++)
        for (size_t r = 0; s->rooms[i] && r < room_count(&s->plan->steps[i]); r++)
            evl_release(s->plan->memory, s->rooms[i][r].data);
    for (size_t i = 0; s->children && i < s->plan->n_steps; i++)
        for (size_t b = 0; s->children[i] && b < s->plan->steps[i].n_bodies; b++)
            if (s->children[i][b])
                free_own(s->children[i][b]);
}

/* NULL: no memory; what its children hold outside the arena is freed with the top one. */
static evl_session *new_session(evl_context *ctx, const evl_plan *plan, evl_arena *arena,
                                evl_arena *texts)
{
    evl_session *s = evl_arena_take(arena, sizeof *s);
    if (!s)
        return NULL;
    s->plan = plan;
    s->arena = arena;
    s->texts = texts;
    bool ok = take_arrays(s);
    if (ok && plan->has_dynamic)
        ok = (s->step_arena = evl_arena_new(ctx->memory)) != NULL;
    if (ok) {
        bind_values(s);
        list_aliases(s);
    }
    for (size_t i = 0; ok && i < plan->n_steps; i++)
        ok = bind_step(ctx, s, i);
    if (ok)
        return s;
    free_own(s);
    return NULL;
}

static void free_session(evl_session *s)
{
    evl_states_free(&s->own_states);
    free_own(s);
    evl_arena_free(s->texts);
    evl_arena_free(s->arena);
}

static bool has_strings(const evl_plan *p)
{
    for (size_t i = 0; i < p->n_slots; i++)
        if (evl_type_has_text(&p->slots[i].t))
            return true;
    for (size_t i = 0; i < p->n_steps; i++)
        for (size_t b = 0; b < p->steps[i].n_bodies; b++)
            if (p->steps[i].bodies[b].plan && has_strings(p->steps[i].bodies[b].plan))
                return true;
    return false;
}

/* A session of its own, not that of a body. */
static evl_session *new_top(evl_context *ctx, const evl_plan *plan)
{
    bool is_texts = has_strings(plan);
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_arena *texts = is_texts ? evl_arena_new(ctx->memory) : NULL;
    evl_session *s =
        arena && (texts || !is_texts) ? new_session(ctx, plan, arena, texts) : NULL;
    if (s && evl_states_new(ctx, plan->n_states, &s->own_states) != EVAL_OK) {
        free_own(s);
        s = NULL;
    }
    if (!s) {
        evl_arena_free(texts);
        evl_arena_free(arena);
    }
    return s;
}

EvalStatus evl_session_take(evl_context *ctx, evl_plan *plan, evl_session **session)
{
    evl_mutex_lock(plan->lock);
    evl_session *s = plan->idle;
    if (s)
        plan->idle = s->next;
    evl_mutex_unlock(plan->lock);
    if (!s)
        s = new_top(ctx, plan);
    *session = s;
    return s ? EVAL_OK : evl_no_memory(ctx);
}

void evl_session_give(evl_plan *plan, evl_session *s)
{
    evl_mutex_lock(plan->lock);
    s->next = plan->idle;
    plan->idle = s;
    evl_mutex_unlock(plan->lock);
}

void evl_session_drop_idle(evl_plan *plan)
{
    for (evl_session *s = plan->idle, *next; s; s = next) {
        next = s->next;
        free_session(s);
    }
    plan->idle = NULL;
}

/* A value and its aliases. */
static void bind_caller(evl_session *s, evl_slot_index first, void *data)
{
    for (evl_slot_index i = first; i != EVL_NO_SLOT; i = s->next_alias[i])
        s->values[i].data = data;
}

void evl_session_input(evl_session *s, size_t i, const void *data)
{
    union {
        const void *given;
        void *stored; /* tensors are read and written through one type */
    } address = { data };
    bind_caller(s, s->first_input[i], address.stored ? address.stored : s->block);
}

void evl_session_input_value(evl_session *s, size_t i, const evl_tensor *value)
{
    evl_tensor *t = &s->values[s->plan->inputs[i]];
    evl_type_copy(value, t);
    t->shape = value->shape;
    evl_session_input(s, i, value->data);
}

void evl_session_carry(evl_session *s, evl_states *states)
{
    s->states = states;
    if (s->own_states.n == 0 || (states && states->n))
        return;
    evl_states_reset(&s->own_states);
    s->states = &s->own_states;
}

bool evl_session_has_place(const evl_plan *p, size_t output)
{
    const evl_slot *slot = &p->slots[p->outputs[output]];
    return slot->place == EVL_PLACE_OUTPUT && slot->at == output;
}

void evl_session_output(evl_session *s, size_t i, void *data)
{
    bind_caller(s, s->first_output[i], data ? data : s->block);
}

const evl_tensor *evl_session_result(const evl_session *s, size_t output)
{
    return &s->values[s->plan->outputs[output]];
}

/* Grown only: the next run of the same sizes finds it large enough. */
static EvalStatus reserve(evl_session *s, evl_context *ctx, evl_slot_index slot, size_t bytes)
{
    if (bytes + 1 <= s->own_capacity[slot])
        return EVAL_OK;
    void *larger = evl_allocate(s->plan->memory, bytes + 1);
    if (!larger)
        return evl_no_memory(ctx);
    evl_release(s->plan->memory, s->own[slot]);
    s->own[slot] = larger;
    s->own_capacity[slot] = bytes + 1;
    return EVAL_OK;
}

void evl_session_end_values(evl_session *s, size_t step)
{
    for (evl_slot_index i = s->plan->steps[step].ended; i != EVL_NO_SLOT;
         i = s->plan->slots[i].next_ended) {
        evl_release(s->plan->memory, s->own[i]);
        s->own[i] = NULL;
        s->own_capacity[i] = 0;
        s->values[i].data = NULL;
    }
}

EvalStatus evl_session_own(evl_session *s, evl_context *ctx, evl_slot_index slot,
                           const evl_tensor *like)
{
    size_t bytes = evl_shape_count(&like->shape) * evl_type_size(like->type);
    EvalStatus st = reserve(s, ctx, slot, bytes);
    if (st != EVAL_OK)
        return st;
    evl_type_copy(like, &s->values[slot]);
    s->values[slot].shape = like->shape;
    s->values[slot].data = s->own[slot];
    return EVAL_OK;
}

EvalStatus evl_session_keep(evl_session *s, evl_context *ctx, evl_slot_index slot,
                            const evl_tensor *value)
{
    size_t bytes;
    EvalStatus st = evl_value_room(ctx, value, &bytes);
    if (st == EVAL_OK)
        st = reserve(s, ctx, slot, bytes);
    if (st == EVAL_OK)
        evl_value_copy(value, s->own[slot], &s->values[slot]);
    return st;
}
