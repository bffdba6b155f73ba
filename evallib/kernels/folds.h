/* folds.h - reductions along lines (evl_axis_lines), once for real and once for every
** integer type (see arrays.h).
**
** Sums are made in an order that depends on the shape alone: over LANES interleaved
** partial sums of a contiguous line, block by block, so that neither the width of
** vectors nor a compiler changes a bit, and errors grow with the blocks, not with n. */
#ifndef EVL_KERNELS_FOLDS_H
#define EVL_KERNELS_FOLDS_H
#include "kernels/arrays.h"
#include "kernels/loops.h"

enum { LANES = 32, BLOCK = 2048, COLUMNS = 64, ROWS = 64 };

/* join over all elements of enter(x, shift), from `start`, which is neutral. */
typedef struct fold_rule {
    item start;
    item (*enter)(item x, item shift);
    item (*join)(item, item);
} fold_rule;

static inline item fold_block(size_t n, const item *x, item shift, fold_rule rule)
{
    item lane[LANES];
    size_t i = 0;
    for (size_t j = 0; j < LANES; j++)
        lane[j] = rule.start;
    for (; i + LANES <= n; i += LANES)
        for (size_t j = 0; j < LANES; j++)
            lane[j] = rule.join(lane[j], rule.enter(x[i + j], shift));
    for (size_t j = 0; i < n; i++, j++)
        lane[j] = rule.join(lane[j], rule.enter(x[i], shift));
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t j = 0; j < half; j++)
            lane[j] = rule.join(lane[j], lane[j + half]);
    return lane[0];
}

/* One contiguous line. */
static inline item fold_row(size_t n, const item *x, item shift, fold_rule rule)
{
    item total = rule.start;
    for (size_t i = 0; i < n; i += BLOCK)
        total = rule.join(total, fold_block(n - i < BLOCK ? n - i : BLOCK, x + i, shift, rule));
    return total;
}

/* `width` lines side by side, at most COLUMNS. */
static inline void fold_columns(evl_axis_lines at, size_t width, const item *x, const item *shift,
                                item *y, fold_rule rule)
{
    item total[COLUMNS];
    for (size_t j = 0; j < width; j++)
        total[j] = rule.start;
    for (size_t i = 0; i < at.n; i += ROWS) {
        size_t end = at.n - i < ROWS ? at.n : i + ROWS;
        item part[COLUMNS];
        for (size_t j = 0; j < width; j++)
            part[j] = rule.start;
        for (size_t k = i; k < end; k++)
            for (size_t j = 0; j < width; j++)
                part[j] = rule.join(part[j], rule.enter(x[k * at.stride + j], shift[j]));
        for (size_t j = 0; j < width; j++)
            total[j] = rule.join(total[j], part[j]);
    }
    for (size_t j = 0; j < width; j++)
        y[j] = total[j];
}

/* Each line to one element of y. */
static inline void fold(evl_axis_lines at, const void *from, void *to, fold_rule rule)
{
    static const item no_shift[COLUMNS] = { 0 };
    const item *x = from;
    item *y = to;
    if (at.inner == 1 && at.stride == 1) {
        y[0] = fold_row(at.n, x, 0, rule);
        return;
    }
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        fold_columns(at, width, x + j, no_shift, y + j, rule);
    }
}

static inline item enter_as_is(item x, item shift)
{
    (void)shift;
    return x;
}

static inline item enter_square(item x, item shift)
{
    item from_shift = item_subtract(x, shift);
    return item_multiply(from_shift, from_shift);
}

static const fold_rule sum_rule = { 0, enter_as_is, item_add };
static const fold_rule square_rule = { 0, enter_square, item_add };
static const fold_rule product_rule = { 1, enter_as_is, item_multiply };
static const fold_rule max_rule = { item_least, enter_as_is, item_max };
static const fold_rule min_rule = { item_most, enter_as_is, item_min };

static inline void reduce_sum(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, sum_rule);
}

static inline void reduce_sum_square(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, square_rule);
}

static inline void reduce_prod(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, product_rule);
}

static inline void reduce_max(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, max_rule);
}

static inline void reduce_min(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, min_rule);
}

/* Running results along each line: p[0] leaves the element itself out, p[1] goes backwards. */
static inline void running(evl_axis_lines at, const item *x, item *y, const evl_number *p,
                           fold_rule rule)
{
    bool is_exclusive = p[0] != 0, is_reverse = p[1] != 0;
    for (size_t j = 0; j < at.inner; j++) {
        item so_far = rule.start;
        for (size_t i = 0; i < at.n; i++) {
            size_t k = (is_reverse ? at.n - 1 - i : i) * at.stride + j;
            item before = so_far;
            so_far = rule.join(so_far, x[k]);
            y[k] = is_exclusive ? before : so_far;
        }
    }
}

static inline void cum_sum(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    running(at, x, y, p, sum_rule);
}

static inline void cum_prod(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    running(at, x, y, p, product_rule);
}

/* x takes the place of the best so far; a NaN does at once, and keeps it. */
static inline bool is_better(item x, item best, bool least, bool last)
{
    if (item_is_nan(best))
        return last && item_is_nan(x);
    return item_is_nan(x) || (least ? x < best : x > best) || (last && x == best);
}

static inline void arg(evl_axis_lines at, const void *from, bool least, bool last, int64_t *y)
{
    const item *x = from;
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        item best[COLUMNS];
        for (size_t k = 0; k < width; k++) {
            best[k] = x[j + k];
            y[j + k] = 0;
        }
        for (size_t i = 1; i < at.n; i++)
            for (size_t k = 0; k < width; k++)
                if (is_better(x[i * at.stride + j + k], best[k], least, last)) {
                    best[k] = x[i * at.stride + j + k];
                    y[j + k] = (int64_t)i;
                }
    }
}
#endif
