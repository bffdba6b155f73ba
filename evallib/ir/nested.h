/* nested.h - values made of values: sequences, optionals, maps.
**
** The data of such a value is an array of evl_tensor, `shape.dim[0]` of them (a map has
** two: keys and values). A copy is one block of memory: the array, followed by what its
** elements hold; so it is kept, handed on and dropped as any other value is. Copies of
** texts are whole, too.
**
** In a plan the number of elements is never known (shape [?]), and a step that takes or
** gives such a value is inferred in the run. */
#ifndef EVL_IR_NESTED_H
#define EVL_IR_NESTED_H
#include "base/arena.h"
#include "ir/tensor.h"

bool evl_type_is_nested(EvalType);
/* What a sequence or optional holds; of a map its keys (part 0) or values (1). Type only:
** its shape is unknown. */
evl_tensor evl_nested_inside(const evl_tensor *, size_t part);
/* A type around another: sets type, inner, and the shape [?]. False: that nests too deep. */
bool evl_nested_around(EvalType, const evl_tensor *inside, evl_tensor *);
bool evl_type_equal(const evl_tensor *, const evl_tensor *);     /* with all that is inside */
void evl_type_copy(const evl_tensor *from, evl_tensor *to);      /* with all that is inside */
bool evl_type_has_text(const evl_tensor *);                      /* or may have: not all is known */
/* Floating-point types, at whatever depth, become `real`. */
void evl_type_make_real(evl_tensor *, EvalType real);

enum { EVL_TYPE_TEXT = 64 };
const char *evl_type_text(const evl_tensor *, char buffer[EVL_TYPE_TEXT]); /* "seq(float32)" */

/* The element at `index`, which is there. */
const evl_tensor *evl_nested_at(const evl_tensor *, size_t index);
/* An array for n elements, zeroed, as t's data and shape. False: no memory. */
bool evl_nested_take(evl_arena *, size_t n, evl_tensor *t);

/* Bytes that a copy of any value needs. False: more than can be. */
EVL_MUST_USE bool evl_value_bytes(const evl_tensor *, size_t *bytes);
/* The same, and EVAL_ERR_LIMIT when they are more than a value may have. */
EVL_MUST_USE EvalStatus evl_value_room(evl_context *, const evl_tensor *, size_t *bytes);
/* A copy in `block`, which is aligned and has so many bytes. Elements whose data is NULL get
** their place. from and to may be one. */
void evl_value_copy(const evl_tensor *from, void *block, evl_tensor *to);
#endif
