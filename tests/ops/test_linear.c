/* LinearClassifier and LinearRegressor. */
#include "op_case.h"

static const double weights[] = { 1, 2, -1, 0.5 }, bias[] = { 0.25, -0.25 }, x[] = { 1, 1, -2, 3 };

static void a_product_gives_scores(void **state)
{
    static const double y[] = { 3.25, -0.75, 4.25, 3.25 },
                        softmax[] = { 0.98201379003790845, 0.017986209962091559,
                                      0.73105857863000488, 0.26894142136999512 };
    static const int64_t labels[] = { 5, 8 }, first[] = { 5, 5 };
    const op_case cases[] = {
        { "ai.onnx.ml.LinearRegressor",
          .attributes = { evl_attribute_numbers("coefficients", weights, 4),
                          evl_attribute_numbers("intercepts", bias, 2),
                          evl_attribute_int("targets", 2) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { matrix(EVAL_FLOAT64, y, 2, 2) } },
        { "ai.onnx.ml.LinearClassifier",
          .attributes = { evl_attribute_numbers("coefficients", weights, 4),
                          evl_attribute_numbers("intercepts", bias, 2),
                          evl_attribute_text("post_transform", "SOFTMAX"),
                          evl_attribute_ints("classlabels_ints", labels, 2) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) },
          .out = { vector(EVAL_INT64, first, 2), matrix(EVAL_FLOAT64, softmax, 2, 2) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void one_score_stands_for_two_classes(void **state)
{
    static const EvalString names[] = { { "cold", 4 }, { "hot", 3 } };
    static const double scores[] = { -1, 2, 4, -3 }, down[] = { -1, 0 }, none[] = { 0 };
    const EvalString chosen[] = { names[1], names[0] };
    const evl_attribute labels = {
        .name = "classlabels_strings", .kind = EVL_ATTRIBUTE_TEXTS, .n = 2, .u.texts = names
    };
    static const double rows[] = { -2, 0, 3, 0 };
    const op_case c = { "ai.onnx.ml.LinearClassifier",
                        .attributes = { evl_attribute_numbers("coefficients", down, 2),
                                        evl_attribute_numbers("intercepts", none, 1), labels },
                        .in = { matrix(EVAL_FLOAT64, rows, 2, 2) },
                        .out = { vector(EVAL_STRING, chosen, 2),
                                 matrix(EVAL_FLOAT64, scores, 2, 2) } };
    (void)state;
    check_case(&c);
}

static void counts_that_do_not_fit_are_refused(void **state)
{
    const op_case cases[] = {
        { "ai.onnx.ml.LinearRegressor",
          .attributes = { evl_attribute_numbers("coefficients", weights, 3) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { matrix(EVAL_FLOAT64, x, 2, 1) },
          .status = EVAL_ERR_FORMAT },
        { "ai.onnx.ml.LinearRegressor",
          .attributes = { evl_attribute_numbers("coefficients", weights, 2),
                          evl_attribute_int("targets", -1) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { matrix(EVAL_FLOAT64, x, 2, 1) },
          .status = EVAL_ERR_FORMAT },
        { "ai.onnx.ml.LinearRegressor",
          .attributes = { evl_attribute_numbers("coefficients", weights, 2),
                          evl_attribute_text("post_transform", "SQUARE") },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2) }, .out = { matrix(EVAL_FLOAT64, x, 2, 1) },
          .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_gives_scores),
        cmocka_unit_test(one_score_stands_for_two_classes),
        cmocka_unit_test(counts_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
