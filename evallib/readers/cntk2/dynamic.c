/* dynamic.c - functions that change what is a frame: a sequence becomes an axis of a sample,
** and back. A single frame stands for all of a sequence, so one that is unpacked is [1, T,
** ...] here. */
#include "readers/cntk2/builders.h"

static evl_value *with_frames(evl_cntk_maker *k, evl_value *x, bool has_frames)
{
    evl_value *y = x ? evl_build_1(&k->b, &evl_op_identity, NULL, x) : NULL;
    if (y)
        y->has_frames = has_frames;
    return y;
}

/* Operands: a sample whose last axis is the sequence; perhaps how long it is. */
evl_value *evl_cntk2_to_sequence(evl_cntk_maker *k)
{
    static const int64_t first[1] = { 0 };
    evl_value *x = k->in[0], *in[4];
    evl_attribute axes = evl_cntk_ints(k, "axes", first, 1);
    evl_value *y =
        x->has_frames ? evl_cntk_call(k, "Squeeze", &x, 1, &axes, 1) : with_frames(k, x, true);
    if (k->node->n_inputs < 2 || k->node->frames != EVL_CNTK_SEQUENCE)
        return y;
    in[0] = y;
    in[1] = evl_build_ints(&k->b, first, 1);
    in[2] = evl_cntk_flat_index(k, k->in[1]);
    in[3] = evl_build_ints(&k->b, first, 1);
    return evl_cntk_call(k, "Slice", in, 4, NULL, 0);
}

/* All frames as the last axis of a single one; or ones, where there are frames. */
evl_value *evl_cntk2_unpack_sequence(evl_cntk_maker *k)
{
    static const int64_t first[1] = { 0 };
    evl_value *x = k->in[0];
    if (!x->has_frames)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "unpacking what is no sequence");
    if (k->node->f.output == 1) {
        evl_value *in[2] = { evl_build_number(&k->b, k->node->real, 1),
                             evl_cntk_frame_count(k, x) };
        x = evl_cntk_call(k, "Expand", in, 2, NULL, 0);
        if (x)
            x->t.shape = evl_shape_of(1, (const int64_t[]){ EVL_UNKNOWN_DIM });
    }
    evl_attribute axes = evl_cntk_ints(k, "axes", first, 1);
    evl_value *y = evl_cntk_call(k, "Unsqueeze", &x, 1, &axes, 1);
    if (y)
        y->has_frames = true;
    return y;
}

/* The last axis becomes a batch, and back. */
evl_value *evl_cntk2_to_batch(evl_cntk_maker *k)
{
    if (k->in[0]->has_frames)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "a batch of what is a batch");
    return with_frames(k, k->in[0], true);
}

evl_value *evl_cntk2_unpack_batch(evl_cntk_maker *k)
{
    return with_frames(k, k->in[0], false);
}
