/* square.h - Det and Inverse: matrices that fill the last two dimensions. */
#ifndef EVL_OPS_SQUARE_H
#define EVL_OPS_SQUARE_H
#include "ir/op.h"

typedef struct evl_square {
    size_t n, count; /* rows of a matrix; matrices */
} evl_square;

EVL_MUST_USE EvalStatus evl_square_prepare(evl_prepare *); /* leaves an evl_square as state */
#endif
