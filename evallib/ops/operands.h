/* operands.h - checks of operands that several families share. */
#ifndef EVL_OPS_OPERANDS_H
#define EVL_OPS_OPERANDS_H
#include "ir/op.h"

/* Inputs 0 .. n-1 that are there have one type, floating-point widths being one:
** arithmetic reads them all as that of input 0. */
EVL_MUST_USE EvalStatus evl_infer_one_type(const evl_infer *, size_t n);

/* Kinds of elements, and the check that an input's are among them: EVAL_ERR_TYPE. */
enum { EVL_TAKES_BOOL = 1, EVL_TAKES_INTEGERS = 2, EVL_TAKES_REALS = 4, EVL_TAKES_TEXTS = 8 };
EVL_MUST_USE EvalStatus evl_infer_takes(const evl_infer *, size_t input, unsigned kinds);

/* A dimension against one that it must equal: unknown ones pass, and *dim becomes the
** known one. `what` names it in the text. */
EVL_MUST_USE EvalStatus evl_infer_dim(const evl_infer *, const char *what, int64_t expected,
                                      int64_t *dim);

/* The rank of an input: EVAL_ERR_SHAPE unless it is unknown or least .. most. */
EVL_MUST_USE EvalStatus evl_infer_rank(const evl_infer *, size_t input, int32_t least,
                                       int32_t most);

/* Dimension i of an input, unknown when its rank is. */
int64_t evl_infer_dim_of(const evl_infer *, size_t input, int32_t i);

/* The `kind` of a block packed for these sizes: one constant may be seen in several
** shapes, so they are part of its key. NULL: no memory. */
const char *evl_prepare_kind(const evl_prepare *, const char *name, size_t a, size_t b, size_t c);
#endif
