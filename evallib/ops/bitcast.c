/* BitCast: the bits of the declared type, read as another of the same width. A plan holds
** floating-point values as real, so both ends go through what the file declares. */
#include "ops/elementwise.h"
#include "ops/ops.h"
#include <string.h>

enum { PART = 64, WIDEST = 16 / sizeof(uint64_t) };

/* Bits of an element as the file would write it; 0: it has none. */
static size_t bits_of(EvalType type)
{
    int packed = evl_type_packed_bits(type);
    return type == EVAL_STRING ? 0 : packed ? (size_t)packed : 8 * evl_type_size(type);
}

static EvalType wanted(const evl_use *use)
{
    return (EvalType)evl_node_int(use->node, "to", 0);
}

static EvalStatus infer(evl_infer *x)
{
    EvalType from = evl_use_declared(&x->use, 0), to = wanted(&x->use);
    if (bits_of(to) == 0 || (from != EVAL_UNDEFINED && bits_of(from) != bits_of(to)))
        return evl_fail(x->ctx, EVAL_ERR_TYPE,
                        "the bits of %s cannot be read as %s: expected types of one width",
                        evl_type_name(from), evl_type_name(to));
    x->out[0].type = to;
    x->out[0].shape = x->use.in[0]->shape;
    return EVAL_OK;
}

/* What is narrower than a byte has the type's sign in the rest of the byte; a bool is 0 or 1. */
static void settle(EvalType type, size_t n, uint8_t *bytes)
{
    unsigned bits = (unsigned)evl_type_packed_bits(type), sign = bits ? 1u << (bits - 1) : 0;
    bool is_signed = type == EVAL_INT4 || type == EVAL_INT2;
    for (size_t i = 0; i < n && bits; i++) {
        unsigned v = bytes[i] & (2 * sign - 1);
        bytes[i] = (uint8_t)(is_signed ? (v ^ sign) - sign : v);
    }
    for (size_t i = 0; i < n && type == EVAL_BOOL; i++)
        bytes[i] = bytes[i] != 0;
}

static void part(EvalType from, EvalType to, size_t n, const evl_tensor *x, const evl_tensor *y,
                 size_t at)
{
    uint64_t bits[PART * WIDEST];
    (void)evl_convert(n, x->type, (char *)x->data + at * evl_type_size(x->type), from, bits);
    settle(to, n, (uint8_t *)bits);
    (void)evl_convert(n, to, bits, y->type, (char *)y->data + at * evl_type_size(y->type));
}

static EvalStatus run(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    EvalType from = evl_use_declared(&use, 0), to = wanted(&use);
    size_t n = evl_shape_count(&call->out[0]->shape);
    for (size_t at = 0; at < n; at += PART)
        part(from, to, n - at < PART ? n - at : PART, call->in[0], call->out[0], at);
    return EVAL_OK;
}

static const evl_impl bitcast = { .run = run };

static const evl_op op_bitcast = {
    .name = "BitCast",
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .any = &bitcast,
};

const evl_op *const evl_ops_bitcast[] = { &op_bitcast, NULL };
