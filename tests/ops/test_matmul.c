/* MatMul and Gemm against slow obvious loops, in both precisions and on every set. */
#include "ops/ops.h"
#include "support/run_op.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 7;

static void fill(size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(float)evl_test_random(&seed, -1, 1);
}

static void assert_near(double found, double expected, evl_precision precision)
{
    double most = precision == EVL_DOUBLE ? 1e-12 : 2e-5;
    if (!(fabs(found - expected) <= most * (1 + fabs(expected))))
        fail_msg("%g, expected %g", found, expected);
}

typedef struct sizes {
    int64_t a_batch, b_batch, m, k, n;
} sizes;

static double wanted_at(const sizes *s, const double *a, const double *b, int64_t index)
{
    int64_t j = index % s->n, i = index / s->n % s->m, q = index / s->n / s->m;
    double sum = 0;
    for (int64_t p = 0; p < s->k; p++)
        sum +=
            a[(q % s->a_batch * s->m + i) * s->k + p] * b[(q % s->b_batch * s->k + p) * s->n + j];
    return sum;
}

static void check_matmul(const sizes *s, evl_precision precision, unsigned cpu, bool hide)
{
    evl_context *ctx = evl_test_begin();
    int64_t batch = s->a_batch == 1 ? s->b_batch : s->a_batch;
    int64_t a_dims[] = { s->a_batch, s->m, s->k }, b_dims[] = { s->b_batch, s->k, s->n };
    size_t n_a = (size_t)(s->a_batch * s->m * s->k), n_b = (size_t)(s->b_batch * s->k * s->n);
    double *a = calloc(n_a + 1, sizeof *a), *b = calloc(n_b + 1, sizeof *b);
    fill(n_a, a);
    fill(n_b, b);
    evl_op_run r = { .op = &evl_op_matmul, .n_in = 2, .hide_data = hide };
    r.in[0] = evl_test_reals(a, 3, a_dims);
    r.in[1] = evl_test_reals(b, s->b_batch == 1 ? 2 : 3, b_dims + (s->b_batch == 1));
    assert_int_equal(evl_run_op(ctx, &r, precision, cpu), EVAL_OK);
    assert_int_equal(evl_shape_count(&r.out[0].shape), batch * s->m * s->n);
    for (int64_t i = 0; i < batch * s->m * s->n; i++)
        assert_near(((double *)r.out[0].data)[i], wanted_at(s, a, b, i), precision);
    evl_run_op_end(&r);
    free(a);
    free(b);
    evl_test_end(ctx);
}

static void a_product_is_the_sum_of_products(void **state)
{
    (void)state;
    static const sizes all[] = {
        { 1, 1, 1, 1, 1 },  { 1, 1, 1, 784, 200 }, { 2, 1, 3, 5, 7 },   { 1, 1, 64, 50, 33 },
        { 3, 3, 5, 16, 9 }, { 1, 4, 7, 8, 17 },    { 2, 1, 40, 60, 1 }, { 1, 1, 100, 400, 130 },
        { 0, 1, 3, 4, 5 },  { 1, 1, 0, 4, 5 },     { 1, 1, 3, 0, 5 },   { 40, 40, 12, 12, 12 },
    };
    static const unsigned cpus[] = { 0, EVL_CPU_AVX2, ~0u };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int way = 0; way < 12; way++)
            check_matmul(&all[i], way & 1 ? EVL_DOUBLE : EVL_FLOAT,
                         cpus[way / 4] & evl_cpu_features(), way & 2);
}

static void vectors_lose_their_dimension(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const double a[] = { 1, 2, 3 }, b[] = { 4, 5, 6, 7, 8, 9 };
    const int64_t three[] = { 3 }, three_two[] = { 3, 2 };
    evl_op_run r = { .op = &evl_op_matmul, .n_in = 2 };
    r.in[0] = evl_test_reals(a, 1, three);
    r.in[1] = evl_test_reals(b, 2, three_two);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_int_equal(r.out[0].shape.rank, 1);
    assert_true(((double *)r.out[0].data)[0] == 40 && ((double *)r.out[0].data)[1] == 46);
    evl_run_op_end(&r);
    r.in[1] = r.in[0];
    assert_int_equal(evl_run_op(ctx, &r, EVL_DOUBLE, 0), EVAL_OK);
    assert_int_equal(r.out[0].shape.rank, 0);
    assert_true(((double *)r.out[0].data)[0] == 14);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

/* The answer on so many threads. */
static void *bits_of(evl_context *ctx, evl_op_run *r, size_t threads, evl_precision precision)
{
    r->threads = threads;
    assert_int_equal(evl_run_op(ctx, r, precision, evl_cpu_features()), EVAL_OK);
    size_t bytes = evl_shape_count(&r->out[0].shape) * sizeof(double);
    void *copy = malloc(bytes);
    memcpy(copy, r->out[0].data, bytes);
    evl_run_op_end(r);
    return copy;
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    enum { M = 150, K = 500, N = 210 };
    double *a = malloc(M * K * sizeof *a), *b = malloc(K * N * sizeof *b);
    const int64_t a_dims[] = { M, K }, b_dims[] = { K, N };
    fill(M * K, a);
    fill(K * N, b);
    for (int way = 0; way < 4; way++) {
        evl_op_run r = { .op = &evl_op_matmul, .n_in = 2, .hide_data = way & 1 };
        r.in[0] = evl_test_reals(a, 2, a_dims);
        r.in[1] = evl_test_reals(b, 2, b_dims);
        void *one = bits_of(ctx, &r, 1, (evl_precision)(way / 2));
        for (size_t threads = 2; threads <= 3; threads++) {
            void *more = bits_of(ctx, &r, threads, (evl_precision)(way / 2));
            assert_memory_equal(one, more, M * N * sizeof(double));
            free(more);
        }
        free(one);
    }
    free(a);
    free(b);
    evl_test_end(ctx);
}

typedef struct gemm_case {
    int64_t trans_a, trans_b;
    double alpha, beta;
    size_t c_rank; /* 3: left out */
    int64_t c_dims[2];
} gemm_case;

enum { M = 9, K = 21, N = 35 };

static double wanted_of(const gemm_case *g, const double *a, const double *b, const double *c,
                        size_t index)
{
    size_t i = index / N, j = index % N;
    double sum = 0;
    for (size_t p = 0; p < K; p++)
        sum +=
            (g->trans_a ? a[p * M + i] : a[i * K + p]) * (g->trans_b ? b[j * K + p] : b[p * N + j]);
    if (g->c_rank == 3)
        return g->alpha * sum;
    size_t columns = g->c_rank ? (size_t)g->c_dims[g->c_rank - 1] : 1;
    size_t row = g->c_rank == 2 && g->c_dims[0] > 1 ? columns : 0;
    return g->alpha * sum + g->beta * c[i * row + (columns > 1 ? j : 0)];
}

static void check_gemm(const gemm_case *g, evl_precision precision, bool hide)
{
    evl_context *ctx = evl_test_begin();
    double a[M * K], b[K * N], c[M * N];
    fill(M * K, a);
    fill(K * N, b);
    fill(M * N, c);
    const int64_t a_dims[] = { M, K, M }, b_dims[] = { K, N, K };
    const evl_attribute attributes[] = {
        evl_attribute_int("transA", g->trans_a),
        evl_attribute_int("transB", g->trans_b),
        evl_attribute_number("alpha", g->alpha),
        evl_attribute_number("beta", g->beta),
    };
    evl_op_run r = { .op = &evl_op_gemm,
                     .n_in = 3,
                     .attributes = attributes,
                     .n_attributes = 4,
                     .hide_data = hide };
    r.in[0] = evl_test_reals(a, 2, a_dims + g->trans_a);
    r.in[1] = evl_test_reals(b, 2, b_dims + g->trans_b);
    if (g->c_rank < 3)
        r.in[2] = evl_test_reals(c, g->c_rank, g->c_dims);
    assert_int_equal(evl_run_op(ctx, &r, precision, evl_cpu_features()), EVAL_OK);
    for (size_t i = 0; i < M * N; i++)
        assert_near(((double *)r.out[0].data)[i], wanted_of(g, a, b, c, i), precision);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static void gemm_scales_transposes_and_adds(void **state)
{
    (void)state;
    static const gemm_case all[] = {
        { 0, 0, 1, 1, 3, { 0 } },      { 0, 1, 1, 1, 1, { N } },
        { 1, 0, 0.5, 1, 2, { M, N } }, { 1, 1, 2, 0.25, 2, { M, 1 } },
        { 0, 0, 1, 0.5, 2, { 1, N } }, { 0, 1, -1, 3, 0, { 0 } },
        { 0, 0, 1, 0, 1, { 1 } },      { 0, 0, 0.25, -2, 2, { M, N } },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (int way = 0; way < 4; way++)
            check_gemm(&all[i], way & 1 ? EVL_DOUBLE : EVL_FLOAT, way & 2);
}

static void integers_wrap(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const int32_t a[] = { 2147483647, 2, -3, 4 }, b[] = { 2, 0, 1, 5 };
    const int64_t two[] = { 2, 2 };
    evl_op_run r = { .op = &evl_op_matmul, .n_in = 2 };
    r.in[0] = evl_test_tensor(EVAL_INT32, a, 2, two);
    r.in[1] = evl_test_tensor(EVAL_INT32, b, 2, two);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    const int32_t wanted[] = { 0, 10, -2, 20 };
    assert_memory_equal(r.out[0].data, wanted, sizeof wanted);
    evl_run_op_end(&r);
    r.op = &evl_op_gemm;
    r.n_in = 3;
    r.in[2] = r.in[0];
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_int_equal(((int32_t *)r.out[0].data)[3], 24);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static void refused(evl_context *ctx, evl_op_run *r, EvalStatus wanted)
{
    assert_int_equal(evl_run_op(ctx, r, EVL_FLOAT, 0), wanted);
    assert_true(ctx->error.n > 0);
    evl_run_op_end(r);
}

static void operands_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    const double x[12] = { 0 };
    const int8_t small[12] = { 0 };
    const int64_t four_three[] = { 4, 3 }, two_six[] = { 2, 6 }, three_four[] = { 3, 4 };
    evl_op_run r = { .op = &evl_op_matmul, .n_in = 2 };
    r.in[0] = evl_test_reals(x, 2, four_three);
    r.in[1] = evl_test_reals(x, 2, two_six);
    refused(ctx, &r, EVAL_ERR_SHAPE);
    r.in[1] = evl_test_tensor(EVAL_INT8, small, 2, three_four);
    refused(ctx, &r, EVAL_ERR_TYPE);
    r.op = &evl_op_gemm;
    r.n_in = 3;
    r.in[1] = r.in[2] = evl_test_reals(x, 2, three_four);
    refused(ctx, &r, EVAL_ERR_SHAPE);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_is_the_sum_of_products),
        cmocka_unit_test(vectors_lose_their_dimension),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(gemm_scales_transposes_and_adds),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(operands_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
