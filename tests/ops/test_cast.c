/* Cast: what F rounds and D does not, integers, texts. */
#include "ops/op_case.h"

static const double x[] = { 1.0009765625, 0.1, 70000, -2.7, (double)NAN };
enum { N = sizeof x / sizeof x[0] };

static void check(evl_precision precision, int to, evl_tensor in, evl_tensor out)
{
    const op_case c = {
        .op = "Cast", .attributes = { evl_attribute_int("to", to) }, .in = { in }, .out = { out }
    };
    run_case(&c, precision, false, false);
    run_case(&c, precision, true, false);
}

static void between_floats_double_keeps_all_and_float_rounds_to_narrow_ones(void **state)
{
    const int widths[] = { EVAL_FLOAT32, EVAL_FLOAT64, EVAL_FLOAT16, EVAL_BFLOAT16 };
    const double half[] = { 1.0009765625, 0.0999755859375, (double)INFINITY, -2.69921875,
                            (double)NAN };
    const double brain[] = { 1, 0.10009765625, 70144, -2.703125, (double)NAN };
    (void)state;
    for (size_t i = 0; i < 4; i++)
        check(EVL_DOUBLE, widths[i], reals(x, N), reals(x, N));
    check(EVL_FLOAT, EVAL_FLOAT32, reals(x, N), reals(x, N));
    check(EVL_FLOAT, EVAL_FLOAT64, reals(x, N), reals(x, N));
    check(EVL_FLOAT, EVAL_FLOAT16, reals(x, N), reals(half, N));
    check(EVL_FLOAT, EVAL_BFLOAT16, reals(x, N), reals(brain, N));
}

static void to_integers_is_towards_zero_and_saturates(void **state)
{
    const int32_t whole[] = { 1, 0, 70000, -2, 0 };
    const uint8_t bytes[] = { 1, 0, 255, 0, 0 }, truth[] = { 1, 1, 1, 1, 1 };
    const int64_t wide[] = { 300, -1 };
    const int8_t wrapped[] = { 44, -1 };
    const double number[] = { 300, -1 };
    (void)state;
    for (int p = 0; p < EVL_PRECISIONS; p++) {
        check((evl_precision)p, EVAL_INT32, reals(x, N), vector(EVAL_INT32, whole, N));
        check((evl_precision)p, EVAL_UINT8, reals(x, N), vector(EVAL_UINT8, bytes, N));
        check((evl_precision)p, EVAL_BOOL, reals(x, N), vector(EVAL_BOOL, truth, N));
        check((evl_precision)p, EVAL_INT8, vector(EVAL_INT64, wide, 2),
              vector(EVAL_INT8, wrapped, 2));
        check((evl_precision)p, EVAL_FLOAT32, vector(EVAL_INT64, wide, 2), reals(number, 2));
        check((evl_precision)p, EVAL_INT64, vector(EVAL_INT64, wide, 2),
              vector(EVAL_INT64, wide, 2));
    }
}

static void texts_are_read(void **state)
{
    const EvalString texts[] = {
        { "3.25", 4 }, { "-1e2", 4 }, { "+INF", 4 }, { "NaN", 3 }, { "7", 1 }
    };
    const double right[] = { 3.25, -100, (double)INFINITY, (double)NAN, 7 };
    const EvalString whole[] = { { "9223372036854775807", 19 }, { "+5", 2 } };
    const int64_t integers[] = { INT64_MAX, 5 };
    const EvalString word = { "seven", 5 };
    const op_case bad = { .op = "Cast",
                          .attributes = { evl_attribute_int("to", EVAL_FLOAT32) },
                          .in = { vector(EVAL_STRING, &word, 1) },
                          .out = { reals(right, 1) },
                          .status = EVAL_ERR_TYPE };
    (void)state;
    check(EVL_DOUBLE, EVAL_FLOAT64, vector(EVAL_STRING, texts, 5), reals(right, 5));
    check(EVL_FLOAT, EVAL_FLOAT32, vector(EVAL_STRING, texts, 5), reals(right, 5));
    check(EVL_FLOAT, EVAL_INT64, vector(EVAL_STRING, whole, 2), vector(EVAL_INT64, integers, 2));
    check_case(&bad);
}

static void the_type_may_be_a_name_or_an_example(void **state)
{
    const int32_t whole[] = { 1, 0, 70000, -2, 0 }, like = 0;
    const op_case cases[] = {
        { .op = "Cast",
          .version = 1,
          .attributes = { evl_attribute_text("to", "INT32") },
          .in = { reals(x, N) },
          .out = { vector(EVAL_INT32, whole, N) } },
        { .op = "CastLike",
          .in = { reals(x, N), vector(EVAL_INT32, &like, 1) },
          .out = { vector(EVAL_INT32, whole, N) } },
        { .op = "Cast",
          .version = 1,
          .attributes = { evl_attribute_text("to", "QUAD") },
          .in = { reals(x, N) },
          .out = { reals(x, N) },
          .status = EVAL_ERR_FORMAT },
        { .op = "Cast",
          .attributes = { evl_attribute_int("to", 99) },
          .in = { reals(x, N) },
          .out = { reals(x, N) },
          .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

/* 1.06 lies between 1 and 1.125 of float8e4m3fn, codes 0x38 and 0x39. */
static void small_floats_are_themselves_in_both_precisions(void **state)
{
    const double numbers[] = { 1.06, -1000, 0.25 }, rounded[] = { 1, -448, 0.25 };
    const uint8_t codes[] = { 0x38, 0xfe, 0x28 }, strict[] = { 0x38, 0xff, 0x28 };
    const uint8_t powers[] = { 126, 128 }, like = 0;
    const double between[] = { 0.75, 2.5 };
    const int8_t nibbles[] = { -8, 7, 1 };
    const int32_t wide[] = { 8, 23, -15 };
    const op_case cases[] = {
        { "Cast", 0, { evl_attribute_int("to", EVAL_FLOAT8E4M3FN), evl_attribute_int("saturate", 0) },
          { reals(numbers, 3) }, { vector(EVAL_FLOAT8E4M3FN, strict, 3) }, false, EVAL_OK },
        { "Cast", 0, { evl_attribute_int("to", EVAL_FLOAT8E8M0),
                       evl_attribute_text("round_mode", "down") },
          { reals(between, 2) }, { vector(EVAL_FLOAT8E8M0, powers, 2) }, false, EVAL_OK },
        { "Cast", 0, { evl_attribute_int("to", EVAL_FLOAT8E8M0),
                       evl_attribute_text("round_mode", "sideways") },
          { reals(between, 2) }, { vector(EVAL_FLOAT8E8M0, powers, 2) }, false, EVAL_ERR_FORMAT },
        { "CastLike", 0, { { 0 } }, { reals(numbers, 3), vector(EVAL_FLOAT8E4M3FN, &like, 1) },
          { vector(EVAL_FLOAT8E4M3FN, codes, 3) }, false, EVAL_OK },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
    for (int p = 0; p < EVL_PRECISIONS; p++) {
        check((evl_precision)p, EVAL_FLOAT8E4M3FN, reals(numbers, 3),
              vector(EVAL_FLOAT8E4M3FN, codes, 3));
        check((evl_precision)p, EVAL_FLOAT32, vector(EVAL_FLOAT8E4M3FN, codes, 3),
              reals(rounded, 3));
        check((evl_precision)p, EVAL_INT4, vector(EVAL_INT32, wide, 3), vector(EVAL_INT4, nibbles, 3));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(between_floats_double_keeps_all_and_float_rounds_to_narrow_ones),
        cmocka_unit_test(to_integers_is_towards_zero_and_saturates),
        cmocka_unit_test(texts_are_read),
        cmocka_unit_test(the_type_may_be_a_name_or_an_example),
        cmocka_unit_test(small_floats_are_themselves_in_both_precisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
