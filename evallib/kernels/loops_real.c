/* The loops over real of one instruction set under one name. */
#include "kernels/loops_set.h"

const evl_loops SET(evl_loops) = {
    .unary = SET(evl_unary_loops),
    .binary = SET(evl_binary_loops),
    .compare = SET(evl_compare_loops),
    .reduce = SET(evl_reduce_loops),
    .axis = SET(evl_axis_loops),
    .arg = SET(evl_arg_lines),
    .top = SET(evl_top_lines),
    .normalize = SET(evl_normalize_row),
    .channels = SET(evl_normalize_channels),
    .local_response = SET(evl_local_response),
    .quantized = &SET(evl_quantize_loops),
    .integers = REAL_TYPE == EVAL_FLOAT32 ? &SET(evl_integer_kernels) : NULL,
};
