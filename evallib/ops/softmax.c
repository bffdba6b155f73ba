/* Softmax, LogSoftmax and Hardmax; LpNormalization, which is as simple. */
#include "ops/elementwise.h"
#include "ops/lines.h"
#include "ops/ops.h"

static EvalStatus prepare_along(evl_prepare *p, evl_axis_kind kind, evl_lines lines)
{
    evl_axis_step *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->lines = lines;
    s->loop = evl_loops_of(p, 0)->axis[kind];
    p->state = s;
    return s->loop ? EVAL_OK : evl_no_arithmetic(p->ctx, p->use.in[0]->type);
}

static EvalStatus run(const evl_call *call)
{
    evl_axis_apply(call, call->state);
    return EVAL_OK;
}

/* The axis, -1 or before opset 13 of the softmaxes 1 when none is given. A scalar, which
** has no axis, is one line of one element. */
static EvalStatus axis_of(evl_context *ctx, const evl_use *use, int64_t fallback, int32_t rank,
                          int32_t *axis)
{
    return evl_axis(ctx, "axis", evl_node_int(use->node, "axis", fallback), rank, axis);
}

/* ONNX 13: one axis; before, the tensor is a matrix whose rows begin at the axis. */
static bool is_matrix(const evl_node *node)
{
    return node->version < 13;
}

static EvalStatus infer(evl_infer *x)
{
    const evl_shape *shape = &x->use.in[0]->shape;
    int32_t axis;
    EvalStatus st = EVAL_OK;
    if (shape->rank > 0 && !is_matrix(x->use.node))
        st = axis_of(x->ctx, &x->use, -1, shape->rank, &axis);
    return st == EVAL_OK ? evl_infer_same(x) : st;
}

/* As a matrix the axis may also be the rank: every element is a row. */
static EvalStatus lines_of(const evl_prepare *p, evl_lines *lines)
{
    const evl_shape *shape = &p->use.in[0]->shape;
    int32_t axis = 0;
    if (shape->rank == 0) {
        *lines = (evl_lines){ 1, 1, 1 };
        return EVAL_OK;
    }
    bool is_end = is_matrix(p->use.node) && evl_node_int(p->use.node, "axis", 1) == shape->rank;
    int64_t fallback = is_matrix(p->use.node) ? 1 : -1;
    EvalStatus st = is_end ? EVAL_OK : axis_of(p->ctx, &p->use, fallback, shape->rank, &axis);
    axis = is_end ? shape->rank : axis;
    if (st == EVAL_OK)
        *lines =
            is_matrix(p->use.node) ? evl_lines_from(shape, axis) : evl_lines_along(shape, axis);
    return st;
}

static EvalStatus prepare_softmax(evl_prepare *p)
{
    evl_lines lines;
    EvalStatus st = lines_of(p, &lines);
    evl_axis_kind kind = (evl_axis_kind)p->use.node->op->kind;
    return st == EVAL_OK ? prepare_along(p, kind, lines) : st;
}

static const evl_impl softmax = { prepare_softmax, run };

static EvalStatus prepare_lp(evl_prepare *p)
{
    const evl_shape *shape = &p->use.in[0]->shape;
    int64_t power = evl_node_int(p->use.node, "p", 2);
    int32_t axis;
    if (power != 1 && power != 2)
        return evl_fail(p->ctx, EVAL_ERR_UNSUPPORTED, "p is %d, expected 1 or 2", (int)power);
    EvalStatus st = axis_of(p->ctx, &p->use, -1, shape->rank, &axis);
    if (st != EVAL_OK)
        return st;
    return prepare_along(p, power == 1 ? EVL_NORM_1 : EVL_NORM_2, evl_lines_along(shape, axis));
}

static const evl_impl lp = { prepare_lp, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_softmax = {
    "Softmax", NULL, 1, 1, 1, 1, 0, 0, infer,
    { &softmax, &softmax }, NULL, NULL, EVL_SOFTMAX
};
const evl_op evl_op_log_softmax = {
    "LogSoftmax", NULL, 1, 1, 1, 1, 0, 0, infer,
    { &softmax, &softmax }, NULL, NULL, EVL_LOG_SOFTMAX
};
static const evl_op op_hardmax = {
    "Hardmax", NULL, 1, 1, 1, 1, 0, 0, infer,
    { &softmax, &softmax }, NULL, NULL, EVL_HARDMAX
};
static const evl_op op_lp_normalization = {
    "LpNormalization", NULL, 1, 1, 1, 1, 0, 0, evl_infer_same,
    { &lp, &lp }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_softmax[] = {
    &evl_op_softmax, &evl_op_log_softmax, &op_hardmax, &op_lp_normalization, NULL,
};
