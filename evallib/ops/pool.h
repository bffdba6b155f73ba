/* pool.h - rows of a pooling: the only part that depends on the type of the elements. */
#ifndef EVL_OPS_POOL_H
#define EVL_OPS_POOL_H
#include "ir/op.h"

/* n outputs of one row; the i-th takes x[i * stride]. */
typedef struct evl_pool_rows {
    void (*start)(size_t n, void *y);
    void (*take)(size_t n, const void *x, size_t stride, void *y);
    /* The same for maxima, and where they were: y_index[i] = at + i * step of the winner. */
    void (*take_at)(size_t n, const void *x, size_t stride, void *y, int64_t at, int64_t step,
                    int64_t *y_index);
    /* y[i] /= counts[i]; NULL: maxima need no end. */
    void (*end)(size_t n, const int64_t *counts, void *y);
} evl_pool_rows;
#endif
