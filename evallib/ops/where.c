/* Where: of two values the one that a boolean chooses; for elements of any type, which
** are only moved. */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/ops.h"
#include <string.h>

/* Elements of 16 bytes: texts and complex numbers. */
static void select_16(size_t n, const evl_select_arrays *from, void *to)
{
    const char *a = from->a, *b = from->b;
    char *y = to;
    for (size_t i = 0; i < n; i++) {
        const char *chosen =
            from->c[i * from->c_step] ? a + i * from->a_step * 16 : b + i * from->b_step * 16;
        memmove(y + i * 16, chosen, 16);
    }
}

typedef struct where_state {
    evl_broadcast shape;
    evl_select_loop *loop;
    size_t size;
} where_state;

typedef struct where_arrays {
    const where_state *s;
    const uint8_t *c;
    const char *a, *b;
    char *y;
} where_arrays;

static void work(void *arg, const evl_broadcast_run *run)
{
    const where_arrays *x = arg;
    size_t size = x->s->size;
    evl_select_arrays from = { x->c + run->at[0],
                               x->a + run->at[1] * size,
                               x->b + run->at[2] * size,
                               run->step[0],
                               run->step[1],
                               run->step[2] };
    x->s->loop(run->n, &from, x->y + run->to * size);
}

static void part(const evl_call *call, size_t from, size_t to)
{
    where_arrays arrays = { call->state, call->in[0]->data, call->in[1]->data, call->in[2]->data,
                            call->out[0]->data };
    evl_broadcast_part(&arrays.s->shape, from, to, work, &arrays);
}

static EvalStatus run_where(const evl_call *call)
{
    return evl_parts_run(call, part);
}

static evl_select_loop *loop_of(size_t size)
{
    switch (size) {
    case 1: return evl_loops_integer(EVAL_UINT8)->select;
    case 2: return evl_loops_integer(EVAL_UINT16)->select;
    case 4: return evl_loops_integer(EVAL_UINT32)->select;
    case 8: return evl_loops_integer(EVAL_UINT64)->select;
    case 16: return select_16;
    default: return NULL;
    }
}

static EvalStatus prepare(evl_prepare *p)
{
    where_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    evl_broadcast_operands(&s->shape, p, 3);
    s->size = evl_type_size(p->use.in[1]->type);
    s->loop = loop_of(s->size);
    p->state = s;
    p->part = part;
    return s->loop ? EVAL_OK : evl_no_arithmetic(p->ctx, p->use.in[1]->type);
}

static EvalStatus infer(evl_infer *x)
{
    EvalType condition = x->use.in[0]->type, a = x->use.in[1]->type, b = x->use.in[2]->type;
    if (condition != EVAL_BOOL && condition != EVAL_UNDEFINED)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "the condition is %s, expected bool",
                        evl_type_name(condition));
    if (a != b && a != EVAL_UNDEFINED && b != EVAL_UNDEFINED &&
        !(evl_type_is_float(a) && evl_type_is_float(b)))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "the values are %s and %s, expected one type",
                        evl_type_name(a), evl_type_name(b));
    return evl_infer_broadcast(x);
}

static const evl_impl where = { prepare, run_where };

const evl_op evl_op_where = {
    .name = "Where",
    .min_inputs = 3,
    .max_inputs = 3,
    .min_outputs = 1,
    .max_outputs = 1,
    .type_input = 1,
    .traits = EVL_OP_IN_PLACE,
    .infer = infer,
    .any = &where,
};

const evl_op *const evl_ops_where[] = { &evl_op_where, NULL };
