/* SparseTensorProto: values and where they stand, made dense. */
#include "readers/onnx/onnx.h"
#include <string.h>

/* A few bytes must not become gigabytes: the dense form may be this many times as long as
** the file, and this much more. */
enum { MOST_TIMES = 256, MOST_MORE = 1 << 20 };

typedef struct sparse {
    evl_tensor values, indices, *dense;
    size_t n, where; /* n: values */
} sparse;

static EvalStatus fail(evl_onnx *o, const sparse *s, const char *what)
{
    return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: sparse tensor: %s, at byte %zu", what,
                    s->where);
}

static EvalStatus check(evl_onnx *o, const sparse *s)
{
    const evl_shape *indices = &s->indices.shape;
    int32_t rank = s->dense->shape.rank;
    bool is_linear = indices->rank == 1 && (size_t)indices->dim[0] == s->n;
    bool is_table =
        indices->rank == 2 && (size_t)indices->dim[0] == s->n && indices->dim[1] == rank;
    if (s->values.shape.rank != 1 || s->values.type == EVAL_STRING)
        return fail(o, s, "its values are not a list of numbers");
    if (s->indices.type != EVAL_INT64 || !(is_linear || is_table))
        return fail(o, s, "its indices do not fit its values");
    EvalStatus st = evl_shape_check(o->ctx, &s->dense->shape, evl_type_size(s->values.type));
    if (st != EVAL_OK)
        return st;
    size_t bytes = evl_shape_count(&s->dense->shape) * evl_type_size(s->values.type);
    if (bytes > MOST_MORE && (bytes - MOST_MORE) / MOST_TIMES > o->source->size)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT,
                        "onnx: a sparse tensor would have %zu bytes, from a file of %zu", bytes,
                        o->source->size);
    return EVAL_OK;
}

/* The place of value i among all elements; false: outside. */
static bool place_of(const sparse *s, size_t i, size_t *place)
{
    const evl_shape *shape = &s->dense->shape;
    int64_t at = 0;
    if (s->indices.shape.rank == 1) {
        at = evl_tensor_i64(&s->indices, i);
        *place = (size_t)at;
        return at >= 0 && (uint64_t)at < evl_shape_count(shape);
    }
    *place = 0;
    for (int32_t j = 0; j < shape->rank; j++) {
        at = evl_tensor_i64(&s->indices, i * (size_t)shape->rank + (size_t)j);
        if (at < 0 || at >= shape->dim[j])
            return false;
        *place = *place * (size_t)shape->dim[j] + (size_t)at;
    }
    return true;
}

static EvalStatus spread(evl_onnx *o, sparse *s)
{
    size_t each = evl_type_size(s->values.type), place;
    char *data = evl_arena_take_many(o->arena, evl_shape_count(&s->dense->shape), each);
    if (!data)
        return evl_no_memory(o->ctx);
    for (size_t i = 0; i < s->n; i++) {
        if (!place_of(s, i, &place))
            return fail(o, s, "an index is outside its shape");
        memcpy(data + place * each, (const char *)s->values.data + i * each, each);
    }
    s->dense->data = data;
    return EVAL_OK;
}

EvalStatus evl_onnx_sparse(evl_onnx *o, evl_bytes message, evl_bytes *name, evl_tensor *dense)
{
    onnx_sparse parts = { 0 };
    evl_bytes unused;
    sparse s = { .dense = dense, .where = message.at };
    *dense = (evl_tensor){ .life = EVL_LIFE_MODEL };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_sparse_schema, message, &parts);
    if (st == EVAL_OK)
        st = evl_onnx_tensor(o, parts.values, name, &s.values);
    if (st == EVAL_OK)
        st = evl_onnx_tensor(o, parts.indices, &unused, &s.indices);
    if (st == EVAL_OK)
        st = evl_onnx_dims(o, &parts.dims, message.at, &dense->shape);
    if (st != EVAL_OK || s.values.type == EVAL_UNDEFINED)
        return st; /* an element type not offered is on the list already */
    dense->type = s.values.type;
    s.n = evl_shape_count(&s.values.shape);
    st = check(o, &s);
    return st == EVAL_OK ? spread(o, &s) : st;
}
