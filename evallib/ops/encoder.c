/* LabelEncoder and CategoryMapper: from keys to values, both listed in attributes. */
#include "ops/lines.h"
#include "ops/lookup.h"
#include "ops/ops.h"
#include <string.h>

enum { LAST_COUNTS_SINCE = 4 };

/* A list as a file gives it. */
typedef struct list {
    EvalType type; /* UNDEFINED: none */
    size_t n;
    const void *data;
} list;

typedef struct encoder {
    evl_lookup keys;
    const char *values; /* in the output's type; behind the last what stands for all others */
    size_t size;        /* of a value */
} encoder;

static list list_of(const evl_node *node, const char *name, EvalType numbers)
{
    const evl_attribute *a = evl_node_attribute(node, name);
    list l = { .n = a ? a->n : 0 };
    if (!a)
        return l;
    switch (a->kind) {
    case EVL_ATTRIBUTE_INTS: l.type = EVAL_INT64, l.data = a->u.ints; break;
    case EVL_ATTRIBUTE_TEXTS: l.type = EVAL_STRING, l.data = a->u.texts; break;
    case EVL_ATTRIBUTE_NUMBERS: l.type = numbers, l.data = a->u.numbers; break;
    case EVL_ATTRIBUTE_TENSOR:
        l = (list){ a->u.tensor->type, evl_shape_count(&a->u.tensor->shape), a->u.tensor->data };
        break;
    default: break;
    }
    return l;
}

/* The first of some attributes that is there; floats are kept as doubles. */
static list first_of(const evl_node *node, const char *const *names)
{
    list l = { .type = EVAL_UNDEFINED };
    for (; *names && l.type == EVAL_UNDEFINED; names++)
        l = list_of(node, *names, EVAL_FLOAT64);
    return l;
}

static const char *const key_names[] = { "keys_int64s", "keys_strings", "keys_floats",
                                         "keys_tensor", NULL };
static const char *const value_names[] = { "values_int64s", "values_strings", "values_floats",
                                           "values_tensor", NULL };

/* CategoryMapper and the first LabelEncoder go both ways, as the input's type says. */
static bool is_two_way(const evl_node *node)
{
    return evl_node_attribute(node, "classes_strings") ||
           evl_node_attribute(node, "cats_strings") || evl_node_attribute(node, "cats_int64s");
}

static list two_way_texts(const evl_node *node)
{
    static const char *const names[] = { "cats_strings", "classes_strings", NULL };
    return first_of(node, names);
}

static EvalType output_type(const evl_use *use, const list *values)
{
    EvalType in = use->in[0]->type;
    if (is_two_way(use->node))
        return in == EVAL_STRING ? EVAL_INT64 : in == EVAL_UNDEFINED ? in : EVAL_STRING;
    bool is_list = evl_node_attribute(use->node, "values_floats");
    return is_list && values->type == EVAL_FLOAT64 ? EVAL_FLOAT32 : values->type;
}

static EvalStatus infer(evl_infer *x)
{
    list values = first_of(x->use.node, value_names);
    if (!is_two_way(x->use.node) && values.type == EVAL_UNDEFINED)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "no attribute lists the keys and values");
    x->out[0].type = output_type(&x->use, &values);
    x->out[0].shape = x->use.in[0]->shape;
    return EVAL_OK;
}

static EvalStatus put_values(evl_prepare *p, encoder *e, const list *values, const list *other)
{
    EvalType to = p->out[0]->type;
    e->size = evl_type_size(to);
    char *table = evl_arena_take_many(p->arena, values->n + 1, e->size);
    if (!table)
        return evl_no_memory(p->ctx);
    if (!evl_convert(values->n, values->type, values->data, to, table) ||
        !evl_convert(1, other->type, other->data, to, table + values->n * e->size))
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "values of type %s, and %s for others",
                        evl_type_name(values->type), evl_type_name(other->type));
    e->values = table;
    return EVAL_OK;
}

/* Numbers are compared as the plan has them. */
static EvalStatus put_keys(evl_prepare *p, encoder *e, const list *keys)
{
    EvalType real = p->machine->real;
    bool is_float = evl_type_is_float(keys->type), is_text = keys->type == EVAL_STRING;
    EvalType in = p->use.in[0]->type;
    if (is_text != (in == EVAL_STRING) || is_float != evl_type_is_float(in))
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "keys of type %s for elements of type %s",
                        evl_type_name(keys->type), evl_type_name(in));
    if (is_text)
        return evl_lookup_texts(p->arena, keys->data, keys->n, &e->keys) ? EVAL_OK
                                                                         : evl_no_memory(p->ctx);
    int64_t *ints = evl_arena_take_many(p->arena, keys->n + 1, sizeof *ints);
    if (!ints)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < keys->n; i++) {
        evl_tensor t = { .type = keys->type };
        double rounded[1];
        memcpy(&t.data, &keys->data, sizeof t.data);
        if (is_float) {
            double number = evl_tensor_f64(&t, i);
            (void)evl_convert(1, EVAL_FLOAT64, &number, real, rounded);
            (void)evl_convert(1, real, rounded, EVAL_FLOAT64, &number);
            ints[i] = evl_lookup_number(number);
        } else
            ints[i] = evl_tensor_i64(&t, i);
    }
    return evl_lookup_ints(p->arena, ints, keys->n, &e->keys) ? EVAL_OK : evl_no_memory(p->ctx);
}

/* What stands for keys that are not listed, in the type of the values. */
typedef struct others {
    int64_t i;
    double number;
    EvalString text;
} others;

static list other_of(const evl_node *node, EvalType values, others *o)
{
    const evl_attribute *a = evl_node_attribute(node, "default_string");
    list given = list_of(node, "default_tensor", EVAL_FLOAT64);
    *o = (others){ evl_node_int(node, "default_int64", -1),
                   evl_node_number(node, "default_float", -0.0),
                   { "_Unused", 7 } };
    if (a && a->kind == EVL_ATTRIBUTE_TEXT)
        o->text = a->u.text;
    if (given.n == 1)
        return given;
    if (values == EVAL_STRING)
        return (list){ EVAL_STRING, 1, &o->text };
    if (evl_type_is_float(values))
        return (list){ EVAL_FLOAT64, 1, &o->number };
    return (list){ EVAL_INT64, 1, &o->i };
}

/* CategoryMapper lists both; the first LabelEncoder counts. */
static EvalStatus two_way_lists(evl_prepare *p, list *keys, list *values)
{
    list texts = two_way_texts(p->use.node),
         ints = list_of(p->use.node, "cats_int64s", EVAL_FLOAT64);
    if (!evl_node_attribute(p->use.node, "cats_int64s")) {
        int64_t *counted = evl_arena_take_many(p->arena, texts.n + 1, sizeof *counted);
        if (!counted)
            return evl_no_memory(p->ctx);
        for (size_t i = 0; i < texts.n; i++)
            counted[i] = (int64_t)i;
        ints = (list){ EVAL_INT64, texts.n, counted };
    }
    bool is_text = p->use.in[0]->type == EVAL_STRING;
    *keys = is_text ? texts : ints;
    *values = is_text ? ints : texts;
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    encoder *e = evl_arena_take(p->arena, sizeof *e);
    list keys = first_of(p->use.node, key_names), values = first_of(p->use.node, value_names);
    others o;
    if (!e)
        return evl_no_memory(p->ctx);
    EvalStatus st = is_two_way(p->use.node) ? two_way_lists(p, &keys, &values) : EVAL_OK;
    if (st != EVAL_OK)
        return st;
    if (keys.n != values.n || keys.type == EVAL_UNDEFINED || values.type == EVAL_UNDEFINED)
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "%zu keys and %zu values, expected as many",
                        keys.n, values.n);
    list other = other_of(p->use.node, values.type, &o);
    st = put_keys(p, e, &keys);
    /* Opset 4 of ai.onnx.ml says the last; 2 and 3 say nothing, and runtimes take the first. */
    e->keys.last_counts = is_two_way(p->use.node) || p->use.node->version >= LAST_COUNTS_SINCE;
    p->state = e;
    return st == EVAL_OK ? put_values(p, e, &values, &other) : st;
}

typedef struct work {
    const encoder *e;
    const evl_tensor *x;
    char *y;
} work;

static void encode(void *arg, size_t i)
{
    const work *w = arg;
    const encoder *e = w->e;
    EvalType type = w->x->type;
    size_t found = type == EVAL_STRING
                       ? evl_lookup_text(&e->keys, ((const EvalString *)w->x->data)[i])
                   : evl_type_is_float(type)
                       ? evl_lookup_int(&e->keys, evl_lookup_number(evl_tensor_f64(w->x, i)))
                       : evl_lookup_int(&e->keys, evl_tensor_i64(w->x, i));
    memcpy(w->y + i * e->size, e->values + found * e->size, e->size);
}

static EvalStatus run(const evl_call *call)
{
    work w = { call->state, call->in[0], call->out[0]->data };
    evl_each_for(evl_shape_count(&w.x->shape), 16, call->machine->pool, encode, &w);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op ops[] = {
    { "CategoryMapper", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer, { NULL, NULL }, &impl, &impl, 0 },
    { "LabelEncoder", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer, { &impl, &impl }, &impl, &impl, 0 },
};
/* clang-format on */

const evl_op *const evl_ops_encoder[] = { &ops[0], &ops[1], NULL };
