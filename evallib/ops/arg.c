/* Along one axis: where the largest or least element is (ArgMax, ArgMin), and running sums
** and products (CumSum, CumProd). */
#include "ops/elementwise.h"
#include "ops/lines.h"
#include "ops/ops.h"

static EvalStatus infer_arg(evl_infer *x)
{
    evl_shape y = x->use.in[0]->shape;
    int32_t axis;
    x->out[0].type = EVAL_INT64;
    if (y.rank < 0)
        return EVAL_OK;
    x->out[0].shape = y;
    if (y.rank == 0)
        return EVAL_OK;
    EvalStatus st = evl_axis(x->ctx, "axis", evl_node_int(x->use.node, "axis", 0), y.rank, &axis);
    if (st != EVAL_OK)
        return st;
    bool has_none = y.dim[axis] == 0;
    y.dim[axis] = 1;
    if (has_none && evl_shape_is_known(&y) && evl_shape_count(&y) > 0)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "axis %d has no element", (int)axis);
    if (!evl_node_int(x->use.node, "keepdims", 1)) {
        for (int32_t d = axis; d + 1 < y.rank; d++)
            y.dim[d] = y.dim[d + 1];
        y.rank--;
    }
    x->out[0].shape = y;
    return EVAL_OK;
}

typedef struct arg_state {
    evl_lines lines;
    evl_arg_loop *loop;
    size_t size;
    bool least, last;
} arg_state;

typedef struct arg_arrays {
    const arg_state *s;
    const char *x;
    int64_t *y;
} arg_arrays;

static void arg_part(void *arg, const evl_lines_part *part)
{
    const arg_arrays *a = arg;
    a->s->loop(part->at, a->x + part->x * a->s->size, a->s->least, a->s->last, a->y + part->y);
}

static EvalStatus run_arg(const evl_call *call)
{
    arg_arrays arrays = { call->state, call->in[0]->data, call->out[0]->data };
    evl_lines_for(&arrays.s->lines, call->machine->pool, arg_part, &arrays);
    return EVAL_OK;
}

static EvalStatus prepare_arg(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    const evl_shape one = evl_shape_of(1, &(int64_t){ 1 }), *shape = x->shape.rank ? &x->shape : &one;
    arg_state *s = evl_arena_take(p->arena, sizeof *s);
    int32_t axis;
    if (!s)
        return evl_no_memory(p->ctx);
    EvalStatus st =
        evl_axis(p->ctx, "axis", evl_node_int(p->use.node, "axis", 0), shape->rank, &axis);
    if (st != EVAL_OK)
        return st;
    s->lines = evl_lines_along(shape, axis);
    s->loop = evl_loops_of(p, 0)->arg;
    s->size = evl_type_size(x->type);
    s->least = p->use.node->op == &evl_op_arg_min;
    s->last = evl_node_int(p->use.node, "select_last_index", 0) != 0;
    p->state = s;
    return s->loop ? EVAL_OK : evl_no_arithmetic(p->ctx, x->type);
}

static const evl_impl arg_impl = { prepare_arg, run_arg };

/* --- CumSum, CumProd: the axis is an input, perhaps known in the run only --- */

static EvalStatus prepare_running(evl_prepare *p)
{
    evl_axis_step *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->loop = evl_loops_of(p, 0)->axis[p->use.node->op->kind];
    s->p[0] = (evl_number)evl_node_int(p->use.node, "exclusive", 0);
    s->p[1] = (evl_number)evl_node_int(p->use.node, "reverse", 0);
    p->state = s;
    return s->loop ? EVAL_OK : evl_no_arithmetic(p->ctx, p->use.in[0]->type);
}

static EvalStatus run_running(const evl_call *call)
{
    evl_axis_step step = *(const evl_axis_step *)call->state;
    const evl_shape *shape = &call->in[0]->shape;
    int32_t axis;
    if (evl_shape_count(&call->in[1]->shape) != 1)
        return evl_fail(call->ctx, EVAL_ERR_SHAPE, "axis is no scalar");
    EvalStatus st = evl_axis(call->ctx, "axis", evl_tensor_i64(call->in[1], 0), shape->rank, &axis);
    if (st != EVAL_OK)
        return st;
    step.lines = evl_lines_along(shape, axis);
    evl_axis_apply(call, &step);
    return EVAL_OK;
}

static const evl_impl running = { prepare_running, run_running };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_arg_max = {
    "ArgMax", NULL, 1, 1, 1, 1, 0, 0, infer_arg,
    { &arg_impl, &arg_impl }, &arg_impl, NULL, 0
};
const evl_op evl_op_arg_min = {
    "ArgMin", NULL, 1, 1, 1, 1, 0, 0, infer_arg,
    { &arg_impl, &arg_impl }, &arg_impl, NULL, 0
};
static const evl_op op_cum_sum = {
    "CumSum", NULL, 2, 2, 1, 1, 0, 0, evl_infer_same,
    { &running, &running }, &running, NULL, EVL_CUM_SUM
};
static const evl_op op_cum_prod = {
    "CumProd", NULL, 2, 2, 1, 1, 0, 0, evl_infer_same,
    { &running, &running }, &running, NULL, EVL_CUM_PROD
};
/* clang-format on */

const evl_op *const evl_ops_arg[] = { &evl_op_arg_max, &evl_op_arg_min, &op_cum_sum, &op_cum_prod,
                                      NULL };
