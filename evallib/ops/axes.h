/* axes.h - what operators that rearrange tensors ask about their parameters. */
#ifndef EVL_OPS_AXES_H
#define EVL_OPS_AXES_H
#include "ir/op.h"

typedef struct evl_axes {
    evl_known known;
    size_t n; /* when not known: as many as the input's shape tells, SIZE_MAX for no idea */
    int32_t axis[EVAL_MAX_RANK];
} evl_axes;

/* The attribute `name`, or input `input`, as axes of a tensor of that rank: counted from
** its start, each at most once. */
EVL_MUST_USE EvalStatus evl_axes_of(evl_context *, const evl_use *, const char *name, size_t input,
                                    int32_t rank, evl_axes *);

/* The attribute `axes`; where it is left out, all axes in their order. */
EVL_MUST_USE EvalStatus evl_axes_or_all(evl_context *, const evl_use *, int32_t rank, evl_axes *);

/* Elements of a list given as a rank 1 (or scalar) input; -1: not known yet. */
int64_t evl_list_length(const evl_tensor *);

/* A shape of that rank (EVL_UNKNOWN_RANK for any other than 0 .. EVAL_MAX_RANK) of
** which no size is known. */
evl_shape evl_shape_of_rank(int64_t rank);

/* The product of dimensions from .. to-1; EVL_UNKNOWN_DIM when one of them is unknown.
** EVAL_ERR_LIMIT: it does not fit. */
EVL_MUST_USE EvalStatus evl_dims_product(evl_context *, const evl_shape *, int32_t from, int32_t to,
                                         int64_t *product);

/* The rank that more dimensions would give is one that tensors can have. */
EVL_MUST_USE EvalStatus evl_rank_check(evl_context *, size_t rank);

/* Fails with EVAL_ERR_TYPE when input `input` is there and its type is not int32 or int64. */
EVL_MUST_USE EvalStatus evl_index_type_check(evl_context *, const evl_use *, size_t input);

/* Input `input` is there (where the operator's counts allow it to be left out). */
EVL_MUST_USE EvalStatus evl_input_check(evl_context *, const evl_use *, size_t input);

/* An index along an axis, -size .. size-1, made 0 .. size-1; EVAL_ERR_SHAPE otherwise. */
EVL_MUST_USE EvalStatus evl_index(evl_context *, int64_t index, int32_t axis, int64_t size,
                                  int64_t *result);
#endif
