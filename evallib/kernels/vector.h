/* vector.h - the widest vector of the instruction set being built, in the compiler's
** own extension: the only file that knows widths. One text serves every set.
**
** VECTOR_ROWS is how many rows of two vectors of sums fit the registers, beside two
** vectors of operands and what the compiler needs. */
#ifndef EVL_KERNELS_VECTOR_H
#define EVL_KERNELS_VECTOR_H
#include "real.h"
#include <stddef.h>

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
    return (vec)((which & (vec_mask)yes) | (~which & (vec_mask)no));
}

/* Least where x is less, most where it is more; a NaN stays. Written so that compilers find
** the processor's minimum and maximum. */
static inline vec vec_clip(vec x, real least, real most)
{
    for (size_t i = 0; i < LANES; i++) {
        real y = x[i] < least ? least : x[i];
        x[i] = y > most ? most : y;
    }
    return x;
}
#endif
