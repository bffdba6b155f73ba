/* pooling.c - the largest or the mean in each window; cells outside the input do not count. */
#include "readers/cntk/window.h"
#include <math.h>
#include <string.h>

static bool leaves_channels(const evl_cntk_window *w)
{
    const evl_cntk_axis *last = &w->axis[w->rank - 1];
    return w->rank > 1 && last->kernel == 1 && last->stride == 1 && last->out == last->in;
}

/* The window over the last n axes of x. */
static evl_value *pool_padded(evl_cntk_maker *k, const char *op, evl_value *x,
                              const evl_cntk_window *w, size_t n)
{
    evl_attribute attributes[EVL_CNTK_WINDOW_ATTRIBUTES + 1];
    bool is_max = strcmp(op, "MaxPool") == 0, is_open = evl_cntk_is_open(w, n);
    evl_cntk_window_attributes(k, w, n, attributes);
    size_t n_attributes = EVL_CNTK_WINDOW_ATTRIBUTES - 1; /* no dilation */
    if (!is_max)
        attributes[n_attributes++] =
            evl_attribute_int("count_include_pad", k->node->f.averages_pads);
    if (is_open && k->node->f.rounds_up)
        attributes[n_attributes++] = evl_attribute_int("ceil_mode", 1);
    return evl_cntk_call(k, op, &x, 1, attributes, n_attributes);
}

/* Pads as only the call tells them. Means are those of all cells, made means of those inside by
** what a window has on the average when each element is 1. */
static evl_value *pool_left_over(evl_cntk_maker *k, const char *op, evl_value *x,
                                 const evl_cntk_window *told, size_t n)
{
    bool is_max = strcmp(op, "MaxPool") == 0;
    evl_cntk_window w = *told;
    evl_value *padded = evl_cntk_pad(k, x, &w, n, is_max ? -INFINITY : 0);
    evl_value *y = pool_padded(k, op, padded, &w, n), *in[2];
    if (is_max || k->node->f.averages_pads || !y)
        return y;
    in[0] = evl_build_number(&k->b, k->node->real, 1);
    in[1] = evl_cntk_call_1(k, "Shape", x);
    evl_value *ones = evl_cntk_call(k, "Expand", in, 2, NULL, 0);
    if (!ones)
        return NULL;
    ones->t.shape = x->t.shape;
    w = *told;
    ones = evl_cntk_pad(k, ones, &w, n, 0);
    return evl_cntk_call_2(k, "Div", y, pool_padded(k, op, ones, &w, n));
}

/* Where the window moves along the channels too, there is a single channel behind them. */
static evl_value *pool(evl_cntk_maker *k, const char *op, evl_value *x)
{
    evl_cntk_window w;
    if (k->b.status != EVAL_OK || !evl_cntk_window_of(k, x, false, &w))
        return NULL;
    bool is_usual = leaves_channels(&w);
    size_t n = is_usual ? w.rank - 1 : w.rank;
    evl_value *in = evl_cntk_cut(k, x, &w);
    if (!is_usual)
        in = evl_cntk_with_rank(k, in, w.rank + 1);
    evl_value *y = evl_cntk_is_left_over(&w, n) ? pool_left_over(k, op, in, &w, n)
                                                : pool_padded(k, op, in, &w, n);
    return is_usual || !y ? y : evl_cntk_replace(k, y, w.rank, w.rank + 1, NULL, 0);
}

static evl_value *pool_any_layout(evl_cntk_maker *k, const char *op)
{
    evl_value *x = evl_cntk_batched(k, k->in[0]);
    bool is_hwc = k->node->f.layout == EVL_CNTK_HWC;
    evl_value *y = pool(k, op, is_hwc ? evl_cntk_channels_last(k, x) : x);
    if (is_hwc)
        y = evl_cntk_channels_first(k, y);
    return evl_cntk_unbatched(k, y, k->in[0]);
}

evl_value *evl_cntk_pooling(evl_cntk_maker *k)
{
    int64_t kind = k->node->f.pool;
    if (kind != EVL_CNTK_MAX_POOL && kind != EVL_CNTK_AVERAGE_POOL)
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "a kind of pooling %lld, expected 1 or 2",
                             (long long)kind);
    return pool_any_layout(k, kind == EVL_CNTK_MAX_POOL ? "MaxPool" : "AveragePool");
}

/* MaxPooling and AveragePooling, of images only and never padded. */
evl_value *evl_cntk_old_pooling(evl_cntk_maker *k)
{
    return pool_any_layout(k, k->node->op->operator);
}
