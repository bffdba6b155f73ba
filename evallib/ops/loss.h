/* loss.h - what NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss ask for. */
#ifndef EVL_OPS_LOSS_H
#define EVL_OPS_LOSS_H
#include "ops/lines.h"

typedef enum evl_loss_reduction { EVL_LOSS_EACH, EVL_LOSS_SUM, EVL_LOSS_MEAN } evl_loss_reduction;

typedef struct evl_loss {
    evl_lines lines;            /* input 0, along its classes */
    evl_axis_loop *log_softmax; /* NULL: input 0 holds logarithms already */
    evl_loss_reduction reduction;
    bool has_ignored;
    int64_t ignored; /* a label that costs and weighs nothing */
} evl_loss;

EVL_MUST_USE EvalStatus evl_loss_prepare(evl_prepare *); /* leaves an evl_loss as state */
#endif
