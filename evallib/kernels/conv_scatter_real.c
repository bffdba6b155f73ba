/* The transposed convolution's second half: what its product made is added up, row by row of
** windows, so that the rows of y that these see stay in the first cache. */
#include "kernels/conv_parts.h"

/* Windows from .. to-1 of a row, `step` apart in y. */
static void add(const real *from, size_t step, evl_conv_range r, real *y)
{
    if (step == 1)
        for (int64_t q = r.from; q < r.to; q++)
            y[q] += from[q];
    else
        for (int64_t q = r.from; q < r.to; q++)
            y[q * (int64_t)step] += from[q];
}

/* Two kernel positions beside each other, windows two apart: they fill y without a gap. */
static void add_both(const real *left, const real *right, evl_conv_range r, real *restrict y)
{
    for (int64_t q = r.from; q < r.to; q++) {
        y[2 * q] += left[q];
        y[2 * q + 1] += right[q];
    }
}

/* One row of a kernel, one row of windows; kernel positions are a plane apart. */
static void add_row(const evl_stencil *w, const real *from, size_t plane, real *row)
{
    size_t step = (size_t)w->stride[2];
    for (int64_t x = 0; x < w->kernel[2]; x++, from += plane) {
        int64_t at = x * w->dilation[2] - w->begin[2];
        evl_conv_range left = evl_conv_range_of(w, 2, at), right = evl_conv_range_of(w, 2, at + 1);
        evl_conv_range both = { left.from, right.to };
        bool is_pair = step == 2 && w->dilation[2] == 1 && x + 1 < w->kernel[2] && both.from < both.to;
        if (!is_pair) {
            add(from, step, left, row + at);
            continue;
        }
        add(from, step, (evl_conv_range){ both.to, left.to }, row + at);
        add_both(from, from + plane, both, row + at);
        x++;
        from += plane;
        add(from, step, (evl_conv_range){ right.from, both.from }, row + at + 1);
    }
}

/* One row of windows, all kernel positions. */
static void add_windows(const evl_stencil *w, int64_t slice, int64_t line, const real *from, real *y)
{
    size_t plane = (size_t)(w->out[0] * w->out[1] * w->out[2]);
    for (int64_t kz = 0; kz < w->kernel[0]; kz++)
        for (int64_t ky = 0; ky < w->kernel[1]; ky++, from += plane * (size_t)w->kernel[2]) {
            int64_t z = slice * w->stride[0] + kz * w->dilation[0] - w->begin[0];
            int64_t row = line * w->stride[1] + ky * w->dilation[1] - w->begin[1];
            if (z >= 0 && z < w->in[0] && row >= 0 && row < w->in[1])
                add_row(w, from, plane, y + (z * w->in[1] + row) * w->in[2]);
        }
}

void SET(evl_conv_scatter)(const evl_stencil *w, const real *columns, real bias, real *y)
{
    int64_t plane = w->in[0] * w->in[1] * w->in[2];
    for (int64_t i = 0; i < plane; i++)
        y[i] = bias;
    for (int64_t slice = 0; slice < w->out[0]; slice++)
        for (int64_t line = 0; line < w->out[1]; line++, columns += w->out[2])
            add_windows(w, slice, line, columns, y);
}
