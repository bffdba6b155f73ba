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

static void place_open(evl_cntk_axis *a, bool is_auto)
{
    a->out = EVL_UNKNOWN_DIM;
    if (!is_auto)
        return;
    a->lower = (evl_cntk_extent(a) - 1) / 2;
    a->upper = evl_cntk_extent(a) - 1 - a->lower;
    a->is_left_over = a->stride > 1;
}

bool evl_cntk_place(evl_cntk_maker *k, evl_cntk_axis *a, bool is_auto, bool rounds_up)
{
    bool is_open = a->in == EVL_UNKNOWN_DIM;
    int64_t least[] = { is_open ? 1 : a->in, a->kernel, a->stride, a->dilation, a->lower + 1, a->upper + 1 };
    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        if (least[i] < 1 || least[i] > MOST) {
            evl_cntk_fail(k, EVAL_ERR_FORMAT, "a kernel, stride, pad or input of impossible size");
            return false;
        }
    if (is_open || is_auto) {
        if (is_open)
            place_open(a, is_auto);
        else
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

/* --- sizes that only a call tells ------------------------------------------------------- */

bool evl_cntk_is_open(const evl_cntk_window *w, size_t n)
{
    bool is = false;
    for (size_t i = 0; i < n; i++)
        is = is || w->axis[i].in == EVL_UNKNOWN_DIM;
    return is;
}

bool evl_cntk_is_left_over(const evl_cntk_window *w, size_t n)
{
    bool is = false;
    for (size_t i = 0; i < n; i++)
        is = is || w->axis[i].is_left_over;
    return is;
}

/* The last n sizes of x, each less 1, modulo the strides: what the pads have too much, half of
** it, the smaller one, before the input and the rest behind it. */
static evl_value *pads_of(evl_cntk_maker *k, evl_value *x, const int64_t *strides,
                          const int64_t *pads[2], size_t n)
{
    static const int64_t none[EVAL_MAX_RANK], one = 1, two = 2;
    evl_attribute from = evl_attribute_int("start", x->t.shape.rank - (int64_t)n);
    evl_attribute axis = evl_attribute_int("axis", 0);
    evl_value *left = evl_cntk_call(k, "Shape", &x, 1, &from, 1), *part[4];
    if (left)
        left->has_frames = false;
    left = evl_cntk_call_2(k, "Sub", left, evl_build_ints(&k->b, &one, 1));
    left = evl_cntk_call_2(k, "Mod", left, evl_build_ints(&k->b, strides, n));
    evl_value *half = evl_cntk_call_2(k, "Div", left, evl_build_ints(&k->b, &two, 1));
    part[0] = part[2] = evl_build_ints(&k->b, none, (size_t)x->t.shape.rank - n);
    part[1] = evl_cntk_call_2(k, "Sub", evl_build_ints(&k->b, pads[0], n), half);
    left = evl_cntk_call_2(k, "Sub", left, half);
    part[3] = evl_cntk_call_2(k, "Sub", evl_build_ints(&k->b, pads[1], n), left);
    return evl_cntk_call(k, "Concat", part, 4, &axis, 1);
}

evl_value *evl_cntk_pad(evl_cntk_maker *k, evl_value *x, evl_cntk_window *w, size_t n, double number)
{
    int64_t strides[EVAL_MAX_RANK], lower[EVAL_MAX_RANK], upper[EVAL_MAX_RANK];
    if (k->b.status != EVAL_OK)
        return NULL;
    evl_shape shape = x->t.shape;
    for (size_t i = 0; i < n; i++) {
        evl_cntk_axis *a = &w->axis[n - 1 - i];
        int64_t *dim = &shape.dim[(size_t)shape.rank - n + i];
        strides[i] = a->is_left_over ? a->stride : 1;
        lower[i] = a->lower;
        upper[i] = a->upper > 0 ? a->upper : 0;
        *dim += *dim < 0 ? 0 : lower[i] + upper[i];
        a->lower = a->upper = 0;
    }
    evl_value *in[3] = { x, pads_of(k, x, strides, (const int64_t *[2]){ lower, upper }, n),
                         evl_build_number(&k->b, k->node->real, number) };
    evl_value *y = evl_cntk_call(k, "Pad", in, 3, NULL, 0);
    if (y)
        y->t.shape = shape;
    return y;
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
