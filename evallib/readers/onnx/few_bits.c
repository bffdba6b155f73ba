/* com.microsoft MatMulNBits and GatherBlockQuantized: weights of few bits in blocks along an axis,
** several in a byte, the lowest first. They become DequantizeLinear and the product, or Gather. */
#include "readers/onnx/compose.h"
#include <string.h>

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

typedef struct blocks {
    size_t n, k, block, per_row; /* columns; common dimension; its blocks */
    size_t bits;
} blocks;

/* n_rows rows, each of which begins with a byte; of `stored` numbers a row the first `n` are
** taken, one a byte. */
static evl_value *spread(evl_composing *c, const blocks *b, const uint8_t *from, size_t stored, size_t n)
{
    const int64_t dims[] = { (int64_t)b->n, (int64_t)n };
    const evl_shape shape = evl_shape_of(2, dims);
    size_t each = 8 / b->bits, row = (stored + each - 1) / each, count;
    uint8_t *to = evl_size_multiply(b->n, n, &count) ? evl_arena_take_many(c->put.o->arena, count, 1) : NULL;
    evl_value *v = to ? evl_graph_constant(c->put.scope->graph, "", EVAL_UINT8, &shape, to) : NULL;
    if (!v && c->put.status == EVAL_OK)
        c->put.status = evl_no_memory(c->put.o->ctx);
    for (size_t i = 0; v && i < b->n; i++)
        for (size_t j = 0; j < n; j++) {
            unsigned middle = 1u << (b->bits - 1), all = 2 * middle - 1;
            unsigned byte = from ? (unsigned)from[i * row + j / each] >> (j % each * b->bits) : middle;
            to[i * n + j] = (uint8_t)(byte & all);
        }
    return v;
}

/* The same of what a run brings, and of any shape: the last axis is spread, the others are as
** many as `shape` begins with. */
static evl_value *spread_in_a_run(evl_composing *c, evl_value *x, int64_t bits, evl_value *shape)
{
    static const uint8_t places[] = { 0, 4, 0, 2, 4, 6 }, masks[] = { 15, 3 };
    const evl_attribute right = evl_attribute_text("direction", "RIGHT");
    const evl_shape n = evl_shape_of(1, &(int64_t){ 8 / bits }), one = evl_shape_of(1, &(int64_t){ 1 });
    if (bits != 8) {
        size_t two = bits == 2;
        evl_value *by = evl_compose_bytes(c, &n, places + 2 * two), *mask = evl_compose_bytes(c, &one, masks + two);
        x = evl_compose_2(c, "Unsqueeze", x, evl_compose_ints(c, (const int64_t[]){ -1 }, 1));
        x = evl_onnx_put(&c->put, "BitShift", (evl_value *[]){ x, by }, 2, &right, 1);
        x = evl_compose_2(c, "BitwiseAnd", x, mask);
    }
    return evl_compose_2(c, "Reshape", x, shape);
}

/* The first n along an axis. */
static evl_value *first(evl_composing *c, evl_value *x, int64_t axis, evl_value *n)
{
    evl_value *in[] = { x, evl_compose_ints(c, (const int64_t[]){ 0 }, 1), n, evl_compose_ints(c, &axis, 1) };
    return evl_onnx_put(&c->put, "Slice", in, 4, NULL, 0);
}

static bool is_bytes(const evl_value *v, size_t rows, size_t row)
{
    size_t n;
    return v && v->is_constant && v->t.data && v->t.type == EVAL_UINT8 && evl_size_multiply(rows, row, &n) &&
           evl_shape_count(&v->t.shape) == n;
}

static bool blocks_of(const evl_composing *c, blocks *b)
{
    int64_t n = evl_compose_int(c, "N", 0), k = evl_compose_int(c, "K", 0),
            block = evl_compose_int(c, "block_size", 0), bits = evl_compose_int(c, "bits", 4);
    const int64_t most = (int64_t)1 << 31;
    if (n < 1 || n > most || k < 1 || k > most || block < 8 || block > most || block % 8 != 0 ||
        (bits != 2 && bits != 4 && bits != 8) || !c->d->inputs[A] || !c->d->inputs[B] || !c->d->inputs[SCALES])
        return false;
    *b = (blocks){ (size_t)n, (size_t)k, (size_t)block, (size_t)((k + block - 1) / block), (size_t)bits };
    return true;
}

/* [N, count] of one a byte: what stands in the model is spread now. */
static evl_value *rows_of(evl_composing *c, const blocks *b, evl_value *v, size_t stored, size_t count)
{
    size_t each = 8 / b->bits, row = (stored + each - 1) / each;
    if (!v || is_bytes(v, b->n, row))
        return spread(c, b, v ? v->t.data : NULL, stored, count);
    const int64_t flat[] = { (int64_t)b->n, (int64_t)row }, dims[] = { (int64_t)b->n, (int64_t)(row * each) };
    v = evl_compose_2(c, "Reshape", v, evl_compose_ints(c, flat, 2));
    v = spread_in_a_run(c, v, (int64_t)b->bits, evl_compose_ints(c, dims, 2));
    return first(c, v, 1, evl_compose_ints(c, &(const int64_t){ (int64_t)count }, 1));
}

/* Which block each of the K belongs to. */
static evl_value *groups_of(evl_composing *c, const blocks *b)
{
    evl_value *given = evl_compose_in(c, GROUPS), *k = evl_compose_ints(c, &(const int64_t){ (int64_t)b->k }, 1);
    if (given)
        return first(c, given, 0, k);
    evl_value *squeezed[] = { evl_compose_ints(c, (const int64_t[]){ 0 }, 1), k,
                              evl_compose_ints(c, (const int64_t[]){ 1 }, 1) };
    for (size_t i = 0; i < 3; i++)
        squeezed[i] = evl_compose_1(c, "Squeeze", squeezed[i]);
    return evl_compose_2(c, "Div", evl_onnx_put(&c->put, "Range", squeezed, 3, NULL, 0),
                         evl_compose_ints(c, &(const int64_t){ (int64_t)b->block }, 1));
}

/* By numbers of its own for each weight: zero points are real, or blocks no neighbours. */
static evl_value *weights_apart(evl_composing *c, const blocks *b, evl_value *w, evl_value *scales,
                                evl_value *zeros)
{
    const evl_attribute axis = evl_attribute_int("axis", 1), to = evl_attribute_int("to", EVAL_FLOAT32);
    evl_value *parts[] = { zeros, scales }, *at = groups_of(c, b);
    w = evl_onnx_put(&c->put, "Cast", &w, 1, &to, 1);
    for (size_t i = 0; i < 2; i++) {
        if (i == 0)
            parts[i] = evl_onnx_put(&c->put, "Cast", &parts[i], 1, &to, 1);
        parts[i] = evl_onnx_put(&c->put, "Gather", (evl_value *[]){ parts[i], at }, 2, &axis, 1);
        w = evl_compose_2(c, i == 0 ? "Sub" : "Mul", w, parts[i]);
    }
    return w;
}

/* B is a row for each column of the product. */
EvalStatus evl_compose_few_bits(evl_composing *c)
{
    static const int64_t turned[] = { 1, 0 };
    blocks b;
    if (!blocks_of(c, &b))
        return EVAL_OK; /* reported as missing */
    evl_value *zeros = evl_compose_in(c, ZEROS), *bias = evl_compose_in(c, BIAS);
    const evl_attribute along[] = { evl_attribute_int("axis", 1),
                                    evl_attribute_int("block_size", (int64_t)b.block) };
    const evl_attribute perm = evl_attribute_ints("perm", turned, 2);
    const int64_t dims[] = { (int64_t)b.n, (int64_t)b.per_row };
    evl_value *w = rows_of(c, &b, c->d->inputs[B], b.per_row * b.block, b.k);
    evl_value *shape = evl_compose_ints(c, dims, 2), *scales = evl_compose_2(c, "Reshape", c->d->inputs[SCALES], shape);
    bool is_real = zeros && evl_type_is_float(zeros->t.type);
    zeros = is_real ? evl_compose_2(c, "Reshape", zeros, shape) : rows_of(c, &b, zeros, b.per_row, b.per_row);
    if (is_real || evl_compose_in(c, GROUPS))
        w = weights_apart(c, &b, w, scales, zeros);
    else
        w = evl_onnx_put(&c->put, "DequantizeLinear", (evl_value *[]){ w, scales, zeros }, 3, along, 2);
    evl_value *in[] = { c->d->inputs[A], evl_onnx_put(&c->put, "Transpose", &w, 1, &perm, 1) };
    if (!bias)
        return evl_compose_end(c, "MatMul", in, 2, NULL, 0);
    evl_value *y[] = { evl_onnx_put(&c->put, "MatMul", in, 2, NULL, 0), bias };
    return evl_compose_end(c, "Add", y, 2, NULL, 0);
}

/* --- GatherBlockQuantized --- */

/* All of x but the last of its sizes, which is left to Reshape. */
static evl_value *any_last(evl_composing *c, evl_value *x)
{
    const evl_attribute end = evl_attribute_int("end", -1), axis = evl_attribute_int("axis", 0);
    evl_value *in[] = { evl_onnx_put(&c->put, "Shape", &x, 1, &end, 1),
                        evl_compose_ints(c, (const int64_t[]){ -1 }, 1) };
    return evl_onnx_put(&c->put, "Concat", in, 2, &axis, 1);
}

/* Bytes are gathered before they are spread, along the last axis; numbers of four bits after
** they are made real. */
EvalStatus evl_compose_gather_blocks(evl_composing *c)
{
    enum { DATA, INDICES, BY, ZERO };
    const evl_attribute gather = evl_attribute_int("axis", evl_compose_int(c, "gather_axis", 0)),
                        last = evl_attribute_int("start", -1);
    int64_t bits = evl_compose_int(c, "bits", 4), axis = evl_compose_int(c, "quantize_axis", 1);
    evl_value *in[] = { c->d->inputs[DATA], c->d->inputs[BY], evl_compose_in(c, ZERO) };
    bool is_bytes_in = in[0] && in[0]->t.type == EVAL_UINT8;
    if (!in[0] || !in[1] || (bits != 2 && bits != 4 && bits != 8))
        return EVAL_OK; /* reported as missing */
    evl_attribute along[] = { evl_attribute_int("axis", is_bytes_in ? -1 : axis),
                              evl_attribute_int("block_size", evl_compose_int(c, "block_size", 128)) };
    if (!is_bytes_in) {
        in[0] = evl_onnx_put(&c->put, "DequantizeLinear", in, in[2] ? 3 : 2, along, 2);
        in[1] = c->d->inputs[INDICES];
        return evl_compose_end(c, "Gather", in, 2, &gather, 1);
    }
    for (size_t i = 0; i < 3; i++)
        if (in[i])
            in[i] = evl_onnx_put(&c->put, "Gather", (evl_value *[]){ in[i], c->d->inputs[INDICES] }, 2, &gather, 1);
    const uint8_t middle = (uint8_t)(1u << (bits - 1));
    const evl_shape one = evl_shape_of(1, &(int64_t){ 1 });
    evl_value *n = evl_onnx_put(&c->put, "Shape", &in[1], 1, &last, 1);
    in[0] = spread_in_a_run(c, in[0], bits, any_last(c, in[0]));
    in[2] = in[2] ? first(c, spread_in_a_run(c, in[2], bits, any_last(c, in[2])), -1, n)
                  : evl_compose_2(c, "Expand", evl_compose_bytes(c, &one, &middle), evl_compose_1(c, "Shape", in[1]));
    return evl_compose_end(c, "DequantizeLinear", in, 3, along, 2);
}
