/* attention.h - what the operators of attention ask for, without arithmetic:
** Y = softmax(cap(scale * Q K') + bias) V for each head of each sample, where keys that a
** mask, the causal frontier or a window excludes have no weight. */
#ifndef EVL_OPS_ATTENTION_H
#define EVL_OPS_ATTENTION_H
#include "ir/op.h"

/* Where an operand's elements are, in elements: the first, and from one sample, head, row
** and column to the next. */
typedef struct evl_attention_steps {
    size_t at, sample, head, row, column;
} evl_attention_steps;

/* What the output of scores holds: as ONNX numbers them. */
typedef enum evl_attention_scores {
    EVL_SCORES_PLAIN,   /* scale * Q K' */
    EVL_SCORES_CAPPED,  /* and capped */
    EVL_SCORES_BIASED,  /* and masked */
    EVL_SCORES_WEIGHTS  /* after softmax */
} evl_attention_scores;

enum { EVL_ATTENTION_Y, EVL_ATTENTION_PRESENT_K, EVL_ATTENTION_PRESENT_V, EVL_ATTENTION_SCORES };

/* Inputs by what they are for: SIZE_MAX where the operator has none. */
typedef struct evl_attention_inputs {
    size_t q, k, v, past_k, past_v;
    size_t bias;   /* real, added to scores */
    size_t mask;   /* bool, or int32: 0 excludes */
    size_t valid;  /* how many keys each sample has: int64 or int32 */
} evl_attention_inputs;

/* Q has n_q rows, K and V n_k, past ones included; `group` heads of Q share one of K. */
typedef struct evl_attention {
    evl_attention_inputs in;
    size_t samples, heads, group, n_q, n_k, n_past, size, size_v;
    evl_attention_steps q, k, v, y, mask, bias, scores;
    evl_attention_steps new_k, new_v; /* the inputs; k and v are what joins past to them */
    double scale, cap;                /* cap 0: none */
    int64_t left, right;              /* of a window; -1: none */
    bool is_causal;
    size_t n_mask;                    /* keys that mask or bias has: others are excluded */
    evl_attention_scores which;
    double excluded;                  /* where a mask is 0: added if that is int32, else the score */
    double of_none;                   /* Y of a row that sees no key */
} evl_attention;

/* Of known shapes. */
EVL_MUST_USE EvalStatus evl_attention_of(evl_context *, const evl_use *, evl_attention *);
EVL_MUST_USE EvalStatus evl_attention_of_fused(evl_context *, const evl_use *, evl_attention *);

/* Input `input` becomes mask or bias, broadcast to [samples, heads, n_q, n_k]; may_be_short:
** it may have fewer keys. */
EVL_MUST_USE EvalStatus evl_attention_mask(evl_context *, const evl_use *, size_t input,
                                           bool may_be_short, evl_attention *);

/* Keys first .. end-1 are what row i of a sample may see. */
typedef struct evl_attention_range {
    size_t first, end;
} evl_attention_range;
evl_attention_range evl_attention_range_of(const evl_attention *, const evl_tensor *valid,
                                           size_t sample, size_t i);

/* Past rows, then new ones, side by side. past NULL: there are none. */
void evl_attention_join(const evl_attention *, const evl_attention_steps *of, size_t size,
                        size_t element, const void *past, const void *from, void *to);

/* FusedAttention is what a pass makes of softmax(scale * Q K' + mask) V (domain "evl").
** Inputs Q, K, V and perhaps a mask or bias; all but that are seen through transpositions,
** attributes perm_q, perm_k, perm_v and perm_y; attributes scale and excluded. */
extern const evl_op evl_op_attention, evl_op_fused_attention;
#endif
