/* attention.h - softmax of rows whose elements come a block at a time, so that no row is
** ever whole in memory. */
#ifndef EVL_KERNELS_ATTENTION_H
#define EVL_KERNELS_ATTENTION_H
#include "real.h"
#include <stddef.h>

/* What is known of a row: its largest element and the sum of exp(x - most). At first
** -infinity and 0. */
typedef struct evl_softmax_row {
    real most, sum;
} evl_softmax_row;

typedef struct evl_attention_kernels {
    /* n more elements of a row: x[i] becomes exp(x[i] - most). Gives the factor that what
       was made of earlier elements must get. Elements of -infinity become 0, and so do all of
       a row that has no other. */
    real (*weigh)(size_t n, real *x, evl_softmax_row *);
    void (*scale)(size_t n, real *x, real by);
    /* Of a whole row; y may be x. */
    void (*softmax)(size_t n, const real *x, real *y);
    void (*log_softmax)(size_t n, const real *x, real *y);
} evl_attention_kernels;
#endif
