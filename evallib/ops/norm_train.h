/* norm_train.h - BatchNormalization as in training: by the statistics of the batch itself. */
#ifndef EVL_OPS_NORM_TRAIN_H
#define EVL_OPS_NORM_TRAIN_H
#include "ir/op.h"

/* Of a node whose shapes are checked, which has training_mode on (opset 14). */
EVL_MUST_USE EvalStatus evl_norm_train_prepare(evl_prepare *);
#endif
