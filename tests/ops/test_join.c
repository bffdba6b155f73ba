#include "ops/moved.h"

/* Concat is checked by its parts: part `input` of the whole is looked at through Split. */
typedef struct part {
    int32_t axis;
    int64_t at;
} part;

static int64_t part_of_whole(const moved *m, size_t i)
{
    const part *p = m->arg;
    int64_t at[EVAL_MAX_RANK];
    moved_position(m->rank, m->dims, i, at);
    at[p->axis] += p->at;
    return moved_index(&m->in[0].shape, at);
}

static void check_split(moved m, int32_t axis, const int64_t *sizes, size_t n)
{
    part p = { axis, 0 };
    m.n_out = n;
    m.rank = (size_t)m.in[0].shape.rank;
    m.source = part_of_whole;
    m.arg = &p;
    for (size_t i = 0; i < n; i++) {
        memcpy(m.dims, m.in[0].shape.dim, sizeof m.dims);
        m.dims[axis] = sizes[i];
        m.output = i;
        moved_check(&m);
        p.at += sizes[i];
    }
}

static const int64_t whole[] = { 3, 7, 5 };

static void split_takes_sizes_from_attribute_or_input(void **unused)
{
    const int64_t sizes[] = { 2, 0, 4, 1 };
    const evl_attribute a[] = { evl_attribute_int("axis", -2),
                                evl_attribute_ints("split", sizes, 4) };
    moved m = { .op = "Split",
                .version = 13,
                .attributes = a,
                .n_attributes = 1,
                .n_in = 2,
                .in = { moved_shape(3, whole), moved_list(4, sizes) } };
    (void)unused;
    check_split(m, 1, sizes, 4);
    m.version = 1; /* the input was optional */
    check_split(m, 1, sizes, 4);
    m.version = 11;
    m.n_in = 1;
    m.n_attributes = 2;
    check_split(m, 1, sizes, 4);
}

static void split_makes_equal_parts(void **unused)
{
    const int64_t ones[] = { 1, 1, 1 }, uneven[] = { 3, 3, 1 }, few[] = { 2, 2, 1, 0 };
    const evl_attribute a[] = { evl_attribute_int("axis", 1), evl_attribute_int("num_outputs", 3) };
    const evl_attribute last[] = { evl_attribute_int("axis", 2),
                                   evl_attribute_int("num_outputs", 4) };
    moved m = { .op = "Split", .n_in = 1, .in = { moved_shape(3, whole) } };
    (void)unused;
    check_split(m, 0, ones, 3);
    m.attributes = a;
    m.n_attributes = 2;
    check_split(m, 1, uneven, 3);
    m.attributes = last;
    check_split(m, 2, few, 4);
}

static void split_refuses_sizes_that_do_not_fit(void **unused)
{
    static const int64_t bad[][2] = { { 3, 3 }, { 4, 4 }, { -1, 8 }, { 7, 1 }, { INT64_MAX, 1 } };
    const evl_attribute a[] = { evl_attribute_int("axis", 1), evl_attribute_int("num_outputs", 3) };
    moved m = { .op = "Split",
                .attributes = a,
                .n_attributes = 1,
                .n_in = 2,
                .n_out = 2,
                .in = { moved_shape(3, whole) } };
    (void)unused;
    for (size_t i = 0; i < 5; i++) {
        m.in[1] = moved_list(2, bad[i]);
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    }
    m.in[1] = moved_list(1, whole);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.n_in = 1;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE); /* 7 in two */
    m.n_attributes = 2;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE); /* num_outputs 3, two outputs */
}

static void fill(double *x, size_t n, double from)
{
    for (size_t i = 0; i < n; i++)
        x[i] = from + (double)i;
}

static void concat_undoes_split(void **unused)
{
    static double x[105];
    (void)unused;
    fill(x, 105, 0);
    for (int64_t axis = 0; axis < 3; axis++) {
        const int64_t sizes[] = { 1, whole[axis] - 2, 0, 1 };
        const evl_attribute a = evl_attribute_int("axis", axis - (axis == 2 ? 3 : 0));
        evl_context *ctx = evl_test_begin();
        evl_op_run split = {
            .op = &evl_op_split, .attributes = &a, .n_attributes = 1, .n_in = 2, .n_out = 4
        };
        evl_op_run join = {
            .op = &evl_op_concat, .attributes = &a, .n_attributes = 1, .n_in = 4, .hide_data = true
        };
        split.in[0] = evl_test_reals(x, 3, whole);
        split.in[1] = moved_list(4, sizes);
        assert_int_equal(evl_run_op(ctx, &split, EVL_FLOAT, 0), EVAL_OK);
        memcpy(join.in, split.out, sizeof split.out);
        assert_int_equal(evl_run_op(ctx, &join, EVL_FLOAT, 0), EVAL_OK);
        assert_true(evl_shape_equal(&join.out[0].shape, &split.in[0].shape));
        assert_memory_equal(join.out[0].data, x, sizeof x);
        evl_run_op_end(&split);
        evl_run_op_end(&join);
        evl_test_end(ctx);
    }
}

static void concat_writes_parts_one_after_another(void **unused)
{
    const int64_t a_dims[] = { 2, 1 }, b_dims[] = { 2, 2 };
    const int64_t a[] = { 1, 2 }, b[] = { 3, 4, 5, 6 }, y[] = { 1, 3, 4, 2, 5, 6 };
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_concat, .version = 1, .n_in = 2 }; /* opset 1: axis 1 */
    (void)unused;
    r.in[0] = evl_test_ints(a, 2, a_dims);
    r.in[1] = evl_test_ints(b, 2, b_dims);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_memory_equal(r.out[0].data, y, sizeof y);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static EvalStatus join_two(evl_tensor a, evl_tensor b, int64_t axis)
{
    const evl_attribute attribute = evl_attribute_int("axis", axis);
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_concat, .attributes = &attribute, .n_attributes = 1, .n_in = 2 };
    EvalStatus st;
    r.in[0] = a;
    r.in[1] = b;
    st = evl_run_op(ctx, &r, EVL_FLOAT, 0);
    evl_run_op_end(&r);
    evl_test_end(ctx);
    return st;
}

static void concat_refuses_parts_that_do_not_fit(void **unused)
{
    const double x[6] = { 0 };
    const int64_t ints[6] = { 0 }, two_three[] = { 2, 3 }, three_two[] = { 3, 2 };
    evl_tensor a = evl_test_reals(x, 2, two_three), b = evl_test_reals(x, 2, three_two);
    (void)unused;
    assert_int_equal(join_two(a, b, 0), EVAL_ERR_SHAPE);
    assert_int_equal(join_two(a, evl_test_reals(x, 1, two_three), 0), EVAL_ERR_SHAPE);
    assert_int_equal(join_two(a, a, 2), EVAL_ERR_SHAPE);
    assert_int_equal(join_two(evl_test_reals(x, 0, NULL), evl_test_reals(x, 0, NULL), 0),
                     EVAL_ERR_SHAPE);
    assert_int_equal(join_two(a, evl_test_ints(ints, 2, two_three), 0), EVAL_ERR_TYPE);
    assert_int_equal(join_two(a, (evl_tensor){ 0 }, 0), EVAL_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(split_takes_sizes_from_attribute_or_input),
        cmocka_unit_test(split_makes_equal_parts),
        cmocka_unit_test(split_refuses_sizes_that_do_not_fit),
        cmocka_unit_test(concat_undoes_split),
        cmocka_unit_test(concat_writes_parts_one_after_another),
        cmocka_unit_test(concat_refuses_parts_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
