/* LabelEncoder and CategoryMapper: values for keys, and one for all others. */
#include "op_case.h"

static evl_attribute texts(const char *name, const EvalString *list, size_t n)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_TEXTS, .n = n, .u.texts = list };
}

static const EvalString words[] = { { "no", 2 }, { "yes", 3 } }, other[] = { { "_Unused", 7 } };

static void keys_of_every_type_find_their_values(void **state)
{
    static const int64_t ints[] = { 10, 20 }, asked[] = { 20, 3, 10 }, minus[] = { 20, 10, -1 };
    static const double keys[] = { 0.1f, NAN }, x[] = { NAN, 0.1f, 0 },
                        found[] = { 0.1f, NAN, 0.5 };
    const EvalString given[] = { words[1], words[0], { "maybe", 5 } },
                     named[] = { words[1], other[0], words[0] };
    const op_case cases[] = {
        { "ai.onnx.ml.LabelEncoder",
          .attributes = { texts("keys_strings", words, 2),
                          evl_attribute_ints("values_int64s", ints, 2) },
          .in = { vector(EVAL_STRING, given, 3) }, .out = { vector(EVAL_INT64, minus, 3) } },
        { "ai.onnx.ml.LabelEncoder",
          .attributes = { evl_attribute_ints("keys_int64s", ints, 2),
                          texts("values_strings", words, 2) },
          .in = { vector(EVAL_INT64, asked, 3) }, .out = { vector(EVAL_STRING, named, 3) } },
        { "ai.onnx.ml.LabelEncoder",
          .attributes = { evl_attribute_numbers("keys_floats", keys, 2),
                          evl_attribute_ints("values_int64s", ints, 2) },
          .in = { reals(x, 3) }, .out = { vector(EVAL_INT64, minus, 3) } },
        { "ai.onnx.ml.LabelEncoder",
          .attributes = { evl_attribute_ints("keys_int64s", ints, 2),
                          evl_attribute_numbers("values_floats", keys, 2),
                          evl_attribute_number("default_float", 0.5) },
          .in = { vector(EVAL_INT64, (const int64_t[]){ 10, 20, 0 }, 3) },
          .out = { reals(found, 3) } },
        { "ai.onnx.ml.LabelEncoder",
          .attributes = { evl_attribute_ints("keys_int64s", ints, 2),
                          texts("values_strings", words, 1) },
          .in = { vector(EVAL_INT64, asked, 3) }, .out = { vector(EVAL_STRING, named, 3) },
          .status = EVAL_ERR_FORMAT },
        { "ai.onnx.ml.LabelEncoder",
          .attributes = { texts("keys_strings", words, 2),
                          evl_attribute_ints("values_int64s", ints, 2) },
          .in = { vector(EVAL_INT64, asked, 3) }, .out = { vector(EVAL_INT64, minus, 3) },
          .status = EVAL_ERR_TYPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void the_first_label_encoder_counts_both_ways(void **state)
{
    static const int64_t numbers[] = { 1, 5, 0 }, back[] = { 1, 9, 0 }, cats[] = { 100, -7 },
                         mapped[] = { -7, 9, 100 }, asked[] = { -7, 5, 100 };
    const EvalString given[] = { words[1], { "", 0 }, words[0] },
                     named[] = { words[1], other[0], words[0] };
    const op_case cases[] = {
        { "ai.onnx.ml.LabelEncoder", .version = 1,
          .attributes = { texts("classes_strings", words, 2),
                          evl_attribute_int("default_int64", 9) },
          .in = { vector(EVAL_STRING, given, 3) }, .out = { vector(EVAL_INT64, back, 3) } },
        { "ai.onnx.ml.LabelEncoder", .version = 1,
          .attributes = { texts("classes_strings", words, 2) },
          .in = { vector(EVAL_INT64, numbers, 3) }, .out = { vector(EVAL_STRING, named, 3) } },
        { "ai.onnx.ml.CategoryMapper", .version = 1,
          .attributes = { texts("cats_strings", words, 2),
                          evl_attribute_ints("cats_int64s", cats, 2),
                          evl_attribute_int("default_int64", 9) },
          .in = { vector(EVAL_STRING, given, 3) }, .out = { vector(EVAL_INT64, mapped, 3) } },
        { "ai.onnx.ml.CategoryMapper", .version = 1,
          .attributes = { texts("cats_strings", words, 2),
                          evl_attribute_ints("cats_int64s", cats, 2) },
          .in = { vector(EVAL_INT64, asked, 3) }, .out = { vector(EVAL_STRING, named, 3) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

/* "If a key is repeated, the last key takes precedence", since opset 4. */
static void of_equal_keys_the_last_counts(void **state)
{
    static const int64_t keys[] = { 7, 3, 7, 1, 7 }, values[] = { 1, 2, 3, 4, 5 }, asked[] = { 1, 3, 7, 9, 0 },
                         last[] = { 4, 2, 5, -1, -1 }, first[] = { 4, 2, 1, -1, -1 };
    (void)state;
    for (int version = 2; version <= 4; version++) {
        const op_case c = { "ai.onnx.ml.LabelEncoder", .version = version,
                            .attributes = { evl_attribute_ints("keys_int64s", keys, 5),
                                            evl_attribute_ints("values_int64s", values, 5) },
                            .in = { vector(EVAL_INT64, asked, 5) },
                            .out = { vector(EVAL_INT64, version < 4 ? first : last, 5) } };
        check_case(&c);
    }
    const EvalString twice[] = { words[0], words[1], words[0] };
    const int64_t places[] = { 1, 2, 0 };
    const op_case c = { "ai.onnx.ml.LabelEncoder", .version = 1,
                        .attributes = { texts("classes_strings", twice, 3), evl_attribute_int("default_int64", 0) },
                        .in = { vector(EVAL_STRING, (const EvalString[]){ words[1], words[0], other[0] }, 3) },
                        .out = { vector(EVAL_INT64, places, 3) } };
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_every_type_find_their_values),
        cmocka_unit_test(of_equal_keys_the_last_counts),
        cmocka_unit_test(the_first_label_encoder_counts_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
