/* What recurrences carry from call to call, read and set by the caller. */
#include "api/perform.h"
#include <string.h>

static size_t elements_of(const evl_state_info *info)
{
    return info->value ? (size_t)info->n_frames * evl_sample_size(info->value) : 0;
}

static EvalStatus graph_of(evl_context *ctx, const evl_evaluator *e, const evl_graph **g)
{
    *g = e->model ? e->model->graph : NULL;
    return *g ? EVAL_OK : evl_fail(ctx, EVAL_ERR_STATE, "no network yet: call CreateNetwork first");
}

EvalStatus evl_carried_list(evl_context *ctx, evl_evaluator *e, EvalDimension *states,
                            size_t *count)
{
    const evl_graph *g;
    if (!count)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "count is NULL");
    EvalStatus st = graph_of(ctx, e, &g);
    if (st != EVAL_OK)
        return st;
    size_t capacity = *count, n = 0;
    for (size_t i = 0; g->states && i < g->n_states; i++) {
        const evl_state_info *info = &g->states[i];
        if (!info->value)
            continue;
        if (states && n < capacity)
            states[n] = (EvalDimension){ info->value->name, elements_of(info) };
        n++;
    }
    *count = n;
    return !states || n <= capacity ? EVAL_OK
                                    : evl_fail(ctx, EVAL_ERR_LIMIT,
                                               "room for %zu states, and there are %zu", capacity,
                                               n);
}

static EvalStatus find(evl_context *ctx, const evl_evaluator *e, const char *name, size_t *index)
{
    const evl_graph *g;
    evl_value *v;
    EvalStatus st = graph_of(ctx, e, &g);
    if (st == EVAL_OK)
        st = evl_find_value(ctx, g, name, &v);
    if (st != EVAL_OK)
        return st;
    for (size_t i = 0; g->states && i < g->n_states; i++)
        if (g->states[i].value == v) {
            *index = i;
            return EVAL_OK;
        }
    return evl_fail(ctx, EVAL_ERR_NOT_FOUND, "'%s' carries nothing from call to call", name);
}

EvalStatus evl_carried_get(evl_context *ctx, evl_evaluator *e, const char *name, void *data,
                           size_t *count)
{
    size_t index, capacity;
    if (!count)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "count is NULL");
    EvalStatus st = find(ctx, e, name, &index);
    if (st != EVAL_OK)
        return st;
    const evl_state *s = &e->states.before[index];
    capacity = *count;
    *count = s->bytes / evl_type_size(e->model->machine.real);
    if (data && *count > capacity)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "'%s' keeps %zu elements, and there is room for %zu",
                        name, *count, capacity);
    if (data && s->bytes)
        memcpy(data, s->data, s->bytes);
    return EVAL_OK;
}

/* NULL: all zero. */
static EvalStatus put(evl_context *ctx, evl_states *states, size_t index, const void *data,
                      size_t bytes)
{
    evl_state *s = &states->before[index];
    if (s->capacity < bytes) {
        void *room = evl_allocate(states->memory, bytes);
        if (!room)
            return evl_no_memory(ctx);
        evl_release(states->memory, s->data);
        *s = (evl_state){ room, 0, bytes };
    }
    if (bytes && data)
        memcpy(s->data, data, bytes);
    else if (bytes)
        memset(s->data, 0, bytes);
    s->bytes = bytes;
    return EVAL_OK;
}

EvalStatus evl_carried_set(evl_context *ctx, evl_evaluator *e, const char *name, const void *data,
                           size_t count)
{
    size_t index;
    EvalStatus st = find(ctx, e, name, &index);
    if (st != EVAL_OK)
        return st;
    const evl_state_info *info = &e->model->graph->states[index];
    size_t wanted = elements_of(info);
    size_t each = evl_type_size(e->model->machine.real);
    if (count != 0 && (count != wanted || !data))
        return evl_fail(ctx, data ? EVAL_ERR_SHAPE : EVAL_ERR_ARGUMENT,
                        "'%s' keeps %zu elements, and %zu are given", name, wanted, count);
    if (info->has_flags) /* what is set stands within the sequence */
        st = put(ctx, &e->states, index + 1, NULL, count ? (size_t)info->n_frames * each : 0);
    if (st == EVAL_OK)
        st = put(ctx, &e->states, index, data, count * each);
    if (st == EVAL_OK)
        e->forward.has_sequence = true; /* it can go on from here */
    return st;
}
