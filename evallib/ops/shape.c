/* Shape and Size: answers that an input's shape gives, whatever it holds. */
#include "ops/axes.h"
#include "ops/ops.h"

static int64_t clamp(int64_t i, int64_t most)
{
    return i < 0 ? 0 : i > most ? most : i;
}

/* ONNX 15: a part of the shape; negative positions count from the end, all are cut off. */
static void read_part(const evl_node *node, int32_t rank, int64_t *start, int64_t *end)
{
    *start = evl_node_int(node, "start", 0);
    *end = evl_node_int(node, "end", rank);
    *start = clamp(*start < 0 ? *start + rank : *start, rank);
    *end = clamp(*end < 0 ? *end + rank : *end, rank);
    if (*end < *start)
        *end = *start;
}

static EvalStatus infer_shape(evl_infer *x)
{
    int32_t rank = x->use.in[0]->shape.rank;
    int64_t start, end;
    x->out[0].type = EVAL_INT64;
    x->out[0].shape = evl_shape_of_rank(1);
    if (rank < 0)
        return EVAL_OK;
    read_part(x->use.node, rank, &start, &end);
    x->out[0].shape.dim[0] = end - start;
    return EVAL_OK;
}

static EvalStatus run_shape(const evl_call *call)
{
    const evl_shape *in = &call->in[0]->shape;
    int64_t start, end, *out = call->out[0]->data;
    read_part(call->node, in->rank, &start, &end);
    for (int64_t d = start; d < end; d++)
        out[d - start] = in->dim[d];
    return EVAL_OK;
}

static EvalStatus infer_size(evl_infer *x)
{
    x->out[0].type = EVAL_INT64;
    x->out[0].shape = evl_shape_scalar();
    return EVAL_OK;
}

static EvalStatus run_size(const evl_call *call)
{
    *(int64_t *)call->out[0]->data = (int64_t)evl_shape_count(&call->in[0]->shape);
    return EVAL_OK;
}

static const evl_impl shape_impl = { NULL, run_shape };
static const evl_impl size_impl = { NULL, run_size };

const evl_op evl_op_shape = { .name = "Shape",
                              .min_inputs = 1,
                              .max_inputs = 1,
                              .min_outputs = 1,
                              .max_outputs = 1,
                              .traits = EVL_OP_OF_SHAPE,
                              .infer = infer_shape,
                              .any = &shape_impl };
const evl_op evl_op_size = { .name = "Size",
                             .min_inputs = 1,
                             .max_inputs = 1,
                             .min_outputs = 1,
                             .max_outputs = 1,
                             .traits = EVL_OP_OF_SHAPE,
                             .infer = infer_size,
                             .any = &size_impl };

const evl_op *const evl_ops_shape[] = { &evl_op_shape, &evl_op_size, NULL };
