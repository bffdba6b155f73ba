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
    ROWS_OF_ONE = ROWS < 8 ? 8 : ROWS, /* of one block: as many sums as keep both multipliers busy */
    COLUMNS = 2 * LANES,
    BLOCK_K = 384,     /* weights of a block fill most of the first cache */
    LINE = 64,         /* bytes of a line of the cache */
    A_LINE = VECTOR_BYTES < LINE ? LINE / VECTOR_BYTES : 1, /* places beside each other in it */
    TAPS_AHEAD = 2     /* whose lines are asked for: planes lie on pages of their own */
};

/* Some taps of a call, and what their sums start from. */
typedef struct part {
    const evl_blocked_sums *s;
    const size_t *taps;
    size_t n_taps;
    const real *weights;
    bool is_first;
    const real *residual; /* of the last taps; NULL: none */
    real least, most;
    size_t lines; /* that each tap brings of the weights after these */
} part;

/* Weights used next: their first reader would wait for memory. */
static inline const char *bring(const char *ahead, size_t lines)
{
    for (size_t i = 0; i < lines; i++, ahead += LINE)
        __builtin_prefetch(ahead, 0, 2);
    return ahead;
}

/* Adds what the inputs at x[..][k] give. */
static inline __attribute__((always_inline)) void multiply(const real *const *x, size_t k, const real *w,
                                                           size_t rows, size_t n_blocks, vec *left,
                                                           vec *right)
{
    vec w0 = vec_load(w), w1 = vec_load(w + LANES);
#pragma GCC unroll 16
    for (size_t i = 0; i < ROWS_OF_ONE; i++)
        if (i < rows) {
            left[i] += x[i][k] * w0;
            if (n_blocks > 1)
                right[i] += x[i][k] * w1;
        }
}

/* Tile number `index` of `rows` outputs from `at` on. What it says of the outputs is copied
** first: for all the compiler knows, storing one changes what a pointer leads to. */
static inline __attribute__((always_inline)) void tile(const part *p, size_t index, size_t at,
                                                       size_t rows, size_t n_blocks)
{
    const evl_blocked_sums *s = p->s;
    const real *w = p->weights, *x[ROWS_OF_ONE];
    const size_t bytes = p->n_taps * s->run * COLUMNS * sizeof(real), done = index * p->n_taps * p->lines * LINE;
    const size_t lines = done < bytes ? p->lines : 0;
    const size_t asked = s->run == LANES && p->n_taps > TAPS_AHEAD ? p->n_taps - TAPS_AHEAD : 0;
    const char *ahead = (const char *)w + bytes + done;
    real *const y = s->y + at * LANES;
    const real *const added = p->residual ? p->residual + at * LANES : NULL;
    const size_t block = s->y_block;
    const vec least = vec_all(p->least), most = vec_all(p->most);
    vec left[ROWS_OF_ONE] = { 0 }, right[ROWS_OF_ONE] = { 0 };
    if (!p->is_first) {
#pragma GCC unroll 16
        for (size_t i = 0; i < rows; i++) {
            left[i] = vec_load(y + i * LANES);
            if (n_blocks > 1)
                right[i] = vec_load(y + block + i * LANES);
        }
    } else if (s->bias) {
#pragma GCC unroll 16
        for (size_t i = 0; i < rows; i++) {
            left[i] = vec_load(s->bias);
            if (n_blocks > 1)
                right[i] = vec_load(s->bias + LANES);
        }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++)
        x[i] = s->x + s->places[at + i];
    if (s->run == 1) /* planes that are not blocked */
        for (size_t t = 0; t < p->n_taps; t++, w += COLUMNS)
            multiply(x, p->taps[t], w, rows, n_blocks, left, right);
    for (size_t t = 0; s->run > 1 && t < p->n_taps; t++) {
        ahead = bring(ahead, lines);
        if (t < asked)
#pragma GCC unroll 16
            for (size_t i = 0; i < rows; i += A_LINE)
                __builtin_prefetch(x[i] + p->taps[t + TAPS_AHEAD], 0, 3);
        for (size_t k = p->taps[t], end = k + s->run; k < end; k++, w += COLUMNS)
            multiply(x, k, w, rows, n_blocks, left, right);
    }
#pragma GCC unroll 16
    for (size_t i = 0; added && i < rows; i++) {
        left[i] += vec_load(added + i * LANES);
        if (n_blocks > 1)
            right[i] += vec_load(added + block + i * LANES);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++) {
        vec_store(y + i * LANES, vec_within(left[i], least, most));
        if (n_blocks > 1)
            vec_store(y + block + i * LANES, vec_within(right[i], least, most));
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

static void two_blocks(const part *p, size_t index, size_t at, size_t rows)
{
    switch (rows) {
    case 1: tile(p, index, at, 1, 2); return;
    case 2: tile(p, index, at, 2, 2); return;
    case 3: tile(p, index, at, 3, 2); return;
    case 4: tile(p, index, at, 4, 2); return;
    case 5: tile(p, index, at, R5, 2); return;
    case 6: tile(p, index, at, R6, 2); return;
    case 7: tile(p, index, at, R7, 2); return;
    case 8: tile(p, index, at, R8, 2); return;
    case 9: tile(p, index, at, R9, 2); return;
    case 10: tile(p, index, at, R10, 2); return;
    case 11: tile(p, index, at, R11, 2); return;
    default: tile(p, index, at, R12, 2); return;
    }
}

static void one_block(const part *p, size_t index, size_t at, size_t rows)
{
    switch (rows) {
    case 1: tile(p, index, at, 1, 1); return;
    case 2: tile(p, index, at, 2, 1); return;
    case 3: tile(p, index, at, 3, 1); return;
    case 4: tile(p, index, at, 4, 1); return;
    case 5: tile(p, index, at, 5, 1); return;
    case 6: tile(p, index, at, 6, 1); return;
    case 7: tile(p, index, at, 7, 1); return;
    case 8: tile(p, index, at, 8, 1); return;
    case 9: tile(p, index, at, R9, 1); return;
    case 10: tile(p, index, at, R10, 1); return;
    case 11: tile(p, index, at, R11, 1); return;
    default: tile(p, index, at, R12, 1); return;
    }
}

static void part_sums(const part *p, size_t tiles)
{
    const evl_blocked_sums *s = p->s;
    const size_t least = s->n / tiles, more = s->n % tiles; /* even: 13 by 6 is 5, 4, 4 */
    for (size_t t = 0, at = 0; t < tiles; t++) {
        size_t rows = least + (t < more);
        if (s->n_blocks > 1)
            two_blocks(p, t, at, rows);
        else
            one_block(p, t, at, rows);
        at += rows;
    }
}

/* In blocks of taps, so that weights come from the first cache for all tiles but one. */
static void sums(const evl_blocked_sums *s)
{
    size_t rows = s->n_blocks > 1 ? ROWS : ROWS_OF_ONE, tiles = (s->n + rows - 1) / rows;
    size_t parts = (s->n_taps * s->run + BLOCK_K - 1) / BLOCK_K;
    size_t bytes = s->run * COLUMNS * sizeof(real); /* of a tap's weights */
    for (size_t i = 0, at = 0; i < parts; i++) {
        size_t taps = (s->n_taps - at + parts - i - 1) / (parts - i);
        bool clips = i + 1 == parts && s->clips;
        part p = { s, s->taps + at, taps, s->weights + at * s->run * COLUMNS, i == 0,
                   i + 1 == parts ? s->residual : NULL, clips ? s->least : -(real)INFINITY,
                   clips ? s->most : (real)INFINITY, (bytes + LINE * tiles - 1) / (LINE * tiles) };
        part_sums(&p, tiles);
        at += taps;
    }
}

/* --- to blocks and back --- */

/* Numbers that lie `step` apart. */
static inline vec gather(const real *x, size_t step)
{
    vec v = { 0 };
#pragma GCC unroll 16
    for (size_t i = 0; i < LANES; i++)
        v[i] = x[i * step];
    return v;
}

static void block(size_t channels, size_t n, const real *x, size_t plane, real *y)
{
    size_t i = 0;
    for (; channels == LANES && i < n; i++)
        vec_store(y + i * LANES, gather(x + i, plane));
    for (; i < n; i++)
        for (size_t c = 0; c < LANES; c++)
            y[i * LANES + c] = c < channels ? x[c * plane + i] : 0;
}

static void unblock(size_t channels, size_t n, const real *x, real *y, size_t plane)
{
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t c = 0; c < channels; c++)
            vec_store(y + c * plane + i, gather(x + i * LANES + c, LANES));
    for (; i < n; i++)
        for (size_t c = 0; c < channels; c++)
            y[c * plane + i] = x[i * LANES + c];
}

const evl_blocked_kernels SET(evl_blocked_kernels) = {
    .lanes = LANES,
    .rows = ROWS,
    .winograd = &SET(evl_winograd_kernels),
    .sums = sums,
    .windows = &SET(evl_window_kernels),
    .block = block,
    .unblock = unblock,
};
