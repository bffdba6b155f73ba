/* maker.h - what the builders of operators share.
**
** A sample of CNTK shape [d0, d1, d2] is a value [d2, d1, d0] here: the same bytes, told
** row-major. A value that differs from frame to frame has the frames before: [T, d2, d1,
** d0], has_frames. So images are [T, C, H, W] as convolution wants them, and CNTK's
** broadcast from its first axis is the usual one from the last, once samples have one
** rank. In these helpers an axis is CNTK's, from 0, and counts no frames. */
#ifndef EVL_READERS_CNTK1_MAKER_H
#define EVL_READERS_CNTK1_MAKER_H
#include "ops/build.h"
#include "readers/cntk1/model.h"

/* One node being built. A failure is the builder's; helpers then give NULL and do nothing. */
typedef struct evl_cntk1_maker {
    evl_builder b;
    const evl_cntk1_node *node;
    evl_value *const *in; /* node->n_inputs operands */
    bool is_old_variance; /* the file holds 1 / deviation in place of variances */
    int64_t state;        /* of a delay: its number among the states; -1: not carried */
} evl_cntk1_maker;

/* Makes the node's value, or gives an operand; the caller gives it the node's name. */
typedef evl_value *evl_cntk1_build_op(evl_cntk1_maker *);

/* A failure; the caller adds which node. */
EVL_PRINTF(3, 4)
evl_value *evl_cntk1_fail(evl_cntk1_maker *, EvalStatus, const char *format, ...);

/* Samples. */
size_t evl_cntk1_rank(const evl_value *);
int64_t evl_cntk1_dim(const evl_value *, size_t axis); /* 1 past the last */
int64_t evl_cntk1_sample_size(const evl_value *);
void evl_cntk1_dims(const evl_value *, size_t n, int64_t *dims); /* the first n, padded with 1 */

/* Nodes. The declared type of floating-point values is the CNTK node's. */
evl_attribute evl_cntk1_ints(evl_cntk1_maker *, const char *name, const int64_t *, size_t n);
evl_value *evl_cntk1_call(evl_cntk1_maker *, const char *op, evl_value *const *in, size_t n_in,
                          const evl_attribute *, size_t n_attributes);
evl_value *evl_cntk1_call_1(evl_cntk1_maker *, const char *op, evl_value *x);
evl_value *evl_cntk1_call_number(evl_cntk1_maker *, const char *op, evl_value *x, double);

/* Operands are brought to one rank, then broadcast as CNTK does. */
evl_value *evl_cntk1_call_2(evl_cntk1_maker *, const char *op, evl_value *a, evl_value *b);
evl_value *evl_cntk1_call_3(evl_cntk1_maker *, const char *op, evl_value *a, evl_value *b,
                            evl_value *c);

/* Samples of another shape. */
evl_value *evl_cntk1_reshape(evl_cntk1_maker *, evl_value *x, const int64_t *dims, size_t n);
evl_value *evl_cntk1_flatten(evl_cntk1_maker *, evl_value *x); /* rank 1 */
evl_value *evl_cntk1_like(evl_cntk1_maker *, evl_value *x, const evl_value *like);
evl_value *evl_cntk1_with_rank(evl_cntk1_maker *, evl_value *x, size_t rank); /* 1s at the end */
/* Repeated for each frame of `like`, if that has frames and x has none. */
evl_value *evl_cntk1_with_frames(evl_cntk1_maker *, evl_value *x, evl_value *like);
/* Axis i of the result is axis axes[i] of x. */
evl_value *evl_cntk1_permute(evl_cntk1_maker *, evl_value *x, const size_t *axes, size_t n);

/* Reduced over n axes of the sample, which become 1. */
evl_value *evl_cntk1_reduce(evl_cntk1_maker *, const char *op, evl_value *x, const size_t *axes,
                            size_t n);
evl_value *evl_cntk1_reduce_sample(evl_cntk1_maker *, const char *op, evl_value *x); /* to [1] */
evl_value *evl_cntk1_reduce_all(evl_cntk1_maker *, const char *op, evl_value *x); /* frames too */
evl_value *evl_cntk1_to_real(evl_cntk1_maker *, evl_value *x); /* false and true to 0 and 1 */

/* For operators that want a batch: one frame for a value that has none, and back. */
evl_value *evl_cntk1_batched(evl_cntk1_maker *, evl_value *x);
evl_value *evl_cntk1_unbatched(evl_cntk1_maker *, evl_value *y, const evl_value *x);

/* The range of axes[i] of a Slice over `size` elements; false: there is none. */
bool evl_cntk1_slice_range(const evl_cntk1_fields *, size_t i, int64_t size, int64_t *begin,
                           int64_t *end);
evl_value *evl_cntk1_safe_log(evl_cntk1_maker *, evl_value *x); /* as CNTK's Log */

/* The builders, by file. */
evl_cntk1_build_op evl_cntk1_unary, evl_cntk1_binary, evl_cntk1_identity, evl_cntk1_compare,
    evl_cntk1_not_equal, evl_cntk1_log, evl_cntk1_sqrt, evl_cntk1_reciprocal, evl_cntk1_clip,
    evl_cntk1_if, evl_cntk1_log_plus, evl_cntk1_diag_times, evl_cntk1_normalize,
    evl_cntk1_denormalize; /* elementwise.c */
evl_cntk1_build_op evl_cntk1_times, evl_cntk1_transpose_times, evl_cntk1_lookup,
    evl_cntk1_khatri_rao;                                            /* times.c */
evl_cntk1_build_op evl_cntk1_batch_normalization, evl_cntk1_softmax; /* norm.c */
evl_cntk1_build_op evl_cntk1_convolution;                            /* convolution.c */
evl_cntk1_build_op evl_cntk1_pooling, evl_cntk1_old_pooling;         /* pooling.c */
evl_cntk1_build_op evl_cntk1_slice, evl_cntk1_row_stack, evl_cntk1_reshape_op,
    evl_cntk1_legacy_reshape, evl_cntk1_transpose, evl_cntk1_row_repeat,
    evl_cntk1_diagonal; /* layout.c */
evl_cntk1_build_op evl_cntk1_reduce_elements, evl_cntk1_sum_elements, evl_cntk1_sum_columns,
    evl_cntk1_l1, evl_cntk1_l2, evl_cntk1_cos_distance; /* reduce.c */
evl_cntk1_build_op evl_cntk1_cross_entropy_with_softmax, evl_cntk1_cross_entropy,
    evl_cntk1_square_error, evl_cntk1_logistic, evl_cntk1_classification_error; /* criterion.c */
evl_cntk1_build_op evl_cntk1_input, evl_cntk1_parameter, evl_cntk1_computed;    /* source.c */
evl_cntk1_build_op evl_cntk1_delay;                                             /* loop.c */
#endif
