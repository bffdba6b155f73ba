/* indices.h - tensors of indices, int32 or int64, and the places they name. Gather and
** Scatter of a kind walk the same places, one reading and the other writing there. All
** indices are checked once before anything is moved. */
#ifndef EVL_OPS_INDICES_H
#define EVL_OPS_INDICES_H
#include "ir/op.h"
#include <string.h>

static inline int64_t evl_index_at(const evl_tensor *indices, size_t i)
{
    int64_t wide;
    int32_t narrow;
    if (indices->type == EVAL_INT64) {
        memcpy(&wide, (const char *)indices->data + i * sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const char *)indices->data + i * sizeof narrow, sizeof narrow);
    return narrow;
}

/* Index i of an axis of that size, counted from its start. It was checked. */
static inline size_t evl_place_at(const evl_tensor *indices, size_t i, int64_t size)
{
    int64_t index = evl_index_at(indices, i);
    return (size_t)(index < 0 ? index + size : index);
}

/* A few bytes, of which the usual sizes are one load and one store. */
static inline void evl_move_bytes(void *to, const void *from, size_t bytes)
{
    switch (bytes) {
    case 1: memcpy(to, from, 1); break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    case 8: memcpy(to, from, 8); break;
    case 16: memcpy(to, from, 16); break;
    default: memcpy(to, from, bytes);
    }
}

/* Every index is in -size .. size-1; EVAL_ERR_SHAPE names the first that is not. */
EVL_MUST_USE EvalStatus evl_indices_check(evl_context *, const evl_tensor *, int32_t axis,
                                          int64_t size);

/* Of GatherElements and ScatterElements: each index stands for the element of the data at
** its own position, but for the axis, where the index itself tells. Steps in elements. */
typedef struct evl_lines {
    const evl_tensor *indices;
    size_t n_rows, n_columns; /* of the indices: all dimensions but the last, the last */
    int32_t rank;
    size_t row_step[EVAL_MAX_RANK]; /* of the data; 0 along the axis */
    size_t column_step, axis_step;
    int64_t axis_size;
} evl_lines;

/* Shape rule of the two: input `input` holds the indices of input 0. */
EVL_MUST_USE EvalStatus evl_lines_infer(evl_infer *, size_t input);
EVL_MUST_USE EvalStatus evl_lines_of(evl_context *, const evl_node *, const evl_tensor *data,
                                     const evl_tensor *indices, evl_lines *);
size_t evl_lines_start(const evl_lines *, size_t row);

static inline size_t evl_lines_offset(const evl_lines *l, size_t start, size_t row, size_t column)
{
    size_t i = row * l->n_columns + column;
    return start + column * l->column_step +
           evl_place_at(l->indices, i, l->axis_size) * l->axis_step;
}

/* Of GatherND and ScatterND: the last dimension of the indices is a tuple that names a
** block of `inner` elements of the data; the first batch_dims dimensions of both go
** together. Steps in elements. */
typedef struct evl_tuples {
    const evl_tensor *indices;
    size_t n, length;             /* tuples, entries of each */
    size_t per_batch, batch_step; /* tuples that share a batch entry, elements of that */
    size_t inner;
    int64_t size[EVAL_MAX_RANK]; /* of the axes that entries are indices of */
    size_t step[EVAL_MAX_RANK];
    int32_t first_axis;
} evl_tuples;

/* Shape rule of the two; blocks: indices without the tuple, then what a tuple leaves of
** the data. Unknown when the tuple's length is. */
EVL_MUST_USE EvalStatus evl_tuples_infer(evl_infer *, int32_t batch_dims, evl_shape *blocks);
/* Fails when an index is out of range. */
EVL_MUST_USE EvalStatus evl_tuples_of(evl_context *, const evl_tensor *data,
                                      const evl_tensor *indices, int32_t batch_dims, evl_tuples *);
size_t evl_tuples_offset(const evl_tuples *, size_t tuple);
#endif
