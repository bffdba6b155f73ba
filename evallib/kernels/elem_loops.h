/* elem_loops.h - the tables of one integer type, which loops_elem.c gathers. */
#ifndef EVL_KERNELS_ELEM_LOOPS_H
#define EVL_KERNELS_ELEM_LOOPS_H
#include "kernels/elem_items.h"
#include "kernels/loops.h"

extern const evl_loops ELEM(evl_loops);
extern evl_unary_loop *const ELEM(evl_unary_loops)[EVL_N_UNARY];
extern evl_binary_loop *const ELEM(evl_binary_loops)[EVL_N_BINARY];
extern evl_compare_loop *const ELEM(evl_compare_loops)[EVL_N_COMPARE];
extern evl_reduce_loop *const ELEM(evl_reduce_loops)[EVL_N_REDUCE];
extern evl_axis_loop *const ELEM(evl_axis_loops)[EVL_N_AXIS];
evl_arg_loop ELEM(evl_arg_lines);
evl_top_loop ELEM(evl_top_lines);
evl_select_loop ELEM(evl_select);
#endif
