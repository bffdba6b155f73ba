/* vector.h - the widest vector of the instruction set being built, in the compiler's
** own extension: the only file that knows widths. One text serves every set.
**
** VECTOR_ROWS is how many rows of two vectors of sums fit the registers, beside two
** vectors of operands and what the compiler needs. */
#ifndef EVL_KERNELS_VECTOR_H
#define EVL_KERNELS_VECTOR_H
#include "real.h"
#include <stddef.h>
#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64, VECTOR_ROWS = 12 };
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32, VECTOR_ROWS = 6 };
#else
enum { VECTOR_BYTES = 16, VECTOR_ROWS = 4 };
#endif

enum { LANES = VECTOR_BYTES / sizeof(real) };

/* Aligned as its element: data comes from anywhere. */
typedef real vec __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(real)), may_alias));

static inline vec vec_load(const real *x)
{
    return *(const vec *)x;
}

static inline void vec_store(real *y, vec v)
{
    *(vec *)y = v;
}

/* x in every element: x - 0 is x, also for x = -0. */
static inline vec vec_all(real x)
{
    return x - (vec){ 0 };
}

/* What comparing vectors gives: all bits of an element set, or none. */
typedef __typeof__((vec){ 0 } < (vec){ 0 }) vec_mask;

static inline vec vec_select(vec_mask which, vec yes, vec no)
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    return sizeof(real) == 8 ? (vec)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)which)
                             : (vec)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)which);
#else
    return (vec)((which & (vec_mask)yes) | (~which & (vec_mask)no));
#endif
}

typedef real_bits vec_lanes __attribute__((vector_size(VECTOR_BYTES)));

/* Element which[i] of v at i. */
static inline vec vec_pick(vec v, vec_lanes which)
{
#if defined(__clang__)
    vec picked = v;
    for (size_t i = 0; i < LANES; i++)
        picked[i] = v[which[i]];
    return picked;
#else
    return __builtin_shuffle(v, which);
#endif
}

/* Element which[i] of a and then b at i. */
static inline vec vec_pick_two(vec a, vec b, vec_lanes which)
{
#if defined(__clang__)
    vec picked = a;
    for (size_t i = 0; i < LANES; i++)
        picked[i] = which[i] < LANES ? a[which[i]] : b[which[i] - LANES];
    return picked;
#else
    return __builtin_shuffle(a, b, which);
#endif
}

/* A vector of what lies in a and then b, from element `first` on, every step-th: in range. */
static inline vec vec_every(vec a, vec b, size_t first, size_t step)
{
    vec_lanes which = { 0 };
    for (size_t i = 0; i < LANES; i++)
        which[i] = (real_bits)(first + i * step);
    return vec_pick_two(a, b, which);
}

/* a > b ? a : b, so b where one is not a number; and the same of a < b. Compilers find the
** processor's instructions for these only now and then (clips took 3 times as long). */
static inline vec vec_larger(vec a, vec b)
{
#if defined(__AVX512F__)
    return sizeof(real) == 8 ? (vec)_mm512_max_pd((__m512d)a, (__m512d)b)
                             : (vec)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return sizeof(real) == 8 ? (vec)_mm256_max_pd((__m256d)a, (__m256d)b)
                             : (vec)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return vec_select(a > b, a, b);
#endif
}

static inline vec vec_smaller(vec a, vec b)
{
#if defined(__AVX512F__)
    return sizeof(real) == 8 ? (vec)_mm512_min_pd((__m512d)a, (__m512d)b)
                             : (vec)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return sizeof(real) == 8 ? (vec)_mm256_min_pd((__m256d)a, (__m256d)b)
                             : (vec)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return vec_select(a < b, a, b);
#endif
}

/* The larger; a NaN of either stays. What was joined before is best b: a is looked at while b
** is still being made. */
static inline vec vec_max(vec a, vec b)
{
#if defined(__AVX512F__)
    if (sizeof(real) == 8) {
        __m512d x = (__m512d)a;
        return (vec)_mm512_mask_max_pd(x, _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), x, (__m512d)b);
    }
    __m512 x = (__m512)a;
    return (vec)_mm512_mask_max_ps(x, _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x, (__m512)b);
#else
    return (vec)((vec_mask)vec_larger(a, b) | (a != a)); /* all bits set are a NaN */
#endif
}

/* Least where x is less, most where it is more; a NaN stays. */
static inline vec vec_within(vec x, vec least, vec most)
{
    return vec_smaller(most, vec_larger(least, x));
}

static inline vec vec_clip(vec x, real least, real most)
{
    return vec_within(x, vec_all(least), vec_all(most));
}
#endif
