/* window.c - the geometry of kernels, axis by axis. */
#include "readers/cntk/window.h"

enum { MOST = 1 << 30 }; /* of a kernel, stride, pad: their products then fit */

/* Element i of a list that may be shorter: within the kernel's rank its last element is
** repeated, past that `rest` holds. */
static int64_t pick(const evl_cntk_list *list, size_t i, size_t kernel_rank, int64_t rest)
{
    if (i < list->n)
        return list->at[i];
    return i < kernel_rank && list->n > 0 ? list->at[list->n - 1] : rest;
}

int64_t evl_cntk_extent(const evl_cntk_axis *a)
{
    return (a->kernel - 1) * a->dilation + 1;
}

/* Automatic padding puts the centres of the first and last kernel evenly over the input. */
static void place_evenly(evl_cntk_axis *a)
{
    int64_t extent = evl_cntk_extent(a);
    a->out = (a->in - 1) / a->stride + 1;
    int64_t cells = (a->out - 1) * a->stride + 1;
    a->lower = (extent - 1) / 2 - (a->in - cells) / 2;
    a->upper = (a->out - 1) * a->stride + extent - a->lower - a->in;
}

bool evl_cntk_place(evl_cntk_maker *k, evl_cntk_axis *a, bool is_auto, bool rounds_up)
{
    int64_t least[] = { a->in, a->kernel, a->stride, a->dilation, a->lower + 1, a->upper + 1 };
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        if (least[i] < 1 || least[i] > MOST) {
            evl_cntk_fail(k, EVAL_ERR_FORMAT, "a kernel, stride, pad or input of impossible size");
            return false;
        }
    if (is_auto) {
        place_evenly(a);
        return true;
    }
    int64_t padded = a->in + a->lower + a->upper, room = padded - evl_cntk_extent(a);
    if (room < 0) {
        evl_cntk_fail(k, EVAL_ERR_SHAPE, "a kernel of %lld over %lld elements",
                      (long long)evl_cntk_extent(a), (long long)padded);
        return false;
    }
    a->out = (room + (rounds_up ? a->stride - 1 : 0)) / a->stride + 1;
    if (rounds_up && (a->out - 1) * a->stride >= a->in + a->lower)
        a->out--; /* a window over pads alone */
    a->upper = (a->out - 1) * a->stride + evl_cntk_extent(a) - a->lower - a->in;
    return true;
}

bool evl_cntk_window_of(evl_cntk_maker *k, const evl_value *x, bool covers_rest, evl_cntk_window *w)
{
    const evl_cntk_fields *f = &k->node->f;
    size_t named = f->kernel.n;
    w->rank = evl_cntk_rank(x);
    if (w->rank == 0 || named > w->rank) {
        evl_cntk_fail(k, EVAL_ERR_SHAPE, "a kernel of %zu dimensions over samples of %zu", named,
                      w->rank);
        return false;
    }
    for (size_t i = 0; i < w->rank; i++) {
        int64_t in = evl_cntk_dim(x, i), rest = covers_rest ? in : 1;
        w->axis[i] = (evl_cntk_axis){
            .in = in,
            .kernel = pick(&f->kernel, i, named, rest),
            .stride = pick(&f->stride, i, named, i < named ? 1 : rest),
            .dilation = pick(&f->dilation, i, named, 1),
            .lower = pick(&f->lower_pad, i, named, 0),
            .upper = pick(&f->upper_pad, i, named, 0),
        };
        if (!f->is_transposed &&
            !evl_cntk_place(k, &w->axis[i], pick(&f->auto_pad, i, named, 0) != 0, f->rounds_up))
            return false;
    }
    return true;
}

evl_value *evl_cntk_cut(evl_cntk_maker *k, evl_value *x, evl_cntk_window *w)
{
    int64_t starts[EVAL_MAX_RANK], ends[EVAL_MAX_RANK], axes[EVAL_MAX_RANK];
    size_t n = 0;
    for (size_t i = 0; i < w->rank && k->b.status == EVAL_OK; i++) {
        evl_cntk_axis *a = &w->axis[i];
        if (a->lower >= 0)
            continue;
        starts[n] = -a->lower;
        ends[n] = a->in;
        axes[n++] = x->t.shape.rank - 1 - (int64_t)i;
        a->in += a->lower;
        a->lower = 0;
    }
    if (n == 0)
        return x;
    evl_attribute a[3] = { evl_cntk_ints(k, "starts", starts, n), evl_cntk_ints(k, "ends", ends, n),
                           evl_cntk_ints(k, "axes", axes, n) };
    return evl_cntk_call(k, "Slice", &x, 1, a, 3);
}

/* A negative upper pad cuts off what no window reaches anyway: 0 does the same. */
void evl_cntk_window_attributes(evl_cntk_maker *k, const evl_cntk_window *w, size_t n,
                                evl_attribute attributes[EVL_CNTK_WINDOW_ATTRIBUTES])
{
    int64_t kernel[EVAL_MAX_RANK], stride[EVAL_MAX_RANK], dilation[EVAL_MAX_RANK];
    int64_t pads[2 * EVAL_MAX_RANK];
    for (size_t i = 0; i < n; i++) {
        const evl_cntk_axis *a = &w->axis[n - 1 - i];
        kernel[i] = a->kernel;
        stride[i] = a->stride;
        dilation[i] = a->dilation;
        pads[i] = a->lower;
        pads[n + i] = a->upper > 0 ? a->upper : 0;
    }
    attributes[0] = evl_cntk_ints(k, "kernel_shape", kernel, n);
    attributes[1] = evl_cntk_ints(k, "strides", stride, n);
    attributes[2] = evl_cntk_ints(k, "pads", pads, 2 * n);
    attributes[3] = evl_cntk_ints(k, "dilations", dilation, n);
}

evl_value *evl_cntk_channels_last(evl_cntk_maker *k, evl_value *x)
{
    static const size_t axes[3] = { 1, 2, 0 };
    if (x && evl_cntk_rank(x) != 3)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "the old layout HWC for what is no image");
    return evl_cntk_permute(k, x, axes, 3);
}

evl_value *evl_cntk_channels_first(evl_cntk_maker *k, evl_value *y)
{
    static const size_t axes[3] = { 2, 0, 1 };
    return evl_cntk_permute(k, y, axes, 3);
}
