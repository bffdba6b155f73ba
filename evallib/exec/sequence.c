/* State that sequences carry from call to call, and the delay of a whole sequence. */
#include "exec/exec.h"
#include <string.h>

EvalStatus evl_states_new(evl_context *ctx, size_t n, evl_states *states)
{
    *states = (evl_states){ .memory = ctx->memory, .n = n };
    if (n == 0)
        return EVAL_OK;
    states->before = evl_allocate_zeroed(ctx->memory, n * sizeof *states->before);
    states->after = evl_allocate_zeroed(ctx->memory, n * sizeof *states->after);
    if (states->before && states->after)
        return EVAL_OK;
    evl_states_free(states);
    return evl_no_memory(ctx);
}

void evl_states_begin(evl_states *states)
{
    for (size_t i = 0; i < states->n; i++)
        states->after[i].bytes = 0;
}

/* A state that the run did not reach stays as it was, unless a sequence began. */
void evl_states_swap(evl_states *states)
{
    for (size_t i = 0; i < states->n; i++) {
        evl_state *a = &states->before[i], *b = &states->after[i], written = *b;
        if (!written.bytes && states->is_anew)
            a->bytes = 0;
        if (!written.bytes)
            continue;
        *b = (evl_state){ a->data, 0, a->capacity };
        *a = written;
    }
    states->is_anew = false;
}

void evl_states_reset(evl_states *states)
{
    for (size_t i = 0; i < states->n; i++)
        states->before[i].bytes = states->after[i].bytes = 0;
}

static EvalStatus reserve(evl_context *ctx, evl_memory *memory, evl_state *s, size_t bytes)
{
    if (s->capacity >= bytes)
        return EVAL_OK;
    void *room = evl_allocate(memory, bytes);
    if (!room)
        return evl_no_memory(ctx);
    evl_release(memory, s->data);
    *s = (evl_state){ room, 0, bytes };
    return EVAL_OK;
}

static void free_all(evl_memory *memory, evl_state *all, size_t n)
{
    for (size_t i = 0; all && i < n; i++)
        evl_release(memory, all[i].data);
    evl_release(memory, all);
}

void evl_states_free(evl_states *states)
{
    free_all(states->memory, states->before, states->n);
    free_all(states->memory, states->after, states->n);
    *states = (evl_states){ .memory = states->memory };
}

EvalStatus evl_states_carry(evl_context *ctx, evl_states *states, size_t number, size_t bytes,
                            void **carried)
{
    if (!states || number >= states->n)
        return evl_fail(ctx, EVAL_ERR_INTERNAL, "there is no state %zu", number);
    const evl_state *before = &states->before[number];
    evl_state *after = &states->after[number];
    if (after->bytes != bytes) {
        EvalStatus st = reserve(ctx, states->memory, after, bytes);
        if (st != EVAL_OK)
            return st;
        if (before->bytes == bytes)
            memcpy(after->data, before->data, bytes);
        else
            memset(after->data, 0, bytes);
        after->bytes = bytes;
    }
    *carried = after->data;
    return EVAL_OK;
}

static void fill(double initial, EvalType type, size_t bytes, void *room)
{
    size_t size = evl_type_size(type);
    double one; /* as wide as any element */
    if (!evl_convert(1, EVAL_FLOAT64, &initial, type, &one))
        return;
    for (size_t at = 0; at + size <= bytes; at += size)
        memcpy((char *)room + at, &one, size);
}

/* The frames carried for a past; NULL: the initial value stands in their place. */
static const char *carried(const evl_states *states, const evl_past *past)
{
    if (!states || states->is_anew || past->state < 0 || (size_t)past->state >= states->n)
        return NULL;
    const evl_state *s = &states->before[past->state];
    return s->bytes == past->bytes ? s->data : NULL;
}

void evl_past_read(const evl_states *states, const evl_past *past, size_t from, size_t n, void *room)
{
    const char *frames = carried(states, past);
    if (frames && n)
        memcpy(room, frames + from, n);
    else if (!frames)
        fill(past->initial, past->type, n, room);
}

EvalStatus evl_past_keep(evl_context *ctx, evl_states *states, const evl_past *past,
                         const void *data, size_t n_bytes)
{
    size_t bytes = past->bytes, fresh = n_bytes < bytes ? n_bytes : bytes, old = bytes - fresh;
    if (!states || past->state < 0 || (size_t)past->state >= states->n || bytes == 0)
        return EVAL_OK;
    evl_state *s = &states->after[past->state];
    EvalStatus st = reserve(ctx, states->memory, s, bytes);
    if (st != EVAL_OK)
        return st;
    evl_past_read(states, past, bytes - old, old, s->data);
    if (fresh)
        memcpy((char *)s->data + old, (const char *)data + n_bytes - fresh, fresh);
    s->bytes = bytes;
    return EVAL_OK;
}

/* y[t] = x[t - offset], offset > 0: the past, then all of x but its end. */
static EvalStatus delay_past(evl_session *s, evl_context *ctx, const evl_past *past,
                             const evl_tensor *x, evl_tensor *y)
{
    size_t bytes = evl_shape_count(&x->shape) * evl_type_size(x->type);
    size_t gap = past->bytes < bytes ? past->bytes : bytes;
    evl_past_read(s->states, past, 0, gap, y->data);
    memcpy((char *)y->data + gap, x->data, bytes - gap);
    return evl_past_keep(ctx, s->states, past, x->data, bytes);
}

/* offset < 0: all of x but its beginning, then the initial value. */
static void delay_future(size_t gap, double initial, const evl_tensor *x, evl_tensor *y)
{
    size_t bytes = evl_shape_count(&x->shape) * evl_type_size(x->type);
    size_t kept = gap < bytes ? bytes - gap : 0;
    memcpy(y->data, (const char *)x->data + bytes - kept, kept);
    fill(initial, x->type, bytes - kept, (char *)y->data + kept);
}

EvalStatus evl_step_delay(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_node *node = s->plan->steps[i].node;
    const evl_tensor *x = s->calls[i].in[0];
    evl_tensor *y = s->calls[i].out[0];
    int64_t offset = evl_node_int(node, "offset", 1);
    size_t ago = (size_t)(offset < 0 ? -offset : offset);
    size_t each = evl_shape_count_part(&x->shape, 1, x->shape.rank) * evl_type_size(x->type);
    evl_past past = { .state = evl_node_int(node, "state", -1),
                      .initial = evl_node_number(node, "initial", 0),
                      .type = x->type,
                      .bytes = ago * each };
    if (offset > 0)
        return delay_past(s, ctx, &past, x, y);
    delay_future(past.bytes, past.initial, x, y);
    return EVAL_OK;
}
