/* Checks of operands that several families share. */
#include "ops/operands.h"
#include <stdio.h>

static bool fits(EvalType a, EvalType b)
{
    return a == b || a == EVAL_UNDEFINED || b == EVAL_UNDEFINED ||
           (evl_type_is_float(a) && evl_type_is_float(b));
}

EvalStatus evl_infer_one_type(const evl_infer *infer, size_t n)
{
    const evl_tensor *first = evl_use_in(&infer->use, 0);
    for (size_t i = 1; i < n; i++) {
        const evl_tensor *t = evl_use_in(&infer->use, i);
        if (first && t && !fits(first->type, t->type))
            return evl_fail(infer->ctx, EVAL_ERR_TYPE, "input %zu is %s, expected %s as input 0", i,
                            evl_type_name(t->type), evl_type_name(first->type));
    }
    return EVAL_OK;
}

EvalStatus evl_infer_takes(const evl_infer *infer, size_t input, unsigned kinds)
{
    static const char *const names[16] = {
        [EVL_TAKES_BOOL] = "bool",
        [EVL_TAKES_INTEGERS] = "an integer",
        [EVL_TAKES_REALS] = "floating point",
        [EVL_TAKES_INTEGERS | EVL_TAKES_REALS] = "an integer or floating point",
        [EVL_TAKES_INTEGERS | EVL_TAKES_REALS | EVL_TAKES_BOOL] = "numbers or bool",
        [EVL_TAKES_INTEGERS | EVL_TAKES_TEXTS] = "an integer or string",
    };
    const evl_tensor *t = evl_use_in(&infer->use, input);
    EvalType type = t ? t->type : EVAL_UNDEFINED;
    unsigned kind = type == EVAL_BOOL             ? EVL_TAKES_BOOL
                    : evl_type_is_integer(type)   ? EVL_TAKES_INTEGERS
                    : evl_type_is_float(type)     ? EVL_TAKES_REALS
                    : type == EVAL_STRING         ? EVL_TAKES_TEXTS
                                                  : 0;
    if (type == EVAL_UNDEFINED || (kind & kinds))
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_TYPE, "input %zu is %s, expected %s", input,
                    evl_type_name(type), names[kinds]);
}

EvalStatus evl_infer_dim(const evl_infer *infer, const char *what, int64_t expected, int64_t *dim)
{
    if (*dim == EVL_UNKNOWN_DIM)
        *dim = expected;
    if (expected == EVL_UNKNOWN_DIM || *dim == expected)
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_SHAPE, "%s is %lld, expected %lld", what, (long long)*dim,
                    (long long)expected);
}

EvalStatus evl_infer_rank(const evl_infer *infer, size_t input, int32_t least, int32_t most)
{
    const evl_tensor *t = evl_use_in(&infer->use, input);
    int32_t rank = t ? t->shape.rank : EVL_UNKNOWN_RANK;
    if (rank == EVL_UNKNOWN_RANK || (rank >= least && rank <= most))
        return EVAL_OK;
    if (least == most)
        return evl_fail(infer->ctx, EVAL_ERR_SHAPE, "input %zu has rank %d, expected %d", input,
                        (int)rank, (int)least);
    return evl_fail(infer->ctx, EVAL_ERR_SHAPE, "input %zu has rank %d, expected %d to %d", input,
                    (int)rank, (int)least, (int)most);
}

int64_t evl_infer_dim_of(const evl_infer *infer, size_t input, int32_t i)
{
    const evl_tensor *t = evl_use_in(&infer->use, input);
    return t && i >= 0 && i < t->shape.rank ? t->shape.dim[i] : EVL_UNKNOWN_DIM;
}

const char *evl_prepare_kind(const evl_prepare *p, const char *name, size_t a, size_t b, size_t c)
{
    enum { LONGEST = 96 };
    char *text = evl_arena_take(p->arena, LONGEST);
    if (text)
        snprintf(text, LONGEST, "%s %zu %zu %zu", name, a, b, c);
    return text;
}
