/* Lines of real numbers to lines: softmax and its kin, norms, running sums.
**
** A contiguous line is one loop; lines side by side go COLUMNS at a time, so that an
** axis anywhere in a shape runs in vectors. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"
#include "kernels/folds.h"
#include "kernels/functions.h"

static const real no_shift[COLUMNS] = { 0 };

static bool is_row(evl_axis_lines at)
{
    return at.inner == 1 && at.stride == 1;
}

/* One value a line. */
static inline void gather(evl_axis_lines at, size_t width, const real *x, const real *shift,
                          real *y, fold_rule rule)
{
    if (is_row(at))
        y[0] = fold_row(at.n, x, shift[0], rule);
    else
        fold_columns(at, width, x, shift, y, rule);
}

/* y = f(x, value of its line). */
static inline void spread(evl_axis_lines at, size_t width, const real *x, const real *value,
                          real *y, real (*f)(real, real))
{
    if (is_row(at)) {
        zip(at.n, x, 1, value, 0, y, f);
        return;
    }
    for (size_t i = 0; i < at.n; i++)
        zip(width, x + i * at.stride, 1, value, 1, y + i * at.stride, f);
}

static inline real exp_of_difference(real a, real b)
{
    return evl_exp(a - b);
}

static const fold_rule exp_rule = { 0, exp_of_difference, item_add };

static void softmax_columns(evl_axis_lines at, size_t width, const real *x, real *y)
{
    real most[COLUMNS], sum[COLUMNS];
    gather(at, width, x, no_shift, most, max_rule);
    spread(at, width, x, most, y, exp_of_difference);
    gather(at, width, y, no_shift, sum, sum_rule);
    for (size_t j = 0; j < width; j++)
        sum[j] = 1 / sum[j];
    spread(at, width, y, sum, y, item_multiply);
}

static void log_softmax_columns(evl_axis_lines at, size_t width, const real *x, real *y)
{
    real most[COLUMNS], sum[COLUMNS];
    gather(at, width, x, no_shift, most, max_rule);
    gather(at, width, x, most, sum, exp_rule);
    spread(at, width, x, most, y, item_subtract);
    for (size_t j = 0; j < width; j++)
        sum[j] = evl_log(sum[j]);
    spread(at, width, y, sum, y, item_subtract);
}

static void hardmax_columns(evl_axis_lines at, size_t width, const real *x, real *y)
{
    int64_t best[COLUMNS];
    arg((evl_axis_lines){ at.n, at.stride, width }, x, false, false, best);
    for (size_t i = 0; i < at.n; i++)
        for (size_t j = 0; j < width; j++)
            y[i * at.stride + j] = best[j] == (int64_t)i ? 1 : 0;
}

static inline real enter_abs(real x, real shift)
{
    (void)shift;
    return fabs(x);
}

static const fold_rule abs_rule = { 0, enter_abs, item_add };

/* A line of zeros stays one. */
static inline real over_norm(real x, real norm)
{
    return norm == 0 ? 0 : x / norm;
}

static void norm_1_columns(evl_axis_lines at, size_t width, const real *x, real *y)
{
    real norm[COLUMNS];
    gather(at, width, x, no_shift, norm, abs_rule);
    spread(at, width, x, norm, y, over_norm);
}

static void norm_2_columns(evl_axis_lines at, size_t width, const real *x, real *y)
{
    real norm[COLUMNS];
    gather(at, width, x, no_shift, norm, square_rule);
    for (size_t j = 0; j < width; j++)
        norm[j] = sqrt(norm[j]);
    spread(at, width, x, norm, y, over_norm);
}

typedef void columns(evl_axis_lines at, size_t width, const real *x, real *y);

static inline void each_columns(evl_axis_lines at, const void *x, void *y, columns *f)
{
    if (at.n == 0)
        return;
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        f(at, width, (const real *)x + j, (real *)y + j);
    }
}

static void softmax(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    (void)p;
    each_columns(at, x, y, softmax_columns);
}

static void log_softmax(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    (void)p;
    each_columns(at, x, y, log_softmax_columns);
}

static void hardmax(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    (void)p;
    each_columns(at, x, y, hardmax_columns);
}

static void norm_1(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    (void)p;
    each_columns(at, x, y, norm_1_columns);
}

static void norm_2(evl_axis_lines at, const void *x, void *y, const evl_number *p)
{
    (void)p;
    each_columns(at, x, y, norm_2_columns);
}

evl_axis_loop *const SET(evl_axis_loops)[EVL_N_AXIS] = {
    [EVL_SOFTMAX] = softmax, [EVL_LOG_SOFTMAX] = log_softmax, [EVL_HARDMAX] = hardmax,
    [EVL_NORM_1] = norm_1,   [EVL_NORM_2] = norm_2,           [EVL_CUM_SUM] = cum_sum,
    [EVL_CUM_PROD] = cum_prod,
};
