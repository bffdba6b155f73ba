/* convolution.c - CNTK's convolution runs over every axis of a sample, the channels among
** them; its weights lie kernel first, then map, which is row-major [maps, C, kH, kW].
**
** Mostly the kernel covers the channels whole. Where it does not, the channels are one
** more axis to move along, and there is a single channel. */
#include "readers/cntk/window.h"

/* Both ways of writing the number of maps, [maps] and [1, 1, maps], have this product. */
static int64_t map_count(evl_cntk_maker *k)
{
    const evl_cntk_list *list = &k->node->f.map_count;
    int64_t maps = 1;
    for (size_t i = 0; i < list->n; i++) {
        if (list->at[i] < 1 || list->at[i] > INT32_MAX / maps) {
            evl_cntk_fail(k, EVAL_ERR_FORMAT, "an impossible number of maps");
            return 1;
        }
        maps *= list->at[i];
    }
    return maps;
}

static bool is_shared(const evl_cntk_maker *k)
{
    const evl_cntk_list *sharing = &k->node->f.sharing;
    for (size_t i = 0; i < sharing->n; i++)
        if (!sharing->at[i])
            return false;
    return true;
}

static bool covers_channels(const evl_cntk_window *w)
{
    const evl_cntk_axis *last = &w->axis[w->rank - 1];
    return w->rank > 1 && last->kernel == last->in && last->out == 1 && last->lower == 0;
}

/* [k0, k1, ..., C, maps], or with the single channel [k0, k1, ..., 1, maps]. */
static evl_value *weights(evl_cntk_maker *k, evl_value *stored, const evl_cntk_window *w,
                          bool is_covered, int64_t maps)
{
    int64_t dims[EVAL_MAX_RANK + 2];
    size_t n = 0, last = w->rank - 1;
    for (; n < last; n++)
        dims[n] = w->axis[n].kernel;
    dims[n++] = w->axis[last].kernel / k->node->f.groups;
    if (!is_covered)
        dims[n++] = 1;
    dims[n++] = maps;
    return evl_cntk_reshape(k, stored, dims, n);
}

/* The old engine's matrix [maps, K], whose kernel is square, as the newer order wants it. */
static evl_value *old_weights(evl_cntk_maker *k, evl_value *stored, const evl_cntk_window *w,
                              int64_t maps)
{
    static const size_t axes[4] = { 1, 2, 3, 0 };
    const int64_t dims[4] = { maps, w->axis[0].kernel, w->axis[1].kernel, w->axis[2].kernel };
    if (w->axis[0].kernel != w->axis[1].kernel || w->axis[0].stride != w->axis[1].stride)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                             "the old layout HWC with a kernel or stride that is not square");
    return evl_cntk_permute(k, evl_cntk_reshape(k, stored, dims, 4), axes, 4);
}

/* x with a single channel behind all its axes. */
static evl_value *with_channel(evl_cntk_maker *k, evl_value *x, size_t rank)
{
    return evl_cntk_with_rank(k, x, rank + 1);
}

/* [o0, ..., oC, maps] becomes [o0, ..., oC * maps]. */
static evl_value *joined(evl_cntk_maker *k, evl_value *y, const evl_cntk_window *w)
{
    if (k->b.status != EVAL_OK)
        return NULL;
    int64_t all = evl_cntk_dim(y, w->rank - 1) * evl_cntk_dim(y, w->rank);
    return evl_cntk_replace(k, y, w->rank - 1, w->rank + 1, &all, 1);
}

static evl_value *convolve(evl_cntk_maker *k, evl_value *x, evl_value *stored)
{
    evl_cntk_window w;
    evl_attribute attributes[EVL_CNTK_WINDOW_ATTRIBUTES + 1];
    int64_t maps = map_count(k);
    if (k->b.status != EVAL_OK || !evl_cntk_window_of(k, x, true, &w))
        return NULL;
    bool is_covered = covers_channels(&w);
    if (k->node->f.layout == EVL_CNTK_HWC)
        stored = old_weights(k, stored, &w, maps);
    evl_value *in[2];
    in[0] = evl_cntk_cut(k, x, &w);
    in[1] = weights(k, stored, &w, is_covered, maps);
    if (!is_covered)
        in[0] = with_channel(k, in[0], w.rank);
    size_t n = is_covered ? w.rank - 1 : w.rank;
    if (evl_cntk_is_left_over(&w, n))
        in[0] = evl_cntk_pad(k, in[0], &w, n, 0);
    evl_cntk_window_attributes(k, &w, n, attributes);
    attributes[EVL_CNTK_WINDOW_ATTRIBUTES] = evl_attribute_int("group", k->node->f.groups);
    evl_value *y = evl_cntk_call(k, "Conv", in, 2, attributes, EVL_CNTK_WINDOW_ATTRIBUTES + 1);
    return is_covered ? y : joined(k, y, &w);
}

/* --- the transposed one ---------------------------------------------------------------- */

/* The pads that the convolution the other way would have, which gives no less than all. */
static bool place_open(evl_cntk_maker *k, evl_cntk_axis *a, bool is_auto, bool is_told)
{
    if (is_told) {
        evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "a size told for what only a call tells the size of");
        return false;
    }
    return evl_cntk_place(k, a, is_auto, false);
}

/* The output of one axis, and the pads that the convolution it turns round would have. */
static bool place_transposed(evl_cntk_maker *k, size_t i, evl_cntk_axis *a, int64_t *more)
{
    const evl_cntk_fields *f = &k->node->f;
    bool is_auto = f->auto_pad.n > 0 && f->auto_pad.at[i < f->auto_pad.n ? i : f->auto_pad.n - 1];
    bool is_told = i < f->output_shape.n && f->output_shape.at[i] > 0;
    evl_cntk_axis forward = *a;
    *more = 0;
    if (a->in == EVL_UNKNOWN_DIM)
        return place_open(k, a, is_auto, is_told);
    if (!evl_cntk_place(k, &forward, true, false)) /* the sizes are possible */
        return false;
    int64_t whole = (a->in - 1) * a->stride + evl_cntk_extent(a);
    if (is_told)
        a->out = f->output_shape.at[i];
    else
        a->out = is_auto ? (a->in - 1) * a->stride + 1 : whole - a->lower - a->upper;
    forward.in = a->out;
    if (is_auto && evl_cntk_place(k, &forward, true, false))
        a->lower = forward.lower;
    a->upper = whole - a->lower - a->out;
    *more = a->upper < 0 ? -a->upper : 0;
    if (k->b.status != EVAL_OK || (a->lower >= 0 && a->out >= 1 && *more < a->stride))
        return k->b.status == EVAL_OK;
    evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                  "a transposed kernel of %lld, stride %lld, gives no %lld", (long long)a->kernel,
                  (long long)a->stride, (long long)a->out);
    return false;
}

/* Weights are those of the convolution that goes the other way: [M, C, kH, kW]. */
static evl_value *transpose(evl_cntk_maker *k, evl_value *x, evl_value *stored)
{
    evl_cntk_window w;
    evl_attribute attributes[EVL_CNTK_WINDOW_ATTRIBUTES + 2];
    int64_t more[EVAL_MAX_RANK], dims[EVAL_MAX_RANK + 1], maps = map_count(k);
    if (k->b.status != EVAL_OK || !evl_cntk_window_of(k, x, true, &w))
        return NULL;
    if (w.rank < 2 || w.axis[w.rank - 1].in != maps)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "%lld maps for an input with %lld channels",
                             (long long)maps, (long long)w.axis[w.rank - 1].in);
    size_t n = w.rank - 1;
    for (size_t i = 0; i < n; i++) {
        if (!place_transposed(k, i, &w.axis[i], &more[n - 1 - i]))
            return NULL;
        dims[i] = w.axis[i].kernel;
    }
    dims[n] = -1; /* the channels: whatever the weights have */
    dims[n + 1] = w.axis[n].in;
    evl_value *in[2] = { x, evl_cntk_reshape(k, stored, dims, n + 2) };
    evl_cntk_window_attributes(k, &w, n, attributes);
    attributes[EVL_CNTK_WINDOW_ATTRIBUTES] = evl_cntk_ints(k, "output_padding", more, n);
    attributes[EVL_CNTK_WINDOW_ATTRIBUTES + 1] = evl_attribute_int("group", k->node->f.groups);
    return evl_cntk_call(k, "ConvTranspose", in, 2, attributes, EVL_CNTK_WINDOW_ATTRIBUTES + 2);
}

/* Operands: the weights, x. */
evl_value *evl_cntk_convolution(evl_cntk_maker *k)
{
    evl_value *stored = evl_cntk_flatten(k, k->in[0]), *x = evl_cntk_batched(k, k->in[1]);
    bool is_hwc = k->node->f.layout == EVL_CNTK_HWC;
    if (stored && stored->has_frames)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "weights that change from frame to frame");
    if (k->node->f.groups < 1)
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "%lld groups", (long long)k->node->f.groups);
    if (!is_shared(k))
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "weights of their own for each place");
    if (is_hwc)
        x = evl_cntk_channels_last(k, x);
    evl_value *y = k->node->f.is_transposed ? transpose(k, x, stored) : convolve(k, x, stored);
    if (is_hwc)
        y = evl_cntk_channels_first(k, y);
    return evl_cntk_unbatched(k, y, k->in[1]);
}
