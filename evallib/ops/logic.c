/* Logic on booleans, which are bytes 0 and 1, and the bits of integers. */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/ops.h"

static EvalStatus prepare_unary(evl_prepare *);
static EvalStatus prepare_binary(evl_prepare *);

static const evl_impl unary = { prepare_unary, evl_unary_run };
static const evl_impl binary = { prepare_binary, evl_binary_run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any */
/* clang-format off */
const evl_op evl_op_not = {
    "Not", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { NULL, NULL }, &unary, NULL
};
static const evl_op op_bitwise_not = {
    "BitwiseNot", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { NULL, NULL }, &unary, NULL
};
const evl_op evl_op_and = {
    "And", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { NULL, NULL }, &binary, NULL
};
const evl_op evl_op_or = {
    "Or", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { NULL, NULL }, &binary, NULL
};
static const evl_op op_xor = {
    "Xor", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { NULL, NULL }, &binary, NULL
};
static const evl_op op_bitwise_and = {
    "BitwiseAnd", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { NULL, NULL }, &binary, NULL
};
static const evl_op op_bitwise_or = {
    "BitwiseOr", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { NULL, NULL }, &binary, NULL
};
static const evl_op op_bitwise_xor = {
    "BitwiseXor", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { NULL, NULL }, &binary, NULL
};
/* clang-format on */

static const evl_op_kind unary_kinds[] = {
    { &evl_op_not, EVL_NOT },
    { &op_bitwise_not, EVL_BIT_NOT },
};

static const evl_op_kind binary_kinds[] = {
    { &evl_op_and, EVL_BIT_AND },   { &evl_op_or, EVL_BIT_OR },
    { &op_xor, EVL_BIT_XOR },       { &op_bitwise_and, EVL_BIT_AND },
    { &op_bitwise_or, EVL_BIT_OR }, { &op_bitwise_xor, EVL_BIT_XOR },
};

static EvalStatus prepare_unary(evl_prepare *p)
{
    return evl_unary_prepare(p, (evl_unary_kind)evl_kind_of(unary_kinds, p->use.node->op), NULL);
}

static EvalStatus prepare_binary(evl_prepare *p)
{
    return evl_binary_prepare(p, (evl_binary_kind)evl_kind_of(binary_kinds, p->use.node->op));
}

const evl_op *const evl_ops_logic[] = {
    &evl_op_not,     &op_bitwise_not, &evl_op_and,     &evl_op_or, &op_xor,
    &op_bitwise_and, &op_bitwise_or,  &op_bitwise_xor, NULL,
};
