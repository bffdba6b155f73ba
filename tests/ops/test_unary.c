/* Functions of one number as operators: each runs its own loop. */
#include "ops/op_case.h"

static double sign(double v)
{
    return (v > 0) - (v < 0);
}

static double reciprocal(double v)
{
    return 1 / v;
}

static double negative(double v)
{
    return -v;
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

static double relu(double v)
{
    return v > 0 ? v : 0;
}

static double softplus(double v)
{
    return log1p(exp(v));
}

static double softsign(double v)
{
    return v / (1 + fabs(v));
}

static double hard_swish(double v)
{
    return v * fmin(1, fmax(0, v / 6 + 0.5));
}

static double mish(double v)
{
    return v * tanh(softplus(v));
}

static void each_operator_has_its_function(void **state)
{
    static const struct {
        const char *op;
        double (*f)(double);
        double lo, hi;
    } functions[] = {
        { "Abs", fabs, -2, 2 },          { "Neg", negative, -2, 2 },
        { "Sign", sign, -2, 2 },         { "Reciprocal", reciprocal, 1, 2 },
        { "Sqrt", sqrt, 0, 9 },          { "Exp", exp, -3, 3 },
        { "Log", log, 0.1, 3 },          { "Erf", erf, -3, 3 },
        { "Floor", floor, -3, 3 },       { "Ceil", ceil, -3, 3 },
        { "Round", rint, -3, 3 },        { "Sin", sin, -4, 4 },
        { "Cos", cos, -4, 4 },           { "Tan", tan, -1, 1 },
        { "Asin", asin, -1, 1 },         { "Acos", acos, -1, 1 },
        { "Atan", atan, -4, 4 },         { "Sinh", sinh, -2, 2 },
        { "Cosh", cosh, -2, 2 },         { "Asinh", asinh, -4, 4 },
        { "Acosh", acosh, 1, 4 },        { "Atanh", atanh, -0.8, 0.8 },
        { "Sigmoid", sigmoid, -4, 4 },   { "Tanh", tanh, -4, 4 },
        { "Relu", relu, -2, 2 },         { "Softplus", softplus, -4, 4 },
        { "Softsign", softsign, -4, 4 }, { "HardSwish", hard_swish, -4, 4 },
        { "Mish", mish, -4, 4 },
    };
    double x[33], y[33];
    uint64_t seed = 4;
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        for (size_t i = 0; i < 33; i++) {
            x[i] = (double)(float)evl_test_random(&seed, functions[f].lo, functions[f].hi);
            y[i] = functions[f].f(x[i]);
        }
        const op_case c = { .op = functions[f].op,
                            .in = { matrix(EVAL_FLOAT64, x, 3, 11) },
                            .out = { matrix(EVAL_FLOAT64, y, 3, 11) },
                            .in_place = true };
        check_case(&c);
    }
}

static void halves_round_to_even(void **state)
{
    const double x[] = { 0.5, 1.5, 2.5, -1.5, -2.5 }, y[] = { 0, 2, 2, -2, -2 };
    const op_case c = { .op = "Round", .in = { reals(x, 5) }, .out = { reals(y, 5) } };
    (void)state;
    check_case(&c);
}

static void nan_and_infinities_are_told(void **state)
{
    const double x[] = { 0, (double)NAN, (double)INFINITY, -(double)INFINITY };
    const uint8_t nan[] = { 0, 1, 0, 0 }, both[] = { 0, 0, 1, 1 }, positive[] = { 0, 0, 1, 0 };
    const uint8_t neither[] = { 0, 0, 0, 0 };
    const op_case cases[] = {
        { .op = "IsNaN", .in = { reals(x, 4) }, .out = { vector(EVAL_BOOL, nan, 4) } },
        { .op = "IsInf", .in = { reals(x, 4) }, .out = { vector(EVAL_BOOL, both, 4) } },
        { .op = "IsInf",
          .attributes = { evl_attribute_int("detect_negative", 0) },
          .in = { reals(x, 4) },
          .out = { vector(EVAL_BOOL, positive, 4) } },
        { .op = "IsInf",
          .attributes = { evl_attribute_int("detect_negative", 0),
                          evl_attribute_int("detect_positive", 0) },
          .in = { reals(x, 4) },
          .out = { vector(EVAL_BOOL, neither, 4) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void nan_and_infinities_of_eight_bits_too(void **state)
{
    /* float8e5m2: 0, infinity, a NaN, minus infinity */
    const uint8_t x[] = { 0, 0x7C, 0x7F, 0xFC }, nan[] = { 0, 0, 1, 0 }, negative[] = { 0, 0, 0, 1 };
    const int32_t whole[] = { 1 };
    const op_case cases[] = {
        { .op = "IsNaN",
          .in = { vector(EVAL_FLOAT8E5M2, x, 4) },
          .out = { vector(EVAL_BOOL, nan, 4) } },
        { .op = "IsInf",
          .attributes = { evl_attribute_int("detect_positive", 0) },
          .in = { vector(EVAL_FLOAT8E5M2, x, 4) },
          .out = { vector(EVAL_BOOL, negative, 4) } },
        { .op = "IsNaN",
          .in = { vector(EVAL_INT32, whole, 1) },
          .out = { vector(EVAL_BOOL, nan, 1) },
          .status = EVAL_ERR_TYPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void integers_too_where_they_have_the_arithmetic(void **state)
{
    const int8_t x[] = { -128, -1, 0, 5 }, size[] = { -128, 1, 0, 5 }, relus[] = { 0, 0, 0, 5 };
    const op_case cases[] = {
        { .op = "Abs",
          .in = { vector(EVAL_INT8, x, 4) },
          .out = { vector(EVAL_INT8, size, 4) },
          .in_place = true },
        { .op = "Relu", .in = { vector(EVAL_INT8, x, 4) }, .out = { vector(EVAL_INT8, relus, 4) } },
        { .op = "Abs", .in = { vector(EVAL_INT8, x, 0) }, .out = { vector(EVAL_INT8, x, 0) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void erf_of_integers_is_cut_and_no_element_has_no_place(void **state)
{
    static const int64_t x[] = { -7, -1, 0, 3, 4, 9 }, right[] = { -1, 0, 0, 0, 1, 1 }, six = 6;
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = evl_op_find("", "Erf"), .n_in = 1 }, none = { .op = evl_op_find("", "ArgMax"), .n_in = 1 },
               nan = { .op = evl_op_find("", "ThresholdedRelu"), .n_in = 1 };
    const double not[] = { NAN };
    (void)state;
    r.in[0] = evl_test_ints(x, 1, &six);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(evl_tensor_i64(&r.out[0], i), right[i]);
    none.in[0] = evl_test_ints(x, 2, (const int64_t[]){ 0, 0 });
    assert_int_equal(evl_run_op(ctx, &none, EVL_FLOAT, 0), EVAL_OK);
    assert_int_equal(none.out[0].shape.dim[0], 1);
    assert_int_equal(none.out[0].shape.dim[1], 0);
    nan.in[0] = evl_test_reals(not, 0, NULL);
    assert_int_equal(evl_run_op(ctx, &nan, EVL_DOUBLE, 0), EVAL_OK);
    assert_true(evl_tensor_f64(&nan.out[0], 0) == 0);
    evl_run_op_end(&r);
    evl_run_op_end(&none);
    evl_run_op_end(&nan);
    evl_test_end(ctx);
}

static void many_elements_are_the_same_on_two_threads(void **state)
{
    enum { N = 200001 };
    static double x[N], y[N];
    uint64_t seed = 5;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(float)evl_test_random(&seed, -3, 3);
        y[i] = exp(x[i]);
    }
    const op_case c = { .op = "Exp", .in = { reals(x, N) }, .out = { reals(y, N) } };
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operator_has_its_function),
        cmocka_unit_test(halves_round_to_even),
        cmocka_unit_test(nan_and_infinities_are_told),
        cmocka_unit_test(nan_and_infinities_of_eight_bits_too),
        cmocka_unit_test(integers_too_where_they_have_the_arithmetic),
        cmocka_unit_test(erf_of_integers_is_cut_and_no_element_has_no_place),
        cmocka_unit_test(many_elements_are_the_same_on_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
