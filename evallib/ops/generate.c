/* Constant, ConstantOfShape, Range, EyeLike: tensors made from parameters. */
#include "ops/axes.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/strided.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Constant: the one attribute that is there. Readers make constants of such nodes, so the
** operator itself seldom runs. */
static const char *const constant_names[] = { "value",        "value_int",    "value_ints",
                                              "value_float",  "value_floats", "value_string",
                                              "value_strings" };

static const evl_attribute *find_constant(const evl_node *node)
{
    const evl_attribute *a = NULL;
    for (size_t i = 0; !a && i < sizeof constant_names / sizeof constant_names[0]; i++)
        a = evl_node_attribute(node, constant_names[i]);
    return a;
}

/* Where the elements of a list attribute lie, and what they are. */
static evl_tensor list_tensor(EvalType type, const void *data, size_t n, bool is_list)
{
    evl_tensor t = { .type = type, .shape = evl_shape_scalar() };
    if (is_list)
        t.shape = evl_shape_of(1, (const int64_t[1]){ (int64_t)n });
    memcpy(&t.data, &data, sizeof data);
    return t;
}

static EvalStatus constant_of(evl_context *ctx, const evl_node *node, evl_tensor *t)
{
    const evl_attribute *a = find_constant(node);
    if (!a)
        return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "there is no value that can be used");
    switch (a->kind) {
    case EVL_ATTRIBUTE_TENSOR: *t = *a->u.tensor; return EVAL_OK;
    case EVL_ATTRIBUTE_INT: *t = list_tensor(EVAL_INT64, &a->u.i, 1, false); return EVAL_OK;
    case EVL_ATTRIBUTE_INTS: *t = list_tensor(EVAL_INT64, a->u.ints, a->n, true); return EVAL_OK;
    case EVL_ATTRIBUTE_NUMBER:
        *t = list_tensor(EVAL_FLOAT64, &a->u.number, 1, false);
        return EVAL_OK;
    case EVL_ATTRIBUTE_NUMBERS:
        *t = list_tensor(EVAL_FLOAT64, a->u.numbers, a->n, true);
        return EVAL_OK;
    case EVL_ATTRIBUTE_TEXT: *t = list_tensor(EVAL_STRING, &a->u.text, 1, false); return EVAL_OK;
    case EVL_ATTRIBUTE_TEXTS: *t = list_tensor(EVAL_STRING, a->u.texts, a->n, true); return EVAL_OK;
    default: return evl_fail(ctx, EVAL_ERR_FORMAT, "attribute %s has a wrong kind", a->name);
    }
}

/* ONNX calls numbers in attributes float32. */
static EvalStatus infer_constant(evl_infer *x)
{
    const evl_attribute *a = find_constant(x->use.node);
    bool is_number = a && (a->kind == EVL_ATTRIBUTE_NUMBER || a->kind == EVL_ATTRIBUTE_NUMBERS);
    evl_tensor t;
    EvalStatus st = constant_of(x->ctx, x->use.node, &t);
    if (st)
        return st;
    x->out[0].type = is_number ? EVAL_FLOAT32 : t.type;
    x->out[0].shape = t.shape;
    return EVAL_OK;
}

/* Types without arithmetic are not converted, and need not be. */
static void copy_converted(const evl_tensor *from, const evl_tensor *to)
{
    size_t n = evl_shape_count(&to->shape);
    if (n > 0 &&
        (from->type == to->type || !evl_convert(n, from->type, from->data, to->type, to->data)))
        memcpy(to->data, from->data, n * evl_type_size(to->type));
}

static EvalStatus run_constant(const evl_call *call)
{
    evl_tensor t;
    EvalStatus st = constant_of(call->ctx, call->node, &t);
    if (!st)
        copy_converted(&t, call->out[0]);
    return st;
}

/* ConstantOfShape: float32 zeros unless a value of one element is given. */
static EvalStatus find_value(evl_context *ctx, const evl_node *node, const evl_tensor **value)
{
    const evl_attribute *a = evl_node_attribute(node, "value");
    *value = a && a->kind == EVL_ATTRIBUTE_TENSOR ? a->u.tensor : NULL;
    if (!a || (*value && (*value)->data && evl_shape_count(&(*value)->shape) == 1))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_FORMAT, "the value must be a tensor of one element");
}

static EvalStatus infer_constant_of_shape(evl_infer *x)
{
    const evl_tensor *value;
    int64_t dims[EVAL_MAX_RANK];
    evl_known known;
    size_t n = 0;
    EvalStatus st = find_value(x->ctx, x->use.node, &value);
    if (st || (st = evl_use_ints(x->ctx, &x->use, "shape", 0, EVAL_MAX_RANK, dims, &n, &known)))
        return st;
    x->out[0].type = value ? value->type : EVAL_FLOAT32;
    x->out[0].shape = evl_shape_of_rank(evl_list_length(x->use.in[0]));
    if (known != EVL_KNOWN)
        return EVAL_OK;
    for (size_t d = 0; d < n; d++)
        if (dims[d] < 0)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the shape has the negative size %" PRId64,
                            dims[d]);
    x->out[0].shape = evl_shape_of(n, dims);
    return EVAL_OK;
}

static EvalStatus run_constant_of_shape(const evl_call *call)
{
    const evl_tensor *value, *out = call->out[0];
    size_t size = evl_type_size(out->type);
    char bytes[16] = { 0 };
    const evl_tensor one = { .type = out->type, .shape = evl_shape_scalar(), .data = bytes };
    evl_strided box;
    EvalStatus st = find_value(call->ctx, call->node, &value);
    if (st)
        return st;
    if (value)
        copy_converted(value, &one);
    evl_strided_begin(&box, size);
    evl_strided_add(&box, evl_shape_count(&out->shape), 0, (ptrdiff_t)size);
    evl_strided_ready(&box);
    evl_strided_copy(&box, call->machine->pool, bytes, out->data);
    return EVAL_OK;
}

/* Range: start, start + delta, ... before limit. */
typedef struct range {
    double start, delta;      /* of floating point */
    int64_t i_start, i_delta; /* of integers */
    bool is_float;
    int64_t n;
} range;

static EvalStatus count_numbers(evl_context *ctx, double start, double limit, double delta,
                                int64_t *n)
{
    double count = ceil((limit - start) / delta);
    *n = 0;
    if (delta == 0 || isnan(count))
        return evl_fail(ctx, EVAL_ERR_SHAPE, "delta is 0, or a number is not finite");
    if (count > 9e15)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "there are too many numbers from start to limit");
    if (count > 0)
        *n = (int64_t)count;
    return EVAL_OK;
}

static EvalStatus count_integers(evl_context *ctx, int64_t start, int64_t limit, int64_t delta,
                                 int64_t *n)
{
    uint64_t distance =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    *n = 0;
    if (delta == 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "delta is 0");
    if (delta > 0 ? start >= limit : start <= limit)
        return EVAL_OK;
    distance = (distance - 1) / step + 1;
    if (distance > INT64_MAX)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "there are too many numbers from start to limit");
    *n = (int64_t)distance;
    return EVAL_OK;
}

static bool are_known(const evl_use *use)
{
    for (size_t i = 0; i < 3; i++)
        if (!use->in[i]->data)
            return false;
    return true;
}

static EvalStatus read_range(evl_context *ctx, const evl_use *use, range *r)
{
    const evl_tensor *start = use->in[0], *limit = use->in[1], *delta = use->in[2];
    *r = (range){ .is_float = evl_type_is_float(start->type) };
    r->start = evl_tensor_f64(start, 0);
    r->delta = evl_tensor_f64(delta, 0);
    r->i_start = evl_tensor_i64(start, 0);
    r->i_delta = evl_tensor_i64(delta, 0);
    if (r->is_float)
        return count_numbers(ctx, r->start, evl_tensor_f64(limit, 0), r->delta, &r->n);
    return count_integers(ctx, r->i_start, evl_tensor_i64(limit, 0), r->i_delta, &r->n);
}

static EvalStatus infer_range(evl_infer *x)
{
    range r;
    EvalStatus st;
    for (size_t i = 0; i < 3; i++) {
        const evl_shape *in = &x->use.in[i]->shape;
        if (evl_shape_is_known(in) && evl_shape_count(in) != 1)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "input %zu must be one number", i);
        if (x->use.in[i]->type != x->use.in[0]->type)
            return evl_fail(x->ctx, EVAL_ERR_TYPE, "start, limit and delta differ in type");
    }
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = evl_shape_of_rank(1);
    if ((st = evl_infer_takes(x, 0, EVL_TAKES_INTEGERS | EVL_TAKES_REALS)))
        return st;
    if (!are_known(&x->use))
        return EVAL_OK;
    st = read_range(x->ctx, &x->use, &r);
    x->out[0].shape.dim[0] = r.n;
    return st;
}

enum { CHUNK = 256 };

static void write_numbers(const range *r, int64_t from, size_t n, EvalType type, void *to)
{
    double numbers[CHUNK];
    for (size_t i = 0; i < n; i++)
        numbers[i] = r->start + (double)(from + (int64_t)i) * r->delta;
    evl_convert(n, EVAL_FLOAT64, numbers, type, to);
}

/* The product alone may not fit; the sum does, so unsigned arithmetic is right. */
static void write_integers(const range *r, int64_t from, size_t n, EvalType type, void *to)
{
    int64_t numbers[CHUNK];
    for (size_t i = 0; i < n; i++)
        numbers[i] = (int64_t)((uint64_t)r->i_start + ((uint64_t)from + i) * (uint64_t)r->i_delta);
    evl_convert(n, EVAL_INT64, numbers, type, to);
}

static EvalStatus run_range(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    const evl_tensor *out = call->out[0];
    size_t size = evl_type_size(out->type);
    range r;
    EvalStatus st = read_range(call->ctx, &use, &r);
    if (st)
        return st;
    if (r.n != out->shape.dim[0])
        return evl_fail(call->ctx, EVAL_ERR_SHAPE,
                        "%" PRId64 " numbers, the model declares %" PRId64, r.n, out->shape.dim[0]);
    for (int64_t at = 0; at < r.n; at += CHUNK) {
        size_t n = r.n - at < CHUNK ? (size_t)(r.n - at) : CHUNK;
        void *to = (char *)out->data + (size_t)at * size;
        (r.is_float ? write_numbers : write_integers)(&r, at, n, out->type, to);
    }
    return EVAL_OK;
}

static EvalStatus infer_eye_like(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    if (in->shape.rank >= 0 && in->shape.rank != 2)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the input has rank %" PRId32 ", it must be 2",
                        in->shape.rank);
    x->out[0].type = (EvalType)evl_node_int(x->use.node, "dtype", (int64_t)in->type);
    x->out[0].shape = in->shape;
    if (evl_type_size(x->out[0].type) == 0 || x->out[0].type == EVAL_STRING)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "dtype is no type of numbers");
    return EVAL_OK;
}

static EvalStatus run_eye_like(const evl_call *call)
{
    static const uint8_t one = 1;
    const evl_tensor *out = call->out[0];
    size_t size = evl_type_size(out->type);
    int64_t rows = out->shape.dim[0], columns = out->shape.dim[1];
    int64_t k = evl_node_int(call->node, "k", 0);
    if (evl_shape_count(&out->shape) == 0)
        return EVAL_OK;
    memset(out->data, 0, evl_shape_count(&out->shape) * size);
    if (k <= -rows || k >= columns)
        return EVAL_OK;
    for (int64_t row = k < 0 ? -k : 0; row < rows && row + k < columns; row++) {
        char *to = (char *)out->data + (size_t)(row * columns + row + k) * size;
        if (!evl_convert(1, EVAL_BOOL, &one, out->type, to))
            return evl_fail(call->ctx, EVAL_ERR_TYPE, "dtype %s is not offered",
                            evl_type_name(out->type));
    }
    return EVAL_OK;
}

static const evl_impl constant_impl = { NULL, run_constant };
static const evl_impl constant_of_shape_impl = { NULL, run_constant_of_shape };
static const evl_impl range_impl = { NULL, run_range };
static const evl_impl eye_like_impl = { NULL, run_eye_like };

const evl_op evl_op_constant = { .name = "Constant",
                                 .min_inputs = 0,
                                 .max_inputs = 0,
                                 .min_outputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_constant,
                                 .any = &constant_impl };
const evl_op evl_op_constant_of_shape = { .name = "ConstantOfShape",
                                          .min_inputs = 1,
                                          .max_inputs = 1,
                                          .min_outputs = 1,
                                          .max_outputs = 1,
                                          .infer = infer_constant_of_shape,
                                          .any = &constant_of_shape_impl };
const evl_op evl_op_range = { .name = "Range",
                              .min_inputs = 3,
                              .max_inputs = 3,
                              .min_outputs = 1,
                              .max_outputs = 1,
                              .infer = infer_range,
                              .any = &range_impl };
static const evl_op eye_like = { .name = "EyeLike",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .min_outputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_eye_like,
                                 .any = &eye_like_impl };

const evl_op *const evl_ops_generate[] = { &evl_op_constant, &evl_op_constant_of_shape,
                                           &evl_op_range, &eye_like, NULL };
