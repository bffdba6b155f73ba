/* blocked_conv.h - what the strategies of BlockedConv share; for *_real.c files. */
#ifndef EVL_OPS_BLOCKED_CONV_H
#define EVL_OPS_BLOCKED_CONV_H
#include "kernels/blocked.h"
#include "ops/blocked.h"
#include "ops/operands.h"
#include "real.h"

/* How weights are packed. */
typedef struct evl_conv_packing {
    const evl_blocked_conv *conv;
    const real *scale; /* of each output channel; NULL: 1 */
    const evl_blocked_kernels *k;
    size_t m;          /* Winograd's */
} evl_conv_packing;

evl_conv_packing TWIN(evl_conv_packing_of)(const evl_prepare *, const evl_blocked_conv *);

/* The bias with every group filled up to pairs of blocks, in the arena; NULL: there is none. */
EvalStatus TWIN(evl_blocked_bias)(evl_prepare *, const evl_blocked_conv *, const real **bias);

/* Packed weights, of these sizes and this scale: a constant of the model, as they are. */
static inline EvalStatus evl_conv_block(evl_prepare *p, const evl_blocked_conv *c, const char *name,
                                        size_t bytes,
                                        void (*make)(void *, const evl_tensor *, const void *),
                                        const evl_conv_packing *how, const void **block)
{
    const evl_tensor *scale = evl_use_in(&p->use, EVL_CONV_SCALE);
    enum { MOST_LANES = 64 };
    const char *kind = evl_prepare_kind(p, name, c->groups, c->out_channels,
                                        c->in_channels * MOST_LANES + c->lanes);
    if (!kind)
        return evl_no_memory(p->ctx);
    return evl_prepare_block(p, EVL_CONV_WEIGHTS, kind, scale ? (uint64_t)(uintptr_t)scale->data : 0,
                             bytes, make, how, block);
}

/* The m of F(m x m, 3 x 3) that pays; 0: none. */
size_t TWIN(evl_winograd_fits)(const evl_machine *, const evl_blocked_conv *);
EvalStatus TWIN(evl_winograd_prepare)(evl_prepare *, const evl_blocked_conv *, size_t m);
#endif
