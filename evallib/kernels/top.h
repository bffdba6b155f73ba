/* top.h - the k largest or least elements of lines, once for real and once for every
** integer type (see arrays.h). */
#ifndef EVL_KERNELS_TOP_H
#define EVL_KERNELS_TOP_H
#include "kernels/loops.h"

/* One line of x, and the indices chosen, which lie as far apart. */
typedef struct top_line {
    const item *x;
    int64_t *index;
    size_t stride;
    bool least;
} top_line;

/* Whether element a goes before element b: a total order, so that the result does not
** depend on how it is found. NaN is larger than all; of equal ones the first goes first. */
static inline bool top_is_before(const top_line *l, int64_t a, int64_t b)
{
    item v = l->x[(size_t)a * l->stride], w = l->x[(size_t)b * l->stride];
    bool is_nan = item_is_nan(v);
    if (is_nan != item_is_nan(w))
        return is_nan != l->least;
    if (is_nan || v == w)
        return a < b;
    return (v > w) != l->least;
}

static inline int64_t *top_at(const top_line *l, size_t i)
{
    return &l->index[i * l->stride];
}

/* A heap of n indices whose root goes last: puts `index` where the root was. */
static inline void top_sift(const top_line *l, size_t n, int64_t index)
{
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && top_is_before(l, *top_at(l, child), *top_at(l, child + 1)))
            child++;
        if (!top_is_before(l, index, *top_at(l, child)))
            break;
        *top_at(l, at) = *top_at(l, child);
    }
    *top_at(l, at) = index;
}

/* Moves the last of n entries up to where it belongs. */
static inline void top_lift(const top_line *l, size_t n)
{
    size_t at = n - 1;
    int64_t index = *top_at(l, at);
    while (at > 0 && top_is_before(l, *top_at(l, (at - 1) / 2), index)) {
        *top_at(l, at) = *top_at(l, (at - 1) / 2);
        at = (at - 1) / 2;
    }
    *top_at(l, at) = index;
}

static inline void top_of_line(const top_line *l, size_t n, size_t k)
{
    for (size_t i = 0; i < k; i++) {
        *top_at(l, i) = (int64_t)i;
        top_lift(l, i + 1);
    }
    for (size_t i = k; k && i < n; i++)
        if (top_is_before(l, (int64_t)i, *top_at(l, 0)))
            top_sift(l, k, (int64_t)i);
    for (size_t i = k; i > 1; i--) { /* the root, which goes last, to the end */
        int64_t last = *top_at(l, i - 1);
        *top_at(l, i - 1) = *top_at(l, 0);
        top_sift(l, i - 1, last);
    }
}

static inline void top(evl_axis_lines at, const void *from, evl_top *how)
{
    const item *x = from;
    item *values = how->values;
    for (size_t j = 0; j < at.inner; j++) {
        top_line l = { x + j, how->index + j, at.stride, how->least };
        top_of_line(&l, at.n, how->k);
        for (size_t i = 0; i < how->k; i++)
            values[i * at.stride + j] = l.x[(size_t)*top_at(&l, i) * at.stride];
    }
}
#endif
