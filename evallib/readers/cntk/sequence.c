/* sequence.c - choosing frames: Where tells which, PackedIndex where they lie, GatherPacked
** takes them and ScatterPacked puts them back. There is one sequence at a time, so a frame
** lies where it is. */
#include "readers/cntk/maker.h"
#include <float.h>
#include <string.h>

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

enum { MOST_STEPS = 8 };

static bool is_0_or_1(double number)
{
    return number == 0 || number == 1;
}

/* Whether all elements are known to be 0 or 1: comparisons, and delays of what is. */
static bool are_flags(const evl_value *x)
{
    for (int i = 0; i < MOST_STEPS && x->producer; i++) {
        const evl_node *node = x->producer;
        if (strcmp(node->op->name, "Cast") == 0 && node->inputs[0]->t.type == EVAL_BOOL)
            return true;
        bool is_delay = node->op == &evl_op_delay && is_0_or_1(evl_node_number(node, "initial", 0));
        if (!is_delay && node->op != &evl_op_identity && strcmp(node->op->name, "Expand") != 0)
            return false;
        x = node->inputs[0];
    }
    bool are = x->is_constant && evl_shape_count(&x->t.shape) == 1;
    return are && is_0_or_1(evl_tensor_f64(&x->t, 0));
}

/* How many frames there should be after each one, or before it. What rounding may have done to
** the numbers makes no further frame. */
static evl_value *frames_until(evl_cntk_maker *k, evl_value *counts, bool is_before)
{
    static const double margin = 1 - (double)FLT_EPSILON;
    const int64_t first = 0;
    evl_value *axis = evl_build_ints(&k->b, &first, 1);
    evl_value *in[2] = { counts,
                         axis ? evl_build_reshape(&k->b, NULL, axis, NULL, 0) : NULL };
    evl_attribute exclusive = evl_attribute_int("exclusive", is_before);
    evl_value *sum = in[1] ? evl_cntk_call(k, "CumSum", in, 2, &exclusive, 1) : NULL;
    return evl_cntk_call_1(k, "Ceil", evl_cntk_call_number(k, "Mul", sum, margin));
}

/* [T, R]: true as often in row t as that frame is repeated. */
static evl_value *repeated(evl_cntk_maker *k, evl_value *counts)
{
    static const int64_t column[2] = { -1, 1 };
    evl_value *until = frames_until(k, counts, false), *before = frames_until(k, counts, true);
    evl_value *times = evl_cntk_call_2(k, "Sub", until, before);
    evl_attribute keep = evl_attribute_int("keepdims", 0);
    evl_value *range[3] = { evl_build_number(&k->b, k->node->real, 0), NULL,
                            evl_build_number(&k->b, k->node->real, 1) };
    range[1] = evl_cntk_call_number(k, "Max", evl_cntk_call(k, "ReduceMax", &times, 1, &keep, 1), 0);
    times = times ? evl_build_reshape(&k->b, NULL, times, column, 2) : NULL;
    return evl_cntk_call_2(k, "Less", evl_cntk_call(k, "Range", range, 3, NULL, 0), times);
}

/* Operand: how often each frame is to be taken, mostly 0 or 1. Gives the frames' places. */
evl_value *evl_cntk_where(evl_cntk_maker *k)
{
    static const int64_t all = -1, column[2] = { -1, 1 }, first = 0;
    evl_value *x = k->in[0];
    if (!x->has_frames || evl_cntk_sample_size(x) != 1)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "it wants a sequence of single numbers");
    bool are_single = are_flags(x);
    x = evl_build_reshape(&k->b, NULL, x, &all, 1);
    if (!x)
        return NULL;
    x->has_frames = false;
    evl_value *in[2] = { evl_cntk_call_1(k, "NonZero", are_single ? x : repeated(k, x)),
                         evl_build_ints(&k->b, &first, 1) };
    evl_attribute rows = evl_attribute_int("axis", 0);
    evl_value *y = evl_cntk_call(k, "Gather", in, 2, &rows, 1);
    y = y ? evl_build_reshape(&k->b, NULL, y, column, 2) : NULL;
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
