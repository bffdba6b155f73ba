/* Operators that left the standard, or that others brought along, as nodes of ai.onnx: all but
** the last are put in front, and the draft becomes the last. */
#include "readers/onnx/onnx.h"
#include <string.h>

static const evl_attribute *find(const evl_onnx_draft *d, const char *name, evl_attribute_kind kind)
{
    for (size_t i = 0; i < d->n_attributes; i++)
        if (d->attributes[i].kind == kind && strcmp(d->attributes[i].name, name) == 0)
            return &d->attributes[i];
    return NULL;
}

static bool is_set(const evl_onnx_draft *d, const char *name)
{
    const evl_attribute *a = find(d, name, EVL_ATTRIBUTE_INT);
    return a && a->u.i != 0;
}

/* At most `most` values. */
static size_t ints_of(const evl_onnx_draft *d, const char *name, size_t most, int64_t *values)
{
    const evl_attribute *a = find(d, name, EVL_ATTRIBUTE_INTS);
    size_t n = a ? (a->n < most ? a->n : most) : 0;
    for (size_t i = 0; i < n; i++)
        values[i] = a->u.ints[i];
    return n;
}

static evl_value *constant(evl_onnx_putter *p, EvalType type, const evl_shape *shape, EvalType from,
                           const void *values)
{
    size_t n = evl_shape_count(shape);
    void *data = evl_arena_take_many(p->o->arena, n, evl_type_size(type));
    evl_value *v = data ? evl_graph_constant(p->scope->graph, "", type, shape, data) : NULL;
    if (v)
        evl_convert(n, from, values, type, data);
    else if (p->status == EVAL_OK)
        p->status = evl_no_memory(p->o->ctx);
    return v;
}

static evl_value *ints(evl_onnx_putter *p, const int64_t *values, size_t n)
{
    evl_shape shape = evl_shape_of(1, (const int64_t[1]){ (int64_t)n });
    return constant(p, EVAL_INT64, &shape, EVAL_INT64, values);
}

/* The attribute as a scalar. */
static evl_value *number(evl_onnx_putter *p, const char *name, double fallback)
{
    const evl_attribute *a = find(p->d, name, EVL_ATTRIBUTE_NUMBER);
    evl_shape scalar = evl_shape_of(0, NULL);
    return constant(p, EVAL_FLOAT32, &scalar, EVAL_FLOAT64, a ? &a->u.number : &fallback);
}

static evl_value *put_2(evl_onnx_putter *p, const char *op, evl_value *a, evl_value *b)
{
    return evl_onnx_put(p, op, (evl_value *const[2]){ a, b }, 2, NULL, 0);
}

/* The draft, as a node of that operator; there is room for as many inputs. */
static EvalStatus become(evl_onnx_putter *p, evl_onnx_draft *d, const char *op,
                         evl_value *const *inputs, size_t n)
{
    d->op = op;
    d->domain = "";
    d->version = EVL_NEWEST;
    d->n_inputs = n;
    d->n_attributes = 0;
    for (size_t i = 0; i < n; i++)
        d->inputs[i] = inputs[i];
    return p->status;
}

static EvalStatus become_2(evl_onnx_putter *p, evl_onnx_draft *d, const char *op, evl_value *a,
                           evl_value *b)
{
    return become(p, d, op, (evl_value *const[2]){ a, b }, 2);
}

/* alpha * x + beta. */
static EvalStatus affine(evl_onnx_putter *p, evl_onnx_draft *d)
{
    evl_value *x = put_2(p, "Mul", d->inputs[0], number(p, "alpha", 1));
    return become_2(p, d, "Add", x, number(p, "beta", 0));
}

/* scale * x + bias, which has a value for each channel. */
static EvalStatus image_scaler(evl_onnx_putter *p, evl_onnx_draft *d)
{
    const evl_attribute *bias = find(d, "bias", EVL_ATTRIBUTE_NUMBERS);
    evl_value *x = put_2(p, "Mul", d->inputs[0], number(p, "scale", 1));
    evl_shape shape = evl_shape_of(3, (const int64_t[3]){ bias ? (int64_t)bias->n : 0, 1, 1 });
    if (!bias)
        return become_2(p, d, "Add", x, number(p, "bias", 0));
    return become_2(p, d, "Add", x,
                    constant(p, EVAL_FLOAT32, &shape, EVAL_FLOAT64, bias->u.numbers));
}

/* alpha * f(beta * x). */
static EvalStatus scaled(evl_onnx_putter *p, evl_onnx_draft *d, const char *op)
{
    evl_value *x = put_2(p, "Mul", d->inputs[0], number(p, "beta", 1));
    return become_2(p, d, "Mul", evl_onnx_put(p, op, &x, 1, NULL, 0), number(p, "alpha", 1));
}

static EvalStatus parametric_softplus(evl_onnx_putter *p, evl_onnx_draft *d)
{
    return scaled(p, d, "Softplus");
}

static EvalStatus scaled_tanh(evl_onnx_putter *p, evl_onnx_draft *d)
{
    return scaled(p, d, "Tanh");
}

static EvalStatus scale(evl_onnx_putter *p, evl_onnx_draft *d)
{
    return become_2(p, d, "Mul", d->inputs[0], number(p, "scale", 1));
}

/* Left, top, right and bottom go; or, with a scale, what is not that high and wide. */
static EvalStatus crop(evl_onnx_putter *p, evl_onnx_draft *d)
{
    int64_t border[4], size[2], end[2];
    bool is_right = ints_of(d, "border", 4, border) == 4;
    bool has_size = ints_of(d, "scale", 2, size) == 2;
    for (int i = 0; i < 4 && is_right; i++)
        is_right = border[i] >= 0 && border[i] <= INT32_MAX &&
                   (!has_size || (size[i % 2] >= 0 && size[i % 2] <= INT32_MAX));
    if (!is_right)
        return evl_fail(p->o->ctx, EVAL_ERR_FORMAT,
                        "onnx: node '%s' (Crop): border must be four sizes, scale two, at byte %zu",
                        d->name, d->where);
    const int64_t start[2] = { border[1], border[0] };
    for (int i = 0; i < 2; i++)
        end[i] = has_size ? start[i] + size[i] : border[3 - i] ? -border[3 - i] : INT64_MAX;
    evl_value *in[4] = { d->inputs[0], ints(p, start, 2), ints(p, end, 2),
                         ints(p, (const int64_t[2]){ 2, 3 }, 2) };
    return become(p, d, "Slice", in, 4);
}

static EvalStatus dynamic_slice(evl_onnx_putter *p, evl_onnx_draft *d)
{
    evl_value *in[4] = { NULL };
    for (size_t i = 0; i < d->n_inputs && i < 4; i++)
        in[i] = d->inputs[i];
    return become(p, d, "Slice", in, 4);
}

/* Of what is filled: the attribute; or that of the input, or what it holds, and more. */
static evl_value *shape_of(evl_onnx_putter *p, const evl_onnx_draft *d)
{
    int64_t sizes[EVAL_MAX_RANK];
    evl_attribute to = evl_attribute_int("to", 7), axis = evl_attribute_int("axis", 0);
    if (d->n_inputs == 0)
        return ints(p, sizes, ints_of(d, "shape", EVAL_MAX_RANK, sizes));
    evl_value *both[2] = { is_set(d, "input_as_shape")
                               ? evl_onnx_put(p, "Cast", d->inputs, 1, &to, 1)
                               : evl_onnx_put(p, "Shape", d->inputs, 1, NULL, 0) };
    both[1] = ints(p, sizes, ints_of(d, "extra_shape", EVAL_MAX_RANK, sizes));
    return evl_onnx_put(p, "Concat", both, 2, &axis, 1);
}

static EvalStatus given_tensor_fill(evl_onnx_putter *p, evl_onnx_draft *d)
{
    const evl_attribute *values = find(d, "values", EVL_ATTRIBUTE_NUMBERS);
    evl_shape shape = evl_shape_of(1, (const int64_t[1]){ values ? (int64_t)values->n : 0 });
    evl_value *from =
        constant(p, EVAL_FLOAT32, &shape, EVAL_FLOAT64, values ? values->u.numbers : NULL);
    return become_2(p, d, "Reshape", from, shape_of(p, d));
}

static EvalStatus constant_fill(evl_onnx_putter *p, evl_onnx_draft *d)
{
    const evl_attribute *type = find(d, "dtype", EVL_ATTRIBUTE_INT);
    evl_attribute to = evl_attribute_int("to", type ? type->u.i : 1);
    evl_value *value = number(p, "value", 0);
    value = evl_onnx_put(p, "Cast", &value, 1, &to, 1);
    return become_2(p, d, "Expand", value, shape_of(p, d));
}

/* Before opset 9: over images, or over samples; perhaps the mean alone. */
static EvalStatus mean_variance(evl_onnx_putter *p, evl_onnx_draft *d)
{
    static const int64_t images[] = { 0, 2, 3 }, all[] = { 0, 1, 2, 3 };
    const evl_attribute *variance = find(d, "normalize_variance", EVL_ATTRIBUTE_INT);
    bool is_all = is_set(d, "across_channels");
    const int64_t *axes = is_all ? all : images;
    evl_value *x = d->inputs[0];
    if (variance && variance->u.i == 0)
        return become_2(p, d, "Sub", x, put_2(p, "ReduceMean", x, ints(p, axes, is_all ? 4 : 3)));
    EvalStatus st = become(p, d, d->op, &x, 1);
    d->attributes[d->n_attributes++] = evl_attribute_ints("axes", axes, is_all ? 4 : 3);
    return st;
}

/* Channels come last: [N, sizes ..., C]. */
static EvalStatus nhwc_max_pool(evl_onnx_putter *p, evl_onnx_draft *d)
{
    const evl_attribute *kernel = find(d, "kernel_shape", EVL_ATTRIBUTE_INTS);
    size_t n = kernel && kernel->n + 2 <= EVAL_MAX_RANK ? kernel->n : 2;
    int64_t *perm = evl_arena_take_many(p->o->arena, 2 * (n + 2), sizeof *perm);
    if (!perm)
        return evl_no_memory(p->o->ctx);
    int64_t *back = perm + n + 2;
    perm[0] = back[0] = 0;
    perm[1] = (int64_t)n + 1;
    back[n + 1] = 1;
    for (size_t i = 0; i < n; i++) {
        perm[i + 2] = (int64_t)i + 1;
        back[i + 1] = (int64_t)i + 2;
    }
    evl_attribute first = evl_attribute_ints("perm", perm, n + 2);
    evl_value *x = evl_onnx_put(p, "Transpose", d->inputs, 1, &first, 1);
    x = evl_onnx_put(p, "MaxPool", &x, 1, d->attributes, d->n_attributes);
    EvalStatus st = become(p, d, "Transpose", &x, 1);
    d->attributes[d->n_attributes++] = evl_attribute_ints("perm", back, n + 2);
    return st;
}

static const struct {
    const char *op, *domain;
    EvalStatus (*make)(evl_onnx_putter *, evl_onnx_draft *);
    size_t min_inputs;
    int before; /* opsets lower than this */
} retired[] = {
    { "Affine", "", affine, 1, EVL_NEWEST },
    { "ConstantFill", "", constant_fill, 0, EVL_NEWEST },
    { "Crop", "", crop, 1, EVL_NEWEST },
    { "DynamicSlice", "", dynamic_slice, 3, EVL_NEWEST },
    { "GivenTensorFill", "", given_tensor_fill, 0, EVL_NEWEST },
    { "ImageScaler", "", image_scaler, 1, EVL_NEWEST },
    { "MeanVarianceNormalization", "", mean_variance, 1, 9 },
    { "NhwcMaxPool", "com.microsoft", nhwc_max_pool, 1, EVL_NEWEST },
    { "ParametricSoftplus", "", parametric_softplus, 1, EVL_NEWEST },
    { "Scale", "", scale, 1, EVL_NEWEST },
    { "ScaledTanh", "", scaled_tanh, 1, EVL_NEWEST },
};

EvalStatus evl_onnx_retired(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    evl_onnx_putter p = { o, scope, d, EVAL_OK };
    for (size_t i = 0; i < sizeof retired / sizeof retired[0]; i++) {
        if (strcmp(d->op, retired[i].op) != 0 || strcmp(d->domain, retired[i].domain) != 0 ||
            d->version >= retired[i].before)
            continue;
        for (size_t k = 0; k < retired[i].min_inputs; k++)
            if (k >= d->n_inputs || !d->inputs[k])
                return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                                "onnx: node '%s' (%s): input %zu is left out, at byte %zu", d->name,
                                d->op, k, d->where);
        return d->n_outputs == 1 ? retired[i].make(&p, d) : EVAL_OK;
    }
    return EVAL_OK;
}
