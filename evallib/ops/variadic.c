/* Min, Max, Sum and Mean of any number of inputs, broadcast: one binary loop after the
** other into the output. So the output may not lie over an input. */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

typedef struct variadic_state {
    evl_binary_loop *loop, *divide; /* divide: by count, for Mean; NULL: not */
    size_t size;
    uint64_t count; /* the number of inputs, as an element */
} variadic_state;

static EvalStatus infer(evl_infer *x)
{
    EvalStatus st = evl_infer_one_type(x, x->use.n_in);
    return st == EVAL_OK ? evl_infer_broadcast(x) : st;
}

static EvalStatus prepare(evl_prepare *);
static EvalStatus run(const evl_call *);

static const evl_impl variadic = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_min = {
    "Min", NULL, 1, EVL_ANY_NUMBER, 1, 1, 0, 0, infer,
    { &variadic, &variadic }, &variadic, NULL, EVL_MIN
};
const evl_op evl_op_max = {
    "Max", NULL, 1, EVL_ANY_NUMBER, 1, 1, 0, 0, infer,
    { &variadic, &variadic }, &variadic, NULL, EVL_MAX
};
static const evl_op op_sum = {
    "Sum", NULL, 1, EVL_ANY_NUMBER, 1, 1, 0, 0, infer,
    { &variadic, &variadic }, &variadic, NULL, EVL_ADD
};
static const evl_op op_mean = {
    "Mean", NULL, 1, EVL_ANY_NUMBER, 1, 1, 0, 0, infer,
    { &variadic, &variadic }, &variadic, NULL, EVL_ADD
};
/* clang-format on */

static EvalStatus check_inputs(const evl_prepare *p)
{
    for (size_t i = 0; i < p->use.n_in; i++)
        if (!p->use.in[i])
            return evl_fail(p->ctx, EVAL_ERR_FORMAT, "input %zu is left out, and needed", i);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_use *use = &p->use;
    const evl_op *op = use->node->op;
    const evl_loops *loops = evl_loops_of(p, 0);
    EvalType type = use->in[0]->type;
    double count = (double)use->n_in;
    EvalStatus st = check_inputs(p);
    if (st != EVAL_OK)
        return st;
    variadic_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->loop = loops->binary[op->kind];
    s->size = evl_type_size(type);
    p->state = s;
    if (!s->loop)
        return evl_no_arithmetic(p->ctx, type);
    if (op == &op_mean) {
        s->divide = loops->binary[EVL_DIV];
        (void)evl_convert(1, EVAL_FLOAT64, &count, type, &s->count); /* between numbers */
    }
    return EVAL_OK;
}

static EvalStatus run(const evl_call *call)
{
    const variadic_state *s = call->state;
    const evl_tensor *y = call->out[0];
    size_t n = evl_shape_count(&y->shape);
    if (n && call->n_in == 1)
        memcpy(y->data, call->in[0]->data, n * s->size);
    for (size_t i = 1; i < call->n_in; i++) { /* the result so far, and one input more */
        const evl_tensor *so_far = i == 1 ? call->in[0] : y;
        const evl_shape *shape[2] = { &so_far->shape, &call->in[i]->shape };
        evl_binary_step step = { .loop = s->loop, .size = s->size };
        evl_broadcast_make(&step.shape, &y->shape, shape, 2);
        evl_binary_apply(call->machine, &step, so_far->data, call->in[i]->data, y->data);
    }
    if (n && s->divide)
        s->divide(n, y->data, 1, &s->count, 0, y->data);
    return EVAL_OK;
}

const evl_op *const evl_ops_variadic[] = { &evl_op_min, &evl_op_max, &op_sum, &op_mean, NULL };
