/* maker.c - the steps that builders of operators are made of. */
#include "readers/cntk/maker.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

evl_value *evl_cntk_fail(evl_cntk_maker *k, EvalStatus st, const char *format, ...)
{
    char text[512];
    va_list values;
    if (k->b.status != EVAL_OK)
        return NULL;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    k->b.status = evl_fail(k->b.ctx, st, "%s", text);
    return NULL;
}

/* --- samples --------------------------------------------------------------------------- */

size_t evl_cntk_rank(const evl_value *v)
{
    size_t rank = v->t.shape.rank > 0 ? (size_t)v->t.shape.rank : 0;
    return rank - (v->has_frames && rank > 0);
}

int64_t evl_cntk_dim(const evl_value *v, size_t axis)
{
    size_t rank = evl_cntk_rank(v);
    return axis < rank ? v->t.shape.dim[(size_t)v->t.shape.rank - 1 - axis] : 1;
}

/* -1: a dimension is not known. */
int64_t evl_cntk_sample_size(const evl_value *v)
{
    for (int32_t i = v->has_frames; i < v->t.shape.rank; i++)
        if (v->t.shape.dim[i] < 0)
            return EVL_UNKNOWN_DIM;
    return (int64_t)evl_shape_count_part(&v->t.shape, v->has_frames, v->t.shape.rank);
}

void evl_cntk_dims(const evl_value *v, size_t n, int64_t *dims)
{
    for (size_t i = 0; i < n; i++)
        dims[i] = evl_cntk_dim(v, i);
}

/* --- nodes ------------------------------------------------------------------------------ */

evl_attribute evl_cntk_ints(evl_cntk_maker *k, const char *name, const int64_t *ints, size_t n)
{
    int64_t *copy = evl_arena_take_many(k->b.graph->arena, n, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = ints[i];
    if (!copy && n > 0 && k->b.status == EVAL_OK)
        k->b.status = evl_no_memory(k->b.ctx);
    return evl_attribute_ints(name, copy, copy ? n : 0);
}

evl_value *evl_cntk_call(evl_cntk_maker *k, const char *op, evl_value *const *in, size_t n_in,
                         const evl_attribute *attributes, size_t n_attributes)
{
    const evl_op *found = evl_op_find(NULL, op);
    if (k->b.status != EVAL_OK)
        return NULL;
    if (!found)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "it needs the operator %s, not offered", op);
    evl_value *y = evl_build(&k->b, found, NULL, in, n_in, attributes, n_attributes);
    if (y && evl_type_is_float(y->t.type))
        y->t.type = k->node->real;
    return y;
}

static bool make_outputs(const evl_cntk_maker *k, evl_node *node)
{
    for (size_t i = 0; i < node->n_outputs; i++) {
        evl_value *y = evl_graph_value(k->b.graph, NULL);
        if (!y)
            return false;
        evl_node_output(node, i, y);
    }
    return true;
}

evl_value *evl_cntk_call_output(evl_cntk_maker *k, const char *op, evl_value *const *in,
                                size_t n_in, const evl_attribute *attributes, size_t n_attributes,
                                size_t n_out, size_t output)
{
    const evl_op *found = evl_op_find(NULL, op);
    if (k->b.status == EVAL_OK && !found)
        evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "it needs the operator %s, not offered", op);
    if (k->b.status != EVAL_OK)
        return NULL;
    evl_node *node = evl_graph_node(k->b.graph, found, NULL, n_in, n_out);
    if (!node || !make_outputs(k, node) || !evl_node_attributes(node, attributes, n_attributes)) {
        k->b.status = evl_no_memory(k->b.ctx);
        return NULL;
    }
    for (size_t i = 0; i < n_in; i++) {
        node->inputs[i] = in[i];
        for (size_t j = 0; j < n_out; j++)
            node->outputs[j]->has_frames = node->outputs[j]->has_frames || in[i]->has_frames;
    }
    k->b.status = evl_infer_node(k->b.ctx, node);
    return k->b.status == EVAL_OK ? node->outputs[output] : NULL;
}

evl_value *evl_cntk_call_1(evl_cntk_maker *k, const char *op, evl_value *x)
{
    return evl_cntk_call(k, op, &x, 1, NULL, 0);
}

evl_value *evl_cntk_call_number(evl_cntk_maker *k, const char *op, evl_value *x, double number)
{
    evl_value *in[2] = { x, evl_build_number(&k->b, EVAL_FLOAT64, number) };
    return evl_cntk_call(k, op, in, 2, NULL, 0);
}

static evl_value *call_even(evl_cntk_maker *k, const char *op, evl_value **in, size_t n_in)
{
    size_t rank = 0;
    if (k->b.status != EVAL_OK)
        return NULL;
    for (size_t i = 0; i < n_in; i++)
        if (evl_cntk_rank(in[i]) > rank)
            rank = evl_cntk_rank(in[i]);
    for (size_t i = 0; i < n_in; i++)
        if (in[i] && in[i]->has_frames)
            in[i] = evl_cntk_with_rank(k, in[i], rank);
    return evl_cntk_call(k, op, in, n_in, NULL, 0);
}

evl_value *evl_cntk_call_2(evl_cntk_maker *k, const char *op, evl_value *a, evl_value *b)
{
    evl_value *in[2] = { a, b };
    return call_even(k, op, in, 2);
}

evl_value *evl_cntk_call_3(evl_cntk_maker *k, const char *op, evl_value *a, evl_value *b,
                           evl_value *c)
{
    evl_value *in[3] = { a, b, c };
    return call_even(k, op, in, 3);
}

/* --- shapes ----------------------------------------------------------------------------- */

evl_value *evl_cntk_reshape(evl_cntk_maker *k, evl_value *x, const int64_t *dims, size_t n)
{
    int64_t to[EVAL_MAX_RANK] = { 0 }; /* 0: the frames stay */
    if (k->b.status != EVAL_OK)
        return NULL;
    size_t rank = n + x->has_frames;
    if (rank > EVAL_MAX_RANK)
        return evl_cntk_fail(k, EVAL_ERR_LIMIT, "%zu dimensions, at most %d are possible", n,
                             (int)EVL_CNTK_MAX_RANK);
    for (size_t i = 0; i < n; i++)
        to[rank - 1 - i] = dims[i];
    return evl_build_reshape(&k->b, NULL, x, to, rank);
}

evl_value *evl_cntk_flatten(evl_cntk_maker *k, evl_value *x)
{
    if (k->b.status != EVAL_OK || evl_cntk_rank(x) == 1)
        return x;
    int64_t size = evl_cntk_sample_size(x);
    return evl_cntk_reshape(k, x, &size, 1);
}

static size_t unknown_axes(const evl_value *x, size_t first, size_t end)
{
    size_t n = 0;
    for (size_t i = first; i < end; i++)
        n += evl_cntk_dim(x, i) < 0;
    return n;
}

/* The new shape, from the end: axes below `first`, which are told last, stand elsewhere than
** before and are read from x where they are not known. */
static evl_value *read_shape(evl_cntk_maker *k, evl_value *x, const int64_t *to, size_t n,
                             size_t n_read)
{
    evl_attribute from = evl_attribute_int("start", x->t.shape.rank - (int64_t)n_read);
    evl_attribute axis = evl_attribute_int("axis", 0);
    evl_value *part[2] = { evl_build_ints(&k->b, to, n),
                           evl_cntk_call(k, "Shape", &x, 1, &from, 1) };
    if (part[1])
        part[1]->has_frames = false;
    evl_value *in[2] = { x, evl_cntk_call(k, "Concat", part, 2, &axis, 1) };
    return evl_cntk_call(k, "Reshape", in, 2, NULL, 0);
}

evl_value *evl_cntk_replace(evl_cntk_maker *k, evl_value *x, size_t first, size_t end,
                            const int64_t *dims, size_t n)
{
    int64_t to[EVAL_MAX_RANK] = { 0 }; /* 0: frames and the axes behind `end` stay */
    if (k->b.status != EVAL_OK)
        return NULL;
    size_t rank = evl_cntk_rank(x) - (end - first) + n, whole = rank + x->has_frames;
    size_t open = unknown_axes(x, 0, first);
    if (whole > EVAL_MAX_RANK)
        return evl_cntk_fail(k, EVAL_ERR_LIMIT, "%zu dimensions, at most %d are possible", rank,
                             (int)EVL_CNTK_MAX_RANK);
    evl_shape shape = { .rank = (int32_t)whole };
    for (size_t i = 0; i < rank; i++) {
        bool is_new = i >= first && i < first + n;
        size_t own = i < first ? i : i - n + (end - first);
        int64_t dim = is_new ? dims[i - first] : evl_cntk_dim(x, own);
        shape.dim[whole - 1 - i] = dim;
        to[whole - 1 - i] = i < first + n ? dim : 0;
        open += is_new && dim < 0;
    }
    if (x->has_frames)
        shape.dim[0] = x->t.shape.dim[0];
    evl_value *y = open > 1 ? read_shape(k, x, to, whole - first, first)
                            : evl_build_reshape(&k->b, NULL, x, to, whole);
    if (y)
        y->t.shape = shape;
    return y;
}

evl_value *evl_cntk_squeeze(evl_cntk_maker *k, evl_value *x, const bool *is_gone)
{
    int64_t axes[EVAL_MAX_RANK];
    size_t n = 0;
    if (k->b.status != EVAL_OK)
        return NULL;
    for (size_t i = 0; i < evl_cntk_rank(x); i++)
        if (is_gone[i])
            axes[n++] = x->t.shape.rank - 1 - (int64_t)i;
    evl_attribute a = evl_cntk_ints(k, "axes", axes, n);
    return n > 0 ? evl_cntk_call(k, "Squeeze", &x, 1, &a, 1) : x;
}

/* All axes are told by `like`, which has as many frames. */
static evl_value *reshape_like(evl_cntk_maker *k, evl_value *x, const evl_value *like)
{
    evl_value *in[2] = { x, NULL };
    memcpy(&in[1], &like, sizeof like); /* read only */
    in[1] = evl_cntk_call_1(k, "Shape", in[1]);
    evl_value *y = evl_cntk_call(k, "Reshape", in, 2, NULL, 0);
    if (y)
        y->t.shape = like->t.shape;
    return y;
}

static bool is_like(const evl_value *x, const evl_value *like)
{
    bool is = evl_cntk_rank(x) == evl_cntk_rank(like);
    for (size_t i = 0; is && i < evl_cntk_rank(x); i++)
        is = evl_cntk_dim(x, i) == evl_cntk_dim(like, i);
    return is;
}

evl_value *evl_cntk_like(evl_cntk_maker *k, evl_value *x, const evl_value *like)
{
    int64_t dims[EVAL_MAX_RANK];
    if (k->b.status != EVAL_OK || is_like(x, like))
        return x;
    if (unknown_axes(like, 0, evl_cntk_rank(like)) > 1)
        return reshape_like(k, x, like);
    evl_cntk_dims(like, evl_cntk_rank(like), dims);
    return evl_cntk_reshape(k, x, dims, evl_cntk_rank(like));
}

evl_value *evl_cntk_with_rank(evl_cntk_maker *k, evl_value *x, size_t rank)
{
    int64_t ones[EVAL_MAX_RANK];
    size_t own = k->b.status == EVAL_OK ? evl_cntk_rank(x) : rank;
    for (size_t i = own; i < rank && i < EVAL_MAX_RANK; i++)
        ones[i] = 1;
    return own >= rank ? x : evl_cntk_replace(k, x, own, own, ones + own, rank - own);
}

/* What Expand gives cannot be inferred while T is unknown, and is known here. */
static void set_frames(evl_value *y, const evl_value *x, const evl_value *like)
{
    y->t.shape.rank = x->t.shape.rank + 1;
    y->t.shape.dim[0] = like->t.shape.dim[0];
    for (int32_t i = 0; i < x->t.shape.rank; i++)
        y->t.shape.dim[i + 1] = x->t.shape.dim[i];
    y->has_frames = true;
}

evl_value *evl_cntk_with_frames(evl_cntk_maker *k, evl_value *x, evl_value *like)
{
    if (k->b.status != EVAL_OK || x->has_frames || !like->has_frames)
        return x;
    evl_attribute part[2] = { evl_attribute_int("start", 0), evl_attribute_int("end", 1) };
    evl_attribute axis = evl_attribute_int("axis", 0);
    evl_value *shape[2], *in[2] = { x, NULL };
    shape[0] = evl_cntk_call(k, "Shape", &like, 1, part, 2);
    shape[1] = evl_build_ints(&k->b, x->t.shape.dim, (size_t)x->t.shape.rank);
    in[1] = evl_cntk_call(k, "Concat", shape, 2, &axis, 1);
    evl_value *y = evl_cntk_call(k, "Expand", in, 2, NULL, 0);
    if (y)
        set_frames(y, x, like);
    return y;
}

evl_value *evl_cntk_permute(evl_cntk_maker *k, evl_value *x, const size_t *axes, size_t n)
{
    int64_t order[EVAL_MAX_RANK] = { 0 }; /* 0: the frames stay */
    if (k->b.status != EVAL_OK)
        return NULL;
    size_t rank = n + x->has_frames;
    for (size_t i = 0; i < n; i++)
        order[rank - 1 - i] = (int64_t)(rank - 1 - axes[i]);
    evl_attribute perm = evl_cntk_ints(k, "perm", order, rank);
    return evl_cntk_call(k, "Transpose", &x, 1, &perm, 1);
}

/* --- reductions -------------------------------------------------------------------------- */

evl_value *evl_cntk_reduce(evl_cntk_maker *k, const char *op, evl_value *x, const size_t *axes,
                           size_t n)
{
    int64_t own[EVAL_MAX_RANK];
    if (k->b.status != EVAL_OK || n == 0)
        return x;
    for (size_t i = 0; i < n; i++)
        own[i] = x->t.shape.rank - 1 - (int64_t)axes[i];
    evl_attribute a[2] = { evl_attribute_int("keepdims", 1), evl_cntk_ints(k, "axes", own, n) };
    return evl_cntk_call(k, op, &x, 1, a, 2);
}

evl_value *evl_cntk_reduce_sample(evl_cntk_maker *k, const char *op, evl_value *x)
{
    static const size_t first = 0;
    return evl_cntk_reduce(k, op, evl_cntk_flatten(k, x), &first, 1);
}

evl_value *evl_cntk_reduce_all(evl_cntk_maker *k, const char *op, evl_value *x)
{
    static const int64_t one = 1;
    evl_attribute keep = evl_attribute_int("keepdims", 0);
    evl_value *y = evl_cntk_call(k, op, &x, 1, &keep, 1);
    if (!y)
        return NULL;
    y->has_frames = false;
    return evl_cntk_reshape(k, y, &one, 1);
}

evl_value *evl_cntk_sum_frames(evl_cntk_maker *k, evl_value *x)
{
    static const int64_t first = 0;
    evl_attribute a[2] = { evl_attribute_int("keepdims", 1), evl_cntk_ints(k, "axes", &first, 1) };
    return x && x->has_frames ? evl_cntk_call(k, "ReduceSum", &x, 1, a, 2) : x;
}

evl_value *evl_cntk_to_real(evl_cntk_maker *k, evl_value *x)
{
    evl_attribute to = evl_attribute_int("to", k->node->real);
    return evl_cntk_call(k, "Cast", &x, 1, &to, 1);
}

/* --- batches ----------------------------------------------------------------------------- */

evl_value *evl_cntk_batched(evl_cntk_maker *k, evl_value *x)
{
    if (k->b.status != EVAL_OK || x->has_frames)
        return x;
    evl_value *y = evl_cntk_with_rank(k, x, evl_cntk_rank(x) + 1);
    if (y)
        y->has_frames = true;
    return y;
}

evl_value *evl_cntk_unbatched(evl_cntk_maker *k, evl_value *y, const evl_value *x)
{
    if (k->b.status != EVAL_OK || x->has_frames)
        return y;
    size_t rank = evl_cntk_rank(y);
    y->has_frames = false;
    return evl_cntk_replace(k, y, rank, rank + 1, NULL, 0);
}
