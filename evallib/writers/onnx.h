/* onnx.h - a graph as an ONNX file. */
#ifndef EVL_WRITERS_ONNX_H
#define EVL_WRITERS_ONNX_H
#include "ir/graph.h"

/* The graph as read, sorted; its values' slots are used. What an evaluator in float saves of CNTK is in float, whatever
** the network declares. EVAL_ERR_UNSUPPORTED: what ONNX has no operator for, all of it listed; EVAL_ERR_LIMIT: more
** than 2 GB. */
EVL_MUST_USE EvalStatus evl_write_onnx(evl_context *, evl_graph *, EvalType evaluated, const char *path);
#endif
