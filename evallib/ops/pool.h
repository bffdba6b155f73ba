/* pool.h - poolings with a window, in the two ways there are to compute them. */
#ifndef EVL_OPS_POOL_H
#define EVL_OPS_POOL_H
#include "ir/op.h"
#include "kernels/stencil.h"

/* n outputs of one row, the i-th of which takes x[i * stride], and where the maximum was:
** index[i] = at + i * step of the winner, < 0 before the first. */
typedef void evl_pool_take(size_t n, const void *x, size_t stride, void *y, int64_t at,
                           int64_t step, int64_t *index);

/* The node's window, with ceil_mode. */
EVL_MUST_USE EvalStatus evl_pool_window(evl_context *, const evl_use *, evl_stencil *);

/* MaxPool that also says where: pool_index.c. Attributes are checked. */
EVL_MUST_USE EvalStatus evl_pool_index_prepare(evl_prepare *, const evl_stencil *);
#endif
