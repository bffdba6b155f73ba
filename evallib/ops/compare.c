/* Comparisons, with broadcasting, to booleans. */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/ops.h"
#include <string.h>

typedef struct compare_state {
    evl_broadcast shape;
    evl_compare_loop *loop;
    size_t size; /* bytes of an element compared */
} compare_state;

typedef struct compare_arrays {
    const compare_state *s;
    const char *a, *b;
    uint8_t *y;
} compare_arrays;

static void work(void *arg, const evl_broadcast_run *run)
{
    const compare_arrays *x = arg;
    size_t size = x->s->size;
    x->s->loop(run->n, x->a + run->at[0] * size, run->step[0], x->b + run->at[1] * size,
               run->step[1], x->y + run->to);
}

static void part(const evl_call *call, size_t from, size_t to)
{
    const compare_state *s = call->state;
    compare_arrays arrays = { s, call->in[0]->data, call->in[1]->data, call->out[0]->data };
    evl_broadcast_part(&s->shape, from, to, work, &arrays);
}

static EvalStatus run_compare(const evl_call *call)
{
    return evl_parts_run(call, part);
}

static EvalStatus infer(evl_infer *x)
{
    EvalStatus st = evl_infer_binary(x);
    x->out[0].type = EVAL_BOOL;
    return st;
}

static EvalStatus prepare_with(evl_prepare *p, evl_compare_loop *loop)
{
    compare_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    evl_broadcast_operands(&s->shape, p, 2);
    s->loop = loop;
    s->size = evl_type_size(p->use.in[0]->type);
    p->state = s;
    p->part = part;
    return loop ? EVAL_OK : evl_no_arithmetic(p->ctx, p->use.in[0]->type);
}

static void equal_texts(size_t n, const void *left, size_t a_step, const void *right, size_t b_step,
                        void *to)
{
    const EvalString *a = left, *b = right;
    uint8_t *y = to;
    for (size_t i = 0; i < n; i++, a += a_step, b += b_step)
        y[i] = a->size == b->size && (a->size == 0 || memcmp(a->text, b->text, a->size) == 0);
}

static EvalStatus prepare_texts(evl_prepare *p)
{
    return prepare_with(p, p->use.in[0]->type == EVAL_STRING ? equal_texts : NULL);
}

static EvalStatus prepare(evl_prepare *p)
{
    return prepare_with(p, evl_loops_of(p, 0)->compare[p->use.node->op->kind]);
}

static const evl_impl compare = { prepare, run_compare };
static const evl_impl texts = { prepare_texts, run_compare };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_equal = {
    "Equal", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { &compare, &compare }, &compare, &texts, EVL_EQUAL
};
const evl_op evl_op_less = {
    "Less", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { &compare, &compare }, &compare, NULL, EVL_LESS
};
const evl_op evl_op_less_or_equal = {
    "LessOrEqual", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { &compare, &compare }, &compare, NULL, EVL_LESS_OR_EQUAL
};
const evl_op evl_op_greater = {
    "Greater", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { &compare, &compare }, &compare, NULL, EVL_GREATER
};
const evl_op evl_op_greater_or_equal = {
    "GreaterOrEqual", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { &compare, &compare }, &compare, NULL, EVL_GREATER_OR_EQUAL
};
/* clang-format on */

const evl_op *const evl_ops_compare[] = {
    &evl_op_equal, &evl_op_less, &evl_op_less_or_equal, &evl_op_greater, &evl_op_greater_or_equal,
    NULL,
};
