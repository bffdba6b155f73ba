/* ops.h - the operators of networks of v1, in files and descriptions: one table, a line each. */
#ifndef EVL_READERS_CNTK_OPS_H
#define EVL_READERS_CNTK_OPS_H
#include "readers/cntk/maker.h"

/* How the bytes after a node's name are laid out. */
typedef enum evl_cntk1_payload {
    EVL_CNTK1_NOTHING,
    EVL_CNTK1_INPUT,
    EVL_CNTK1_PARAMETER,
    EVL_CNTK1_COMPUTED,
    EVL_CNTK1_TIMES,
    EVL_CNTK1_QUANTIZED_TIMES,
    EVL_CNTK1_BATCH_NORMALIZATION,
    EVL_CNTK1_CONVOLUTION,
    EVL_CNTK1_WINDOW,
    EVL_CNTK1_OLD_POOLING,
    EVL_CNTK1_DROPOUT,
    EVL_CNTK1_DELAY,
    EVL_CNTK1_SLICE,
    EVL_CNTK1_ROW_STACK,
    EVL_CNTK1_RESHAPE,
    EVL_CNTK1_LEGACY_RESHAPE,
    EVL_CNTK1_REDUCE,
    EVL_CNTK1_TRANSPOSE,
    EVL_CNTK1_ROW_REPEAT,
    EVL_CNTK1_WHERE,
    EVL_CNTK1_RNN,
    EVL_CNTK1_ROI_POOLING,
    EVL_CNTK1_RANDOM_SAMPLE,
    EVL_CNTK1_CROP,
    EVL_CNTK1_ENVIRONMENT,
    EVL_CNTK1_EDIT_DISTANCE,
    EVL_CNTK1_NOISE_CONTRASTIVE,
    EVL_CNTK1_FORWARD_BACKWARD,
    EVL_CNTK1_LATTICE,
    EVL_CNTK1_TRACE,
    EVL_CNTK1_PAYLOADS
} evl_cntk1_payload;

/* NULL: unknown. */
const evl_cntk_op *evl_cntk_op_find(const char *name);
#endif
