/* frames.h - a network of frames in ONNX's own operators. */
#ifndef EVL_WRITERS_FRAMES_H
#define EVL_WRITERS_FRAMES_H
#include "ir/graph.h"

/* A copy, in an arena of its own, of what the outputs need: floating-point types are `real`, constants
** of them not converted yet. EVAL_ERR_UNSUPPORTED: a loop that ONNX cannot say. */
EVL_MUST_USE EvalStatus evl_frames_to_onnx(evl_context *, evl_arena *, const evl_graph *, EvalType real,
                                           evl_graph **copy);
#endif
