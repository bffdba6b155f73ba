/* Functions with parameters: their defaults, given ones, and Clip in its versions. */
#include "ops/op_case.h"

static const double x[] = { -4, -1, -0.25, 0, 0.5, 3 };

static const struct {
    const char *op, *names[2];
    double given[2];
    double defaults[6], with_given[6]; /* results: of nothing given, of `given` */
} functions[] = {
    { "LeakyRelu",
      { "alpha" },
      { 0.5 },
      { -0.04, -0.01, -0.0025, 0, 0.5, 3 },
      { -2, -0.5, -0.125, 0, 0.5, 3 } },
    { "ThresholdedRelu", { "alpha" }, { 0.5 }, { 0, 0, 0, 0, 0, 3 }, { 0, 0, 0, 0, 0, 3 } },
    { "HardSigmoid",
      { "alpha", "beta" },
      { 0.25, 0.25 },
      { 0, 0.3, 0.45, 0.5, 0.6, 1 },
      { 0, 0, 0.1875, 0.25, 0.375, 1 } },
    { "Shrink",
      { "lambd", "bias" },
      { 0.25, 1 },
      { -4, -1, 0, 0, 0, 3 },
      { -3, 0, 0, 0, -0.5, 2 } },
};

static void defaults_and_given_parameters(void **state)
{
    (void)state;
    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        op_case c = { .op = functions[f].op, .in = { reals(x, 6) }, .in_place = true };
        double right[6];
        for (size_t i = 0; i < 6; i++) /* the standard's defaults are float32 numbers */
            right[i] = (double)(float)functions[f].defaults[i];
        c.out[0] = reals(right, 6);
        run_case(&c, EVL_FLOAT, false, false);
        for (size_t i = 0; i < 2 && functions[f].names[i]; i++)
            c.attributes[i] = evl_attribute_number(functions[f].names[i], functions[f].given[i]);
        c.out[0] = reals(functions[f].with_given, 6);
        check_case(&c);
    }
}

static double elu(double v, double alpha)
{
    return v < 0 ? alpha * expm1(v) : v;
}

static void exponential_ones_are_near_libm(void **state)
{
    double right[6][6];
    const double gamma = (double)1.05070102214813232421875f,
                 alpha = (double)1.67326319217681884765625f;
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        double v = x[i];
        right[0][i] = elu(v, 2);
        right[1][i] = gamma * elu(v, alpha);
        right[2][i] = fmax(0, v) + fmin(0, 2 * expm1(v / 2));
        right[3][i] = v / (1 + exp(-2 * v));
        right[4][i] = v / 2 * (1 + erf(v / sqrt(2)));
        right[5][i] = v / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (v + 0.044715 * v * v * v)));
    }
    const op_case cases[] = {
        { .op = "Elu",
          .attributes = { evl_attribute_number("alpha", 2) },
          .in = { reals(x, 6) },
          .out = { reals(right[0], 6) },
          .in_place = true },
        { .op = "Selu", .in = { reals(x, 6) }, .out = { reals(right[1], 6) } },
        { .op = "Celu",
          .attributes = { evl_attribute_number("alpha", 2) },
          .in = { reals(x, 6) },
          .out = { reals(right[2], 6) } },
        { .op = "Swish",
          .attributes = { evl_attribute_number("alpha", 2) },
          .in = { reals(x, 6) },
          .out = { reals(right[3], 6) } },
        { .op = "Gelu", .in = { reals(x, 6) }, .out = { reals(right[4], 6) } },
        { .op = "Gelu",
          .attributes = { evl_attribute_text("approximate", "tanh") },
          .in = { reals(x, 6) },
          .out = { reals(right[5], 6) } },
        { .op = "Gelu",
          .attributes = { evl_attribute_text("approximate", "none at all") },
          .in = { reals(x, 6) },
          .out = { reals(x, 6) },
          .status = EVAL_ERR_FORMAT },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void clip_takes_its_limits_from_attributes_or_inputs(void **state)
{
    const double low = -1, high = 0.25, two[] = { 0, 0 };
    const double both[] = { -1, -1, -0.25, 0, 0.25, 0.25 }, below[] = { -1, -1, -0.25, 0, 0.5, 3 };
    const double above[] = { -4, -1, -0.25, 0, 0.25, 0.25 }, crossed[] = { -1, -1, -1, -1, -1, -1 };
    const int64_t big[] = { INT64_MAX, 9007199254740993, -5 }, top = 9007199254740993;
    const int64_t cut[] = { 9007199254740993, 9007199254740993, -5 };
    const evl_tensor none = { .type = EVAL_UNDEFINED };
    const op_case cases[] = {
        { .op = "Clip",
          .version = 6,
          .attributes = { evl_attribute_number("min", -1), evl_attribute_number("max", 0.25) },
          .in = { reals(x, 6) },
          .out = { reals(both, 6) },
          .in_place = true },
        { .op = "Clip", .version = 1, .in = { reals(x, 6) }, .out = { reals(x, 6) } },
        { .op = "Clip",
          .in = { reals(x, 6), scalar(EVAL_FLOAT64, &low), scalar(EVAL_FLOAT64, &high) },
          .out = { reals(both, 6) },
          .in_place = true },
        { .op = "Clip",
          .in = { reals(x, 6), scalar(EVAL_FLOAT64, &low) },
          .out = { reals(below, 6) },
          .in_place = true },
        { .op = "Clip",
          .in = { reals(x, 6), scalar(EVAL_FLOAT64, &high), scalar(EVAL_FLOAT64, &low) },
          .out = { reals(crossed, 6) } },
        { .op = "Clip", .in = { reals(x, 6) }, .out = { reals(x, 6) } },
        { .op = "Clip",
          .in = { reals(x, 6), reals(two, 2) },
          .out = { reals(x, 6) },
          .status = EVAL_ERR_SHAPE },
        { .op = "Clip",
          .in = { reals(x, 6), scalar(EVAL_INT64, &top) },
          .out = { reals(x, 6) },
          .status = EVAL_ERR_TYPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
    evl_context *ctx = evl_test_begin(); /* the least limit left out */
    for (int in_place = 0; in_place < 2; in_place++) {
        evl_op_run r = { .op = &evl_op_clip, .n_in = 3, .in_place = in_place };
        r.in[0] = vector(EVAL_INT64, big, 3);
        r.in[1] = none;
        r.in[2] = scalar(EVAL_INT64, &top);
        assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
        assert_memory_equal(r.out[0].data, cut, sizeof cut);
        evl_run_op_end(&r);
        r.in[0] = reals(x, 6);
        r.in[2] = scalar(EVAL_FLOAT64, &high);
        assert_int_equal(evl_run_op(ctx, &r, EVL_DOUBLE, 0), EVAL_OK);
        assert_memory_equal(r.out[0].data, above, sizeof above);
        evl_run_op_end(&r);
    }
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_and_given_parameters),
        cmocka_unit_test(exponential_ones_are_near_libm),
        cmocka_unit_test(clip_takes_its_limits_from_attributes_or_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
