/* elem_items.h - arithmetic of one integer, as arrays.h and folds.h want it. It wraps
** around, as two's complement does: it is done on unsigned numbers. */
#ifndef EVL_KERNELS_ELEM_ITEMS_H
#define EVL_KERNELS_ELEM_ITEMS_H
#include "elem.h"
#include <stdbool.h>

typedef elem item;
enum { BYTES = 16, ITEM_HAS_NAN = 0 }; /* BYTES: of a vector */

static const item item_least = ELEM_MIN, item_most = ELEM_MAX;

static inline item item_add(item a, item b)
{
    return (item)((uint64_t)a + (uint64_t)b);
}

static inline item item_multiply(item a, item b)
{
    return (item)((uint64_t)a * (uint64_t)b);
}

static inline item item_max(item a, item b)
{
    return a > b ? a : b;
}

static inline item item_min(item a, item b)
{
    return a < b ? a : b;
}

static inline item item_subtract(item a, item b)
{
    return (item)((uint64_t)a - (uint64_t)b);
}

static inline bool item_is_nan(item x)
{
    (void)x;
    return false;
}

/* Flipped, what was largest is least; not flipped it stays what it is. */
static inline item item_flipping(bool is_flipped)
{
    return (item)(is_flipped ? -1 : 0);
}

static inline item item_flip(item x, item flipping)
{
    return x ^ flipping;
}

static inline bool is_negative(item x)
{
    return ELEM_MIN != 0 && x >> (8 * sizeof x - 1) != 0; /* no warning for unsigned types */
}

static inline item item_negative(item x)
{
    return item_subtract(0, x);
}

static inline item item_abs(item x)
{
    return is_negative(x) ? item_negative(x) : x;
}

/* A number as an element: towards zero, saturating, NaN is 0. */
static inline item item_from(double number)
{
    if (number >= (double)ELEM_MAX)
        return ELEM_MAX;
    return number > (double)ELEM_MIN ? (item)number : number == number ? item_least : 0;
}
#endif
