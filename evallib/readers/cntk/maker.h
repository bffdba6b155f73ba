/* maker.h - what the builders of operators share.
**
** A sample of CNTK shape [d0, d1, d2] is a value [d2, d1, d0] here: the same bytes, told
** row-major. A value that differs from frame to frame has the frames before: [T, d2, d1,
** d0], has_frames. So images are [T, C, H, W] as convolution wants them, and CNTK's
** broadcast from its first axis is the usual one from the last, once samples have one
** rank. In these helpers an axis is CNTK's, from 0, and counts no frames. */
#ifndef EVL_READERS_CNTK_MAKER_H
#define EVL_READERS_CNTK_MAKER_H
#include "ops/build.h"
#include "readers/cntk/model.h"

/* One node being built. A failure is the builder's; helpers then give NULL and do nothing. */
typedef struct evl_cntk_maker {
    evl_builder b;
    const evl_cntk_node *node;
    evl_value *const *in;  /* node->n_inputs operands */
    const bool *is_single; /* by operand: one frame for the whole sequence */
    const evl_cntk_model *model;
    int64_t state; /* of a delay: its number among the states; -1: not carried */
} evl_cntk_maker;

/* Makes the node's value, or gives an operand; the caller gives it the node's name. */
typedef evl_value *evl_cntk_build_op(evl_cntk_maker *);

/* What an operator is, or what a sample's shape follows from: for delays in loops whose
** file does not tell theirs. */
typedef enum evl_cntk_rule {
    EVL_CNTK_UNTOLD,
    EVL_CNTK_INPUT,     /* given by the caller */
    EVL_CNTK_CRITERION, /* a number that training looks at: no output unless named as one */
    EVL_CNTK_PAST,      /* a delay: as operand 0 */
    EVL_CNTK_FUTURE,
    EVL_CNTK_FIRST,   /* as operand 0 */
    EVL_CNTK_WIDEST,  /* operands broadcast */
    EVL_CNTK_PRODUCT, /* Times */
    EVL_CNTK_CUT      /* Slice */
} evl_cntk_rule;

struct evl_cntk_op {
    const char *name;
    uint8_t payload;          /* for the reader: how the file holds its fields */
    evl_cntk_build_op *build; /* NULL: read over, not offered */
    uint8_t n_inputs;         /* at least */
    uint8_t rule;
    const char *operator; /* for builders that serve several */
};

/* A failure; the caller adds which node. */
EVL_PRINTF(3, 4)
evl_value *evl_cntk_fail(evl_cntk_maker *, EvalStatus, const char *format, ...);

/* Samples. */
size_t evl_cntk_rank(const evl_value *);
int64_t evl_cntk_dim(const evl_value *, size_t axis); /* 1 past the last */
int64_t evl_cntk_sample_size(const evl_value *);
void evl_cntk_dims(const evl_value *, size_t n, int64_t *dims); /* the first n, padded with 1 */

/* Nodes. The declared type of floating-point values is the CNTK node's. */
evl_attribute evl_cntk_ints(evl_cntk_maker *, const char *name, const int64_t *, size_t n);
evl_value *evl_cntk_call(evl_cntk_maker *, const char *op, evl_value *const *in, size_t n_in,
                         const evl_attribute *, size_t n_attributes);
evl_value *evl_cntk_call_1(evl_cntk_maker *, const char *op, evl_value *x);
/* One of several outputs; the others are not wanted. */
evl_value *evl_cntk_call_output(evl_cntk_maker *, const char *op, evl_value *const *in, size_t n_in,
                                const evl_attribute *, size_t n_attributes, size_t n_out,
                                size_t output);
evl_value *evl_cntk_call_number(evl_cntk_maker *, const char *op, evl_value *x, double);

/* Operands are brought to one rank, then broadcast as CNTK does. */
evl_value *evl_cntk_call_2(evl_cntk_maker *, const char *op, evl_value *a, evl_value *b);
evl_value *evl_cntk_call_3(evl_cntk_maker *, const char *op, evl_value *a, evl_value *b,
                           evl_value *c);

/* Samples of another shape. */
evl_value *evl_cntk_reshape(evl_cntk_maker *, evl_value *x, const int64_t *dims, size_t n);
evl_value *evl_cntk_flatten(evl_cntk_maker *, evl_value *x); /* rank 1 */
/* Axes first .. end - 1 give way to n others, of which one may be EVL_UNKNOWN_DIM, whatever the
** call's sizes leave it; axes that stay may be unknown, too. */
evl_value *evl_cntk_replace(evl_cntk_maker *, evl_value *x, size_t first, size_t end,
                            const int64_t *dims, size_t n);
evl_value *evl_cntk_squeeze(evl_cntk_maker *, evl_value *x, const bool *is_gone); /* of size 1 */
evl_value *evl_cntk_like(evl_cntk_maker *, evl_value *x, const evl_value *like);
evl_value *evl_cntk_with_rank(evl_cntk_maker *, evl_value *x, size_t rank); /* 1s at the end */
/* Repeated for each frame of `like`, if that has frames and x has none. */
evl_value *evl_cntk_with_frames(evl_cntk_maker *, evl_value *x, evl_value *like);
/* Axis i of the result is axis axes[i] of x. */
evl_value *evl_cntk_permute(evl_cntk_maker *, evl_value *x, const size_t *axes, size_t n);

/* As int64; all elements of it, of rank 1 and without frames; how many frames there are. */
evl_value *evl_cntk_to_index(evl_cntk_maker *, evl_value *x);
evl_value *evl_cntk_flat_index(evl_cntk_maker *, evl_value *x);
evl_value *evl_cntk_frame_count(evl_cntk_maker *, evl_value *x);

/* Reduced over n axes of the sample, which become 1. */
evl_value *evl_cntk_reduce(evl_cntk_maker *, const char *op, evl_value *x, const size_t *axes,
                           size_t n);
evl_value *evl_cntk_reduce_sample(evl_cntk_maker *, const char *op, evl_value *x); /* to [1] */
evl_value *evl_cntk_reduce_all(evl_cntk_maker *, const char *op, evl_value *x);    /* frames too */
evl_value *evl_cntk_sum_frames(evl_cntk_maker *, evl_value *x); /* to a single one */
evl_value *evl_cntk_to_real(evl_cntk_maker *, evl_value *x);    /* false and true to 0 and 1 */

/* For operators that want a batch: one frame for a value that has none, and back. */
evl_value *evl_cntk_batched(evl_cntk_maker *, evl_value *x);
evl_value *evl_cntk_unbatched(evl_cntk_maker *, evl_value *y, const evl_value *x);

/* The range of axes[i] of a Slice over `size` elements; false: there is none. */
bool evl_cntk_slice_range(const evl_cntk_fields *, size_t i, int64_t size, int64_t *begin,
                          int64_t *end);
evl_value *evl_cntk_safe_log(evl_cntk_maker *, evl_value *x); /* as CNTK's Log */

/* The builders, by file. */
evl_cntk_build_op evl_cntk_unary, evl_cntk_binary, evl_cntk_identity, evl_cntk_compare,
    evl_cntk_not_equal, evl_cntk_log, evl_cntk_sqrt, evl_cntk_reciprocal, evl_cntk_clip,
    evl_cntk_if, evl_cntk_log_plus, evl_cntk_straight_through, evl_cntk_diag_times, evl_cntk_normalize,
    evl_cntk_denormalize; /* elementwise.c */
evl_cntk_build_op evl_cntk_times, evl_cntk_transpose_times, evl_cntk_lookup,
    evl_cntk_khatri_rao;                                          /* times.c */
evl_cntk_build_op evl_cntk_batch_normalization, evl_cntk_softmax; /* norm.c */
evl_cntk_build_op evl_cntk_convolution;                           /* convolution.c */
evl_cntk_build_op evl_cntk_pooling, evl_cntk_old_pooling;         /* pooling.c */
evl_cntk_build_op evl_cntk_unpooling, evl_cntk_roi_pooling;       /* image.c */
evl_cntk_build_op evl_cntk_crop;                                  /* crop.c */
evl_cntk_build_op evl_cntk_slice, evl_cntk_row_stack, evl_cntk_reshape_op, evl_cntk_legacy_reshape,
    evl_cntk_transpose, evl_cntk_row_repeat, evl_cntk_diagonal; /* layout.c */
evl_cntk_build_op evl_cntk_where, evl_cntk_packed_index, evl_cntk_gather_packed,
    evl_cntk_scatter_packed, evl_cntk_reconcile; /* sequence.c */
evl_cntk_build_op evl_cntk_rnn_stack; /* rnn.c */
evl_cntk_build_op evl_cntk_reduce_elements, evl_cntk_reduce_frames, evl_cntk_sum_elements,
    evl_cntk_sum_columns, evl_cntk_l1, evl_cntk_l2, evl_cntk_cos_distance,
    evl_cntk_cos_distance_negative; /* reduce.c */
evl_cntk_build_op evl_cntk_cross_entropy_with_softmax, evl_cntk_cross_entropy,
    evl_cntk_square_error, evl_cntk_logistic, evl_cntk_classification_error, evl_cntk_class_entropy,
    evl_cntk_edit_distance, evl_cntk_ranking, evl_cntk_forward_backward; /* criterion.c */
evl_cntk_build_op evl_cntk_input, evl_cntk_parameter, evl_cntk_computed,
    evl_cntk_environment; /* source.c */
evl_cntk_build_op evl_cntk_random, evl_cntk_random_sample,
    evl_cntk_inclusion_frequency; /* random.c */
evl_cntk_build_op evl_cntk_delay;                                            /* delay.c */
#endif
