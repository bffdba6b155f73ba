/* quantize.h - between real numbers and the integers that stand for them: x = (q - zero) *
** scale, q = nearest even(x / scale) + zero, held within the type. */
#ifndef EVL_KERNELS_QUANTIZE_H
#define EVL_KERNELS_QUANTIZE_H
#include "base/number.h"
#include "evallib/eval.h"
#include <stdint.h>

typedef struct evl_quantized {
    EvalType type;           /* how q is stored: uint8, int8, uint16, int16; to be read also int32 */
    const void *scale, *zero; /* reals */
    size_t step;             /* 0: one scale and zero for all; 1: one an element */
    evl_number least, most;  /* of q: narrower types lie in bytes. At most 17 bits */
} evl_quantized;

typedef struct evl_quantize_loops {
    void (*quantize)(const evl_quantized *, size_t n, const void *x, void *q);
    void (*dequantize)(const evl_quantized *, size_t n, const void *q, void *x);
    /* Sums of products instead of x, which `scale` multiplies. */
    void (*requantize)(const evl_quantized *, size_t n, const int32_t *sums, void *q);
} evl_quantize_loops;
#endif
