/* ops.h - the operators there are. Readers find them by name; passes and readers
** that know what they want use the address. */
#ifndef EVL_OPS_OPS_H
#define EVL_OPS_OPS_H
#include "ir/op.h"

/* domain "" or NULL: ai.onnx. NULL: no such operator. */
const evl_op *evl_op_find(const char *domain, const char *name);
const evl_op *evl_op_at(size_t index); /* NULL past the last */

/* The families, one file each: what ops.c gathers. Ended by NULL. */
extern const evl_op *const evl_ops_activation[];
extern const evl_op *const evl_ops_alignment[];
extern const evl_op *const evl_ops_arg[];
extern const evl_op *const evl_ops_attention[];
extern const evl_op *const evl_ops_binary[];
extern const evl_op *const evl_ops_bitcast[];
extern const evl_op *const evl_ops_cast[];
extern const evl_op *const evl_ops_causal_conv[];
extern const evl_op *const evl_ops_compare[];
extern const evl_op *const evl_ops_control[];
extern const evl_op *const evl_ops_conv[];
extern const evl_op *const evl_ops_conv_integer[];
extern const evl_op *const evl_ops_crop[];
extern const evl_op *const evl_ops_deform[];
extern const evl_op *const evl_ops_draw[];
extern const evl_op *const evl_ops_edit_distance[];
extern const evl_op *const evl_ops_einsum[];
extern const evl_op *const evl_ops_encoder[];
extern const evl_op *const evl_ops_ensemble[];
extern const evl_op *const evl_ops_expand[];
extern const evl_op *const evl_ops_features[];
extern const evl_op *const evl_ops_fourier[];
extern const evl_op *const evl_ops_generate[];
extern const evl_op *const evl_ops_grid[];
extern const evl_op *const evl_ops_image[];
extern const evl_op *const evl_ops_indexing[];
extern const evl_op *const evl_ops_join[];
extern const evl_op *const evl_ops_layout[];
extern const evl_op *const evl_ops_linear[];
extern const evl_op *const evl_ops_linear_attention[];
extern const evl_op *const evl_ops_logic[];
extern const evl_op *const evl_ops_loop[];
extern const evl_op *const evl_ops_loss[];
extern const evl_op *const evl_ops_maps[];
extern const evl_op *const evl_ops_matmul[];
extern const evl_op *const evl_ops_matmul_integer[];
extern const evl_op *const evl_ops_nested[];
extern const evl_op *const evl_ops_norm[];
extern const evl_op *const evl_ops_norm_axes[];
extern const evl_op *const evl_ops_optional[];
extern const evl_op *const evl_ops_pad[];
extern const evl_op *const evl_ops_pool[];
extern const evl_op *const evl_ops_qlinear[];
extern const evl_op *const evl_ops_quantize[];
extern const evl_op *const evl_ops_ranking[];
extern const evl_op *const evl_ops_recurrent[];
extern const evl_op *const evl_ops_reduce[];
extern const evl_op *const evl_ops_regex[];
extern const evl_op *const evl_ops_resize[];
extern const evl_op *const evl_ops_reverse[];
extern const evl_op *const evl_ops_roi[];
extern const evl_op *const evl_ops_rotary[];
extern const evl_op *const evl_ops_scatter[];
extern const evl_op *const evl_ops_select[];
extern const evl_op *const evl_ops_sequence[];
extern const evl_op *const evl_ops_shape[];
extern const evl_op *const evl_ops_slice[];
extern const evl_op *const evl_ops_softmax[];
extern const evl_op *const evl_ops_split_sequence[];
extern const evl_op *const evl_ops_square[];
extern const evl_op *const evl_ops_strings[];
extern const evl_op *const evl_ops_suppress[];
extern const evl_op *const evl_ops_svm[];
extern const evl_op *const evl_ops_tensor_scatter[];
extern const evl_op *const evl_ops_tfidf[];
extern const evl_op *const evl_ops_top[];
extern const evl_op *const evl_ops_transpose[];
extern const evl_op *const evl_ops_trilu[];
extern const evl_op *const evl_ops_unary[];
extern const evl_op *const evl_ops_unique[];
extern const evl_op *const evl_ops_unpool[];
extern const evl_op *const evl_ops_variadic[];
extern const evl_op *const evl_ops_where[];
extern const evl_op *const evl_ops_window[];

/* By address, a line a family. */
extern const evl_op evl_op_abs, evl_op_neg, evl_op_exp, evl_op_log, evl_op_sqrt, evl_op_reciprocal,
    evl_op_sigmoid, evl_op_tanh, evl_op_erf, evl_op_floor, evl_op_sin, evl_op_cos, evl_op_relu;
extern const evl_op evl_op_add, evl_op_sub, evl_op_mul, evl_op_div, evl_op_pow, evl_op_min,
    evl_op_max;
extern const evl_op evl_op_equal, evl_op_greater, evl_op_less, evl_op_greater_or_equal,
    evl_op_less_or_equal;
extern const evl_op evl_op_not, evl_op_and, evl_op_or, evl_op_where;
extern const evl_op evl_op_cast;
extern const evl_op evl_op_elu, evl_op_leaky_relu, evl_op_hard_sigmoid, evl_op_hard_swish,
    evl_op_prelu, evl_op_clip;
extern const evl_op evl_op_matmul, evl_op_gemm;
extern const evl_op evl_op_conv, evl_op_conv_transpose;
extern const evl_op evl_op_max_pool, evl_op_average_pool, evl_op_global_average_pool,
    evl_op_global_max_pool;
extern const evl_op evl_op_batch_normalization, evl_op_instance_normalization,
    evl_op_layer_normalization, evl_op_rms_normalization;
extern const evl_op evl_op_softmax, evl_op_log_softmax;
extern const evl_op evl_op_reduce_sum, evl_op_reduce_mean, evl_op_reduce_max, evl_op_reduce_min,
    evl_op_reduce_prod, evl_op_arg_max, evl_op_arg_min;
extern const evl_op evl_op_reshape, evl_op_flatten, evl_op_squeeze, evl_op_unsqueeze,
    evl_op_identity, evl_op_transpose, evl_op_concat, evl_op_split, evl_op_slice, evl_op_pad,
    evl_op_expand, evl_op_tile;
extern const evl_op evl_op_gather, evl_op_gather_elements, evl_op_gather_nd, evl_op_non_zero,
    evl_op_one_hot;
extern const evl_op evl_op_scatter_nd, evl_op_scatter_elements;
extern const evl_op evl_op_resize;
extern const evl_op evl_op_lstm, evl_op_gru, evl_op_rnn;
extern const evl_op evl_op_dropout;
extern const evl_op evl_op_constant, evl_op_constant_of_shape, evl_op_range;
extern const evl_op evl_op_shape, evl_op_size;
extern const evl_op evl_op_if, evl_op_loop, evl_op_scan, evl_op_sequence_map;
extern const evl_op evl_op_dequantize_linear;
extern const evl_op evl_op_qlinear_conv, evl_op_qlinear_matmul, evl_op_matmul_integer_to_float,
    evl_op_qgemm, evl_op_qlinear_add, evl_op_qlinear_mul;
extern const evl_op evl_op_quantize_linear;

/* Sequences of frames (domain "evl"), what CNTK's delays become:
**
** Delay: y[t] = x[t - offset]; before the first frame, or after the last (offset < 0),
** the initial value. Attributes: offset, initial (number), state (its number among
** the graph's states; -1: FutureValue carries none).
**
** Recurrence: runs `body` frame by frame, from the last when `backward` is 1. Inputs:
** sequences; the body's inputs are one frame of each ([1, ...]) and then one delayed
** frame for each entry of delay_output. Outputs: the body's outputs, all frames.
** delay_output[i] names the body's output that delayed input i shows, delay_offset[i]
** (>= 1) how many steps ago, delay_initial[i] what stands before the first step,
** delay_state[i] its number among the graph's states (-1: not carried). */
extern const evl_op evl_op_delay, evl_op_recurrence;

/* Numbers that CNTK judges a network by (domain "evl"): their files tell. */
extern const evl_op evl_op_alignment, evl_op_edit_distance, evl_op_ranking;
#endif
