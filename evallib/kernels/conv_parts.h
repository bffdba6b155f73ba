/* conv_parts.h - what the files of conv.h's table share; nothing else includes it. */
#ifndef EVL_KERNELS_CONV_PARTS_H
#define EVL_KERNELS_CONV_PARTS_H
#include "kernels/set.h"

/* Output places from .. to-1 of dimension d look inside the input with a kernel position
** that is `shift` from the window's place; to <= from: none. */
typedef struct evl_conv_range {
    int64_t from, to;
} evl_conv_range;

static inline evl_conv_range evl_conv_range_of(const evl_stencil *w, int d, int64_t shift)
{
    int64_t stride = w->stride[d], last = w->in[d] - 1 - shift;
    evl_conv_range r = { shift < 0 ? (-shift + stride - 1) / stride : 0,
                         last < 0 ? 0 : last / stride + 1 };
    r.to = r.to < w->out[d] ? r.to : w->out[d];
    return r;
}

void SET(evl_conv_windows)(const void *arg, const evl_product_part *, real *panels);
void SET(evl_conv_scatter)(const evl_stencil *, const real *columns, real bias, real *y);
#endif
