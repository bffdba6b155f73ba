/* loops_set.h - the tables of one instruction set, which loops_real.c gathers. */
#ifndef EVL_KERNELS_LOOPS_SET_H
#define EVL_KERNELS_LOOPS_SET_H
#include "kernels/set.h"

extern evl_unary_loop *const SET(evl_unary_loops)[EVL_N_UNARY];
extern evl_binary_loop *const SET(evl_binary_loops)[EVL_N_BINARY];
extern evl_compare_loop *const SET(evl_compare_loops)[EVL_N_COMPARE];
extern evl_reduce_loop *const SET(evl_reduce_loops)[EVL_N_REDUCE];
extern evl_axis_loop *const SET(evl_axis_loops)[EVL_N_AXIS];
evl_binary_loop SET(evl_exp_of_difference); /* y = exp(a - b) */
evl_unary_loop SET(evl_exp_from);           /* y = exp(x - p[0]) */
/* of trigonometry_real.c, for the table of unary loops */
evl_unary_loop SET(evl_sin_loop), SET(evl_cos_loop), SET(evl_tan_loop), SET(evl_asin_loop),
    SET(evl_acos_loop), SET(evl_atan_loop), SET(evl_sinh_loop), SET(evl_cosh_loop),
    SET(evl_asinh_loop), SET(evl_acosh_loop), SET(evl_atanh_loop);
evl_arg_loop SET(evl_arg_lines);
evl_top_loop SET(evl_top_lines);
evl_normalize_loop SET(evl_normalize_row);
evl_channels_loop SET(evl_normalize_channels);
evl_window_loop SET(evl_local_response);
extern const evl_quantize_loops SET(evl_quantize_loops);
extern const evl_integer_kernels SET(evl_integer_kernels);
#endif
