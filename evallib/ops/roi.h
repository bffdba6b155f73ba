/* roi.h - RoiAlign, MaxRoiPool and CropAndResize: planes cut into bins where regions lie. */
#ifndef EVL_OPS_ROI_H
#define EVL_OPS_ROI_H
#include "ir/op.h"

typedef struct evl_roi {
    size_t n, batch, channels;
    int64_t height, width; /* of a plane */
    int64_t out_height, out_width;
    evl_number scale;
    int64_t samples; /* in each direction of a bin; 0: as many as it has elements */
    bool is_max, is_half_pixel, is_nearest;
    evl_number outside; /* what CropAndResize has where the plane ends */
} evl_roi;

EVL_MUST_USE EvalStatus evl_roi_prepare(evl_prepare *); /* leaves an evl_roi as state */
#endif
