/* TensorProto: the many ways in which elements are written.
**
** All of them come down to two: little-endian bytes (raw_data, external data, a run of
** floats or doubles), which are used where they are when they are as in memory; and
** varints and strings, which are decoded into the arena, after their number was compared
** with the shape: so what is allocated is in proportion to the file. */
#include "readers/onnx/onnx.h"
#include <string.h>

typedef struct encoding {
    uint8_t bits;   /* of an element as written */
    uint8_t parts;  /* numbers an element: 2 for complex */
    uint8_t field;  /* onnx_data, when not raw */
    bool is_signed; /* of those narrower than a byte */
} encoding;

static const encoding encodings[EVL_N_TYPES] = {
    [EVAL_FLOAT32] = { 32, 1, ONNX_FLOAT_DATA, false },
    [EVAL_UINT8] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_INT8] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_UINT16] = { 16, 1, ONNX_INT32_DATA, false },
    [EVAL_INT16] = { 16, 1, ONNX_INT32_DATA, false },
    [EVAL_INT32] = { 32, 1, ONNX_INT32_DATA, false },
    [EVAL_INT64] = { 64, 1, ONNX_INT64_DATA, false },
    [EVAL_STRING] = { 0, 1, ONNX_STRING_DATA, false },
    [EVAL_BOOL] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_FLOAT16] = { 16, 1, ONNX_INT32_DATA, false },
    [EVAL_FLOAT64] = { 64, 1, ONNX_DOUBLE_DATA, false },
    [EVAL_UINT32] = { 32, 1, ONNX_UINT64_DATA, false },
    [EVAL_UINT64] = { 64, 1, ONNX_UINT64_DATA, false },
    [EVAL_COMPLEX64] = { 64, 2, ONNX_FLOAT_DATA, false },
    [EVAL_COMPLEX128] = { 128, 2, ONNX_DOUBLE_DATA, false },
    [EVAL_BFLOAT16] = { 16, 1, ONNX_INT32_DATA, false },
    [EVAL_FLOAT8E4M3FN] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_FLOAT8E4M3FNUZ] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_FLOAT8E5M2] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_FLOAT8E5M2FNUZ] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_UINT4] = { 4, 1, ONNX_INT32_DATA, false },
    [EVAL_INT4] = { 4, 1, ONNX_INT32_DATA, true },
    [EVAL_FLOAT4E2M1] = { 4, 1, ONNX_INT32_DATA, false },
    [EVAL_FLOAT8E8M0] = { 8, 1, ONNX_INT32_DATA, false },
    [EVAL_UINT2] = { 2, 1, ONNX_INT32_DATA, false },
    [EVAL_INT2] = { 2, 1, ONNX_INT32_DATA, true },
};

static const char *const field_names[ONNX_N_DATA] = {
    [ONNX_FLOAT_DATA] = "items of float_data",   [ONNX_INT32_DATA] = "items of int32_data",
    [ONNX_STRING_DATA] = "items of string_data", [ONNX_INT64_DATA] = "items of int64_data",
    [ONNX_DOUBLE_DATA] = "items of double_data", [ONNX_UINT64_DATA] = "items of uint64_data",
};

/* A tensor being read. */
typedef struct reading {
    evl_onnx *o;
    onnx_tensor message;
    size_t where, n; /* n: elements */
    encoding how;
    evl_tensor *t;
} reading;

static EvalStatus take(reading *r, size_t n, size_t each, void *block)
{
    void *taken = evl_arena_take_many(r->o->arena, n, each);
    if (!taken)
        return evl_no_memory(r->o->ctx);
    memcpy(block, &taken, sizeof taken);
    return EVAL_OK;
}

/* Elements narrower than a byte, the low bits first. */
static void unpack(const encoding *how, size_t n, const uint8_t *from, uint8_t *to)
{
    unsigned bits = how->bits, each = 8 / bits, mask = (1u << bits) - 1, sign = 1u << (bits - 1);
    for (size_t i = 0; i < n; i++) {
        unsigned v = from[i / each] >> i % each * bits & mask;
        to[i] = (uint8_t)(how->is_signed ? (v ^ sign) - sign : v);
    }
}

static void copy_reversed(size_t n, size_t each, const uint8_t *from, uint8_t *to)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < each; j++)
            to[i * each + j] = from[i * each + each - 1 - j];
}

/* Bytes as the file has them, right in number. */
static EvalStatus use_bytes(reading *r, const void *bytes)
{
    uint8_t *to = NULL;
    size_t part = r->how.bits / 8u / r->how.parts;
    bool is_bool = r->t->type == EVAL_BOOL;
    if (!is_bool && part > 0 && (part == 1 || evl_is_little_endian())) {
        memcpy(&r->t->data, &bytes, sizeof bytes); /* constants are never written to */
        return EVAL_OK;
    }
    EvalStatus st = take(r, r->n, evl_type_size(r->t->type), &to);
    if (st != EVAL_OK)
        return st;
    if (part == 0)
        unpack(&r->how, r->n, bytes, to);
    else if (is_bool)
        for (size_t i = 0; i < r->n; i++)
            to[i] = ((const uint8_t *)bytes)[i] != 0;
    else
        copy_reversed(r->n * r->how.parts, part, bytes, to);
    r->t->data = to;
    return EVAL_OK;
}

static size_t byte_count(const reading *r)
{
    size_t each = r->how.bits >= 8 ? 1 : 8u / r->how.bits; /* elements a byte */
    return r->how.bits >= 8 ? r->n * (r->how.bits / 8u) : (r->n + each - 1) / each;
}

static EvalStatus fail_amount(const reading *r, size_t found, const char *of_what, size_t wanted)
{
    const char *name;
    char text[EVL_SHAPE_TEXT];
    EvalStatus st = evl_onnx_text(r->o, r->message.name, &name);
    if (st != EVAL_OK)
        return st;
    return evl_fail(r->o->ctx, EVAL_ERR_FORMAT,
                    "onnx: tensor '%s' (%s, shape %s) has %zu %s, not %zu, at byte %zu", name,
                    evl_type_name(r->t->type), evl_shape_text(&r->t->shape, text), found, of_what,
                    wanted, r->where);
}

static EvalStatus use_raw(reading *r)
{
    size_t wanted = byte_count(r), found = evl_pb_size(r->message.raw);
    return found == wanted ? use_bytes(r, evl_pb_text(r->message.raw))
                           : fail_amount(r, found, "bytes of raw_data", wanted);
}

static EvalStatus use_external(reading *r)
{
    const void *bytes;
    EvalStatus st = evl_onnx_external(r->o, &r->message, r->where, byte_count(r), &bytes);
    return st == EVAL_OK ? use_bytes(r, bytes) : st;
}

static EvalStatus use_strings(reading *r, evl_pb_many strings)
{
    EvalString *texts = NULL;
    evl_bytes item;
    EvalStatus st = take(r, r->n, sizeof *texts, &texts);
    if (st != EVAL_OK)
        return st;
    for (size_t i = 0; evl_pb_next(&strings, &item); i++)
        texts[i] = (EvalString){ evl_pb_text(item), evl_pb_size(item) };
    r->t->data = texts;
    return EVAL_OK;
}

static EvalStatus use_fixed(reading *r, evl_pb_many numbers)
{
    const void *run = evl_pb_run(numbers);
    void *gathered = NULL;
    if (run)
        return use_bytes(r, run);
    EvalStatus st = take(r, r->n, r->how.bits / 8u, &gathered);
    if (st != EVAL_OK)
        return st;
    evl_pb_gather(numbers, gathered);
    return use_bytes(r, gathered);
}

static EvalStatus use_ints(reading *r, evl_pb_many ints)
{
    size_t each = r->how.bits >= 8 ? r->how.bits / 8u : 1;
    void *decoded = NULL;
    EvalStatus st = take(r, ints.n, each, &decoded);
    if (st != EVAL_OK)
        return st;
    evl_pb_ints(ints, each, decoded);
    if (each == 1)
        return use_bytes(r, decoded); /* which unpacks, and makes bools 0 or 1 */
    r->t->data = decoded;
    return EVAL_OK;
}

static EvalStatus use_field(reading *r)
{
    const evl_pb_many *field = &r->message.data[r->how.field];
    bool is_packed = r->how.bits > 0 && r->how.bits < 8;
    size_t wanted = is_packed ? byte_count(r) : r->n * r->how.parts;
    if (field->n != wanted)
        return fail_amount(r, field->n, field_names[r->how.field], wanted);
    if (r->n == 0)
        return EVAL_OK;
    if (r->how.field == ONNX_STRING_DATA)
        return use_strings(r, *field);
    bool is_fixed = r->how.field == ONNX_FLOAT_DATA || r->how.field == ONNX_DOUBLE_DATA;
    return is_fixed ? use_fixed(r, *field) : use_ints(r, *field);
}

static EvalStatus read_elements(reading *r)
{
    bool is_string = r->t->type == EVAL_STRING;
    if (r->message.segment.data)
        return evl_fail(r->o->ctx, EVAL_ERR_FORMAT, "onnx: a tensor in segments, at byte %zu",
                        r->where);
    if (r->message.location == 1 && !is_string)
        return use_external(r);
    if (r->message.location != 0)
        return evl_fail(r->o->ctx, EVAL_ERR_FORMAT,
                        "onnx: a tensor with data_location %lld, at byte %zu",
                        (long long)r->message.location, r->where);
    if (r->message.raw.data && !is_string && (r->n == 0 || evl_pb_size(r->message.raw) > 0))
        return use_raw(r);
    return use_field(r);
}

EvalStatus evl_onnx_dims(evl_onnx *o, const evl_pb_many *dims, size_t where, evl_shape *shape)
{
    int64_t d[EVAL_MAX_RANK];
    EvalStatus st = evl_onnx_check_rank(o, dims->n, where);
    if (st != EVAL_OK)
        return st;
    evl_pb_ints(*dims, sizeof d[0], d);
    for (size_t i = 0; i < dims->n; i++)
        if (d[i] < 0)
            return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: a dimension of %lld, at byte %zu",
                            (long long)d[i], where);
    *shape = evl_shape_of(dims->n, d);
    return EVAL_OK;
}

static EvalStatus miss_type(evl_onnx *o, const onnx_tensor *message)
{
    const char *name;
    EvalStatus st = evl_onnx_text(o, message->name, &name);
    return st == EVAL_OK ? evl_onnx_miss(o, "tensor '%s': element type %lld", name,
                                         (long long)message->data_type)
                         : st;
}

static EvalStatus read_tensor(reading *r)
{
    evl_context *ctx = r->o->ctx;
    int64_t type = r->message.data_type;
    EvalStatus st = evl_onnx_dims(r->o, &r->message.dims, r->where, &r->t->shape);
    if (st != EVAL_OK)
        return st;
    if (type == EVAL_UNDEFINED)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "onnx: a tensor without an element type, at byte %zu",
                        r->where);
    if (type < 0 || type >= EVL_N_TYPES)
        return miss_type(r->o, &r->message);
    r->t->type = (EvalType)type;
    r->how = encodings[type];
    st = evl_shape_check(ctx, &r->t->shape, evl_type_size(r->t->type));
    if (st != EVAL_OK)
        return st;
    r->n = evl_shape_count(&r->t->shape);
    return read_elements(r);
}

EvalStatus evl_onnx_tensor(evl_onnx *o, evl_bytes message, evl_bytes *name, evl_tensor *t)
{
    enum { MOST_NAME = 200 };
    reading r = { .o = o, .where = message.at, .t = t };
    *t = (evl_tensor){ .life = EVL_LIFE_MODEL };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_tensor_schema, message, &r.message);
    if (st != EVAL_OK)
        return st;
    *name = r.message.name;
    st = read_tensor(&r);
    if (st != EVAL_OK && name->size)
        evl_fail_at(o->ctx, "tensor '%.*s': ", name->size < MOST_NAME ? (int)name->size : MOST_NAME,
                    (const char *)name->data);
    return st;
}
