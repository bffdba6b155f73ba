#include "ops/axes.h"
#include <inttypes.h>

int64_t evl_list_length(const evl_tensor *t)
{
    if (!t || t->shape.rank < 0)
        return -1;
    return t->shape.rank == 0 ? 1 : t->shape.dim[0];
}

static EvalStatus axis_is_new(evl_context *ctx, const evl_axes *axes, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (axes->axis[j] == axes->axis[i])
            return evl_fail(ctx, EVAL_ERR_SHAPE, "axis %" PRId32 " is given twice", axes->axis[i]);
    return EVAL_OK;
}

EvalStatus evl_axes_of(evl_context *ctx, const evl_use *use, const char *name, size_t input,
                       int32_t rank, evl_axes *axes)
{
    int64_t given[EVAL_MAX_RANK];
    int64_t length = evl_list_length(evl_use_in(use, input));
    EvalStatus st;
    axes->n = 0;
    st = evl_use_ints(ctx, use, name, input, EVAL_MAX_RANK, given, &axes->n, &axes->known);
    if (st)
        return st;
    if (axes->known == EVL_UNKNOWN)
        axes->n = length < 0 ? SIZE_MAX : (size_t)length;
    if (axes->known != EVL_KNOWN)
        return EVAL_OK;
    for (size_t i = 0; i < axes->n; i++) {
        if ((st = evl_axis(ctx, name, given[i], rank, &axes->axis[i])) ||
            (st = axis_is_new(ctx, axes, i)))
            return st;
    }
    return EVAL_OK;
}

EvalStatus evl_axes_or_all(evl_context *ctx, const evl_use *use, int32_t rank, evl_axes *axes)
{
    EvalStatus st = evl_axes_of(ctx, use, "axes", SIZE_MAX, rank, axes);
    if (st || axes->known == EVL_KNOWN)
        return st;
    axes->n = (size_t)rank;
    for (int32_t d = 0; d < rank; d++)
        axes->axis[d] = d;
    return EVAL_OK;
}

evl_shape evl_shape_of_rank(int64_t rank)
{
    evl_shape shape = evl_shape_unknown();
    if (rank < 0 || rank > EVAL_MAX_RANK)
        return shape;
    shape.rank = (int32_t)rank;
    for (int64_t d = 0; d < rank; d++)
        shape.dim[d] = EVL_UNKNOWN_DIM;
    return shape;
}

EvalStatus evl_dims_product(evl_context *ctx, const evl_shape *shape, int32_t from, int32_t to,
                            int64_t *product)
{
    size_t n = 1;
    *product = EVL_UNKNOWN_DIM;
    for (int32_t d = from; d < to; d++)
        if (shape->dim[d] < 0)
            return EVAL_OK;
    for (int32_t d = from; d < to; d++)
        if (!evl_size_multiply(n, (size_t)shape->dim[d], &n) || n > INT64_MAX)
            return evl_fail(ctx, EVAL_ERR_LIMIT, "a product of dimensions is too large");
    *product = (int64_t)n;
    return EVAL_OK;
}

EvalStatus evl_rank_check(evl_context *ctx, size_t rank)
{
    if (rank <= EVAL_MAX_RANK)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_LIMIT, "the result would have rank %zu, the most is %d", rank,
                    EVAL_MAX_RANK);
}

EvalStatus evl_index_type_check(evl_context *ctx, const evl_use *use, size_t input)
{
    const evl_tensor *t = evl_use_in(use, input);
    if (!t || t->type == EVAL_INT32 || t->type == EVAL_INT64 || t->type == EVAL_UNDEFINED)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_TYPE, "input %zu must be int32 or int64, it is %s", input,
                    evl_type_name(t->type));
}

EvalStatus evl_input_check(evl_context *ctx, const evl_use *use, size_t input)
{
    if (evl_use_in(use, input))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_FORMAT, "input %zu is needed here and is left out", input);
}

EvalStatus evl_index(evl_context *ctx, int64_t index, int32_t axis, int64_t size, int64_t *result)
{
    *result = index < 0 ? index + size : index;
    if (*result >= 0 && *result < size)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE,
                    "index %" PRId64 " is outside axis %" PRId32 ", which has size %" PRId64, index,
                    axis, size);
}
