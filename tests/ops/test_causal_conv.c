/* CausalConvWithState: one long call gives what several short ones give. */
#include "ops/op_case.h"

enum { SAMPLES = 2, CHANNELS = 3, N = 7, K = 4, LINES = SAMPLES * CHANNELS };

static void fill(size_t n, double *x)
{
    uint64_t seed = n;
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(float)evl_test_random(&seed, -1, 1);
}

/* The last n of the elements are the input's, those before are the state. */
static void check_call(size_t n, bool has_bias, bool is_silu)
{
    double all[LINES][K - 1 + N], x[LINES * N], past[LINES * (K - 1)], w[CHANNELS * K], b[CHANNELS];
    double y[LINES * N], kept[LINES * (K - 1)];
    fill(sizeof all / sizeof(double), all[0]);
    fill(CHANNELS * K, w);
    fill(CHANNELS, b);
    for (size_t i = 0; i < LINES; i++) {
        memcpy(past + i * (K - 1), all[i], (K - 1) * sizeof(double));
        memcpy(x + i * n, all[i] + K - 1, n * sizeof(double));
        memcpy(kept + i * (K - 1), all[i] + n, (K - 1) * sizeof(double));
        for (size_t t = 0; t < n; t++) {
            double sum = has_bias ? b[i % CHANNELS] : 0;
            for (size_t j = 0; j < K; j++)
                sum += w[i % CHANNELS * K + j] * all[i][t + j];
            y[i * n + t] = is_silu ? sum / (1 + exp(-sum)) : sum;
        }
    }
    const int64_t dims[] = { SAMPLES, CHANNELS, (int64_t)n }, state[] = { SAMPLES, CHANNELS, K - 1 },
                  weight[] = { CHANNELS, 1, K }, channels = CHANNELS;
    const op_case c = { .op = "CausalConvWithState",
                        .attributes = { evl_attribute_text("activation", is_silu ? "silu" : "none") },
                        .in = { evl_test_reals(x, 3, dims), evl_test_reals(w, 3, weight),
                                evl_test_reals(b, 1, &channels), evl_test_reals(past, 3, state) },
                        .out = { evl_test_reals(y, 3, dims), evl_test_reals(kept, 3, state) } };
    static const double no_bias[CHANNELS] = { 0 };
    op_case bare = c;
    if (!has_bias)
        bare.in[2] = evl_test_reals(no_bias, 1, &channels);
    check_case(has_bias ? &c : &bare);
}

static void each_length_goes_on_from_the_state(void **state)
{
    (void)state;
    for (size_t n = 0; n <= N; n++)
        for (int way = 0; way < 4; way++)
            check_call(n, way & 1, way & 2);
}

static void without_a_state_zeros_come_before(void **state)
{
    const double x[] = { 1, 2, 3 }, w[] = { 10, 1 }, y[] = { 1, 12, 23 }, kept = 3;
    const int64_t dims[] = { 1, 1, 3 }, k[] = { 1, 1, 2 }, one[] = { 1, 1, 1 };
    const op_case c = { .op = "CausalConvWithState",
                        .in = { evl_test_reals(x, 3, dims), evl_test_reals(w, 3, k) },
                        .out = { evl_test_reals(y, 3, dims), evl_test_reals(&kept, 3, one) } };
    op_case wrong = c;
    (void)state;
    check_case(&c);
    wrong.attributes[0] = evl_attribute_text("activation", "relu");
    wrong.status = EVAL_ERR_UNSUPPORTED;
    check_case(&wrong);
    wrong.in[1] = evl_test_reals(w, 3, (const int64_t[]){ 2, 1, 1 });
    wrong.status = EVAL_ERR_SHAPE;
    check_case(&wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_length_goes_on_from_the_state),
        cmocka_unit_test(without_a_state_zeros_come_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
