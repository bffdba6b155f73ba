/* Logic on booleans, which are bytes 0 and 1, and the bits of integers. */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

static EvalStatus prepare_unary(evl_prepare *p)
{
    return evl_unary_prepare(p, (evl_unary_kind)p->use.node->op->kind, NULL);
}

static EvalStatus prepare_binary(evl_prepare *p)
{
    return evl_binary_prepare(p, (evl_binary_kind)p->use.node->op->kind);
}

/* Those named Bitwise take integers, the others booleans. */
static EvalStatus infer(evl_infer *x)
{
    bool is_logic = strncmp(x->use.node->op->name, "Bitwise", 7) != 0;
    EvalStatus st = evl_infer_takes(x, 0, is_logic ? EVL_TAKES_BOOL : EVL_TAKES_INTEGERS);
    if (st != EVAL_OK)
        return st;
    return x->use.node->op->max_inputs == 1 ? evl_infer_same(x) : evl_infer_binary(x);
}

static const evl_impl unary = { prepare_unary, evl_unary_run };
static const evl_impl binary = { prepare_binary, evl_binary_run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_not = {
    "Not", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &unary, NULL, EVL_NOT
};
static const evl_op op_bitwise_not = {
    "BitwiseNot", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &unary, NULL, EVL_BIT_NOT
};
const evl_op evl_op_and = {
    "And", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &binary, NULL, EVL_BIT_AND
};
const evl_op evl_op_or = {
    "Or", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &binary, NULL, EVL_BIT_OR
};
static const evl_op op_xor = {
    "Xor", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &binary, NULL, EVL_BIT_XOR
};
static const evl_op op_bitwise_and = {
    "BitwiseAnd", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &binary, NULL, EVL_BIT_AND
};
static const evl_op op_bitwise_or = {
    "BitwiseOr", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &binary, NULL, EVL_BIT_OR
};
static const evl_op op_bitwise_xor = {
    "BitwiseXor", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &binary, NULL, EVL_BIT_XOR
};
/* clang-format on */

const evl_op *const evl_ops_logic[] = {
    &evl_op_not,     &op_bitwise_not, &evl_op_and,     &evl_op_or, &op_xor,
    &op_bitwise_and, &op_bitwise_or,  &op_bitwise_xor, NULL,
};
