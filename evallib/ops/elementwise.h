/* elementwise.h - what the families of element-wise operators share: which loops there are,
** and how long arrays are cut into tiles for threads.
**
** Tiles depend on the number of elements alone, so results never depend on threads. */
#ifndef EVL_OPS_ELEMENTWISE_H
#define EVL_OPS_ELEMENTWISE_H
#include "ir/op.h"
#include "kernels/loops.h"

/* How many tiles n elements are cut into, and where one begins and ends. */
size_t evl_tile_count(size_t n);
size_t evl_tile_start(size_t n, size_t tile); /* of tile evl_tile_count: n */

/* Runs all parts of an element-wise operator, on the pool's threads. */
EvalStatus evl_parts_run(const evl_call *, evl_part *);

/* The loops of input `input`'s element type: tables of NULL when there are none. */
const evl_loops *evl_loops_of(const evl_prepare *, size_t input);

/* EVAL_ERR_TYPE: the operator has no arithmetic for that type. */
EvalStatus evl_no_arithmetic(evl_context *, EvalType);

/* A loop over all elements of one tensor. */
typedef struct evl_unary_step {
    evl_unary_loop *loop;
    evl_number p[3];
} evl_unary_step;

/* The loop of input 0's type, left as state for evl_unary_run; p: 3 numbers, NULL: zeros. */
EVL_MUST_USE EvalStatus evl_unary_prepare(evl_prepare *, evl_unary_kind, const evl_number *numbers);
EvalStatus evl_unary_run(const evl_call *);
void evl_unary_apply(const evl_machine *, const evl_unary_step *, const evl_tensor *in,
                     const evl_tensor *out);

/* What a node computes of each element of its first input, when that is one function of
** real numbers whose parameters are known; p has room for 3. */
bool evl_unary_of(evl_context *, const evl_machine *, const evl_node *, evl_unary_kind *,
                  evl_number *p);

/* Output 0 is of that shape, and boolean. */
EvalStatus evl_infer_bool(evl_infer *);
#endif
