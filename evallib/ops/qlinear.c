/* com.microsoft QLinearAdd and QLinearMul: two numbers each of which stands for another, added
** or multiplied, part by part while all is in the first cache. */
#include "ops/broadcast.h"
#include "ops/ops.h"
#include "ops/quantize.h"
#include "ops/sums.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO, PART = 256 };

static EvalStatus infer(evl_infer *x)
{
    static const uint8_t parameters[] = { A_SCALE, A_ZERO, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };
    const evl_tensor *a = x->use.in[A], *b = x->use.in[B];
    EvalStatus st = evl_infer_bytes(x, A);
    x->out[0].type = a->type;
    for (size_t i = 0; i < sizeof parameters && st == EVAL_OK; i++) {
        const evl_tensor *t = evl_use_in(&x->use, parameters[i]);
        if (t && evl_shape_is_known(&t->shape) && evl_shape_count(&t->shape) != 1)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "input %d has %zu elements, expected one",
                            (int)parameters[i], evl_shape_count(&t->shape));
    }
    if (st == EVAL_OK && a->type != b->type)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "input 3 is %s, expected %s as input 0",
                        evl_type_name(b->type), evl_type_name(a->type));
    return st == EVAL_OK ? evl_shape_broadcast(x->ctx, &a->shape, &b->shape, &x->out[0].shape) : st;
}

typedef struct plan {
    evl_broadcast shape;
    const evl_loops *loops;
    EvalType real;
    evl_quantized of;
} plan;

static EvalStatus prepare(evl_prepare *p)
{
    plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    const evl_shape *shapes[] = { &p->use.in[A]->shape, &p->use.in[B]->shape };
    evl_broadcast_make(&s->shape, &p->out[0]->shape, shapes, 2);
    evl_sums how = evl_sums_of(p->machine, &p->use, Y_SCALE, p->out[0]->type);
    s->loops = how.loops;
    s->real = how.real;
    s->of = how.of;
    p->state = s;
    return EVAL_OK;
}

/* Numbers and what they stand for. */
typedef struct side {
    const uint8_t *data;
    evl_quantized how;
    double scale, zero, reals[PART]; /* of the type that is computed in */
} side;

typedef struct running {
    const evl_call *call;
    const plan *s;
} running;

static void begin(const running *r, size_t input, const evl_tensor *data, side *x)
{
    const evl_use use = { r->call->node, r->call->in, r->call->n_in };
    const evl_number scale = evl_parameter(use.in[input], 0, 1);
    const evl_number zero = evl_parameter(evl_use_in(&use, input + 1), 0, 0);
    (void)evl_convert(1, EVAL_FLOAT64, &scale, r->s->real, &x->scale);
    (void)evl_convert(1, EVAL_FLOAT64, &zero, r->s->real, &x->zero);
    x->how = data == r->call->out[0] ? r->s->of : evl_quantized_of(data->type);
    x->how.scale = &x->scale;
    x->how.zero = &x->zero;
    x->data = data->data;
}

static const void *reals_of(const running *r, side *x, size_t at, size_t n)
{
    r->s->loops->quantized->dequantize(&x->how, n, x->data + at, x->reals);
    return x->reals;
}

/* In float32, and neither of them one number for all. */
static bool join(const running *r, const evl_broadcast_run *run)
{
    const evl_use use = { r->call->node, r->call->in, r->call->n_in };
    if (r->s->real != EVAL_FLOAT32 || !run->step[0] || !run->step[1])
        return false;
    evl_bytes_joined how = { use.node->op->kind == EVL_MUL, use.in[A]->type == EVAL_INT8,
                             .least = (float)r->s->of.least, .most = (float)r->s->of.most };
    for (size_t i = 0; i < 2; i++) {
        how.scale[i] = (float)evl_parameter(use.in[i == 0 ? A_SCALE : B_SCALE], 0, 1);
        how.zero[i] = (int32_t)evl_parameter(evl_use_in(&use, i == 0 ? A_ZERO : B_ZERO), 0, 0);
    }
    how.y_scale = (float)evl_parameter(use.in[Y_SCALE], 0, 1);
    how.y_zero = (int32_t)evl_parameter(evl_use_in(&use, Y_ZERO), 0, 0);
    r->s->loops->integers->join(&how, run->n, (const uint8_t *)use.in[A]->data + run->at[0],
                                (const uint8_t *)use.in[B]->data + run->at[1],
                                (uint8_t *)r->call->out[0]->data + run->to);
    return true;
}

static void work(void *arg, const evl_broadcast_run *run)
{
    const running *r = arg;
    const evl_call *call = r->call;
    evl_binary_loop *loop = r->s->loops->binary[call->node->op->kind];
    side a, b, y;
    if (join(r, run))
        return;
    begin(r, A_SCALE, call->in[A], &a);
    begin(r, B_SCALE, call->in[B], &b);
    begin(r, Y_SCALE, call->out[0], &y);
    for (size_t i = 0; i < run->n; i += PART) {
        size_t n = run->n - i < PART ? run->n - i : PART;
        const void *left = reals_of(r, &a, run->at[0] + i * run->step[0], run->step[0] ? n : 1);
        const void *right = reals_of(r, &b, run->at[1] + i * run->step[1], run->step[1] ? n : 1);
        loop(n, left, run->step[0], right, run->step[1], y.reals);
        r->s->loops->quantized->quantize(&y.how, n, y.reals,
                                         (uint8_t *)call->out[0]->data + run->to + i);
    }
}

static EvalStatus run(const evl_call *call)
{
    running r = { call, call->state };
    evl_broadcast_for(&r.s->shape, call->machine->pool, work, &r);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_qlinear_add = {
    "QLinearAdd", "com.microsoft", 7, 8, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &impl, NULL, EVL_ADD
};
const evl_op evl_op_qlinear_mul = {
    "QLinearMul", "com.microsoft", 7, 8, 1, 1, 0, EVL_OP_IN_PLACE, infer,
    { NULL, NULL }, &impl, NULL, EVL_MUL
};
/* clang-format on */

const evl_op *const evl_ops_qlinear[] = { &evl_op_qlinear_add, &evl_op_qlinear_mul, NULL };
