/* Shapes: sizes that multiply without overflow, and numpy's broadcasting. */
#include "ir/tensor.h"
#include <stdio.h>

evl_shape evl_shape_unknown(void)
{
    return (evl_shape){ .rank = EVL_UNKNOWN_RANK };
}

evl_shape evl_shape_scalar(void)
{
    return (evl_shape){ .rank = 0 };
}

evl_shape evl_shape_of(size_t rank, const int64_t *dims)
{
    evl_shape shape; /* not zeroed as a whole: every call of a network makes some */
    shape.rank = (int32_t)rank;
    for (size_t i = 0; i < rank; i++)
        shape.dim[i] = dims[i];
    for (size_t i = rank; i < EVAL_MAX_RANK; i++)
        shape.dim[i] = 0;
    return shape;
}

bool evl_shape_is_known(const evl_shape *s)
{
    for (int32_t i = 0; i < s->rank; i++)
        if (s->dim[i] < 0)
            return false;
    return s->rank >= 0;
}

bool evl_shape_equal(const evl_shape *a, const evl_shape *b)
{
    if (a->rank != b->rank)
        return false;
    for (int32_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return true;
}

size_t evl_shape_count_part(const evl_shape *s, int32_t from, int32_t to)
{
    size_t n = 1;
    for (int32_t i = from; i < to; i++)
        n *= (size_t)s->dim[i];
    return n;
}

size_t evl_shape_count(const evl_shape *s)
{
    return evl_shape_count_part(s, 0, s->rank);
}

/* Zero-sized dimensions count as one, so that a part of the dimensions cannot overflow either. */
EvalStatus evl_shape_check(evl_context *ctx, const evl_shape *s, size_t each)
{
    char text[EVL_SHAPE_TEXT];
    size_t bytes = each;
    for (int32_t i = 0; i < s->rank; i++) {
        if (s->dim[i] < EVL_UNKNOWN_DIM)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "a negative dimension in shape %s",
                            evl_shape_text(s, text));
        if (s->dim[i] > 0 && (!evl_size_multiply(bytes, (size_t)s->dim[i], &bytes) ||
                              bytes > ctx->limits->max_tensor_bytes))
            return evl_fail(ctx, EVAL_ERR_LIMIT,
                            "shape %s of %zu-byte elements has more bytes than the setting "
                            "maxTensorBytes allows, %zu",
                            evl_shape_text(s, text), each, ctx->limits->max_tensor_bytes);
    }
    return EVAL_OK;
}

/* 1 gives way; an unknown size gives way to a known one that is not 1. False: they differ. */
static bool broadcast_dim(int64_t a, int64_t b, int64_t *out)
{
    *out = a == 1 ? b : b == 1 || a >= 0 ? a : b;
    return a == b || a == 1 || b == 1 || a < 0 || b < 0;
}

EvalStatus evl_shape_broadcast(evl_context *ctx, const evl_shape *a, const evl_shape *b,
                               evl_shape *out)
{
    char text_a[EVL_SHAPE_TEXT], text_b[EVL_SHAPE_TEXT];
    if (a->rank < 0 || b->rank < 0) {
        *out = evl_shape_unknown();
        return EVAL_OK;
    }
    evl_shape y = { .rank = a->rank > b->rank ? a->rank : b->rank };
    for (int32_t i = 1; i <= y.rank; i++) {
        int64_t da = i <= a->rank ? a->dim[a->rank - i] : 1;
        int64_t db = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (!broadcast_dim(da, db, &y.dim[y.rank - i]))
            return evl_fail(ctx, EVAL_ERR_SHAPE, "shapes %s and %s do not broadcast",
                            evl_shape_text(a, text_a), evl_shape_text(b, text_b));
    }
    *out = y;
    return EVAL_OK;
}

EvalStatus evl_axis(evl_context *ctx, const char *what, int64_t axis, int32_t rank,
                    int32_t *result)
{
    if (axis < -(int64_t)rank || axis >= rank)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "%s %lld is not in %d .. %d", what, (long long)axis,
                        (int)-rank, (int)rank - 1);
    *result = (int32_t)(axis < 0 ? axis + rank : axis);
    return EVAL_OK;
}

const char *evl_shape_text(const evl_shape *s, char buffer[EVL_SHAPE_TEXT])
{
    size_t at = 1;
    buffer[0] = '[';
    if (s->rank < 0)
        at += (size_t)snprintf(buffer + at, EVL_SHAPE_TEXT - at, "...");
    for (int32_t i = 0; i < s->rank && at < EVL_SHAPE_TEXT - 24; i++) {
        const char *comma = i ? "," : "";
        if (s->dim[i] < 0)
            at += (size_t)snprintf(buffer + at, EVL_SHAPE_TEXT - at, "%s?", comma);
        else
            at += (size_t)snprintf(buffer + at, EVL_SHAPE_TEXT - at, "%s%lld", comma,
                                   (long long)s->dim[i]);
    }
    snprintf(buffer + at, EVL_SHAPE_TEXT - at, "]");
    return buffer;
}
