/* If: one of two bodies. */
#include "exec/body.h"

/* Results go straight to where they are wanted, if both sides know their size. */
static EvalStatus place_results(evl_session *s, evl_context *ctx, const evl_step *step,
                                evl_session *child)
{
    EvalStatus st = EVAL_OK;
    for (size_t j = 0; j < step->node->n_outputs && st == EVAL_OK; j++)
        if (step->out[j] != EVL_NO_SLOT && evl_session_has_place(child->plan, j) &&
            s->plan->slots[step->out[j]].place != EVL_PLACE_OWN)
            evl_session_output(child, j, s->values[step->out[j]].data);
        else
            st = evl_body_place(child, ctx, j);
    return st;
}

static EvalStatus find_branch(evl_context *ctx, const evl_step *step, const evl_tensor *condition,
                              size_t *branch)
{
    if (!condition || evl_type_is_nested(condition->type) ||
        evl_shape_count(&condition->shape) == 0) {
        evl_fail(ctx, EVAL_ERR_SHAPE, "its condition has no element");
        return evl_node_failed(ctx, step->node, EVAL_ERR_SHAPE);
    }
    *branch = evl_step_body(step, evl_tensor_i64(condition, 0) ? "then_branch" : "else_branch");
    return EVAL_OK;
}

EvalStatus evl_step_if(evl_session *s, evl_context *ctx, size_t i)
{
    const evl_step *step = &s->plan->steps[i];
    size_t b = 0;
    EvalStatus st = find_branch(ctx, step, s->calls[i].in[0], &b);
    if (st != EVAL_OK)
        return st;
    evl_session *child = s->children[i][b];
    if (!child) {
        const evl_graph *branch = evl_node_body(step->node, b);
        return evl_fail(ctx, branch->failure, "%s", branch->failure_text);
    }
    st = evl_body_begin(s, ctx, &step->bodies[b], child);
    if (st == EVAL_OK)
        st = place_results(s, ctx, step, child);
    if (st == EVAL_OK)
        st = evl_session_run(child, ctx);
    for (size_t j = 0; j < step->node->n_outputs && st == EVAL_OK; j++)
        if (step->out[j] != EVL_NO_SLOT)
            st = evl_body_take(s, ctx, step->out[j], evl_session_result(child, j));
    return st;
}
