/* running.h - running sums and products along lines, once for real and once for every
** integer type (see arrays.h, folds.h). */
#ifndef EVL_KERNELS_RUNNING_H
#define EVL_KERNELS_RUNNING_H
#include "kernels/folds.h"

enum { CHAINS = 4 };

/* p[0] leaves the element itself out, p[1] goes backwards. */
typedef struct running_rule {
    const fold_rule *fold;
    bool is_exclusive, is_reverse;
} running_rule;

/* CHAINS parts of a line at once, as one would wait for every single addition; then what
** was before each part is added to it. */
static inline void running_row(size_t n, const item *x, item *y, const running_rule *rule,
                               item (*join)(item, item))
{
    const ptrdiff_t step = rule->is_reverse ? -1 : 1;
    size_t start = rule->is_reverse ? n - 1 : 0, part = n / CHAINS;
    item sum[CHAINS], before = rule->fold->start;
    x += start;
    y += start;
    for (size_t c = 0; c < CHAINS; c++)
        sum[c] = before;
    for (size_t i = 0; i < part; i++)
        for (size_t c = 0; c < CHAINS; c++) {
            ptrdiff_t at = (ptrdiff_t)(c * part + i) * step;
            item with = join(sum[c], x[at]);
            y[at] = rule->is_exclusive ? sum[c] : with;
            sum[c] = with;
        }
    for (size_t c = 0; c < CHAINS; c++) {
        item *from = y + (ptrdiff_t)(c * part) * step - (rule->is_reverse && part ? part - 1 : 0);
        if (c > 0)
            item_loops[rule->fold->join](part, from, 1, &before, 0, from);
        before = join(before, sum[c]);
    }
    for (size_t i = CHAINS * part; i < n; i++) {
        ptrdiff_t at = (ptrdiff_t)i * step;
        item with = join(before, x[at]);
        y[at] = rule->is_exclusive ? before : with;
        before = with;
    }
}

/* At most COLUMNS lines side by side. */
__attribute__((noinline)) static void running_columns(evl_axis_lines at, const item *x, item *y,
                                                      const running_rule *rule)
{
    item sums[2][COLUMNS];
    item *sum = sums[0], *with = sums[1];
    fill_tile(at.inner, rule->fold->start, sum);
    for (size_t i = 0; i < at.n; i++) {
        size_t row = (rule->is_reverse ? at.n - 1 - i : i) * at.stride;
        item *before = sum;
        item_loops[rule->fold->join](at.inner, sum, 1, x + row, 1, with);
        memcpy(y + row, rule->is_exclusive ? before : with, at.inner * sizeof *y);
        sum = with;
        with = before;
    }
}

static inline void running(evl_axis_lines at, const item *x, item *y, const running_rule *rule,
                           item (*join)(item, item))
{
    if (at.n == 0)
        return;
    if (is_row(at)) {
        running_row(at.n, x, y, rule, join);
        return;
    }
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        running_columns((evl_axis_lines){ at.n, at.stride, width }, x + j, y + j, rule);
    }
}

static inline void cum_sum(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    running(at, x, y, &(const running_rule){ &sum_rule, p[0] != 0, p[1] != 0 }, item_add);
}

static inline void cum_prod(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    running(at, x, y, &(const running_rule){ &product_rule, p[0] != 0, p[1] != 0 }, item_multiply);
}
#endif
