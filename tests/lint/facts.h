/* facts.h - what the linters cannot see, because it stands in another file: a failure is never
** EVAL_OK, so what a failing call leaves unset is not used. Included before each source by
** lint.py alone, except where these functions are defined. */
#ifndef EVL_LINT_FACTS_H
#define EVL_LINT_FACTS_H
#include "base/context.h"
#define evl_fail(ctx, status, ...) (evl_fail(ctx, status, __VA_ARGS__) ? (status) : EVAL_ERR_INTERNAL)
#define evl_no_memory(ctx)         (evl_no_memory(ctx) ? EVAL_ERR_MEMORY : EVAL_ERR_INTERNAL)
#endif
