/* Tensors whose elements are in a file beside the model. */
#include "base/text.h"
#include "readers/onnx/onnx.h"
#include <string.h>

/* What external_data says; key and value are texts. */
typedef struct place {
    const char *location;
    int64_t offset, length; /* length -1: not said */
} place;

static EvalStatus read_number(evl_onnx *o, const onnx_pair *pair, int64_t *number)
{
    if (evl_text_to_i64(evl_pb_text(pair->value), evl_pb_size(pair->value), number) && *number >= 0)
        return EVAL_OK;
    return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                    "onnx: external data with an offset or length that is no number of bytes, at "
                    "byte %zu",
                    pair->value.at);
}

static bool is_key(const onnx_pair *pair, const char *key)
{
    return evl_pb_size(pair->key) == strlen(key) &&
           evl_text_equal(key, evl_pb_text(pair->key), evl_pb_size(pair->key));
}

static EvalStatus read_entry(evl_onnx *o, evl_bytes message, place *p)
{
    onnx_pair pair = { 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_pair_schema, message, &pair);
    if (st != EVAL_OK)
        return st;
    if (is_key(&pair, "location"))
        return evl_onnx_text(o, pair.value, &p->location);
    if (is_key(&pair, "offset"))
        return read_number(o, &pair, &p->offset);
    if (is_key(&pair, "length"))
        return read_number(o, &pair, &p->length);
    return EVAL_OK; /* a checksum, or what a newer standard adds */
}

static EvalStatus read_place(evl_onnx *o, evl_pb_many entries, size_t where, place *p)
{
    evl_bytes item;
    EvalStatus st = EVAL_OK;
    *p = (place){ "", 0, -1 };
    while (st == EVAL_OK && evl_pb_next(&entries, &item))
        st = read_entry(o, item, p);
    if (st == EVAL_OK && !*p->location)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: external data without a location, at byte %zu", where);
    return st;
}

/* Each file is opened once. */
static EvalStatus open_file(evl_onnx *o, const char *name, const evl_file **file)
{
    evl_external *e = o->external;
    size_t n = strlen(name), index;
    if (evl_map_get(o->files, name, n, &index)) {
        *file = &e->files[index];
        return EVAL_OK;
    }
    evl_file *files = evl_arena_grow(o->arena, e->files, e->n, &e->capacity, sizeof *files);
    if (!files || !evl_map_set(o->files, name, n, e->n))
        return evl_no_memory(o->ctx);
    e->files = files;
    files[e->n] = (evl_file){ 0 };
    EvalStatus st = evl_source_beside(o->ctx, o->source, name, &files[e->n]);
    *file = &files[e->n];
    e->n += st == EVAL_OK;
    return st;
}

EvalStatus evl_onnx_external(evl_onnx *o, const onnx_tensor *message, size_t where, size_t n_bytes,
                             const void **data)
{
    const evl_file *file = NULL;
    place p;
    *data = NULL;
    EvalStatus st = read_place(o, message->external, where, &p);
    if (st != EVAL_OK)
        return st;
    if (p.length >= 0 && (uint64_t)p.length != n_bytes)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: external data in '%s' has length %lld, not %zu, at byte %zu",
                        p.location, (long long)p.length, n_bytes, where);
    if (n_bytes == 0)
        return EVAL_OK;
    st = open_file(o, p.location, &file);
    if (st != EVAL_OK)
        return st;
    if ((uint64_t)p.offset > file->size || n_bytes > file->size - (size_t)p.offset)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: external data of %zu bytes at offset %lld is not in '%s', which has "
                        "%zu bytes",
                        n_bytes, (long long)p.offset, p.location, file->size);
    *data = (const char *)file->data + p.offset;
    return EVAL_OK;
}
