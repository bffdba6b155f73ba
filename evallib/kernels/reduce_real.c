/* Reductions of real numbers along lines. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"

static evl_binary_loop *const *const item_loops = SET(evl_binary_loops);

#include "kernels/arg.h"
#include "kernels/real_folds.h"
#include "kernels/top.h"

static void reduce_mean(evl_axis_lines at, const void *x, void *y)
{
    const real n = (real)at.n;
    fold(at, x, y, &sum_rule);
    if (at.inner == 1)
        *(real *)y /= n;
    else
        item_loops[EVL_DIV](at.inner, y, 1, &n, 0, y);
}

static void reduce_l1(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &abs_rule);
}

static void reduce_l2(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &square_rule);
    SET(evl_unary_loops)[EVL_SQRT](at.inner, y, y, NULL);
}

static void reduce_log_sum(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &sum_rule);
    SET(evl_unary_loops)[EVL_LOG](at.inner, y, y, NULL);
}

/* The shift by the largest keeps exp finite; an infinite one would give NaN. */
static void log_sum_exp(evl_axis_lines at, const real *x, real *y)
{
    real shift[COLUMNS], sum[COLUMNS];
    fold(at, x, shift, &max_rule);
    for (size_t j = 0; j < at.inner; j++)
        shift[j] = fabs(shift[j]) > REAL_MAX ? 0 : shift[j];
    if (is_row(at))
        sum[0] = fold_row(at.n, x, shift[0], &exp_rule);
    else
        fold_columns(at, x, shift, sum, &exp_rule);
    SET(evl_unary_loops)[EVL_LOG](at.inner, sum, sum, NULL);
    item_loops[EVL_ADD](at.inner, sum, 1, shift, 1, y);
}

static void reduce_log_sum_exp(evl_axis_lines at, const void *x, void *y)
{
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        log_sum_exp((evl_axis_lines){ at.n, at.stride, width }, (const real *)x + j, (real *)y + j);
    }
}

evl_reduce_loop *const SET(evl_reduce_loops)[EVL_N_REDUCE] = {
    [EVL_REDUCE_SUM] = reduce_sum,         [EVL_REDUCE_MEAN] = reduce_mean,
    [EVL_REDUCE_MAX] = reduce_max,         [EVL_REDUCE_MIN] = reduce_min,
    [EVL_REDUCE_PROD] = reduce_prod,       [EVL_REDUCE_L1] = reduce_l1,
    [EVL_REDUCE_L2] = reduce_l2,           [EVL_REDUCE_SUM_SQUARE] = reduce_sum_square,
    [EVL_REDUCE_LOG_SUM] = reduce_log_sum, [EVL_REDUCE_LOG_SUM_EXP] = reduce_log_sum_exp,
};

void SET(evl_arg_lines)(evl_axis_lines at, const void *x, bool least, bool last, int64_t *y)
{
    arg(at, x, least, last, y);
}

void SET(evl_top_lines)(evl_axis_lines at, const void *x, evl_top *how)
{
    top(at, x, how);
}
