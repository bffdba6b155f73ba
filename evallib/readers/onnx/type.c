/* Declared types: what a value is before anything is inferred. */
#include "readers/onnx/onnx.h"

EvalStatus evl_onnx_check_rank(evl_onnx *o, size_t rank, size_t where)
{
    if (rank <= EVAL_MAX_RANK)
        return EVAL_OK;
    return evl_fail(o->ctx, EVAL_ERR_LIMIT, "onnx: a tensor of rank %zu, at byte %zu; at most %d",
                    rank, where, (int)EVAL_MAX_RANK);
}

/* The names of dimensions that have one; the array is made for the first. */
static EvalStatus name_dim(evl_onnx *o, evl_value *v, const char ***names, int32_t i,
                           evl_bytes param)
{
    const char *text;
    EvalStatus st = evl_onnx_text(o, param, &text);
    if (st != EVAL_OK)
        return st;
    if (!*names)
        *names = evl_arena_take_many(o->arena, (size_t)v->t.shape.rank, sizeof **names);
    char *copy = evl_arena_text(o->arena, evl_pb_text(param), evl_pb_size(param));
    if (!*names || !copy)
        return evl_no_memory(o->ctx);
    (*names)[i] = copy;
    v->dim_names = *names;
    return EVAL_OK;
}

static EvalStatus read_shape(evl_onnx *o, evl_bytes message, evl_value *v)
{
    onnx_shape shape = { 0 };
    evl_bytes item;
    const char **names = NULL;
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_shape_schema, message, &shape);
    if (st == EVAL_OK)
        st = evl_onnx_check_rank(o, shape.dims.n, message.at);
    if (st != EVAL_OK)
        return st;
    v->t.shape.rank = (int32_t)shape.dims.n;
    for (int32_t i = 0; evl_pb_next(&shape.dims, &item) && st == EVAL_OK; i++) {
        onnx_dim dim = { .value = EVL_UNKNOWN_DIM };
        st = evl_pb_read(o->ctx, &evl_onnx_dim_schema, item, &dim);
        v->t.shape.dim[i] = dim.value < 0 ? EVL_UNKNOWN_DIM : dim.value;
        if (st == EVAL_OK && evl_pb_size(dim.param))
            st = name_dim(o, v, &names, i, dim.param);
    }
    return st;
}

static const char *name_of_kind(const onnx_type *type)
{
    return type->sequence.data   ? "sequence"
           : type->map.data      ? "map"
           : type->optional.data ? "optional"
           : type->sparse.data   ? "sparse tensor"
           : type->opaque.data   ? "opaque"
                                 : NULL;
}

static EvalStatus read_tensor_type(evl_onnx *o, evl_bytes message, evl_value *v)
{
    onnx_tensor_type type = { 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_tensor_type_schema, message, &type);
    if (st != EVAL_OK)
        return st;
    if (type.elem_type < 0 || type.elem_type >= EVL_N_TYPES)
        return evl_onnx_miss(o, "value '%s': element type %lld", v->name,
                             (long long)type.elem_type);
    v->t.type = (EvalType)type.elem_type;
    return type.shape.data ? read_shape(o, type.shape, v) : EVAL_OK;
}

EvalStatus evl_onnx_type(evl_onnx *o, evl_bytes message, evl_value *v)
{
    onnx_type type = { 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_type_schema, message, &type);
    if (st != EVAL_OK)
        return st;
    if (type.tensor.data)
        return read_tensor_type(o, type.tensor, v);
    const char *kind = name_of_kind(&type);
    return kind && v->is_input ? evl_onnx_miss(o, "input '%s': of type %s", v->name, kind)
                               : EVAL_OK;
}
