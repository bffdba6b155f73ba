/* pairs.h - 16-bit numbers multiplied and added two by two into 32-bit sums. The
** instruction (pmaddwd) has no name in the compiler's vector extension. Beside vector.h the only
** file that asks for widths. */
#ifndef EVL_KERNELS_PAIRS_H
#define EVL_KERNELS_PAIRS_H
#include "kernels/vector.h"
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { SUMS = VECTOR_BYTES / sizeof(int32_t) };

typedef int32_t sums __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef uint32_t wrapping __attribute__((vector_size(VECTOR_BYTES)));
typedef int16_t halves __attribute__((vector_size(VECTOR_BYTES), aligned(2), may_alias));
typedef uint8_t narrow __attribute__((vector_size(SUMS)));       /* a byte for each sum */
typedef uint16_t narrow_pair __attribute__((vector_size(2 * SUMS), aligned(1), may_alias));

static inline sums load_sums(const int32_t *c)
{
    return *(const sums *)c;
}

static inline sums all_sums(int32_t c)
{
    return c - (sums){ 0 };
}

/* Two k for each of SUMS columns. */
static inline sums load_pairs(const int16_t *b)
{
    return (sums)*(const halves *)b;
}

/* SUMS bytes, and every second of twice as many, widened. gcc takes __builtin_convertvector apart
** into single numbers here and in narrow_of (8 times slower). */
static inline wrapping load_bytes(const uint8_t *bytes)
{
#if defined(__AVX512F__)
    return (wrapping)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)bytes));
#elif defined(__AVX2__)
    return (wrapping)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes));
#else
    return (wrapping){ bytes[0], bytes[1], bytes[2], bytes[3] };
#endif
}

static inline wrapping load_every_second(const uint8_t *bytes)
{
    narrow_pair few;
    memcpy(&few, bytes, sizeof few);
    return __builtin_convertvector(few & 0xff, wrapping);
}

static inline wrapping side_by_side(wrapping first, wrapping second, int32_t flip)
{
    return (first | second << 16) ^ (uint32_t)(flip | flip << 16);
}

static inline void store_less(int16_t *to, sums pairs, sums less)
{
    *(halves *)to = (halves)pairs - (halves)less;
}

static inline void store_pairs(int16_t *to, wrapping pairs, int16_t less)
{
    *(halves *)to = (halves)pairs - less;
}

static inline vec vec_of(sums c)
{
    return __builtin_convertvector(c, vec);
}

/* Bytes of two vectors of whole numbers in turn. */
static inline narrow_pair in_turn(sums even, sums odd)
{
    sums both = (even & 0xff) | (odd & 0xff) << 8;
#if defined(__AVX512F__)
    return (narrow_pair)_mm512_cvtepi32_epi16((__m512i)both);
#elif defined(__AVX2__)
    return (narrow_pair)_mm_packus_epi32(_mm256_castsi256_si128((__m256i)both), _mm256_extracti128_si256((__m256i)both, 1));
#else
    return (narrow_pair){ (uint16_t)both[0], (uint16_t)both[1], (uint16_t)both[2], (uint16_t)both[3] };
#endif
}

/* The lowest bytes of whole numbers. */
static inline narrow narrow_of(sums whole)
{
    whole &= 0xff;
#if defined(__AVX512F__)
    return (narrow)_mm512_cvtepi32_epi8((__m512i)whole);
#elif defined(__AVX2__)
    __m128i four = _mm_packs_epi32(_mm256_castsi256_si128((__m256i)whole), _mm256_extracti128_si256((__m256i)whole, 1));
    narrow bytes;
    _mm_storel_epi64((__m128i *)&bytes, _mm_packus_epi16(four, four));
    return bytes;
#else
    return (narrow){ (uint8_t)whole[0], (uint8_t)whole[1], (uint8_t)whole[2], (uint8_t)whole[3] };
#endif
}

/* The lowest bytes of four vectors of whole numbers. */
static inline void store_narrow(uint8_t *to, const sums four[4])
{
#if defined(__AVX2__) && !defined(__AVX512F__)
    const __m256i low = _mm256_set1_epi32(0xff);
    __m256i first = _mm256_packs_epi32(_mm256_and_si256((__m256i)four[0], low), _mm256_and_si256((__m256i)four[1], low));
    __m256i second = _mm256_packs_epi32(_mm256_and_si256((__m256i)four[2], low), _mm256_and_si256((__m256i)four[3], low));
    __m256i bytes = _mm256_packus_epi16(first, second);
    bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    _mm256_storeu_si256((__m256i *)to, bytes);
#else
    for (size_t k = 0; k < 4; k++) {
        narrow some = narrow_of(four[k]);
        memcpy(to + k * SUMS, &some, SUMS);
    }
#endif
}

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
    return all_sums(pair);
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
