/* Comparisons, logic, the bits of integers, and Where. */
#include "ops/op_case.h"

static const double x[] = { 1, 2, 3, (double)NAN }, y[] = { 1, 3, 2, (double)NAN };

static void every_type_compares(void **state)
{
    const uint8_t equal[] = { 1, 0, 0, 0 }, less[] = { 0, 1, 0, 0 }, at_most[] = { 1, 1, 0, 0 };
    const uint8_t more[] = { 0, 0, 1, 0 }, at_least[] = { 1, 0, 1, 0 };
    const uint64_t p[] = { UINT64_MAX, 1, 5 }, q = 5;
    const uint8_t greater[] = { 1, 0, 0 }, same[] = { 0, 1 };
    const int8_t s[] = { -1, 0 }, zero = 0;
    const uint8_t truth[] = { 0, 1 }, one = 1;
    const EvalString texts[] = { { "abc", 3 }, { "ab", 2 }, { NULL, 0 } }, text = { "ab", 2 };
    const uint8_t found[] = { 0, 1, 0 };
    const op_case cases[] = {
        { .op = "Equal",
          .in = { reals(x, 4), reals(y, 4) },
          .out = { vector(EVAL_BOOL, equal, 4) } },
        { .op = "Less", .in = { reals(x, 4), reals(y, 4) }, .out = { vector(EVAL_BOOL, less, 4) } },
        { .op = "LessOrEqual",
          .in = { reals(x, 4), reals(y, 4) },
          .out = { vector(EVAL_BOOL, at_most, 4) } },
        { .op = "Greater",
          .in = { reals(x, 4), reals(y, 4) },
          .out = { vector(EVAL_BOOL, more, 4) } },
        { .op = "GreaterOrEqual",
          .in = { reals(x, 4), reals(y, 4) },
          .out = { vector(EVAL_BOOL, at_least, 4) } },
        { .op = "Greater",
          .in = { vector(EVAL_UINT64, p, 3), scalar(EVAL_UINT64, &q) },
          .out = { vector(EVAL_BOOL, greater, 3) } },
        { .op = "Equal",
          .in = { vector(EVAL_INT8, s, 2), scalar(EVAL_INT8, &zero) },
          .out = { vector(EVAL_BOOL, same, 2) } },
        { .op = "Equal",
          .in = { vector(EVAL_BOOL, truth, 2), scalar(EVAL_BOOL, &one) },
          .out = { vector(EVAL_BOOL, same, 2) },
          .in_place = true },
        { .op = "Equal",
          .in = { vector(EVAL_STRING, texts, 3), scalar(EVAL_STRING, &text) },
          .out = { vector(EVAL_BOOL, found, 3) } },
        { .op = "Less",
          .version = 1,
          .attributes = { evl_attribute_int("broadcast", 1) },
          .in = { reals(x, 4), reals(y, 1) },
          .out = { vector(EVAL_BOOL, "\0\0\0\0", 4) } },
        { .op = "Less",
          .in = { reals(x, 4), vector(EVAL_INT8, s, 2) },
          .out = { vector(EVAL_BOOL, less, 4) },
          .status = EVAL_ERR_TYPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void logic_has_its_truth_tables(void **state)
{
    const uint8_t a[] = { 0, 0, 1, 1 }, b[] = { 0, 1, 0, 1 };
    const uint8_t and[] = { 0, 0, 0, 1 }, or [] = { 0, 1, 1, 1 },
                  xor[] = {
                      0, 1, 1, 0
                  };
    const uint8_t not [] = { 1, 1, 0, 0 }, one = 1;
    const int16_t p[] = { 12, -1 }, q[] = { 10, 255 }, both[] = { 8, 255 }, any[] = { 14, -1 };
    const int16_t differ[] = { 6, -256 }, inverse[] = { -13, 0 };
    const op_case cases[] = {
        { .op = "And",
          .in = { vector(EVAL_BOOL, a, 4), vector(EVAL_BOOL, b, 4) },
          .out = { vector(EVAL_BOOL, and, 4) },
          .in_place = true },
        { .op = "Or",
          .in = { vector(EVAL_BOOL, a, 4), vector(EVAL_BOOL, b, 4) },
          .out = { vector(EVAL_BOOL, or, 4) } },
        { .op = "Xor",
          .in = { vector(EVAL_BOOL, a, 4), vector(EVAL_BOOL, b, 4) },
          .out = { vector(EVAL_BOOL, xor, 4) } },
        { .op = "Xor",
          .in = { scalar(EVAL_BOOL, &one), vector(EVAL_BOOL, a, 4) },
          .out = { vector(EVAL_BOOL, not, 4) } },
        { .op = "Not",
          .in = { vector(EVAL_BOOL, a, 4) },
          .out = { vector(EVAL_BOOL, not, 4) },
          .in_place = true },
        { .op = "BitwiseAnd",
          .in = { vector(EVAL_INT16, p, 2), vector(EVAL_INT16, q, 2) },
          .out = { vector(EVAL_INT16, both, 2) } },
        { .op = "BitwiseOr",
          .in = { vector(EVAL_INT16, p, 2), vector(EVAL_INT16, q, 2) },
          .out = { vector(EVAL_INT16, any, 2) } },
        { .op = "BitwiseXor",
          .in = { vector(EVAL_INT16, p, 2), vector(EVAL_INT16, q, 2) },
          .out = { vector(EVAL_INT16, differ, 2) } },
        { .op = "BitwiseNot",
          .in = { vector(EVAL_INT16, p, 2) },
          .out = { vector(EVAL_INT16, inverse, 2) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void where_chooses_for_any_type(void **state)
{
    const uint8_t c[] = { 1, 0, 1, 0 }, column[] = { 1, 0 }, p[] = { 1, 2, 3, 4 }, q = 9;
    const double chosen[] = { 1, 3, 3, (double)NAN }, rows[] = { 1, 2, 9, 9 }, nine = 9;
    const uint8_t bytes[] = { 1, 9, 3, 9 };
    const EvalString texts[] = { { "a", 1 }, { "b", 1 }, { "c", 1 }, { "d", 1 } },
                     text = { "z", 1 };
    const EvalString picked[] = { texts[0], text, texts[2], text };
    const op_case cases[] = {
        { .op = "Where",
          .in = { vector(EVAL_BOOL, c, 4), reals(x, 4), reals(y, 4) },
          .out = { reals(chosen, 4) } },
        { .op = "Where",
          .in = { matrix(EVAL_BOOL, column, 2, 1), reals(x, 2), scalar(EVAL_FLOAT64, &nine) },
          .out = { matrix(EVAL_FLOAT64, rows, 2, 2) } },
        { .op = "Where",
          .in = { vector(EVAL_BOOL, c, 4), vector(EVAL_UINT8, p, 4), scalar(EVAL_UINT8, &q) },
          .out = { vector(EVAL_UINT8, bytes, 4) } },
        { .op = "Where",
          .in = { vector(EVAL_BOOL, c, 4), vector(EVAL_STRING, texts, 4),
                  scalar(EVAL_STRING, &text) },
          .out = { vector(EVAL_STRING, picked, 4) } },
        { .op = "Where",
          .in = { vector(EVAL_UINT8, c, 4), reals(x, 4), reals(y, 4) },
          .out = { reals(chosen, 4) },
          .status = EVAL_ERR_TYPE },
        { .op = "Where",
          .in = { vector(EVAL_BOOL, c, 4), reals(x, 4), vector(EVAL_UINT8, p, 4) },
          .out = { reals(chosen, 4) },
          .status = EVAL_ERR_TYPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_compares),
        cmocka_unit_test(logic_has_its_truth_tables),
        cmocka_unit_test(where_chooses_for_any_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
