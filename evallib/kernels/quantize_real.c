/* Quantization, in parts that stay in the first cache as 32-bit integers, so that each
** storage type costs one loop. */
#include "kernels/quantize.h"
#include "kernels/loops_set.h"
#include <string.h>

enum { PART = 128 };

/* Added and taken away, it leaves the nearest whole number, ties to even, of whatever is
** small enough: that all bits after the point are lost. */
static const real shift = (real)((real_bits)3 << (REAL_DIGITS - 2));

/* A NaN becomes the least. */
static inline int32_t quantum(real x, real zero, real least, real most)
{
    x = x > least - zero ? x : least - zero;
    x = x < most - zero ? x : most - zero;
    return (int32_t)(x + shift - shift + zero);
}

static void store(EvalType type, size_t n, const int32_t *q, void *to)
{
    uint8_t *bytes = to;
    uint16_t *words = to;
    if (type == EVAL_UINT8 || type == EVAL_INT8) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)q[i];
        return;
    }
    for (size_t i = 0; i < n; i++)
        words[i] = (uint16_t)q[i];
}

static void load(EvalType type, size_t n, const void *from, int32_t *q)
{
    const uint8_t *bytes = from;
    const uint16_t *words = from;
    int32_t flip = type == EVAL_INT8 ? 0x80 : type == EVAL_INT16 ? 0x8000 : 0;
    if (type == EVAL_INT32) {
        memcpy(q, from, n * sizeof *q);
        return;
    }
    if (type == EVAL_UINT8 || type == EVAL_INT8) {
#pragma omp simd
        for (size_t i = 0; i < n; i++) /* the sign's bit counts down, not up */
            q[i] = (bytes[i] ^ flip) - flip;
        return;
    }
    for (size_t i = 0; i < n; i++)
        q[i] = (words[i] ^ flip) - flip;
}

static size_t size_of(EvalType type)
{
    return type == EVAL_INT32 ? 4 : type == EVAL_UINT8 || type == EVAL_INT8 ? 1 : 2;
}

/* A part of scales and zeros: those of each element, or one in every place. */
typedef struct scales {
    const real *scale, *zero;
    real all_scale[PART], all_zero[PART];
} scales;

static void fill(const evl_quantized *how, scales *s)
{
    s->scale = how->scale;
    s->zero = how->zero;
    if (how->step)
        return;
    for (size_t i = 0; i < PART; i++) {
        s->all_scale[i] = *(const real *)how->scale;
        s->all_zero[i] = *(const real *)how->zero;
    }
    s->scale = s->all_scale;
    s->zero = s->all_zero;
}

static void advance(const evl_quantized *how, scales *s)
{
    s->scale += how->step * PART;
    s->zero += how->step * PART;
}

static void quantize(const evl_quantized *how, size_t n, const void *from, void *to)
{
    const real *x = from, least = (real)how->least, most = (real)how->most;
    size_t size = size_of(how->type);
    int32_t q[PART];
    scales s;
    fill(how, &s);
    for (size_t at = 0; at < n; at += PART, x += PART, advance(how, &s)) {
        size_t count = n - at < PART ? n - at : PART;
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            q[i] = quantum(x[i] / s.scale[i], s.zero[i], least, most);
        store(how->type, count, q, (char *)to + at * size);
    }
}

static void requantize(const evl_quantized *how, size_t n, const int32_t *x, void *to)
{
    const real least = (real)how->least, most = (real)how->most;
    size_t size = size_of(how->type);
    int32_t q[PART];
    scales s;
    fill(how, &s);
    for (size_t at = 0; at < n; at += PART, x += PART, advance(how, &s)) {
        size_t count = n - at < PART ? n - at : PART;
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            q[i] = quantum((real)x[i] * s.scale[i], s.zero[i], least, most);
        store(how->type, count, q, (char *)to + at * size);
    }
}

static void dequantize(const evl_quantized *how, size_t n, const void *from, void *to)
{
    size_t size = size_of(how->type);
    real *x = to;
    int32_t q[PART];
    scales s;
    fill(how, &s);
    for (size_t at = 0; at < n; at += PART, x += PART, advance(how, &s)) {
        size_t count = n - at < PART ? n - at : PART;
        load(how->type, count, (const char *)from + at * size, q);
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            x[i] = ((real)q[i] - s.zero[i]) * s.scale[i];
    }
}

const evl_quantize_loops SET(evl_quantize_loops) = {
    .quantize = quantize,
    .dequantize = dequantize,
    .requantize = requantize,
};
