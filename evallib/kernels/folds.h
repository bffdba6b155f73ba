/* folds.h - reductions along lines (evl_axis_lines), once for real and once for every
** integer type (see arrays.h). Who includes it has a table item_loops of the loops over
** two arrays (evl_binary_kind).
**
** Sums are made in an order that depends on the shape alone: over SUMS interleaved
** partial sums of a contiguous line, row by row of lines side by side, block by block in
** both, so that neither the width of vectors nor a compiler changes a bit, and errors grow
** with the blocks, not with n. */
#ifndef EVL_KERNELS_FOLDS_H
#define EVL_KERNELS_FOLDS_H
#include "kernels/arrays.h"

enum { SUMS = 32, BLOCK = 1024, COLUMNS = 512, ROWS = 64 };

/* What is joined: x itself, or what `enter` makes of it and a value of its line. */
typedef struct fold_rule {
    item start; /* neutral */
    evl_binary_kind join;
    item (*block)(size_t n, const item *x); /* joins up to BLOCK elements side by side */
    evl_binary_loop *enter;                 /* NULL: x itself */
    evl_unary_loop *enter_row;              /* the same of one line, whose value is p[0] */
} fold_rule;

static inline void halve(size_t half, item *lane, item (*join)(item, item))
{
#pragma omp simd
    for (size_t j = 0; j < half; j++)
        lane[j] = join(lane[j], lane[j + half]);
}

/* SUMS lanes to one. */
static inline item join_lanes(item *lane, item (*join)(item, item))
{
    halve(16, lane, join);
    halve(8, lane, join);
    halve(4, lane, join);
    halve(2, lane, join);
    return join(lane[0], lane[1]);
}

static inline item fold_block(size_t n, const item *x, item start, item (*join)(item, item))
{
    item lane[SUMS];
    size_t i = 0;
    fill_tile(SUMS, start, lane);
    for (; i + SUMS <= n; i += SUMS)
#pragma omp simd
        for (size_t j = 0; j < SUMS; j++)
            lane[j] = join(lane[j], x[i + j]);
    for (size_t j = 0; i < n; i++, j++)
        lane[j] = join(lane[j], x[i]);
    return join_lanes(lane, join);
}

static inline item sum_block(size_t n, const item *x)
{
    return fold_block(n, x, 0, item_add);
}

static inline item product_block(size_t n, const item *x)
{
    return fold_block(n, x, 1, item_multiply);
}

static inline item larger(item a, item b)
{
    return a > b ? a : b;
}

static inline item smaller(item a, item b)
{
    return a < b ? a : b;
}

/* fold_block by a `pick` of larger or smaller, which forgets a NaN: what is one is kept apart, as
** each step that looked for it in the best so far would wait for the step before. Where there are
** few steps, it does not pay. */
static inline item extreme_block(size_t n, const item *x, item start, item (*pick)(item, item),
                                 item (*join)(item, item))
{
    item best[SUMS], odd[SUMS];
    if (n < (size_t)4 * SUMS || !ITEM_HAS_NAN)
        return fold_block(n, x, start, join);
    const size_t whole_sums = n / SUMS * SUMS;
    fill_tile(SUMS, start, best);
    fill_tile(SUMS, start, odd);
    for (size_t i = 0; i < whole_sums; i += SUMS)
#pragma omp simd
        for (size_t j = 0; j < SUMS; j++) {
            best[j] = pick(best[j], x[i + j]);
            odd[j] = item_is_nan(x[i + j]) ? x[i + j] : odd[j];
        }
#pragma omp simd
    for (size_t j = 0; j < SUMS; j++)
        best[j] = item_is_nan(odd[j]) ? odd[j] : best[j];
    for (size_t j = whole_sums; j < n; j++)
        best[j - whole_sums] = join(best[j - whole_sums], x[j]);
    return join_lanes(best, join);
}

static inline item max_block(size_t n, const item *x)
{
    return extreme_block(n, x, item_least, larger, item_max);
}

static inline item min_block(size_t n, const item *x)
{
    return extreme_block(n, x, item_most, smaller, item_min);
}

static inline void enter_square(size_t n, const void *x, size_t x_step, const void *unused,
                                size_t unused_step, void *y)
{
    (void)unused;
    (void)unused_step;
    item_loops[EVL_MUL](n, x, x_step, x, x_step, y);
}

static inline void enter_square_row(size_t n, const void *x, void *y, const evl_number *p)
{
    (void)p;
    item_loops[EVL_MUL](n, x, 1, x, 1, y);
}

static const fold_rule sum_rule = { 0, EVL_ADD, sum_block, NULL, NULL };
static const fold_rule square_rule = { 0, EVL_ADD, sum_block, enter_square, enter_square_row };
static const fold_rule product_rule = { 1, EVL_MUL, product_block, NULL, NULL };
static const fold_rule max_rule = { item_least, EVL_MAX, max_block, NULL, NULL };
static const fold_rule min_rule = { item_most, EVL_MIN, min_block, NULL, NULL };

static inline bool is_row(evl_axis_lines at)
{
    return at.inner == 1 && at.stride == 1;
}

/* One contiguous line; shift: its value for rule->enter. */
__attribute__((noinline)) static item fold_row(size_t n, const item *x, item shift,
                                               const fold_rule *rule)
{
    item entered[BLOCK], both[2] = { rule->start, rule->start };
    const evl_number p = (evl_number)shift;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t part = n - i < BLOCK ? n - i : BLOCK;
        const item *from = x + i;
        if (rule->enter_row) {
            rule->enter_row(part, from, entered, &p);
            from = entered;
        }
        both[1] = rule->block(part, from);
        both[0] = n <= BLOCK ? both[1] : rule->block(2, both);
    }
    return both[0];
}

/* ROWS rows at most, joined to `total`. */
static inline void fold_rows(evl_axis_lines at, const item *x, const item *shift, item *total,
                             const fold_rule *rule)
{
    evl_binary_loop *join = item_loops[rule->join];
    item part[COLUMNS], entered[COLUMNS];
    fill_tile(at.inner, rule->start, part);
    for (size_t i = 0; i < at.n; i++) {
        const item *row = x + i * at.stride;
        if (rule->enter) {
            rule->enter(at.inner, row, 1, shift, 1, entered);
            row = entered;
        }
        join(at.inner, part, 1, row, 1, part);
    }
    join(at.inner, total, 1, part, 1, total);
}

enum { NARROW = 16 }; /* a multiple of every vector's elements, at most COLUMNS */

/* Lines side by side, at most COLUMNS: in whole vectors; the last few, which are none, are
** copied to where they are. shift: a value for each, NULL when rule->enter wants none. */
__attribute__((noinline)) static void
fold_columns(evl_axis_lines at, const item *x, const item *shift, item *y, const fold_rule *rule)
{
    item total[COLUMNS], room[ROWS * NARROW] = { 0 }, room_shift[NARROW] = { 0 };
    size_t wide = at.inner / NARROW * NARROW, rest = at.inner - wide;
    fill_tile(at.inner, rule->start, total);
    if (shift)
        memcpy(room_shift, shift + wide, rest * sizeof *room);
    for (size_t i = 0; i < at.n; i += ROWS) {
        size_t n = at.n - i < ROWS ? at.n - i : ROWS;
        const item *rows = x + i * at.stride;
        if (wide)
            fold_rows((evl_axis_lines){ n, at.stride, wide }, rows, shift, total, rule);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < rest; j++)
                room[k * NARROW + j] = rows[k * at.stride + wide + j];
        if (rest)
            fold_rows((evl_axis_lines){ n, NARROW, NARROW }, room, room_shift, total + wide, rule);
    }
    memcpy(y, total, at.inner * sizeof *y);
}

/* Each line to one element of y. */
__attribute__((noinline)) static void fold(evl_axis_lines at, const void *from, void *to,
                                           const fold_rule *rule)
{
    const item *x = from;
    item *y = to;
    if (is_row(at)) {
        y[0] = fold_row(at.n, x, 0, rule);
        return;
    }
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        fold_columns((evl_axis_lines){ at.n, at.stride, width }, x + j, NULL, y + j, rule);
    }
}

static inline void reduce_sum(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &sum_rule);
}

static inline void reduce_sum_square(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &square_rule);
}

static inline void reduce_prod(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &product_rule);
}

static inline void reduce_max(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &max_rule);
}

static inline void reduce_min(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &min_rule);
}
#endif
