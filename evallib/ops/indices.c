#include "ops/indices.h"
#include "ops/axes.h"
#include <inttypes.h>

EvalStatus evl_indices_check(evl_context *ctx, const evl_tensor *indices, int32_t axis,
                             int64_t size)
{
    size_t n = evl_shape_count(&indices->shape);
    for (size_t i = 0; i < n; i++) {
        int64_t index = evl_index_at(indices, i), place;
        if (index < -size || index >= size)
            return evl_index(ctx, index, axis, size, &place);
    }
    return EVAL_OK;
}

EvalStatus evl_lines_infer(evl_infer *x, size_t input)
{
    const evl_shape *data = &x->use.in[0]->shape, *indices = &x->use.in[input]->shape;
    int32_t axis;
    EvalStatus st = evl_index_type_check(x->ctx, &x->use, input);
    if (st || data->rank < 0)
        return st;
    if ((st = evl_axis(x->ctx, "axis", evl_node_int(x->use.node, "axis", 0), data->rank, &axis)))
        return st;
    if (indices->rank < 0)
        return EVAL_OK;
    if (indices->rank != data->rank)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                        "the indices have rank %" PRId32 ", the data %" PRId32, indices->rank,
                        data->rank);
    for (int32_t d = 0; d < data->rank; d++)
        if (d != axis && data->dim[d] >= 0 && indices->dim[d] > data->dim[d])
            return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                            "axis %" PRId32 " of the indices has size %" PRId64
                            ", of the data only %" PRId64,
                            d, indices->dim[d], data->dim[d]);
    return EVAL_OK;
}

EvalStatus evl_lines_of(evl_context *ctx, const evl_node *node, const evl_tensor *data,
                        const evl_tensor *indices, evl_lines *l)
{
    int32_t rank = data->shape.rank, axis;
    size_t step = 1;
    EvalStatus st = evl_axis(ctx, "axis", evl_node_int(node, "axis", 0), rank, &axis);
    if (st)
        return st;
    *l = (evl_lines){ .indices = indices, .rank = rank, .axis_size = data->shape.dim[axis] };
    for (int32_t d = rank; d-- > 0;) {
        l->row_step[d] = d == axis ? 0 : step;
        if (d == axis)
            l->axis_step = step;
        step *= (size_t)data->shape.dim[d];
    }
    l->column_step = l->row_step[rank - 1];
    l->n_columns = (size_t)indices->shape.dim[rank - 1];
    l->n_rows = evl_shape_count_part(&indices->shape, 0, rank - 1);
    return evl_indices_check(ctx, indices, axis, l->axis_size);
}

size_t evl_lines_start(const evl_lines *l, size_t row)
{
    size_t start = 0;
    for (int32_t d = l->rank - 1; d-- > 0;) {
        size_t n = (size_t)l->indices->shape.dim[d];
        start += row % n * l->row_step[d];
        row /= n;
    }
    return start;
}

static EvalStatus check_batch(evl_context *ctx, const evl_shape *data, const evl_shape *indices,
                              int32_t batch_dims)
{
    if (indices->rank < 1)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "the indices have rank 0, they need 1");
    if (batch_dims < 0 || batch_dims >= indices->rank || batch_dims > data->rank)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "batch_dims %" PRId32 " does not fit data of rank %" PRId32
                        " and indices of rank %" PRId32,
                        batch_dims, data->rank, indices->rank);
    for (int32_t d = 0; d < batch_dims; d++)
        if (data->dim[d] >= 0 && indices->dim[d] >= 0 && data->dim[d] != indices->dim[d])
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "batch axis %" PRId32 " has size %" PRId64 " in the data and %" PRId64
                            " in the indices",
                            d, data->dim[d], indices->dim[d]);
    return EVAL_OK;
}

EvalStatus evl_tuples_infer(evl_infer *x, int32_t batch_dims, evl_shape *blocks)
{
    const evl_shape *data = &x->use.in[0]->shape, *indices = &x->use.in[1]->shape;
    int32_t last = indices->rank - 1, lead;
    int64_t length;
    EvalStatus st = evl_index_type_check(x->ctx, &x->use, 1);
    *blocks = evl_shape_unknown();
    if (st || data->rank < 0 || indices->rank < 0)
        return st;
    if ((st = check_batch(x->ctx, data, indices, batch_dims)))
        return st;
    length = indices->dim[last];
    if (length < 0)
        return EVAL_OK;
    if (length > data->rank - batch_dims)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                        "tuples of %" PRId64 " indices into %" PRId32 " axes", length,
                        data->rank - batch_dims);
    lead = batch_dims + (int32_t)length;
    if ((st = evl_rank_check(x->ctx, (size_t)(last + data->rank - lead))))
        return st;
    *blocks = evl_shape_of((size_t)last, indices->dim);
    for (int32_t d = lead; d < data->rank; d++)
        blocks->dim[blocks->rank++] = data->dim[d];
    return EVAL_OK;
}

static EvalStatus check_tuples(evl_context *ctx, const evl_tuples *t)
{
    for (size_t i = 0; i < t->n * t->length; i++) {
        size_t entry = i % t->length;
        int64_t index = evl_index_at(t->indices, i), place;
        if (index < -t->size[entry] || index >= t->size[entry])
            return evl_index(ctx, index, t->first_axis + (int32_t)entry, t->size[entry], &place);
    }
    return EVAL_OK;
}

EvalStatus evl_tuples_of(evl_context *ctx, const evl_tensor *data, const evl_tensor *indices,
                         int32_t batch_dims, evl_tuples *t)
{
    int32_t rank = data->shape.rank, last = indices->shape.rank - 1, length, lead;
    size_t step;
    length = (int32_t)indices->shape.dim[last];
    lead = batch_dims + length;
    *t = (evl_tuples){ .indices = indices, .length = (size_t)length, .first_axis = batch_dims };
    t->n = evl_shape_count_part(&indices->shape, 0, last);
    t->per_batch = evl_shape_count_part(&indices->shape, batch_dims, last);
    t->batch_step = evl_shape_count_part(&data->shape, batch_dims, rank);
    step = t->inner = evl_shape_count_part(&data->shape, lead, rank);
    for (int32_t i = length; i-- > 0;) {
        t->size[i] = data->shape.dim[batch_dims + i];
        t->step[i] = step;
        step *= (size_t)t->size[i];
    }
    return check_tuples(ctx, t);
}

size_t evl_tuples_offset(const evl_tuples *t, size_t tuple)
{
    size_t offset = tuple / t->per_batch * t->batch_step;
    for (size_t i = 0; i < t->length; i++)
        offset += evl_place_at(t->indices, tuple * t->length + i, t->size[i]) * t->step[i];
    return offset;
}
