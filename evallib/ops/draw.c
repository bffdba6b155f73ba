/* RandomNormal, RandomUniform, their ...Like, Bernoulli, Multinomial and Dropout. What is drawn
** is drawn in the order of the elements by one thread, so a seed says all. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/random.h"
#include <inttypes.h>
#include <math.h>
#include <time.h>

/* ONNX: without a seed one is made up. Nothing is remembered from run to run: time differs,
** and so do nodes that run at one time. */
static void start(const evl_call *call, evl_random *r)
{
    const evl_attribute *a = evl_node_attribute(call->node, "seed");
    double given =
        a && a->kind == EVL_ATTRIBUTE_INT ? (double)a->u.i : evl_node_number(call->node, "seed", 0);
    struct timespec now = { 0 };
    if (a) {
        evl_random_start(r, fabs(given) < 9e18 ? (uint32_t)(int64_t)given : 0);
        return;
    }
    (void)timespec_get(&now, TIME_UTC);
    uint64_t mixed = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    mixed += (uint64_t)call->node->index * UINT64_C(0x9e3779b97f4a7c15) + (uintptr_t)call->ctx;
    evl_random_start(r, (uint32_t)(mixed ^ (mixed >> 32)));
}

static EvalStatus check_type(evl_infer *x)
{
    EvalType type = x->out[0].type;
    if (evl_type_is_float(type) || evl_type_is_integer(type) || type == EVAL_BOOL ||
        type == EVAL_UNDEFINED)
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_TYPE, "dtype is no type of numbers");
}

static EvalStatus infer_shaped(evl_infer *x)
{
    size_t n;
    const int64_t *dims = evl_node_ints(x->use.node, "shape", &n);
    EvalStatus st = evl_rank_check(x->ctx, n);
    if (st)
        return st;
    for (size_t i = 0; i < n; i++)
        if (dims[i] < 0)
            return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the shape has the negative size %" PRId64,
                            dims[i]);
    x->out[0].type = (EvalType)evl_node_int(x->use.node, "dtype", EVAL_FLOAT32);
    x->out[0].shape = evl_shape_of(n, dims);
    return check_type(x);
}

static EvalStatus infer_like(evl_infer *x)
{
    EvalStatus st = evl_infer_same(x);
    x->out[0].type = (EvalType)evl_node_int(x->use.node, "dtype", (int64_t)x->out[0].type);
    return st ? st : check_type(x);
}

static EvalStatus infer_multinomial(evl_infer *x)
{
    int64_t n = evl_node_int(x->use.node, "sample_size", 1), classes = evl_infer_dim_of(x, 0, 1);
    EvalStatus st = evl_infer_rank(x, 0, 2, 2);
    if (st)
        return st;
    if (n < 0 || classes == 0)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "%" PRId64 " samples of %" PRId64 " classes", n,
                        classes);
    x->out[0].type = (EvalType)evl_node_int(x->use.node, "dtype", EVAL_INT32);
    x->out[0].shape = evl_shape_of(2, (const int64_t[2]){ evl_infer_dim_of(x, 0, 0), n });
    return check_type(x);
}

/* One element, of numbers p and, where there is one, input 0. */
typedef double draw(evl_random *, const double p[2], const evl_tensor *x, size_t i);

static double draw_uniform(evl_random *r, const double p[2], const evl_tensor *x, size_t i)
{
    (void)x;
    (void)i;
    return p[0] + evl_random_uniform(r) * (p[1] - p[0]);
}

static double draw_normal(evl_random *r, const double p[2], const evl_tensor *x, size_t i)
{
    (void)x;
    (void)i;
    return p[0] + evl_random_normal(r) * p[1];
}

/* As numpy draws: the rarer of the two is what a number near 1 gives. */
static double draw_bernoulli(evl_random *r, const double p[2], const evl_tensor *x, size_t i)
{
    double chance = evl_tensor_f64(x, i), u = evl_random_uniform(r);
    (void)p;
    return chance <= 0.5 ? u > 1 - chance : u <= chance;
}

enum { CHUNK = 256 };

static EvalStatus fill(const evl_call *call, draw *one, double first, double second)
{
    const evl_tensor *y = call->out[0], *x = call->n_in ? call->in[0] : NULL;
    size_t n = evl_shape_count(&y->shape), size = evl_type_size(y->type);
    double part[CHUNK];
    evl_random r;
    start(call, &r);
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t m = n - at < CHUNK ? n - at : CHUNK;
        for (size_t i = 0; i < m; i++)
            part[i] = one(&r, (const double[2]){ first, second }, x, at + i);
        evl_convert(m, EVAL_FLOAT64, part, y->type, (char *)y->data + at * size);
    }
    return EVAL_OK;
}

static EvalStatus run_uniform(const evl_call *call)
{
    return fill(call, draw_uniform, evl_node_number(call->node, "low", 0),
                evl_node_number(call->node, "high", 1));
}

static EvalStatus run_normal(const evl_call *call)
{
    return fill(call, draw_normal, evl_node_number(call->node, "mean", 0),
                evl_node_number(call->node, "scale", 1));
}

static EvalStatus run_bernoulli(const evl_call *call)
{
    return fill(call, draw_bernoulli, 0, 1);
}

/* --- Multinomial: rows of logarithms of weights --- */

static EvalStatus prepare_multinomial(evl_prepare *p)
{
    p->scratch_bytes = (size_t)p->use.in[0]->shape.dim[1] * sizeof(double);
    return EVAL_OK;
}

/* Running sums of a row's weights; the largest is taken out, so that none overflows. */
static void sum_weights(const evl_tensor *x, size_t row, size_t n, double *sums)
{
    double most = -INFINITY, sum = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, evl_tensor_f64(x, row * n + i));
    for (size_t i = 0; i < n; i++)
        sums[i] = sum += exp(evl_tensor_f64(x, row * n + i) - most);
}

static EvalStatus run_multinomial(const evl_call *call)
{
    const evl_tensor *x = call->in[0], *y = call->out[0];
    size_t n = (size_t)x->shape.dim[1], each = (size_t)y->shape.dim[1];
    double *sums = call->scratch;
    evl_random r;
    start(call, &r);
    for (size_t i = 0; i < evl_shape_count(&y->shape); i++) {
        int64_t chosen = 0;
        if (i % each == 0)
            sum_weights(x, i / each, n, sums);
        double at = evl_random_uniform(&r) * sums[n - 1];
        while ((size_t)chosen + 1 < n && !(sums[chosen] > at))
            chosen++;
        evl_convert(1, EVAL_INT64, &chosen, y->type, (char *)y->data + i * evl_type_size(y->type));
    }
    return EVAL_OK;
}

/* --- Dropout: in training some elements become 0 and the others larger --- */

/* The mask is bool since opset 10; before, of the input's type. */
static EvalStatus infer_dropout(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    x->out[0].type = in->type;
    x->out[0].shape = in->shape;
    if (x->n_out > 1) {
        x->out[1].type = x->use.node->version >= 10 ? EVAL_BOOL : in->type;
        x->out[1].shape = in->shape;
    }
    return EVAL_OK;
}

/* How many are dropped. Opset 12 says by an input whether the model trains. */
static EvalStatus dropped(const evl_call *call, double *ratio)
{
    const evl_use use = { call->node, call->in, call->n_in };
    int64_t is_training = 0;
    *ratio = 0.5;
    evl_use_int(&use, "training_mode", 2, &is_training);
    if (is_training)
        evl_use_number(&use, "ratio", 1, ratio);
    if (!is_training || call->node->version < 12)
        *ratio = 0;
    if (*ratio >= 0 && *ratio < 1)
        return EVAL_OK;
    return evl_fail(call->ctx, EVAL_ERR_SHAPE, "ratio must be at least 0 and less than 1");
}

static void keep_all(const evl_tensor *mask)
{
    const uint8_t one = 1;
    size_t n = evl_shape_count(&mask->shape), size = evl_type_size(mask->type);
    for (size_t i = 0; i < n; i++)
        evl_convert(1, EVAL_BOOL, &one, mask->type, (char *)mask->data + i * size);
}

static void drop(const evl_call *call, double ratio, uint8_t *mask)
{
    const evl_tensor *x = call->in[0], *y = call->out[0];
    size_t n = evl_shape_count(&x->shape), size = evl_type_size(x->type);
    evl_random r;
    start(call, &r);
    for (size_t i = 0; i < n; i++) {
        bool is_kept = evl_random_uniform(&r) >= ratio;
        double value = is_kept ? evl_tensor_f64(x, i) / (1 - ratio) : 0;
        if (y)
            evl_convert(1, EVAL_FLOAT64, &value, y->type, (char *)y->data + i * size);
        if (mask)
            mask[i] = is_kept;
    }
}

static EvalStatus run_dropout(const evl_call *call)
{
    const evl_tensor *mask = call->n_out > 1 ? call->out[1] : NULL;
    double ratio;
    EvalStatus st = dropped(call, &ratio);
    if (st)
        return st;
    if (ratio > 0) {
        drop(call, ratio, mask ? mask->data : NULL);
        return EVAL_OK;
    }
    if (mask)
        keep_all(mask);
    return evl_move_all_run(call);
}

static const evl_impl bernoulli_impl = { NULL, run_bernoulli };
static const evl_impl dropout_impl = { NULL, run_dropout };
static const evl_impl multinomial_impl = { prepare_multinomial, run_multinomial };
static const evl_impl normal_impl = { NULL, run_normal };
static const evl_impl uniform_impl = { NULL, run_uniform };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_bernoulli = {
    "Bernoulli", NULL, 1, 1, 1, 1, 0, EVL_OP_NO_FOLD, infer_like,
    { &bernoulli_impl, &bernoulli_impl }, NULL, NULL, 0
};
const evl_op evl_op_dropout = {
    "Dropout", NULL, 1, 3, 1, 2, 0, EVL_OP_IN_PLACE | EVL_OP_NO_FOLD, infer_dropout,
    { NULL, NULL }, NULL, &dropout_impl, 0
};
static const evl_op op_multinomial = {
    "Multinomial", NULL, 1, 1, 1, 1, 0, EVL_OP_NO_FOLD, infer_multinomial,
    { &multinomial_impl, &multinomial_impl }, NULL, NULL, 0
};
static const evl_op op_random_normal = {
    "RandomNormal", NULL, 0, 0, 1, 1, 0, EVL_OP_NO_FOLD, infer_shaped,
    { NULL, NULL }, NULL, &normal_impl, 0
};
static const evl_op op_random_normal_like = {
    "RandomNormalLike", NULL, 1, 1, 1, 1, 0, EVL_OP_NO_FOLD, infer_like,
    { NULL, NULL }, NULL, &normal_impl, 0
};
static const evl_op op_random_uniform = {
    "RandomUniform", NULL, 0, 0, 1, 1, 0, EVL_OP_NO_FOLD, infer_shaped,
    { NULL, NULL }, NULL, &uniform_impl, 0
};
static const evl_op op_random_uniform_like = {
    "RandomUniformLike", NULL, 1, 1, 1, 1, 0, EVL_OP_NO_FOLD, infer_like,
    { NULL, NULL }, NULL, &uniform_impl, 0
};
/* clang-format on */

const evl_op *const evl_ops_draw[] = {
    &op_bernoulli,          &evl_op_dropout,    &op_multinomial,         &op_random_normal,
    &op_random_normal_like, &op_random_uniform, &op_random_uniform_like, NULL,
};
