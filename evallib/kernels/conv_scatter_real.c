/* The transposed convolution's second half: what its product made is added up. */
#include "kernels/conv_parts.h"

/* One kernel position, all windows: `at` is where the window at 0 looks with it. */
static void add_plane(const evl_stencil *w, const int64_t *at, const real *columns, real *y)
{
    evl_conv_range z = evl_conv_range_of(w, 0, at[0]), row = evl_conv_range_of(w, 1, at[1]);
    evl_conv_range x = evl_conv_range_of(w, 2, at[2]);
    for (int64_t i = z.from; i < z.to; i++)
        for (int64_t j = row.from; j < row.to; j++) {
            int64_t line = (i * w->stride[0] + at[0]) * w->in[1] + j * w->stride[1] + at[1];
            const real *from = columns + (i * w->out[1] + j) * w->out[2];
            real *to = y + line * w->in[2] + at[2];
            for (int64_t q = x.from; q < x.to; q++)
                to[q * w->stride[2]] += from[q];
        }
}

void SET(evl_conv_scatter)(const evl_stencil *w, const real *columns, real *y)
{
    size_t plane = (size_t)(w->out[0] * w->out[1] * w->out[2]);
    for (int64_t kz = 0; kz < w->kernel[0]; kz++)
        for (int64_t ky = 0; ky < w->kernel[1]; ky++)
            for (int64_t kx = 0; kx < w->kernel[2]; kx++, columns += plane) {
                int64_t at[] = { kz * w->dilation[0] - w->begin[0],
                                 ky * w->dilation[1] - w->begin[1],
                                 kx * w->dilation[2] - w->begin[2] };
                add_plane(w, at, columns, y);
            }
}
