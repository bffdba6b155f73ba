/* Convolutions over blocked channels: a tile of rows x 2 vectors of sums in registers,
** as in gemm_real.c, but its rows are found by offsets, so that one loop serves every
** kernel, stride, dilation and number of dimensions.
**
** Measured on Zen 3: 85-95 % of the processor's FMA peak with operands in cache. */
#include "kernels/blocked.h"
#include "kernels/set.h"
#include "kernels/vector.h"

enum {
    ROWS = VECTOR_ROWS,
    COLUMNS = 2 * LANES,
    BLOCK_K = 384 /* weights of a block fill most of the first cache */
};

/* Some taps of a call, and what their sums start from. */
typedef struct part {
    const evl_blocked_sums *s;
    const size_t *taps;
    size_t n_taps;
    const real *weights;
    bool is_first, is_last;
} part;

static inline __attribute__((always_inline)) void tile(const part *p, size_t at, size_t rows,
                                                       size_t n_blocks, real *sums)
{
    const evl_blocked_sums *s = p->s;
    const real *w = p->weights, *x[ROWS];
    vec left[ROWS] = { 0 }, right[ROWS] = { 0 };
#pragma GCC unroll 16
    for (size_t i = 0; i < ROWS; i++)
        if (i < rows) {
            x[i] = s->x + s->places[at + i];
            if (!p->is_first) {
                left[i] = vec_load(s->y + (at + i) * LANES);
                if (n_blocks > 1)
                    right[i] = vec_load(s->y + s->y_block + (at + i) * LANES);
            }
        }
    for (size_t t = 0; t < p->n_taps; t++) {
        size_t k = p->taps[t];
        for (size_t end = k + s->run; k < end; k++, w += COLUMNS) {
            vec w0 = vec_load(w), w1 = vec_load(w + LANES);
#pragma GCC unroll 16
            for (size_t i = 0; i < ROWS; i++)
                if (i < rows) {
                    left[i] += x[i][k] * w0;
                    if (n_blocks > 1)
                        right[i] += x[i][k] * w1;
                }
        }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++) {
        vec_store(sums + i * LANES, left[i]);
        if (n_blocks > 1)
            vec_store(sums + (ROWS + i) * LANES, right[i]);
    }
}

/* A set has as many of these as its registers hold rows; the rest fold away. */
enum {
    R5 = ROWS < 5 ? 1 : 5,
    R6 = ROWS < 6 ? 1 : 6,
    R7 = ROWS < 7 ? 1 : 7,
    R8 = ROWS < 8 ? 1 : 8,
    R9 = ROWS < 9 ? 1 : 9,
    R10 = ROWS < 10 ? 1 : 10,
    R11 = ROWS < 11 ? 1 : 11,
    R12 = ROWS < 12 ? 1 : 12
};

static void two_blocks(const part *p, size_t at, size_t rows, real *sums)
{
    switch (rows) {
    case 1: tile(p, at, 1, 2, sums); return;
    case 2: tile(p, at, 2, 2, sums); return;
    case 3: tile(p, at, 3, 2, sums); return;
    case 4: tile(p, at, 4, 2, sums); return;
    case 5: tile(p, at, R5, 2, sums); return;
    case 6: tile(p, at, R6, 2, sums); return;
    case 7: tile(p, at, R7, 2, sums); return;
    case 8: tile(p, at, R8, 2, sums); return;
    case 9: tile(p, at, R9, 2, sums); return;
    case 10: tile(p, at, R10, 2, sums); return;
    case 11: tile(p, at, R11, 2, sums); return;
    default: tile(p, at, R12, 2, sums); return;
    }
}

static void one_block(const part *p, size_t at, size_t rows, real *sums)
{
    switch (rows) {
    case 1: tile(p, at, 1, 1, sums); return;
    case 2: tile(p, at, 2, 1, sums); return;
    case 3: tile(p, at, 3, 1, sums); return;
    case 4: tile(p, at, 4, 1, sums); return;
    case 5: tile(p, at, R5, 1, sums); return;
    case 6: tile(p, at, R6, 1, sums); return;
    case 7: tile(p, at, R7, 1, sums); return;
    case 8: tile(p, at, R8, 1, sums); return;
    case 9: tile(p, at, R9, 1, sums); return;
    case 10: tile(p, at, R10, 1, sums); return;
    case 11: tile(p, at, R11, 1, sums); return;
    default: tile(p, at, R12, 1, sums); return;
    }
}

static inline real clip(real x, real least, real most)
{
    x = x < least ? least : x; /* a NaN stays */
    return x > most ? most : x;
}

/* The last touch of one block's rows, which lie side by side as in y. */
static void finish(const evl_blocked_sums *s, size_t block, size_t at, size_t rows, real *sums)
{
    const real least = s->least, most = s->most;
    size_t n = rows * LANES, to = block * s->y_block + at * LANES;
    if (s->bias)
        for (size_t i = 0; i < n; i += LANES)
            vec_store(sums + i, vec_load(sums + i) + vec_load(s->bias + block * LANES));
    if (s->residual)
        for (size_t i = 0; i < n; i += LANES)
            vec_store(sums + i, vec_load(sums + i) + vec_load(s->residual + to + i));
    for (size_t i = 0; i < n; i++)
        sums[i] = clip(sums[i], least, most);
}

static void store(const evl_blocked_sums *s, size_t block, size_t at, size_t rows, const real *sums)
{
    real *y = s->y + block * s->y_block + at * LANES;
    for (size_t i = 0; i < rows * LANES; i += LANES)
        vec_store(y + i, vec_load(sums + i));
}

static void part_sums(const part *p)
{
    const evl_blocked_sums *s = p->s;
    real sums[2 * ROWS * LANES];
    size_t tiles = (s->n + ROWS - 1) / ROWS;
    for (size_t t = 0, at = 0; t < tiles; t++) {
        size_t rows = (s->n - at + tiles - t - 1) / (tiles - t); /* even: 13 by 6 is 5, 4, 4 */
        if (s->n_blocks > 1)
            two_blocks(p, at, rows, sums);
        else
            one_block(p, at, rows, sums);
        for (size_t b = 0; b < s->n_blocks; b++) {
            if (p->is_last)
                finish(s, b, at, rows, sums + b * ROWS * LANES);
            store(s, b, at, rows, sums + b * ROWS * LANES);
        }
        at += rows;
    }
}

/* In blocks of taps, so that weights come from the first cache for all tiles but one. */
static void sums(const evl_blocked_sums *s)
{
    size_t parts = (s->n_taps * s->run + BLOCK_K - 1) / BLOCK_K;
    for (size_t i = 0, at = 0; i < parts; i++) {
        size_t taps = (s->n_taps - at + parts - i - 1) / (parts - i);
        part p = { s, s->taps + at, taps, s->weights + at * s->run * COLUMNS, i == 0,
                   i + 1 == parts };
        part_sums(&p);
        at += taps;
    }
}

/* --- channel by channel --- */

static inline vec vec_max(vec a, vec b) /* a NaN of either stays */
{
    for (size_t i = 0; i < LANES; i++)
        a[i] = b[i] > a[i] || b[i] != b[i] ? b[i] : a[i];
    return a;
}

typedef enum window_kind { WEIGHTED, LARGEST, SUM } window_kind;

static inline __attribute__((always_inline)) void window_rows(const evl_blocked_window *s,
                                                              size_t at, size_t rows,
                                                              window_kind kind)
{
    vec sum[ROWS];
    const real *x[ROWS], *w = s->weights;
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++) {
        x[i] = s->x + s->places[at + i];
        sum[i] = (vec){ 0 } - (kind == LARGEST ? (real)INFINITY : 0);
        if (kind == WEIGHTED && s->bias)
            sum[i] = vec_load(s->bias);
    }
    for (size_t t = 0; t < s->n_taps; t++) {
        size_t k = s->taps[t];
        vec weight = kind == WEIGHTED ? vec_load(w + t * LANES) : (vec){ 0 };
#pragma GCC unroll 16
        for (size_t i = 0; i < rows; i++)
            if (kind == LARGEST)
                sum[i] = vec_max(sum[i], vec_load(x[i] + k));
            else if (kind == SUM)
                sum[i] += vec_load(x[i] + k);
            else
                sum[i] += weight * vec_load(x[i] + k);
    }
    real *y = s->y + at * LANES;
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++)
        vec_store(y + i * LANES, sum[i]);
    if (kind == WEIGHTED)
        for (size_t i = 0; i < rows * LANES; i++)
            y[i] = clip(y[i], s->least, s->most);
}

static inline __attribute__((always_inline)) void window(const evl_blocked_window *s,
                                                         window_kind kind)
{
    size_t at = 0;
    for (; at + ROWS <= s->n; at += ROWS)
        window_rows(s, at, ROWS, kind);
    for (; at < s->n; at++)
        window_rows(s, at, 1, kind);
}

static void depthwise(const evl_blocked_window *s)
{
    window(s, WEIGHTED);
}

static void largest(const evl_blocked_window *s)
{
    window(s, LARGEST);
}

static void sum(const evl_blocked_window *s)
{
    window(s, SUM);
}

/* --- to blocks and back --- */

static void block(size_t channels, size_t n, const real *x, size_t plane, real *y)
{
    for (size_t c = 0; c < LANES; c++)
        for (size_t i = 0; i < n; i++)
            y[i * LANES + c] = c < channels ? x[c * plane + i] : 0;
}

static void unblock(size_t channels, size_t n, const real *x, real *y, size_t plane)
{
    for (size_t c = 0; c < channels; c++)
        for (size_t i = 0; i < n; i++)
            y[c * plane + i] = x[i * LANES + c];
}

const evl_blocked_kernels SET(evl_blocked_kernels) = {
    .lanes = LANES,
    .winograd = &SET(evl_winograd_kernels),
    .sums = sums,
    .depthwise = depthwise,
    .max = largest,
    .sum = sum,
    .block = block,
    .unblock = unblock,
};
