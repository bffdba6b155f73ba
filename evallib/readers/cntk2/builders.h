/* builders.h - builders of functions that v1 lacks or whose attributes say more. */
#ifndef EVL_READERS_CNTK2_BUILDERS_H
#define EVL_READERS_CNTK2_BUILDERS_H
#include "readers/cntk2/ops.h"

/* An axis as attributes tell it, made 0 .. rank - 1, for samples of a rank; false, with a
** failure: it is none of theirs. */
bool evl_cntk2_static_axis(evl_cntk_maker *, int64_t axis, size_t rank, size_t *result);

evl_cntk_build_op evl_cntk2_slice, evl_cntk2_splice, evl_cntk2_transpose, evl_cntk2_reshape,
    evl_cntk2_reduce, evl_cntk2_pooling, evl_cntk2_roi_pooling, evl_cntk2_convolution,
    evl_cntk2_convolution_frames, evl_cntk2_times; /* adapt.c */
evl_cntk_build_op evl_cntk2_elu, evl_cntk2_assign, evl_cntk2_fill, evl_cntk2_eye_like,
    evl_cntk2_one_hot, evl_cntk2_gather, evl_cntk2_top_k, evl_cntk2_pad,
    evl_cntk2_squeeze; /* more.c */
evl_cntk_build_op evl_cntk2_to_sequence, evl_cntk2_unpack_sequence,
    evl_cntk2_to_batch, evl_cntk2_unpack_batch; /* dynamic.c */
#endif
