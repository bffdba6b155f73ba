/* LSTM, GRU and RNN (ONNX 1 to 22): shape rules and attributes. */
#include "ops/recurrent.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

static size_t gates_of(const evl_op *op)
{
    return op == &evl_op_lstm ? 4 : op == &evl_op_gru ? 3 : 1;
}

/* ONNX's names of activations, and their default parameters. */
static const struct {
    const char *name;
    evl_unary_kind kind;
    evl_number alpha, beta;
} activations[] = {
    { "Relu", EVL_RELU, 0, 0 },
    { "Tanh", EVL_TANH, 0, 0 },
    { "Sigmoid", EVL_SIGMOID, 0, 0 },
    { "Affine", EVL_AFFINE, 1, 0 },
    { "LeakyRelu", EVL_LEAKY_RELU, 0.01, 0 },
    { "ThresholdedRelu", EVL_THRESHOLDED_RELU, 1, 0 },
    { "ScaledTanh", EVL_TANH, 1, 1 },
    { "HardSigmoid", EVL_HARD_SIGMOID, 0.2, 0.5 },
    { "Elu", EVL_ELU, 1, 0 },
    { "Softsign", EVL_SOFTSIGN, 0, 0 },
    { "Softplus", EVL_SOFTPLUS, 0, 0 },
};

static bool takes_alpha(const char *name)
{
    return strcmp(name, "Relu") != 0 && strcmp(name, "Tanh") != 0 && strcmp(name, "Sigmoid") != 0 &&
           strcmp(name, "Softsign") != 0 && strcmp(name, "Softplus") != 0;
}

static bool takes_beta(const char *name)
{
    return strcmp(name, "Affine") == 0 || strcmp(name, "ScaledTanh") == 0 ||
           strcmp(name, "HardSigmoid") == 0;
}

static evl_rnn_activation make_activation(size_t which, evl_number alpha, evl_number beta)
{
    evl_rnn_activation a = { activations[which].kind, { alpha, beta, 0 }, 1, 1 };
    if (a.kind == EVL_AFFINE) /* (x - p0) * p1 + p2 */
        a = (evl_rnn_activation){ EVL_AFFINE, { 0, alpha, beta }, 1, 1 };
    if (strcmp(activations[which].name, "ScaledTanh") == 0)
        a = (evl_rnn_activation){ EVL_TANH, { 0 }, beta, alpha };
    return a;
}

static bool equal_no_case(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if ((*a | 32) != (*b | 32)) /* the names are ASCII letters */
            return false;
    return *a == *b;
}

static EvalStatus find_activation(evl_context *ctx, const char *name, size_t *which)
{
    for (*which = 0; *which < sizeof activations / sizeof activations[0]; ++*which)
        if (equal_no_case(activations[*which].name, name))
            return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "activation '%s'", name);
}

/* The standard's default for RNN names both directions' where there is one: the same twice. */
static bool are_named(const evl_attribute *names, size_t expected)
{
    bool is_twice = names->n == 2 * expected && names->kind == EVL_ATTRIBUTE_TEXTS;
    for (size_t i = 0; i < expected && is_twice; i++)
        is_twice = strcmp(names->u.texts[i].text, names->u.texts[expected + i].text) == 0;
    return names->kind == EVL_ATTRIBUTE_TEXTS && (names->n == expected || is_twice);
}

/* activation_alpha and _beta hold values for those functions that take them, in order. */
static EvalStatus read_activations(evl_context *ctx, const evl_node *node, evl_rnn *rnn)
{
    static const char *const defaults[] = { "Sigmoid", "Tanh", "Tanh" };
    const evl_attribute *names = evl_node_attribute(node, "activations");
    size_t n_each = rnn->n_gates == 4 ? 3 : rnn->n_gates == 3 ? 2 : 1;
    size_t n_alpha, n_beta, at_alpha = 0, at_beta = 0;
    const double *alpha = evl_node_numbers(node, "activation_alpha", &n_alpha);
    const double *beta = evl_node_numbers(node, "activation_beta", &n_beta);
    if (names && !are_named(names, n_each * rnn->n_directions))
        return evl_fail(ctx, EVAL_ERR_FORMAT, "%zu activations, expected %zu", names->n,
                        n_each * rnn->n_directions);
    for (size_t i = 0; i < n_each * rnn->n_directions; i++) {
        const char *name = names              ? names->u.texts[i].text
                           : rnn->n_gates == 1 ? "Tanh"
                                               : defaults[i % n_each];
        size_t which;
        EvalStatus st = find_activation(ctx, name, &which);
        if (st != EVAL_OK)
            return st;
        evl_number a = activations[which].alpha, b = activations[which].beta;
        if (takes_alpha(activations[which].name) && at_alpha < n_alpha)
            a = alpha[at_alpha++];
        if (takes_beta(activations[which].name) && at_beta < n_beta)
            b = beta[at_beta++];
        rnn->activations[i / n_each][i % n_each] = make_activation(which, a, b);
    }
    return EVAL_OK;
}

static EvalStatus read_direction(evl_context *ctx, const evl_node *node, evl_rnn *rnn)
{
    static const char *const names[] = { "forward", "reverse", "bidirectional" };
    const char *name = evl_node_text(node, "direction", "forward");
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], name) == 0) {
            rnn->direction = i;
            rnn->n_directions = i == EVL_RNN_BIDIRECTIONAL ? 2 : 1;
            return EVAL_OK;
        }
    return evl_fail(ctx, EVAL_ERR_FORMAT,
                    "direction '%s', expected forward, reverse or bidirectional", name);
}

static EvalStatus read_attributes(evl_context *ctx, const evl_node *node, evl_rnn *rnn)
{
    *rnn = (evl_rnn){ .n_gates = gates_of(node->op) };
    rnn->is_batch_first = evl_node_int(node, "layout", 0) != 0;
    rnn->is_coupled = evl_node_int(node, "input_forget", 0) != 0;
    rnn->is_reset_after = evl_node_int(node, "linear_before_reset", 0) != 0;
    const evl_attribute *clip = evl_node_attribute(node, "clip");
    rnn->has_clip = clip && clip->kind == EVL_ATTRIBUTE_NUMBER;
    rnn->clip = rnn->has_clip ? clip->u.number : 0;
    int64_t layout = evl_node_int(node, "layout", 0);
    EvalStatus st = read_direction(ctx, node, rnn);
    if (st == EVAL_OK && layout != 0 && layout != 1)
        st = evl_fail(ctx, EVAL_ERR_FORMAT, "layout is %lld, expected 0 or 1", (long long)layout);
    return st == EVAL_OK ? read_activations(ctx, node, rnn) : st;
}

/* One operand's shape against what it must be; unknown sizes pass. */
static EvalStatus check_operand(evl_context *ctx, const evl_use *use, size_t input,
                                const char *name, size_t rank, const int64_t *expected)
{
    char text[EVL_SHAPE_TEXT], text_expected[EVL_SHAPE_TEXT];
    const evl_tensor *t = evl_use_in(use, input);
    evl_shape wanted = evl_shape_of(rank, expected);
    if (!t || t->shape.rank < 0)
        return EVAL_OK;
    bool fits = t->shape.rank == (int32_t)rank;
    for (size_t i = 0; i < rank && fits; i++)
        fits = t->shape.dim[i] < 0 || expected[i] < 0 || t->shape.dim[i] == expected[i];
    if (fits)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has shape %s, expected %s", name,
                    evl_shape_text(&t->shape, text), evl_shape_text(&wanted, text_expected));
}

static int64_t dim_of(const evl_use *use, size_t input, int32_t axis)
{
    const evl_tensor *t = evl_use_in(use, input);
    return t && axis < t->shape.rank ? t->shape.dim[axis] : EVL_UNKNOWN_DIM;
}

typedef struct sizes {
    int64_t steps, batch, input, hidden;
} sizes;

static sizes sizes_of(const evl_use *use, const evl_rnn *rnn)
{
    sizes s = { dim_of(use, EVL_RNN_X, rnn->is_batch_first ? 1 : 0),
                dim_of(use, EVL_RNN_X, rnn->is_batch_first ? 0 : 1), dim_of(use, EVL_RNN_X, 2),
                dim_of(use, EVL_RNN_R, 2) };
    if (s.hidden < 0)
        s.hidden = evl_node_int(use->node, "hidden_size", EVL_UNKNOWN_DIM);
    return s;
}

static EvalStatus check_operands(evl_context *ctx, const evl_use *use, const evl_rnn *rnn,
                                 const sizes *s)
{
    int64_t d = (int64_t)rnn->n_directions, g = (int64_t)rnn->n_gates, h = s->hidden;
    int64_t gh = h < 0 ? -1 : g * h, bias = h < 0 ? -1 : 2 * g * h, holes = h < 0 ? -1 : 3 * h;
    const int64_t x[] = { -1, -1, -1 }, w[] = { d, gh, s->input }, r[] = { d, gh, h },
                  b[] = { d, bias }, n[] = { s->batch }, p[] = { d, holes };
    const int64_t state[] = { rnn->is_batch_first ? s->batch : d,
                              rnn->is_batch_first ? d : s->batch, h };
    const struct {
        size_t input, rank;
        const char *name;
        const int64_t *shape;
    } wanted[] = {
        { EVL_RNN_X, 3, "X", x },
        { EVL_RNN_W, 3, "W", w },
        { EVL_RNN_R, 3, "R", r },
        { EVL_RNN_B, 2, "B", b },
        { EVL_RNN_LENGTHS, 1, "sequence_lens", n },
        { EVL_RNN_H, 3, "initial_h", state },
        { EVL_RNN_C, 3, "initial_c", state },
        { EVL_RNN_P, 2, "P", p },
    };
    int64_t told = evl_node_int(use->node, "hidden_size", h);
    if (h > INT32_MAX)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "hidden size %lld", (long long)h);
    if (h >= 0 && told != h)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "hidden_size is %lld, and R's last dimension %lld",
                        (long long)told, (long long)h);
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && st == EVAL_OK; i++)
        st = check_operand(ctx, use, wanted[i].input, wanted[i].name, wanted[i].rank,
                           wanted[i].shape);
    return st;
}

static EvalStatus infer(evl_infer *infer)
{
    evl_rnn rnn;
    EvalStatus st = read_attributes(infer->ctx, infer->use.node, &rnn);
    if (st != EVAL_OK)
        return st;
    sizes s = sizes_of(&infer->use, &rnn);
    st = check_operands(infer->ctx, &infer->use, &rnn, &s);
    for (size_t i = EVL_RNN_X; i <= EVL_RNN_P && st == EVAL_OK; i++)
        if (i != EVL_RNN_LENGTHS)
            st = evl_infer_takes(infer, i, EVL_TAKES_REALS);
    if (st != EVAL_OK)
        return st;
    int64_t d = (int64_t)rnn.n_directions;
    const int64_t y[2][4] = { { s.steps, d, s.batch, s.hidden }, { s.batch, s.steps, d, s.hidden } };
    const int64_t last[2][3] = { { d, s.batch, s.hidden }, { s.batch, d, s.hidden } };
    for (size_t i = 0; i < infer->n_out; i++) {
        infer->out[i].type = infer->use.in[EVL_RNN_X]->type;
        infer->out[i].shape = i == 0 ? evl_shape_of(4, y[rnn.is_batch_first])
                                     : evl_shape_of(3, last[rnn.is_batch_first]);
    }
    return EVAL_OK;
}

EvalStatus evl_rnn_of(evl_context *ctx, const evl_use *use, evl_rnn *rnn)
{
    EvalStatus st = read_attributes(ctx, use->node, rnn);
    sizes s = sizes_of(use, rnn);
    rnn->n_steps = (size_t)s.steps;
    rnn->n_batch = (size_t)s.batch;
    rnn->n_input = (size_t)s.input;
    rnn->n_hidden = (size_t)s.hidden;
    return st;
}

extern const evl_impl evl_recurrent_f, evl_recurrent_d;

const evl_op evl_op_lstm = { .name = "LSTM", .min_inputs = 3, .max_inputs = 8, .min_outputs = 0,
                             .max_outputs = 3, .infer = infer,
                             .real = { &evl_recurrent_f, &evl_recurrent_d } };
const evl_op evl_op_gru = { .name = "GRU", .min_inputs = 3, .max_inputs = 6, .min_outputs = 0,
                            .max_outputs = 2, .infer = infer,
                            .real = { &evl_recurrent_f, &evl_recurrent_d } };
const evl_op evl_op_rnn = { .name = "RNN", .min_inputs = 3, .max_inputs = 6, .min_outputs = 0,
                            .max_outputs = 2, .infer = infer,
                            .real = { &evl_recurrent_f, &evl_recurrent_d } };

const evl_op *const evl_ops_recurrent[] = { &evl_op_lstm, &evl_op_gru, &evl_op_rnn, NULL };
