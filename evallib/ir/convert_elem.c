/* One integer type from and to what is wide. */
#include "ir/convert.h"
#include "elem.h"
#include <string.h>

static void widen(size_t n, const void *source, int64_t *y)
{
    for (size_t i = 0; i < n; i++) {
        elem x;
        memcpy(&x, (const char *)source + i * sizeof x, sizeof x);
        y[i] = (int64_t)x;
    }
}

static void narrow(size_t n, const int64_t *x, void *target)
{
    for (size_t i = 0; i < n; i++) {
        elem y = (elem)x[i];
        memcpy((char *)target + i * sizeof y, &y, sizeof y);
    }
}

/* The ends as doubles: the upper one of 64 bits is the first that does not fit. Negative
** numbers wrap in uint64, as those of int64 do, and are 0 in the narrower ones. */
static elem rounded(double x)
{
    const double least = sizeof(elem) == 8 && ELEM_MIN == 0 ? -0x1p63 : (double)ELEM_MIN;
    if (x >= (double)ELEM_MAX)
        return ELEM_MAX;
    if (x >= 0x1p63)
        return (elem)(uint64_t)x;
    return x > least ? (elem)(int64_t)x : x <= least ? (elem)(int64_t)least : 0;
}

static void round_all(size_t n, const double *x, void *target)
{
    for (size_t i = 0; i < n; i++) {
        elem y = rounded(x[i]);
        memcpy((char *)target + i * sizeof y, &y, sizeof y);
    }
}

const evl_integer_conversion ELEM(evl_integer_conversion) = {
    .is_signed = ELEM_MIN != 0,
    .widen = widen,
    .narrow = narrow,
    .round = round_all,
};
