/* MaxUnpool: what MaxPool took, put back where its indices say, among zeros. */
#include "ops/axes.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/stencil.h"
#include <inttypes.h>
#include <string.h>

/* The shape that the window gives. */
static EvalStatus pooled_shape(evl_context *ctx, const evl_use *use, evl_shape *y)
{
    const evl_shape *x = &use->in[0]->shape;
    evl_stencil w;
    EvalStatus st = evl_stencil_attributes(ctx, use, x, NULL, &w);
    if (st)
        return st;
    *y = *x;
    for (int32_t i = 2; i < x->rank; i++) {
        int d = EVL_STENCIL_DIMS - x->rank + i;
        if (x->dim[i] < 0)
            continue;
        y->dim[i] = (x->dim[i] - 1) * w.stride[d] - w.begin[d] - w.end[d] + w.kernel[d];
        if (x->dim[i] == 0)
            y->dim[i] = 0;
        if (y->dim[i] < 0)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "padding leaves nothing of dimension %" PRId32, i);
    }
    return EVAL_OK;
}

/* output_shape may be larger than what the window gives: zeros follow in each dimension. */
static EvalStatus given_shape(evl_infer *x, const int64_t *dims, size_t n)
{
    evl_shape *y = &x->out[0].shape;
    if (n != (size_t)y->rank)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "output_shape has %zu values, expected %" PRId32, n,
                        y->rank);
    for (int32_t d = 0; d < y->rank; d++) {
        if (dims[d] < y->dim[d] || dims[d] < 0)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                            "output_shape has %" PRId64 ", expected at least %" PRId64, dims[d],
                            y->dim[d]);
        y->dim[d] = dims[d];
    }
    return EVAL_OK;
}

static EvalStatus infer(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape, *indices = &x->use.in[1]->shape;
    int64_t dims[EVAL_MAX_RANK];
    evl_known known;
    size_t n = 0;
    EvalStatus st = evl_index_type_check(x->ctx, &x->use, 1);
    x->out[0].type = x->use.in[0]->type;
    if (st || in->rank < 0)
        return st;
    if ((st = pooled_shape(x->ctx, &x->use, &x->out[0].shape)) ||
        (st = evl_infer_rank(x, 1, in->rank, in->rank)) ||
        (st = evl_use_ints(x->ctx, &x->use, "output_shape", 2, EVAL_MAX_RANK, dims, &n, &known)))
        return st;
    for (int32_t d = 0; d < in->rank && d < indices->rank && !st; d++) {
        int64_t dim = indices->dim[d];
        st = evl_infer_dim(x, "a dimension of the indices", in->dim[d], &dim);
    }
    if (st || known == EVL_KNOWN)
        return st ? st : given_shape(x, dims, n);
    if (known == EVL_UNKNOWN)
        x->out[0].shape = evl_shape_of_rank(in->rank);
    return EVAL_OK;
}

/* Element `index` of one shape, in a shape that is as large or larger. */
static size_t place(const evl_shape *from, const evl_shape *to, size_t index)
{
    size_t at = 0, step = 1;
    for (int32_t d = from->rank; d-- > 0;) {
        at += index % (size_t)from->dim[d] * step;
        index /= (size_t)from->dim[d];
        step *= (size_t)to->dim[d];
    }
    return at;
}

/* ONNX says that indices count in the output; its own test of output_shape counts them in what
** the window gives. So they do, unless one is beyond that. */
static EvalStatus indexed_shape(const evl_call *call, evl_shape *shape)
{
    const evl_use use = { call->node, call->in, call->n_in };
    const evl_tensor *indices = call->in[1], *y = call->out[0];
    EvalStatus st = pooled_shape(call->ctx, &use, shape);
    int64_t most = (int64_t)evl_shape_count(&y->shape);
    for (size_t i = 0; i < evl_shape_count(&indices->shape) && !st; i++) {
        int64_t index = evl_tensor_i64(indices, i);
        if (index < 0 || index >= most)
            st = evl_fail(call->ctx, EVAL_ERR_SHAPE, "index %" PRId64 " is not in 0 .. %" PRId64,
                          index, most - 1);
        else if (index >= (int64_t)evl_shape_count(shape))
            *shape = y->shape;
    }
    return st;
}

static EvalStatus run(const evl_call *call)
{
    const evl_tensor *x = call->in[0], *y = call->out[0];
    size_t size = evl_type_size(x->type), n = evl_shape_count(&x->shape);
    evl_shape counted;
    EvalStatus st = indexed_shape(call, &counted);
    if (st || evl_shape_count(&y->shape) == 0)
        return st;
    memset(y->data, 0, evl_shape_count(&y->shape) * size);
    for (size_t i = 0; i < n; i++) {
        size_t index = (size_t)evl_tensor_i64(call->in[1], i);
        memcpy((char *)y->data + place(&counted, &y->shape, index) * size,
               (const char *)x->data + i * size, size);
    }
    return EVAL_OK;
}

static const evl_impl impl = { NULL, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_max_unpool = {
    "MaxUnpool", NULL, 2, 3, 1, 1, 0, 0, infer,
    { &impl, &impl }, &impl, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_unpool[] = { &op_max_unpool, NULL };
