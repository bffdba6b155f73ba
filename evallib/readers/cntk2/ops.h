/* ops.h - what the reader knows of primitive functions: one table, a line each, by their
** numbers; and the builders of those that v1 files do not have. */
#ifndef EVL_READERS_CNTK2_OPS_H
#define EVL_READERS_CNTK2_OPS_H
#include "readers/cntk/maker.h"

/* How the operands stand compared with those of v1's node of that name. */
typedef enum evl_cntk2_order {
    EVL_CNTK2_AS_IS,
    EVL_CNTK2_SWAPPED,      /* the first two */
    EVL_CNTK2_ENDS_SWAPPED, /* of three */
    EVL_CNTK2_FIRST_LAST    /* x, least, most: least, most, x */
} evl_cntk2_order;

typedef struct evl_cntk2_op {
    evl_cntk_op op;
    uint8_t order, frames;
} evl_cntk2_op;

enum {
    EVL_CNTK2_COMBINE = 44,
    EVL_CNTK2_BLOCK = 57,
    EVL_CNTK2_UNPACK_SEQUENCE = 72,
    EVL_CNTK2_TOP_K = 87
};

/* NULL: unknown. Combine and Block are there and have no builder: they are dissolved. */
const evl_cntk2_op *evl_cntk2_op_find(int64_t number);
extern const evl_cntk2_op evl_cntk2_input, evl_cntk2_parameter, evl_cntk2_user_function;

/* Axes as attributes tell them are numbers from 1; these are the others. */
enum {
    EVL_CNTK2_ALL_STATIC = 0,
    EVL_CNTK2_ALL = -1,
    EVL_CNTK2_SEQUENCE = -2,
    EVL_CNTK2_BATCH = -3,
    EVL_CNTK2_END = -4,
    EVL_CNTK2_FROM_END = -16 /* less k: the k-th from the end */
};
#endif
