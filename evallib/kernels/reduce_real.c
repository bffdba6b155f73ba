/* Reductions of real numbers along lines. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"
#include "kernels/folds.h"
#include "kernels/functions.h"
#include "kernels/top.h"

static inline real enter_abs(real x, real shift)
{
    (void)shift;
    return fabs(x);
}

static inline real enter_exp(real x, real shift)
{
    return evl_exp(x - shift);
}

static const fold_rule abs_rule = { 0, enter_abs, item_add };
static const fold_rule exp_rule = { 0, enter_exp, item_add };

static void reduce_mean(evl_axis_lines at, const void *x, void *y)
{
    real *mean = y;
    fold(at, x, y, sum_rule);
    for (size_t j = 0; j < at.inner; j++)
        mean[j] /= (real)at.n;
}

static void reduce_l1(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, abs_rule);
}

static void reduce_l2(evl_axis_lines at, const void *x, void *y)
{
    real *norm = y;
    fold(at, x, y, square_rule);
    for (size_t j = 0; j < at.inner; j++)
        norm[j] = sqrt(norm[j]);
}

static void reduce_log_sum(evl_axis_lines at, const void *x, void *y)
{
    real *sum = y;
    fold(at, x, y, sum_rule);
    for (size_t j = 0; j < at.inner; j++)
        sum[j] = evl_log(sum[j]);
}

/* The shift by the largest keeps exp finite; an infinite one would give NaN. */
static void log_sum_exp(evl_axis_lines at, size_t width, const real *x, real *y)
{
    real shift[COLUMNS], sum[COLUMNS];
    fold_columns(at, width, x, (const real[COLUMNS]){ 0 }, shift, max_rule);
    for (size_t j = 0; j < width; j++)
        shift[j] = fabs(shift[j]) > REAL_MAX ? 0 : shift[j];
    if (at.inner == 1 && at.stride == 1)
        sum[0] = fold_row(at.n, x, shift[0], exp_rule);
    else
        fold_columns(at, width, x, shift, sum, exp_rule);
    for (size_t j = 0; j < width; j++)
        y[j] = evl_log(sum[j]) + shift[j];
}

static void reduce_log_sum_exp(evl_axis_lines at, const void *x, void *y)
{
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        log_sum_exp(at, width, (const real *)x + j, (real *)y + j);
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
