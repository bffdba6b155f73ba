/* compare.h - comparisons, the same text for real and every integer type (see arrays.h). */
#ifndef EVL_KERNELS_COMPARE_H
#define EVL_KERNELS_COMPARE_H
#include "kernels/arrays.h"
#include "kernels/loops.h"

static inline uint8_t is_equal(item a, item b)
{
    return a == b;
}

static inline uint8_t is_less(item a, item b)
{
    return a < b;
}

static inline uint8_t is_less_or_equal(item a, item b)
{
    return a <= b;
}

static inline void equal(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                         uint8_t *y)
{
    zip_to_bytes(n, a, a_step, b, b_step, y, is_equal);
}

static inline void less(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                        uint8_t *y)
{
    zip_to_bytes(n, a, a_step, b, b_step, y, is_less);
}

static inline void less_or_equal(size_t n, const void *a, size_t a_step, const void *b,
                                 size_t b_step, uint8_t *y)
{
    zip_to_bytes(n, a, a_step, b, b_step, y, is_less_or_equal);
}

static inline void greater(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                           uint8_t *y)
{
    zip_to_bytes(n, b, b_step, a, a_step, y, is_less);
}

static inline void greater_or_equal(size_t n, const void *a, size_t a_step, const void *b,
                                    size_t b_step, uint8_t *y)
{
    zip_to_bytes(n, b, b_step, a, a_step, y, is_less_or_equal);
}

#endif
