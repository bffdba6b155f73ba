/* Normalizations of rows and channels: Batch-, Instance-, Layer-, Group-, RMSNormalization
** and LRN. (MeanVarianceNormalization, over any axes, is in norm_axes.c.) */
#include "ops/broadcast.h"
#include "ops/elementwise.h"
#include "ops/lines.h"
#include "ops/norm_train.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

static size_t count_of(const evl_tensor *t)
{
    return evl_shape_count(&t->shape);
}

static const void *data_of(const evl_call *call, size_t input)
{
    return input < call->n_in && call->in[input] ? call->in[input]->data : NULL;
}

static const char *element(const void *data, size_t i, size_t size)
{
    return data ? (const char *)data + i * size : NULL;
}

/* Input `input` holds n elements, when both are known and it is there. */
static EvalStatus check_count(evl_context *ctx, const evl_use *use, size_t input, size_t n)
{
    const evl_tensor *t = evl_use_in(use, input);
    if (!t || count_of(t) == n)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "input %zu has %zu elements, expected %zu", input,
                    count_of(t), n);
}

/* Of several outputs a file may leave out the first. */
static EvalStatus no_output(evl_context *ctx)
{
    return evl_fail(ctx, EVAL_ERR_FORMAT, "output 0 is left out, and needed");
}

/* All inputs are of one type: the loops read them so. */
static EvalStatus infer_one(evl_infer *x)
{
    EvalStatus st = evl_infer_one_type(x, x->use.n_in);
    return st == EVAL_OK ? evl_infer_same(x) : st;
}

/* --- rows with one or many scales: Layer-, RMS-, Instance-, GroupNormalization --- */

typedef struct rows_state {
    evl_normalize_loop *loop;
    evl_normalize how; /* without pointers */
    size_t n_rows, size;
    size_t
        scales_per_row; /* how far the scale advances from row to row, and when it begins again */
    size_t n_scales;
    bool is_broadcast; /* scale and bias are stretched: applied afterwards */
    evl_binary_step multiply, add;
} rows_state;

typedef struct rows_arrays {
    const rows_state *s;
    const char *x;
    char *y, *mean, *inverse;
    const void *scale, *bias;
} rows_arrays;

static void do_row(void *arg, size_t row)
{
    const rows_arrays *a = arg;
    const rows_state *s = a->s;
    evl_normalize how = s->how;
    size_t first = s->n_scales ? row * s->scales_per_row % s->n_scales : 0;
    how.scale = element(a->scale, first, s->size);
    how.bias = element(a->bias, first, s->size);
    how.mean = a->mean ? a->mean + row * s->size : NULL;
    how.inverse = a->inverse ? a->inverse + row * s->size : NULL;
    s->loop(&how, a->x + row * how.n * s->size, a->y + row * how.n * s->size);
}

static void *out_data(const evl_call *call, size_t output)
{
    return output < call->n_out && call->out[output] ? call->out[output]->data : NULL;
}

static EvalStatus run_rows(const evl_call *call)
{
    const rows_state *s = call->state;
    const void *scale = data_of(call, 1), *bias = data_of(call, 2);
    rows_arrays arrays = { s,
                           call->in[0]->data,
                           out_data(call, 0),
                           out_data(call, 1),
                           out_data(call, 2),
                           s->is_broadcast ? NULL : scale,
                           s->is_broadcast ? NULL : bias };
    evl_each_for(s->n_rows, s->how.n, call->machine->pool, do_row, &arrays);
    if (s->is_broadcast && scale)
        evl_binary_apply(call->machine, &s->multiply, arrays.y, scale, arrays.y);
    if (s->is_broadcast && bias)
        evl_binary_apply(call->machine, &s->add, arrays.y, bias, arrays.y);
    return EVAL_OK;
}

static rows_state *new_rows(evl_prepare *p, size_t n_rows, size_t n)
{
    rows_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return NULL;
    s->loop = evl_loops_of(p, 0)->normalize;
    s->n_rows = n_rows;
    s->size = evl_type_size(p->use.in[0]->type);
    s->how.n = n;
    s->how.groups = 1;
    s->how.centred = true;
    s->how.epsilon = evl_node_number(p->use.node, "epsilon", (evl_number)1e-5f);
    p->state = s;
    return s;
}

static EvalStatus prepare_instance(evl_prepare *p)
{
    const evl_shape *shape = &p->use.in[0]->shape;
    if (shape->rank < 2)
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "input 0 has rank %d, expected 2 or more",
                        (int)shape->rank);
    size_t channels = (size_t)shape->dim[1];
    rows_state *s =
        new_rows(p, (size_t)shape->dim[0] * channels, evl_shape_count_part(shape, 2, shape->rank));
    if (!s)
        return evl_no_memory(p->ctx);
    s->scales_per_row = 1;
    s->n_scales = channels;
    EvalStatus st = check_count(p->ctx, &p->use, 1, channels);
    return st == EVAL_OK ? check_count(p->ctx, &p->use, 2, channels) : st;
}

/* Opset 18 has a scale for each group, 21 for each channel. */
static EvalStatus prepare_group(evl_prepare *p)
{
    const evl_shape *shape = &p->use.in[0]->shape;
    int64_t groups = evl_node_int(p->use.node, "num_groups", 0);
    if (shape->rank < 2 || groups < 1 || shape->dim[1] % groups != 0)
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "the channels do not divide into %lld groups",
                        (long long)groups);
    size_t in_group = (size_t)(shape->dim[1] / groups);
    rows_state *s = new_rows(p, (size_t)(shape->dim[0] * groups),
                             in_group * evl_shape_count_part(shape, 2, shape->rank));
    if (!s)
        return evl_no_memory(p->ctx);
    s->scales_per_row = p->use.node->version < 21 ? 1 : in_group;
    s->how.groups = s->scales_per_row;
    s->n_scales = s->scales_per_row * (size_t)groups;
    EvalStatus st = check_count(p->ctx, &p->use, 1, s->n_scales);
    return st == EVAL_OK ? check_count(p->ctx, &p->use, 2, s->n_scales) : st;
}

static EvalStatus axis_of(evl_context *ctx, const evl_use *use, int32_t *axis)
{
    return evl_axis(ctx, "axis", evl_node_int(use->node, "axis", -1), use->in[0]->shape.rank, axis);
}

static bool is_count(const evl_use *use, size_t input, size_t n)
{
    const evl_tensor *t = evl_use_in(use, input);
    return !t || count_of(t) == n;
}

/* A scale that is neither one for each element of a row nor one for all is broadcast. */
static EvalStatus prepare_scale(evl_prepare *p, rows_state *s)
{
    evl_binary_step *steps[2] = { &s->multiply, &s->add };
    s->is_broadcast = !is_count(&p->use, 1, s->how.n) || !is_count(&p->use, 2, s->how.n);
    s->how.groups = s->is_broadcast ? 1 : s->how.n;
    if (!s->is_broadcast)
        return EVAL_OK;
    for (size_t i = 0; i < 2; i++) {
        const evl_tensor *t = evl_use_in(&p->use, i + 1);
        const evl_shape *shapes[2] = { &p->out[0]->shape, t ? &t->shape : NULL };
        evl_shape together;
        if (!t)
            continue;
        EvalStatus st = evl_shape_broadcast(p->ctx, shapes[0], shapes[1], &together);
        if (st != EVAL_OK)
            return st;
        if (!evl_shape_equal(&together, shapes[0]))
            return evl_fail(p->ctx, EVAL_ERR_SHAPE, "input %zu is larger than input 0", i + 1);
        evl_broadcast_make(&steps[i]->shape, shapes[0], shapes, 2);
        steps[i]->loop = evl_loops_of(p, 0)->binary[i == 0 ? EVL_MUL : EVL_ADD];
        steps[i]->size = s->size;
    }
    return EVAL_OK;
}

static EvalStatus prepare_rows(evl_prepare *p, bool is_centred)
{
    const evl_shape *shape = &p->use.in[0]->shape;
    int32_t axis;
    EvalStatus st = axis_of(p->ctx, &p->use, &axis);
    if (st != EVAL_OK)
        return st;
    if (!p->out[0])
        return no_output(p->ctx);
    evl_lines lines = evl_lines_from(shape, axis);
    rows_state *s = new_rows(p, lines.outer, lines.n);
    if (!s)
        return evl_no_memory(p->ctx);
    s->how.centred = is_centred;
    return prepare_scale(p, s);
}

static EvalStatus prepare_layer(evl_prepare *p)
{
    return prepare_rows(p, true);
}

static EvalStatus prepare_rms(evl_prepare *p)
{
    return prepare_rows(p, false);
}

/* Mean and InvStdDev have ones from the axis on, and a type of their own. */
static EvalStatus infer_layer(evl_infer *x)
{
    evl_shape shape = x->use.in[0]->shape;
    int32_t axis;
    EvalStatus st = infer_one(x);
    if (st != EVAL_OK || shape.rank < 0)
        return st;
    st = axis_of(x->ctx, &x->use, &axis);
    if (st != EVAL_OK)
        return st;
    for (int32_t d = axis; d < shape.rank; d++)
        shape.dim[d] = 1;
    for (size_t i = 1; i < x->n_out; i++) {
        bool is_narrow = evl_node_int(x->use.node, "stash_type", EVAL_FLOAT32) == EVAL_BFLOAT16;
        x->out[i].type = is_narrow ? EVAL_BFLOAT16 : EVAL_FLOAT32;
        x->out[i].shape = shape;
    }
    return EVAL_OK;
}

/* --- BatchNormalization as in inference --- */

typedef struct batch_state {
    evl_channels_loop *loop;
    evl_channels how;        /* without pointers */
    size_t size, per_sample; /* channels in one call, and in one sample */
} batch_state;

typedef struct batch_arrays {
    const batch_state *s;
    const evl_call *call;
} batch_arrays;

static void do_channels(void *arg, size_t i)
{
    const batch_arrays *a = arg;
    const batch_state *s = a->s;
    const evl_call *call = a->call;
    evl_channels how = s->how;
    size_t first = i * how.n, at = first * how.inner * s->size, channel = first % s->per_sample;
    how.scale = element(call->in[1]->data, channel, s->size);
    how.bias = element(call->in[2]->data, channel, s->size);
    how.mean = element(call->in[3]->data, channel, s->size);
    how.variance = element(call->in[4]->data, channel, s->size);
    s->loop(&how, (const char *)call->in[0]->data + at, (char *)call->out[0]->data + at);
}

/* Old opsets have outputs for the statistics, which inference leaves as they are. */
static void copy_statistics(const evl_call *call)
{
    for (size_t i = 1; i < call->n_out; i++) {
        const evl_tensor *from = call->in[i % 2 ? 3 : 4];
        if (call->out[i] && count_of(from))
            memcpy(call->out[i]->data, from->data, count_of(from) * evl_type_size(from->type));
    }
}

static EvalStatus run_batch(const evl_call *call)
{
    batch_arrays arrays = { call->state, call };
    const evl_channels *how = &arrays.s->how;
    size_t each = how->n * how->inner;
    if (each)
        evl_each_for(count_of(call->in[0]) / each, each, call->machine->pool, do_channels, &arrays);
    copy_statistics(call);
    return EVAL_OK;
}

/* spatial 0, before opset 9: every element of a sample is a channel of its own. */
static EvalStatus prepare_batch(evl_prepare *p)
{
    const evl_shape *shape = &p->use.in[0]->shape;
    const evl_node *node = p->use.node;
    batch_state *s = evl_arena_take(p->arena, sizeof *s);
    bool is_spatial = node->version >= 9 || evl_node_int(node, "spatial", 1) != 0;
    if (!s)
        return evl_no_memory(p->ctx);
    if (!p->out[0])
        return no_output(p->ctx);
    if (shape->rank < 1)
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "input 0 is a scalar");
    int32_t end = is_spatial ? (shape->rank < 2 ? shape->rank : 2) : shape->rank;
    s->per_sample = evl_shape_count_part(shape, 1, end);
    s->how.inner = evl_shape_count_part(shape, end, shape->rank);
    s->how.n = s->how.inner == 1 ? s->per_sample : 1;
    s->how.epsilon = evl_node_number(node, "epsilon", (evl_number)1e-5f);
    s->loop = evl_loops_of(p, 0)->channels;
    s->size = evl_type_size(p->use.in[0]->type);
    p->state = s;
    EvalStatus st = EVAL_OK;
    for (size_t i = 1; i <= 4 && st == EVAL_OK; i++)
        st = check_count(p->ctx, &p->use, i, s->per_sample);
    bool is_training = node->version >= 14 && evl_node_int(node, "training_mode", 0) != 0;
    return st == EVAL_OK && is_training ? evl_norm_train_prepare(p) : st;
}

static EvalStatus infer_batch(evl_infer *x)
{
    for (size_t i = 1; i < x->n_out; i++) {
        const evl_tensor *from = x->use.in[i % 2 ? 3 : 4];
        x->out[i].type = from->type;
        x->out[i].shape = from->shape;
    }
    return infer_one(x);
}

/* --- LRN --- */

typedef struct lrn_state {
    evl_window_loop *loop;
    evl_window how;
    evl_lines lines; /* along channels */
    size_t size;
} lrn_state;

typedef struct lrn_arrays {
    const lrn_state *s;
    const char *x;
    char *y;
} lrn_arrays;

static void do_part(void *arg, const evl_lines_part *part)
{
    const lrn_arrays *a = arg;
    a->s->loop(part->at, &a->s->how, a->x + part->x * a->s->size, a->y + part->x * a->s->size);
}

static EvalStatus run_lrn(const evl_call *call)
{
    lrn_arrays arrays = { call->state, call->in[0]->data, call->out[0]->data };
    evl_lines_for(&arrays.s->lines, call->machine->pool, do_part, &arrays);
    return EVAL_OK;
}

static EvalStatus prepare_lrn(evl_prepare *p)
{
    const evl_shape *shape = &p->use.in[0]->shape;
    const evl_node *node = p->use.node;
    int64_t size = evl_node_int(node, "size", 0);
    lrn_state *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    if (shape->rank < 2 || size < 1)
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "rank %d and size %lld, expected 2 and 1 or more",
                        (int)shape->rank, (long long)size);
    s->lines = evl_lines_along(shape, 1);
    s->how.size = (size_t)size;
    s->how.alpha = evl_node_number(node, "alpha", (evl_number)1e-4f);
    s->how.beta = evl_node_number(node, "beta", (evl_number)0.75f);
    s->how.bias = evl_node_number(node, "bias", 1);
    s->loop = evl_loops_of(p, 0)->local_response;
    s->size = evl_type_size(p->use.in[0]->type);
    p->state = s;
    return EVAL_OK;
}

static const evl_impl instance = { prepare_instance, run_rows };
static const evl_impl group = { prepare_group, run_rows };
static const evl_impl layer = { prepare_layer, run_rows };
static const evl_impl rms = { prepare_rms, run_rows };
static const evl_impl batch = { prepare_batch, run_batch };
static const evl_impl lrn = { prepare_lrn, run_lrn };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_batch_normalization = {
    "BatchNormalization", NULL, 5, 5, 1, 5, 0, 0, infer_batch,
    { &batch, &batch }, NULL, NULL, 0
};
const evl_op evl_op_instance_normalization = {
    "InstanceNormalization", NULL, 3, 3, 1, 1, 0, 0, infer_one,
    { &instance, &instance }, NULL, NULL, 0
};
const evl_op evl_op_layer_normalization = {
    "LayerNormalization", NULL, 2, 3, 1, 3, 0, 0, infer_layer,
    { &layer, &layer }, NULL, NULL, 0
};
static const evl_op op_group_normalization = {
    "GroupNormalization", NULL, 3, 3, 1, 1, 0, 0, infer_one,
    { &group, &group }, NULL, NULL, 0
};
const evl_op evl_op_rms_normalization = {
    "RMSNormalization", NULL, 2, 2, 1, 1, 0, 0, infer_layer,
    { &rms, &rms }, NULL, NULL, 0
};
static const evl_op op_lrn = {
    "LRN", NULL, 1, 1, 1, 1, 0, 0, evl_infer_same,
    { &lrn, &lrn }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_norm[] = {
    &evl_op_batch_normalization,
    &evl_op_instance_normalization,
    &evl_op_layer_normalization,
    &op_group_normalization,
    &evl_op_rms_normalization,
    &op_lrn,
    NULL,
};
