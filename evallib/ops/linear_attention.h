/* linear_attention.h - what LinearAttention (ONNX 27) asks for: a state [size, size_v] of
** each head that every row decays, corrects, adds to and reads. */
#ifndef EVL_OPS_LINEAR_ATTENTION_H
#define EVL_OPS_LINEAR_ATTENTION_H
#include "ir/op.h"

enum {
    EVL_LINEAR_Q, EVL_LINEAR_K, EVL_LINEAR_V, EVL_LINEAR_PAST, EVL_LINEAR_DECAY, EVL_LINEAR_BETA
};

typedef struct evl_linear_attention {
    size_t samples, heads, group, rows, size, size_v; /* heads: of K and V */
    size_t decays, betas; /* a row: heads or heads * size; heads or 1; 0: none */
    double scale;
} evl_linear_attention;

/* Of known shapes. */
EVL_MUST_USE EvalStatus evl_linear_attention_of(evl_context *, const evl_use *,
                                                evl_linear_attention *);
#endif
