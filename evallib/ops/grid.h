/* grid.h - GridSample: what is taken where, without arithmetic. */
#ifndef EVL_OPS_GRID_H
#define EVL_OPS_GRID_H
#include "ir/op.h"

enum { EVL_GRID_DIMS = 3, EVL_GRID_TAPS = 4 }; /* spatial dimensions; elements along each */

typedef enum evl_grid_mode { EVL_GRID_NEAREST, EVL_GRID_LINEAR, EVL_GRID_CUBIC } evl_grid_mode;
typedef enum evl_grid_padding {
    EVL_GRID_ZEROS,
    EVL_GRID_BORDER,
    EVL_GRID_REFLECTION
} evl_grid_padding;

typedef struct evl_grid {
    evl_grid_mode mode;
    evl_grid_padding padding;
    bool align_corners;
    int32_t n_dims;
    int64_t dim[EVL_GRID_DIMS];     /* of one plane of X, the outermost first */
    size_t batch, channels, points; /* points: of one sample */
    size_t in_plane;
    char zero[sizeof(EvalString)]; /* the element that padding is made of */
} evl_grid;

EVL_MUST_USE EvalStatus evl_grid_prepare(evl_prepare *); /* leaves an evl_grid as state */
#endif
