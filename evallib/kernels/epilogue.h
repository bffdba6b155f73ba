/* epilogue.h - what becomes of sums before they are stored, while they are in registers
** or the first cache: y = f(alpha * sum + add[0] + add[1]).
**
** Matrix products and convolutions have it in common: bias, residual, activation. f first
** clips, which is all of Relu and Clip, and then calls a loop, which may be every other
** function. finish.h has the code for the last stage of kernels. */
#ifndef EVL_KERNELS_EPILOGUE_H
#define EVL_KERNELS_EPILOGUE_H
#include "kernels/loops.h"
#include "real.h"
#include <stddef.h>

/* What is added: to element (i, j) data[i * row + j * column], column 0 or 1. */
typedef struct evl_addend {
    const real *data; /* NULL: nothing */
    size_t row, column;
} evl_addend;

/* Zeroed, it changes nothing. */
typedef struct evl_activation {
    bool clips;
    real least, most;
    evl_unary_loop *loop; /* NULL: nothing more */
    const evl_number *parameters;
} evl_activation;

typedef struct evl_epilogue {
    real alpha;
    evl_addend add[2];
    evl_activation activation;
} evl_epilogue;

/* f by its number, with the bits that the loop of that number gives. */
static inline evl_activation evl_activation_of(const evl_loops *loops, evl_unary_kind kind,
                                               const evl_number *parameters)
{
    if (kind == EVL_RELU)
        return (evl_activation){ .clips = true, .most = (real)INFINITY };
    if (kind == EVL_CLIP)
        return (evl_activation){ .clips = true,
                                 .least = (real)parameters[0],
                                 .most = (real)parameters[1] };
    return (evl_activation){ .loop = loops->unary[kind], .parameters = parameters };
}
#endif
