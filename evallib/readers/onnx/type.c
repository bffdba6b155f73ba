/* Declared types: what a value is before anything is inferred. */
#include "ir/nested.h"
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
        *names = evl_arena_take_many(o->arena, EVAL_MAX_RANK, sizeof **names); /* the rank may prove another */
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
    return type->sparse.data ? "sparse tensor" : type->opaque.data ? "opaque" : NULL;
}

static EvalStatus check_element_type(evl_onnx *o, const evl_value *v, int64_t type)
{
    if (type >= 0 && type < EVL_N_TYPES)
        return EVAL_OK;
    return evl_onnx_miss(o, "value '%s': element type %lld", v->name, (long long)type);
}

static EvalStatus read_tensor_type(evl_onnx *o, evl_bytes message, evl_value *v)
{
    onnx_tensor_type type = { 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_tensor_type_schema, message, &type);
    if (st == EVAL_OK)
        st = check_element_type(o, v, type.elem_type);
    if (st != EVAL_OK || type.elem_type < 0 || type.elem_type >= EVL_N_TYPES)
        return st; /* the list of what is missing has it */
    v->t.type = (EvalType)type.elem_type;
    return type.shape.data ? read_shape(o, type.shape, v) : EVAL_OK;
}

static EvalStatus read_type(evl_onnx *o, evl_bytes message, evl_value *v, size_t depth);

static EvalStatus too_deep(evl_onnx *o, const evl_value *v)
{
    return evl_onnx_miss(o, "value '%s': types nest more than %d deep", v->name,
                         (int)EVL_MAX_NESTING);
}

/* Types inside others: what they say of shapes is not kept, as elements may differ. */
static EvalStatus read_inside(evl_onnx *o, evl_bytes message, evl_value *v, size_t depth,
                              evl_tensor *inside)
{
    evl_value within = { .name = v->name, .is_input = v->is_input };
    within.t.shape = evl_shape_unknown();
    EvalStatus st = message.data ? read_type(o, message, &within, depth + 1) : EVAL_OK;
    *inside = within.t;
    return st;
}

static EvalStatus read_sequence_type(evl_onnx *o, EvalType kind, evl_bytes message, evl_value *v,
                                     size_t depth)
{
    onnx_sequence_type type = { 0 };
    evl_tensor inside;
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_sequence_type_schema, message, &type);
    if (st == EVAL_OK)
        st = read_inside(o, type.elem_type, v, depth, &inside);
    if (st == EVAL_OK && !evl_nested_around(kind, &inside, &v->t))
        return too_deep(o, v);
    return st;
}

static EvalStatus read_map_type(evl_onnx *o, evl_bytes message, evl_value *v, size_t depth)
{
    onnx_map_type type = { 0 };
    evl_tensor value, pair = { 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_map_type_schema, message, &type);
    if (st == EVAL_OK)
        st = check_element_type(o, v, type.key_type);
    if (st == EVAL_OK)
        st = read_inside(o, type.value_type, v, depth, &value);
    if (st != EVAL_OK || type.key_type < 0 || type.key_type >= EVL_N_TYPES)
        return st;
    if (!evl_nested_around((EvalType)type.key_type, &value, &pair) ||
        !evl_nested_around(EVAL_MAP, &pair, &v->t)) /* keys, and then values */
        return too_deep(o, v);
    return EVAL_OK;
}

static EvalStatus read_type(evl_onnx *o, evl_bytes message, evl_value *v, size_t depth)
{
    onnx_type type = { 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_type_schema, message, &type);
    if (st != EVAL_OK)
        return st;
    if (depth > EVL_MAX_NESTING)
        return too_deep(o, v);
    if (type.tensor.data)
        return read_tensor_type(o, type.tensor, v);
    if (type.sequence.data)
        return read_sequence_type(o, EVAL_SEQUENCE, type.sequence, v, depth);
    if (type.optional.data)
        return read_sequence_type(o, EVAL_OPTIONAL, type.optional, v, depth);
    if (type.map.data)
        return read_map_type(o, type.map, v, depth);
    const char *kind = name_of_kind(&type);
    return kind && v->is_input ? evl_onnx_miss(o, "input '%s': of type %s", v->name, kind)
                               : EVAL_OK;
}

EvalStatus evl_onnx_type(evl_onnx *o, evl_bytes message, evl_value *v)
{
    return read_type(o, message, v, 0);
}
