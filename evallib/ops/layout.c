/* Operators that give the same elements another shape. The planner lets output and input
** share memory (EVL_OP_ALIAS); their run copies when it could not. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <string.h>

/* What Reshape is asked for: sizes, some copied from the input, one perhaps inferred. */
typedef struct wanted {
    evl_shape shape;
    bool is_copied[EVAL_MAX_RANK];
    int32_t inferred; /* -1: none */
} wanted;

static EvalStatus copy_dimension(evl_context *ctx, const evl_shape *x, wanted *w, int32_t d)
{
    if (x->rank >= 0 && d >= x->rank)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "dimension %" PRId32
                        " of the new shape is 0 (copied), the input has rank %" PRId32,
                        d, x->rank);
    w->is_copied[d] = true;
    w->shape.dim[d] = x->rank < 0 ? EVL_UNKNOWN_DIM : x->dim[d];
    return EVAL_OK;
}

static EvalStatus read_dimension(evl_context *ctx, const evl_shape *x, int64_t size,
                                 bool allow_zero, wanted *w)
{
    int32_t d = w->shape.rank++;
    if (size == 0 && !allow_zero)
        return copy_dimension(ctx, x, w, d);
    if (size < -1 || (size == -1 && w->inferred >= 0))
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "the new shape has size %" PRId64 " at %" PRId32
                        ": sizes are from 0 on, and -1 may stand once",
                        size, d);
    if (size == -1)
        w->inferred = d;
    w->shape.dim[d] = size;
    return EVAL_OK;
}

/* The size that was left open. Dimensions copied as they are stand on both sides and do
** not matter, so it can be found for [batch, ...] with an unknown or empty batch. */
static EvalStatus infer_dimension(evl_context *ctx, const evl_shape *x, wanted *w)
{
    evl_shape rest = evl_shape_scalar(), given = evl_shape_scalar();
    int64_t n_rest, n_given;
    EvalStatus st;
    if (x->rank < 0)
        return EVAL_OK;
    for (int32_t d = 0; d < x->rank; d++)
        if (d >= w->shape.rank || !w->is_copied[d])
            rest.dim[rest.rank++] = x->dim[d];
    for (int32_t d = 0; d < w->shape.rank; d++)
        if (d != w->inferred && !w->is_copied[d])
            given.dim[given.rank++] = w->shape.dim[d];
    if ((st = evl_dims_product(ctx, &rest, 0, rest.rank, &n_rest)) ||
        (st = evl_dims_product(ctx, &given, 0, given.rank, &n_given)))
        return st;
    if (n_rest < 0)
        return EVAL_OK;
    if (n_given == 0 || n_rest % n_given != 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "no size fits -1: %" PRId64 " elements in parts of %" PRId64, n_rest,
                        n_given);
    w->shape.dim[w->inferred] = n_rest / n_given;
    return EVAL_OK;
}

static EvalStatus check_same_count(evl_context *ctx, const evl_shape *x, const evl_shape *y)
{
    char from[EVL_SHAPE_TEXT], to[EVL_SHAPE_TEXT];
    int64_t n_x, n_y;
    EvalStatus st;
    if (x->rank < 0 || y->rank < 0)
        return EVAL_OK;
    if ((st = evl_dims_product(ctx, x, 0, x->rank, &n_x)) ||
        (st = evl_dims_product(ctx, y, 0, y->rank, &n_y)))
        return st;
    if (n_x < 0 || n_y < 0 || n_x == n_y)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE,
                    "%s has %" PRId64 " elements, the new shape %s has %" PRId64,
                    evl_shape_text(x, from), n_x, evl_shape_text(y, to), n_y);
}

static EvalStatus reshape_to(evl_infer *x, const int64_t *dims, size_t n)
{
    const evl_shape *in = &x->use.in[0]->shape;
    bool allow_zero = evl_node_int(x->use.node, "allowzero", 0) != 0;
    wanted w = { .shape = evl_shape_scalar(), .inferred = -1 };
    EvalStatus st;
    for (size_t d = 0; d < n; d++)
        if ((st = read_dimension(x->ctx, in, dims[d], allow_zero, &w)))
            return st;
    if (w.inferred >= 0 && (st = infer_dimension(x->ctx, in, &w)))
        return st;
    x->out[0].shape = w.shape;
    return check_same_count(x->ctx, in, &w.shape);
}

static EvalStatus infer_reshape(evl_infer *x)
{
    int64_t dims[EVAL_MAX_RANK];
    evl_known known;
    size_t n = 0;
    EvalStatus st = evl_use_ints(x->ctx, &x->use, "shape", 1, EVAL_MAX_RANK, dims, &n, &known);
    if (st)
        return st;
    x->out[0].type = x->use.in[0]->type;
    if (known == EVL_ABSENT)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "the new shape is missing");
    if (known == EVL_KNOWN)
        return reshape_to(x, dims, n);
    x->out[0].shape = evl_shape_of_rank(evl_list_length(x->use.in[1]));
    return EVAL_OK;
}

static EvalStatus infer_flatten(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    int64_t given = evl_node_int(x->use.node, "axis", 1);
    evl_shape *out = &x->out[0].shape;
    int32_t axis = in->rank;
    EvalStatus st;
    x->out[0].type = x->use.in[0]->type;
    *out = evl_shape_of_rank(2);
    if (in->rank < 0)
        return EVAL_OK;
    if (given != in->rank && (st = evl_axis(x->ctx, "axis", given, in->rank, &axis)))
        return st;
    if ((st = evl_dims_product(x->ctx, in, 0, axis, &out->dim[0])))
        return st;
    return evl_dims_product(x->ctx, in, axis, in->rank, &out->dim[1]);
}

static bool holds(const evl_axes *axes, int32_t axis)
{
    for (size_t i = 0; i < axes->n; i++)
        if (axes->axis[i] == axis)
            return true;
    return false;
}

/* Every dimension of size 1, when no axes are given. False: not all sizes are known. */
static bool all_ones(const evl_shape *in, evl_axes *axes)
{
    axes->n = 0;
    for (int32_t d = 0; d < in->rank; d++) {
        if (in->dim[d] < 0)
            return false;
        if (in->dim[d] == 1)
            axes->axis[axes->n++] = d;
    }
    return true;
}

static EvalStatus squeeze(evl_context *ctx, const evl_shape *in, const evl_axes *axes,
                          evl_shape *out)
{
    *out = evl_shape_scalar();
    for (int32_t d = 0; d < in->rank; d++) {
        if (!holds(axes, d))
            out->dim[out->rank++] = in->dim[d];
        else if (in->dim[d] >= 0 && in->dim[d] != 1)
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "axis %" PRId32 " has size %" PRId64
                            " and cannot be squeezed: only size 1 can",
                            d, in->dim[d]);
    }
    return EVAL_OK;
}

static EvalStatus infer_squeeze(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    evl_axes axes;
    EvalStatus st;
    x->out[0].type = x->use.in[0]->type;
    if (in->rank < 0)
        return EVAL_OK;
    if ((st = evl_axes_of(x->ctx, &x->use, "axes", 1, in->rank, &axes)))
        return st;
    if (axes.known == EVL_UNKNOWN) {
        if (axes.n <= (size_t)in->rank)
            x->out[0].shape = evl_shape_of_rank(in->rank - (int32_t)axes.n);
        return EVAL_OK;
    }
    if (axes.known == EVL_ABSENT && !all_ones(in, &axes))
        return EVAL_OK;
    return squeeze(x->ctx, in, &axes, &x->out[0].shape);
}

static EvalStatus unsqueeze(evl_infer *x, int32_t rank)
{
    const evl_shape *in = &x->use.in[0]->shape;
    evl_shape out = evl_shape_of_rank(rank);
    evl_axes axes;
    int32_t next = 0;
    EvalStatus st = evl_axes_of(x->ctx, &x->use, "axes", 1, rank, &axes);
    if (st)
        return st;
    for (int32_t d = 0; axes.known == EVL_KNOWN && d < rank; d++)
        out.dim[d] = holds(&axes, d) ? 1 : in->dim[next++];
    x->out[0].shape = out;
    return EVAL_OK;
}

static EvalStatus infer_unsqueeze(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    int64_t given[EVAL_MAX_RANK], length;
    evl_known known;
    size_t n = 0, rank;
    EvalStatus st = evl_use_ints(x->ctx, &x->use, "axes", 1, EVAL_MAX_RANK, given, &n, &known);
    if (st)
        return st;
    x->out[0].type = in->type;
    if (known == EVL_ABSENT)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "the axes are missing");
    length = known == EVL_KNOWN ? (int64_t)n : evl_list_length(evl_use_in(&x->use, 1));
    if (in->shape.rank < 0 || length < 0)
        return EVAL_OK;
    rank = (size_t)in->shape.rank + (size_t)length;
    if ((st = evl_rank_check(x->ctx, rank)))
        return st;
    return unsqueeze(x, (int32_t)rank);
}

const evl_op evl_op_reshape = { .name = "Reshape",
                                .min_inputs = 1,
                                .max_inputs = 2,
                                .min_outputs = 1,
                                .max_outputs = 1,
                                .traits = EVL_OP_ALIAS,
                                .infer = infer_reshape,
                                .any = &evl_move_all_impl };
const evl_op evl_op_flatten = { .name = "Flatten",
                                .min_inputs = 1,
                                .max_inputs = 1,
                                .min_outputs = 1,
                                .max_outputs = 1,
                                .traits = EVL_OP_ALIAS,
                                .infer = infer_flatten,
                                .any = &evl_move_all_impl };
const evl_op evl_op_squeeze = { .name = "Squeeze",
                                .min_inputs = 1,
                                .max_inputs = 2,
                                .min_outputs = 1,
                                .max_outputs = 1,
                                .traits = EVL_OP_ALIAS,
                                .infer = infer_squeeze,
                                .any = &evl_move_all_impl };
const evl_op evl_op_unsqueeze = { .name = "Unsqueeze",
                                  .min_inputs = 1,
                                  .max_inputs = 2,
                                  .min_outputs = 1,
                                  .max_outputs = 1,
                                  .traits = EVL_OP_ALIAS,
                                  .infer = infer_unsqueeze,
                                  .any = &evl_move_all_impl };
static const evl_impl identity_impl = { evl_prepare_same, evl_move_all_run };
const evl_op evl_op_identity = { .name = "Identity",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .min_outputs = 1,
                                 .max_outputs = 1,
                                 .traits = EVL_OP_ALIAS | EVL_OP_NESTED,
                                 .infer = evl_infer_same,
                                 .any = &identity_impl };

const evl_op *const evl_ops_layout[] = { &evl_op_reshape,   &evl_op_flatten,  &evl_op_squeeze,
                                         &evl_op_unsqueeze, &evl_op_identity, NULL };
