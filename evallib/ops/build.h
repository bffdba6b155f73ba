/* build.h - append nodes to a graph: what readers and passes call.
**
** A builder keeps the first failure and then does nothing more, so that a chain of
** calls needs one check at its end. */
#ifndef EVL_OPS_BUILD_H
#define EVL_OPS_BUILD_H
#include "ops/ops.h"

typedef struct evl_builder {
    evl_context *ctx;
    evl_graph *graph;
    EvalStatus status;
} evl_builder;

/* A node with one output, called name ("" or NULL: nothing), its type and shape
** inferred. NULL after a failure, and when an input is NULL because of one. */
evl_value *evl_build(evl_builder *, const evl_op *, const char *name, evl_value *const *inputs,
                     size_t n_inputs, const evl_attribute *attributes, size_t n_attributes);
evl_value *evl_build_1(evl_builder *, const evl_op *, const char *name, evl_value *x);
evl_value *evl_build_2(evl_builder *, const evl_op *, const char *name, evl_value *x, evl_value *y);

/* Constants, copied into the graph's arena. */
evl_value *evl_build_number(evl_builder *, EvalType, double); /* a scalar */
evl_value *evl_build_ints(evl_builder *, const int64_t *, size_t n); /* int64, rank 1 */
evl_value *evl_build_reshape(evl_builder *, const char *name, evl_value *x, const int64_t *dims,
                             size_t n); /* ONNX Reshape: 0 keeps, -1 is inferred */
#endif
