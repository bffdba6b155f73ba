#include "ops/ops.h"

const evl_op *const evl_ops_norm[] = { NULL };
