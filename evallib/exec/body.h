/* body.h - what steps that run bodies have in common. */
#ifndef EVL_EXEC_BODY_H
#define EVL_EXEC_BODY_H
#include "exec/exec.h"
#include "ir/nested.h"

size_t evl_tensor_size(const evl_tensor *); /* bytes of its elements; no nested value */

/* The body that is the attribute of that name, of step i. */
size_t evl_step_body(const evl_step *, const char *attribute);

/* Captured values, whom to ask whether to stop, and whom to tell of steps. */
EVL_MUST_USE EvalStatus evl_body_begin(evl_session *, evl_context *, const evl_body *,
                                       evl_session *child);
/* Input i, of a size that the run decides; EVAL_ERR_SHAPE: another was planned for. */
EVL_MUST_USE EvalStatus evl_body_give(evl_session *child, evl_context *, size_t i,
                                      const evl_tensor *);
/* Output i goes to memory of the child's own, unless it lies elsewhere anyway. */
EVL_MUST_USE EvalStatus evl_body_place(evl_session *child, evl_context *, size_t i);
/* A result where a slot of this session wants it: copied whole. */
EVL_MUST_USE EvalStatus evl_body_take(evl_session *, evl_context *, evl_slot_index,
                                      const evl_tensor *result);

/* One more trip of any loop: within the limit, and nobody wants it to stop. */
EVL_MUST_USE EvalStatus evl_body_count_trip(evl_session *, evl_context *, const evl_node *);

/* Grows only, by half at least: what is in it goes. */
EVL_MUST_USE EvalStatus evl_room_reserve(evl_session *, evl_context *, evl_room *, size_t bytes);
/* Room for `bytes` in a slot's own memory, of which `used` are kept. */
EVL_MUST_USE EvalStatus evl_session_grow(evl_session *, evl_context *, evl_slot_index, size_t used,
                                         size_t bytes);
#endif
