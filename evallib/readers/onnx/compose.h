/* compose.h - operators that are others in a row: the reader writes those instead, and passes
** find what of them is fast together. */
#ifndef EVL_READERS_ONNX_COMPOSE_H
#define EVL_READERS_ONNX_COMPOSE_H
#include "readers/onnx/onnx.h"

/* The draft ends as the last of the nodes. */
typedef struct evl_composing {
    evl_onnx_putter put;
    evl_onnx_draft *d;
} evl_composing;

/* NULL: left out, or an output nobody wants. */
evl_value *evl_compose_in(const evl_composing *, size_t input);
evl_value *evl_compose_out(const evl_composing *, size_t output);

/* An attribute of the draft. */
const evl_attribute *evl_compose_attribute(const evl_composing *, const char *name);
int64_t evl_compose_int(const evl_composing *, const char *name, int64_t fallback);
double evl_compose_number(const evl_composing *, const char *name, double fallback);

/* Nodes in front; a failure is kept, and nothing done after it. */
evl_value *evl_compose_1(evl_composing *, const char *op, evl_value *x);
evl_value *evl_compose_2(evl_composing *, const char *op, evl_value *x, evl_value *y);
evl_value *evl_compose_constant(evl_composing *, double);       /* float32, a scalar */
evl_value *evl_compose_ints(evl_composing *, const int64_t *, size_t n); /* int64, rank 1 */

evl_value *evl_compose_bytes(evl_composing *, const evl_shape *, const uint8_t *); /* uint8 */

/* x with y added, when there is one. */
evl_value *evl_compose_added(evl_composing *, evl_value *x, evl_value *y);

/* The draft becomes that operator of ai.onnx. Attributes are copied, not what they point to. */
EVL_MUST_USE EvalStatus evl_compose_end(evl_composing *, const char *op, evl_value *const *inputs,
                                        size_t n_inputs, const evl_attribute *, size_t n_attributes);

typedef EvalStatus evl_compose(evl_composing *);
evl_compose evl_compose_attention, evl_compose_few_bits, evl_compose_flex_attention,
    evl_compose_gather_blocks, evl_compose_group_query_attention, evl_compose_multi_head_attention;
#endif
