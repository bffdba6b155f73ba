/* deform.h - DeformConv and Col2Im without arithmetic. */
#ifndef EVL_OPS_DEFORM_H
#define EVL_OPS_DEFORM_H
#include "ops/conv.h"

/* Of Col2Im: the image is what the stencil looks at. */
EVL_MUST_USE EvalStatus evl_col2im_of(const evl_prepare *, evl_stencil *);
#endif
