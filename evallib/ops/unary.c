/* Functions of one number without parameters, and IsNaN and IsInf. */
#include "ops/elementwise.h"
#include "ops/ops.h"
#include <math.h>

static EvalStatus prepare(evl_prepare *p)
{
    return evl_unary_prepare(p, (evl_unary_kind)p->use.node->op->kind, NULL);
}

static EvalStatus prepare_is_inf(evl_prepare *p)
{
    evl_number which[3] = { (evl_number)evl_node_int(p->use.node, "detect_negative", 1),
                            (evl_number)evl_node_int(p->use.node, "detect_positive", 1) };
    return evl_unary_prepare(p, EVL_IS_INF, which);
}

/* Cut to whole numbers: 1 from where a float is 1. */
static EvalStatus run_erf_of_integers(const evl_call *call)
{
    const evl_tensor *x = call->in[0], *y = call->out[0];
    size_t n = evl_shape_count(&x->shape), size = evl_type_size(y->type);
    for (size_t i = 0; i < n; i++) {
        float value = (float)erf(evl_tensor_f64(x, i));
        (void)evl_convert(1, EVAL_FLOAT32, &value, y->type, (char *)y->data + i * size);
    }
    return EVAL_OK;
}

static const evl_impl unary = { prepare, evl_unary_run };
static const evl_impl erf_of_integers = { NULL, run_erf_of_integers };
/* Types of 8 and 4 bits stay as they are in a plan; each is looked at as a double. */
static EvalStatus infer_is(evl_infer *x)
{
    EvalType type = x->use.in[0]->type;
    if (evl_type_is_float(type) || evl_type_is_small_float(type))
        return evl_infer_bool(x);
    return evl_fail(x->ctx, EVAL_ERR_TYPE, "does not take elements of type %s",
                    evl_type_name(type));
}

static EvalStatus run_is_of_small(const evl_call *call)
{
    const evl_tensor *x = call->in[0];
    uint8_t *y = call->out[0]->data;
    bool asks_nan = call->node->op->kind == EVL_IS_NAN;
    bool negative = evl_node_int(call->node, "detect_negative", 1) != 0;
    bool positive = evl_node_int(call->node, "detect_positive", 1) != 0;
    for (size_t i = 0, n = evl_shape_count(&x->shape); i < n; i++) {
        double v = evl_tensor_f64(x, i);
        y[i] = asks_nan ? isnan(v) : isinf(v) && (v > 0 ? positive : negative);
    }
    return EVAL_OK;
}

static const evl_impl is_of_small = { NULL, run_is_of_small };

static const evl_impl is_inf = { prepare_is_inf, evl_unary_run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_abs = {
    "Abs", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, &unary, NULL, EVL_ABS
};
const evl_op evl_op_neg = {
    "Neg", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, &unary, NULL, EVL_NEG
};
static const evl_op op_sign = {
    "Sign", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, &unary, NULL, EVL_SIGN
};
const evl_op evl_op_reciprocal = {
    "Reciprocal", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_RECIPROCAL
};
const evl_op evl_op_sqrt = {
    "Sqrt", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_SQRT
};
const evl_op evl_op_exp = {
    "Exp", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_EXP
};
const evl_op evl_op_log = {
    "Log", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_LOG
};
const evl_op evl_op_erf = {
    "Erf", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, &erf_of_integers, NULL, EVL_ERF
};
const evl_op evl_op_floor = {
    "Floor", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_FLOOR
};
static const evl_op op_ceil = {
    "Ceil", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_CEIL
};
static const evl_op op_round = {
    "Round", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_ROUND
};
const evl_op evl_op_sin = {
    "Sin", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_SIN
};
const evl_op evl_op_cos = {
    "Cos", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_COS
};
static const evl_op op_tan = {
    "Tan", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_TAN
};
static const evl_op op_asin = {
    "Asin", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_ASIN
};
static const evl_op op_acos = {
    "Acos", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_ACOS
};
static const evl_op op_atan = {
    "Atan", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_ATAN
};
static const evl_op op_sinh = {
    "Sinh", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_SINH
};
static const evl_op op_cosh = {
    "Cosh", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_COSH
};
static const evl_op op_asinh = {
    "Asinh", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_ASINH
};
static const evl_op op_acosh = {
    "Acosh", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_ACOSH
};
static const evl_op op_atanh = {
    "Atanh", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_ATANH
};
const evl_op evl_op_sigmoid = {
    "Sigmoid", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_SIGMOID
};
const evl_op evl_op_tanh = {
    "Tanh", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_TANH
};
const evl_op evl_op_relu = {
    "Relu", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, &unary, NULL, EVL_RELU
};
static const evl_op op_softplus = {
    "Softplus", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_SOFTPLUS
};
static const evl_op op_softsign = {
    "Softsign", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_SOFTSIGN
};
const evl_op evl_op_hard_swish = {
    "HardSwish", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_HARD_SWISH
};
static const evl_op op_mish = {
    "Mish", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &unary, &unary }, NULL, NULL, EVL_MISH
};
static const evl_op op_is_nan = {
    "IsNaN", NULL, 1, 1, 1, 1, 0, 0, infer_is,
    { &unary, &unary }, NULL, &is_of_small, EVL_IS_NAN
};
static const evl_op op_is_inf = {
    "IsInf", NULL, 1, 1, 1, 1, 0, 0, infer_is,
    { &is_inf, &is_inf }, NULL, &is_of_small, 0
};
/* clang-format on */

const evl_op *const evl_ops_unary[] = {
    &evl_op_abs,  &evl_op_neg,  &op_sign,      &evl_op_reciprocal, &evl_op_sqrt,    &evl_op_exp,
    &evl_op_log,  &evl_op_erf,  &evl_op_floor, &op_ceil,           &op_round,       &evl_op_sin,
    &evl_op_cos,  &op_tan,      &op_asin,      &op_acos,           &op_atan,        &op_sinh,
    &op_cosh,     &op_asinh,    &op_acosh,     &op_atanh,          &evl_op_sigmoid, &evl_op_tanh,
    &evl_op_relu, &op_softplus, &op_softsign,  &evl_op_hard_swish, &op_mish,        &op_is_nan,
    &op_is_inf,   NULL,
};
