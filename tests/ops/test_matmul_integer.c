/* Products of bytes against a loop over all elements, with zero points and scales of each
** kind. */
#include "ops/op_case.h"

enum { MOST = 70 * 40 };

typedef struct product {
    int64_t batch, m, k, n;
    bool a_signed, b_signed, by_column, by_row, b_batched;
} product;

static const product products[] = {
    { 1, 3, 4, 5, false, false, false, false, false },
    { 1, 1, 7, 3, true, false, true, false, false },
    { 3, 5, 6, 2, false, true, true, false, true },
    { 2, 4, 1, 3, true, true, false, true, false },
    { 1, 37, 31, 41, false, true, true, true, false },
    { 1, 60, 3, 1, true, true, false, false, false },
    { 2, 3, 0, 4, true, true, false, false, false },
    { 1, 0, 3, 4, true, true, false, false, false },
};

typedef struct operands {
    uint8_t a[MOST], b[MOST];
    uint8_t a_zero[MOST], b_zero[MOST];
    double a_scale[MOST], b_scale[MOST], bias[MOST];
    int32_t sums[MOST];
    double reals[MOST];
    uint8_t codes[MOST];
    int64_t n_a_zero, n_b_zero;
} operands;

static int32_t byte(const uint8_t *data, size_t i, bool is_signed)
{
    return is_signed ? (int8_t)data[i] : data[i];
}

/* The extremes often: sums of two products of them saturate in some processors' instructions. */
static uint8_t any_byte(uint64_t *seed)
{
    double u = evl_test_random(seed, 0, 320);
    return (uint8_t)(u >= 256 ? (u < 288 ? 255 : 128) : u);
}

static double rounded(double x)
{
    return (double)(float)x;
}

static void fill(const product *p, operands *o)
{
    uint64_t seed = 5;
    o->n_a_zero = p->by_row ? p->m : 1;
    o->n_b_zero = p->by_column ? p->n : 1;
    for (size_t i = 0; i < MOST; i++) {
        o->a[i] = any_byte(&seed);
        o->b[i] = any_byte(&seed);
        o->a_zero[i] = any_byte(&seed);
        o->b_zero[i] = any_byte(&seed);
        o->a_scale[i] = rounded(evl_test_random(&seed, 0.01, 0.02));
        o->b_scale[i] = rounded(evl_test_random(&seed, 0.01, 0.02));
        o->bias[i] = rounded(evl_test_random(&seed, -3, 3));
    }
}

static int32_t sum_of(const product *p, const operands *o, int64_t row, int64_t j, int64_t batch)
{
    const uint8_t *b = o->b + (p->b_batched ? batch * p->k * p->n : 0);
    int32_t a_zero = byte(o->a_zero, (size_t)(p->by_row ? row % p->m : 0), p->a_signed);
    int32_t b_zero = byte(o->b_zero, (size_t)(p->by_column ? j : 0), p->b_signed), sum = 0;
    for (int64_t k = 0; k < p->k; k++)
        sum += (byte(o->a, (size_t)(row * p->k + k), p->a_signed) - a_zero) *
               (byte(b, (size_t)(k * p->n + j), p->b_signed) - b_zero);
    return sum;
}

static void compute(const product *p, operands *o)
{
    for (int64_t i = 0; i < p->batch * p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            size_t at = (size_t)(i * p->n + j);
            double a = o->a_scale[p->by_row ? i % p->m : 0], b = o->b_scale[p->by_column ? j : 0];
            o->sums[at] = sum_of(p, o, i, j, i / (p->m ? p->m : 1));
            o->reals[at] = o->sums[at] * (a * b) + o->bias[j];
            float scale = (float)(rounded(a * b) / 0.25);
            double code = nearbyint((double)((float)o->sums[at] * scale)) + 100;
            o->codes[at] = (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
        }
}

static void check_product(const product *p)
{
    static operands o;
    const double y_scale = 0.25;
    const uint8_t y_zero = 100;
    EvalType a = p->a_signed ? EVAL_INT8 : EVAL_UINT8, b = p->b_signed ? EVAL_INT8 : EVAL_UINT8;
    const int64_t a_dims[] = { p->batch, p->m, p->k }, b_dims[] = { p->batch, p->k, p->n };
    const int64_t y_dims[] = { p->batch, p->m, p->n };
    fill(p, &o);
    compute(p, &o);
    const evl_tensor x = evl_test_tensor(a, o.a, 3, a_dims);
    const evl_tensor w = evl_test_tensor(b, o.b, p->b_batched ? 3 : 2, b_dims + !p->b_batched);
    const evl_tensor x_zero = evl_test_tensor(a, o.a_zero, p->by_row, &o.n_a_zero);
    const evl_tensor w_zero = evl_test_tensor(b, o.b_zero, p->by_column, &o.n_b_zero);
    const evl_tensor x_scale = evl_test_tensor(EVAL_FLOAT64, o.a_scale, p->by_row, &o.n_a_zero);
    const evl_tensor w_scale = evl_test_tensor(EVAL_FLOAT64, o.b_scale, p->by_column, &o.n_b_zero);
    const op_case all[] = {
        { "MatMulInteger", 0, { { 0 } }, { x, w, x_zero, w_zero },
          { evl_test_tensor(EVAL_INT32, o.sums, 3, y_dims) }, false, EVAL_OK },
        { "com.microsoft.MatMulIntegerToFloat", 0, { { 0 } },
          { x, w, x_scale, w_scale, x_zero, w_zero, reals(o.bias, p->n) },
          { evl_test_tensor(EVAL_FLOAT64, o.reals, 3, y_dims) }, false, EVAL_OK },
    };
    const op_case quantized = { "QLinearMatMul", 0, { { 0 } },
        { x, x_scale, x_zero, w, w_scale, w_zero, scalar(EVAL_FLOAT64, &y_scale),
          scalar(EVAL_UINT8, &y_zero) },
        { evl_test_tensor(EVAL_UINT8, o.codes, 3, y_dims) }, false, EVAL_OK };
    check_cases(all, 2);
    for (int hide = 0; hide < 2; hide++) /* in double, scales that no file declares are double */
        run_case(&quantized, EVL_FLOAT, hide, false);
}

static void bytes_of_both_kinds_are_multiplied_exactly(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++)
        check_product(&products[i]);
}

/* Both transposed, with addends for each column. */
static void a_product_of_the_kind_of_gemm_has_addends_and_transpositions(void **state)
{
    enum { M = 5, K = 70, N = 37 };
    static uint8_t a[K * M], b[N * K], codes[M * N];
    static int32_t c[N];
    static double scales[N], values[M * N];
    const double a_scale = 0.5, y_scale = 64;
    const uint8_t a_zero = 130, y_zero = 90, b_zeros[N] = { 0 };
    uint64_t seed = 11;
    for (size_t i = 0; i < K * M; i++)
        a[i] = any_byte(&seed);
    for (size_t i = 0; i < N * K; i++)
        b[i] = any_byte(&seed);
    for (size_t j = 0; j < N; j++) {
        c[j] = (int32_t)evl_test_random(&seed, -5000, 5000);
        scales[j] = rounded(evl_test_random(&seed, 0.1, 0.2));
    }
    for (size_t i = 0; i < M * N; i++) {
        int32_t sum = c[i % N];
        for (size_t k = 0; k < K; k++)
            sum += (a[k * M + i / N] - a_zero) * (int8_t)b[i % N * K + k];
        double code = nearbyint((double)((float)sum * (float)(rounded(a_scale * scales[i % N]) / y_scale)));
        code += y_zero;
        codes[i] = (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
        values[i] = sum * (a_scale * scales[i % N]);
    }
    op_case g = { "com.microsoft.QGemm", 0,
                  { evl_attribute_int("transA", 1), evl_attribute_int("transB", 1) },
                  { matrix(EVAL_UINT8, a, K, M), scalar(EVAL_FLOAT64, &a_scale), scalar(EVAL_UINT8, &a_zero),
                    matrix(EVAL_INT8, b, N, K), reals(scales, N), vector(EVAL_INT8, b_zeros, N),
                    vector(EVAL_INT32, c, N) },
                  { matrix(EVAL_FLOAT64, values, M, N) }, false, EVAL_OK };
    (void)state;
    check_case(&g);
    g.in[7] = scalar(EVAL_FLOAT64, &y_scale);
    g.in[8] = scalar(EVAL_UINT8, &y_zero);
    g.out[0] = matrix(EVAL_UINT8, codes, M, N);
    run_case(&g, EVL_FLOAT, false, false);
    run_case(&g, EVL_FLOAT, true, false);
}

static void zero_points_may_be_left_out(void **state)
{
    const uint8_t a[] = { 1, 255 }, b[] = { 255, 2, 3, 4 };
    const int32_t y[] = { 255 + 3 * 255, 2 + 4 * 255 };
    const op_case c = { "MatMulInteger", 0, { { 0 } },
                        { vector(EVAL_UINT8, a, 2), matrix(EVAL_UINT8, b, 2, 2) },
                        { vector(EVAL_INT32, y, 2) }, false, EVAL_OK };
    (void)state;
    check_case(&c);
}

static void parameters_of_another_length_and_other_types_are_refused(void **state)
{
    const uint8_t a[6] = { 0 };
    const int32_t y[4] = { 0 };
    const evl_tensor x = matrix(EVAL_UINT8, a, 2, 3), w = matrix(EVAL_UINT8, a, 3, 2);
    const evl_tensor out = matrix(EVAL_INT32, y, 2, 2);
    const op_case all[] = {
        { "MatMulInteger", 0, { { 0 } }, { x, w, scalar(EVAL_UINT8, a), vector(EVAL_UINT8, a, 3) },
          { out }, false, EVAL_ERR_SHAPE },
        { "MatMulInteger", 0, { { 0 } }, { x, w, vector(EVAL_UINT8, a, 3) }, { out }, false,
          EVAL_ERR_SHAPE },
        { "MatMulInteger", 0, { { 0 } }, { x, matrix(EVAL_INT16, a, 3, 1) },
          { matrix(EVAL_INT32, y, 2, 1) }, false, EVAL_ERR_TYPE },
        { "MatMulInteger", 0, { { 0 } }, { x, x }, { out }, false, EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(all, sizeof all / sizeof all[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_both_kinds_are_multiplied_exactly),
        cmocka_unit_test(a_product_of_the_kind_of_gemm_has_addends_and_transpositions),
        cmocka_unit_test(zero_points_may_be_left_out),
        cmocka_unit_test(parameters_of_another_length_and_other_types_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
