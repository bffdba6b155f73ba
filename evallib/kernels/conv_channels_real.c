/* Windows over blocked channels, channel by channel: depthwise convolutions and poolings. */
#include "kernels/blocked.h"
#include "kernels/set.h"
#include "kernels/vector.h"

enum {
    ROWS = VECTOR_ROWS,
    SIDE = 8 /* windows beside each other at once: so many sums keep both multipliers busy */
};

typedef enum window_kind { WEIGHTED, LARGEST, SUM } window_kind;

static inline vec begin(const evl_blocked_window *s, window_kind kind)
{
    vec nothing = (vec){ 0 } - (kind == LARGEST ? (real)INFINITY : 0);
    return kind == WEIGHTED && s->bias ? vec_load(s->bias) : nothing;
}

/* What s says is copied first: for all the compiler knows, storing may change it. */
static inline __attribute__((always_inline)) void give(const evl_blocked_window *s, size_t at,
                                                       size_t n, const vec *sum)
{
    const vec least = vec_all(s->least), most = vec_all(s->most);
    const bool clips = s->clips;
    real *y = s->y + at * LANES;
#pragma GCC unroll 16
    for (size_t i = 0; i < n; i++)
        vec_store(y + i * LANES, clips ? vec_within(sum[i], least, most) : sum[i]);
}

/* Windows anywhere. */
static inline __attribute__((always_inline)) void apart(const evl_blocked_window *s, size_t at,
                                                        size_t rows, window_kind kind)
{
    vec sum[ROWS];
    const real *x[ROWS], *w = s->weights;
#pragma GCC unroll 16
    for (size_t i = 0; i < rows; i++) {
        x[i] = s->x + s->places[at + i];
        sum[i] = begin(s, kind);
    }
    for (size_t t = 0; t < s->n_taps; t++) {
        size_t k = s->taps[t];
        vec weight = kind == WEIGHTED ? vec_load(w + t * LANES) : (vec){ 0 };
#pragma GCC unroll 16
        for (size_t i = 0; i < rows; i++)
            if (kind == LARGEST)
                sum[i] = vec_max(vec_load(x[i] + k), sum[i]);
            else if (kind == SUM)
                sum[i] += vec_load(x[i] + k);
            else
                sum[i] += weight * vec_load(x[i] + k);
    }
    give(s, at, rows, sum);
}

static inline __attribute__((always_inline)) void all_apart(const evl_blocked_window *s, size_t at,
                                                            size_t end, window_kind kind)
{
    for (; at + ROWS <= end; at += ROWS)
        apart(s, at, ROWS, kind);
    for (; at < end; at++)
        apart(s, at, 1, kind);
}

/* --- weighted windows beside each other --- */

/* Three taps beside each other: each place, as it is loaded, goes to all windows that see it. */
static inline void three_taps(const real *x, const real *w, vec *sum)
{
#pragma GCC unroll 16
    for (size_t j = 0; j < SIDE + 2; j++)
#pragma GCC unroll 3
        for (size_t k = 0; k < 3; k++)
            if (j >= k && j - k < SIDE)
                sum[j - k] += vec_load(x + j * LANES) * vec_load(w + k * LANES);
}

static void beside(const evl_blocked_window *s, size_t at)
{
    const real *x = s->x + s->places[at], *w = s->weights;
    const size_t *tap = s->taps, *end = tap + s->n_taps;
    vec sum[SIDE];
#pragma GCC unroll 16
    for (size_t i = 0; i < SIDE; i++)
        sum[i] = begin(s, WEIGHTED);
    while (tap < end) {
        for (; end - tap > 2 && tap[2] - tap[0] == 2 * (size_t)LANES; tap += 3, w += 3 * (size_t)LANES)
            three_taps(x + *tap, w, sum);
        if (tap == end)
            break;
#pragma GCC unroll 16
        for (size_t i = 0; i < SIDE; i++)
            sum[i] += vec_load(x + *tap + i * LANES) * vec_load(w);
        tap++;
        w += LANES;
    }
    give(s, at, SIDE, sum);
}

/* Windows from `at` on that lie beside each other. */
static size_t row_length(const evl_blocked_window *s, size_t at)
{
    size_t n = 1;
    while (at + n < s->n && s->places[at + n] - s->places[at + n - 1] == LANES)
        n++;
    return n;
}

/* The last of a row are computed together with some before them, once more. */
static void depthwise(const evl_blocked_window *s)
{
    for (size_t at = 0, n; at < s->n; at += n) {
        n = row_length(s, at);
        if (n < SIDE) {
            n = s->n - at < ROWS ? s->n - at : ROWS;
            all_apart(s, at, at + n, WEIGHTED);
            continue;
        }
        for (size_t i = 0; i + SIDE < n; i += SIDE)
            beside(s, at + i);
        beside(s, at + n - SIDE);
    }
}

static void largest(const evl_blocked_window *s)
{
    all_apart(s, 0, s->n, LARGEST);
}

static void sum(const evl_blocked_window *s)
{
    all_apart(s, 0, s->n, SUM);
}

static void spread(size_t n, const real *x, const size_t *which, real *y)
{
    vec_lanes from = { 0 };
    for (size_t i = 0; i < LANES; i++)
        from[i] = (real_bits)which[i];
    for (size_t i = 0; i < n * LANES; i += LANES)
        vec_store(y + i, vec_pick(vec_load(x + i), from));
}

const evl_window_kernels SET(evl_window_kernels) = {
    .depthwise = depthwise,
    .max = largest,
    .sum = sum,
    .spread = spread,
};
