/* stencil.h - a node's window: kernel, strides, dilations and padding, with auto_pad
** resolved. A size that is not known is -1, and so is what follows from it. */
#ifndef EVL_OPS_STENCIL_H
#define EVL_OPS_STENCIL_H
#include "ir/op.h"
#include "kernels/stencil.h"

typedef enum evl_stencil_rounding { EVL_STENCIL_FLOOR, EVL_STENCIL_CEIL } evl_stencil_rounding;

/* Of input x with known rank, from the node's attributes. kernel: its sizes (-1 where
** not known), or NULL: kernel_shape has them, and must be there. It is a pool's then, whose
** windows may just miss the input: there is no output, but no failure either. */
EVL_MUST_USE EvalStatus evl_stencil_of(evl_context *, const evl_use *, const evl_shape *x,
                                       const int64_t *kernel, evl_stencil_rounding, evl_stencil *);

/* All but out, and padding as written: for a transposed convolution. */
EVL_MUST_USE EvalStatus evl_stencil_attributes(evl_context *, const evl_use *, const evl_shape *x,
                                               const int64_t *kernel, evl_stencil *);

/* How far a window reaches in dimension d: (kernel - 1) * dilation + 1. */
int64_t evl_stencil_reach(const evl_stencil *, int d);

/* Cells of the out-th window that count for a mean in dimension d: those inside the input, or
** also padding as it is written, but not what ceil_mode adds beyond it. */
int64_t evl_stencil_cells(const evl_stencil *, int d, int64_t out, bool counts_padding);

/* Elements of the kernel, of one input plane and of one output plane. */
size_t evl_stencil_kernel(const evl_stencil *);
size_t evl_stencil_in(const evl_stencil *);
size_t evl_stencil_out(const evl_stencil *);

/* A shape: two dimensions, then the window's output. */
evl_shape evl_stencil_shape(const evl_stencil *, int64_t batch, int64_t channels);
#endif
