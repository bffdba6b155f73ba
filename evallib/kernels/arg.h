/* arg.h - where the largest or least element of lines is, once for real and once for every
** integer type (see arrays.h, folds.h). */
#ifndef EVL_KERNELS_ARG_H
#define EVL_KERNELS_ARG_H
#include "kernels/folds.h"

enum { MARKS = 127 }; /* rows whose number fits every item */

static inline bool is_same(item a, item b)
{
    return a == b || (item_is_nan(a) && item_is_nan(b));
}

/* Whether one of n elements, a multiple of SUMS, is the best. */
static inline bool has_best(size_t n, const item *x, item best)
{
    item found[SUMS];
#pragma omp simd
    for (size_t j = 0; j < SUMS; j++)
        found[j] = x[j] == best ? 1 : 0;
    for (size_t i = SUMS; i < n; i += SUMS)
#pragma omp simd
        for (size_t j = 0; j < SUMS; j++)
            found[j] = x[i + j] == best ? 1 : found[j];
    return join_lanes(found, item_add) != 0;
}

/* Leaves out large parts without the best, then small ones, then elements. */
static int64_t arg_row(size_t n, const item *x, bool least, bool last)
{
    item best = fold_row(n, x, 0, least ? &min_rule : &max_rule);
    size_t i = 0;
    for (size_t part = (size_t)4 * SUMS; part >= SUMS && !item_is_nan(best); part /= 4) {
        while (last && n >= part && !has_best(part, x + n - part, best))
            n -= part;
        while (!last && n - i >= part && !has_best(part, x + i, best))
            i += part;
    }
    while (last && !is_same(x[n - 1], best))
        n--;
    while (!last && !is_same(x[i], best))
        i++;
    return (int64_t)(last ? n - 1 : i);
}

/* A line's best is beaten by row i of the MARKS at most: then its mark becomes i + 1. What a row
** makes of the lines goes to the other half of `best` and back: a compiler makes a branch of
** what may stay as it is where it lies. */
static void arg_rows(evl_axis_lines at, const item *x, ptrdiff_t step, item flip,
                     item best[2][2][COLUMNS])
{
    for (size_t i = 0; i < at.n; i++) {
        const item *row = x + (ptrdiff_t)i * step, number = (item)(i + 1);
        const item *most = best[i % 2][0], *mark = best[i % 2][1];
        item *new_most = best[1 - i % 2][0], *new_mark = best[1 - i % 2][1];
#pragma omp simd
        for (size_t j = 0; j < at.inner; j++) {
            item v = item_flip(row[j], flip);
            bool is_better = !(v <= most[j]) & !item_is_nan(most[j]); /* a NaN is, but once */
            new_most[j] = is_better ? v : most[j];
            new_mark[j] = is_better ? number : mark[j];
        }
    }
    if (at.n % 2)
        memcpy(best[0], best[1], sizeof best[0]);
}

/* At most COLUMNS lines side by side. To look for the least is to look for the largest of
** flipped elements; to look for the last, for the first from behind. */
static void arg_columns(evl_axis_lines at, const item *x, bool least, bool last, int64_t *y)
{
    const ptrdiff_t step = last ? -(ptrdiff_t)at.stride : (ptrdiff_t)at.stride;
    const item flip = item_flipping(least);
    item best[2][2][COLUMNS]; /* the best, and its mark; twice */
    x += last ? (at.n - 1) * at.stride : 0;
    for (size_t j = 0; j < at.inner; j++) {
        best[0][0][j] = item_flip(x[j], flip);
        y[j] = 0;
    }
    for (size_t i = 1; i < at.n; i += MARKS) {
        size_t n = at.n - i < MARKS ? at.n - i : MARKS;
        fill_tile(at.inner, 0, best[0][1]);
        arg_rows((evl_axis_lines){ n, at.stride, at.inner }, x + (ptrdiff_t)i * step, step, flip,
                 best);
        for (size_t j = 0; j < at.inner; j++)
            if (best[0][1][j] != 0)
                y[j] = (int64_t)i + (int64_t)best[0][1][j] - 1;
    }
    for (size_t j = 0; last && j < at.inner; j++)
        y[j] = (int64_t)at.n - 1 - y[j];
}

static void arg(evl_axis_lines at, const void *from, bool least, bool last, int64_t *y)
{
    const item *x = from;
    if (is_row(at)) {
        *y = arg_row(at.n, x, least, last);
        return;
    }
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        arg_columns((evl_axis_lines){ at.n, at.stride, width }, x + j, least, last, y + j);
    }
}
#endif
