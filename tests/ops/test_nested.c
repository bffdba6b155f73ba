/* Operators on sequences. */
#include "op_case.h"

static const double a[] = { 1, 2, 3 }, b[] = { 4, 5 }, c[] = { 6 };
static const int64_t i0[] = { 0 }, i1[] = { 1 }, i2[] = { 2 }, i3[] = { 3 }, last[] = { -1 },
                     before[] = { -3 };

static const EvalType SEQ = EVAL_SEQUENCE, REAL = EVAL_FLOAT64;

static evl_tensor at(const int64_t *position)
{
    return scalar(EVAL_INT64, position);
}

static void a_sequence_is_made_of_its_inputs(void **state)
{
    (void)state;
    const evl_tensor both[] = { reals(a, 3), reals(b, 2) };
    const int64_t numbers[] = { 7, 8 };
    const evl_tensor integers[] = { vector(EVAL_INT64, numbers, 2) };
    const op_case cases[] = {
        { .op = "SequenceConstruct", .in = { reals(a, 3), reals(b, 2) },
          .out = { holding(SEQ, REAL, both, 2) } },
        { .op = "SequenceConstruct", .in = { vector(EVAL_INT64, numbers, 2) },
          .out = { holding(SEQ, EVAL_INT64, integers, 1) } },
        { .op = "SequenceConstruct", .in = { reals(a, 3), vector(EVAL_INT64, numbers, 2) },
          .out = { holding(SEQ, REAL, both, 2) }, .status = EVAL_ERR_TYPE },
        { .op = "SequenceEmpty", .out = { holding(SEQ, REAL, both, 0) } },
        { .op = "SequenceEmpty", .attributes = { evl_attribute_int("dtype", EVAL_INT64) },
          .out = { holding(SEQ, EVAL_INT64, both, 0) } },
        { .op = "SequenceEmpty", .attributes = { evl_attribute_int("dtype", 99) },
          .out = { holding(SEQ, EVAL_INT64, both, 0) }, .status = EVAL_ERR_TYPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void insert(const int64_t *position, const evl_tensor right[3], EvalStatus status)
{
    const evl_tensor two[] = { reals(a, 3), reals(b, 2) };
    op_case x = { .op = "SequenceInsert", .in = { holding(SEQ, REAL, two, 2), reals(c, 1) },
                  .out = { holding(SEQ, REAL, right, 3) }, .status = status };
    if (position)
        x.in[2] = at(position);
    check_case(&x);
}

static void an_element_is_inserted_before_another_or_at_the_end(void **state)
{
    (void)state;
    const evl_tensor first[] = { reals(c, 1), reals(a, 3), reals(b, 2) };
    const evl_tensor second[] = { reals(a, 3), reals(c, 1), reals(b, 2) };
    const evl_tensor third[] = { reals(a, 3), reals(b, 2), reals(c, 1) };
    insert(NULL, third, EVAL_OK);
    insert(i0, first, EVAL_OK);
    insert(i1, second, EVAL_OK);
    insert(i2, third, EVAL_OK);
    insert(last, second, EVAL_OK);
    insert(i3, third, EVAL_ERR_SHAPE);
    insert(before, third, EVAL_ERR_SHAPE);
}

static void an_element_is_erased(void **state)
{
    (void)state;
    const evl_tensor all[] = { reals(a, 3), reals(b, 2), reals(c, 1) };
    const evl_tensor outer[] = { reals(a, 3), reals(c, 1) };
    const op_case cases[] = {
        { .op = "SequenceErase", .in = { holding(SEQ, REAL, all, 3) },
          .out = { holding(SEQ, REAL, all, 2) } },
        { .op = "SequenceErase", .in = { holding(SEQ, REAL, all, 3), at(i1) },
          .out = { holding(SEQ, REAL, outer, 2) } },
        { .op = "SequenceErase", .in = { holding(SEQ, REAL, all, 3), at(before) },
          .out = { holding(SEQ, REAL, all + 1, 2) } },
        { .op = "SequenceErase", .in = { holding(SEQ, REAL, all, 3), at(i3) },
          .out = { holding(SEQ, REAL, all, 2) }, .status = EVAL_ERR_SHAPE },
        { .op = "SequenceErase", .in = { holding(SEQ, REAL, all, 0) },
          .out = { holding(SEQ, REAL, all, 0) }, .status = EVAL_ERR_SHAPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void an_element_is_found_at_its_position(void **state)
{
    (void)state;
    static const int64_t three = 3, none = 0;
    const evl_tensor all[] = { reals(a, 3), reals(b, 2), reals(c, 1) };
    const op_case cases[] = {
        { .op = "SequenceAt", .in = { holding(SEQ, REAL, all, 3), at(i1) }, .out = { reals(b, 2) } },
        { .op = "SequenceAt", .in = { holding(SEQ, REAL, all, 3), at(before) },
          .out = { reals(a, 3) } },
        { .op = "SequenceAt", .in = { holding(SEQ, REAL, all, 3), at(i3) }, .out = { reals(a, 3) },
          .status = EVAL_ERR_SHAPE },
        { .op = "SequenceAt", .in = { reals(a, 3), at(i0) }, .out = { reals(a, 3) },
          .status = EVAL_ERR_TYPE },
        { .op = "SequenceLength", .in = { holding(SEQ, REAL, all, 3) }, .out = { at(&three) } },
        { .op = "SequenceLength", .in = { holding(SEQ, REAL, all, 0) }, .out = { at(&none) } },
        { .op = "Identity", .in = { holding(SEQ, REAL, all, 3) },
          .out = { holding(SEQ, REAL, all, 3) } },
        { .op = "Abs", .in = { holding(SEQ, REAL, all, 3) }, .out = { reals(a, 3) },
          .status = EVAL_ERR_TYPE }, /* knows no sequences */
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sequence_is_made_of_its_inputs),
        cmocka_unit_test(an_element_is_inserted_before_another_or_at_the_end),
        cmocka_unit_test(an_element_is_erased),
        cmocka_unit_test(an_element_is_found_at_its_position),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
