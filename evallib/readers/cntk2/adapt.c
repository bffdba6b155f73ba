/* adapt.c - functions that v1's nodes can do once their attributes are told as v1's
** fields: axes from 1, the kinds of pooling one further, the kernel of a convolution. */
#include "readers/cntk/window.h"
#include "readers/cntk2/builders.h"

bool evl_cntk2_static_axis(evl_cntk_maker *k, int64_t axis, size_t rank, size_t *result)
{
    int64_t from_end = EVL_CNTK2_FROM_END - axis, n = (int64_t)rank;
    int64_t at = axis >= 1 ? axis - 1 : axis == EVL_CNTK2_END ? n : n - from_end;
    bool is_static = axis >= 1 || axis == EVL_CNTK2_END || axis < EVL_CNTK2_FROM_END;
    *result = (size_t)at;
    if (k->b.status == EVAL_OK && (!is_static || at < 0 || at > n))
        evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                      is_static ? "an axis that its samples, of rank %zu, do not have"
                                : "a dynamic axis, where one of its samples is wanted (rank %zu)",
                      rank);
    return k->b.status == EVAL_OK;
}

/* The node with other fields, built as v1's is. */
static evl_value *build_as(evl_cntk_maker *k, const evl_cntk_fields *f, evl_cntk_build_op *build)
{
    const evl_cntk_node *own = k->node;
    evl_cntk_node changed = *own;
    changed.f = *f;
    k->node = &changed;
    evl_value *y = k->b.status == EVAL_OK ? build(k) : NULL;
    k->node = own;
    return y;
}

/* Axes of a list, from 1, in `room`. */
static evl_cntk_list numbered(evl_cntk_maker *k, const evl_cntk_list *axes, size_t rank,
                              int64_t *room)
{
    evl_cntk_list list = { axes->n, room };
    for (size_t i = 0; i < axes->n; i++) {
        size_t axis;
        room[i] = evl_cntk2_static_axis(k, axes->at[i], rank, &axis) ? (int64_t)axis + 1 : 1;
    }
    return list;
}

evl_value *evl_cntk2_slice(evl_cntk_maker *k)
{
    static int64_t const ones[EVAL_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    evl_cntk_fields f = k->node->f;
    int64_t axes[EVAL_MAX_RANK], steps[EVAL_MAX_RANK];
    size_t n = f.axes.n;
    if (n != f.begins.n || n != f.ends.n)
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "%zu axes, %zu beginnings and %zu ends", n,
                             f.begins.n, f.ends.n);
    for (size_t i = 0; i < n; i++)
        steps[i] = i < f.steps.n ? f.steps.at[i] : ones[0];
    f.axes = numbered(k, &k->node->f.axes, evl_cntk_rank(k->in[0]), axes);
    f.steps = (evl_cntk_list){ n, steps };
    return build_as(k, &f, evl_cntk_slice);
}

evl_value *evl_cntk2_splice(evl_cntk_maker *k)
{
    evl_cntk_fields f = k->node->f;
    size_t rank = 0, axis = 0;
    for (size_t i = 0; i < k->node->n_inputs; i++)
        if (k->in[i] && evl_cntk_rank(k->in[i]) > rank)
            rank = evl_cntk_rank(k->in[i]);
    if (f.axes.n == 1 && f.axes.at[0] > 0 && f.axes.at[0] <= EVL_CNTK_MAX_RANK)
        axis = (size_t)f.axes.at[0] - 1; /* perhaps one that its samples do not have yet */
    else if (f.axes.n != 1 || !evl_cntk2_static_axis(k, f.axes.at[0], rank, &axis))
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "spliced along no static axis");
    f.axis = (int64_t)axis + 1;
    return build_as(k, &f, evl_cntk_row_stack);
}

/* Two axes, or all of them in a new order. */
evl_value *evl_cntk2_transpose(evl_cntk_maker *k)
{
    evl_cntk_fields f = k->node->f;
    int64_t room[EVAL_MAX_RANK];
    size_t rank = evl_cntk_rank(k->in[0]);
    if (f.axes.n > 0) {
        f.permutation = numbered(k, &k->node->f.axes, rank, room);
        for (size_t i = 0; i < f.permutation.n; i++)
            room[i]--;
        return build_as(k, &f, evl_cntk_transpose);
    }
    int64_t both[2] = { f.first_axis, f.end_axis };
    evl_cntk_list pair = { 2, both };
    f.axes = numbered(k, &pair, rank, room);
    return build_as(k, &f, evl_cntk_transpose);
}

/* A dimension below 0 is inferred. */
evl_value *evl_cntk2_reshape(evl_cntk_maker *k)
{
    evl_cntk_fields f = k->node->f;
    size_t rank = evl_cntk_rank(k->in[0]), first = 0, end = rank;
    int64_t dims[EVAL_MAX_RANK];
    if ((f.first_axis != 0 && !evl_cntk2_static_axis(k, f.first_axis, rank, &first)) ||
        (f.end_axis != 0 && !evl_cntk2_static_axis(k, f.end_axis, rank, &end)))
        return NULL;
    for (size_t i = 0; i < f.shape.n; i++)
        dims[i] = f.shape.at[i] < 0 ? 0 : f.shape.at[i];
    f.shape.at = dims;
    f.first_axis = (int64_t)first + 1;
    f.end_axis = (int64_t)end + 1;
    return build_as(k, &f, evl_cntk_reshape_op);
}

evl_value *evl_cntk2_reduce(evl_cntk_maker *k)
{
    evl_cntk_fields f = k->node->f;
    int64_t room[EVAL_MAX_RANK];
    if (f.axes.n == 1 && (f.axes.at[0] == EVL_CNTK2_ALL_STATIC || f.axes.at[0] == EVL_CNTK2_ALL))
        return build_as(k, &f, evl_cntk_reduce_elements);
    if (f.axes.n == 1 && (f.axes.at[0] == EVL_CNTK2_BATCH || f.axes.at[0] == EVL_CNTK2_SEQUENCE))
        return build_as(k, &f, evl_cntk_reduce_frames);
    f.axes = numbered(k, &k->node->f.axes, evl_cntk_rank(k->in[0]), room);
    return build_as(k, &f, evl_cntk_reduce_elements);
}

/* As long as the samples' rank, the last element repeated, none below `rest`; the last one
** is `last`, unless that is below 0. */
static evl_cntk_list extended(const evl_cntk_list *told, size_t rank, int64_t rest, int64_t last,
                              int64_t *room)
{
    for (size_t i = 0; i < rank; i++)
        room[i] = i < told->n ? told->at[i] : told->n > 0 ? told->at[told->n - 1] : rest;
    for (size_t i = 0; i < rank; i++)
        room[i] = room[i] < rest ? rest : room[i];
    if (rank > 0 && last >= 0)
        room[rank - 1] = last;
    return (evl_cntk_list){ rank, room };
}

/* The window covers all but the channels, whatever their sizes. */
static evl_value *pool_whole(evl_cntk_maker *k)
{
    evl_value *x = evl_cntk_batched(k, k->in[0]);
    evl_value *y = evl_cntk_call_1(
        k, k->node->f.pool ? "GlobalAveragePool" : "GlobalMaxPool", x);
    return evl_cntk_unbatched(k, y, k->in[0]);
}

evl_value *evl_cntk2_pooling(evl_cntk_maker *k)
{
    evl_cntk_fields f = k->node->f;
    int64_t steps[EVAL_MAX_RANK];
    if (f.kernel.n == 1 && f.kernel.at[0] < 0 && evl_cntk_rank(k->in[0]) > 1)
        return pool_whole(k);
    f.pool++;
    f.stride = extended(&f.stride, f.kernel.n, 1, -1, steps);
    return build_as(k, &f, evl_cntk_pooling);
}

evl_value *evl_cntk2_roi_pooling(evl_cntk_maker *k)
{
    evl_cntk_fields f = k->node->f;
    f.pool++;
    return build_as(k, &f, evl_cntk_roi_pooling);
}

/* The kernel is the weights' first dimensions, as many as x has; the others are maps. All
** channels are summed, or all of a group, whatever the stride along them. */
evl_value *evl_cntk2_convolution(evl_cntk_maker *k)
{
    evl_cntk_fields f = k->node->f;
    int64_t dims[EVAL_MAX_RANK], room[4][EVAL_MAX_RANK];
    const evl_value *w = k->in[0], *x = k->in[1];
    size_t rank = evl_cntk_rank(x), n = evl_cntk_rank(w);
    evl_cntk_dims(w, n, dims);
    if (n < rank || rank == 0)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "weights of rank %zu for samples of rank %zu", n,
                             rank);
    int64_t channels = evl_cntk_dim(x, rank - 1);
    if (channels < 0)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "a number of channels that is not told");
    bool is_summed = !f.is_transposed && f.groups > 0 && channels > 0 &&
                     dims[rank - 1] == channels / f.groups && channels % f.groups == 0;
    f.map_count = (evl_cntk_list){ n - rank, dims + rank };
    if (is_summed)
        dims[rank - 1] = channels;
    f.kernel = (evl_cntk_list){ rank, dims };
    f.stride = extended(&f.stride, rank, 1, is_summed ? channels : -1, room[0]);
    f.auto_pad = extended(&f.auto_pad, rank, 0, is_summed ? 0 : -1, room[1]);
    f.lower_pad = extended(&f.lower_pad, rank, 0, is_summed ? 0 : -1, room[2]);
    f.upper_pad = extended(&f.upper_pad, rank, 0, is_summed ? 0 : -1, room[3]);
    if (f.output_shape.n > 0 && f.output_shape.at[0] < 1)
        f.output_shape.n = 0;
    return build_as(k, &f, evl_cntk_convolution);
}

/* Operands: weights, a sequence. How many frames a convolution over it gives, which is over one
** axis more than its samples have: before the channels, the frames. */
evl_value *evl_cntk2_convolution_frames(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    evl_value *x = k->in[1];
    size_t axis = evl_cntk_rank(x) - 1, rank = axis + 2;
    int64_t room[5][EVAL_MAX_RANK], column[2] = { 1, 1 };
    if (!x->has_frames || evl_cntk_rank(x) < 1 || evl_cntk_rank(k->in[0]) < rank)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "it wants weights over a sequence's frames");
    const evl_cntk_list *lists[] = { &f->stride, &f->dilation, &f->auto_pad, &f->lower_pad,
                                     &f->upper_pad };
    for (size_t i = 0; i < 5; i++)
        extended(lists[i], rank, i < 2, -1, room[i]);
    evl_cntk_axis a = { .in = EVL_UNKNOWN_DIM,
                        .kernel = evl_cntk_dim(k->in[0], axis),
                        .stride = room[0][axis],
                        .dilation = room[1][axis],
                        .lower = room[3][axis],
                        .upper = room[4][axis] };
    if (!evl_cntk_place(k, &a, room[2][axis] != 0, false))
        return NULL;
    int64_t more = a.lower + a.upper - evl_cntk_extent(&a) + a.stride;
    evl_value *y = evl_cntk_call_2(k, "Add", evl_cntk_frame_count(k, x),
                                   evl_build_ints(&k->b, &more, 1));
    y = evl_cntk_call_2(k, "Div", y, evl_build_ints(&k->b, &a.stride, 1));
    y = y ? evl_build_reshape(&k->b, NULL, y, column, 2) : NULL;
    if (y)
        y->has_frames = true;
    return evl_cntk_to_real(k, y);
}

enum { REDUCES_SEQUENCE = -3 };

evl_value *evl_cntk2_times(evl_cntk_maker *k)
{
    evl_value *y = evl_cntk_times(k);
    return k->node->f.inferred_rank == REDUCES_SEQUENCE ? evl_cntk_sum_frames(k, y) : y;
}
