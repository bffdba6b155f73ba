/* compare.h - comparisons, the same text for real and every integer type (see arrays.h). */
#ifndef EVL_KERNELS_COMPARE_H
#define EVL_KERNELS_COMPARE_H
#include "kernels/arrays.h"

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

static void equal(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip_to_bytes(n, a, a_step, b, b_step, y, equal, is_equal);
}

static void less(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip_to_bytes(n, a, a_step, b, b_step, y, less, is_less);
}

static void less_or_equal(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                          void *y)
{
    zip_to_bytes(n, a, a_step, b, b_step, y, less_or_equal, is_less_or_equal);
}

static void greater(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    less(n, b, b_step, a, a_step, y);
}

static void greater_or_equal(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                             void *y)
{
    less_or_equal(n, b, b_step, a, a_step, y);
}
#endif
