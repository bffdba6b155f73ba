/* dictionary.c - keys and values: CNTK.proto of CNTK 2.7. */
#include "readers/cntk2/dictionary.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const evl_pb_rule dictionary_rules[] = {
    { 1, EVL_PB_INT, offsetof(evl_cntk2_dictionary, version) },
    { 2, EVL_PB_MANY, offsetof(evl_cntk2_dictionary, entries) },
};

typedef struct entry {
    evl_bytes key, value;
} entry;

static const evl_pb_rule entry_rules[] = {
    { 1, EVL_PB_BYTES, offsetof(entry, key) },
    { 2, EVL_PB_BYTES, offsetof(entry, value) },
};

static const evl_pb_rule value_rules[] = {
    { 2, EVL_PB_INT, offsetof(evl_cntk2_value, type) },
    { 3, EVL_PB_INT, offsetof(evl_cntk2_value, flag) },
    { 4, EVL_PB_INT, offsetof(evl_cntk2_value, integer) },
    { 5, EVL_PB_INT, offsetof(evl_cntk2_value, size) },
    { 6, EVL_PB_FLOAT, offsetof(evl_cntk2_value, narrow) },
    { 7, EVL_PB_DOUBLE, offsetof(evl_cntk2_value, wide) },
    { 8, EVL_PB_BYTES, offsetof(evl_cntk2_value, text) },
    { 9, EVL_PB_BYTES, offsetof(evl_cntk2_value, shape) },
    { 10, EVL_PB_BYTES, offsetof(evl_cntk2_value, axis) },
    { 11, EVL_PB_BYTES, offsetof(evl_cntk2_value, vector) },
    { 12, EVL_PB_BYTES, offsetof(evl_cntk2_value, dictionary) },
    { 13, EVL_PB_BYTES, offsetof(evl_cntk2_value, array) },
};

static const evl_pb_rule list_rules[] = { { 1, EVL_PB_MANY, 0 } };
static const evl_pb_rule shape_rules[] = { { 1, EVL_PB_INTS, 0 } };

typedef struct axis {
    int64_t index;
    evl_bytes name;
    int64_t is_ordered;
} axis;

static const evl_pb_rule axis_rules[] = {
    { 1, EVL_PB_INT, offsetof(axis, index) },
    { 2, EVL_PB_BYTES, offsetof(axis, name) },
    { 3, EVL_PB_INT, offsetof(axis, is_ordered) },
};

static const evl_pb_schema dictionary_schema = { "CNTK v2 Dictionary", dictionary_rules, 2 };
static const evl_pb_schema entry_schema = { "CNTK v2 Dictionary entry", entry_rules, 2 };
static const evl_pb_schema value_schema = { "CNTK v2 DictionaryValue", value_rules,
                                            sizeof value_rules / sizeof *value_rules };
static const evl_pb_schema vector_schema = { "CNTK v2 Vector", list_rules, 1 };
static const evl_pb_schema shape_schema = { "CNTK v2 NDShape", shape_rules, 1 };
static const evl_pb_schema axis_schema = { "CNTK v2 Axis", axis_rules, 3 };

void evl_cntk2_fail(evl_cntk2_cursor *c, EvalStatus st, const char *format, ...)
{
    char text[512];
    va_list values;
    if (c->status != EVAL_OK)
        return;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    c->status = evl_fail(c->ctx, st, "%s", text);
}

void *evl_cntk2_take(evl_cntk2_cursor *c, size_t n, size_t each)
{
    void *at = c->status == EVAL_OK ? evl_arena_take_many(c->arena, n + 1, each) : NULL;
    if (!at && c->status == EVAL_OK)
        c->status = evl_no_memory(c->ctx);
    return at;
}

static void read(evl_cntk2_cursor *c, const evl_pb_schema *schema, evl_bytes message, void *record)
{
    if (c->status == EVAL_OK && message.data)
        c->status = evl_pb_read(c->ctx, schema, message, record);
}

/* --- dictionaries -------------------------------------------------------------------------- */

evl_cntk2_dictionary evl_cntk2_dictionary_of(evl_cntk2_cursor *c, evl_bytes message)
{
    evl_cntk2_dictionary d = { .where = message.at };
    read(c, &dictionary_schema, message, &d);
    return d;
}

static evl_cntk2_value value_of(evl_cntk2_cursor *c, evl_bytes message)
{
    evl_cntk2_value v = { .where = message.at };
    read(c, &value_schema, message, &v);
    return v;
}

static bool next_entry(evl_cntk2_cursor *c, evl_cntk2_dictionary *d, entry *e)
{
    evl_bytes item;
    *e = (entry){ 0 };
    if (c->status != EVAL_OK || !evl_pb_next(&d->entries, &item))
        return false;
    read(c, &entry_schema, item, e);
    return c->status == EVAL_OK;
}

bool evl_cntk2_next(evl_cntk2_cursor *c, evl_cntk2_dictionary *d, evl_bytes *key,
                    evl_cntk2_value *value)
{
    entry e;
    if (!next_entry(c, d, &e))
        return false;
    *key = e.key;
    *value = value_of(c, e.value);
    return c->status == EVAL_OK;
}

bool evl_cntk2_find(evl_cntk2_cursor *c, const evl_cntk2_dictionary *dictionary, const char *key,
                    evl_cntk2_type type, evl_cntk2_value *value)
{
    evl_cntk2_dictionary d = *dictionary;
    entry e;
    while (next_entry(c, &d, &e)) {
        if (!e.key.data || !evl_text_equal(key, evl_pb_text(e.key), evl_pb_size(e.key)))
            continue;
        *value = value_of(c, e.value);
        return c->status == EVAL_OK && value->type == (int64_t)type;
    }
    return false;
}

const char *evl_cntk2_text(evl_cntk2_cursor *c, const evl_cntk2_dictionary *d, const char *key)
{
    evl_cntk2_value v;
    return evl_cntk2_find(c, d, key, EVL_CNTK2_STRING, &v) ? evl_cntk2_text_of(c, v.text) : "";
}

int64_t evl_cntk2_size(evl_cntk2_cursor *c, const evl_cntk2_dictionary *d, const char *key,
                       int64_t fallback)
{
    evl_cntk2_value v;
    return evl_cntk2_find(c, d, key, EVL_CNTK2_SIZE, &v) ? v.size : fallback;
}

evl_pb_many evl_cntk2_vector(evl_cntk2_cursor *c, const evl_cntk2_dictionary *d, const char *key)
{
    evl_cntk2_value v;
    if (evl_cntk2_find(c, d, key, EVL_CNTK2_VECTOR, &v))
        return evl_cntk2_vector_of(c, &v);
    return (evl_pb_many){ .n = 0 };
}

/* --- values ---------------------------------------------------------------------------------- */

evl_pb_many evl_cntk2_vector_of(evl_cntk2_cursor *c, const evl_cntk2_value *v)
{
    evl_pb_many items = { .n = 0 };
    if (v->type == EVL_CNTK2_VECTOR)
        read(c, &vector_schema, v->vector, &items);
    return c->status == EVAL_OK ? items : (evl_pb_many){ .n = 0 };
}

bool evl_cntk2_item(evl_cntk2_cursor *c, evl_pb_many *vector, evl_cntk2_value *value)
{
    evl_bytes item;
    if (c->status != EVAL_OK || !evl_pb_next(vector, &item))
        return false;
    *value = value_of(c, item);
    return c->status == EVAL_OK;
}

const char *evl_cntk2_text_of(evl_cntk2_cursor *c, evl_bytes bytes)
{
    if (c->status != EVAL_OK || !bytes.data)
        return "";
    const char *text = evl_pb_text(bytes);
    size_t n = evl_pb_size(bytes);
    if (n > c->ctx->limits->max_text || !evl_utf8_valid(text, n) || memchr(text, '\0', n)) {
        evl_cntk2_fail(c, EVAL_ERR_FORMAT, "CNTK v2: the text at byte %zu is too long or no UTF-8",
                       bytes.at);
        return "";
    }
    char *copy = evl_cntk2_take(c, n, 1); /* and a 0 */
    if (copy)
        memcpy(copy, text, n);
    return copy ? copy : "";
}

evl_cntk_list evl_cntk2_list_of(evl_cntk2_cursor *c, size_t n)
{
    evl_cntk_list list = { 0, NULL };
    if (c->status != EVAL_OK || n == 0)
        return list;
    list.at = evl_cntk2_take(c, n, sizeof *list.at);
    list.n = list.at ? n : 0;
    return list;
}

evl_cntk_list evl_cntk2_shape_of(evl_cntk2_cursor *c, evl_bytes message)
{
    evl_pb_many dims = { .n = 0 };
    read(c, &shape_schema, message, &dims);
    if (c->status == EVAL_OK && dims.n > EVL_CNTK_MAX_RANK)
        evl_cntk2_fail(c, EVAL_ERR_FORMAT,
                       "CNTK v2: %zu dimensions at byte %zu, at most %d are possible", dims.n,
                       message.at, (int)EVL_CNTK_MAX_RANK);
    evl_cntk_list list = evl_cntk2_list_of(c, dims.n);
    if (list.n > 0)
        evl_pb_ints(dims, sizeof *list.at, list.at);
    return list;
}

evl_cntk2_axis evl_cntk2_axis_of(evl_cntk2_cursor *c, evl_bytes message)
{
    axis a = { 0 };
    read(c, &axis_schema, message, &a);
    return (evl_cntk2_axis){ (int32_t)a.index, evl_cntk2_text_of(c, a.name), a.is_ordered };
}
