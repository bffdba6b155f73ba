/* Expand and Tile: elements repeated, which is a step of 0 in the source. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>

static EvalStatus infer_expand(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    evl_shape target = evl_shape_of_rank(evl_list_length(evl_use_in(&x->use, 1)));
    evl_known known;
    size_t n = 0;
    int64_t dims[EVAL_MAX_RANK];
    EvalStatus st = evl_use_ints(x->ctx, &x->use, "shape", 1, EVAL_MAX_RANK, dims, &n, &known);
    if (st)
        return st;
    x->out[0].type = in->type;
    for (size_t d = 0; known == EVL_KNOWN && d < n; d++)
        if (dims[d] < 0)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the shape has the negative size %" PRId64,
                            dims[d]);
    if (known == EVL_KNOWN)
        target = evl_shape_of(n, dims);
    if (target.rank < 0 || in->shape.rank < 0)
        return EVAL_OK;
    return evl_shape_broadcast(x->ctx, &in->shape, &target, &x->out[0].shape);
}

static EvalStatus make_expand(evl_context *ctx, const evl_use *use, const evl_tensor *out,
                              evl_move *move)
{
    const evl_shape *in = &use->in[0]->shape;
    ptrdiff_t from[EVAL_MAX_RANK], to[EVAL_MAX_RANK];
    size_t size = evl_type_size(out->type);
    int32_t lead = out->shape.rank - in->rank;
    (void)ctx;
    evl_strided_steps(in, size, from);
    evl_strided_steps(&out->shape, size, to);
    evl_strided_begin(&move->box, size);
    for (int32_t d = 0; d < out->shape.rank; d++) {
        bool is_repeated = d < lead || in->dim[d - lead] != out->shape.dim[d];
        evl_strided_add(&move->box, (size_t)out->shape.dim[d], is_repeated ? 0 : from[d - lead],
                        to[d]);
    }
    evl_strided_ready(&move->box);
    return EVAL_OK;
}

static EvalStatus repeat_axis(evl_context *ctx, int32_t axis, int64_t times, evl_shape *shape)
{
    size_t n = 0;
    if (times < 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "axis %" PRId32 " is repeated %" PRId64 " times", axis,
                        times);
    if (shape->dim[axis] < 0)
        return EVAL_OK;
    if (!evl_size_multiply((size_t)shape->dim[axis], (size_t)times, &n) || n > INT64_MAX)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "axis %" PRId32 " would be too large", axis);
    shape->dim[axis] = (int64_t)n;
    return EVAL_OK;
}

/* Opset 1 repeats one axis: inputs (x, times, axis), both scalars. */
static EvalStatus infer_tile_1(evl_infer *x)
{
    int64_t times, given;
    int32_t axis;
    EvalStatus st;
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = evl_shape_of_rank(x->use.in[0]->shape.rank);
    if (x->use.in[0]->shape.rank < 0 || evl_use_int(&x->use, "tiles", 1, &times) != EVL_KNOWN ||
        evl_use_int(&x->use, "axis", 2, &given) != EVL_KNOWN)
        return EVAL_OK;
    if ((st = evl_axis(x->ctx, "axis", given, x->use.in[0]->shape.rank, &axis)))
        return st;
    x->out[0].shape = x->use.in[0]->shape;
    return repeat_axis(x->ctx, axis, times, &x->out[0].shape);
}

static EvalStatus infer_tile(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    int64_t times[EVAL_MAX_RANK];
    evl_known known;
    size_t n = 0;
    EvalStatus st;
    if (x->use.node->version < 6)
        return infer_tile_1(x);
    if ((st = evl_input_check(x->ctx, &x->use, 1)) ||
        (st = evl_use_ints(x->ctx, &x->use, "repeats", 1, EVAL_MAX_RANK, times, &n, &known)))
        return st;
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = evl_shape_of_rank(in->rank);
    if (known != EVL_KNOWN || in->rank < 0)
        return EVAL_OK;
    if (n != (size_t)in->rank)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "%zu repeats are given for rank %" PRId32, n,
                        in->rank);
    x->out[0].shape = *in;
    for (int32_t d = 0; d < in->rank && !st; d++)
        st = repeat_axis(x->ctx, d, times[d], &x->out[0].shape);
    return st;
}

/* Each axis becomes two: how often, and what. */
static EvalStatus make_tile(evl_context *ctx, const evl_use *use, const evl_tensor *out,
                            evl_move *move)
{
    const evl_shape *in = &use->in[0]->shape;
    ptrdiff_t from[EVAL_MAX_RANK], to[EVAL_MAX_RANK];
    size_t size = evl_type_size(out->type);
    (void)ctx;
    evl_strided_steps(in, size, from);
    evl_strided_steps(&out->shape, size, to);
    evl_strided_begin(&move->box, size);
    for (int32_t d = 0; d < in->rank; d++) {
        int64_t times = in->dim[d] ? out->shape.dim[d] / in->dim[d] : 0;
        evl_strided_add(&move->box, (size_t)times, 0, to[d] * (ptrdiff_t)in->dim[d]);
        evl_strided_add(&move->box, (size_t)in->dim[d], from[d], to[d]);
    }
    evl_strided_ready(&move->box);
    return EVAL_OK;
}

static EvalStatus prepare_expand(evl_prepare *p)
{
    return evl_move_prepare(p, make_expand);
}

static EvalStatus prepare_tile(evl_prepare *p)
{
    return evl_move_prepare(p, make_tile);
}

static const evl_impl expand_impl = { prepare_expand, evl_move_run };
static const evl_impl tile_impl = { prepare_tile, evl_move_run };

const evl_op evl_op_expand = { .name = "Expand",
                               .min_inputs = 2,
                               .max_inputs = 2,
                               .min_outputs = 1,
                               .max_outputs = 1,
                               .infer = infer_expand,
                               .any = &expand_impl };
const evl_op evl_op_tile = { .name = "Tile",
                             .min_inputs = 2,
                             .max_inputs = 3,
                             .min_outputs = 1,
                             .max_outputs = 1,
                             .infer = infer_tile,
                             .any = &tile_impl };

const evl_op *const evl_ops_expand[] = { &evl_op_expand, &evl_op_tile, NULL };
