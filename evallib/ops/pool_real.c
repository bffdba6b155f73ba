#include "ops/pool.h"
#include "real.h"

static void start_max(size_t n, void *to)
{
    real *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] = -INFINITY;
}

/* A NaN wins, and stays. */
static void take_max(size_t n, const void *from, size_t stride, void *to)
{
    const real *x = from;
    real *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] = x[i * stride] > y[i] || x[i * stride] != x[i * stride] ? x[i * stride] : y[i];
}

static void take_max_at(size_t n, const void *from, size_t stride, void *to, int64_t at,
                        int64_t step, int64_t *index)
{
    const real *x = from;
    real *y = to;
    for (size_t i = 0; i < n; i++)
        if (x[i * stride] > y[i] || x[i * stride] != x[i * stride] || index[i] < 0) {
            y[i] = x[i * stride];
            index[i] = at + (int64_t)i * step;
        }
}

static void start_sum(size_t n, void *to)
{
    real *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] = 0;
}

static void take_sum(size_t n, const void *from, size_t stride, void *to)
{
    const real *x = from;
    real *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] += x[i * stride];
}

static void end_mean(size_t n, const int64_t *counts, void *to)
{
    real *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] /= (real)counts[i];
}

extern const evl_pool_rows TWIN(evl_pool_max), TWIN(evl_pool_mean);
const evl_pool_rows TWIN(evl_pool_max) = { start_max, take_max, take_max_at, NULL };
const evl_pool_rows TWIN(evl_pool_mean) = { start_sum, take_sum, NULL, end_mean };
