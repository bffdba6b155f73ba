/* blocked.h - kernels over channels that lie in blocks.
**
** A blocked value is [C / lanes][place][lanes]: a vector of channels at each place, the
** last block filled up with zeros. Windows then need no matrix of their own: where an
** output's window begins (its place) plus where a kernel position lies in it (a tap) is
** where a vector is, whatever the stride, the dilation and the number of dimensions.
** Padding is not asked for here: whoever calls has copied the input with its padding.
**
** Sums run in one order for every output, whatever stands beside it. */
#ifndef EVL_KERNELS_BLOCKED_H
#define EVL_KERNELS_BLOCKED_H
#include "real.h"
#include <stddef.h>

/* n outputs of one or two blocks of channels: y = clip(bias + x * weights + residual). */
typedef struct evl_blocked_sums {
    size_t n;
    const size_t *places;   /* n offsets into x */
    size_t n_taps, run;     /* behind each tap lie `run` numbers: channels */
    const size_t *taps;     /* n_taps offsets */
    const real *x;
    const real *weights;    /* [tap][run][2 * lanes] */
    size_t n_blocks;        /* 1 or 2 */
    real *y;                /* [block][n][lanes], blocks y_block apart */
    size_t y_block;
    const real *bias;       /* 2 * lanes; NULL: 0 */
    const real *residual;   /* as y; NULL: 0 */
    bool clips;             /* y to least .. most */
    real least, most;
} evl_blocked_sums;

/* n outputs of one block, channel by channel: what a window holds, weighted or not. */
typedef struct evl_blocked_window {
    size_t n;
    const size_t *places, *taps;
    size_t n_taps;
    const real *x;
    const real *weights;    /* [tap][lanes]; not of max and sum */
    const real *bias;       /* lanes; not of max */
    real *y;                /* [n][lanes] */
    bool clips;             /* y to least .. most */
    real least, most;
} evl_blocked_window;

typedef struct evl_window_kernels {
    void (*depthwise)(const evl_blocked_window *);
    void (*max)(const evl_blocked_window *);
    void (*sum)(const evl_blocked_window *);
    /* n places of one block, each lane's number from lane which[lane]. */
    void (*spread)(size_t n, const real *x, const size_t *which, real *y);
} evl_window_kernels;

/* Winograd's convolution F(m x m, 3 x 3), m 2 or 4, of stride 1: m * m outputs from a tile of
** (m + 2)^2 inputs, by one product of channels for each of these. Places in one plane:
** input[height, width], output likewise; tiles are counted along rows. */
typedef struct evl_winograd {
    size_t m;
    size_t in_height, in_width, out_height, out_width;
    size_t begin_y, begin_x;   /* padding before the input */
    size_t across;             /* tiles in a row */
} evl_winograd;

/* One block of channels of the output: where it is, and what is added. */
typedef struct evl_winograd_output {
    const real *bias, *residual; /* lanes; as y; NULL: 0 */
    bool clips;
    real least, most;
    real *y;
} evl_winograd_output;

typedef struct evl_winograd_kernels {
    /* 3 x 3 weights of 2 * lanes channels, w[position][channel], to (m + 2)^2, `step` apart. */
    void (*weights)(size_t m, const real *w, real *u, size_t step);
    /* Tiles from .. from+n-1 of one block of channels: element e of tile i is the vector at
       v + e * step + i * lanes. */
    void (*input)(const evl_winograd *, size_t from, size_t n, const real *x, real *v, size_t step);
    void (*output)(const evl_winograd *, size_t from, size_t n, const real *v, size_t step,
                   const evl_winograd_output *);
} evl_winograd_kernels;

typedef struct evl_blocked_kernels {
    size_t lanes;
    size_t rows; /* of outputs in a tile: work is best cut at multiples */
    const evl_winograd_kernels *winograd;
    const evl_window_kernels *windows;
    void (*sums)(const evl_blocked_sums *);
    /* `channels` planes of n elements, plane apart, to [n][lanes] with zeros behind, and back. */
    void (*block)(size_t channels, size_t n, const real *x, size_t plane, real *y);
    void (*unblock)(size_t channels, size_t n, const real *x, real *y, size_t plane);
} evl_blocked_kernels;
#endif
