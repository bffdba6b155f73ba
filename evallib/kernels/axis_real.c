/* Lines of real numbers to lines: softmax and its kin, norms, running sums.
**
** A contiguous line is one loop; lines side by side go COLUMNS at a time, so that an
** axis anywhere in a shape runs in vectors. All is put together from the loops over two
** arrays, which pass over memory that is still in the first cache. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"

static evl_binary_loop *const *const item_loops = SET(evl_binary_loops);

#include "kernels/real_folds.h"
#include "kernels/running.h"

/* One value a line. */
static void gather(evl_axis_lines at, const real *x, const real *shift, real *y,
                   const fold_rule *rule)
{
    if (is_row(at))
        y[0] = fold_row(at.n, x, shift ? shift[0] : 0, rule);
    else
        fold_columns(at, x, shift, y, rule);
}

/* y = f(x, value of its line). */
static void spread(evl_axis_lines at, const real *x, const real *value, real *y, evl_binary_loop *f)
{
    if (is_row(at)) {
        f(at.n, x, 1, value, 0, y);
        return;
    }
    for (size_t i = 0; i < at.n; i++)
        f(at.inner, x + i * at.stride, 1, value, 1, y + i * at.stride);
}

/* What is done with at most COLUMNS lines. */
typedef void columns(evl_axis_lines at, const real *x, real *y);

static void softmax_columns(evl_axis_lines at, const real *x, real *y)
{
    real most[COLUMNS], sum[COLUMNS];
    if (is_row(at)) {
        SET(evl_attention_kernels).softmax(at.n, x, y);
        return;
    }
    gather(at, x, NULL, most, &max_rule);
    spread(at, x, most, y, SET(evl_exp_of_difference));
    gather(at, y, NULL, sum, &sum_rule);
    for (size_t j = 0; j < at.inner; j++)
        sum[j] = 1 / sum[j];
    spread(at, y, sum, y, item_loops[EVL_MUL]);
}

static void log_softmax_columns(evl_axis_lines at, const real *x, real *y)
{
    real most[COLUMNS], sum[COLUMNS];
    if (is_row(at)) {
        SET(evl_attention_kernels).log_softmax(at.n, x, y);
        return;
    }
    gather(at, x, NULL, most, &max_rule);
    gather(at, x, most, sum, &exp_rule);
    spread(at, x, most, y, item_loops[EVL_SUB]);
    SET(evl_unary_loops)[EVL_LOG](at.inner, sum, sum, NULL);
    spread(at, y, sum, y, item_loops[EVL_SUB]);
}

static void hardmax_columns(evl_axis_lines at, const real *x, real *y)
{
    int64_t best[COLUMNS];
    SET(evl_arg_lines)(at, x, false, false, best);
    if (is_row(at))
        memset(y, 0, at.n * sizeof *y);
    for (size_t i = 0; i < at.n && !is_row(at); i++)
        memset(y + i * at.stride, 0, at.inner * sizeof *y);
    for (size_t j = 0; j < at.inner; j++)
        y[(size_t)best[j] * at.stride + j] = 1;
}

/* A line of zeros stays one: what it is divided by becomes infinite. */
static void over_norm(evl_axis_lines at, const real *x, real *norm, real *y)
{
    for (size_t j = 0; j < at.inner; j++)
        norm[j] = norm[j] == 0 ? (real)INFINITY : norm[j];
    spread(at, x, norm, y, item_loops[EVL_DIV]);
}

static void norm_1_columns(evl_axis_lines at, const real *x, real *y)
{
    real norm[COLUMNS];
    gather(at, x, NULL, norm, &abs_rule);
    over_norm(at, x, norm, y);
}

static void norm_2_columns(evl_axis_lines at, const real *x, real *y)
{
    real norm[COLUMNS];
    gather(at, x, NULL, norm, &square_rule);
    for (size_t j = 0; j < at.inner; j++)
        norm[j] = sqrt(norm[j]);
    over_norm(at, x, norm, y);
}

/* A few short lines side by side would leave vectors empty: each is copied out. */
static void each_line(evl_axis_lines at, const real *x, real *y, columns *f)
{
    real line[BLOCK];
    for (size_t j = 0; j < at.inner; j++) {
        for (size_t i = 0; i < at.n; i++)
            line[i] = x[i * at.stride + j];
        f((evl_axis_lines){ at.n, 1, 1 }, line, line);
        for (size_t i = 0; i < at.n; i++)
            y[i * at.stride + j] = line[i];
    }
}

static void each_columns(evl_axis_lines at, const void *from, void *to, columns *f)
{
    const real *x = from;
    real *y = to;
    if (at.n == 0)
        return;
    if (at.inner < NARROW && at.n <= BLOCK && !is_row(at)) {
        each_line(at, x, y, f);
        return;
    }
    for (size_t j = 0; j < at.inner; j += COLUMNS) {
        size_t width = at.inner - j < COLUMNS ? at.inner - j : COLUMNS;
        f((evl_axis_lines){ at.n, at.stride, width }, x + j, y + j);
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
    [EVL_SOFTMAX] = softmax,   [EVL_LOG_SOFTMAX] = log_softmax, [EVL_HARDMAX] = hardmax,
    [EVL_NORM_1] = norm_1,     [EVL_NORM_2] = norm_2,           [EVL_CUM_SUM] = cum_sum,
    [EVL_CUM_PROD] = cum_prod,
};
