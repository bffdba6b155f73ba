/* Maxima and where they are. */
#include "ops/pool.h"
#include "real.h"

extern evl_pool_take TWIN(evl_pool_take_max);

/* A NaN wins, and stays. */
void TWIN(evl_pool_take_max)(size_t n, const void *from, size_t stride, void *to, int64_t at,
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
