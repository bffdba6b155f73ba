/* The softmax of attention.h: exp and the sum in one pass. It may be a little less exact in
** its last bit than the exp of loops, being compiled with FMA. */
#include "kernels/functions.h"
#include "kernels/set.h"
#include "kernels/vector.h"

enum { WIDTH = 2 * LANES };

/* exp(x) of x <= 0; below the least normal number 0. */
static inline real exp_below(real x)
{
    const real least = -(real)0.69314718055994530942L * (REAL_BIAS - 1);
    real shifted, y = 1 + exp_rest(x, &shifted);
    return x < least ? 0 : y * power_of_2(shifted);
}

static real most_of(size_t n, const real *x, real most)
{
    vec a = vec_all(most), b = a;
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH) {
        a = vec_larger(vec_load(x + i), a);
        b = vec_larger(vec_load(x + i + LANES), b);
    }
    a = vec_larger(a, b);
    for (size_t j = 0; j < LANES; j++)
        most = a[j] > most ? a[j] : most;
    for (; i < n; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

static inline void weigh_width(real *x, real from, real *sums)
{
#pragma omp simd
    for (size_t j = 0; j < WIDTH; j++) {
        real y = exp_below(x[j] - from);
        x[j] = y;
        sums[j] += y;
    }
}

static real weigh(size_t n, real *x, evl_softmax_row *row)
{
    real most = most_of(n, x, row->most), from = most == -(real)INFINITY ? 0 : most;
    real sums[WIDTH] = { 0 }, rest[WIDTH], sum = 0;
    real factor = row->most == most ? 1 : exp_below(row->most - from);
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        weigh_width(x + i, from, sums);
    if (i < n) {
        for (size_t j = 0; j < WIDTH; j++)
            rest[j] = i + j < n ? x[i + j] : -(real)INFINITY;
        weigh_width(rest, from, sums);
        for (size_t j = 0; i < n; i++, j++)
            x[i] = rest[j];
    }
    for (size_t j = 0; j < WIDTH; j++)
        sum += sums[j];
    row->most = most;
    row->sum = row->sum * factor + sum;
    return factor;
}

static void scale(size_t n, real *x, real by)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        x[i] *= by;
}

const evl_attention_kernels SET(evl_attention_kernels) = { .weigh = weigh, .scale = scale };
