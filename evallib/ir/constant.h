/* constant.h - constants as operators want them.
**
** A file may put a number anywhere. Weights that are only packed are read where they lie,
** which saves a copy of all of them; whatever else is read must be aligned. */
#ifndef EVL_IR_CONSTANT_H
#define EVL_IR_CONSTANT_H
#include "ir/store.h"
#include "ir/tensor.h"

bool evl_constant_is_aligned(const evl_tensor *);

/* Makes t one of type `to`, aligned: a block of the store. EVAL_ERR_TYPE: no such conversion. */
EVL_MUST_USE EvalStatus evl_constant_settle(evl_context *, evl_store *, EvalType to, evl_tensor *t);
#endif
