/* conv.h - what Conv and ConvTranspose ask for, without arithmetic. */
#ifndef EVL_OPS_CONV_H
#define EVL_OPS_CONV_H
#include "evallib/plugin.h"
#include "ops/stencil.h"

/* A transposed convolution is kept as the convolution it turns round: its stencil goes
** from the output (stencil.in) to the input (stencil.out). Channels are of one group. */
typedef struct evl_conv {
    evl_stencil stencil;
    size_t batch, groups;
    size_t in_channels, out_channels;
    size_t in_plane, out_plane, kernel; /* elements; planes of the node's input and output */
} evl_conv;

/* The shape of output 0 of a convolution, from inputs 0, 1 and, for the bias, 2. */
EVL_MUST_USE EvalStatus evl_infer_conv(evl_infer *);

/* Of known shapes that infer let pass. */
EVL_MUST_USE EvalStatus evl_conv_of(evl_context *, const evl_use *, evl_conv *);
EVL_MUST_USE EvalStatus evl_conv_transpose_of(evl_context *, const evl_use *, evl_conv *);

/* As a plug-in's kernel is shown it; whether there is one that takes it. */
EvalConvolution evl_conv_shown(const evl_conv *);
bool evl_conv_is_foreign(const evl_machine *, const evl_conv *);
#endif
