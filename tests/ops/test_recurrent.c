/* LSTM, GRU and RNN against ONNX's equations written out one scalar at a time. */
#include "ops/ops.h"
#include "support/run_op.h"
#include <math.h>
#include <string.h>

enum { STEPS = 5, BATCH = 3, INPUT = 4, HIDDEN = 7, MOST = 2 * 4 * HIDDEN * (HIDDEN + INPUT) };

/* Operands of one case, for both directions. */
typedef struct net {
    const evl_op *op;
    size_t gates, directions;
    int reverse, batch_first, reset_after, coupled;
    double x[STEPS * BATCH * INPUT], w[MOST], r[MOST], b[2 * 8 * HIDDEN], h[2 * BATCH * HIDDEN],
        c[2 * BATCH * HIDDEN], p[2 * 3 * HIDDEN];
    int32_t lengths[BATCH];
    double y[STEPS * 2 * BATCH * HIDDEN], y_h[2 * BATCH * HIDDEN], y_c[2 * BATCH * HIDDEN];
} net;

static void fill(uint64_t *seed, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = evl_test_random(seed, -1, 1);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Gate g of unit j before its activation, without the hidden state's part when !with_h. */
static double gate(const net *n, size_t d, const double *x, const double *h, size_t g, size_t j,
                   int with_x, int with_h)
{
    size_t row = (d * n->gates + g) * HIDDEN + j, biases = d * 2 * n->gates * HIDDEN;
    double sum = 0;
    for (size_t i = 0; i < INPUT && with_x; i++)
        sum += n->w[row * INPUT + i] * x[i];
    for (size_t i = 0; i < HIDDEN && with_h; i++)
        sum += n->r[row * HIDDEN + i] * h[i];
    if (with_x)
        sum += n->b[biases + g * HIDDEN + j];
    if (with_h)
        sum += n->b[biases + (n->gates + g) * HIDDEN + j];
    return sum;
}

static void slow_lstm(const net *n, size_t d, const double *x, double *h, double *c)
{
    double next[HIDDEN];
    const double *p = n->p + d * 3 * HIDDEN;
    for (size_t j = 0; j < HIDDEN; j++) {
        double i = sigmoid(gate(n, d, x, h, 0, j, 1, 1) + p[j] * c[j]);
        double f = n->coupled ? 1 - i
                              : sigmoid(gate(n, d, x, h, 2, j, 1, 1) + p[2 * HIDDEN + j] * c[j]);
        double cell = f * c[j] + i * tanh(gate(n, d, x, h, 3, j, 1, 1));
        next[j] = sigmoid(gate(n, d, x, h, 1, j, 1, 1) + p[HIDDEN + j] * cell) * tanh(cell);
        c[j] = cell;
    }
    memcpy(h, next, sizeof next);
}

static void slow_gru(const net *n, size_t d, const double *x, double *h)
{
    double next[HIDDEN], reset[HIDDEN], scaled[HIDDEN];
    for (size_t j = 0; j < HIDDEN; j++) {
        reset[j] = sigmoid(gate(n, d, x, h, 1, j, 1, 1));
        scaled[j] = reset[j] * h[j];
    }
    for (size_t j = 0; j < HIDDEN; j++) {
        double z = sigmoid(gate(n, d, x, h, 0, j, 1, 1));
        double a = n->reset_after ? gate(n, d, x, h, 2, j, 1, 0) +
                                        reset[j] * gate(n, d, x, h, 2, j, 0, 1)
                                  : gate(n, d, x, scaled, 2, j, 1, 1);
        next[j] = (1 - z) * tanh(a) + z * h[j];
    }
    memcpy(h, next, sizeof next);
}

static void slow_rnn(const net *n, size_t d, const double *x, double *h)
{
    double next[HIDDEN];
    for (size_t j = 0; j < HIDDEN; j++)
        next[j] = tanh(gate(n, d, x, h, 0, j, 1, 1));
    memcpy(h, next, sizeof next);
}

static size_t state_at(const net *n, size_t d, size_t b)
{
    return (n->batch_first ? b * n->directions + d : d * BATCH + b) * HIDDEN;
}

static void slow_sequence(net *n, size_t d, size_t b)
{
    double h[HIDDEN], c[HIDDEN];
    memcpy(h, n->h + state_at(n, d, b), sizeof h);
    memcpy(c, n->c + state_at(n, d, b), sizeof c);
    for (size_t s = 0; s < (size_t)n->lengths[b]; s++) {
        size_t t = (n->directions == 1 && n->reverse) || d == 1 ? (size_t)n->lengths[b] - 1 - s : s;
        const double *x = n->x + (n->batch_first ? b * STEPS + t : t * BATCH + b) * INPUT;
        if (n->gates == 4)
            slow_lstm(n, d, x, h, c);
        else if (n->gates == 3)
            slow_gru(n, d, x, h);
        else
            slow_rnn(n, d, x, h);
        size_t row = n->batch_first ? (b * STEPS + t) * n->directions + d
                                    : (t * n->directions + d) * BATCH + b;
        memcpy(n->y + row * HIDDEN, h, sizeof h);
    }
    if (n->lengths[b] == 0)
        return; /* of no steps the last state is 0 */
    memcpy(n->y_h + state_at(n, d, b), h, sizeof h);
    memcpy(n->y_c + state_at(n, d, b), c, sizeof c);
}

static void expect(const double *expected, const evl_tensor *t, double tolerance)
{
    for (size_t i = 0; i < evl_shape_count(&t->shape); i++)
        if (!(fabs(expected[i] - ((double *)t->data)[i]) <= tolerance))
            fail_msg("element %zu: %g, expected %g", i, ((double *)t->data)[i], expected[i]);
}

static evl_tensor tensor(const double *data, size_t rank, size_t a, size_t b, size_t c)
{
    return evl_test_reals(data, rank, (int64_t[]){ (int64_t)a, (int64_t)b, (int64_t)c });
}

static void check(net n, evl_precision precision, bool hide)
{
    static const char *const directions[] = { "forward", "reverse", "bidirectional" };
    uint64_t seed = 12345;
    evl_context *ctx = evl_test_begin();
    size_t d = n.directions, gh = n.gates * HIDDEN;
    fill(&seed, STEPS * BATCH * INPUT, n.x);
    fill(&seed, d * gh * INPUT, n.w);
    fill(&seed, d * gh * HIDDEN, n.r);
    fill(&seed, d * 2 * gh, n.b);
    fill(&seed, d * BATCH * HIDDEN, n.h);
    fill(&seed, d * BATCH * HIDDEN, n.c);
    fill(&seed, d * 3 * HIDDEN, n.p);
    for (size_t i = 0; i < d; i++)
        for (size_t b = 0; b < BATCH; b++)
            slow_sequence(&n, i, b);
    evl_attribute attributes[] = {
        evl_attribute_text("direction", directions[d == 2 ? 2 : n.reverse]),
        evl_attribute_int("layout", n.batch_first),
        evl_attribute_int("linear_before_reset", n.reset_after),
        evl_attribute_int("input_forget", n.coupled),
        evl_attribute_int("hidden_size", HIDDEN),
    };
    evl_op_run run = { .op = n.op, .attributes = attributes, .n_attributes = 5,
                       .n_in = n.gates == 4 ? 8 : 6, .n_out = n.gates == 4 ? 3 : 2,
                       .hide_data = hide, .threads = 2 };
    size_t first = n.batch_first ? BATCH : d, second = n.batch_first ? d : BATCH;
    run.in[0] = n.batch_first ? tensor(n.x, 3, BATCH, STEPS, INPUT)
                              : tensor(n.x, 3, STEPS, BATCH, INPUT);
    run.in[1] = tensor(n.w, 3, d, gh, INPUT);
    run.in[2] = tensor(n.r, 3, d, gh, HIDDEN);
    run.in[3] = tensor(n.b, 2, d, 2 * gh, 0);
    run.in[4] = evl_test_tensor(EVAL_INT32, n.lengths, 1, (int64_t[]){ BATCH });
    run.in[5] = tensor(n.h, 3, first, second, HIDDEN);
    run.in[6] = tensor(n.c, 3, first, second, HIDDEN);
    run.in[7] = tensor(n.p, 2, d, 3 * HIDDEN, 0);
    if (evl_run_op(ctx, &run, precision, ~0u & evl_cpu_features()) != EVAL_OK)
        fail_msg("%s", ctx->error.text);
    double tolerance = precision == EVL_DOUBLE ? 1e-13 : 2e-6;
    expect(n.y, &run.out[0], tolerance);
    expect(n.y_h, &run.out[1], tolerance);
    if (n.gates == 4)
        expect(n.y_c, &run.out[2], tolerance);
    evl_run_op_end(&run);
    evl_test_end(ctx);
}

static void check_all(net n)
{
    const int32_t whole[] = { STEPS, STEPS, STEPS }, ragged[] = { 2, STEPS, 0 };
    for (int variant = 0; variant < 16; variant++) {
        net v = n;
        v.directions = variant & 1 ? 2 : 1;
        v.reverse = variant >> 1 & 1;
        v.batch_first = variant >> 2 & 1;
        memcpy(v.lengths, variant & 8 ? ragged : whole, sizeof whole);
        check(v, EVL_FLOAT, false);
        check(v, EVL_DOUBLE, variant & 1);
    }
}

static void an_lstm_follows_its_equations(void **state)
{
    (void)state;
    check_all((net){ .op = &evl_op_lstm, .gates = 4 });
}

static void an_lstm_may_couple_its_gates(void **state)
{
    (void)state;
    check_all((net){ .op = &evl_op_lstm, .gates = 4, .coupled = 1 });
}

static void a_gru_resets_before_or_after(void **state)
{
    (void)state;
    check_all((net){ .op = &evl_op_gru, .gates = 3 });
    check_all((net){ .op = &evl_op_gru, .gates = 3, .reset_after = 1 });
}

static void an_rnn_follows_its_equation(void **state)
{
    (void)state;
    check_all((net){ .op = &evl_op_rnn, .gates = 1 });
}

/* One unit that adds up its input: Affine with alpha 2 and beta 1, clipped at 3. */
static void activations_take_parameters_and_clip(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const double x[] = { 1, 1, 100 }, one[] = { 1 }, zero[] = { 0 };
    const EvalString names[] = { { "affine", 6 } };
    const double alpha[] = { 2 }, beta[] = { 1 };
    evl_attribute attributes[] = {
        { .name = "activations", .kind = EVL_ATTRIBUTE_TEXTS, .n = 1, .u.texts = names },
        evl_attribute_numbers("activation_alpha", alpha, 1),
        evl_attribute_numbers("activation_beta", beta, 1),
        evl_attribute_number("clip", 3),
    };
    evl_op_run run = { .op = &evl_op_rnn, .attributes = attributes, .n_attributes = 4, .n_in = 3 };
    run.in[0] = tensor(x, 3, 3, 1, 1);
    run.in[1] = tensor(one, 3, 1, 1, 1);
    run.in[2] = tensor(zero, 3, 1, 1, 1);
    if (evl_run_op(ctx, &run, EVL_DOUBLE, 0) != EVAL_OK)
        fail_msg("%s", ctx->error.text);
    expect(((const double[]){ 3, 3, 7 }), &run.out[0], 0);
    evl_run_op_end(&run);
    evl_test_end(ctx);
}

/* Gates that are always open, so that the cell is the sum of the input: 3 tanh(c / 2). */
static void an_lstms_last_activation_has_both_parameters(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const double x[] = { 1, 1, 2 }, w[] = { 0, 0, 0, 1 }, zeros[4] = { 0 };
    const EvalString names[] = { { "Affine", 6 }, { "Affine", 6 }, { "ScaledTanh", 10 } };
    const double alpha[] = { 0, 1, 3 }, beta[] = { 1, 0, 0.5 };
    evl_attribute attributes[] = {
        { .name = "activations", .kind = EVL_ATTRIBUTE_TEXTS, .n = 3, .u.texts = names },
        evl_attribute_numbers("activation_alpha", alpha, 3),
        evl_attribute_numbers("activation_beta", beta, 3),
    };
    evl_op_run run = { .op = &evl_op_lstm, .attributes = attributes, .n_attributes = 3, .n_in = 3 };
    run.in[0] = tensor(x, 3, 3, 1, 1);
    run.in[1] = tensor(w, 3, 1, 4, 1);
    run.in[2] = tensor(zeros, 3, 1, 4, 1);
    if (evl_run_op(ctx, &run, EVL_DOUBLE, 0) != EVAL_OK)
        fail_msg("%s", ctx->error.text);
    expect(((const double[]){ 3 * tanh(0.5), 3 * tanh(1), 3 * tanh(2) }), &run.out[0], 1e-14);
    evl_run_op_end(&run);
    evl_test_end(ctx);
}

static void one_direction_may_name_the_same_activations_for_both(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const double x[] = { -1, 1, 2 }, one[] = { 1 }, zero[] = { 0 };
    EvalString names[] = { { "Relu", 4 }, { "Relu", 4 } };
    const evl_attribute activations = { .name = "activations", .kind = EVL_ATTRIBUTE_TEXTS, .n = 2, .u.texts = names };
    evl_op_run run = { .op = &evl_op_rnn, .attributes = &activations, .n_attributes = 1, .n_in = 3 };
    run.in[0] = tensor(x, 3, 3, 1, 1);
    run.in[1] = tensor(one, 3, 1, 1, 1);
    run.in[2] = tensor(zero, 3, 1, 1, 1);
    assert_int_equal(evl_run_op(ctx, &run, EVL_DOUBLE, 0), EVAL_OK);
    expect(((const double[]){ 0, 1, 2 }), &run.out[0], 0);
    evl_run_op_end(&run);
    names[1] = (EvalString){ "Tanh", 4 };
    assert_int_equal(evl_run_op(ctx, &run, EVL_DOUBLE, 0), EVAL_ERR_FORMAT);
    evl_run_op_end(&run);
    evl_test_end(ctx);
}

static void operands_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const double zeros[64] = { 0 };
    evl_op_run run = { .op = &evl_op_lstm, .n_in = 3 };
    run.in[0] = tensor(zeros, 3, 2, 1, 3);
    run.in[1] = tensor(zeros, 3, 1, 8, 3);
    run.in[2] = tensor(zeros, 3, 1, 8, 3);
    assert_int_equal(evl_run_op(ctx, &run, EVL_FLOAT, 0), EVAL_ERR_SHAPE);
    assert_non_null(strstr(ctx->error.text, "expected [1,12,3]"));
    evl_run_op_end(&run);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_lstm_follows_its_equations),
        cmocka_unit_test(an_lstm_may_couple_its_gates),
        cmocka_unit_test(a_gru_resets_before_or_after),
        cmocka_unit_test(an_rnn_follows_its_equation),
        cmocka_unit_test(activations_take_parameters_and_clip),
        cmocka_unit_test(one_direction_may_name_the_same_activations_for_both),
        cmocka_unit_test(an_lstms_last_activation_has_both_parameters),
        cmocka_unit_test(operands_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
