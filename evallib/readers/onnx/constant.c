/* Constant nodes: their values are the graph's, and no node is made. */
#include "readers/onnx/onnx.h"
#include <string.h>

/* How an attribute of Constant is a tensor. */
typedef struct form {
    const char *name;
    evl_attribute_kind kind;
    EvalType type;
} form;

static const form forms[] = {
    { "value", EVL_ATTRIBUTE_TENSOR, EVAL_UNDEFINED },
    { "sparse_value", EVL_ATTRIBUTE_TENSOR, EVAL_UNDEFINED },
    { "value_float", EVL_ATTRIBUTE_NUMBER, EVAL_FLOAT32 },
    { "value_floats", EVL_ATTRIBUTE_NUMBERS, EVAL_FLOAT32 },
    { "value_int", EVL_ATTRIBUTE_INT, EVAL_INT64 },
    { "value_ints", EVL_ATTRIBUTE_INTS, EVAL_INT64 },
    { "value_string", EVL_ATTRIBUTE_TEXT, EVAL_STRING },
    { "value_strings", EVL_ATTRIBUTE_TEXTS, EVAL_STRING },
};

enum { N_FORMS = sizeof forms / sizeof forms[0] };

static const form *form_of(const evl_attribute *a)
{
    for (size_t i = 0; i < N_FORMS; i++)
        if (strcmp(a->name, forms[i].name) == 0 && a->kind == forms[i].kind)
            return &forms[i];
    return NULL;
}

/* Where n elements of a plural kind are, or the one of a singular kind. */
static const void *elements_of(const evl_attribute *a)
{
    switch (a->kind) {
    case EVL_ATTRIBUTE_NUMBERS: return a->u.numbers;
    case EVL_ATTRIBUTE_INTS: return a->u.ints;
    case EVL_ATTRIBUTE_TEXTS: return a->u.texts;
    case EVL_ATTRIBUTE_NUMBER: return &a->u.number;
    case EVL_ATTRIBUTE_TEXT: return &a->u.text;
    default: return &a->u.i;
    }
}

static bool is_plural(evl_attribute_kind kind)
{
    return kind >= EVL_ATTRIBUTE_INTS;
}

static EvalStatus make(evl_onnx *o, const form *f, const evl_attribute *a, evl_tensor *t)
{
    int64_t n = is_plural(a->kind) ? (int64_t)a->n : 1;
    *t = (evl_tensor){ .type = f->type, .life = EVL_LIFE_MODEL };
    t->shape = is_plural(a->kind) ? evl_shape_of(1, &n) : evl_shape_scalar();
    t->data = evl_arena_take_many(o->arena, (size_t)n, evl_type_size(f->type));
    if (!t->data)
        return evl_no_memory(o->ctx);
    if (f->type == EVAL_FLOAT32) /* exact: it was written as one */
        evl_convert((size_t)n, EVAL_FLOAT64, elements_of(a), EVAL_FLOAT32, t->data);
    else if (n > 0)
        memcpy(t->data, elements_of(a), (size_t)n * evl_type_size(f->type));
    return EVAL_OK;
}

EvalStatus evl_onnx_constant(evl_onnx *o, const evl_onnx_draft *d)
{
    const evl_attribute *a = d->attributes, *end = a + d->n_attributes;
    evl_tensor t;
    while (a < end && !form_of(a))
        a++;
    const form *f = a < end ? form_of(a) : NULL;
    if (!f || d->n_outputs != 1 || d->n_inputs != 0)
        return evl_fail(
            o->ctx, EVAL_ERR_FORMAT,
            "onnx: node '%s' (Constant) must have an attribute that is a value, and one "
            "output, at byte %zu",
            d->name, d->where);
    if (f->kind == EVL_ATTRIBUTE_TENSOR)
        t = *a->u.tensor;
    else {
        EvalStatus st = make(o, f, a, &t);
        if (st != EVAL_OK)
            return st;
    }
    evl_onnx_hold(d->outputs[0], &t);
    return EVAL_OK;
}
