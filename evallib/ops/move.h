/* move.h - operators that are strided copies: from their first input, or to their first
** output. Prepared once; nothing is computed in the run. */
#ifndef EVL_OPS_MOVE_H
#define EVL_OPS_MOVE_H
#include "ir/op.h"
#include "ops/strided.h"

typedef struct evl_move {
    evl_strided box;
    ptrdiff_t from, to; /* bytes from the start of each tensor to the start of the box */
} evl_move;

/* Fills a move that stands for zero bytes; sets what differs from it. The shapes of both
** are known. */
typedef EvalStatus evl_move_make(evl_context *, const evl_use *, const evl_tensor *out, evl_move *);

/* Makes the one move from input 0 to output 0 and leaves it for evl_move_run. */
EVL_MUST_USE EvalStatus evl_move_prepare(evl_prepare *, evl_move_make *make);
EvalStatus evl_move_run(const evl_call *);

void evl_move_apply(const evl_move *, const evl_machine *, const evl_tensor *from,
                    const evl_tensor *to);

/* All elements as they are; nothing when input and output are the same memory. */
void evl_move_all(const evl_machine *, const evl_tensor *from, const evl_tensor *to);
EvalStatus evl_move_all_run(const evl_call *); /* input 0 to output 0: of EVL_OP_ALIAS operators */
extern const evl_impl evl_move_all_impl;
#endif
