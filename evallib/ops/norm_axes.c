/* MeanVarianceNormalization: mean 0 and deviation 1 over any axes, by reductions and
** broadcasts. */
#include "ops/axes.h"
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/ops.h"
#include "ops/reduction.h"
#include <math.h>

typedef struct mean_variance_state {
    evl_reduction mean, length;
    evl_binary_step subtract, divide;
    evl_unary_step deviation; /* from the length of what is left to its deviation */
    evl_tensor statistics;    /* without data: one element for each set that is reduced */
    size_t statistics_at;     /* in the scratch memory */
} mean_variance_state;

static EvalStatus run(const evl_call *call)
{
    const mean_variance_state *s = call->state;
    const evl_machine *machine = call->machine;
    void *y = call->out[0]->data;
    evl_tensor statistics = s->statistics;
    statistics.data = (char *)call->scratch + s->statistics_at;
    evl_reduction_apply(&s->mean, machine, call->in[0]->data, call->scratch, statistics.data);
    evl_binary_apply(machine, &s->subtract, call->in[0]->data, statistics.data, y);
    evl_reduction_apply(&s->length, machine, y, call->scratch, statistics.data);
    evl_unary_apply(machine, &s->deviation, &statistics, &statistics);
    evl_binary_apply(machine, &s->divide, y, statistics.data, y);
    return EVAL_OK;
}

static EvalStatus axes_of(const evl_prepare *p, bool is_reduced[EVAL_MAX_RANK])
{
    static const int32_t images[] = { 0, 2, 3 }; /* the default: all but the channels */
    int32_t rank = p->use.in[0]->shape.rank;
    evl_axes axes;
    EvalStatus st = evl_axes_of(p->ctx, &p->use, "axes", SIZE_MAX, rank, &axes);
    for (int32_t d = 0; d < EVAL_MAX_RANK; d++)
        is_reduced[d] = false;
    for (size_t i = 0; st == EVAL_OK && axes.known == EVL_ABSENT && i < 3; i++)
        if (images[i] < rank)
            is_reduced[images[i]] = true;
    for (size_t i = 0; st == EVAL_OK && axes.known == EVL_KNOWN && i < axes.n; i++)
        is_reduced[axes.axis[i]] = true;
    return st;
}

static void make_broadcasts(mean_variance_state *s, const evl_prepare *p, const bool *is_reduced)
{
    const evl_tensor *x = p->use.in[0];
    const evl_loops *loops = evl_loops_of(p, 0);
    const evl_shape *shapes[2] = { &x->shape, &s->statistics.shape };
    size_t n = 1;
    s->statistics = (evl_tensor){ .type = x->type, .shape = x->shape };
    for (int32_t d = 0; d < x->shape.rank; d++)
        if (is_reduced[d]) {
            n *= (size_t)x->shape.dim[d];
            s->statistics.shape.dim[d] = 1;
        }
    s->subtract.loop = loops->binary[EVL_SUB];
    s->divide.loop = loops->binary[EVL_DIV];
    s->subtract.size = s->divide.size = evl_type_size(x->type);
    evl_broadcast_make(&s->subtract.shape, &x->shape, shapes, 2);
    s->divide.shape = s->subtract.shape;
    s->deviation = (evl_unary_step){ loops->unary[EVL_AFFINE], { 0, 1 / sqrt((double)n), 1e-9 } };
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    const evl_loops *loops = evl_loops_of(p, 0);
    bool is_reduced[EVAL_MAX_RANK];
    size_t size = evl_type_size(x->type);
    mean_variance_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    EvalStatus st = axes_of(p, is_reduced);
    if (st != EVAL_OK)
        return st;
    if (!evl_reduction_make(&s->mean, loops, EVL_REDUCE_MEAN, &x->shape, is_reduced, size) ||
        !evl_reduction_make(&s->length, loops, EVL_REDUCE_L2, &x->shape, is_reduced, size))
        return evl_no_arithmetic(p->ctx, x->type);
    make_broadcasts(s, p, is_reduced);
    s->statistics_at = (s->mean.scratch_bytes + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
    p->scratch_bytes = s->statistics_at + evl_shape_count(&s->statistics.shape) * size;
    p->state = s;
    return EVAL_OK;
}

static const evl_impl mean_variance = { prepare, run };

static const evl_op op_mean_variance = {
    .name = "MeanVarianceNormalization",
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = evl_infer_same,
    .real = { &mean_variance, &mean_variance },
};

const evl_op *const evl_ops_norm_axes[] = { &op_mean_variance, NULL };
