/* nested.h - what operators on sequences and optionals share. */
#ifndef EVL_OPS_NESTED_H
#define EVL_OPS_NESTED_H
#include "ir/op.h"

/* Output 0 is a sequence or optional of `inside`. */
EVL_MUST_USE EvalStatus evl_infer_around(evl_infer *, EvalType, const evl_tensor *inside);
/* Input `input` is a sequence, or not yet known. */
EVL_MUST_USE EvalStatus evl_infer_sequence(const evl_infer *, size_t input);

/* All is done once the elements are there. */
EvalStatus evl_run_nothing(const evl_call *);
#endif
