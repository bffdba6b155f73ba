/* nested.h - sequences, optionals and maps through the door: the caller's EvalTensor[] and
** our evl_tensor[] (ir/nested.h). */
#ifndef EVL_API_NESTED_H
#define EVL_API_NESTED_H
#include "api/door.h"
#include "ir/nested.h"

/* Looks at all that the caller gave. `declared` is what the model says, as far as it does;
** where an optional is declared, what it may hold can be given as it is. */
EVL_MUST_USE EvalStatus evl_nested_check(evl_context *, const char *name, const EvalTensor *,
                                         const evl_tensor *declared);
/* The type of what was given, where the model says nothing. */
void evl_nested_type(const EvalTensor *, evl_tensor *type);

/* What was checked, as we hold it: elements as the plan wants them, in the arena or where
** the caller has them. */
EVL_MUST_USE EvalStatus evl_nested_in(evl_context *, evl_arena *, EvalType real,
                                      const EvalTensor *, const evl_tensor *declared,
                                      evl_tensor *);

/* Bytes for a value as the caller gets it, in one block; false: more than can be. */
EVL_MUST_USE bool evl_nested_out_bytes(const evl_tensor *, size_t *bytes);
EVL_MUST_USE EvalStatus evl_nested_out(evl_context *, const evl_tensor *, void *block);
#endif
