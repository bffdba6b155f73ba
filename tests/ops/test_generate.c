#include "ops/ops.h"
#include "support/run_op.h"
#include <string.h>

/* Runs and compares with n elements of a type; floats are double. */
static void check(evl_op_run *r, EvalType type, size_t rank, size_t n, const void *wanted)
{
    for (int code = 0; code < 4; code++) {
        evl_context *ctx = evl_test_begin();
        r->hide_data = code / 2;
        EvalStatus st = evl_run_op(ctx, r, code % 2 ? EVL_DOUBLE : EVL_FLOAT, 0);
        if (st)
            print_error("%s\n", ctx->error.text);
        assert_int_equal(st, EVAL_OK);
        assert_int_equal(r->out[0].type, type);
        assert_int_equal(r->out[0].shape.rank, rank);
        assert_int_equal(evl_shape_count(&r->out[0].shape), n);
        assert_memory_equal(r->out[0].data, wanted, n * evl_type_size(type));
        evl_run_op_end(r);
        evl_test_end(ctx);
    }
}

static EvalStatus status_of(evl_op_run *r)
{
    evl_context *ctx = evl_test_begin();
    EvalStatus st = evl_run_op(ctx, r, EVL_FLOAT, 0);
    evl_run_op_end(r);
    evl_test_end(ctx);
    return st;
}

static void constants_come_from_every_attribute(void **unused)
{
    const int64_t ints[] = { 5, -6 }, two = 2;
    const double numbers[] = { 0.5, -2.25, 8 };
    const uint8_t bytes[] = { 7, 9 };
    const EvalString texts[] = { { "ab", 2 }, { "", 0 } };
    const evl_tensor tensor = evl_test_tensor(EVAL_UINT8, bytes, 1, &two);
    evl_attribute a = evl_attribute_int("value_int", 5);
    evl_op_run r = { .op = &evl_op_constant, .attributes = &a, .n_attributes = 1 };
    (void)unused;
    check(&r, EVAL_INT64, 0, 1, ints);
    a = evl_attribute_ints("value_ints", ints, 2);
    check(&r, EVAL_INT64, 1, 2, ints);
    a = evl_attribute_number("value_float", 0.5);
    check(&r, EVAL_FLOAT64, 0, 1, numbers);
    a = evl_attribute_numbers("value_floats", numbers, 3);
    check(&r, EVAL_FLOAT64, 1, 3, numbers);
    a = (evl_attribute){ .name = "value", .kind = EVL_ATTRIBUTE_TENSOR, .u.tensor = &tensor };
    check(&r, EVAL_UINT8, 1, 2, bytes);
    a = (evl_attribute){ .name = "value_string", .kind = EVL_ATTRIBUTE_TEXT, .u.text = texts[0] };
    check(&r, EVAL_STRING, 0, 1, texts);
    a = (evl_attribute){
        .name = "value_strings", .kind = EVL_ATTRIBUTE_TEXTS, .n = 2, .u.texts = texts
    };
    check(&r, EVAL_STRING, 1, 2, texts);
    r.n_attributes = 0;
    assert_int_equal(status_of(&r), EVAL_ERR_UNSUPPORTED);
}

static void a_constant_of_shape_repeats_its_value(void **unused)
{
    const int64_t dims[] = { 2, 3 }, one = 1, wanted[] = { -9, -9, -9, -9, -9, -9 }, value = -9;
    const double zeros[6] = { 0 };
    const evl_tensor tensor = evl_test_ints(&value, 1, &one), wrong = evl_test_ints(dims, 1, dims);
    evl_attribute a = { .name = "value", .kind = EVL_ATTRIBUTE_TENSOR, .u.tensor = &tensor };
    evl_op_run r = { .op = &evl_op_constant_of_shape,
                     .n_in = 1,
                     .in = { evl_test_ints(dims, 1, (const int64_t[1]){ 2 }) } };
    (void)unused;
    check(&r, EVAL_FLOAT64, 2, 6, zeros);
    r.attributes = &a;
    r.n_attributes = 1;
    check(&r, EVAL_INT64, 2, 6, wanted);
    r.in[0] = evl_test_ints(dims, 1, (const int64_t[1]){ 0 });
    check(&r, EVAL_INT64, 0, 1, wanted);
    a.u.tensor = &wrong;
    assert_int_equal(status_of(&r), EVAL_ERR_FORMAT);
}

static void absurd_shapes_are_refused(void **unused)
{
    const int64_t dims[] = { -1, INT64_MAX, INT64_MAX };
    evl_op_run r = { .op = &evl_op_constant_of_shape,
                     .n_in = 1,
                     .in = { evl_test_ints(dims, 1, (const int64_t[1]){ 1 }) } };
    (void)unused;
    assert_int_equal(status_of(&r), EVAL_ERR_SHAPE);
    r.in[0] = evl_test_ints(dims + 1, 1, (const int64_t[1]){ 2 });
    assert_int_not_equal(status_of(&r), EVAL_OK);
}

static void ranges_count_as_an_obvious_loop_does(void **unused)
{
    static const int64_t cases[][3] = { { 0, 5, 1 }, { 3, 10, 3 },   { 10, -5, -4 }, { 5, 5, 1 },
                                        { 5, 0, 1 }, { 0, 1000, 1 }, { 7, 8, 100 },  { -3, 3, 6 } };
    (void)unused;
    for (size_t i = 0; i < 8; i++) {
        int64_t start = cases[i][0], limit = cases[i][1], delta = cases[i][2], wanted[1000];
        double numbers[1000], in[3] = { (double)start / 4, (double)limit / 4, (double)delta / 4 };
        size_t n = 0;
        for (int64_t v = start; delta > 0 ? v < limit : v > limit; v += delta)
            wanted[n++] = v;
        for (size_t j = 0; j < n; j++)
            numbers[j] = (double)wanted[j] / 4;
        evl_op_run r = { .op = &evl_op_range, .n_in = 3 };
        for (size_t j = 0; j < 3; j++)
            r.in[j] = evl_test_ints(&cases[i][j], 0, NULL);
        check(&r, EVAL_INT64, 1, n, wanted);
        for (size_t j = 0; j < 3; j++)
            r.in[j] = evl_test_reals(&in[j], 0, NULL);
        check(&r, EVAL_FLOAT64, 1, n, numbers);
    }
}

static void ranges_of_narrow_and_extreme_integers(void **unused)
{
    const int16_t narrow[] = { 4, -4, -3 }, narrow_wanted[] = { 4, 1, -2 };
    const int64_t far[] = { INT64_MIN, INT64_MAX, INT64_MAX },
                  far_wanted[] = { INT64_MIN, -1, INT64_MAX - 1 };
    evl_op_run r = { .op = &evl_op_range, .n_in = 3 };
    (void)unused;
    for (size_t j = 0; j < 3; j++)
        r.in[j] = evl_test_tensor(EVAL_INT16, &narrow[j], 0, NULL);
    check(&r, EVAL_INT16, 1, 3, narrow_wanted);
    for (size_t j = 0; j < 3; j++)
        r.in[j] = evl_test_ints(&far[j], 0, NULL);
    check(&r, EVAL_INT64, 1, 3, far_wanted);
}

static void ranges_without_end_are_refused(void **unused)
{
    const double numbers[] = { 0, 1, 1e300, 1e-300 };
    const int64_t ints[] = { 0, INT64_MIN, INT64_MAX, 1 };
    evl_op_run r = { .op = &evl_op_range, .n_in = 3 };
    (void)unused;
    r.in[0] = evl_test_reals(&numbers[0], 0, NULL);
    r.in[1] = evl_test_reals(&numbers[1], 0, NULL);
    r.in[2] = evl_test_reals(&numbers[0], 0, NULL);
    assert_int_equal(status_of(&r), EVAL_ERR_SHAPE);
    r.in[1] = evl_test_reals(&numbers[2], 0, NULL);
    r.in[2] = evl_test_reals(&numbers[1], 0, NULL);
    assert_int_equal(status_of(&r), EVAL_ERR_LIMIT);
    r.in[2] = evl_test_ints(&ints[3], 0, NULL);
    assert_int_equal(status_of(&r), EVAL_ERR_TYPE);
    for (size_t j = 0; j < 3; j++)
        r.in[j] = evl_test_ints(&ints[j + 1], 0, NULL);
    assert_int_equal(status_of(&r), EVAL_ERR_LIMIT);
    r.in[2] = evl_test_ints(&ints[0], 0, NULL);
    assert_int_equal(status_of(&r), EVAL_ERR_SHAPE);
}

static void eye_like_has_ones_on_one_diagonal(void **unused)
{
    static const int64_t diagonals[] = { 0, 1, -1, 2, -2, 3, -9, INT64_MAX, INT64_MIN };
    const int64_t dims[] = { 2, 3 };
    const double x[6] = { 9, 9, 9, 9, 9, 9 };
    (void)unused;
    for (size_t i = 0; i < 9; i++) {
        const evl_attribute a[] = { evl_attribute_int("k", diagonals[i]),
                                    evl_attribute_int("dtype", EVAL_INT32) };
        evl_op_run r = { .op = evl_op_find("", "EyeLike"),
                         .attributes = a,
                         .n_attributes = 1,
                         .in = { evl_test_reals(x, 2, dims) },
                         .n_in = 1 };
        double wanted[6];
        int32_t wanted_ints[6];
        for (int64_t j = 0; j < 6; j++) {
            wanted[j] = j % 3 - j / 3 == diagonals[i];
            wanted_ints[j] = wanted[j] != 0;
        }
        check(&r, EVAL_FLOAT64, 2, 6, wanted);
        r.n_attributes = 2;
        check(&r, EVAL_INT32, 2, 6, wanted_ints);
    }
}

static void eye_like_refuses_other_ranks_and_types(void **unused)
{
    const int64_t dims[] = { 2, 3 };
    const double x[6] = { 0 };
    const evl_attribute type = evl_attribute_int("dtype", 4711);
    evl_op_run r = { .op = evl_op_find("", "EyeLike"),
                     .in = { evl_test_reals(x, 1, dims) },
                     .n_in = 1 };
    (void)unused;
    assert_int_equal(status_of(&r), EVAL_ERR_SHAPE);
    r.in[0] = evl_test_reals(x, 2, dims);
    r.attributes = &type;
    r.n_attributes = 1;
    assert_int_equal(status_of(&r), EVAL_ERR_TYPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_come_from_every_attribute),
        cmocka_unit_test(a_constant_of_shape_repeats_its_value),
        cmocka_unit_test(absurd_shapes_are_refused),
        cmocka_unit_test(ranges_count_as_an_obvious_loop_does),
        cmocka_unit_test(ranges_of_narrow_and_extreme_integers),
        cmocka_unit_test(ranges_without_end_are_refused),
        cmocka_unit_test(eye_like_has_ones_on_one_diagonal),
        cmocka_unit_test(eye_like_refuses_other_ranks_and_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
