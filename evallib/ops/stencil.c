/* Where windows lie. What a file says is bounded first, so that no sum here overflows. */
#include "ops/stencil.h"
#include <string.h>

enum { DIMS = EVL_STENCIL_DIMS };

static const int64_t most = (int64_t)1 << 31;

typedef enum padding { EXPLICIT, VALID, SAME_UPPER, SAME_LOWER } padding;

static EvalStatus padding_of(evl_context *ctx, const evl_use *use, padding *how)
{
    static const char *const names[] = { "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER" };
    const char *text = evl_node_text(use->node, "auto_pad", "NOTSET");
    for (int i = 0; i < 4; i++)
        if (strcmp(text, names[i]) == 0) {
            *how = (padding)i;
            return EVAL_OK;
        }
    return evl_fail(ctx, EVAL_ERR_FORMAT,
                    "auto_pad is '%s', expected NOTSET, VALID, SAME_UPPER or SAME_LOWER", text);
}

static EvalStatus check_value(evl_context *ctx, const char *name, int64_t value, int64_t least)
{
    if (value >= least && value <= most)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has %lld, expected %lld to %lld", name,
                    (long long)value, (long long)least, (long long)most);
}

/* n values of an attribute to the end of `to`; as they are when it is not there. */
static EvalStatus take_values(evl_context *ctx, const evl_use *use, const char *name, int32_t n,
                              int64_t *to)
{
    size_t count;
    const int64_t *values = evl_node_ints(use->node, name, &count);
    if (!values || count == 0)
        return EVAL_OK;
    if (count != (size_t)n)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has %zu values, expected %d", name, count, (int)n);
    for (int32_t i = 0; i < n; i++) {
        EvalStatus st = check_value(ctx, name, values[i], 1);
        if (st != EVAL_OK)
            return st;
        to[DIMS - n + i] = values[i];
    }
    return EVAL_OK;
}

static EvalStatus take_pads(evl_context *ctx, const evl_use *use, evl_stencil *w)
{
    size_t count;
    const int64_t *values = evl_node_ints(use->node, "pads", &count);
    if (!values || count == 0)
        return EVAL_OK;
    if (count != 2 * (size_t)w->n)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "pads has %zu values, expected %d", count,
                        2 * (int)w->n);
    for (int32_t i = 0; i < 2 * w->n; i++) {
        EvalStatus st = check_value(ctx, "pads", values[i], 0);
        if (st != EVAL_OK)
            return st;
        (i < w->n ? w->begin : w->end)[DIMS - w->n + i % w->n] = values[i];
    }
    return EVAL_OK;
}

static EvalStatus take_kernel(evl_context *ctx, const evl_use *use, const int64_t *kernel,
                              evl_stencil *w)
{
    size_t count;
    if (!kernel && !evl_node_ints(use->node, "kernel_shape", &count))
        return evl_fail(ctx, EVAL_ERR_FORMAT, "kernel_shape is missing");
    EvalStatus st = take_values(ctx, use, "kernel_shape", w->n, w->kernel);
    bool is_given = evl_node_ints(use->node, "kernel_shape", &count) && count > 0;
    for (int32_t i = 0; kernel && i < w->n && st == EVAL_OK; i++) {
        int64_t *size = &w->kernel[DIMS - w->n + i];
        if (is_given && kernel[i] != EVL_UNKNOWN_DIM && kernel[i] != *size)
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "kernel_shape has %lld, expected %lld as the weights", (long long)*size,
                            (long long)kernel[i]);
        if (!is_given)
            *size = kernel[i];
        if (*size != EVL_UNKNOWN_DIM)
            st = check_value(ctx, "the kernel", *size, 1);
    }
    return st;
}

EvalStatus evl_stencil_attributes(evl_context *ctx, const evl_use *use, const evl_shape *x,
                                  const int64_t *kernel, evl_stencil *w)
{
    int32_t n = x->rank - 2;
    if (n < 1 || n > DIMS)
        return evl_fail(ctx, n < 1 ? EVAL_ERR_SHAPE : EVAL_ERR_UNSUPPORTED,
                        "input 0 has rank %d, expected 3 to %d", (int)x->rank, DIMS + 2);
    *w = (evl_stencil){ .n = n };
    for (int i = 0; i < DIMS; i++)
        w->in[i] = w->kernel[i] = w->stride[i] = w->dilation[i] = w->out[i] = 1;
    EvalStatus st = EVAL_OK;
    for (int32_t i = 0; i < n && st == EVAL_OK; i++) {
        w->in[DIMS - n + i] = x->dim[2 + i];
        if (x->dim[2 + i] != EVL_UNKNOWN_DIM)
            st = check_value(ctx, "the input's size", x->dim[2 + i], 0);
    }
    if (st == EVAL_OK)
        st = take_kernel(ctx, use, kernel, w);
    if (st == EVAL_OK)
        st = take_values(ctx, use, "strides", n, w->stride);
    if (st == EVAL_OK)
        st = take_values(ctx, use, "dilations", n, w->dilation);
    return st == EVAL_OK ? take_pads(ctx, use, w) : st;
}

int64_t evl_stencil_reach(const evl_stencil *w, int d)
{
    return (w->kernel[d] - 1) * w->dilation[d] + 1;
}

static int64_t ceil_divide(int64_t n, int64_t by)
{
    return n / by + (n % by > 0);
}

/* As many outputs as ceil(in / stride); what is missing is padded, half on each side. */
static void pad_same(evl_stencil *w, int d, padding how)
{
    w->out[d] = ceil_divide(w->in[d], w->stride[d]);
    int64_t total = (w->out[d] - 1) * w->stride[d] + evl_stencil_reach(w, d) - w->in[d];
    if (total < 0 || w->out[d] == 0)
        total = 0;
    w->begin[d] = how == SAME_UPPER ? total / 2 : total - total / 2;
    w->end[d] = total - w->begin[d];
}

static int64_t floor_divide(int64_t n, int64_t by)
{
    return n / by - (n % by < 0);
}

/* least: how many outputs there must be. */
static EvalStatus place(evl_context *ctx, evl_stencil *w, int d, padding how,
                        evl_stencil_rounding rounding, int64_t least)
{
    if (w->in[d] == EVL_UNKNOWN_DIM || w->kernel[d] == EVL_UNKNOWN_DIM) {
        w->out[d] = EVL_UNKNOWN_DIM;
        return EVAL_OK;
    }
    if (how == SAME_UPPER || how == SAME_LOWER) {
        pad_same(w, d, how);
        return EVAL_OK;
    }
    if (how == VALID)
        w->begin[d] = w->end[d] = 0;
    int64_t padded = w->in[d] + w->begin[d] + w->end[d], room = padded - evl_stencil_reach(w, d);
    bool is_ceil = rounding == EVL_STENCIL_CEIL; /* a part of a window counts there */
    w->out[d] = (is_ceil ? ceil_divide(room, w->stride[d]) : floor_divide(room, w->stride[d])) + 1;
    if (w->out[d] < least)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "the kernel reaches over %lld elements, expected at most the padded "
                        "input's %lld",
                        (long long)evl_stencil_reach(w, d), (long long)padded);
    /* A window that would begin in the padding behind the input is left out. */
    if (is_ceil && (w->out[d] - 1) * w->stride[d] >= w->in[d] + w->begin[d])
        w->out[d]--;
    return EVAL_OK;
}

EvalStatus evl_stencil_of(evl_context *ctx, const evl_use *use, const evl_shape *x,
                          const int64_t *kernel, evl_stencil_rounding rounding, evl_stencil *w)
{
    padding how = EXPLICIT;
    EvalStatus st = padding_of(ctx, use, &how);
    if (st == EVAL_OK)
        st = evl_stencil_attributes(ctx, use, x, kernel, w);
    for (int d = DIMS - (st == EVAL_OK ? w->n : 0); d < DIMS && st == EVAL_OK; d++)
        st = place(ctx, w, d, how, rounding, kernel != NULL);
    return st;
}

int64_t evl_stencil_cells(const evl_stencil *w, int d, int64_t out, bool counts_padding)
{
    int64_t from = counts_padding ? -w->begin[d] : 0, n = 0;
    int64_t to = w->in[d] + (counts_padding ? w->end[d] : 0);
    for (int64_t k = 0; k < w->kernel[d]; k++) {
        int64_t at = out * w->stride[d] - w->begin[d] + k * w->dilation[d];
        n += at >= from && at < to;
    }
    return n;
}

static size_t product(const int64_t *sizes)
{
    size_t n = 1;
    for (int d = 0; d < DIMS; d++)
        n *= (size_t)sizes[d];
    return n;
}

size_t evl_stencil_kernel(const evl_stencil *w)
{
    return product(w->kernel);
}

size_t evl_stencil_in(const evl_stencil *w)
{
    return product(w->in);
}

size_t evl_stencil_out(const evl_stencil *w)
{
    return product(w->out);
}

evl_shape evl_stencil_shape(const evl_stencil *w, int64_t batch, int64_t channels)
{
    int64_t dims[2 + DIMS] = { batch, channels };
    for (int32_t i = 0; i < w->n; i++)
        dims[2 + i] = w->out[DIMS - w->n + i];
    return evl_shape_of((size_t)w->n + 2, dims);
}
