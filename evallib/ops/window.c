/* HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix: weights for spectra, made from
** a few numbers. */
#include "ops/axes.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

static EvalStatus read_type(evl_context *ctx, const evl_node *node, EvalType *type)
{
    *type = (EvalType)evl_node_int(node, "output_datatype", EVAL_FLOAT32);
    if (evl_type_is_float(*type) || evl_type_is_integer(*type))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_TYPE, "output_datatype is no type of numbers");
}

/* Input `input` is one number. */
static EvalStatus check_one(const evl_infer *x, size_t input)
{
    const evl_shape *shape = &x->use.in[input]->shape;
    if (!evl_shape_is_known(shape) || evl_shape_count(shape) == 1)
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_SHAPE, "input %zu must be one number", input);
}

static EvalStatus read_size(const evl_infer *x, const char *name, size_t input, int64_t *size)
{
    *size = EVL_UNKNOWN_DIM;
    EvalStatus st = check_one(x, input);
    if (st || evl_use_int(&x->use, name, input, size) != EVL_KNOWN || *size >= 0)
        return st;
    return evl_fail(x->ctx, EVAL_ERR_SHAPE, "%s is %" PRId64, name, *size);
}

static EvalStatus infer_window(evl_infer *x)
{
    int64_t size;
    EvalStatus st = read_type(x->ctx, x->use.node, &x->out[0].type);
    if (!st)
        st = evl_infer_takes(x, 0, EVL_TAKES_INTEGERS);
    if (!st)
        st = read_size(x, "size", 0, &size);
    x->out[0].shape = evl_shape_of_rank(1);
    if (!st)
        x->out[0].shape.dim[0] = size;
    return st;
}

/* Sums of cosines: w[0] + w[1] cos(t) + w[2] cos(2t), t from 0 once around. */
typedef struct cosines {
    const char *name;
    double w[3];
} cosines;

static const cosines kinds[] = {
    { "HannWindow", { 0.5, -0.5, 0 } },
    { "HammingWindow", { 25.0 / 46, -21.0 / 46, 0 } },
    { "BlackmanWindow", { 0.42, -0.5, 0.08 } },
};

enum { CHUNK = 256 };

static EvalStatus run_window(const evl_call *call)
{
    const evl_tensor *y = call->out[0];
    const double turn = 6.283185307179586476925286766559;
    const cosines *c = kinds;
    size_t n = (size_t)y->shape.dim[0], size = evl_type_size(y->type);
    double around = (double)n - (evl_node_int(call->node, "periodic", 1) ? 0 : 1), part[CHUNK];
    while (strcmp(c->name, call->node->op->name) != 0)
        c++;
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t m = n - at < CHUNK ? n - at : CHUNK;
        for (size_t i = 0; i < m; i++) {
            double t = turn * (double)(at + i) / around;
            /* The cosines first: then Blackman's is exactly 0 and 1 where it is to be. */
            part[i] = around > 0 ? c->w[0] + (c->w[1] * cos(t) + c->w[2] * cos(2 * t)) : 1;
        }
        evl_convert(m, EVAL_FLOAT64, part, y->type, (char *)y->data + at * size);
    }
    return EVAL_OK;
}

/* --- MelWeightMatrix --- */

enum { BINS, DFT_LENGTH, SAMPLE_RATE, LOWEST, HIGHEST, MEL_INPUTS };

static EvalStatus infer_mel(evl_infer *x)
{
    int64_t bins, length;
    EvalStatus st = read_type(x->ctx, x->use.node, &x->out[0].type);
    for (size_t i = 0; i < MEL_INPUTS && !st; i++)
        st = check_one(x, i);
    if (!st)
        st = evl_infer_takes(x, 0, EVL_TAKES_INTEGERS);
    if (st || (st = read_size(x, "num_mel_bins", BINS, &bins)) ||
        (st = read_size(x, "dft_length", DFT_LENGTH, &length)))
        return st;
    x->out[0].shape = evl_shape_of(2, (const int64_t[2]){ length, bins });
    if (length >= 0)
        x->out[0].shape.dim[0] = length / 2 + 1;
    return EVAL_OK;
}

static double mel_of(double hertz)
{
    return 2595 * log1p(hertz / 700) / log(10);
}

typedef struct mel {
    const evl_tensor *y;
    double low, step, per_hertz;
} mel;

/* The row in which mark i of n + 2, evenly spaced in mel, lies. False: outside. */
static bool row_of(const mel *m, int64_t i, int64_t *row)
{
    double hertz = 700 * expm1((m->low + (double)i * m->step) / 2595 * log(10));
    double at = floor(hertz * m->per_hertz);
    if (!(at >= 0 && at < (double)m->y->shape.dim[0]))
        return false;
    *row = (int64_t)at;
    return true;
}

static void put(const mel *m, int64_t row, int64_t column, double value)
{
    size_t at = (size_t)(row * m->y->shape.dim[1] + column);
    evl_convert(1, EVAL_FLOAT64, &value, m->y->type,
                (char *)m->y->data + at * evl_type_size(m->y->type));
}

/* A triangle: up from one mark to the next, down to the one after. */
static void put_triangle(const mel *m, int64_t column, const int64_t marks[3])
{
    int64_t up = marks[1] - marks[0], down = marks[2] - marks[1];
    if (up == 0)
        put(m, marks[1], column, 1);
    for (int64_t row = marks[0]; row <= marks[1] && up; row++)
        put(m, row, column, (double)(row - marks[0]) / (double)up);
    for (int64_t row = marks[1]; row < marks[2]; row++)
        put(m, row, column, (double)(marks[2] - row) / (double)down);
}

static EvalStatus run_mel(const evl_call *call)
{
    const evl_tensor *y = call->out[0];
    double rate = evl_tensor_f64(call->in[SAMPLE_RATE], 0);
    double length = evl_tensor_f64(call->in[DFT_LENGTH], 0);
    mel m = { .y = y, .low = mel_of(evl_tensor_f64(call->in[LOWEST], 0)) };
    m.step = (mel_of(evl_tensor_f64(call->in[HIGHEST], 0)) - m.low) / (double)(y->shape.dim[1] + 2);
    m.per_hertz = (length + 1) / rate;
    if (evl_shape_count(&y->shape))
        memset(y->data, 0, evl_shape_count(&y->shape) * evl_type_size(y->type));
    for (int64_t column = 0; column < y->shape.dim[1]; column++) {
        int64_t marks[3];
        for (int64_t i = 0; i < 3; i++)
            if (!row_of(&m, column + i, &marks[i]))
                return evl_fail(call->ctx, EVAL_ERR_SHAPE,
                                "the frequencies of bin %" PRId64 " are outside the spectrum",
                                column);
        if (marks[0] <= marks[1] && marks[1] <= marks[2])
            put_triangle(&m, column, marks);
    }
    return EVAL_OK;
}

static const evl_impl window_impl = { NULL, run_window };
static const evl_impl mel_impl = { NULL, run_mel };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_blackman = {
    "BlackmanWindow", NULL, 1, 1, 1, 1, 0, 0, infer_window,
    { NULL, NULL }, NULL, &window_impl, 0
};
static const evl_op op_hamming = {
    "HammingWindow", NULL, 1, 1, 1, 1, 0, 0, infer_window,
    { NULL, NULL }, NULL, &window_impl, 0
};
static const evl_op op_hann = {
    "HannWindow", NULL, 1, 1, 1, 1, 0, 0, infer_window,
    { NULL, NULL }, NULL, &window_impl, 0
};
static const evl_op op_mel = {
    "MelWeightMatrix", NULL, 5, 5, 1, 1, 0, 0, infer_mel,
    { NULL, NULL }, NULL, &mel_impl, 0
};
/* clang-format on */

const evl_op *const evl_ops_window[] = { &op_blackman, &op_hamming, &op_hann, &op_mel, NULL };
