/* Functions of one number and a few parameters, Gelu, and Clip. */
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <math.h>
#include <string.h>

typedef struct parameter {
    const char *name; /* NULL: none */
    float fallback;   /* as the standard writes it down: a float32 */
} parameter;

static const parameter parameters[EVL_N_UNARY][2] = {
    [EVL_ELU] = { { "alpha", 1 } },
    [EVL_LEAKY_RELU] = { { "alpha", 0.01f } },
    [EVL_SELU] = { { "alpha", 1.67326319217681884765625f },
                   { "gamma", 1.05070102214813232421875f } },
    [EVL_CELU] = { { "alpha", 1 } },
    [EVL_THRESHOLDED_RELU] = { { "alpha", 1 } },
    [EVL_HARD_SIGMOID] = { { "alpha", 0.2f }, { "beta", 0.5f } },
    [EVL_SHRINK] = { { "lambd", 0.5f }, { "bias", 0 } },
    [EVL_SWISH] = { { "alpha", 1 } },
};

static EvalStatus prepare(evl_prepare *p)
{
    const evl_node *node = p->use.node;
    evl_unary_kind kind = (evl_unary_kind)node->op->kind;
    evl_number value[3] = { 0 };
    for (size_t i = 0; i < 2 && parameters[kind][i].name; i++)
        value[i] = evl_node_number(node, parameters[kind][i].name,
                                   (evl_number)parameters[kind][i].fallback);
    if (kind == EVL_SELU && node->version < 6) { /* Selu 1 rounded its constants */
        value[0] = evl_node_number(node, "alpha", (evl_number)1.6732f);
        value[1] = evl_node_number(node, "gamma", (evl_number)1.0507f);
    }
    return evl_unary_prepare(p, kind, value);
}

static EvalStatus prepare_gelu(evl_prepare *p)
{
    const char *how = evl_node_text(p->use.node, "approximate", "none");
    bool is_tanh = strcmp(how, "tanh") == 0;
    if (!is_tanh && strcmp(how, "none") != 0)
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "approximate is '%s', expected none or tanh", how);
    return evl_unary_prepare(p, is_tanh ? EVL_GELU_TANH : EVL_GELU, NULL);
}

static const evl_impl parametric = { prepare, evl_unary_run };
static const evl_impl gelu = { prepare_gelu, evl_unary_run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_elu = {
    "Elu", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, NULL, NULL, EVL_ELU
};
const evl_op evl_op_leaky_relu = {
    "LeakyRelu", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, NULL, NULL, EVL_LEAKY_RELU
};
static const evl_op op_selu = {
    "Selu", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, NULL, NULL, EVL_SELU
};
static const evl_op op_celu = {
    "Celu", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, NULL, NULL, EVL_CELU
};
static const evl_op op_thresholded_relu = {
    "ThresholdedRelu", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, NULL, NULL, EVL_THRESHOLDED_RELU
};
const evl_op evl_op_hard_sigmoid = {
    "HardSigmoid", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, NULL, NULL, EVL_HARD_SIGMOID
};
static const evl_op op_shrink = {
    "Shrink", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, &parametric, NULL, EVL_SHRINK
};
static const evl_op op_swish = {
    "Swish", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &parametric, &parametric }, NULL, NULL, EVL_SWISH
};
static const evl_op op_gelu = {
    "Gelu", NULL, 1, 1, 1, 1, 0, EVL_OP_IN_PLACE, evl_infer_same,
    { &gelu, &gelu }, NULL, NULL, 0
};
/* clang-format on */

/* --- Clip: its limits are attributes before opset 11, then inputs, known in the run --- */

typedef struct clip_state {
    evl_unary_loop *clip;
    evl_number limit[2]; /* least, most: of the attributes */
} clip_state;

static EvalStatus infer_clip(evl_infer *x)
{
    for (size_t i = 1; i < x->use.n_in; i++) {
        const evl_tensor *t = x->use.in[i];
        if (t && evl_shape_is_known(&t->shape) && evl_shape_count(&t->shape) > 1)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "limit %zu is no scalar", i);
    }
    EvalStatus st = evl_infer_one_type(x, x->use.n_in);
    return st == EVAL_OK ? evl_infer_same(x) : st;
}

static EvalStatus prepare_clip(evl_prepare *p)
{
    clip_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->clip = evl_loops_of(p, 0)->unary[EVL_CLIP];
    s->limit[0] = evl_node_number(p->use.node, "min", -INFINITY);
    s->limit[1] = evl_node_number(p->use.node, "max", INFINITY);
    p->state = s;
    return s->clip ? EVAL_OK : evl_no_arithmetic(p->ctx, p->use.in[0]->type);
}

static const evl_tensor *limit_of(const evl_call *call, size_t input)
{
    const evl_tensor *t = input < call->n_in ? call->in[input] : NULL;
    return t && evl_shape_count(&t->shape) == 1 ? t : NULL;
}

static void part_of_clip(const evl_call *call, size_t from, size_t to)
{
    const clip_state *s = call->state;
    size_t at = from * evl_type_size(call->in[0]->type);
    evl_number p[3] = { s->limit[0], s->limit[1] };
    for (size_t i = 1; i <= 2; i++) {
        const evl_tensor *limit = limit_of(call, i);
        if (limit)
            p[i - 1] = evl_tensor_f64(limit, 0);
    }
    s->clip(to - from, (const char *)call->in[0]->data + at, (char *)call->out[0]->data + at, p);
}

static EvalStatus run_clip(const evl_call *call)
{
    return evl_parts_run(call, part_of_clip);
}

static EvalStatus prepare_real_clip(evl_prepare *p)
{
    p->part = part_of_clip;
    return prepare_clip(p);
}

/* Integers of 64 bits are not all numbers of a double: their limits stay what they are.
** They are read before anything is written, as the output may be the memory of one. */
static EvalStatus run_clip_integer(const evl_call *call)
{
    const evl_tensor *x = call->in[0], *y = call->out[0], *least = limit_of(call, 1),
                     *most = limit_of(call, 2);
    const evl_loops *loops = call->machine->loops[x->type];
    size_t n = evl_shape_count(&y->shape), size = evl_type_size(x->type);
    uint64_t low = 0, high = 0;
    if (least)
        memcpy(&low, least->data, size);
    if (most)
        memcpy(&high, most->data, size);
    if (n && x->data != y->data)
        memcpy(y->data, x->data, n * size);
    if (least)
        loops->binary[EVL_MAX](n, y->data, 1, &low, 0, y->data);
    if (most)
        loops->binary[EVL_MIN](n, y->data, 1, &high, 0, y->data);
    return EVAL_OK;
}

static const evl_impl clip = { prepare_real_clip, run_clip };
static const evl_impl clip_integer = { prepare_clip, run_clip_integer };

const evl_op evl_op_clip = {
    "Clip", NULL, 1, 3, 1, 1, 0, EVL_OP_IN_PLACE, infer_clip,
    { &clip, &clip }, &clip_integer, NULL, EVL_CLIP
};

const evl_op *const evl_ops_activation[] = {
    &evl_op_elu,
    &evl_op_leaky_relu,
    &op_selu,
    &op_celu,
    &op_thresholded_relu,
    &evl_op_hard_sigmoid,
    &op_shrink,
    &op_swish,
    &op_gelu,
    &evl_op_clip,
    NULL,
};
