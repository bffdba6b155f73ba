#include "exec/body.h"
#include <string.h>

size_t evl_tensor_size(const evl_tensor *t)
{
    return evl_shape_count(&t->shape) * evl_type_size(t->type);
}

size_t evl_step_body(const evl_step *step, const char *attribute)
{
    const evl_graph *body = evl_node_graph(step->node, attribute);
    size_t b = 0;
    while (b + 1 < step->n_bodies && evl_node_body(step->node, b) != body)
        b++;
    return b;
}

/* A plan that was made for known sizes reads so much, whatever is given. */
static bool is_planned(const evl_tensor *planned, const evl_tensor *given)
{
    if (planned->shape.rank < 0 || evl_type_is_nested(planned->type))
        return true;
    if (planned->shape.rank != given->shape.rank ||
        (planned->type != given->type && planned->type != EVAL_UNDEFINED))
        return false;
    for (int32_t i = 0; i < planned->shape.rank; i++)
        if (planned->shape.dim[i] >= 0 && planned->shape.dim[i] != given->shape.dim[i])
            return false;
    return true;
}

EvalStatus evl_body_give(evl_session *child, evl_context *ctx, size_t i, const evl_tensor *t)
{
    char a[EVL_SHAPE_TEXT], b[EVL_SHAPE_TEXT];
    const evl_slot *slot = &child->plan->slots[child->plan->inputs[i]];
    if (slot->place != EVL_PLACE_INPUT)
        return EVAL_OK; /* a captured constant */
    if (!is_planned(&slot->t, t))
        return evl_fail(ctx, EVAL_ERR_SHAPE, "input %zu of its body is %s%s, planned %s%s", i,
                        evl_type_name(t->type), evl_shape_text(&t->shape, a),
                        evl_type_name(slot->t.type), evl_shape_text(&slot->t.shape, b));
    evl_session_input_value(child, i, t);
    return EVAL_OK;
}

EvalStatus evl_body_begin(evl_session *s, evl_context *ctx, const evl_body *body,
                          evl_session *child)
{
    EvalStatus st = EVAL_OK;
    child->states = s->states;
    child->stop = s->stop;
    child->step = s->step;
    child->user = s->user;
    child->depth = s->depth + 1;
    for (size_t i = 0; i < body->n_captured && st == EVAL_OK; i++)
        st = evl_body_give(child, ctx, body->n_own + i, &s->values[body->captured[i]]);
    return st;
}

EvalStatus evl_body_place(evl_session *child, evl_context *ctx, size_t i)
{
    evl_slot_index slot = child->plan->outputs[i];
    if (!evl_session_has_place(child->plan, i))
        return EVAL_OK;
    EvalStatus st = evl_session_own(child, ctx, slot, &child->plan->slots[slot].t);
    if (st == EVAL_OK)
        evl_session_output(child, i, child->own[slot]);
    return st;
}

EvalStatus evl_body_take(evl_session *s, evl_context *ctx, evl_slot_index slot,
                         const evl_tensor *result)
{
    evl_tensor *t = &s->values[slot];
    if (s->plan->slots[slot].place == EVL_PLACE_OWN)
        return evl_session_keep(s, ctx, slot, result);
    if (!is_planned(&s->plan->slots[slot].t, result))
        return evl_fail(ctx, EVAL_ERR_INTERNAL, "a body gave another shape than planned");
    if (evl_tensor_size(result) && t->data != result->data)
        memcpy(t->data, result->data, evl_tensor_size(result));
    return EVAL_OK;
}

EvalStatus evl_body_count_trip(evl_session *s, evl_context *ctx, const evl_node *node)
{
    EvalStatus st = EVAL_OK;
    if (ctx->trips++ >= ctx->limits->max_trips)
        st = evl_fail(ctx, EVAL_ERR_LIMIT,
                      "loops made %zu trips in this call; the setting maxTrips allows more",
                      ctx->limits->max_trips);
    else if (s->stop && s->stop(s->user))
        st = evl_fail(ctx, EVAL_ERR_CANCELLED, "cancelled");
    return st == EVAL_OK ? st : evl_node_failed(ctx, node, st);
}

/* Half as much again, so that what grows trip by trip is not moved in each. */
static size_t grown(size_t capacity, size_t bytes)
{
    size_t more = capacity <= SIZE_MAX / 2 ? capacity + capacity / 2 : bytes;
    return more > bytes ? more : bytes;
}

EvalStatus evl_room_reserve(evl_session *s, evl_context *ctx, evl_room *room, size_t bytes)
{
    if (bytes < room->capacity)
        return EVAL_OK;
    size_t capacity = grown(room->capacity, bytes + 1); /* no bytes have an address too */
    void *larger = evl_allocate(s->plan->memory, capacity);
    if (!larger)
        return evl_no_memory(ctx);
    evl_release(s->plan->memory, room->data);
    room->data = larger;
    room->capacity = capacity;
    return EVAL_OK;
}

EvalStatus evl_session_grow(evl_session *s, evl_context *ctx, evl_slot_index slot, size_t used,
                            size_t bytes)
{
    if (bytes > ctx->limits->max_tensor_bytes)
        return evl_fail(ctx, EVAL_ERR_LIMIT,
                        "an output grows beyond what the setting maxTensorBytes allows, %zu",
                        ctx->limits->max_tensor_bytes);
    if (bytes < s->own_capacity[slot])
        return EVAL_OK;
    size_t capacity = grown(s->own_capacity[slot], bytes + 1);
    char *larger = evl_allocate(s->plan->memory, capacity);
    if (!larger)
        return evl_no_memory(ctx);
    if (used)
        memcpy(larger, s->own[slot], used);
    evl_release(s->plan->memory, s->own[slot]);
    s->own[slot] = larger;
    s->own_capacity[slot] = capacity;
    return EVAL_OK;
}
