/* broadcast.h - operators whose inputs are stretched to one shape, as numpy does, and as
** ONNX did before opset 7 (attributes broadcast and axis).
**
** Neighbouring dimensions that every input treats alike become one, so most cases end
** as one long run, in which an input either advances with the output or stands still. */
#ifndef EVL_OPS_BROADCAST_H
#define EVL_OPS_BROADCAST_H
#include "ir/op.h"
#include "kernels/loops.h"

enum { EVL_BROADCAST_INPUTS = 3 };

typedef struct evl_broadcast {
    size_t n_in, count;                /* inputs; elements of the output */
    int32_t rank;                      /* at least 1 */
    size_t dim[EVAL_MAX_RANK];
    size_t step[EVL_BROADCAST_INPUTS][EVAL_MAX_RANK]; /* in elements; 0: stands still */
} evl_broadcast;

/* n elements of the output from element `to` on: input i's begin at element at[i] and
** advance by step[i], 0 or 1. */
typedef struct evl_broadcast_run {
    size_t n, to;
    size_t at[EVL_BROADCAST_INPUTS], step[EVL_BROADCAST_INPUTS];
} evl_broadcast_run;

typedef void evl_broadcast_work(void *arg, const evl_broadcast_run *);

/* Known shapes that broadcast to out. */
void evl_broadcast_make(evl_broadcast *, const evl_shape *out, const evl_shape *const *in,
                        size_t n_in);
/* Calls work for all runs, tiles of them on the pool's threads. */
void evl_broadcast_for(const evl_broadcast *, evl_pool *, evl_broadcast_work *, void *arg);

/* The same for elements from .. to alone. */
void evl_broadcast_part(const evl_broadcast *, size_t from, size_t to, evl_broadcast_work *,
                        void *arg);

/* The shape of an input as it takes part in broadcasting: input 1 before opset 7 has ones
** appended to stand where `axis` says. */
evl_shape evl_broadcast_shape(const evl_use *, size_t input);
/* For the first n_in inputs of an operator. */
void evl_broadcast_operands(evl_broadcast *, const evl_prepare *, size_t n_in);

/* A loop over two inputs. */
typedef struct evl_binary_step {
    evl_broadcast shape;
    evl_binary_loop *loop;
    size_t size; /* bytes of an element */
} evl_binary_step;

/* The loop of input 0's type, left as state for evl_binary_run. */
EVL_MUST_USE EvalStatus evl_binary_prepare(evl_prepare *, evl_binary_kind);
EvalStatus evl_binary_run(const evl_call *);
void evl_binary_apply(const evl_machine *, const evl_binary_step *, const void *a, const void *b,
                      void *y);

/* Both inputs of one type, broadcast; the output has input 0's type. */
EvalStatus evl_infer_binary(evl_infer *);
#endif
