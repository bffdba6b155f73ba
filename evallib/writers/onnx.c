/* onnx.c - ModelProto of a graph.
**
** Names are the graph's own; values without one, or with one that is another's already, are
** numbered. Operators of CNTK's networks are those of ONNX's newest opset, where parameters are
** inputs that older ones have as attributes, and as our readers build them: such attributes become
** constants here. Their delays and loops are written by frames.c. */
#include "writers/onnx.h"
#include "ir/nested.h"
#include "ir/op.h"
#include "writers/frames.h"
#include "writers/opset.h"
#include "writers/outside.h"
#include "writers/protobuf.h"
#include "writers/simplify.h"
#include <stdio.h>
#include <string.h>

/* What is written for a network of a format without opsets, at least. */
enum { OPSET = 21, IR_VERSION = 10, LARGEST = 0x7fffffff };

/* Fields of onnx.proto. */
enum {
    MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_GRAPH = 7, MODEL_OPSET = 8, MODEL_METADATA = 14,
    OPSET_DOMAIN = 1, OPSET_VERSION = 2, PAIR_KEY = 1, PAIR_VALUE = 2,
    GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_INITIALIZER = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12,
    NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_OP = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7,
    ATTRIBUTE_NAME = 1, ATTRIBUTE_F = 2, ATTRIBUTE_I = 3, ATTRIBUTE_S = 4, ATTRIBUTE_T = 5,
    ATTRIBUTE_G = 6, ATTRIBUTE_FLOATS = 7, ATTRIBUTE_INTS = 8, ATTRIBUTE_STRINGS = 9,
    ATTRIBUTE_TENSORS = 10, ATTRIBUTE_GRAPHS = 11, ATTRIBUTE_TP = 14, ATTRIBUTE_TYPE = 20,
    TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_STRINGS = 6, TENSOR_NAME = 8, TENSOR_RAW = 9,
    INFO_NAME = 1, INFO_TYPE = 2, TYPE_TENSOR = 1, TYPE_SEQUENCE = 4, TYPE_MAP = 5, TYPE_OPTIONAL = 9,
    TENSOR_ELEM = 1, TENSOR_SHAPE = 2, SHAPE_DIM = 1, DIM_VALUE = 1, DIM_PARAM = 2, INSIDE_TYPE = 1,
    MAP_KEY = 1, MAP_VALUE = 2
};

typedef struct onnx_writer {
    evl_pb_writer pb;
    evl_outside outside;
    int opset;
    EvalType real; /* not UNDEFINED: what floating-point types become, where a format mixes them */
    evl_map *names; /* those that are taken */
    size_t n_numbers;
    size_t n_missing; /* nodes that ONNX cannot say */
} onnx_writer;

/* --- names ----------------------------------------------------------------------------------- */

/* In a value's slot, in place of a number counted from 1. */
enum { LONGEST_NAME = 40, OWN_NAME = 0 };
static const size_t no_number = SIZE_MAX;

static const char *name_of_number(size_t number, char room[LONGEST_NAME])
{
    snprintf(room, LONGEST_NAME, "evallib:%zu", number);
    return room;
}

static size_t next_number(onnx_writer *w)
{
    char room[LONGEST_NAME];
    size_t other;
    do
        name_of_number(++w->n_numbers, room);
    while (evl_map_get(w->names, room, strlen(room), &other));
    return w->n_numbers;
}

static const char *name_of(onnx_writer *w, evl_value *v, char room[LONGEST_NAME])
{
    if (!v)
        return "";
    if (v->slot == OWN_NAME)
        return v->name;
    if (v->slot == no_number)
        v->slot = next_number(w);
    return name_of_number(v->slot, room);
}

/* A name is the first value's that has it. */
static void claim_names(onnx_writer *w, evl_value *const *values, size_t n)
{
    size_t other;
    for (size_t i = 0; i < n; i++) {
        const char *name = values[i]->name;
        if (values[i]->slot == OWN_NAME || !*name || evl_map_get(w->names, name, strlen(name), &other))
            continue;
        values[i]->slot = OWN_NAME;
        if (!evl_map_set(w->names, name, strlen(name), 0))
            w->pb.status = evl_no_memory(w->pb.ctx);
    }
}

static void claim_all_names(onnx_writer *w, evl_graph *g)
{
    for (size_t i = 0; i < g->n_values; i++)
        g->values[i]->slot = no_number;
    claim_names(w, g->inputs, g->n_inputs);
    claim_names(w, g->outputs, g->n_outputs);
    claim_names(w, g->values, g->n_values);
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            claim_all_names(w, evl_node_body(g->nodes[i], b));
}

/* --- tensors and types ----------------------------------------------------------------------- */

static EvalType type_of(const onnx_writer *w, EvalType type)
{
    return evl_type_is_float(type) && w->real != EVAL_UNDEFINED ? w->real : type;
}

static void put_converted(onnx_writer *w, const evl_tensor *t, size_t n)
{
    size_t bytes = n * evl_type_size(w->real); /* of a tensor that fits twice */
    void *converted = evl_allocate(w->pb.ctx->memory, bytes + 1);
    if (!converted) {
        w->pb.status = evl_no_memory(w->pb.ctx);
        return;
    }
    evl_convert(n, t->type, t->data, w->real, converted);
    evl_outside_put(&w->outside, &w->pb, TENSOR_RAW, converted, bytes);
    evl_release(w->pb.ctx->memory, converted);
}

/* Narrow elements are kept one a byte; files pack the low bits first. */
static void put_packed(onnx_writer *w, const evl_tensor *t, size_t n, unsigned bits)
{
    const unsigned char *from = t->data;
    size_t n_bytes = (n * bits + 7) / 8, each = 8 / bits;
    unsigned char *packed = evl_allocate(w->pb.ctx->memory, n_bytes + 1);
    if (!packed) {
        w->pb.status = evl_no_memory(w->pb.ctx);
        return;
    }
    memset(packed, 0, n_bytes + 1);
    for (size_t i = 0; i < n; i++)
        packed[i / each] |= (unsigned char)((from[i] & ((1u << bits) - 1)) << i % each * bits);
    evl_outside_put(&w->outside, &w->pb, TENSOR_RAW, packed, n_bytes);
    evl_release(w->pb.ctx->memory, packed);
}

static void put_tensor(onnx_writer *w, uint32_t field, const char *name, const evl_tensor *t)
{
    size_t begun = evl_pb_begin(&w->pb), n = evl_shape_count(&t->shape);
    int bits = evl_type_packed_bits(t->type);
    for (int32_t i = 0; i < t->shape.rank; i++)
        evl_pb_put_int(&w->pb, TENSOR_DIMS, t->shape.dim[i]);
    evl_pb_put_int(&w->pb, TENSOR_TYPE, (int64_t)type_of(w, t->type));
    if (*name)
        evl_pb_put_text(&w->pb, TENSOR_NAME, name);
    if (t->type == EVAL_STRING) {
        for (size_t i = 0; i < n; i++) {
            const EvalString *s = (const EvalString *)t->data + i;
            evl_pb_put_bytes(&w->pb, TENSOR_STRINGS, s->text, s->size);
        }
    } else if (bits) {
        put_packed(w, t, n, (unsigned)bits);
    } else if (type_of(w, t->type) != t->type) {
        put_converted(w, t, n);
    } else {
        evl_outside_put(&w->outside, &w->pb, TENSOR_RAW, t->data, n * evl_type_size(t->type));
    }
    evl_pb_end(&w->pb, field, begun);
}

static void put_dim(onnx_writer *w, const evl_tensor *t, int32_t i, const evl_value *named)
{
    size_t begun = evl_pb_begin(&w->pb);
    if (t->shape.dim[i] >= 0)
        evl_pb_put_int(&w->pb, DIM_VALUE, t->shape.dim[i]);
    else if (named && named->dim_names && named->dim_names[i])
        evl_pb_put_text(&w->pb, DIM_PARAM, named->dim_names[i]);
    evl_pb_end(&w->pb, SHAPE_DIM, begun);
}

/* named: the value whose sizes have names; NULL: they have none. */
static void put_tensor_type(onnx_writer *w, const evl_tensor *t, const evl_value *named)
{
    size_t begun = evl_pb_begin(&w->pb);
    evl_pb_put_int(&w->pb, TENSOR_ELEM, (int64_t)type_of(w, t->type));
    if (t->shape.rank >= 0) {
        size_t shape = evl_pb_begin(&w->pb);
        for (int32_t i = 0; i < t->shape.rank; i++)
            put_dim(w, t, i, named);
        evl_pb_end(&w->pb, TENSOR_SHAPE, shape);
    }
    evl_pb_end(&w->pb, TYPE_TENSOR, begun);
}

static void put_type(onnx_writer *w, uint32_t field, const evl_tensor *t, const evl_value *named)
{
    size_t type = evl_pb_begin(&w->pb), begun = type;
    evl_tensor inside = { .type = EVAL_UNDEFINED };
    if (!evl_type_is_nested(t->type)) {
        put_tensor_type(w, t, named);
    } else {
        bool is_map = t->type == EVAL_MAP;
        inside = evl_nested_inside(t, is_map);
        if (is_map)
            evl_pb_put_int(&w->pb, MAP_KEY, (int64_t)evl_nested_inside(t, 0).type);
        if (inside.type != EVAL_UNDEFINED)
            put_type(w, is_map ? MAP_VALUE : INSIDE_TYPE, &inside, NULL);
        evl_pb_end(&w->pb, is_map ? TYPE_MAP : t->type == EVAL_OPTIONAL ? TYPE_OPTIONAL : TYPE_SEQUENCE,
                   begun);
    }
    evl_pb_end(&w->pb, field, type);
}

typedef enum graph_kind { NETWORK, LOOP_BODY, BRANCH } graph_kind;

/* What a branch that is not taken gives may contradict its declared shape: it has none. */
static void put_info(onnx_writer *w, uint32_t field, evl_value *v, graph_kind kind)
{
    char room[LONGEST_NAME];
    evl_tensor t = v->t;
    if (field == GRAPH_OUTPUT && kind == BRANCH)
        t.shape = evl_shape_unknown();
    else if (t.shape.rank < 0 && v->declared)
        t.shape = *v->declared;
    size_t info = evl_pb_begin(&w->pb);
    evl_pb_put_text(&w->pb, INFO_NAME, name_of(w, v, room));
    if (v->t.type != EVAL_UNDEFINED)
        put_type(w, INFO_TYPE, &t, v);
    evl_pb_end(&w->pb, field, info);
}

/* --- attributes ---------------------------------------------------------------------------------- */

/* AttributeProto's numbers of the kinds. */
static const int kind_numbers[] = {
    [EVL_ATTRIBUTE_INT] = 2,     [EVL_ATTRIBUTE_NUMBER] = 1,  [EVL_ATTRIBUTE_TEXT] = 3,
    [EVL_ATTRIBUTE_TENSOR] = 4,  [EVL_ATTRIBUTE_GRAPH] = 5,   [EVL_ATTRIBUTE_INTS] = 7,
    [EVL_ATTRIBUTE_NUMBERS] = 6, [EVL_ATTRIBUTE_TEXTS] = 8,   [EVL_ATTRIBUTE_TENSORS] = 9,
    [EVL_ATTRIBUTE_GRAPHS] = 10, [EVL_ATTRIBUTE_TYPE] = 13,
};

static void put_graph(onnx_writer *w, uint32_t field, evl_graph *g, graph_kind kind);

static void put_list_item(onnx_writer *w, const evl_attribute *a, size_t i)
{
    switch (a->kind) {
    case EVL_ATTRIBUTE_INTS: evl_pb_put_int(&w->pb, ATTRIBUTE_INTS, a->u.ints[i]); break;
    case EVL_ATTRIBUTE_NUMBERS: evl_pb_put_float(&w->pb, ATTRIBUTE_FLOATS, a->u.numbers[i]); break;
    case EVL_ATTRIBUTE_TEXTS:
        evl_pb_put_bytes(&w->pb, ATTRIBUTE_STRINGS, a->u.texts[i].text, a->u.texts[i].size);
        break;
    case EVL_ATTRIBUTE_TENSORS: put_tensor(w, ATTRIBUTE_TENSORS, "", a->u.tensors[i]); break;
    case EVL_ATTRIBUTE_GRAPHS: put_graph(w, ATTRIBUTE_GRAPHS, a->u.graphs[i], BRANCH); break;
    default: break;
    }
}

/* Some are types. */
static int64_t int_of(const onnx_writer *w, const evl_attribute *a)
{
    bool is_type = strcmp(a->name, "to") == 0 || strcmp(a->name, "dtype") == 0;
    return is_type ? (int64_t)type_of(w, (EvalType)a->u.i) : a->u.i;
}

static void put_attribute(onnx_writer *w, const evl_attribute *a)
{
    size_t begun = evl_pb_begin(&w->pb);
    evl_pb_put_text(&w->pb, ATTRIBUTE_NAME, a->name);
    evl_pb_put_int(&w->pb, ATTRIBUTE_TYPE, kind_numbers[a->kind]);
    switch (a->kind) {
    case EVL_ATTRIBUTE_INT: evl_pb_put_int(&w->pb, ATTRIBUTE_I, int_of(w, a)); break;
    case EVL_ATTRIBUTE_NUMBER: evl_pb_put_float(&w->pb, ATTRIBUTE_F, a->u.number); break;
    case EVL_ATTRIBUTE_TEXT:
        evl_pb_put_bytes(&w->pb, ATTRIBUTE_S, a->u.text.text, a->u.text.size);
        break;
    case EVL_ATTRIBUTE_TENSOR: put_tensor(w, ATTRIBUTE_T, "", a->u.tensor); break;
    case EVL_ATTRIBUTE_TYPE: put_type(w, ATTRIBUTE_TP, a->u.tensor, NULL); break;
    case EVL_ATTRIBUTE_GRAPH:
        put_graph(w, ATTRIBUTE_G, a->u.graph, strcmp(a->name, "body") == 0 ? LOOP_BODY : BRANCH);
        break;
    default:
        for (size_t i = 0; i < a->n; i++)
            put_list_item(w, a, i);
    }
    evl_pb_end(&w->pb, NODE_ATTRIBUTE, begun);
}

/* --- nodes ------------------------------------------------------------------------------------------ */

/* A parameter as a constant in front of its node, which may stand in any graph. */
static void put_moved(onnx_writer *w, const evl_node *node, const evl_attribute *a, size_t number)
{
    char name[LONGEST_NAME];
    int64_t n = (int64_t)a->n;
    evl_tensor t = { .shape = evl_shape_scalar() };
    evl_attribute value = { .name = "value", .kind = EVL_ATTRIBUTE_TENSOR, .u.tensor = &t };
    float narrow = (float)(a->kind == EVL_ATTRIBUTE_NUMBER ? a->u.number : 0);
    double wide = a->kind == EVL_ATTRIBUTE_NUMBER ? a->u.number : 0;
    union {
        const void *given;
        void *stored; /* tensors are read and written through one type */
    } data = { a->kind == EVL_ATTRIBUTE_INTS ? (const void *)a->u.ints : (const void *)&a->u.i };
    bool is_double = node->inputs[0] && node->inputs[0]->t.type == EVAL_FLOAT64;
    t.type = EVAL_INT64;
    t.data = data.stored;
    if (a->kind == EVL_ATTRIBUTE_INTS)
        t.shape = evl_shape_of(1, &n);
    if (a->kind == EVL_ATTRIBUTE_NUMBER) {
        t.type = is_double ? EVAL_FLOAT64 : EVAL_FLOAT32;
        t.data = is_double ? (void *)&wide : (void *)&narrow;
    }
    size_t begun = evl_pb_begin(&w->pb);
    evl_pb_put_text(&w->pb, NODE_OUTPUT, name_of_number(number, name));
    evl_pb_put_text(&w->pb, NODE_OP, "Constant");
    put_attribute(w, &value);
    evl_pb_end(&w->pb, GRAPH_NODE, begun);
}

/* moved_as: by input, the number of the constant that an attribute has become. */
static void put_operands(onnx_writer *w, const evl_node *node, const size_t moved_as[EVL_MOST_MOVED])
{
    char room[LONGEST_NAME];
    size_t n = node->n_inputs;
    for (size_t i = 0; i < EVL_MOST_MOVED; i++)
        if (moved_as[i] && i >= n)
            n = i + 1;
    for (size_t i = 0; i < n; i++) {
        const char *name = i < node->n_inputs ? name_of(w, node->inputs[i], room) : "";
        if (i < EVL_MOST_MOVED && moved_as[i])
            name = name_of_number(moved_as[i], room);
        evl_pb_put_text(&w->pb, NODE_INPUT, name);
    }
    for (size_t i = 0; i < node->n_outputs; i++)
        evl_pb_put_text(&w->pb, NODE_OUTPUT, name_of(w, node->outputs[i], room));
}

static void put_call(onnx_writer *w, const char *op, const char *a, const char *b, const char *y,
                     const evl_attribute *attribute)
{
    size_t begun = evl_pb_begin(&w->pb);
    evl_pb_put_text(&w->pb, NODE_INPUT, a);
    if (b)
        evl_pb_put_text(&w->pb, NODE_INPUT, b);
    evl_pb_put_text(&w->pb, NODE_OUTPUT, y);
    evl_pb_put_text(&w->pb, NODE_OP, op);
    if (attribute)
        put_attribute(w, attribute);
    evl_pb_end(&w->pb, GRAPH_NODE, begun);
}

/* What takes all axes from `axis` on as one, in an opset where it takes one. */
static void put_flattened(onnx_writer *w, const evl_node *node)
{
    char in[LONGEST_NAME], out[LONGEST_NAME], room[3][LONGEST_NAME];
    const char *x = name_of(w, node->inputs[0], in), *flat = name_of_number(next_number(w), room[0]),
               *y = name_of_number(next_number(w), room[1]), *shape = name_of_number(next_number(w), room[2]);
    evl_attribute axis = evl_attribute_int("axis", evl_node_int(node, "axis", 1)),
                  last = evl_attribute_int("axis", -1);
    put_call(w, "Flatten", x, NULL, flat, &axis);
    put_call(w, node->op->name, flat, NULL, y, &last);
    put_call(w, "Shape", x, NULL, shape, NULL);
    put_call(w, "Reshape", y, shape, name_of(w, node->outputs[0], out), NULL);
}

static void miss(onnx_writer *w, const evl_node *node, const char *why)
{
    if (w->n_missing++ == 0)
        evl_fail(w->pb.ctx, EVAL_ERR_UNSUPPORTED, "ONNX has no operator for:");
    evl_fail_more(w->pb.ctx, "\nnode '%s': %s%s", node->name, node->op->name, why);
}

static void put_attributes(onnx_writer *w, const evl_node *node, evl_opset_change change)
{
    evl_attribute count = evl_attribute_int("num_outputs", (int64_t)node->n_outputs);
    for (size_t i = 0; i < node->n_attributes; i++)
        if (evl_opset_attribute(node, &node->attributes[i], w->opset) == EVL_STAYS)
            put_attribute(w, &node->attributes[i]);
    if (change == EVL_COUNTS_OUTPUTS)
        put_attribute(w, &count);
}

static void put_as_it_is(onnx_writer *w, const evl_node *node, evl_opset_change change)
{
    size_t moved_as[EVL_MOST_MOVED] = { 0 };
    for (size_t i = 0; i < node->n_attributes; i++) {
        int input = evl_opset_attribute(node, &node->attributes[i], w->opset);
        if (input > 0) {
            moved_as[input] = next_number(w);
            put_moved(w, node, &node->attributes[i], moved_as[input]);
        }
    }
    size_t begun = evl_pb_begin(&w->pb);
    put_operands(w, node, moved_as);
    if (*node->name)
        evl_pb_put_text(&w->pb, NODE_NAME, node->name);
    evl_pb_put_text(&w->pb, NODE_OP, node->op->name);
    put_attributes(w, node, change);
    if (node->op->domain)
        evl_pb_put_text(&w->pb, NODE_DOMAIN, node->op->domain);
    evl_pb_end(&w->pb, GRAPH_NODE, begun);
}

static void put_node(onnx_writer *w, const evl_node *node)
{
    evl_opset_change change = evl_opset_change_of(node, w->opset);
    if (node->op->domain && strcmp(node->op->domain, "evl") == 0)
        miss(w, node, "");
    else if (change == EVL_CHANGED)
        miss(w, node, " of an opset much older than that of others beside it");
    else if (change == EVL_FLATTENS)
        put_flattened(w, node);
    else
        put_as_it_is(w, node, change);
}

static void put_graph(onnx_writer *w, uint32_t field, evl_graph *g, graph_kind kind)
{
    char room[LONGEST_NAME];
    size_t begun = evl_pb_begin(&w->pb);
    evl_pb_put_text(&w->pb, GRAPH_NAME, "evallib");
    for (size_t i = 0; i < g->n_nodes; i++)
        put_node(w, g->nodes[i]);
    for (size_t i = 0; i < g->n_values; i++)
        if (g->values[i]->is_constant)
            put_tensor(w, GRAPH_INITIALIZER, name_of(w, g->values[i], room), &g->values[i]->t);
    for (size_t i = 0; i < g->n_inputs; i++)
        put_info(w, GRAPH_INPUT, g->inputs[i], kind);
    for (size_t i = 0; i < g->n_outputs; i++)
        put_info(w, GRAPH_OUTPUT, g->outputs[i], kind);
    evl_pb_end(&w->pb, field, begun);
}

/* --- the model ---------------------------------------------------------------------------------------- */

static void put_opset(onnx_writer *w, const char *domain, int version)
{
    size_t begun = evl_pb_begin(&w->pb);
    evl_pb_put_text(&w->pb, OPSET_DOMAIN, domain);
    evl_pb_put_int(&w->pb, OPSET_VERSION, version);
    evl_pb_end(&w->pb, MODEL_OPSET, begun);
}

/* Other domains: each once, as its first node names it. `seen` has their names. */
static void put_opsets(onnx_writer *w, const evl_graph *g, evl_map *seen)
{
    size_t known;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const evl_node *node = g->nodes[i];
        const char *domain = node->op->domain;
        if (domain && !evl_map_get(seen, domain, strlen(domain), &known)) {
            put_opset(w, domain, node->version == EVL_NEWEST ? 1 : node->version);
            if (!evl_map_set(seen, domain, strlen(domain), 1))
                w->pb.status = evl_no_memory(w->pb.ctx);
        }
        for (size_t b = 0; evl_node_body(node, b); b++)
            put_opsets(w, evl_node_body(node, b), seen);
    }
}

static void put_metadata(onnx_writer *w, const evl_graph *g)
{
    for (size_t i = 0; i < g->n_metadata; i++) {
        size_t begun = evl_pb_begin(&w->pb);
        evl_pb_put_text(&w->pb, PAIR_KEY, g->metadata[i].key);
        evl_pb_put_text(&w->pb, PAIR_VALUE, g->metadata[i].value);
        evl_pb_end(&w->pb, MODEL_METADATA, begun);
    }
}

/* CNTK's networks are of one type, which their inputs tell; constants that readers add are not
** always. Double only if it is evaluated so. */
static EvalType real_of(const evl_graph *g, EvalType evaluated)
{
    for (size_t i = 0; i < g->n_inputs; i++)
        if (g->inputs[i]->t.type == EVAL_FLOAT64)
            return evaluated;
    return EVAL_FLOAT32;
}

static EvalStatus put_model(onnx_writer *w, evl_graph *g, evl_arena *arena)
{
    evl_map *seen = evl_map_new(arena);
    w->names = evl_map_new(arena);
    if (!seen || !w->names)
        return evl_no_memory(w->pb.ctx);
    claim_all_names(w, g);
    evl_pb_put_int(&w->pb, MODEL_IR, IR_VERSION);
    evl_pb_put_text(&w->pb, MODEL_PRODUCER, "evallib");
    put_graph(w, MODEL_GRAPH, g, NETWORK);
    put_opset(w, "", w->opset);
    put_opsets(w, g, seen);
    if (w->pb.status == EVAL_OK && w->n_missing)
        w->pb.status = EVAL_ERR_UNSUPPORTED;
    if (w->pb.status == EVAL_OK && w->pb.n > LARGEST)
        return evl_fail(w->pb.ctx, EVAL_ERR_LIMIT, "the model would have %zu bytes without its constants, "
                        "and one ONNX file has at most 2 GB", w->pb.n);
    return w->pb.status;
}

/* Some of the nodes, or bodies', are a file's of the standard. */
static bool has_opset(const evl_graph *g)
{
    bool has = false;
    for (size_t i = 0; i < g->n_nodes && !has; i++) {
        has = !g->nodes[i]->op->domain && g->nodes[i]->version != EVL_NEWEST;
        for (size_t b = 0; evl_node_body(g->nodes[i], b) && !has; b++)
            has = has_opset(evl_node_body(g->nodes[i], b));
    }
    return has;
}

/* All that the outputs need. */
static EvalStatus copy_of(onnx_writer *w, const evl_graph *g, EvalType real, evl_arena *arena, evl_graph **copy)
{
    evl_tensor *given = evl_arena_take_many(arena, g->n_inputs + 1, sizeof *given);
    evl_selection all = { g->inputs, given, g->n_inputs, g->outputs, g->n_outputs };
    if (!given)
        return evl_no_memory(w->pb.ctx);
    for (size_t i = 0; i < g->n_inputs; i++)
        given[i] = g->inputs[i]->t;
    return evl_graph_copy(w->pb.ctx, arena, g, real, &all, copy);
}

/* A network of CNTK, whose reader told of states, is written as a copy, in one type; one that is simplified is a
** copy, too. */
static EvalStatus put_network(onnx_writer *w, evl_graph *g, const evl_saving *saving, const char *path,
                              evl_arena *arena)
{
    evl_graph *written = g;
    EvalStatus st = EVAL_OK;
    if (g->n_outputs == 0)
        return evl_fail(w->pb.ctx, EVAL_ERR_UNSUPPORTED, "a network without outputs, which no ONNX file may "
                        "have; outputNodeNames names some");
    if (g->states) {
        w->real = real_of(g, saving->real);
        st = evl_frames_to_onnx(w->pb.ctx, arena, g, w->real, &written);
    } else if (saving->simplifies) {
        st = evl_simplify_check(w->pb.ctx, g, saving->real);
        if (st == EVAL_OK)
            st = copy_of(w, g, saving->real, arena, &written);
    }
    if (st == EVAL_OK && saving->simplifies && g->states && w->real != saving->real)
        st = evl_fail(w->pb.ctx, EVAL_ERR_UNSUPPORTED, "the network is of float32: saveSimplified is for an object in float");
    if (st == EVAL_OK && saving->simplifies)
        st = evl_simplify(w->pb.ctx, saving->env, written);
    if (st == EVAL_OK)
        st = evl_outside_begin(w->pb.ctx, arena, written, path, &w->outside);
    w->opset = evl_opset_of_graph(written, has_opset(g) ? 0 : OPSET);
    if (st == EVAL_OK)
        st = put_model(w, written, arena);
    put_metadata(w, g);
    return st == EVAL_OK ? w->pb.status : st;
}

EvalStatus evl_write_onnx(evl_context *ctx, evl_graph *g, const evl_saving *saving, const char *path)
{
    onnx_writer w = { .pb = { .ctx = ctx } };
    evl_arena *arena = evl_arena_new(ctx->memory);
    EvalStatus st = arena ? put_network(&w, g, saving, path, arena) : evl_no_memory(ctx);
    st = evl_outside_end(ctx, &w.outside, st);
    if (st == EVAL_OK)
        st = evl_file_write(ctx, path, w.pb.data, w.pb.n);
    evl_pb_writer_free(&w.pb);
    evl_arena_free(arena);
    return st;
}
