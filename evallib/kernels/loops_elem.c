/* The loops over one integer type under one name. */
#include "kernels/elem_loops.h"

const evl_loops ELEM(evl_loops) = {
    .unary = ELEM(evl_unary_loops),
    .binary = ELEM(evl_binary_loops),
    .compare = ELEM(evl_compare_loops),
    .reduce = ELEM(evl_reduce_loops),
    .axis = ELEM(evl_axis_loops),
    .arg = ELEM(evl_arg_lines),
    .top = ELEM(evl_top_lines),
    .select = ELEM(evl_select),
};
