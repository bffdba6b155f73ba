/* If and SequenceMap: shape rules only. plan/ makes a plan of each body, exec/ runs them. */
#include "ir/nested.h"
#include "ops/nested.h"
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

/* The body sees an element of each sequence, and tensors as they are. */
static EvalStatus infer_map(evl_infer *infer)
{
    evl_graph *body = evl_node_graph(infer->use.node, "body");
    if (!body || body->n_inputs != infer->use.n_in || body->n_outputs < infer->n_out)
        return evl_fail(infer->ctx, EVAL_ERR_FORMAT,
                        "a body with %zu inputs and %zu outputs, expected %zu and %zu",
                        body ? body->n_inputs : 0, body ? body->n_outputs : 0, infer->use.n_in,
                        infer->n_out);
    EvalStatus st = evl_infer_sequence(infer, 0);
    for (size_t i = 0; i < infer->use.n_in; i++) {
        const evl_tensor *t = infer->use.in[i];
        if (!t)
            return evl_fail(infer->ctx, EVAL_ERR_FORMAT, "input %zu is left out", i);
        if (t->type == EVAL_SEQUENCE)
            body->inputs[i]->t = evl_nested_inside(t, 0);
        else if (t->type != EVAL_UNDEFINED)
            body->inputs[i]->t = (evl_tensor){ .type = t->type, .shape = t->shape };
    }
    for (size_t i = 0; i < infer->n_out && st == EVAL_OK; i++)
        if (!evl_nested_around(EVAL_SEQUENCE, &evl_value_final(body->outputs[i])->t,
                               &infer->out[i]))
            st = evl_fail(infer->ctx, EVAL_ERR_TYPE, "output %zu nests too deep", i);
    return st;
}

const evl_op evl_op_sequence_map = {
    .name = "SequenceMap",
    .min_inputs = 1,
    .max_inputs = EVL_ANY_NUMBER,
    .min_outputs = 1,
    .max_outputs = EVL_ANY_NUMBER,
    .traits = EVL_OP_CONTROL | EVL_OP_NESTED,
    .infer = infer_map,
};

const evl_op *const evl_ops_control[] = { &evl_op_if, &evl_op_sequence_map, NULL };
