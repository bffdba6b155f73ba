/* The operators that files may name, and the types of elements that each takes. */
#include "api/evaluator.h"
#include "ops/ops.h"
#include "readers/onnx/onnx.h"
#include <string.h>

enum { ML_NEWEST_OPSET = 5, OTHER_OPSET = 1 };

static int32_t newest_opset(const char *domain)
{
    return !domain                             ? EVL_ONNX_NEWEST_OPSET
           : strcmp(domain, "ai.onnx.ml") == 0 ? ML_NEWEST_OPSET
                                               : OTHER_OPSET;
}

/* Whether the shape rule lets elements of that type pass, when no more is known of the other
** inputs than `others`. */
static bool is_let_in(evl_context *ctx, const evl_op *op, EvalType type, EvalType others)
{
    const evl_tensor other = { .type = others, .shape = evl_shape_unknown() };
    const evl_tensor given = { .type = type, .shape = evl_shape_unknown() };
    const evl_node node = { .op = op, .name = "", .version = EVL_NEWEST };
    const evl_tensor *in[UINT8_MAX] = { NULL };
    evl_tensor out[UINT8_MAX];
    size_t n_in = op->min_inputs, n_out = op->min_outputs ? op->min_outputs : 1;
    if (n_in <= op->type_input && op->max_inputs > op->type_input)
        n_in = (size_t)op->type_input + 1;
    for (size_t i = 0; i < n_in; i++)
        in[i] = i == op->type_input ? &given : &other;
    evl_use use = { &node, in, n_in };
    return evl_infer_use(ctx, &use, EVAL_UNDEFINED, out, n_out) != EVAL_ERR_TYPE;
}

/* Those that have an implementation, but for what the shape rule refuses; a rule that cannot
** judge without more refuses all. */
static uint32_t types_of(evl_context *ctx, const evl_op *op, evl_precision precision)
{
    uint32_t types = 0, let_in = 0;
    for (int i = EVAL_FLOAT32; i < EVL_N_TYPES; i++) {
        EvalType type = (EvalType)i;
        if (type == EVAL_COMPLEX64 || type == EVAL_COMPLEX128 || !evl_op_impl(op, type, precision))
            continue;
        types |= 1u << i;
        if (is_let_in(ctx, op, type, EVAL_UNDEFINED) || is_let_in(ctx, op, type, type))
            let_in |= 1u << i;
    }
    return let_in ? let_in : types;
}

static bool is_public(const evl_op *op)
{
    return !op->domain || strcmp(op->domain, "evl") != 0;
}

EvalStatus evl_describe_operators(evl_context *ctx, evl_precision precision,
                                  EvalOperatorInfo *infos, size_t *count)
{
    size_t capacity, found = 0;
    const evl_op *op;
    if (!count)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "count is NULL");
    capacity = *count;
    size_t stride = infos && capacity ? infos[0].size : sizeof *infos;
    if (stride < sizeof *infos)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "infos[0].size is %zu, expected %zu", stride,
                        sizeof *infos);
    for (size_t i = 0; (op = evl_op_at(i)) != NULL; i++) {
        if (!is_public(op))
            continue;
        EvalOperatorInfo info = { stride,
                                  op->name,
                                  op->domain ? op->domain : "",
                                  newest_opset(op->domain),
                                  types_of(ctx, op, precision),
                                  op->min_inputs,
                                  op->max_inputs,
                                  op->min_outputs,
                                  op->max_outputs };
        if (infos && found < capacity)
            memcpy((char *)infos + found * stride, &info, sizeof info);
        found++;
    }
    *count = found;
    if (infos && found > capacity)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "room for %zu operators, and there are %zu", capacity,
                        found);
    return EVAL_OK;
}
