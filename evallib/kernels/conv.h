/* conv.h - what convolutions have beside products: the matrix of their windows, and
** channels that are convolved one by one. */
#ifndef EVL_KERNELS_CONV_H
#define EVL_KERNELS_CONV_H
#include "kernels/product.h"
#include "kernels/stencil.h"

/* The input whose windows are the columns of B: row (channel, kernel position), column
** output position. The fill_arg of `windows`. */
typedef struct evl_conv_input {
    const evl_stencil *stencil;
    const real *x; /* channels, one plane after another */
} evl_conv_input;

/* One channel with one kernel. */
typedef struct evl_conv_channel {
    const evl_stencil *stencil;
    const size_t *taps;  /* of conv.taps */
    const real *padded;  /* of conv.pad */
    const real *weights; /* a number a tap */
    real bias;
    real *y;
} evl_conv_channel;

typedef struct evl_conv_kernels {
    evl_product_fill *windows;

    /* A plane with its padding, so that no border is asked for, and its columns sorted by
       their place in a stride, so that windows beside each other lie side by side. */
    size_t (*padded_size)(const evl_stencil *);      /* elements; 0: too many to be worth it */
    void (*taps)(const evl_stencil *, size_t *taps); /* where each kernel position looks */
    void (*pad)(const evl_stencil *, const real *x, real *padded);
    void (*channel)(const evl_conv_channel *);

    /* The other way round, for a transposed convolution: each column is added to the
       places its window covers. x [kernel position][window], y one plane, which
       begins as `bias`. */
    void (*scatter)(const evl_stencil *, const real *columns, real bias, real *y);
} evl_conv_kernels;
#endif
