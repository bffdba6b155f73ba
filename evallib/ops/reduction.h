/* reduction.h - reducing any axes of a tensor: one pass over lines for each group of
** neighbouring axes, the last group first. */
#ifndef EVL_OPS_REDUCTION_H
#define EVL_OPS_REDUCTION_H
#include "ops/lines.h"

typedef struct evl_reduction_pass {
    evl_lines lines;
    evl_reduce_loop *loop;
} evl_reduction_pass;

typedef struct evl_reduction {
    size_t n_passes; /* at least 1 */
    evl_reduction_pass pass[EVAL_MAX_RANK];
    size_t size;     /* bytes of an element */
    size_t second_at, scratch_bytes; /* what the first pass leaves at 0, the second at second_at */
} evl_reduction;

/* Of a known shape; false: no arithmetic for that kind in these loops. */
bool evl_reduction_make(evl_reduction *, const evl_loops *, evl_reduce_kind, const evl_shape *,
                        const bool is_reduced[EVAL_MAX_RANK], size_t size);
void evl_reduction_apply(const evl_reduction *, const evl_machine *, const void *x, void *scratch,
                         void *y);
#endif
