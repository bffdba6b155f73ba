/* stencil.h - where windows of a convolution or a pooling lie.
**
** One, two or three spatial dimensions, kept as three: those left out come first, with
** size 1. */
#ifndef EVL_KERNELS_STENCIL_H
#define EVL_KERNELS_STENCIL_H
#include <stdint.h>

enum { EVL_STENCIL_DIMS = 3 };

typedef struct evl_stencil {
    int32_t n; /* spatial dimensions that the operator has */
    int64_t in[EVL_STENCIL_DIMS], kernel[EVL_STENCIL_DIMS], stride[EVL_STENCIL_DIMS],
        dilation[EVL_STENCIL_DIMS], begin[EVL_STENCIL_DIMS], end[EVL_STENCIL_DIMS],
        out[EVL_STENCIL_DIMS];
} evl_stencil;
#endif
