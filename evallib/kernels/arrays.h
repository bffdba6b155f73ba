/* arrays.h - how loops run over arrays, once for real and once for every integer type:
** who includes it says what an `item` is.
**
** What is done with each element comes as a function, which the compiler sees and
** inlines. `omp simd` says that elements do not depend on each other, so a loop whose
** output is its input is still made of vectors; without it compilers test for overlap
** and fall back to single elements. */
#ifndef EVL_KERNELS_ARRAYS_H
#define EVL_KERNELS_ARRAYS_H
#include <stddef.h>
#include <stdint.h>

static inline void map(size_t n, const void *from, void *to, item (*f)(item))
{
    const item *x = from;
    item *y = to;
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* The same for a function of parameters. */
static inline void map_with(size_t n, const void *from, void *to, item p0, item p1,
                            item (*f)(item, item, item))
{
    const item *x = from;
    item *y = to;
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i], p0, p1);
}

static inline void map_to_bytes(size_t n, const void *from, void *to, uint8_t (*f)(item))
{
    const item *x = from;
    uint8_t *y = to;
    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* Steps are 0 or 1. */
static inline void zip(size_t n, const void *left, size_t a_step, const void *right, size_t b_step,
                       void *to, item (*f)(item, item))
{
    const item *a = left, *b = right;
    item *y = to;
    if (n == 0)
        return;
    const item a0 = a[0], b0 = b[0];
    if (a_step && b_step) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = f(a[i], b[i]);
    } else if (a_step) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = f(a[i], b0);
    } else {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = f(a0, b[i * b_step]);
    }
}

/* A comparison's bytes never lie over its operands' elements in part, but 1-byte
** elements may be replaced by them. */
static inline void zip_to_bytes(size_t n, const void *left, size_t a_step, const void *right,
                                size_t b_step, uint8_t *y, uint8_t (*f)(item, item))
{
    const item *a = left, *b = right;
    if (n == 0)
        return;
    const item a0 = a[0], b0 = b[0];
    if (a_step && b_step) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = f(a[i], b[i]);
    } else if (a_step) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = f(a[i], b0);
    } else {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = f(a0, b[i * b_step]);
    }
}
#endif
