/* LinearAttention against the recurrence written out, for each of its rules. */
#include "ops/op_case.h"

enum { SAMPLES = 2, HEADS = 2, GROUP = 3, ROWS = 4, SIZE = 5, SIZE_V = 6, WIDE = HEADS * GROUP };
static double q[SAMPLES * ROWS * WIDE * SIZE], k[SAMPLES * ROWS * HEADS * SIZE],
    v[SAMPLES * ROWS * HEADS * SIZE_V], past[SAMPLES * HEADS * SIZE * SIZE_V],
    decay[SAMPLES * ROWS * HEADS * SIZE], beta[SAMPLES * ROWS * HEADS],
    y[SAMPLES * ROWS * WIDE * SIZE_V], state_after[SAMPLES * HEADS * SIZE * SIZE_V];

typedef struct rule {
    const char *name;
    bool gated, delta, each, one; /* a decay for each element of a head; one beta for all heads */
} rule;

static void fill(double *x, size_t n, double least, double most)
{
    uint64_t seed = n;
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(float)evl_test_random(&seed, least, most);
}

static void one_row(const rule *r, size_t t, size_t h, double (*s)[SIZE_V])
{
    const double *key = k + (t * HEADS + h) * SIZE, *value = v + (t * HEADS + h) * SIZE_V;
    double written[SIZE_V];
    for (size_t d = 0; d < SIZE && r->gated; d++)
        for (size_t m = 0; m < SIZE_V; m++)
            s[d][m] *= exp(r->each ? decay[(t * HEADS + h) * SIZE + d] : decay[t * HEADS + h]);
    for (size_t m = 0; m < SIZE_V; m++) {
        double there = 0;
        for (size_t d = 0; d < SIZE; d++)
            there += s[d][m] * key[d];
        written[m] = r->delta ? beta[r->one ? t : t * HEADS + h] * (value[m] - there) : value[m];
    }
    for (size_t d = 0; d < SIZE; d++)
        for (size_t m = 0; m < SIZE_V; m++)
            s[d][m] += key[d] * written[m];
    for (size_t g = 0; g < GROUP; g++)
        for (size_t m = 0; m < SIZE_V; m++) {
            size_t head = t * WIDE + h * GROUP + g;
            y[head * SIZE_V + m] = 0;
            for (size_t d = 0; d < SIZE; d++)
                y[head * SIZE_V + m] += q[head * SIZE + d] * s[d][m] / sqrt(SIZE);
        }
}

static void check_rule(const rule *r, bool has_past)
{
    double s[SIZE][SIZE_V];
    for (size_t i = 0; i < SAMPLES * HEADS; i++) {
        memset(s, 0, sizeof s);
        if (has_past)
            memcpy(s, past + i * SIZE * SIZE_V, sizeof s);
        for (size_t t = 0; t < ROWS; t++)
            one_row(r, i / HEADS * ROWS + t, i % HEADS, s);
        memcpy(state_after + i * SIZE * SIZE_V, s, sizeof s);
    }
    if (!has_past)
        memset(past, 0, sizeof past);
    const int64_t dims_q[] = { SAMPLES, ROWS, WIDE * SIZE }, dims_k[] = { SAMPLES, ROWS, HEADS * SIZE },
                  dims_v[] = { SAMPLES, ROWS, HEADS * SIZE_V }, dims_y[] = { SAMPLES, ROWS, WIDE * SIZE_V },
                  dims_s[] = { SAMPLES, HEADS, SIZE, SIZE_V },
                  dims_b[] = { SAMPLES, ROWS, r->one ? 1 : HEADS }, dims_h[] = { SAMPLES, ROWS, HEADS };
    evl_op_run run = { .op = evl_op_find(NULL, "LinearAttention"), .n_in = 6, .n_out = 2 };
    const evl_attribute attributes[] = { evl_attribute_text("update_rule", r->name),
                                         evl_attribute_int("q_num_heads", WIDE),
                                         evl_attribute_int("kv_num_heads", HEADS) };
    run.attributes = attributes;
    run.n_attributes = 3;
    run.in[0] = evl_test_reals(q, 3, dims_q);
    run.in[1] = evl_test_reals(k, 3, dims_k);
    run.in[2] = evl_test_reals(v, 3, dims_v);
    run.in[3] = evl_test_reals(past, 4, dims_s);
    if (r->gated)
        run.in[4] = evl_test_reals(decay, 3, r->each ? dims_k : dims_h);
    if (r->delta)
        run.in[5] = evl_test_reals(beta, 3, dims_b);
    for (int way = 0; way < 4; way++) {
        evl_context *ctx = evl_test_begin();
        evl_op_run one = run;
        op_case texts = { .op = r->name };
        evl_precision precision = way & 1 ? EVL_DOUBLE : EVL_FLOAT;
        evl_tensor right[2] = { evl_test_reals(y, 3, dims_y), evl_test_reals(state_after, 4, dims_s) };
        one.threads = way & 2;
        assert_int_equal(evl_run_op(ctx, &one, precision, evl_cpu_features()), EVAL_OK);
        for (int i = 0; i < 2; i++)
            assert_tensor(&texts, &one.out[i], &right[i], precision);
        evl_run_op_end(&one);
        evl_test_end(ctx);
    }
}

static void each_rule_is_its_recurrence(void **state)
{
    const rule rules[] = { { "linear", false, false, false, false },
                           { "gated", true, false, true, false },
                           { "gated", true, false, false, false },
                           { "delta", false, true, false, false },
                           { "gated_delta", true, true, true, true } };
    (void)state;
    fill(q, sizeof q / sizeof *q, -1, 1);
    fill(k, sizeof k / sizeof *k, -1, 1);
    fill(v, sizeof v / sizeof *v, -1, 1);
    fill(decay, sizeof decay / sizeof *decay, -1, 0);
    fill(beta, sizeof beta / sizeof *beta, 0, 1);
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        fill(past, sizeof past / sizeof *past, -1, 1);
        check_rule(&rules[i], true);
        check_rule(&rules[i], false);
    }
}

static void what_a_rule_does_not_have_is_refused(void **state)
{
    const int64_t dims[] = { 1, 1, 2 };
    const double x[] = { 1, 2 };
    const evl_tensor t = evl_test_reals(x, 3, dims);
    const op_case cases[] = {
        { .op = "LinearAttention",
          .attributes = { evl_attribute_int("q_num_heads", 1), evl_attribute_int("kv_num_heads", 1) },
          .in = { t, t, t }, .out = { t }, .status = EVAL_ERR_FORMAT },
        { .op = "LinearAttention",
          .attributes = { evl_attribute_text("update_rule", "linear"),
                          evl_attribute_int("q_num_heads", 3), evl_attribute_int("kv_num_heads", 2) },
          .in = { t, t, t }, .out = { t }, .status = EVAL_ERR_SHAPE },
        { .op = "LinearAttention",
          .attributes = { evl_attribute_text("update_rule", "other"),
                          evl_attribute_int("q_num_heads", 1), evl_attribute_int("kv_num_heads", 1) },
          .in = { t, t, t }, .out = { t }, .status = EVAL_ERR_UNSUPPORTED },
    };
    (void)state;
    check_cases(cases, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_is_its_recurrence),
        cmocka_unit_test(what_a_rule_does_not_have_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
