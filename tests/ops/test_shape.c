#include "ops/ops.h"
#include "support/run_op.h"

static const double x[24];
static const int64_t dims[] = { 2, 3, 4 };

static void check_part(int64_t start, int64_t end, size_t n, const int64_t *wanted)
{
    const evl_attribute a[] = { evl_attribute_int("start", start), evl_attribute_int("end", end) };
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_shape,
                     .attributes = a,
                     .n_attributes = end == 99 ? 1 : 2,
                     .in = { evl_test_reals(x, 3, dims) },
                     .n_in = 1,
                     .hide_data = true };
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_int_equal(r.out[0].type, EVAL_INT64);
    assert_int_equal(r.out[0].shape.rank, 1);
    assert_int_equal(r.out[0].shape.dim[0], n);
    assert_memory_equal(r.out[0].data, wanted, n * sizeof *wanted);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static void a_part_of_the_shape_is_cut_off_at_both_ends(void **unused)
{
    (void)unused;
    check_part(0, 99, 3, dims);
    check_part(1, 99, 2, dims + 1);
    check_part(-1, 99, 1, dims + 2);
    check_part(0, -1, 2, dims);
    check_part(-9, 9, 3, dims);
    check_part(1, 2, 1, dims + 1);
    check_part(2, 1, 0, dims);
    check_part(INT64_MIN, INT64_MAX, 3, dims);
}

static void a_scalar_has_an_empty_shape_and_size_one(void **unused)
{
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_shape, .in = { evl_test_reals(x, 0, NULL) }, .n_in = 1 };
    (void)unused;
    assert_int_equal(evl_run_op(ctx, &r, EVL_DOUBLE, 0), EVAL_OK);
    assert_int_equal(r.out[0].shape.dim[0], 0);
    evl_run_op_end(&r);
    r.op = &evl_op_size;
    assert_int_equal(evl_run_op(ctx, &r, EVL_DOUBLE, 0), EVAL_OK);
    assert_int_equal(*(int64_t *)r.out[0].data, 1);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static void size_is_the_product_of_the_shape(void **unused)
{
    const int64_t empty[] = { 2, 0, 4 };
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_size, .in = { evl_test_reals(x, 3, dims) }, .n_in = 1 };
    (void)unused;
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_int_equal(r.out[0].shape.rank, 0);
    assert_int_equal(*(int64_t *)r.out[0].data, 24);
    evl_run_op_end(&r);
    r.in[0] = evl_test_reals(x, 3, empty);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_int_equal(*(int64_t *)r.out[0].data, 0);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_of_the_shape_is_cut_off_at_both_ends),
        cmocka_unit_test(a_scalar_has_an_empty_shape_and_size_one),
        cmocka_unit_test(size_is_the_product_of_the_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
