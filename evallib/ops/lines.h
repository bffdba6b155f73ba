/* lines.h - work along an axis: over the lines of a tensor in that direction, cut for
** threads by the shape alone. */
#ifndef EVL_OPS_LINES_H
#define EVL_OPS_LINES_H
#include "ir/op.h"
#include "kernels/loops.h"

/* A tensor as [outer, n, inner]; its lines go along n. */
typedef struct evl_lines {
    size_t outer, n, inner;
} evl_lines;

/* Of a known shape: along one axis; along all dimensions from `axis` on as one. */
evl_lines evl_lines_along(const evl_shape *, int32_t axis);
evl_lines evl_lines_from(const evl_shape *, int32_t axis);

/* Some lines side by side: the elements from `x` on of the tensor, and result `y` on when
** each line has one. */
typedef struct evl_lines_part {
    evl_axis_lines at;
    size_t x, y;
} evl_lines_part;

typedef void evl_lines_work(void *arg, const evl_lines_part *);
void evl_lines_for(const evl_lines *, evl_pool *, evl_lines_work *, void *arg);

/* work(arg, i) for i < n, each of about `each` elements: several a tile. */
typedef void evl_each_work(void *arg, size_t i);
void evl_each_for(size_t n, size_t each, evl_pool *, evl_each_work *, void *arg);

/* A loop along an axis, from input 0 to output 0. */
typedef struct evl_axis_step {
    evl_lines lines;
    evl_axis_loop *loop;
    evl_number p[2];
} evl_axis_step;
void evl_axis_apply(const evl_call *, const evl_axis_step *);
#endif
