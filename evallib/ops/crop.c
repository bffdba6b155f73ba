/* CenterCropPad: each axis cut, or padded with zeros, on both sides alike; the odd one is behind.
 */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <string.h>

static EvalStatus infer(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    evl_shape *y = &x->out[0].shape;
    int64_t size[EVAL_MAX_RANK];
    evl_axes axes;
    evl_known known;
    size_t n = 0;
    x->out[0].type = in->type;
    if (in->shape.rank < 0)
        return EVAL_OK;
    EvalStatus st = evl_axes_or_all(x->ctx, &x->use, in->shape.rank, &axes);
    if (st || (st = evl_use_ints(x->ctx, &x->use, "shape", 1, EVAL_MAX_RANK, size, &n, &known)))
        return st;
    if (known == EVL_KNOWN && n != axes.n)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the shape has %zu values, expected %zu", n,
                        axes.n);
    *y = in->shape;
    for (size_t i = 0; i < axes.n; i++) {
        y->dim[axes.axis[i]] = known == EVL_KNOWN ? size[i] : EVL_UNKNOWN_DIM;
        if (known == EVL_KNOWN && size[i] < 0)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the shape has the negative size %" PRId64,
                            size[i]);
    }
    return EVAL_OK;
}

static EvalStatus make_move(evl_context *ctx, const evl_use *use, const evl_tensor *out,
                            evl_move *m)
{
    const evl_shape *x = &use->in[0]->shape, *y = &out->shape;
    size_t size = evl_type_size(out->type);
    ptrdiff_t from[EVAL_MAX_RANK], to[EVAL_MAX_RANK];
    (void)ctx;
    evl_strided_steps(x, size, from);
    evl_strided_steps(y, size, to);
    evl_strided_begin(&m->box, size);
    for (int32_t d = 0; d < x->rank; d++) {
        int64_t cut = x->dim[d] - y->dim[d];
        m->from += cut > 0 ? (ptrdiff_t)(cut / 2) * from[d] : 0;
        m->to += cut < 0 ? (ptrdiff_t)(-cut / 2) * to[d] : 0;
        evl_strided_add(&m->box, (size_t)(cut > 0 ? y : x)->dim[d], from[d], to[d]);
    }
    evl_strided_ready(&m->box);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    return evl_move_prepare(p, make_move);
}

static EvalStatus run(const evl_call *call)
{
    const evl_tensor *y = call->out[0];
    size_t n = evl_shape_count(&y->shape);
    if (y->type == EVAL_STRING)
        for (size_t i = 0; i < n; i++)
            ((EvalString *)y->data)[i] = (EvalString){ "", 0 };
    else if (n && !evl_shape_equal(&y->shape, &call->in[0]->shape))
        memset(y->data, 0, n * evl_type_size(y->type));
    return evl_move_run(call);
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_center_crop_pad = {
    "CenterCropPad", NULL, 2, 2, 1, 1, 0, 0, infer,
    { NULL, NULL }, NULL, &impl, 0
};
/* clang-format on */

const evl_op *const evl_ops_crop[] = { &op_center_crop_pad, NULL };
