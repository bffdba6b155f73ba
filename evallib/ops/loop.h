/* loop.h - how Loop and Scan lay out their operands: fold.c, plan/ and exec/ ask here.
**
** A carried value goes in as body input `body_carried + i` and comes out as body output i;
** of Loop the condition is the first. A scanned input gives a slice a trip, a gathered
** output takes one. */
#ifndef EVL_OPS_LOOP_H
#define EVL_OPS_LOOP_H
#include "ir/op.h"

typedef struct evl_loop {
    evl_graph *body;
    size_t body_carried;         /* body inputs before the first: Loop's iteration number */
    size_t n_carried, n_scanned, n_gathered;
    size_t node_carried;         /* the node's input that the first begins with */
    size_t n_unshown;            /* carried values that are no output: Loop's condition */
    bool has_batch;              /* Scan of opset 8 */
} evl_loop;

bool evl_op_is_loop(const evl_op *); /* Loop or Scan */
/* EVAL_ERR_FORMAT: counts that do not fit together. */
EVL_MUST_USE EvalStatus evl_loop_read(evl_context *, const evl_node *, evl_loop *);

/* The axis and direction of scanned input or gathered output i, of tensors of that rank. */
EVL_MUST_USE EvalStatus evl_loop_axis(evl_context *, const evl_node *, const char *kind, size_t i,
                                      int32_t rank, int32_t *axis, bool *is_backward);

/* What a body's inputs are in the first trip, as far as the node's inputs are known. */
EVL_MUST_USE EvalStatus evl_loop_begin(evl_context *, const evl_node *, evl_graph *body);
/* `body` was inferred for its inputs' shapes as `inferred`: where a carried value comes out
** another than it went in, less is known of it. False: so it was, and all is to be
** inferred again. */
bool evl_loop_settle(const evl_loop *, const evl_graph *inferred);
void evl_loop_forget(const evl_loop *); /* nothing is known of carried shapes */
#endif
