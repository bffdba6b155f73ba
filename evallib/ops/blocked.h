/* blocked.h - operators over blocked channels: the plan's own, put in by passes/block.c.
**
** A blocked tensor is [N, blocks, spatial sizes ..., lanes] (kernels/blocked.h). Block and
** Unblock turn a tensor into one and back; the attribute `lanes` says how wide blocks are.
**
** BlockedConv takes x, weights and, each may be missing, a bias, a scale of the output
** channels and a residual that is added: clip(f(scale * (x * weights) + bias + residual)).
** Weights, bias and scale are constant. Its attributes are those of the Conv it stands
** for and `lanes`, `least`, `most`; x is not blocked when it has fewer channels than lanes.
**
** BlockedMaxPool and BlockedAveragePool are MaxPool and AveragePool. */
#ifndef EVL_OPS_BLOCKED_H
#define EVL_OPS_BLOCKED_H
#include "ops/bands.h"

typedef struct evl_blocked_conv {
    evl_stencil window;
    size_t batch, groups, lanes;
    size_t in_channels, out_channels; /* of one group */
    bool is_thin;                     /* x is not blocked */
    bool clips;                       /* to least .. most */
    double least, most;
} evl_blocked_conv;

enum { EVL_CONV_X, EVL_CONV_WEIGHTS, EVL_CONV_BIAS, EVL_CONV_SCALE, EVL_CONV_RESIDUAL, EVL_CONV_INPUTS };

/* Of a BlockedConv with known shapes. */
EVL_MUST_USE EvalStatus evl_blocked_conv_of(evl_context *, const evl_use *, evl_blocked_conv *);

/* Whether a Conv, MaxPool or AveragePool, with known shapes, can be turned into its
** blocked form with blocks of `lanes`. */
bool evl_can_block_conv(evl_context *, const evl_use *, size_t lanes);
bool evl_can_block_pool(evl_context *, const evl_use *);

/* The window of a blocked pooling. */
EVL_MUST_USE EvalStatus evl_blocked_pool_of(evl_context *, const evl_use *, evl_stencil *);

extern const evl_op evl_op_block, evl_op_unblock, evl_op_blocked_conv, evl_op_blocked_max_pool,
    evl_op_blocked_average_pool;
#endif
