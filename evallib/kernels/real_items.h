/* real_items.h - arithmetic of one real number, as arrays.h and folds.h want it. */
#ifndef EVL_KERNELS_REAL_ITEMS_H
#define EVL_KERNELS_REAL_ITEMS_H
#include "kernels/vector.h"
#include "real.h"

typedef real item;
enum { BYTES = VECTOR_BYTES, ITEM_HAS_NAN = 1 };

static const item item_least = -(real)INFINITY, item_most = (real)INFINITY;

static inline item item_add(item a, item b)
{
    return a + b;
}

static inline item item_subtract(item a, item b)
{
    return a - b;
}

static inline item item_multiply(item a, item b)
{
    return a * b;
}

static inline bool item_is_nan(item x)
{
    return x != x;
}

/* Flipped, what was largest is least; not flipped it stays what it is. */
static inline item item_flipping(bool is_flipped)
{
    return is_flipped ? -1 : 1;
}

static inline item item_flip(item x, item flipping)
{
    return x * flipping;
}

/* NaN if either is, as numpy. */
static inline item item_max(item a, item b)
{
    item most = a > b ? a : b; /* one instruction, which forgets a NaN in a */
    return a != a ? a : most;
}

static inline item item_min(item a, item b)
{
    item least = a < b ? a : b;
    return a != a ? a : least;
}
#endif
