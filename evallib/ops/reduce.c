/* Reductions along axes, which are an attribute in old opsets and an input in new ones. */
#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/ops.h"
#include "ops/reduction.h"
#include "ops/strided.h"

/* Which axes go; axes->known is EVL_UNKNOWN while that depends on data not there yet: as
** many axes as the rank are all of them, whichever comes first. */
static EvalStatus axes_to_reduce(evl_context *ctx, const evl_use *use, int32_t rank,
                                 bool is_reduced[EVAL_MAX_RANK], evl_axes *axes)
{
    EvalStatus st = evl_axes_of(ctx, use, "axes", 1, rank, axes);
    bool is_each = axes->known == EVL_UNKNOWN && rank > 0 && axes->n == (size_t)rank;
    if (st != EVAL_OK || (axes->known == EVL_UNKNOWN && !is_each))
        return st;
    bool is_empty = axes->known == EVL_ABSENT || axes->n == 0 || is_each;
    bool is_all = is_each || (is_empty && !evl_node_int(use->node, "noop_with_empty_axes", 0));
    axes->known = EVL_KNOWN;
    for (int32_t d = 0; d < EVAL_MAX_RANK; d++)
        is_reduced[d] = is_all;
    for (size_t i = 0; !is_empty && i < axes->n; i++)
        is_reduced[axes->axis[i]] = true;
    return EVAL_OK;
}

static evl_shape reduced_shape(const evl_shape *x, const bool *is_reduced, bool keeps)
{
    evl_shape y = evl_shape_scalar();
    for (int32_t d = 0; d < x->rank; d++)
        if (!is_reduced[d])
            y.dim[y.rank++] = x->dim[d];
        else if (keeps)
            y.dim[y.rank++] = 1;
    return y;
}

static EvalStatus infer(evl_infer *x)
{
    const evl_shape *shape = &x->use.in[0]->shape;
    bool keeps = evl_node_int(x->use.node, "keepdims", 1) != 0, is_reduced[EVAL_MAX_RANK];
    evl_axes axes;
    x->out[0].type = x->use.in[0]->type;
    if (shape->rank < 0)
        return EVAL_OK;
    EvalStatus st = axes_to_reduce(x->ctx, &x->use, shape->rank, is_reduced, &axes);
    if (st != EVAL_OK)
        return st;
    if (axes.known != EVL_UNKNOWN)
        x->out[0].shape = reduced_shape(shape, is_reduced, keeps);
    else if (keeps)
        x->out[0].shape = evl_shape_of_rank(shape->rank);
    else if (axes.n > 0 && axes.n <= (size_t)shape->rank)
        x->out[0].shape = evl_shape_of_rank(shape->rank - (int32_t)axes.n);
    return EVAL_OK;
}

/* Integers whose result is cut to a whole one are cut once, and not in every pass: the axes that
** go are put beside each other, behind the others. */
typedef struct beside {
    evl_strided box;
    evl_reduction r;
} beside;

static EvalStatus run_beside(const evl_call *call)
{
    const beside *b = call->state;
    evl_strided_copy(&b->box, call->machine->pool, call->in[0]->data, call->scratch);
    evl_reduction_apply(&b->r, call->machine, call->scratch, NULL, call->out[0]->data);
    return EVAL_OK;
}

static EvalStatus prepare_beside(evl_prepare *p, evl_reduce_kind kind, const bool *is_reduced)
{
    const evl_tensor *x = p->use.in[0];
    const bool second[EVAL_MAX_RANK] = { false, true };
    size_t size = evl_type_size(x->type), step = evl_shape_count(&x->shape) * size;
    int64_t n[2] = { 1, 1 }; /* of what stays, of what goes */
    ptrdiff_t steps[EVAL_MAX_RANK];
    beside *b = evl_arena_take(p->arena, sizeof *b);
    if (!b)
        return evl_no_memory(p->ctx);
    p->scratch_bytes = step;
    evl_strided_steps(&x->shape, size, steps);
    evl_strided_begin(&b->box, size);
    for (int goes = 0; goes < 2; goes++)
        for (int32_t d = 0; d < x->shape.rank; d++)
            if (is_reduced[d] == (goes == 1)) {
                n[goes] *= x->shape.dim[d];
                step /= (size_t)x->shape.dim[d];
                evl_strided_add(&b->box, (size_t)x->shape.dim[d], steps[d], (ptrdiff_t)step);
            }
    evl_strided_ready(&b->box);
    const evl_shape shape = evl_shape_of(2, n);
    p->state = b;
    p->run = run_beside;
    return evl_reduction_make(&b->r, evl_loops_of(p, 0), kind, &shape, second, size)
               ? EVAL_OK
               : evl_no_arithmetic(p->ctx, x->type);
}

static bool is_cut(EvalType type, evl_reduce_kind kind)
{
    return evl_type_is_integer(type) && (kind == EVL_REDUCE_MEAN || kind == EVL_REDUCE_L2 ||
                                         kind == EVL_REDUCE_LOG_SUM || kind == EVL_REDUCE_LOG_SUM_EXP);
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    bool is_reduced[EVAL_MAX_RANK];
    evl_axes axes;
    evl_reduction *r = evl_arena_take(p->arena, sizeof *r);
    if (!r)
        return evl_no_memory(p->ctx);
    EvalStatus st = axes_to_reduce(p->ctx, &p->use, x->shape.rank, is_reduced, &axes);
    if (st != EVAL_OK)
        return st;
    if (axes.known == EVL_UNKNOWN)
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "the axes are not known");
    evl_reduce_kind kind = (evl_reduce_kind)p->use.node->op->kind;
    p->state = r;
    if (!evl_reduction_make(r, evl_loops_of(p, 0), kind, &x->shape, is_reduced,
                            evl_type_size(x->type)))
        return evl_no_arithmetic(p->ctx, x->type);
    p->scratch_bytes = r->scratch_bytes;
    return r->n_passes > 1 && is_cut(x->type, kind) && evl_shape_count(&x->shape) > 0
               ? prepare_beside(p, kind, is_reduced)
               : EVAL_OK;
}

static EvalStatus run(const evl_call *call)
{
    evl_reduction_apply(call->state, call->machine, call->in[0]->data, call->scratch,
                        call->out[0]->data);
    return EVAL_OK;
}

static const evl_impl reduce = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_reduce_sum = {
    "ReduceSum", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_SUM
};
const evl_op evl_op_reduce_mean = {
    "ReduceMean", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_MEAN
};
const evl_op evl_op_reduce_max = {
    "ReduceMax", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_MAX
};
const evl_op evl_op_reduce_min = {
    "ReduceMin", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_MIN
};
const evl_op evl_op_reduce_prod = {
    "ReduceProd", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_PROD
};
static const evl_op op_reduce_l1 = {
    "ReduceL1", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_L1
};
static const evl_op op_reduce_l2 = {
    "ReduceL2", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_L2
};
static const evl_op op_reduce_sum_square = {
    "ReduceSumSquare", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_SUM_SQUARE
};
static const evl_op op_reduce_log_sum = {
    "ReduceLogSum", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_LOG_SUM
};
static const evl_op op_reduce_log_sum_exp = {
    "ReduceLogSumExp", NULL, 1, 2, 1, 1, 0, 0, infer,
    { &reduce, &reduce }, &reduce, NULL, EVL_REDUCE_LOG_SUM_EXP
};
/* clang-format on */

const evl_op *const evl_ops_reduce[] = {
    &evl_op_reduce_sum,
    &evl_op_reduce_mean,
    &evl_op_reduce_max,
    &evl_op_reduce_min,
    &evl_op_reduce_prod,
    &op_reduce_l1,
    &op_reduce_l2,
    &op_reduce_sum_square,
    &op_reduce_log_sum,
    &op_reduce_log_sum_exp,
    NULL,
};
