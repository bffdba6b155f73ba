/* sequence.c - choosing frames: Where tells which, PackedIndex where they lie, GatherPacked
** takes them and ScatterPacked puts them back. There is one sequence at a time, so a frame
** lies where it is. */
#include "readers/cntk/maker.h"

evl_value *evl_cntk_to_index(evl_cntk_maker *k, evl_value *x)
{
    evl_attribute to = evl_attribute_int("to", EVAL_INT64);
    return evl_cntk_call(k, "Cast", &x, 1, &to, 1);
}

/* All elements as indices, of rank 1 and no frames. */
evl_value *evl_cntk_flat_index(evl_cntk_maker *k, evl_value *x)
{
    static const int64_t all = -1;
    evl_value *y = x ? evl_build_reshape(&k->b, NULL, evl_cntk_to_index(k, x), &all, 1) : NULL;
    if (y)
        y->has_frames = false;
    return y;
}

/* How many frames there are, as a shape of rank 1. */
evl_value *evl_cntk_frame_count(evl_cntk_maker *k, evl_value *x)
{
    evl_attribute part[2] = { evl_attribute_int("start", 0), evl_attribute_int("end", 1) };
    evl_value *y = evl_cntk_call(k, "Shape", &x, 1, part, 2);
    if (y)
        y->has_frames = false;
    return y;
}

/* x, with as many frames as the other operand has. */
evl_value *evl_cntk_reconcile(evl_cntk_maker *k)
{
    evl_value *x = k->in[0], *like = k->in[1];
    int64_t ones[EVAL_MAX_RANK];
    if (!like->has_frames || (x->has_frames && !k->is_single[0]))
        return x;
    if (!x->has_frames)
        return evl_cntk_with_frames(k, x, like);
    for (int32_t i = 0; i < x->t.shape.rank; i++)
        ones[i] = 1;
    evl_attribute axis = evl_attribute_int("axis", 0);
    evl_value *shape[2] = { evl_cntk_frame_count(k, like),
                            evl_build_ints(&k->b, ones, (size_t)x->t.shape.rank - 1) };
    evl_value *in[2] = { x, evl_cntk_call(k, "Concat", shape, 2, &axis, 1) };
    evl_value *y = evl_cntk_call(k, "Expand", in, 2, NULL, 0);
    if (y) {
        y->t.shape = x->t.shape;
        y->t.shape.dim[0] = like->t.shape.dim[0];
    }
    return y;
}

/* The places of frames that are not 0. */
evl_value *evl_cntk_where(evl_cntk_maker *k)
{
    static const int64_t all = -1, column[2] = { -1, 1 };
    evl_value *x = k->in[0];
    if (!x->has_frames || evl_cntk_sample_size(x) != 1)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "it wants a sequence of single numbers");
    x = evl_cntk_call_1(k, "NonZero", evl_build_reshape(&k->b, NULL, x, &all, 1));
    evl_value *y = x ? evl_build_reshape(&k->b, NULL, x, column, 2) : NULL;
    if (y)
        y->has_frames = true;
    return evl_cntk_to_real(k, y);
}

/* Operands: a sequence, and places in it. */
evl_value *evl_cntk_packed_index(evl_cntk_maker *k)
{
    return k->in[1];
}

static bool is_sequence(evl_cntk_maker *k, const evl_value *x)
{
    if (!x->has_frames)
        evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "frames of what has none");
    return x->has_frames;
}

/* Operands: places, the sequence. */
evl_value *evl_cntk_gather_packed(evl_cntk_maker *k)
{
    evl_attribute axis = evl_attribute_int("axis", 0);
    if (!is_sequence(k, k->in[1]))
        return NULL;
    evl_value *in[2] = { k->in[1], evl_cntk_flat_index(k, k->in[0]) };
    return evl_cntk_call(k, "Gather", in, 2, &axis, 1);
}

/* Operands: what has as many frames as the result, places, the frames to be put there. Others
** are 0. */
evl_value *evl_cntk_scatter_packed(evl_cntk_maker *k)
{
    static const int64_t column[2] = { -1, 1 };
    evl_value *x = k->in[2], *shape[2], *zero[2], *in[3];
    evl_attribute axis = evl_attribute_int("axis", 0);
    if (!is_sequence(k, k->in[0]) || !is_sequence(k, x))
        return NULL;
    shape[0] = evl_cntk_frame_count(k, k->in[0]);
    shape[1] = evl_build_ints(&k->b, x->t.shape.dim + 1, (size_t)x->t.shape.rank - 1);
    zero[0] = evl_build_number(&k->b, k->node->real, 0);
    zero[1] = evl_cntk_call(k, "Concat", shape, 2, &axis, 1);
    in[0] = evl_cntk_call(k, "Expand", zero, 2, NULL, 0);
    if (!in[0])
        return NULL;
    in[0]->t.shape = x->t.shape;
    in[0]->t.shape.dim[0] = k->in[0]->t.shape.dim[0];
    in[1] = evl_cntk_flat_index(k, k->in[1]);
    in[1] = in[1] ? evl_build_reshape(&k->b, NULL, in[1], column, 2) : NULL;
    in[2] = x;
    return evl_cntk_call(k, "ScatterND", in, 3, NULL, 0);
}
