/* Maxima of integers and where they are: ONNX offers MaxPool for int8 and uint8. */
#include "elem.h"
#include "ops/pool.h"

extern evl_pool_take ELEM(evl_pool_take_max);

void ELEM(evl_pool_take_max)(size_t n, const void *from, size_t stride, void *to, int64_t at,
                             int64_t step, int64_t *index)
{
    const elem *x = from;
    elem *y = to;
    for (size_t i = 0; i < n; i++)
        if (x[i * stride] > y[i] || index[i] < 0) {
            y[i] = x[i * stride];
            index[i] = at + (int64_t)i * step;
        }
}
