/* Optionals: a value or none. */
#include "op_case.h"

static const double a[] = { 1, 2, 3 };
static const uint8_t yes[] = { 1 }, no[] = { 0 };

static const EvalType OPT = EVAL_OPTIONAL, SEQ = EVAL_SEQUENCE, REAL = EVAL_FLOAT64;

/* An optional of a sequence of reals. */
static evl_tensor around(const evl_tensor *sequence, int64_t n)
{
    evl_tensor t = holding(OPT, SEQ, sequence, n);
    t.inner[1] = (uint16_t)REAL;
    return t;
}

static void an_optional_is_made_with_or_without_an_element(void **state)
{
    (void)state;
    const evl_tensor element[] = { reals(a, 3) };
    const evl_tensor sequence[] = { holding(SEQ, REAL, element, 1) };
    const evl_tensor described = { .type = REAL, .shape = evl_shape_unknown() };
    const evl_attribute type = { .name = "type", .kind = EVL_ATTRIBUTE_TYPE,
                                 .u.tensor = &described };
    const op_case cases[] = {
        { .op = "Optional", .in = { reals(a, 3) }, .out = { holding(OPT, REAL, element, 1) } },
        { .op = "Optional", .in = { sequence[0] }, .out = { around(sequence, 1) } },
        { .op = "Optional", .attributes = { type }, .out = { holding(OPT, REAL, element, 0) } },
        { .op = "Optional", .out = { holding(OPT, REAL, element, 0) }, .status = EVAL_ERR_FORMAT },
        { .op = "Optional", .in = { holding(OPT, REAL, element, 1) },
          .out = { holding(OPT, REAL, element, 1) }, .status = EVAL_ERR_TYPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void what_is_there_can_be_asked(void **state)
{
    (void)state;
    const evl_tensor element[] = { reals(a, 3) };
    const op_case cases[] = {
        { .op = "OptionalHasElement", .version = 15, .in = { holding(OPT, REAL, element, 1) },
          .out = { scalar(EVAL_BOOL, yes) } },
        { .op = "OptionalHasElement", .version = 15, .in = { holding(OPT, REAL, element, 0) },
          .out = { scalar(EVAL_BOOL, no) } },
        { .op = "OptionalHasElement", .in = { reals(a, 3) }, .out = { scalar(EVAL_BOOL, yes) } },
        { .op = "OptionalHasElement", .in = { holding(SEQ, REAL, element, 0) },
          .out = { scalar(EVAL_BOOL, yes) } },
        { .op = "OptionalHasElement", .out = { scalar(EVAL_BOOL, no) } },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void the_element_comes_out(void **state)
{
    (void)state;
    const evl_tensor element[] = { reals(a, 3) };
    const evl_tensor sequence[] = { holding(SEQ, REAL, element, 1) };
    const op_case cases[] = {
        { .op = "OptionalGetElement", .in = { holding(OPT, REAL, element, 1) },
          .out = { reals(a, 3) } },
        { .op = "OptionalGetElement", .in = { around(sequence, 1) }, .out = { sequence[0] } },
        { .op = "OptionalGetElement", .in = { sequence[0] }, .out = { sequence[0] } },
        { .op = "OptionalGetElement", .in = { reals(a, 3) }, .out = { reals(a, 3) } },
        { .op = "OptionalGetElement", .in = { holding(OPT, REAL, element, 0) },
          .out = { reals(a, 3) }, .status = EVAL_ERR_SHAPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_optional_is_made_with_or_without_an_element),
        cmocka_unit_test(what_is_there_can_be_asked),
        cmocka_unit_test(the_element_comes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
