/* Reductions of integers along lines. What is no integer (a mean, a root, a logarithm) is
** cut off towards zero. */
#include "kernels/elem_loops.h"

static evl_binary_loop *const *const item_loops = ELEM(evl_binary_loops);

#include "kernels/arg.h"
#include "kernels/running.h"
#include "kernels/top.h"
#include <math.h>

static void enter_abs(size_t n, const void *x, size_t x_step, const void *unused,
                      size_t unused_step, void *y)
{
    (void)x_step;
    (void)unused;
    (void)unused_step;
    ELEM(evl_unary_loops)[EVL_ABS](n, x, y, NULL);
}

static void enter_abs_row(size_t n, const void *x, void *y, const evl_number *p)
{
    ELEM(evl_unary_loops)[EVL_ABS](n, x, y, p);
}

static const fold_rule abs_rule = { 0, EVL_ADD, sum_block, enter_abs, enter_abs_row };

static void reduce_l1(evl_axis_lines at, const void *x, void *y)
{
    fold(at, x, y, &abs_rule);
}

/* In wide numbers, so that a sum need not fit. No elements: 0. */
static void reduce_mean(evl_axis_lines at, const void *from, void *to)
{
    const item *x = from;
    item *y = to;
    for (size_t j = 0; j < at.inner; j++) {
        double sum = 0;
        for (size_t i = 0; i < at.n; i++)
            sum += (double)x[i * at.stride + j];
        y[j] = item_from(sum / (double)at.n);
    }
}

static void each_line(evl_axis_lines at, const item *x, item *y, double (*enter)(double),
                      double (*leave)(double))
{
    for (size_t j = 0; j < at.inner; j++) {
        double sum = 0;
        for (size_t i = 0; i < at.n; i++)
            sum += enter((double)x[i * at.stride + j]);
        y[j] = item_from(leave(sum));
    }
}

static double as_is(double x)
{
    return x;
}

static double square(double x)
{
    return x * x;
}

static void reduce_l2(evl_axis_lines at, const void *x, void *y)
{
    each_line(at, x, y, square, sqrt);
}

static void reduce_log_sum(evl_axis_lines at, const void *x, void *y)
{
    each_line(at, x, y, as_is, log);
}

static void reduce_log_sum_exp(evl_axis_lines at, const void *x, void *y)
{
    each_line(at, x, y, exp, log);
}

evl_reduce_loop *const ELEM(evl_reduce_loops)[EVL_N_REDUCE] = {
    [EVL_REDUCE_SUM] = reduce_sum,         [EVL_REDUCE_MEAN] = reduce_mean,
    [EVL_REDUCE_MAX] = reduce_max,         [EVL_REDUCE_MIN] = reduce_min,
    [EVL_REDUCE_PROD] = reduce_prod,       [EVL_REDUCE_L1] = reduce_l1,
    [EVL_REDUCE_L2] = reduce_l2,           [EVL_REDUCE_SUM_SQUARE] = reduce_sum_square,
    [EVL_REDUCE_LOG_SUM] = reduce_log_sum, [EVL_REDUCE_LOG_SUM_EXP] = reduce_log_sum_exp,
};

evl_axis_loop *const ELEM(evl_axis_loops)[EVL_N_AXIS] = {
    [EVL_CUM_SUM] = cum_sum,
    [EVL_CUM_PROD] = cum_prod,
};

void ELEM(evl_arg_lines)(evl_axis_lines at, const void *x, bool least, bool last, int64_t *y)
{
    arg(at, x, least, last, y);
}

void ELEM(evl_top_lines)(evl_axis_lines at, const void *x, evl_top *how)
{
    top(at, x, how);
}
