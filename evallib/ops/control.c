/* If: its shape rule only. plan/ makes a plan of each branch, exec/if.c runs one. */
#include "ir/nested.h"
#include "ops/ops.h"

/* What both branches agree on. An optional may hold what the other branch gives. */
static void merge(evl_tensor *a, const evl_tensor *b)
{
    evl_tensor inside = evl_nested_inside(b, 0);
    if (a->type == EVAL_UNDEFINED || (b->type == EVAL_OPTIONAL && inside.type == a->type))
        evl_type_copy(b, a);
    if (evl_type_is_nested(a->type))
        a->shape = evl_shape_of(1, (int64_t[]){ EVL_UNKNOWN_DIM });
    else if (a->type != b->type || a->shape.rank != b->shape.rank)
        a->shape = evl_shape_unknown();
    for (int32_t i = 0; i < a->shape.rank; i++)
        if (a->shape.dim[i] != b->shape.dim[i])
            a->shape.dim[i] = EVL_UNKNOWN_DIM;
}

static EvalStatus infer_if(evl_infer *infer)
{
    const evl_graph *yes = evl_node_graph(infer->use.node, "then_branch");
    const evl_graph *no = evl_node_graph(infer->use.node, "else_branch");
    if (!yes || !no)
        return evl_fail(infer->ctx, EVAL_ERR_FORMAT, "a branch is missing");
    if (yes->n_outputs != infer->n_out || no->n_outputs != infer->n_out)
        return evl_fail(infer->ctx, EVAL_ERR_FORMAT, "%zu outputs, and branches with %zu and %zu",
                        infer->n_out, yes->n_outputs, no->n_outputs);
    if (yes->failure != EVAL_OK && no->failure != EVAL_OK)
        return evl_fail(infer->ctx, yes->failure, "%s", yes->failure_text);
    if (yes->failure != EVAL_OK || no->failure != EVAL_OK)
        yes = no = yes->failure != EVAL_OK ? no : yes; /* what the other gives, if any */
    for (size_t i = 0; i < infer->n_out; i++) {
        const evl_tensor *a = &evl_value_final(yes->outputs[i])->t;
        infer->out[i] = (evl_tensor){ .shape = a->shape };
        evl_type_copy(a, &infer->out[i]);
        merge(&infer->out[i], &evl_value_final(no->outputs[i])->t);
    }
    return EVAL_OK;
}

const evl_op evl_op_if = {
    .name = "If",
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = EVL_ANY_NUMBER,
    .traits = EVL_OP_CONTROL | EVL_OP_NESTED,
    .infer = infer_if,
};

const evl_op *const evl_ops_control[] = { &evl_op_if, NULL };
