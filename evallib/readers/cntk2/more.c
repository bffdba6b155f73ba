/* more.c - functions that v1 has no node for. */
#include "readers/cntk2/builders.h"

evl_value *evl_cntk2_elu(evl_cntk_maker *k)
{
    evl_attribute alpha = evl_attribute_number("alpha", k->node->f.number);
    return evl_cntk_call(k, "Elu", &k->in[0], 1, &alpha, 1);
}

/* The variable is not changed: it is the value that is asked for. */
evl_value *evl_cntk2_assign(evl_cntk_maker *k)
{
    return k->in[1];
}

/* The number, in the shape of x. */
evl_value *evl_cntk2_fill(evl_cntk_maker *k)
{
    evl_value *x = k->in[0], *in[2];
    in[0] = evl_build_number(&k->b, k->node->real, k->node->f.number);
    in[1] = evl_cntk_call_1(k, "Shape", x);
    evl_value *y = evl_cntk_call(k, "Expand", in, 2, NULL, 0);
    if (y)
        y->t.shape = x->t.shape;
    return y;
}

evl_value *evl_cntk2_eye_like(evl_cntk_maker *k)
{
    if (k->in[0]->t.shape.rank != 2)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "a unit matrix like what is no matrix");
    return evl_cntk_call_1(k, "EyeLike", k->in[0]);
}

/* --- by index ---------------------------------------------------------------------------- */

/* Classes become a new axis. */
evl_value *evl_cntk2_one_hot(evl_cntk_maker *k)
{
    static const int64_t off_on[2] = { 0, 1 };
    const evl_cntk_fields *f = &k->node->f;
    size_t rank = evl_cntk_rank(k->in[0]), axis = rank;
    if (f->axes.n == 1 && !evl_cntk2_static_axis(k, f->axes.at[0], rank + 1, &axis))
        return NULL;
    evl_value *in[3];
    in[0] = evl_cntk_to_index(k, k->in[0]);
    in[1] = evl_build_ints(&k->b, &f->size, 1);
    in[2] = evl_cntk_to_real(k, evl_build_ints(&k->b, off_on, 2));
    evl_attribute a = evl_attribute_int("axis", k->in[0]->t.shape.rank - (int64_t)axis);
    return evl_cntk_call(k, "OneHot", in, 3, &a, 1);
}

/* Operands: indices, and the table whose last axis they choose from. */
evl_value *evl_cntk2_gather(evl_cntk_maker *k)
{
    if (k->in[1]->has_frames)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                             "gathering from what changes from frame to frame");
    evl_value *in[2] = { k->in[1], evl_cntk_to_index(k, k->in[0]) };
    evl_attribute axis = evl_attribute_int("axis", 0);
    return evl_cntk_call(k, "Gather", in, 2, &axis, 1);
}

/* The largest values, or where they are. */
evl_value *evl_cntk2_top_k(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    size_t axis = 0, rank = evl_cntk_rank(k->in[0]);
    if (f->axes.n == 1 && !evl_cntk2_static_axis(k, f->axes.at[0], rank, &axis))
        return NULL;
    evl_value *in[2] = { k->in[0], evl_build_ints(&k->b, &f->size, 1) };
    evl_attribute a = evl_attribute_int("axis", k->in[0]->t.shape.rank - 1 - (int64_t)axis);
    evl_value *y = evl_cntk_call_output(k, "TopK", in, 2, &a, 1, 2, (size_t)f->output);
    return f->output == 0 ? y : evl_cntk_to_real(k, y);
}

/* --- shapes ------------------------------------------------------------------------------- */

/* Without axes of size 1: those named, or all. */
evl_value *evl_cntk2_squeeze(evl_cntk_maker *k)
{
    const evl_cntk_list *axes = &k->node->f.axes;
    evl_value *x = k->in[0];
    size_t rank = evl_cntk_rank(x);
    bool is_gone[EVAL_MAX_RANK] = { false };
    for (size_t i = 0; i < axes->n; i++) {
        size_t axis;
        if (!evl_cntk2_static_axis(k, axes->at[i], rank, &axis) || axis >= rank)
            return NULL;
        is_gone[axis] = true;
    }
    for (size_t i = 0; i < rank && axes->n == 0; i++)
        is_gone[i] = evl_cntk_dim(x, i) == 1;
    return evl_cntk_squeeze(k, x, is_gone);
}

enum { CONSTANT, REFLECT, SYMMETRIC };

/* Where element i of an axis comes from: mirrored at its ends, which are repeated in the
** symmetric mode. */
static int64_t mirrored(int64_t i, int64_t size, bool is_symmetric)
{
    int64_t period = is_symmetric ? 2 * size : 2 * (size - 1);
    i = period > 0 ? (i % period + period) % period : 0;
    return i < size ? i : period - i - is_symmetric;
}

static evl_value *mirror(evl_cntk_maker *k, evl_value *x, size_t axis, int64_t head, int64_t foot)
{
    int64_t size = x ? evl_cntk_dim(x, axis) : 0;
    if (size < 1 || head > size || foot > size || (head | foot) == 0)
        return x && (head | foot) == 0
                   ? x
                   : evl_cntk_fail(k, EVAL_ERR_SHAPE, "%lld and %lld elements padded by %lld",
                                   (long long)head, (long long)foot, (long long)size);
    size_t n = (size_t)(head + size + foot);
    int64_t *from = evl_arena_take_many(k->b.graph->arena, n, sizeof *from);
    if (!from) {
        k->b.status = evl_no_memory(k->b.ctx);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        from[i] = mirrored((int64_t)i - head, size, k->node->f.mode == SYMMETRIC);
    evl_value *in[2] = { x, evl_build_ints(&k->b, from, n) };
    evl_attribute a = evl_attribute_int("axis", x->t.shape.rank - 1 - (int64_t)axis);
    return evl_cntk_call(k, "Gather", in, 2, &a, 1);
}

static evl_value *pad_with_number(evl_cntk_maker *k, evl_value *x, size_t n)
{
    const evl_cntk_fields *f = &k->node->f;
    size_t rank = (size_t)x->t.shape.rank;
    int64_t pads[2 * EVAL_MAX_RANK] = { 0 };
    for (size_t i = 0; i < n; i++) {
        pads[rank - 1 - i] = f->heads.at[i];
        pads[2 * rank - 1 - i] = f->feet.at[i];
    }
    evl_value *in[3] = { x, evl_build_ints(&k->b, pads, 2 * rank),
                         evl_build_number(&k->b, k->node->real, f->number) };
    return evl_cntk_call(k, "Pad", in, 3, NULL, 0);
}

evl_value *evl_cntk2_pad(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    size_t n = f->heads.n;
    evl_value *x = k->in[0];
    if (n != f->feet.n || n > evl_cntk_rank(x))
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "pads of %zu and %zu axes for samples of rank %zu",
                             n, f->feet.n, evl_cntk_rank(x));
    for (size_t i = 0; i < n; i++)
        if (f->heads.at[i] < 0 || f->feet.at[i] < 0)
            return evl_cntk_fail(k, EVAL_ERR_FORMAT, "a negative pad");
    if (f->mode == CONSTANT)
        return pad_with_number(k, x, n);
    for (size_t i = 0; i < n; i++)
        x = mirror(k, x, i, f->heads.at[i], f->feet.at[i]);
    return x;
}
