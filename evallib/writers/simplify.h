/* simplify.h - a network with what it is known to compute done already. */
#ifndef EVL_WRITERS_SIMPLIFY_H
#define EVL_WRITERS_SIMPLIFY_H
#include "passes/passes.h"

/* EVAL_ERR_UNSUPPORTED: floating-point types beside `real`, to which something is rounded. */
EVL_MUST_USE EvalStatus evl_simplify_check(evl_context *, const evl_graph *, EvalType real);
/* Rewrites a copy, of floating-point type env's, by the passes whose results are operators of the standard: constants
** are computed, known branches inlined, BatchNormalizations are part of the convolutions before them, what gives its
** input on and what nothing needs is gone. Outputs keep their names. */
EVL_MUST_USE EvalStatus evl_simplify(evl_context *, const evl_pass_env *, evl_graph *copy);
#endif
