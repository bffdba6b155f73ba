#include "ops/moved.h"

static int64_t same(const moved *m, size_t i)
{
    (void)m;
    return (int64_t)i;
}

/* The same elements as `rank` dimensions `dims`. */
static moved case_of(const char *op, int version, evl_tensor in, size_t rank, const int64_t *dims)
{
    moved m = {
        .op = op, .version = version, .in = { in }, .n_in = 1, .rank = rank, .source = same
    };
    memcpy(m.dims, dims, rank * sizeof *dims);
    return m;
}

static const int64_t two_three_four[] = { 2, 3, 4 };

static void reshape_copies_zeros_and_infers_minus_one(void **unused)
{
    const int64_t asked[] = { 0, -1, 2 }, result[] = { 2, 6, 2 };
    const evl_attribute shape = evl_attribute_ints("shape", asked, 3);
    moved m = case_of("Reshape", 0, moved_shape(3, two_three_four), 3, result);
    (void)unused;
    m.in[1] = moved_list(3, asked);
    m.n_in = 2;
    moved_check(&m);
    m.n_in = 1; /* opset 1: an attribute */
    m.version = 1;
    m.attributes = &shape;
    m.n_attributes = 1;
    moved_check(&m);
}

static void reshape_keeps_zeros_when_it_allows_them(void **unused)
{
    const int64_t empty[] = { 0, 3 }, asked[] = { 5, 0 }, batch[] = { 0, -1 };
    const evl_attribute allow = evl_attribute_int("allowzero", 1);
    moved m = case_of("Reshape", 14, moved_shape(2, empty), 2, asked);
    (void)unused;
    m.in[1] = moved_list(2, asked);
    m.n_in = 2;
    m.attributes = &allow;
    m.n_attributes = 1;
    moved_check(&m);
    m = case_of("Reshape", 14, moved_shape(2, empty), 2,
                empty); /* an empty batch keeps its width */
    m.in[1] = moved_list(2, batch);
    m.n_in = 2;
    moved_check(&m);
}

static void reshape_to_no_dimension_is_a_scalar(void **unused)
{
    const int64_t one[] = { 1, 1 }, none[] = { 0 };
    moved m = case_of("Reshape", 0, moved_shape(2, one), 0, none);
    (void)unused;
    m.in[1] = moved_list(0, none);
    m.n_in = 2;
    moved_check(&m);
}

static void reshape_refuses_what_does_not_fit(void **unused)
{
    static const int64_t bad[][4] = {
        { 5, 5, 1, 1 }, { -1, -1, 4, 1 }, { -2, 3, 4, 1 }, { 7, -1, 1, 1 }, { 0, 3, 4, 0 }
    };
    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        moved m = case_of("Reshape", 0, moved_shape(3, two_three_four), 0, two_three_four);
        m.in[1] = moved_list(4, bad[i]);
        m.n_in = 2;
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
        m.n_in = 1;
        assert_int_equal(moved_fails(&m), EVAL_ERR_FORMAT);
    }
}

static void flatten_makes_a_matrix_at_any_axis(void **unused)
{
    static const int64_t axis[] = { 0, 1, 2, 3, -1 };
    static const int64_t result[][2] = { { 1, 24 }, { 2, 12 }, { 6, 4 }, { 24, 1 }, { 6, 4 } };
    (void)unused;
    for (size_t i = 0; i < 5; i++) {
        const evl_attribute a = evl_attribute_int("axis", axis[i]);
        moved m = case_of("Flatten", 0, moved_shape(3, two_three_four), 2, result[i]);
        m.attributes = &a;
        m.n_attributes = 1;
        moved_check(&m);
    }
    const evl_attribute far = evl_attribute_int("axis", 4);
    moved m = case_of("Flatten", 0, moved_shape(3, two_three_four), 2, result[0]);
    m.attributes = &far;
    m.n_attributes = 1;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
}

static void squeeze_takes_axes_from_attribute_or_input(void **unused)
{
    const int64_t in[] = { 1, 3, 1, 1 }, axes[] = { 0, -2 }, some[] = { 3, 1 }, all[] = { 3 };
    const evl_attribute attribute = evl_attribute_ints("axes", axes, 2);
    moved m = case_of("Squeeze", 13, moved_shape(4, in), 2, some);
    (void)unused;
    m.in[1] = moved_list(2, axes);
    m.n_in = 2;
    moved_check(&m);
    m.n_in = 1;
    m.version = 11;
    m.attributes = &attribute;
    m.n_attributes = 1;
    moved_check(&m);
    m = case_of("Squeeze", 13, moved_shape(4, in), 1, all);
    moved_check(&m);
}

static void squeeze_refuses_other_sizes_and_axes(void **unused)
{
    static const int64_t bad[][2] = { { 1, 0 }, { 0, 0 }, { 0, 4 }, { 0, -4 } };
    const int64_t in[] = { 1, 3, 1, 1 };
    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        moved m = case_of("Squeeze", 13, moved_shape(4, in), 0, in);
        m.in[1] = moved_list(2, bad[i]);
        m.n_in = 2;
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    }
}

static void unsqueeze_counts_axes_in_the_result(void **unused)
{
    const int64_t in[] = { 3, 4 }, axes[] = { -1, 0, 2 }, result[] = { 1, 3, 1, 4, 1 };
    const int64_t twice[] = { 1, 1 };
    const evl_attribute attribute = evl_attribute_ints("axes", axes, 3);
    moved m = case_of("Unsqueeze", 13, moved_shape(2, in), 5, result);
    (void)unused;
    m.in[1] = moved_list(3, axes);
    m.n_in = 2;
    moved_check(&m);
    m.n_in = 1;
    m.version = 1;
    m.attributes = &attribute;
    m.n_attributes = 1;
    moved_check(&m);
    m = case_of("Unsqueeze", 13, moved_shape(2, in), 5, result);
    m.in[1] = moved_list(2, twice);
    m.n_in = 2;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
}

static void unsqueeze_is_undone_by_squeeze(void **unused)
{
    const int64_t in[] = { 2, 5 }, axes[] = { 1, 3 };
    evl_context *ctx = evl_test_begin();
    double x[10];
    evl_op_run there = { .op = &evl_op_unsqueeze, .n_in = 2 };
    evl_op_run back = { .op = &evl_op_squeeze, .n_in = 2 };
    (void)unused;
    for (size_t i = 0; i < 10; i++)
        x[i] = (double)i;
    there.in[0] = evl_test_reals(x, 2, in);
    there.in[1] = back.in[1] = moved_list(2, axes);
    assert_int_equal(evl_run_op(ctx, &there, EVL_FLOAT, 0), EVAL_OK);
    back.in[0] = there.out[0];
    assert_int_equal(evl_run_op(ctx, &back, EVL_FLOAT, 0), EVAL_OK);
    assert_true(evl_shape_equal(&back.out[0].shape, &there.in[0].shape));
    assert_memory_equal(back.out[0].data, x, sizeof x);
    evl_run_op_end(&there);
    evl_run_op_end(&back);
    evl_test_end(ctx);
}

static void identity_changes_nothing(void **unused)
{
    moved m = case_of("Identity", 0, moved_shape(3, two_three_four), 3, two_three_four);
    (void)unused;
    moved_check(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshape_copies_zeros_and_infers_minus_one),
        cmocka_unit_test(reshape_keeps_zeros_when_it_allows_them),
        cmocka_unit_test(reshape_to_no_dimension_is_a_scalar),
        cmocka_unit_test(reshape_refuses_what_does_not_fit),
        cmocka_unit_test(flatten_makes_a_matrix_at_any_axis),
        cmocka_unit_test(squeeze_takes_axes_from_attribute_or_input),
        cmocka_unit_test(squeeze_refuses_other_sizes_and_axes),
        cmocka_unit_test(unsqueeze_counts_axes_in_the_result),
        cmocka_unit_test(unsqueeze_is_undone_by_squeeze),
        cmocka_unit_test(identity_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
