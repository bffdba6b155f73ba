/* Maxima of integers: ONNX offers MaxPool for int8 and uint8. */
#include "elem.h"
#include "ops/pool.h"

static void start(size_t n, void *to)
{
    elem *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] = ELEM_MIN;
}

static void take(size_t n, const void *from, size_t stride, void *to)
{
    const elem *x = from;
    elem *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] = x[i * stride] > y[i] ? x[i * stride] : y[i];
}

static void take_at(size_t n, const void *from, size_t stride, void *to, int64_t at, int64_t step,
                    int64_t *index)
{
    const elem *x = from;
    elem *y = to;
    for (size_t i = 0; i < n; i++)
        if (x[i * stride] > y[i] || index[i] < 0) {
            y[i] = x[i * stride];
            index[i] = at + (int64_t)i * step;
        }
}

extern const evl_pool_rows ELEM(evl_pool_max);
const evl_pool_rows ELEM(evl_pool_max) = { start, take, take_at, NULL };
