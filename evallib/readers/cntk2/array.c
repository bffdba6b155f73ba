/* array.c - NDArrayView: values of float and double stay in the file, others are unpacked. CNTK
** saves dense arrays alone; one that is called sparse and has all its values is the same. In files
** of more than 2 GB the values of all arrays follow the dictionary, in the order of the arrays. */
#include "readers/cntk2/dictionary.h"
#include <string.h>

typedef struct view {
    int64_t type, format;
    evl_bytes shape, floats, doubles, bytes, ints;
} view;

static const evl_pb_rule view_rules[] = {
    { 1, EVL_PB_INT, offsetof(view, type) },      { 2, EVL_PB_INT, offsetof(view, format) },
    { 3, EVL_PB_BYTES, offsetof(view, shape) },   { 4, EVL_PB_BYTES, offsetof(view, floats) },
    { 5, EVL_PB_BYTES, offsetof(view, doubles) }, { 6, EVL_PB_BYTES, offsetof(view, bytes) },
    { 7, EVL_PB_BYTES, offsetof(view, ints) },
};

static const evl_pb_rule float_rules[] = { { 1, EVL_PB_FLOATS, 0 } };
static const evl_pb_rule double_rules[] = { { 1, EVL_PB_DOUBLES, 0 } };
static const evl_pb_rule byte_rules[] = { { 1, EVL_PB_BYTES, 0 } };
static const evl_pb_rule int_rules[] = { { 1, EVL_PB_INTS, 0 } };

static const evl_pb_schema view_schema = { "CNTK v2 NDArrayView", view_rules, 7 };
static const evl_pb_schema float_schema = { "CNTK v2 FloatValues", float_rules, 1 };
static const evl_pb_schema double_schema = { "CNTK v2 DoubleValues", double_rules, 1 };
static const evl_pb_schema byte_schema = { "CNTK v2 BytesValue", byte_rules, 1 };
static const evl_pb_schema int_schema = { "CNTK v2 IntValues", int_rules, 1 };

enum { FLOAT = 1, DOUBLE = 2, HALF = 4, INT_8 = 5, INT_16 = 6 };

static void broken(evl_cntk2_cursor *c, evl_bytes message, const char *what)
{
    evl_cntk2_fail(c, EVAL_ERR_FORMAT, "CNTK v2: the array at byte %zu %s", message.at, what);
}

static void read(evl_cntk2_cursor *c, const evl_pb_schema *schema, evl_bytes message, void *record)
{
    if (c->status == EVAL_OK && message.data)
        c->status = evl_pb_read(c->ctx, schema, message, record);
}

/* Elements; 0 with a failure when a dimension is none. */
static size_t count(evl_cntk2_cursor *c, evl_bytes message, const evl_cntk_list *dims)
{
    size_t n = 1;
    for (size_t i = 0; i < dims->n; i++)
        if (dims->at[i] < 0 || !evl_size_multiply(n, (size_t)dims->at[i], &n) || n > SIZE_MAX / 8) {
            broken(c, message, "has an impossible shape");
            return 0;
        }
    return n;
}

/* Little-endian values in one run and on such a machine are where they are. */
static const void *placed(evl_cntk2_cursor *c, evl_pb_many many, size_t each)
{
    const void *run = evl_is_little_endian() ? evl_pb_run(many) : NULL;
    if (run || c->status != EVAL_OK)
        return run;
    uint8_t *copy = evl_cntk2_take(c, many.n, each);
    if (!copy)
        return NULL;
    evl_pb_gather(many, copy);
    for (size_t i = 0; i < many.n && !evl_is_little_endian(); i++)
        for (size_t j = 0; j < each / 2; j++) {
            uint8_t low = copy[i * each + j];
            copy[i * each + j] = copy[(i + 1) * each - 1 - j];
            copy[(i + 1) * each - 1 - j] = low;
        }
    return copy;
}

/* The values that a large file keeps behind its dictionary. */
static const void *take_late(evl_cntk2_cursor *c, evl_bytes message, bool is_sparse, size_t n,
                             size_t each)
{
    const void *at = NULL;
    if (is_sparse)
        broken(c, message, "is sparse, which CNTK saves none of: save it as a dense one");
    else if (!c->is_large)
        broken(c, message, "has another number of values than its shape says");
    else if (!evl_bytes_take(&c->arrays, n, each, &at))
        broken(c, message, "has no values behind the dictionary: the file is cut short");
    return at;
}

static const void *reals(evl_cntk2_cursor *c, evl_bytes message, const view *v, size_t n)
{
    bool is_double = v->type == DOUBLE;
    size_t each = is_double ? sizeof(double) : sizeof(float);
    evl_pb_many many = { .n = 0 };
    read(c, is_double ? &double_schema : &float_schema, is_double ? v->doubles : v->floats, &many);
    if (c->status != EVAL_OK || n == 0)
        return NULL;
    return many.n == n ? placed(c, many, each) : take_late(c, message, v->format != 0, n, each);
}

/* Small integers, as float. */
static const void *integers(evl_cntk2_cursor *c, evl_bytes message, const view *v, size_t n)
{
    evl_bytes bytes = { NULL, 0, 0 };
    evl_pb_many many = { .n = 0 };
    bool is_bytes = v->type == INT_8;
    read(c, is_bytes ? &byte_schema : &int_schema, is_bytes ? v->bytes : v->ints,
         is_bytes ? (void *)&bytes : (void *)&many);
    size_t found = is_bytes ? evl_pb_size(bytes) : many.n;
    if (c->status == EVAL_OK && found != n)
        broken(c, message, "has another number of values than its shape says");
    float *to = evl_cntk2_take(c, n, sizeof *to);
    int64_t *from = is_bytes ? NULL : evl_cntk2_take(c, n, sizeof *from);
    if (!to || c->status != EVAL_OK)
        return NULL;
    if (from)
        evl_pb_ints(many, sizeof *from, from);
    for (size_t i = 0; i < n; i++) {
        uint64_t zigzag = from ? (uint64_t)from[i] : 0;
        to[i] = from ? (float)(int64_t)(zigzag >> 1 ^ (0 - (zigzag & 1)))
                     : (float)(int8_t)evl_pb_text(bytes)[i];
    }
    return to;
}

evl_cntk2_array evl_cntk2_array_of(evl_cntk2_cursor *c, evl_bytes message)
{
    view v = { 0 };
    read(c, &view_schema, message, &v);
    evl_cntk2_array a = { .type = v.type == DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32,
                          .dims = evl_cntk2_shape_of(c, v.shape) };
    a.n = count(c, message, &a.dims);
    if (c->status != EVAL_OK)
        return a;
    switch (v.type) {
    case FLOAT:
    case HALF:
    case DOUBLE: a.data = reals(c, message, &v, a.n); break;
    case INT_8:
    case INT_16: a.data = integers(c, message, &v, a.n); break;
    default: broken(c, message, "has elements of an unknown type");
    }
    return a;
}
