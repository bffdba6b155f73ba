/* The table of what is composed, and all of it but attention. */
#include "readers/onnx/compose.h"
#include "ops/ops.h"
#include <stdio.h>
#include <string.h>

evl_value *evl_compose_in(const evl_composing *c, size_t input)
{
    return input < c->d->n_inputs ? c->d->inputs[input] : NULL;
}

evl_value *evl_compose_out(const evl_composing *c, size_t output)
{
    return output < c->d->n_outputs ? c->d->outputs[output] : NULL;
}

const evl_attribute *evl_compose_attribute(const evl_composing *c, const char *name)
{
    for (size_t i = 0; i < c->d->n_attributes; i++)
        if (strcmp(c->d->attributes[i].name, name) == 0)
            return &c->d->attributes[i];
    return NULL;
}

int64_t evl_compose_int(const evl_composing *c, const char *name, int64_t fallback)
{
    const evl_attribute *a = evl_compose_attribute(c, name);
    return a && a->kind == EVL_ATTRIBUTE_INT ? a->u.i : fallback;
}

double evl_compose_number(const evl_composing *c, const char *name, double fallback)
{
    const evl_attribute *a = evl_compose_attribute(c, name);
    return a && a->kind == EVL_ATTRIBUTE_NUMBER ? a->u.number : fallback;
}

evl_value *evl_compose_1(evl_composing *c, const char *op, evl_value *x)
{
    return evl_onnx_put(&c->put, op, &x, 1, NULL, 0);
}

evl_value *evl_compose_2(evl_composing *c, const char *op, evl_value *x, evl_value *y)
{
    return evl_onnx_put(&c->put, op, (evl_value *[]){ x, y }, 2, NULL, 0);
}

static evl_value *constant(evl_composing *c, EvalType type, const evl_shape *shape, const void *from)
{
    size_t bytes = evl_shape_count(shape) * evl_type_size(type);
    void *data = evl_arena_take(c->put.o->arena, bytes);
    evl_value *v = data ? evl_graph_constant(c->put.scope->graph, "", type, shape, data) : NULL;
    if (v)
        memcpy(data, from, bytes);
    else if (c->put.status == EVAL_OK)
        c->put.status = evl_no_memory(c->put.o->ctx);
    return v;
}

evl_value *evl_compose_constant(evl_composing *c, double number)
{
    evl_shape shape = evl_shape_scalar();
    return constant(c, EVAL_FLOAT32, &shape, &(float){ (float)number });
}

evl_value *evl_compose_ints(evl_composing *c, const int64_t *ints, size_t n)
{
    evl_shape shape = evl_shape_of(1, &(int64_t){ (int64_t)n });
    return constant(c, EVAL_INT64, &shape, ints);
}

evl_value *evl_compose_bytes(evl_composing *c, const evl_shape *shape, const uint8_t *bytes)
{
    return constant(c, EVAL_UINT8, shape, bytes);
}

evl_value *evl_compose_added(evl_composing *c, evl_value *x, evl_value *y)
{
    return y ? evl_compose_2(c, "Add", x, y) : x;
}

EvalStatus evl_compose_end(evl_composing *c, const char *op, evl_value *const *inputs,
                           size_t n_inputs, const evl_attribute *attributes, size_t n_attributes)
{
    evl_onnx_draft *d = c->d;
    evl_arena *scratch = c->put.o->scratch;
    d->inputs = evl_arena_take_many(scratch, n_inputs + EVL_ONNX_SPARE, sizeof *d->inputs);
    d->attributes = evl_arena_take_many(scratch, n_attributes + EVL_ONNX_SPARE, sizeof *d->attributes);
    if (c->put.status != EVAL_OK)
        return c->put.status;
    if (!d->inputs || !d->attributes)
        return evl_no_memory(c->put.o->ctx);
    d->n_inputs = 0;
    for (size_t i = 0; i < n_inputs; i++) {
        d->inputs[i] = inputs[i];
        d->n_inputs = inputs[i] ? i + 1 : d->n_inputs;
    }
    for (size_t i = 0; i < n_attributes; i++)
        d->attributes[i] = attributes[i];
    d->n_attributes = n_attributes;
    d->op = op;
    d->domain = "";
    d->version = EVL_NEWEST;
    return EVAL_OK;
}

/* --- functions of numbers --- */

static EvalStatus swiglu(evl_composing *c)
{
    evl_attribute alpha = evl_attribute_number("alpha", evl_compose_number(c, "alpha", 1));
    evl_value *gate = evl_compose_in(c, 0);
    gate = evl_onnx_put(&c->put, "Swish", &gate, 1, &alpha, 1);
    return evl_compose_end(c, "Mul", (evl_value *[]){ gate, evl_compose_in(c, 1) }, 2, NULL, 0);
}

/* Gelu and BiasGelu. */
static EvalStatus gelu(evl_composing *c)
{
    evl_value *x = evl_compose_added(c, evl_compose_in(c, 0), evl_compose_in(c, 1));
    return evl_compose_end(c, "Gelu", &x, 1, NULL, 0);
}

static EvalStatus fast_gelu(evl_composing *c)
{
    evl_value *x = evl_compose_added(c, evl_compose_in(c, 0), evl_compose_in(c, 1));
    evl_attribute how = evl_attribute_text("approximate", "tanh");
    return evl_compose_end(c, "Gelu", &x, 1, &how, 1);
}

static EvalStatus quick_gelu(evl_composing *c)
{
    double by = evl_compose_number(c, "alpha", (double)1.702f);
    evl_attribute alpha = evl_attribute_number("alpha", by);
    return evl_compose_end(c, "Swish", &c->d->inputs[0], 1, &alpha, 1);
}

/* --- normalizations --- */

/* What the file says of axis and epsilon, with the operator's own defaults. */
static EvalStatus normalize(evl_composing *c, const char *op, evl_value *const *in, size_t n,
                            double epsilon)
{
    const evl_attribute how[] = {
        evl_attribute_int("axis", evl_compose_int(c, "axis", -1)),
        evl_attribute_number("epsilon", evl_compose_number(c, "epsilon", epsilon)),
    };
    return evl_compose_end(c, op, in, n, how, 2);
}

static const double layer_epsilon = (double)1e-5f, skip_epsilon = (double)1e-12f;

static EvalStatus layer(evl_composing *c)
{
    evl_value *in[] = { evl_compose_in(c, 0), evl_compose_in(c, 1), evl_compose_in(c, 2) };
    return normalize(c, "LayerNormalization", in, 3, layer_epsilon);
}

static EvalStatus simplified_layer(evl_composing *c)
{
    evl_value *in[] = { evl_compose_in(c, 0), evl_compose_in(c, 1) };
    return normalize(c, "RMSNormalization", in, 2, layer_epsilon);
}

/* The sum of input, skip and bias, which may be an output, the fourth. */
static evl_value *skipped(evl_composing *c, size_t bias)
{
    evl_value *x = evl_compose_in(c, 0), *skip = evl_compose_in(c, 1), *sum = evl_compose_out(c, 3);
    x = evl_compose_added(c, x, evl_compose_in(c, bias));
    if (sum)
        evl_onnx_put_to(&c->put, sum, "Add", (evl_value *[]){ x, skip }, 2, NULL, 0);
    else
        sum = evl_compose_2(c, "Add", x, skip);
    c->d->n_outputs = c->d->n_outputs > 3 ? 3 : c->d->n_outputs;
    while (c->d->n_outputs > 1 && !c->d->outputs[c->d->n_outputs - 1])
        c->d->n_outputs--;
    return sum;
}

static EvalStatus skip_layer(evl_composing *c)
{
    evl_value *in[] = { skipped(c, 4), evl_compose_in(c, 2), evl_compose_in(c, 3) };
    return normalize(c, "LayerNormalization", in, 3, skip_epsilon);
}

static EvalStatus skip_simplified_layer(evl_composing *c)
{
    evl_value *in[] = { skipped(c, 3), evl_compose_in(c, 2) };
    return normalize(c, "RMSNormalization", in, 2, skip_epsilon);
}

enum { IDS, SEGMENTS, WORDS, POSITIONS, OF_SEGMENTS, GAMMA, BETA, MASK, POSITION_IDS };

/* The positions' rows from 0 on, as many as there are ids. */
static evl_value *positions(evl_composing *c)
{
    const evl_attribute of_length[] = { evl_attribute_int("start", 1), evl_attribute_int("end", 2) };
    evl_value *ids = evl_compose_in(c, IDS), *given = evl_compose_in(c, POSITION_IDS);
    if (given)
        return evl_compose_2(c, "Gather", evl_compose_in(c, POSITIONS), given);
    evl_value *zero = evl_compose_ints(c, (const int64_t[]){ 0 }, 1);
    evl_value *length = evl_onnx_put(&c->put, "Shape", &ids, 1, of_length, 2);
    evl_value *in[] = { evl_compose_in(c, POSITIONS), zero, length, zero };
    return evl_onnx_put(&c->put, "Slice", in, 4, NULL, 0);
}

/* How many ids each sample has: of the mask, the sum; 0 without. */
static void count_ids(evl_composing *c)
{
    evl_value *mask = evl_compose_in(c, MASK), *axes = evl_compose_ints(c, (const int64_t[]){ 1 }, 1);
    const evl_attribute how = evl_attribute_int("keepdims", 0);
    if (!mask)
        mask = evl_compose_2(c, "Sub", evl_compose_in(c, IDS), evl_compose_in(c, IDS));
    evl_onnx_put_to(&c->put, evl_compose_out(c, 1), "ReduceSum", (evl_value *[]){ mask, axes }, 2,
                    &how, 1);
}

static EvalStatus embed_layer(evl_composing *c)
{
    evl_value *x = evl_compose_2(c, "Gather", evl_compose_in(c, WORDS), evl_compose_in(c, IDS));
    evl_value *segments = evl_compose_in(c, SEGMENTS), *sum = evl_compose_out(c, 2);
    x = evl_compose_2(c, "Add", x, positions(c));
    if (segments && evl_compose_in(c, OF_SEGMENTS))
        x = evl_compose_2(c, "Add", x,
                          evl_compose_2(c, "Gather", evl_compose_in(c, OF_SEGMENTS), segments));
    if (evl_compose_out(c, 1))
        count_ids(c);
    if (sum)
        evl_onnx_put_to(&c->put, sum, "Identity", &x, 1, NULL, 0);
    c->d->n_outputs = 1;
    evl_value *in[] = { x, evl_compose_in(c, GAMMA), evl_compose_in(c, BETA) };
    return normalize(c, "LayerNormalization", in, 3, skip_epsilon);
}

/* --- products and convolutions that end with an activation --- */

/* Ends with what the attribute `activation` names, by parameters if it has some. */
static EvalStatus activate(evl_composing *c, evl_value *x, const double *p)
{
    const evl_attribute *a = evl_compose_attribute(c, "activation");
    const char *op = a && a->kind == EVL_ATTRIBUTE_TEXT ? a->u.text.text : "Identity";
    const evl_attribute how[] = { evl_attribute_number("alpha", p[0]),
                                  evl_attribute_number("beta", p[1]) };
    if (strcmp(op, "Clip") == 0) {
        evl_value *in[] = { x, evl_compose_constant(c, p[0]), evl_compose_constant(c, p[1]) };
        return evl_compose_end(c, "Clip", in, 3, NULL, 0);
    }
    static const char *const ops[] = { "Identity", "Relu",      "Tanh",       "Sigmoid", "HardSigmoid",
                                       "Elu",      "LeakyRelu", "HardSwish", "Softplus" };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i]) == 0)
            return evl_compose_end(c, ops[i], &x, 1, how,
                                   i == 4 ? 2 : i == 5 || i == 6 ? 1 : 0);
    return evl_fail(c->put.o->ctx, EVAL_ERR_UNSUPPORTED,
                    "onnx: node '%s' (%s): activation '%s' is not offered, at byte %zu", c->d->name,
                    c->d->op, op, c->d->where);
}

static EvalStatus fused_gemm(evl_composing *c)
{
    const double p[] = { evl_compose_number(c, "activation_alpha", 0),
                         evl_compose_number(c, "activation_beta", 0) };
    evl_onnx_draft *d = c->d;
    return activate(c, evl_onnx_put(&c->put, "Gemm", d->inputs, d->n_inputs, d->attributes,
                                    d->n_attributes),
                    p);
}

static EvalStatus fused_conv(evl_composing *c)
{
    const evl_attribute *a = evl_compose_attribute(c, "activation_params");
    evl_onnx_draft *d = c->d;
    double p[2] = { 0 };
    for (size_t i = 0; a && a->kind == EVL_ATTRIBUTE_NUMBERS && i < a->n && i < 2; i++)
        p[i] = a->u.numbers[i];
    evl_value *residual = evl_compose_in(c, 3);
    evl_value *x = evl_onnx_put(&c->put, "Conv", d->inputs, d->n_inputs > 3 ? 3 : d->n_inputs,
                                d->attributes, d->n_attributes);
    return activate(c, evl_compose_added(c, x, residual), p);
}

/* Transposed operands are those of an Einsum, which reads them where they lie: the axis of
** rows may stand in front of those of the batch. */
static EvalStatus fused_matmul(evl_composing *c)
{
    static const char *const of_a[] = { "...ij", "...ji", "i...j", "j...i" },
                      *const of_b[] = { "...jk", "...kj", "j...k", "k...j" };
    size_t a = (evl_compose_int(c, "transA", 0) ? 1 : 0) + (evl_compose_int(c, "transBatchA", 0) ? 2 : 0),
           b = (evl_compose_int(c, "transB", 0) ? 1 : 0) + (evl_compose_int(c, "transBatchB", 0) ? 2 : 0);
    double alpha = evl_compose_number(c, "alpha", 1);
    evl_value *in[] = { evl_compose_in(c, 0), evl_compose_in(c, 1) };
    const size_t size = sizeof "...ij,...jk->...ik";
    char *text = evl_arena_take(c->put.o->arena, size);
    if (!text)
        return evl_no_memory(c->put.o->ctx);
    snprintf(text, size, "%s,%s->...ik", of_a[a], of_b[b]);
    evl_attribute equation = evl_attribute_text("equation", text);
    bool which = a || b;
    const char *op = which ? "Einsum" : "MatMul";
    if (alpha == 1)
        return evl_compose_end(c, op, in, 2, &equation, which);
    evl_value *y = evl_onnx_put(&c->put, op, in, 2, &equation, which);
    return evl_compose_end(c, "Mul", (evl_value *[]){ y, evl_compose_constant(c, alpha) }, 2, NULL, 0);
}

/* --- the table --- */

static const struct {
    const char *domain, *op;
    size_t needed; /* inputs that must be there; else the node is missed */
    evl_compose *make;
} composed[] = {
    { "", "SwiGLU", 2, swiglu },
    { "", "SimplifiedLayerNormalization", 2, simplified_layer },
    { "ai.onnx.preview", "FlexAttention", 3, evl_compose_flex_attention },
    { "com.microsoft", "Attention", 2, evl_compose_attention },
    { "com.microsoft", "BiasGelu", 2, gelu },
    { "com.microsoft", "EmbedLayerNormalization", 7, embed_layer },
    { "com.microsoft", "FastGelu", 1, fast_gelu },
    { "com.microsoft", "FusedConv", 2, fused_conv },
    { "com.microsoft", "FusedGemm", 2, fused_gemm },
    { "com.microsoft", "FusedMatMul", 2, fused_matmul },
    { "com.microsoft", "Gelu", 1, gelu },
    { "com.microsoft", "GroupQueryAttention", 7, evl_compose_group_query_attention },
    { "com.microsoft", "LayerNormalization", 2, layer },
    { "com.microsoft", "MultiHeadAttention", 1, evl_compose_multi_head_attention },
    { "com.microsoft", "QuickGelu", 1, quick_gelu },
    { "com.microsoft", "SimplifiedLayerNormalization", 2, simplified_layer },
    { "com.microsoft", "SkipLayerNormalization", 3, skip_layer },
    { "com.microsoft", "SkipSimplifiedLayerNormalization", 3, skip_simplified_layer },
    { "com.microsoft", "TransposeMatMul", 2, fused_matmul },
};

EvalStatus evl_onnx_compose(evl_onnx *o, const evl_onnx_scope *scope, evl_onnx_draft *d)
{
    evl_composing c = { { o, scope, d, EVAL_OK }, d };
    for (size_t i = 0; d->version && i < sizeof composed / sizeof *composed; i++)
        if (strcmp(d->op, composed[i].op) == 0 && strcmp(d->domain, composed[i].domain) == 0)
            return d->n_inputs >= composed[i].needed && d->inputs[0] ? composed[i].make(&c) : EVAL_OK;
    return EVAL_OK;
}
