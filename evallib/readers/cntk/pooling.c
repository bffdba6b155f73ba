/* pooling.c - the largest or the mean in each window; cells outside the input do not count. */
#include "readers/cntk/window.h"
#include <string.h>

static bool leaves_channels(const evl_cntk_window *w)
{
    const evl_cntk_axis *last = &w->axis[w->rank - 1];
    return w->rank > 1 && last->kernel == 1 && last->stride == 1 && last->out == last->in;
}

/* Where the window moves along the channels too, there is a single channel behind them. */
static evl_value *pool(evl_cntk_maker *k, const char *op, evl_value *x)
{
    evl_cntk_window w;
    evl_attribute attributes[EVL_CNTK_WINDOW_ATTRIBUTES];
    if (k->b.status != EVAL_OK || !evl_cntk_window_of(k, x, false, &w))
        return NULL;
    bool is_usual = leaves_channels(&w);
    size_t n = is_usual ? w.rank - 1 : w.rank;
    evl_value *in = evl_cntk_cut(k, x, &w);
    if (!is_usual)
        in = evl_cntk_with_rank(k, in, w.rank + 1);
    evl_cntk_window_attributes(k, &w, n, attributes);
    attributes[3] =
        evl_attribute_int("count_include_pad", k->node->f.averages_pads); /* no dilation */
    n = strcmp(op, "MaxPool") == 0 ? 3 : EVL_CNTK_WINDOW_ATTRIBUTES;
    evl_value *y = evl_cntk_call(k, op, &in, 1, attributes, n);
    if (is_usual || !y)
        return y;
    int64_t dims[EVAL_MAX_RANK];
    evl_cntk_dims(y, w.rank, dims);
    return evl_cntk_reshape(k, y, dims, w.rank);
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
