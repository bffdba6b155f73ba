/* Operators of com.microsoft on integers that stand for real numbers, for which there is none of
** ours: written as DequantizeLinear, the operator of real numbers, QuantizeLinear where the
** result is integers too. What is constant of that is folded when a plan is made. */
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

/* --- MatMulNBits: B is a row for each column of the product, in blocks along k --- */

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

typedef struct blocks {
    size_t n, k, block, per_row; /* columns; common dimension; its blocks */
    size_t bits;
} blocks;

/* n_rows rows, each of which begins with a byte, of numbers of few bits, the lowest first; of
** `stored` numbers a row the first `n` are taken, one a byte. */
static evl_value *spread(evl_onnx *o, const evl_onnx_scope *scope, const blocks *b, const uint8_t *from,
                         size_t stored, size_t n)
{
    const int64_t dims[] = { (int64_t)b->n, (int64_t)n };
    const evl_shape shape = evl_shape_of(2, dims);
    size_t each = 8 / b->bits, row = (stored + each - 1) / each, count;
    uint8_t *to = evl_size_multiply(b->n, n, &count) ? evl_arena_take_many(o->arena, count, 1) : NULL;
    if (!to)
        return NULL;
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < n; j++) {
            unsigned middle = 1u << (b->bits - 1), all = 2 * middle - 1;
            unsigned byte = from ? (unsigned)from[i * row + j / each] >> (j % each * b->bits) : middle;
            to[i * n + j] = (uint8_t)(byte & all);
        }
    return evl_graph_constant(scope->graph, "", EVAL_UINT8, &shape, to);
}

static const evl_value *input(const evl_onnx_draft *d, size_t i)
{
    return i < d->n_inputs ? d->inputs[i] : NULL;
}

static bool is_bytes(const evl_value *v, size_t rows, size_t row)
{
    size_t n;
    return v && v->is_constant && v->t.data && v->t.type == EVAL_UINT8 && evl_size_multiply(rows, row, &n) &&
           evl_shape_count(&v->t.shape) == n;
}

/* Whether this is a form that is offered: constant weights, zero points packed as they are. */
static bool blocks_of(const evl_onnx_draft *d, blocks *b)
{
    int64_t n = number(d, "N"), k = number(d, "K"), block = number(d, "block_size"), bits = number(d, "bits");
    const int64_t most = (int64_t)1 << 31;
    const evl_value *zeros = input(d, ZEROS);
    bits = bits ? bits : 4;
    if (n < 1 || n > most || k < 1 || k > most || block < 8 || block > most || block % 8 != 0 ||
        (bits != 2 && bits != 4 && bits != 8) || input(d, GROUPS) || !input(d, A) || !input(d, SCALES))
        return false;
    *b = (blocks){ (size_t)n, (size_t)k, (size_t)block, (size_t)((k + block - 1) / block), (size_t)bits };
    size_t each = 8 / b->bits;
    return is_bytes(input(d, B), b->n, b->per_row * b->block / each) &&
           (!zeros || is_bytes(zeros, b->n, (b->per_row + each - 1) / each));
}

static EvalStatus product_of_bits(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    static const int64_t turned[] = { 1, 0 };
    evl_onnx_putter put = { o, scope, d, EVAL_OK };
    blocks b;
    if (!blocks_of(d, &b))
        return EVAL_OK; /* reported as missing */
    const evl_value *zeros = input(d, ZEROS);
    const int64_t dims[] = { (int64_t)b.n, (int64_t)b.per_row };
    const evl_shape two = evl_shape_of(1, (const int64_t[]){ 2 });
    int64_t *shape = evl_arena_take_many(o->arena, 2, sizeof *shape);
    evl_value *w[] = { spread(o, scope, &b, d->inputs[B]->t.data, b.per_row * b.block, b.k), NULL,
                       spread(o, scope, &b, zeros ? zeros->t.data : NULL, b.per_row, b.per_row) };
    if (!shape || !w[0] || !w[2])
        return evl_no_memory(o->ctx);
    memcpy(shape, dims, sizeof dims);
    evl_value *scales[] = { d->inputs[SCALES], evl_graph_constant(scope->graph, "", EVAL_INT64, &two, shape) };
    if (!scales[1])
        return evl_no_memory(o->ctx);
    const evl_attribute along[] = { evl_attribute_int("axis", 1),
                                    evl_attribute_int("block_size", (int64_t)b.block) };
    const evl_attribute perm = evl_attribute_ints("perm", turned, 2);
    w[1] = evl_onnx_put(&put, "Reshape", scales, 2, NULL, 0);
    evl_value *weights = evl_onnx_put(&put, "DequantizeLinear", w, 3, along, 2);
    evl_value *in[] = { d->inputs[A], evl_onnx_put(&put, "Transpose", &weights, 1, &perm, 1) };
    evl_value *bias = d->n_inputs > BIAS ? d->inputs[BIAS] : NULL;
    evl_value *y = bias ? evl_onnx_put(&put, "MatMul", in, 2, NULL, 0) : NULL;
    d->inputs[0] = bias ? y : in[0];
    d->inputs[1] = bias ? bias : in[1];
    d->n_inputs = 2;
    d->op = bias ? "Add" : "MatMul";
    d->domain = "";
    d->version = EVL_ONNX_NEWEST_OPSET;
    d->n_attributes = 0;
    return put.status;
}

static const struct {
    const char *op;
    EvalStatus (*write)(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);
} operators[] = {
    { "MatMulNBits", product_of_bits },
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
