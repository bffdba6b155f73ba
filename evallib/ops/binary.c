/* Two numbers to one, with broadcasting. */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

static EvalStatus prepare(evl_prepare *p)
{
    return evl_binary_prepare(p, (evl_binary_kind)p->use.node->op->kind);
}

static EvalStatus prepare_mod(evl_prepare *p)
{
    return evl_binary_prepare(p, evl_node_int(p->use.node, "fmod", 0) ? EVL_FMOD : EVL_MOD);
}

static EvalStatus infer_shift(evl_infer *x)
{
    EvalStatus st = evl_infer_takes(x, 0, EVL_TAKES_INTEGERS);
    return st == EVAL_OK ? evl_infer_binary(x) : st;
}

static EvalStatus prepare_shift(evl_prepare *p)
{
    const char *direction = evl_node_text(p->use.node, "direction", "");
    bool is_left = strcmp(direction, "LEFT") == 0;
    if (!is_left && strcmp(direction, "RIGHT") != 0)
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "direction is '%s', expected LEFT or RIGHT",
                        direction);
    return evl_binary_prepare(p, is_left ? EVL_SHIFT_LEFT : EVL_SHIFT_RIGHT);
}

/* --- Pow: from opset 12 the exponent has a type of its own --- */

static EvalStatus infer_pow(evl_infer *x)
{
    evl_shape a = evl_broadcast_shape(&x->use, 0), b = evl_broadcast_shape(&x->use, 1);
    x->out[0].type = x->use.in[0]->type;
    return evl_shape_broadcast(x->ctx, &a, &b, &x->out[0].shape);
}

/* Computed in `type`: real when either is, else the base's. */
typedef struct pow_state {
    evl_binary_step step;
    EvalType type;
    size_t exponent_at, result_at; /* in the scratch memory, for what is of another type */
} pow_state;

static size_t room(const evl_tensor *t, size_t size)
{
    size_t bytes = evl_shape_count(&t->shape) * size;
    return (bytes + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
}

static EvalStatus run_mixed_pow(const evl_call *call)
{
    const pow_state *s = call->state;
    const evl_tensor *a = call->in[0], *b = call->in[1], *y = call->out[0];
    char *scratch = call->scratch;
    void *base = a->data, *exponent = scratch + s->exponent_at, *result = y->data;
    size_t n = evl_shape_count(&y->shape);
    (void)evl_convert(evl_shape_count(&b->shape), b->type, b->data, s->type, exponent);
    if (a->type != s->type) {
        base = scratch;
        result = scratch + s->result_at;
        (void)evl_convert(evl_shape_count(&a->shape), a->type, a->data, s->type, base);
    }
    evl_binary_apply(call->machine, &s->step, base, exponent, result);
    if (a->type != s->type)
        (void)evl_convert(n, s->type, result, y->type, y->data);
    return EVAL_OK;
}

static EvalStatus prepare_pow(evl_prepare *p)
{
    const evl_tensor *a = p->use.in[0], *b = p->use.in[1];
    if (a->type == b->type)
        return evl_binary_prepare(p, EVL_POW);
    pow_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->type = b->type == p->machine->real ? b->type : a->type;
    const evl_loops *loops = p->machine->loops[s->type];
    if (!loops || !loops->binary[EVL_POW] || evl_type_size(b->type) > sizeof(double))
        return evl_no_arithmetic(p->ctx, b->type);
    s->step.loop = loops->binary[EVL_POW];
    s->step.size = evl_type_size(s->type);
    evl_broadcast_operands(&s->step.shape, p, 2);
    s->exponent_at = room(a, s->step.size);
    s->result_at = s->exponent_at + room(b, s->step.size);
    p->scratch_bytes = s->result_at + room(p->out[0], s->step.size);
    p->state = s;
    p->run = run_mixed_pow;
    return EVAL_OK;
}

static const evl_impl power = { prepare_pow, evl_binary_run };
static const evl_impl binary = { prepare, evl_binary_run };
static const evl_impl mod = { prepare_mod, evl_binary_run };
static const evl_impl shift = { prepare_shift, evl_binary_run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_add = {
    "Add", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { &binary, &binary }, &binary, NULL, EVL_ADD
};
const evl_op evl_op_sub = {
    "Sub", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { &binary, &binary }, &binary, NULL, EVL_SUB
};
const evl_op evl_op_mul = {
    "Mul", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { &binary, &binary }, &binary, NULL, EVL_MUL
};
const evl_op evl_op_div = {
    "Div", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { &binary, &binary }, &binary, NULL, EVL_DIV
};
const evl_op evl_op_pow = {
    "Pow", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer_pow,
    { &power, &power }, &power, NULL, 0
};
const evl_op evl_op_prelu = {
    "PRelu", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { &binary, &binary }, &binary, NULL, EVL_PRELU
};
static const evl_op op_mod = {
    "Mod", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_binary,
    { &mod, &mod }, &mod, NULL, 0
};
static const evl_op op_bit_shift = {
    "BitShift", NULL, 2, 2, 1, 1, 0, EVL_OP_IN_PLACE, infer_shift,
    { NULL, NULL }, &shift, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_binary[] = {
    &evl_op_add,   &evl_op_sub, &evl_op_mul,   &evl_op_div, &evl_op_pow,
    &evl_op_prelu, &op_mod,     &op_bit_shift, NULL,
};
