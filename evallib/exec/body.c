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
    child->stop = s->stop;
    child->user = s->user;
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
