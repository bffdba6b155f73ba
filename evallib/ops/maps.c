/* CastMap, DictVectorizer, ZipMap: maps to tensors, and rows to maps. */
#include "base/text.h"
#include "ir/nested.h"
#include "ops/lookup.h"
#include "ops/ml.h"
#include "ops/nested.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static EvalStatus check_map(const evl_infer *x)
{
    char text[EVL_TYPE_TEXT];
    const evl_tensor *t = x->use.in[0];
    if (t->type == EVAL_MAP || t->type == EVAL_UNDEFINED)
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_TYPE, "input 0 is of type %s, and a map is expected",
                    evl_type_text(t, text));
}

/* A row of n elements; -1: how many is not known. */
static void set_row(evl_infer *x, EvalType type, int64_t n)
{
    x->out[0].type = type;
    x->out[0].shape = evl_shape_of(2, (int64_t[]){ 1, n });
}

static size_t map_size(const evl_tensor *map)
{
    return evl_shape_count(&evl_nested_at(map, 0)->shape);
}

/* --- CastMap: values in the order of their keys (dense), or each at its key's place (sparse) ---
 */

typedef struct entry {
    int64_t key;
    size_t at;
} entry;

typedef struct casting {
    entry *entries; /* sorted */
    size_t n;
    bool is_sparse;
} casting;

static bool is_sparse(const evl_node *node)
{
    return strcmp(evl_node_text(node, "map_form", "DENSE"), "SPARSE") == 0;
}

static EvalStatus infer_cast(evl_infer *x)
{
    static const char *const forms[] = { "DENSE", "SPARSE" };
    static const char *const targets[] = { "TO_FLOAT", "TO_STRING", "TO_INT64" };
    static const EvalType types[] = { EVAL_FLOAT32, EVAL_STRING, EVAL_INT64 };
    char text[EVL_TYPE_TEXT];
    const evl_tensor *map = x->use.in[0];
    size_t form, target;
    EvalStatus st = check_map(x);
    if (st == EVAL_OK)
        st = evl_ml_choice(x->ctx, x->use.node, "map_form", forms, 2, &form);
    if (st == EVAL_OK)
        st = evl_ml_choice(x->ctx, x->use.node, "cast_to", targets, 3, &target);
    if (st != EVAL_OK)
        return st;
    EvalType value = evl_nested_inside(map, 1).type;
    if (map->type == EVAL_MAP && (evl_nested_inside(map, 0).type != EVAL_INT64 ||
                                  (value != EVAL_STRING && !evl_type_is_float(value))))
        return evl_fail(x->ctx, EVAL_ERR_TYPE,
                        "input 0 is of type %s, expected map(int64,float32) or map(int64,string)",
                        evl_type_text(map, text));
    int64_t most = evl_node_int(x->use.node, "max_map", 1);
    if (form && most < 1)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "attribute max_map is %lld, expected 1 or more",
                        (long long)most);
    set_row(x, types[target], form ? most : map->data ? (int64_t)map_size(map) : EVL_UNKNOWN_DIM);
    return EVAL_OK;
}

static int by_key(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static EvalStatus prepare_cast(evl_prepare *p)
{
    const evl_tensor *keys = evl_nested_at(p->use.in[0], 0);
    casting *c = evl_arena_take(p->arena, sizeof *c);
    size_t n = map_size(p->use.in[0]);
    entry *entries = evl_arena_take_many(p->arena, n + 1, sizeof *entries);
    if (!c || !entries)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < n; i++)
        entries[i] = (entry){ evl_tensor_i64(keys, i), i };
    qsort(entries, n, sizeof *entries, by_key);
    *c = (casting){ entries, n, is_sparse(p->use.node) };
    p->state = c;
    if (c->is_sparse && n && entries[0].key < 0)
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "key %lld: keys of a sparse map are places",
                        (long long)entries[0].key);
    return EVAL_OK;
}

static EvalStatus no_number(const evl_call *call, int64_t key, const EvalString *text)
{
    return evl_fail(call->ctx, EVAL_ERR_TYPE, "the value of key %lld is no number: '%.*s'",
                    (long long)key, text->size < 40 ? (int)text->size : 40,
                    text->text ? text->text : "");
}

static EvalStatus text_to_number(const evl_call *call, const entry *e, const EvalString *text,
                                 char *y)
{
    int64_t whole;
    double number;
    EvalType to = call->out[0]->type;
    if (evl_text_to_i64(text->text, text->size, &whole))
        (void)evl_convert(1, EVAL_INT64, &whole, to, y);
    else if (evl_text_to_f64(text->text, text->size, &number))
        (void)evl_convert(1, EVAL_FLOAT64, &number, to, y);
    else
        return no_number(call, e->key, text);
    return EVAL_OK;
}

/* The standard names no form; six digits behind the point is what ONNX Runtime writes. */
static EvalStatus number_to_text(const evl_call *call, double number, EvalString *y)
{
    char text[512]; /* the largest double has 309 digits */
    int n = snprintf(text, sizeof text, "%f", number);
    char *point = strpbrk(text, ",."); /* the locale's */
    if (point)
        *point = '.';
    char *copy = evl_arena_text(call->texts, text, (size_t)n);
    *y = (EvalString){ copy, (size_t)n };
    return copy ? EVAL_OK : evl_no_memory(call->ctx);
}

static EvalStatus cast_value(const evl_call *call, const entry *e, size_t to)
{
    const evl_tensor *values = evl_nested_at(call->in[0], 1), *y = call->out[0];
    const EvalString *texts = values->data;
    size_t size = evl_type_size(y->type);
    char *at = (char *)y->data + to * size;
    if (values->type == y->type)
        memcpy(at, (const char *)values->data + e->at * size, size);
    else if (values->type == EVAL_STRING)
        return text_to_number(call, e, &texts[e->at], at);
    else if (y->type == EVAL_STRING)
        return number_to_text(call, evl_tensor_f64(values, e->at), (EvalString *)y->data + to);
    else
        (void)evl_convert(1, values->type,
                          (const char *)values->data + e->at * evl_type_size(values->type), y->type,
                          at);
    return EVAL_OK;
}

/* Where a sparse map has no key: zeros; as text, "0.f" as ONNX Runtime has it. */
static void fill_gaps(const evl_tensor *y, size_t n)
{
    if (n && y->type != EVAL_STRING)
        memset(y->data, 0, n * evl_type_size(y->type));
    for (size_t i = 0; i < n && y->type == EVAL_STRING; i++)
        ((EvalString *)y->data)[i] = (EvalString){ "0.f", 3 };
}

/* Of a sparse map what lies behind the row is left out. */
static EvalStatus run_cast(const evl_call *call)
{
    const casting *c = call->state;
    size_t width = evl_shape_count(&call->out[0]->shape);
    EvalStatus st = EVAL_OK;
    if (c->is_sparse)
        fill_gaps(call->out[0], width);
    for (size_t i = 0; i < c->n && st == EVAL_OK; i++) {
        size_t to = c->is_sparse ? (size_t)c->entries[i].key : i;
        if (to < width)
            st = cast_value(call, &c->entries[i], to);
    }
    return st;
}

/* --- DictVectorizer: a value for each word of a vocabulary --- */

static evl_ml_labels vocabulary_of(const evl_node *node)
{
    return evl_ml_labels_of(node, "int64_vocabulary", "string_vocabulary");
}

static EvalStatus infer_vectorizer(evl_infer *x)
{
    char text[EVL_TYPE_TEXT];
    const evl_tensor *map = x->use.in[0];
    evl_ml_labels words = vocabulary_of(x->use.node);
    EvalStatus st = check_map(x);
    if (st != EVAL_OK)
        return st;
    if (words.n == 0)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT,
                        "attribute int64_vocabulary or string_vocabulary is needed");
    EvalType key = evl_nested_inside(map, 0).type, value = evl_nested_inside(map, 1).type;
    if (map->type == EVAL_MAP &&
        (key != (words.texts ? EVAL_STRING : EVAL_INT64) || evl_type_size(value) == 0))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "input 0 is of type %s, and words are of type %s",
                        evl_type_text(map, text), words.texts ? "string" : "int64");
    set_row(x, map->type == EVAL_MAP ? value : EVAL_UNDEFINED, (int64_t)words.n);
    return EVAL_OK;
}

static EvalStatus prepare_vectorizer(evl_prepare *p)
{
    const evl_tensor *keys = evl_nested_at(p->use.in[0], 0);
    evl_lookup *lookup = evl_arena_take(p->arena, sizeof *lookup);
    size_t n = map_size(p->use.in[0]);
    p->state = lookup;
    bool ok =
        lookup && (keys->type == EVAL_STRING ? evl_lookup_texts(p->arena, keys->data, n, lookup)
                                             : evl_lookup_ints(p->arena, keys->data, n, lookup));
    return ok ? EVAL_OK : evl_no_memory(p->ctx);
}

static EvalStatus run_vectorizer(const evl_call *call)
{
    const evl_lookup *keys = call->state;
    const evl_tensor *y = call->out[0];
    const char *values = evl_nested_at(call->in[0], 1)->data;
    evl_ml_labels words = vocabulary_of(call->node);
    size_t size = evl_type_size(y->type);
    for (size_t i = 0; i < words.n; i++) {
        size_t at = words.texts ? evl_lookup_text(keys, words.texts[i])
                                : evl_lookup_int(keys, words.ints[i]);
        char *to = (char *)y->data + i * size;
        if (at < keys->n)
            memcpy(to, values + at * size, size);
        else if (y->type == EVAL_STRING)
            *(EvalString *)(void *)to = (EvalString){ "", 0 };
        else
            memset(to, 0, size);
    }
    return EVAL_OK;
}

/* --- ZipMap: each row with the labels as a map --- */

static evl_ml_labels labels_of(const evl_node *node)
{
    return evl_ml_labels_of(node, "classlabels_int64s", "classlabels_strings");
}

static EvalStatus infer_zip(evl_infer *x)
{
    const evl_tensor value = { .type = EVAL_FLOAT32 };
    evl_tensor pair = { 0 }, map = { 0 };
    int64_t n, width;
    evl_ml_labels labels = labels_of(x->use.node);
    EvalStatus st = evl_ml_infer_rows(x, 0, &n, &width);
    if (st != EVAL_OK)
        return st;
    if (labels.n == 0)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT,
                        "attribute classlabels_int64s or classlabels_strings is needed");
    if (width >= 0 && (uint64_t)width != labels.n)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "input 0 has %lld columns for %zu labels",
                        (long long)width, labels.n);
    (void)evl_nested_around(labels.texts ? EVAL_STRING : EVAL_INT64, &value, &pair);
    (void)evl_nested_around(EVAL_MAP, &pair, &map);
    return evl_infer_around(x, EVAL_SEQUENCE, &map);
}

static EvalStatus prepare_zip(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    evl_ml_labels labels = labels_of(p->use.node);
    const void *keys = labels.texts ? (const void *)labels.texts : labels.ints;
    const int64_t width = (int64_t)labels.n;
    size_t n, columns;
    evl_ml_rows(&x->shape, &n, &columns);
    evl_tensor *pairs = evl_arena_take_many(p->arena, 2 * n + 1, sizeof *pairs);
    if (!pairs || !evl_nested_take(p->arena, n, &p->nested[0]))
        return evl_no_memory(p->ctx);
    evl_tensor *maps = p->nested[0].data;
    for (size_t i = 0; i < n; i++) {
        evl_tensor *pair = &pairs[2 * i];
        maps[i] = evl_nested_inside(p->out[0], 0);
        maps[i].shape.dim[0] = 2;
        maps[i].data = pair;
        pair[0] = evl_nested_inside(&maps[i], 0);
        pair[1] = evl_nested_inside(&maps[i], 1);
        pair[0].shape = pair[1].shape = evl_shape_of(1, &width);
        memcpy(&pair[0].data, &keys, sizeof keys);
        pair[1].data = (char *)x->data + i * columns * evl_type_size(x->type);
    }
    return EVAL_OK;
}

static const evl_impl cast = { prepare_cast, run_cast };
static const evl_impl vectorizer = { prepare_vectorizer, run_vectorizer };
static const evl_impl zip = { prepare_zip, evl_run_nothing };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op ops[] = {
    { "CastMap", "ai.onnx.ml", 1, 1, 1, 1, 0, EVL_OP_NESTED, infer_cast, { NULL, NULL }, NULL, &cast, 0 },
    { "DictVectorizer", "ai.onnx.ml", 1, 1, 1, 1, 0, EVL_OP_NESTED, infer_vectorizer,
      { NULL, NULL }, NULL, &vectorizer, 0 },
    { "ZipMap", "ai.onnx.ml", 1, 1, 1, 1, 0, EVL_OP_NESTED, infer_zip, { &zip, &zip }, NULL, NULL, 0 },
};
/* clang-format on */

const evl_op *const evl_ops_maps[] = { &ops[0], &ops[1], &ops[2], NULL };
