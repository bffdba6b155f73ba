/* Operators of com.microsoft on integers that stand for real numbers, for which there is none of
** ours: written as DequantizeLinear, the operator of real numbers, QuantizeLinear where the
** result is integers too. What is constant of that is folded when a plan is made. */
#include "readers/onnx/compose.h"
#include <string.h>

enum { X, Y_SCALE = 3, Y_ZERO };

static evl_value *real(evl_composing *c, evl_value *const *parts)
{
    return evl_onnx_put(&c->put, "DequantizeLinear", parts, parts[2] ? 3 : 2, NULL, 0);
}

/* The zero point at `zero`. Where it is left out, a 0 of the type of input x, or of its own zero
** point, which more often is constant: all integers of such an operator have one type. */
static evl_value *zero_of(evl_composing *c, size_t zero, size_t x)
{
    evl_value *given = evl_compose_in(c, zero), *like = evl_compose_in(c, x + 2);
    if (given)
        return given;
    evl_value *none = evl_compose_1(c, "Squeeze", evl_compose_ints(c, (const int64_t[]){ 0 }, 1));
    return evl_compose_2(c, "CastLike", none, like ? like : evl_compose_in(c, x));
}

/* The node that is read quantizes, at the end, to the type of input x. */
static EvalStatus end(evl_composing *c, evl_value *y, size_t scale, size_t x)
{
    evl_value *in[] = { y, evl_compose_in(c, scale), zero_of(c, scale + 1, x) };
    return evl_compose_end(c, "QuantizeLinear", in, 3, NULL, 0);
}

/* The operator of real numbers: of that name without QLinear. */
static EvalStatus one_input(evl_composing *c)
{
    const evl_onnx_draft *d = c->d;
    evl_value *x = real(c, d->inputs);
    return end(c, evl_onnx_put(&c->put, d->op + strlen("QLinear"), &x, 1, d->attributes, d->n_attributes),
               Y_SCALE, X);
}

/* Before opset 13, of all that is from the axis on. */
static EvalStatus softmax(evl_composing *c)
{
    const evl_attribute axis = evl_attribute_int("axis", evl_compose_int(c, "axis", -1));
    if (evl_compose_int(c, "opset", 0) >= 13)
        return one_input(c);
    evl_value *x = real(c, c->d->inputs), *y = evl_onnx_put(&c->put, "Flatten", &x, 1, &axis, 1);
    return end(c, evl_compose_2(c, "Reshape", evl_compose_1(c, "Softmax", y), evl_compose_1(c, "Shape", x)),
               Y_SCALE, X);
}

/* Channels last: every axis between the first and the last is averaged, however many there are. */
static EvalStatus global_pool(evl_composing *c)
{
    if (!evl_compose_int(c, "channels_last", 0))
        return one_input(c);
    evl_value *x = real(c, c->d->inputs), *rank = evl_compose_1(c, "Size", evl_compose_1(c, "Shape", x));
    evl_value *one = evl_compose_1(c, "Squeeze", evl_compose_ints(c, (const int64_t[]){ 1 }, 1));
    evl_value *between[] = { one, evl_compose_2(c, "Sub", rank, one), one };
    return end(c, evl_compose_2(c, "ReduceMean", x, evl_onnx_put(&c->put, "Range", between, 3, NULL, 0)),
               Y_SCALE, X);
}

/* An order of axes: the second is taken to another place, others move up. */
static evl_attribute moved(evl_composing *c, size_t rank, size_t from, size_t to)
{
    int64_t *perm = evl_arena_take_many(c->put.o->arena, rank, sizeof *perm);
    if (!perm)
        c->put.status = evl_no_memory(c->put.o->ctx);
    for (size_t i = 0; i < rank && perm; i++) {
        size_t other = i < to ? i : i - 1;
        perm[i] = (int64_t)(i == to ? from : other < from ? other : other + 1);
    }
    return evl_attribute_ints("perm", perm, rank);
}

/* Channels last: between two transpositions, which are of bytes. */
static EvalStatus pool(evl_composing *c)
{
    const evl_attribute *kernel = evl_compose_attribute(c, "kernel_shape");
    if (!evl_compose_int(c, "channels_last", 0) || !kernel || kernel->kind != EVL_ATTRIBUTE_INTS)
        return one_input(c);
    size_t rank = kernel->n + 2;
    const evl_attribute to_first = moved(c, rank, rank - 1, 1), to_last = moved(c, rank, 1, rank - 1);
    const evl_onnx_draft *d = c->d;
    evl_value *x[3] = { evl_onnx_put(&c->put, "Transpose", d->inputs, 1, &to_first, 1),
                        evl_compose_in(c, 1), evl_compose_in(c, 2) };
    *x = real(c, x);
    evl_value *y[3] = { evl_onnx_put(&c->put, d->op + strlen("QLinear"), x, 1, d->attributes, d->n_attributes),
                        evl_compose_in(c, Y_SCALE), zero_of(c, Y_ZERO, X) };
    *y = evl_onnx_put(&c->put, "QuantizeLinear", y, 3, NULL, 0);
    return evl_compose_end(c, "Transpose", y, 1, &to_last, 1);
}

/* Scale and zero point of the result, then three for each input. */
static EvalStatus concat(evl_composing *c)
{
    const evl_onnx_draft *d = c->d;
    size_t n = (d->n_inputs - 1) / 3;
    evl_value **in = evl_arena_take_many(c->put.o->scratch, n, sizeof *in);
    if (!in)
        return evl_no_memory(c->put.o->ctx);
    for (size_t i = 0; i < n; i++)
        in[i] = real(c, d->inputs + 2 + 3 * i);
    return end(c, evl_onnx_put(&c->put, "Concat", in, n, d->attributes, d->n_attributes), 0, 2);
}

/* One or the other, made real, then quantized; the condition stands first. */
static EvalStatus where(evl_composing *c)
{
    evl_value **in = c->d->inputs, *x[] = { in[0], real(c, in + 1), real(c, in + 4) };
    return end(c, evl_onnx_put(&c->put, "Where", x, 3, NULL, 0), 7, 1);
}

/* A real one is quantized by its own range; the product of bytes is ours. */
static EvalStatus dynamic_product(evl_composing *c)
{
    enum { A, B, B_SCALE, B_ZERO, BIAS };
    evl_value *a[3] = { NULL, NULL, NULL };
    evl_onnx_put_many(&c->put, a, 3, "DynamicQuantizeLinear", c->d->inputs, 1, NULL, 0);
    evl_value *in[] = { a[0], evl_compose_in(c, B), a[1], evl_compose_in(c, B_SCALE),
                        a[2], evl_compose_in(c, B_ZERO), evl_compose_in(c, BIAS) };
    EvalStatus st = evl_compose_end(c, "MatMulIntegerToFloat", in, 7, NULL, 0);
    c->d->domain = "com.microsoft";
    return st;
}

static const struct {
    const char *op;
    size_t needed; /* inputs that must be there; else the node is missed */
    evl_compose *write;
} operators[] = {
    { "DynamicQuantizeMatMul", 3, dynamic_product },
    { "GatherBlockQuantized", 3, evl_compose_gather_blocks },
    { "MatMulNBits", 3, evl_compose_few_bits },
    { "QLinearAveragePool", 4, pool },
    { "QLinearConcat", 5, concat },
    { "QLinearGlobalAveragePool", 4, global_pool },
    { "QLinearLeakyRelu", 4, one_input },
    { "QLinearSigmoid", 4, one_input },
    { "QLinearSoftmax", 4, softmax },
    { "QLinearWhere", 8, where },
};

EvalStatus evl_onnx_quantized(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    evl_composing c = { { o, scope, d, EVAL_OK }, d };
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (strcmp(d->domain, "com.microsoft") == 0 && d->version && strcmp(d->op, operators[i].op) == 0)
            return d->n_inputs >= operators[i].needed ? operators[i].write(&c) : EVAL_OK;
    return EVAL_OK;
}
