/* A tensor cut into a sequence, and a sequence joined to a tensor. */
#include "op_case.h"

static const double whole[] = { 0, 1, 2, 3, 4, 10, 11, 12, 13, 14 }; /* [2, 5] */
static const double left[] = { 0, 1, 10, 11 }, middle[] = { 2, 3, 12, 13 }, right[] = { 4, 14 };
static const double rest[] = { 2, 3, 4, 12, 13, 14 };
static const int64_t two[] = { 2 }, sizes[] = { 2, 0, 3 }, wrong[] = { 2, 2 }, none[] = { 0 };

static const EvalType SEQ = EVAL_SEQUENCE, REAL = EVAL_FLOAT64;

static void a_tensor_is_cut_along_an_axis(void **state)
{
    (void)state;
    const evl_tensor in = matrix(REAL, whole, 2, 5);
    const evl_tensor equal[] = { matrix(REAL, left, 2, 2), matrix(REAL, middle, 2, 2),
                                 matrix(REAL, right, 2, 1) };
    const evl_tensor given[] = { matrix(REAL, left, 2, 2), matrix(REAL, left, 2, 0),
                                 matrix(REAL, rest, 2, 3) };
    const evl_tensor rows[] = { reals(whole, 5), reals(whole + 5, 5) };
    const evl_tensor thin[] = { matrix(REAL, whole, 1, 5), matrix(REAL, whole + 5, 1, 5) };
    const evl_attribute axis = evl_attribute_int("axis", -1);
    const op_case cases[] = {
        { .op = "SplitToSequence", .attributes = { axis }, .in = { in, scalar(EVAL_INT64, two) },
          .out = { holding(SEQ, REAL, equal, 3) } },
        { .op = "SplitToSequence", .attributes = { axis }, .in = { in, vector(EVAL_INT64, sizes, 3) },
          .out = { holding(SEQ, REAL, given, 3) } },
        { .op = "SplitToSequence", .in = { in }, .out = { holding(SEQ, REAL, thin, 2) } },
        { .op = "SplitToSequence", .attributes = { evl_attribute_int("keepdims", 0) }, .in = { in },
          .out = { holding(SEQ, REAL, rows, 2) } },
        { .op = "SplitToSequence", .attributes = { evl_attribute_int("keepdims", 0) },
          .in = { in, scalar(EVAL_INT64, two) }, /* keepdims says nothing where sizes are given */
          .out = { holding(SEQ, REAL, &in, 1) } },
        { .op = "SplitToSequence", .attributes = { axis }, .in = { in, vector(EVAL_INT64, wrong, 2) },
          .out = { holding(SEQ, REAL, given, 3) }, .status = EVAL_ERR_SHAPE },
        { .op = "SplitToSequence", .in = { in, scalar(EVAL_INT64, none) },
          .out = { holding(SEQ, REAL, given, 3) }, .status = EVAL_ERR_SHAPE },
        { .op = "SplitToSequence", .in = { matrix(REAL, whole, 0, 5) },
          .out = { holding(SEQ, REAL, given, 0) } },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void a_sequence_is_joined_along_an_axis(void **state)
{
    (void)state;
    static const double turned[] = { 0, 10, 1, 11, 2, 12, 3, 13, 4, 14 };
    const evl_tensor parts[] = { matrix(REAL, left, 2, 2), matrix(REAL, left, 2, 0),
                                 matrix(REAL, rest, 2, 3) };
    const evl_tensor rows[] = { reals(whole, 5), reals(whole + 5, 5) };
    const evl_tensor uneven[] = { reals(whole, 5), reals(whole + 5, 4) };
    const evl_attribute axis = evl_attribute_int("axis", 1), first = evl_attribute_int("axis", 0);
    const evl_attribute is_new = evl_attribute_int("new_axis", 1);
    const op_case cases[] = {
        { .op = "ConcatFromSequence", .attributes = { axis }, .in = { holding(SEQ, REAL, parts, 3) },
          .out = { matrix(REAL, whole, 2, 5) } },
        { .op = "ConcatFromSequence", .attributes = { first, is_new },
          .in = { holding(SEQ, REAL, rows, 2) }, .out = { matrix(REAL, whole, 2, 5) } },
        { .op = "ConcatFromSequence", .attributes = { axis, is_new },
          .in = { holding(SEQ, REAL, rows, 2) }, .out = { matrix(REAL, turned, 5, 2) } },
        { .op = "ConcatFromSequence", .attributes = { first }, .in = { holding(SEQ, REAL, uneven, 2) },
          .out = { reals(whole, 9) } },
        { .op = "ConcatFromSequence", .attributes = { first, is_new },
          .in = { holding(SEQ, REAL, uneven, 2) }, .out = { reals(whole, 9) },
          .status = EVAL_ERR_SHAPE },
        { .op = "ConcatFromSequence", .attributes = { first }, .in = { holding(SEQ, REAL, rows, 0) },
          .out = { reals(whole, 0) }, .status = EVAL_ERR_SHAPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_is_cut_along_an_axis),
        cmocka_unit_test(a_sequence_is_joined_along_an_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
