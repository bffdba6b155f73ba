/* Operators of com.microsoft on integers that stand for real numbers, for which there is none of
** ours: written as DequantizeLinear, the operator of real numbers, QuantizeLinear. */
#include "readers/onnx/onnx.h"
#include <string.h>

enum { Y_SCALE = 3, Y_ZERO };

static evl_value *real(evl_onnx_putter *put, evl_value *const *parts)
{
    return evl_onnx_put(put, "DequantizeLinear", parts, parts[2] ? 3 : 2, NULL, 0);
}

/* The node that is read quantizes, at the end. */
static void end(evl_onnx_draft *d, evl_value *y, evl_value *scale, evl_value *zero)
{
    evl_value *const in[] = { y, scale, zero };
    memcpy(d->inputs, in, sizeof in);
    d->n_inputs = zero ? 3 : 2;
    d->op = "QuantizeLinear";
    d->domain = "";
    d->version = EVL_ONNX_NEWEST_OPSET;
    d->n_attributes = 0;
}

static int64_t number(const evl_onnx_draft *d, const char *name)
{
    for (size_t i = 0; i < d->n_attributes; i++)
        if (strcmp(d->attributes[i].name, name) == 0 && d->attributes[i].kind == EVL_ATTRIBUTE_INT)
            return d->attributes[i].u.i;
    return 0;
}

static EvalStatus one_input(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    evl_onnx_putter put = { o, scope, d, EVAL_OK };
    if (d->n_inputs < Y_ZERO || number(d, "channels_last") != 0)
        return EVAL_OK; /* reported as missing */
    evl_value *x = real(&put, d->inputs), *zero = d->n_inputs > Y_ZERO ? d->inputs[Y_ZERO] : NULL;
    evl_value *y = evl_onnx_put(&put, d->op + strlen("QLinear"), &x, 1, d->attributes, d->n_attributes);
    if (put.status == EVAL_OK)
        end(d, y, d->inputs[Y_SCALE], zero);
    return put.status;
}

/* Scale and zero point of the result, then three for each input. */
static EvalStatus concat(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    evl_onnx_putter put = { o, scope, d, EVAL_OK };
    size_t n = d->n_inputs > 2 ? (d->n_inputs - 1) / 3 : 0;
    evl_value **in = evl_arena_take_many(o->scratch, n + 1, sizeof *in);
    if (!in)
        return evl_no_memory(o->ctx);
    if (n == 0)
        return EVAL_OK;
    for (size_t i = 0; i < n; i++)
        in[i] = real(&put, d->inputs + 2 + 3 * i);
    evl_value *y = evl_onnx_put(&put, "Concat", in, n, d->attributes, d->n_attributes);
    if (put.status == EVAL_OK)
        end(d, y, d->inputs[0], d->inputs[1]);
    return put.status;
}

static const struct {
    const char *op;
    EvalStatus (*write)(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);
} operators[] = {
    { "QLinearAveragePool", one_input }, { "QLinearConcat", concat },
    { "QLinearGlobalAveragePool", one_input }, { "QLinearLeakyRelu", one_input },
    { "QLinearSigmoid", one_input }, { "QLinearSoftmax", one_input },
};

EvalStatus evl_onnx_quantized(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++)
        if (strcmp(d->domain, "com.microsoft") == 0 && d->version && strcmp(d->op, operators[i].op) == 0)
            return operators[i].write(o, scope, d);
    return EVAL_OK;
}
