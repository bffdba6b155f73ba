/* ai.onnx.ml's operators on columns of features. */
#include "op_case.h"

static evl_attribute texts(const char *name, const EvalString *list, size_t n)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_TEXTS, .n = n, .u.texts = list };
}

static const double x[] = { 1, -2, 0.5, 4, 0, -1 };

static void columns_are_scaled_and_normalized(void **state)
{
    static const double offset[] = { 1, 0 }, scale[] = { 2, 10 }, one[] = { 3 },
                        scaled[] = { 0, -20, -1, 40, -2, -10 },
                        tripled[] = { 3, -6, 1.5, 12, 0, -3 },
                        l1[] = { 1. / 3, -2. / 3, 0.5 / 4.5, 4 / 4.5, 0, -1 }, zeros[] = { 0, 0 };
    static const int64_t ints[] = { 1, 3 };
    static const double shares[] = { 0.25, 0.75 };
    const op_case cases[] = {
        { "ai.onnx.ml.Scaler",
          .attributes = { evl_attribute_numbers("offset", offset, 2),
                          evl_attribute_numbers("scale", scale, 2) },
          .in = { matrix(EVAL_FLOAT64, x, 3, 2) }, .out = { matrix(EVAL_FLOAT64, scaled, 3, 2) } },
        { "ai.onnx.ml.Scaler", .attributes = { evl_attribute_numbers("scale", one, 1) },
          .in = { matrix(EVAL_FLOAT64, x, 3, 2) }, .out = { matrix(EVAL_FLOAT64, tripled, 3, 2) } },
        { "ai.onnx.ml.Scaler", .attributes = { evl_attribute_numbers("scale", offset, 2) },
          .in = { reals(x, 3) }, .out = { reals(x, 3) }, .status = EVAL_ERR_FORMAT },
        { "ai.onnx.ml.Normalizer", .attributes = { evl_attribute_text("norm", "L1") },
          .in = { matrix(EVAL_FLOAT64, x, 3, 2) }, .out = { matrix(EVAL_FLOAT64, l1, 3, 2) } },
        { "ai.onnx.ml.Normalizer", .attributes = { evl_attribute_text("norm", "L1") },
          .in = { matrix(EVAL_INT64, ints, 1, 2) }, .out = { matrix(EVAL_FLOAT64, shares, 1, 2) } },
        { "ai.onnx.ml.Normalizer", .attributes = { evl_attribute_text("norm", "L2") },
          .in = { matrix(EVAL_FLOAT64, zeros, 1, 2) },
          .out = { matrix(EVAL_FLOAT64, zeros, 1, 2) } },
        { "ai.onnx.ml.Normalizer", .attributes = { evl_attribute_text("norm", "L3") },
          .in = { reals(x, 3) }, .out = { reals(x, 3) }, .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void values_are_compared_and_replaced(void **state)
{
    static const double above[] = { 1, 0, 1, 1, 0, 0 }, gaps[] = { NAN, 2, 5, NAN },
                        new_ones[] = { 7, 8 }, filled[] = { 7, 2, 5, 8 };
    static const int64_t ints[] = { 1, -9007199254740993, 0, 3 }, by[] = { 44 },
                         replaced[] = { 1, 44, 0, 3 }, bits[] = { 1, 0, 0, 1 };
    const op_case cases[] = {
        { "ai.onnx.ml.Binarizer", .attributes = { evl_attribute_number("threshold", 0.25) },
          .in = { reals(x, 6) }, .out = { reals(above, 6) } },
        { "ai.onnx.ml.Binarizer", .attributes = { evl_attribute_number("threshold", 0.25) },
          .in = { vector(EVAL_INT64, ints, 4) }, .out = { vector(EVAL_INT64, bits, 4) } },
        { "ai.onnx.ml.Imputer",
          .attributes = { evl_attribute_numbers("imputed_value_floats", new_ones, 2),
                          evl_attribute_number("replaced_value_float", NAN) },
          .in = { matrix(EVAL_FLOAT64, gaps, 2, 2) },
          .out = { matrix(EVAL_FLOAT64, filled, 2, 2) } },
        { "ai.onnx.ml.Imputer",
          .attributes = { evl_attribute_ints("imputed_value_int64s", by, 1),
                          evl_attribute_int("replaced_value_int64", -9007199254740993) },
          .in = { vector(EVAL_INT64, ints, 4) }, .out = { vector(EVAL_INT64, replaced, 4) } },
        { "ai.onnx.ml.Imputer", .in = { reals(gaps, 4) }, .out = { reals(gaps, 4) },
          .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void categories_become_ones(void **state)
{
    static const EvalString cats[] = { { "a", 1 }, { "bb", 2 } },
                            given[] = { { "bb", 2 }, { "", 0 }, { "a", 1 } };
    static const int64_t numbers[] = { 4, 9 };
    static const double values[] = { 9.75, -1 }, ones[] = { 0, 1, 0, 0, 1, 0 },
                        two[] = { 0, 1, 0, 0 };
    const op_case cases[] = {
        { "ai.onnx.ml.OneHotEncoder", .attributes = { texts("cats_strings", cats, 2) },
          .in = { vector(EVAL_STRING, given, 3) }, .out = { matrix(EVAL_FLOAT64, ones, 3, 2) } },
        { "ai.onnx.ml.OneHotEncoder",
          .attributes = { evl_attribute_ints("cats_int64s", numbers, 2) },
          .in = { reals(values, 2) }, .out = { matrix(EVAL_FLOAT64, two, 2, 2) } },
        { "ai.onnx.ml.OneHotEncoder",
          .attributes = { evl_attribute_ints("cats_int64s", numbers, 2),
                          evl_attribute_int("zeros", 0) },
          .in = { reals(values, 2) }, .out = { matrix(EVAL_FLOAT64, two, 2, 2) },
          .status = EVAL_ERR_TYPE },
        { "ai.onnx.ml.OneHotEncoder", .in = { reals(values, 2) }, .out = { reals(two, 4) },
          .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void columns_are_joined_and_picked(void **state)
{
    static const int64_t widths[] = { 3, 1 }, ints[] = { 7, 8, 9, 10 }, picks[] = { 1, 0, 1 },
                         far[] = { 2 };
    static const double joined[] = { 1, -2, 0, 7, 0.5, 4, 0, 9 },
                        picked[] = { -2, 1, -2, 4, 0.5, 4, -1, 0, -1 }, row[] = { -2, 1, -2 };
    const op_case cases[] = {
        { "ai.onnx.ml.FeatureVectorizer",
          .attributes = { evl_attribute_ints("inputdimensions", widths, 2) },
          .in = { matrix(EVAL_FLOAT64, x, 2, 2), matrix(EVAL_INT64, ints, 2, 2) },
          .out = { matrix(EVAL_FLOAT64, joined, 2, 4) } },
        { "ai.onnx.ml.FeatureVectorizer",
          .attributes = { evl_attribute_ints("inputdimensions", widths, 2) },
          .in = { reals(x, 2), matrix(EVAL_INT64, ints, 1, 2) },
          .out = { matrix(EVAL_FLOAT64, joined, 1, 4) } },
        { "ai.onnx.ml.ArrayFeatureExtractor",
          .in = { matrix(EVAL_FLOAT64, x, 3, 2), vector(EVAL_INT64, picks, 3) },
          .out = { matrix(EVAL_FLOAT64, picked, 3, 3) } },
        { "ai.onnx.ml.ArrayFeatureExtractor", .in = { reals(x, 2), vector(EVAL_INT64, picks, 3) },
          .out = { matrix(EVAL_FLOAT64, row, 1, 3) } },
        { "ai.onnx.ml.ArrayFeatureExtractor", .in = { reals(x, 2), vector(EVAL_INT64, far, 1) },
          .out = { matrix(EVAL_FLOAT64, row, 1, 1) }, .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_scaled_and_normalized),
        cmocka_unit_test(values_are_compared_and_replaced),
        cmocka_unit_test(categories_become_ones),
        cmocka_unit_test(columns_are_joined_and_picked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
