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

static inline void weigh_width(const real *x, real from, real *y, real *sums)
{
#pragma omp simd
    for (size_t j = 0; j < WIDTH; j++) {
        y[j] = exp_below(x[j] - from);
        sums[j] += y[j];
    }
}

/* exp(x[i] - from) and their sum; step 0: y has WIDTH elements, whose content is nobody's. */
static inline real weigh_all(size_t n, const real *x, real from, real *y, size_t step)
{
    real sums[WIDTH] = { 0 }, rest[WIDTH], sum = 0;
    size_t i = 0;
    for (; i + WIDTH <= n; i += WIDTH)
        weigh_width(x + i, from, y + i * step, sums);
    if (i < n) {
        for (size_t j = 0; j < WIDTH; j++)
            rest[j] = i + j < n ? x[i + j] : -(real)INFINITY;
        weigh_width(rest, from, rest, sums);
        for (size_t j = 0; step && i < n; i++, j++)
            y[i] = rest[j];
    }
    for (size_t j = 0; j < WIDTH; j++)
        sum += sums[j];
    return sum;
}

static real weigh(size_t n, real *x, evl_softmax_row *row)
{
    real most = most_of(n, x, row->most), from = most == -(real)INFINITY ? 0 : most;
    real factor = row->most == most ? 1 : exp_below(row->most - from);
    row->most = most;
    row->sum = row->sum * factor + weigh_all(n, x, from, x, 1);
    return factor;
}

static void scale(size_t n, real *x, real by)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        x[i] *= by;
}

/* A row of nothing but -infinity has no softmax: NaN. */
static void softmax(size_t n, const real *x, real *y)
{
    real most = most_of(n, x, -(real)INFINITY);
    scale(n, y, 1 / weigh_all(n, x, most, y, 1));
}

static void log_softmax(size_t n, const real *x, real *y)
{
    real most = most_of(n, x, -(real)INFINITY), unused[WIDTH];
    real log = evl_log(weigh_all(n, x, most, unused, 0));
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] - most - log;
}

const evl_attention_kernels SET(evl_attention_kernels) = {
    .weigh = weigh,
    .scale = scale,
    .softmax = softmax,
    .log_softmax = log_softmax,
};
