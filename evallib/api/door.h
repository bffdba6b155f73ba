/* door.h - elements across the border between the caller's types and the plan's. */
#ifndef EVL_API_DOOR_H
#define EVL_API_DOOR_H
#include "ir/tensor.h"

bool evl_door_is_packed(EvalType); /* narrower than a byte: the caller packs the low bits first */

/* Into storage. Floating point to an integer type is refused unless every value is
** integral and fits (EVAL_ERR_TYPE). */
EVL_MUST_USE EvalStatus evl_door_in(evl_context *, size_t n, EvalType from, const void *source,
                                    EvalType to, void *target);
/* Out of storage; EVAL_ERR_TYPE when there is no such conversion. */
EVL_MUST_USE EvalStatus evl_door_out(evl_context *, size_t n, EvalType from, const void *source,
                                     EvalType to, void *target);
#endif
