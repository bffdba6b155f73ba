/* Operators that a newer opset knows under another name: written as it would. */
#include "readers/onnx/onnx.h"
#include <string.h>

enum { RESIZE_SINCE = 11, RESIZE_WITHOUT_REGION = 13, SCATTER_ELEMENTS_SINCE = 11 };

/* Opsets 7 and 1 of Upsample have the factors as attributes, which Resize has not. */
static EvalStatus scales_of_upsample(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d,
                                     evl_value **scales)
{
    double four[4] = { 1, 1, 0, 0 };
    const double *from = NULL;
    int64_t n = 0;
    size_t kept = 0;
    for (size_t i = 0; i < d->n_attributes; i++) {
        const evl_attribute *a = &d->attributes[i];
        bool is_height = strcmp(a->name, "height_scale") == 0;
        if (a->kind == EVL_ATTRIBUTE_NUMBERS && strcmp(a->name, "scales") == 0) {
            from = a->u.numbers;
            n = (int64_t)a->n;
        } else if (a->kind == EVL_ATTRIBUTE_NUMBER &&
                   (is_height || strcmp(a->name, "width_scale") == 0)) {
            four[is_height ? 2 : 3] = a->u.number;
            from = four;
            n = 4;
        } else
            d->attributes[kept++] = *a;
    }
    d->n_attributes = kept;
    float *data = evl_arena_take_many(o->arena, (size_t)n, sizeof *data);
    evl_shape shape = evl_shape_of(1, &n);
    if (data)
        evl_convert((size_t)n, EVAL_FLOAT64, from, EVAL_FLOAT32, data);
    *scales = data ? evl_graph_constant(scope->graph, "", EVAL_FLOAT32, &shape, data) : NULL;
    return *scales ? EVAL_OK : evl_no_memory(o->ctx);
}

static void set_text(evl_onnx_draft *d, const char *name, const char *text)
{
    for (size_t i = 0; i < d->n_attributes; i++)
        if (strcmp(d->attributes[i].name, name) == 0) {
            d->attributes[i] = evl_attribute_text(name, text);
            return;
        }
    d->attributes[d->n_attributes++] = evl_attribute_text(name, text);
}

static bool has_text(const evl_onnx_draft *d, const char *name, const char *text)
{
    for (size_t i = 0; i < d->n_attributes; i++)
        if (strcmp(d->attributes[i].name, name) == 0)
            return d->attributes[i].kind == EVL_ATTRIBUTE_TEXT &&
                   strcmp(d->attributes[i].u.text.text, text) == 0;
    return false;
}

/* Opset 10's nearest elements, as its own test vectors have them, lie above where an axis shrinks
** and below where it grows. NULL: no one word says it, and the operator has to know. */
static const char *rounding_of(const evl_value *scales)
{
    bool shrinks = false, grows = false;
    if (!scales->is_constant)
        return NULL;
    for (size_t i = 0, n = evl_shape_count(&scales->t.shape); i < n; i++) {
        double scale = evl_tensor_f64(&scales->t, i);
        shrinks = shrinks || scale < 1;
        grows = grows || scale > 1;
    }
    return !shrinks ? "floor" : grows ? NULL : "ceil";
}

/* Upsample, and Resize of opset 10, place samples as "asymmetric" says, and have the factors where
** opset 11 has the region. */
static EvalStatus to_resize(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    evl_value *scales = d->n_inputs > 1 ? d->inputs[1] : NULL;
    bool is_nearest = !has_text(d, "mode", "linear") && strcmp(d->op, "Resize") == 0;
    const char *rounding = is_nearest && scales ? rounding_of(scales) : "floor";
    if (!rounding)
        return EVAL_OK;
    if (!scales) {
        EvalStatus st = scales_of_upsample(o, scope, d, &scales);
        if (st != EVAL_OK)
            return st;
    }
    d->inputs[1] = NULL;
    d->inputs[2] = scales;
    d->n_inputs = 3;
    if (has_text(d, "mode", "bilinear"))
        set_text(d, "mode", "linear");
    set_text(d, "coordinate_transformation_mode", "asymmetric");
    set_text(d, "nearest_mode", rounding);
    d->op = "Resize";
    d->version = RESIZE_WITHOUT_REGION;
    return EVAL_OK;
}

static EvalStatus to_scatter_elements(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    (void)o;
    (void)scope;
    d->op = "ScatterElements";
    d->version = SCATTER_ELEMENTS_SINCE;
    return EVAL_OK;
}

typedef struct change {
    const char *op;
    int before; /* opsets lower than this */
    EvalStatus (*make)(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);
} change;

static const change changes[] = {
    { "Einsum", EVL_NEWEST, evl_onnx_einsum },
    { "Upsample", EVL_NEWEST, to_resize },
    { "Resize", RESIZE_SINCE, to_resize },
    { "Scatter", EVL_NEWEST, to_scatter_elements },
};

EvalStatus evl_onnx_modernise(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    if (d->version == 0)
        return EVAL_OK;
    for (size_t i = 0; !*d->domain && i < sizeof changes / sizeof changes[0]; i++)
        if (strcmp(d->op, changes[i].op) == 0 && d->version < changes[i].before)
            return changes[i].make(o, scope, d);
    return evl_onnx_retired(o, scope, d);
}
