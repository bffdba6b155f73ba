/* AttributeProto. */
#include "readers/onnx/onnx.h"
#include <string.h>

/* An attribute being read. */
typedef struct reading {
    evl_onnx *o;
    const evl_onnx_scope *scope;
    onnx_attribute message;
    evl_attribute *a;
} reading;

static EvalStatus take(const reading *r, size_t n, size_t each, void *block)
{
    void *taken = evl_arena_take_many(r->o->arena, n, each);
    if (!taken)
        return evl_no_memory(r->o->ctx);
    memcpy(block, &taken, sizeof taken);
    return EVAL_OK;
}

static EvalStatus fail_number(const reading *r)
{
    return evl_fail(r->o->ctx, EVAL_ERR_FORMAT,
                    "onnx: attribute '%s' has several numbers, at byte %zu", r->a->name,
                    r->message.name.at);
}

static EvalStatus read_int(reading *r)
{
    r->a->kind = EVL_ATTRIBUTE_INT;
    if (r->message.i.n > 1)
        return fail_number(r);
    evl_pb_ints(r->message.i, sizeof r->a->u.i, &r->a->u.i);
    return EVAL_OK;
}

/* Little-endian float32 as they stand. */
static EvalStatus read_numbers_of(const reading *r, evl_pb_many from, double *to)
{
    const uint8_t *bytes = evl_pb_run(from);
    uint8_t *gathered = NULL;
    if (!bytes) {
        gathered = evl_arena_take_many(r->o->scratch, from.n, sizeof(float));
        if (!gathered)
            return evl_no_memory(r->o->ctx);
        evl_pb_gather(from, gathered);
        bytes = gathered;
    }
    for (size_t i = 0; i < from.n; i++)
        to[i] = (double)evl_load_f32(bytes + i * sizeof(float));
    return EVAL_OK;
}

static EvalStatus read_number(reading *r)
{
    r->a->kind = EVL_ATTRIBUTE_NUMBER;
    return r->message.f.n > 1 ? fail_number(r) : read_numbers_of(r, r->message.f, &r->a->u.number);
}

/* Ends by '\0', for accessors that give a C string. */
static EvalStatus copy_text(const reading *r, evl_bytes bytes, EvalString *text)
{
    size_t n = evl_pb_size(bytes);
    char *copy = evl_arena_text(r->o->arena, evl_pb_text(bytes), n);
    if (!copy)
        return evl_no_memory(r->o->ctx);
    *text = (EvalString){ copy, n };
    return EVAL_OK;
}

static EvalStatus read_text(reading *r)
{
    r->a->kind = EVL_ATTRIBUTE_TEXT;
    return copy_text(r, r->message.s, &r->a->u.text);
}

typedef EvalStatus read_tensor_message(evl_onnx *, evl_bytes message, evl_bytes *name,
                                       evl_tensor *);

static EvalStatus new_tensor(const reading *r, read_tensor_message *read, evl_bytes message,
                             const evl_tensor **tensor)
{
    evl_bytes name;
    evl_tensor *t = NULL;
    EvalStatus st = take(r, 1, sizeof *t, &t);
    if (st != EVAL_OK)
        return st;
    *tensor = t;
    return read(r->o, message, &name, t);
}

static EvalStatus read_tensor(reading *r)
{
    r->a->kind = EVL_ATTRIBUTE_TENSOR;
    return new_tensor(r, evl_onnx_tensor, r->message.t, &r->a->u.tensor);
}

static EvalStatus read_sparse(reading *r)
{
    r->a->kind = EVL_ATTRIBUTE_TENSOR;
    return new_tensor(r, evl_onnx_sparse, r->message.sparse, &r->a->u.tensor);
}

static EvalStatus read_described(reading *r)
{
    evl_tensor *t = NULL;
    evl_value described = { .name = r->a->name, .is_input = true };
    r->a->kind = EVL_ATTRIBUTE_TYPE;
    EvalStatus st = take(r, 1, sizeof *t, &t);
    if (st != EVAL_OK)
        return st;
    described.t.shape = evl_shape_unknown();
    st = evl_onnx_type(r->o, r->message.tp, &described);
    *t = described.t;
    r->a->u.tensor = t;
    return st;
}

static EvalStatus new_body(const reading *r, evl_bytes message, evl_graph **body)
{
    evl_onnx_scope scope = { .outer = r->scope,
                             .opsets = r->scope->opsets,
                             .call = r->scope->call,
                             .depth = r->scope->depth + 1 };
    scope.graph = *body = evl_graph_new(r->o->arena, r->scope->graph);
    return *body ? evl_onnx_graph(r->o, message, &scope) : evl_no_memory(r->o->ctx);
}

static EvalStatus read_graph(reading *r)
{
    r->a->kind = EVL_ATTRIBUTE_GRAPH;
    return new_body(r, r->message.g, &r->a->u.graph);
}

static EvalStatus read_ints(reading *r)
{
    int64_t *ints = NULL;
    r->a->kind = EVL_ATTRIBUTE_INTS;
    r->a->n = r->message.ints.n;
    EvalStatus st = take(r, r->a->n, sizeof *ints, &ints);
    if (st != EVAL_OK)
        return st;
    evl_pb_ints(r->message.ints, sizeof *ints, ints);
    r->a->u.ints = ints;
    return EVAL_OK;
}

static EvalStatus read_numbers(reading *r)
{
    double *numbers = NULL;
    r->a->kind = EVL_ATTRIBUTE_NUMBERS;
    r->a->n = r->message.floats.n;
    EvalStatus st = take(r, r->a->n, sizeof *numbers, &numbers);
    r->a->u.numbers = numbers;
    return st == EVAL_OK ? read_numbers_of(r, r->message.floats, numbers) : st;
}

static EvalStatus read_texts(reading *r)
{
    EvalString *texts = NULL;
    evl_bytes item;
    r->a->kind = EVL_ATTRIBUTE_TEXTS;
    r->a->n = r->message.strings.n;
    EvalStatus st = take(r, r->a->n, sizeof *texts, &texts);
    r->a->u.texts = texts;
    for (size_t i = 0; st == EVAL_OK && evl_pb_next(&r->message.strings, &item); i++)
        st = copy_text(r, item, &texts[i]);
    return st;
}

static EvalStatus read_tensor_list(reading *r, evl_pb_many from, read_tensor_message *read)
{
    const evl_tensor **tensors = NULL;
    evl_bytes item;
    r->a->kind = EVL_ATTRIBUTE_TENSORS;
    r->a->n = from.n;
    EvalStatus st = take(r, from.n, sizeof *tensors, &tensors);
    r->a->u.tensors = tensors;
    for (size_t i = 0; st == EVAL_OK && evl_pb_next(&from, &item); i++)
        st = new_tensor(r, read, item, &tensors[i]);
    return st;
}

static EvalStatus read_tensors(reading *r)
{
    return read_tensor_list(r, r->message.tensors, evl_onnx_tensor);
}

static EvalStatus read_sparse_tensors(reading *r)
{
    return read_tensor_list(r, r->message.sparse_tensors, evl_onnx_sparse);
}

static EvalStatus read_graphs(reading *r)
{
    evl_graph **graphs = NULL;
    evl_bytes item;
    r->a->kind = EVL_ATTRIBUTE_GRAPHS;
    r->a->n = r->message.graphs.n;
    EvalStatus st = take(r, r->a->n, sizeof *graphs, &graphs);
    r->a->u.graphs = graphs;
    for (size_t i = 0; st == EVAL_OK && evl_pb_next(&r->message.graphs, &item); i++)
        st = new_body(r, item, &graphs[i]);
    return st;
}

/* AttributeProto.AttributeType. NULL: lists of types (14), which no operator reads. */
enum { N_KINDS = 15 };
static EvalStatus (*const readers[N_KINDS])(reading *) = {
    [1] = read_number,  [2] = read_int,     [3] = read_text,    [4] = read_tensor,
    [5] = read_graph,   [6] = read_numbers, [7] = read_ints,    [8] = read_texts,
    [9] = read_tensors, [10] = read_graphs, [11] = read_sparse, [12] = read_sparse_tensors,
    [13] = read_described,
};

/* IR version 1 does not say the type: the field that is there tells it. */
static int64_t type_of(const onnx_attribute *m)
{
    const bool is_there[N_KINDS] = {
        [1] = m->f.n > 0,       [2] = m->i.n > 0,      [3] = m->s.data,     [4] = m->t.data,
        [5] = m->g.data,        [6] = m->floats.n > 0, [7] = m->ints.n > 0, [8] = m->strings.n > 0,
        [9] = m->tensors.n > 0, [10] = m->graphs.n > 0
    };
    if (m->type != 0)
        return m->type;
    for (int64_t type = 1; type < N_KINDS; type++)
        if (is_there[type])
            return type;
    return 7; /* an empty list: of integers, as good as any */
}

static const evl_attribute *find(const evl_attribute *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i].name, name) == 0)
            return &list[i];
    return NULL;
}

/* An attribute of the call around it, else the function's default, under its own name. */
static EvalStatus refer(reading *r, bool *is_there)
{
    const evl_onnx_call *call = r->scope->call;
    const char *ref_name, *name = r->a->name;
    EvalStatus st = evl_onnx_text(r->o, r->message.ref_name, &ref_name);
    if (st != EVAL_OK)
        return st;
    if (!call)
        return evl_fail(
            r->o->ctx, EVAL_ERR_FORMAT,
            "onnx: attribute '%s' refers to '%s' of a function, and is in none, at byte %zu", name,
            ref_name, r->message.ref_name.at);
    const evl_attribute *found = find(call->given, call->n_given, ref_name);
    if (!found)
        found = find(call->defaults, call->n_defaults, ref_name);
    *is_there = found != NULL;
    if (found)
        *r->a = *found;
    r->a->name = name;
    return EVAL_OK;
}

EvalStatus evl_onnx_attribute(evl_onnx *o, const evl_onnx_scope *scope, evl_bytes message,
                              evl_attribute *a, bool *is_there)
{
    reading r = { .o = o, .scope = scope, .a = a };
    const char *name;
    *a = (evl_attribute){ 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_attribute_schema, message, &r.message);
    if (st == EVAL_OK)
        st = evl_onnx_text(o, r.message.name, &name);
    if (st != EVAL_OK)
        return st;
    a->name = evl_arena_text(o->arena, name, strlen(name));
    if (!a->name)
        return evl_no_memory(o->ctx);
    if (evl_pb_size(r.message.ref_name))
        return refer(&r, is_there);
    int64_t type = type_of(&r.message);
    if (type < 0 || type >= N_KINDS)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                        "onnx: attribute '%s' is of kind %lld, at byte %zu", name, (long long)type,
                        message.at);
    *is_there = readers[type] != NULL;
    return *is_there ? readers[type](&r) : EVAL_OK;
}

EvalStatus evl_onnx_attributes(evl_onnx *o, const evl_onnx_scope *scope, evl_pb_many messages,
                               evl_attribute **attributes, size_t *n)
{
    evl_bytes item;
    bool is_there;
    EvalStatus st = EVAL_OK;
    *n = 0;
    if (messages.n > EVL_ONNX_MAX_ATTRIBUTES)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT,
                        "onnx: a node with %zu attributes, at byte %zu; at most %d", messages.n,
                        messages.rest.at, (int)EVL_ONNX_MAX_ATTRIBUTES);
    *attributes = evl_arena_take_many(o->scratch, messages.n + EVL_ONNX_SPARE, sizeof **attributes);
    if (!*attributes)
        return evl_no_memory(o->ctx);
    while (st == EVAL_OK && evl_pb_next(&messages, &item)) {
        st = evl_onnx_attribute(o, scope, item, &(*attributes)[*n], &is_there);
        *n += st == EVAL_OK && is_there;
    }
    return st;
}
