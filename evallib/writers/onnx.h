/* onnx.h - a graph as an ONNX file. */
#ifndef EVL_WRITERS_ONNX_H
#define EVL_WRITERS_ONNX_H
#include "passes/passes.h"

typedef struct evl_saving {
    EvalType real;           /* what the evaluator computes in */
    const evl_pass_env *env;
    bool simplifies;         /* as evl_simplify does; not: as read */
} evl_saving;

/* The graph as read, sorted; its values' slots are used. What an evaluator in float saves of CNTK is in float, whatever
** the network declares. EVAL_ERR_UNSUPPORTED: what ONNX has no operator for, all of it listed; EVAL_ERR_LIMIT: more
** than 2 GB, beside constants that have a file of their own then, `path`.data. */
EVL_MUST_USE EvalStatus evl_write_onnx(evl_context *, evl_graph *, const evl_saving *, const char *path);
#endif
