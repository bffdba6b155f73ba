/* What the operators of ai.onnx.ml share. */
#include "ops/ml.h"
#include "ops/operands.h"
#include <stdio.h>
#include <string.h>

enum { NAME = 48 };

const char *const evl_ml_transforms[EVL_ML_TRANSFORMS] = { "NONE", "SOFTMAX", "LOGISTIC",
                                                           "SOFTMAX_ZERO", "PROBIT" };

const evl_ml_kit *evl_ml_kit_of(const evl_machine *machine)
{
    return machine->precision == EVL_FLOAT ? &evl_ml_kit_f : &evl_ml_kit_d;
}

EvalStatus evl_ml_infer_rows(const evl_infer *x, size_t input, int64_t *n, int64_t *width)
{
    const evl_shape *shape = &x->use.in[input]->shape;
    EvalStatus st = evl_infer_rank(x, input, 1, 2);
    *n = shape->rank == 1 ? 1 : evl_infer_dim_of(x, input, 0);
    *width = evl_infer_dim_of(x, input, shape->rank == 1 ? 0 : 1);
    return st;
}

void evl_ml_rows(const evl_shape *shape, size_t *n, size_t *width)
{
    *n = shape->rank == 1 ? 1 : (size_t)shape->dim[0];
    *width = (size_t)shape->dim[shape->rank - 1];
}

EvalStatus evl_ml_infer_classes(evl_infer *x, int64_t width, EvalType label)
{
    int64_t n, columns;
    EvalStatus st = evl_ml_infer_rows(x, 0, &n, &columns);
    x->out[0].type = label;
    x->out[0].shape = evl_shape_of(1, &n);
    if (x->n_out > 1) {
        x->out[1].type = EVAL_FLOAT32;
        x->out[1].shape = evl_shape_of(2, (int64_t[]){ n, width });
    }
    return st;
}

EvalStatus evl_ml_numbers(evl_prepare *p, const char *name, const void **reals, size_t *n)
{
    char with[NAME];
    const void *numbers = evl_node_numbers(p->use.node, name, n);
    EvalType type = EVAL_FLOAT64;
    (void)snprintf(with, sizeof with, "%s_as_tensor", name);
    const evl_attribute *a = evl_node_attribute(p->use.node, with);
    *reals = NULL;
    if (!numbers && a && a->kind == EVL_ATTRIBUTE_TENSOR && evl_type_is_float(a->u.tensor->type)) {
        numbers = a->u.tensor->data;
        type = a->u.tensor->type;
        *n = evl_shape_count(&a->u.tensor->shape);
    }
    if (!numbers || *n == 0)
        return EVAL_OK;
    void *to = evl_arena_take_many(p->arena, *n, evl_type_size(p->machine->real));
    if (!to)
        return evl_no_memory(p->ctx);
    (void)evl_convert(*n, type, numbers, p->machine->real, to);
    *reals = to;
    return EVAL_OK;
}

EvalStatus evl_ml_choice(evl_context *ctx, const evl_node *node, const char *name,
                         const char *const *choices, size_t n, size_t *choice)
{
    const char *text = evl_node_text(node, name, choices[0]);
    for (*choice = 0; *choice < n; ++*choice)
        if (strcmp(choices[*choice], text) == 0)
            return EVAL_OK;
    EvalStatus st =
        evl_fail(ctx, EVAL_ERR_FORMAT, "attribute %s is '%s', expected %s", name, text, choices[0]);
    for (size_t i = 1; i < n; i++)
        evl_fail_more(ctx, i + 1 < n ? ", %s" : " or %s", choices[i]);
    return st;
}

EvalStatus evl_ml_wrong_count(evl_context *ctx, const char *name, size_t n, size_t expected)
{
    return evl_fail(ctx, EVAL_ERR_FORMAT, "attribute %s has %zu items, expected %zu", name, n,
                    expected);
}

size_t evl_ml_scratch(const evl_tensor *x, const evl_machine *machine)
{
    size_t bytes = evl_shape_count(&x->shape) * evl_type_size(machine->real);
    return evl_type_is_float(x->type) ? 0 : bytes + (EVL_ALIGNMENT - bytes % EVL_ALIGNMENT);
}

const void *evl_ml_reals(const evl_call *call)
{
    const evl_tensor *x = call->in[0];
    if (evl_type_is_float(x->type))
        return x->data;
    (void)evl_convert(evl_shape_count(&x->shape), x->type, x->data, call->machine->real,
                      call->scratch);
    return call->scratch;
}

evl_ml_labels evl_ml_labels_of(const evl_node *node, const char *ints, const char *texts)
{
    evl_ml_labels labels = { 0 };
    const evl_attribute *a = evl_node_attribute(node, texts);
    labels.ints = evl_node_ints(node, ints, &labels.n);
    if (a && a->kind == EVL_ATTRIBUTE_TEXTS && a->n > 0)
        labels = (evl_ml_labels){ NULL, a->u.texts, a->n };
    return labels;
}

void evl_ml_label_put(const evl_ml_labels *labels, size_t index, const evl_tensor *y, size_t i)
{
    static const EvalString no_or_yes[] = { { "0", 1 }, { "1", 1 } };
    bool is_named = labels->n > 1;
    if (y->type == EVAL_STRING)
        ((EvalString *)y->data)[i] = is_named ? labels->texts[index] : no_or_yes[index != 0];
    else
        ((int64_t *)y->data)[i] = is_named ? labels->ints[index] : index != 0;
}
