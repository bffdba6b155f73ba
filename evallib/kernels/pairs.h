/* pairs.h - 16-bit numbers multiplied and added two by two into 32-bit sums. The
** instruction (pmaddwd) has no name in the compiler's vector extension; it is exact, where
** that for bytes (pmaddubsw) saturates. Beside vector.h the only file that asks for widths. */
#ifndef EVL_KERNELS_PAIRS_H
#define EVL_KERNELS_PAIRS_H
#include "kernels/vector.h"
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { SUMS = VECTOR_BYTES / sizeof(int32_t) };

typedef int32_t sums __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));

/* Bytes of two k for each of SUMS columns, widened to 16 bits. */
static inline sums load_panel(const int8_t *b)
{
#if defined(__AVX512BW__)
    return (sums)_mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)b));
#elif defined(__AVX2__)
    return (sums)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)b));
#elif defined(__SSE2__)
    __m128i bytes = _mm_loadl_epi64((const __m128i *)b);
    return (sums)_mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
#else
    int16_t wide[2 * SUMS];
    sums v;
    for (size_t i = 0; i < 2 * SUMS; i++)
        wide[i] = b[i];
    memcpy(&v, wide, sizeof v);
    return v;
#endif
}

/* Two k of one row of A, for every column. */
static inline sums load_pair(const int16_t *a)
{
    int32_t pair;
    memcpy(&pair, a, sizeof pair);
    return pair - (sums){ 0 };
}

static inline sums multiply_add(sums a, sums b)
{
#if defined(__AVX512BW__)
    return (sums)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (sums)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__)
    return (sums)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
    int16_t x[2 * SUMS], y[2 * SUMS];
    sums v = { 0 };
    memcpy(x, &a, sizeof x);
    memcpy(y, &b, sizeof y);
    for (size_t i = 0; i < SUMS; i++)
        v[i] = x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
    return v;
#endif
}
#endif
