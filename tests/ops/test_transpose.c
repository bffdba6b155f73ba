#include "ops/moved.h"

/* Output position p is input position q with q[perm[d]] = p[d]. */
static int64_t transposed(const moved *m, size_t i)
{
    const int64_t *perm = m->arg;
    int64_t at[EVAL_MAX_RANK], from[EVAL_MAX_RANK];
    moved_position(m->rank, m->dims, i, at);
    for (size_t d = 0; d < m->rank; d++)
        from[perm[d]] = at[d];
    return moved_index(&m->in[0].shape, from);
}

static void check_order(size_t rank, const int64_t *dims, const int64_t *perm)
{
    const evl_attribute order = evl_attribute_ints("perm", perm, rank);
    moved m = { .op = "Transpose",
                .attributes = &order,
                .n_attributes = 1,
                .n_in = 1,
                .in = { moved_shape(rank, dims) },
                .rank = rank,
                .source = transposed,
                .arg = perm };
    for (size_t d = 0; d < rank; d++)
        m.dims[d] = dims[perm[d]];
    moved_check(&m);
}

static void every_order_of_four_dimensions(void **unused)
{
    const int64_t dims[] = { 2, 3, 1, 5 };
    (void)unused;
    for (int64_t code = 0; code < 256; code++) {
        const int64_t perm[] = { code % 4, code / 4 % 4, code / 16 % 4, code / 64 };
        int seen = 0;
        for (int d = 0; d < 4; d++)
            seen |= 1 << perm[d];
        if (seen == 15)
            check_order(4, dims, perm);
    }
}

static void sizes_of_zero_and_large_ones(void **unused)
{
    (void)unused;
    check_order(3, (const int64_t[]){ 2, 0, 3 }, (const int64_t[]){ 2, 0, 1 });
    check_order(2, (const int64_t[]){ 301, 263 }, (const int64_t[]){ 1, 0 });
    check_order(4, (const int64_t[]){ 2, 3, 120, 131 }, (const int64_t[]){ 0, 2, 3, 1 });
    check_order(4, (const int64_t[]){ 2, 120, 131, 3 }, (const int64_t[]){ 0, 3, 1, 2 });
}

static void without_an_order_dimensions_are_reversed(void **unused)
{
    const int64_t dims[] = { 2, 3, 4 }, perm[] = { 2, 1, 0 };
    moved m = { .op = "Transpose",
                .n_in = 1,
                .in = { moved_shape(3, dims) },
                .rank = 3,
                .dims = { 4, 3, 2 },
                .source = transposed,
                .arg = perm };
    (void)unused;
    moved_check(&m);
    m.in[0] = moved_shape(0, NULL);
    m.rank = 0;
    moved_check(&m);
}

static void bad_orders_are_refused(void **unused)
{
    static const int64_t bad[][3] = { { 0, 0, 1 }, { 0, 1, 3 }, { 0, -5, 1 } };
    const int64_t dims[] = { 2, 3, 4 };
    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        const evl_attribute order = evl_attribute_ints("perm", bad[i % 3], i < 3 ? 3 : 2);
        moved m = { .op = "Transpose",
                    .attributes = &order,
                    .n_attributes = 1,
                    .n_in = 1,
                    .in = { moved_shape(3, dims) } };
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    }
}

static void an_order_and_its_inverse_change_nothing(void **unused)
{
    const int64_t dims[] = { 3, 4, 5 }, perm[] = { 2, 0, 1 }, inverse[] = { 1, 2, 0 };
    const evl_attribute there_order = evl_attribute_ints("perm", perm, 3);
    const evl_attribute back_order = evl_attribute_ints("perm", inverse, 3);
    evl_op_run there = {
        .op = &evl_op_transpose, .n_in = 1, .attributes = &there_order, .n_attributes = 1
    };
    evl_op_run back = {
        .op = &evl_op_transpose, .n_in = 1, .attributes = &back_order, .n_attributes = 1
    };
    evl_context *ctx = evl_test_begin();
    double x[60];
    (void)unused;
    for (size_t i = 0; i < 60; i++)
        x[i] = (double)i;
    there.in[0] = evl_test_reals(x, 3, dims);
    assert_int_equal(evl_run_op(ctx, &there, EVL_DOUBLE, 0), EVAL_OK);
    back.in[0] = there.out[0];
    assert_int_equal(evl_run_op(ctx, &back, EVL_DOUBLE, 0), EVAL_OK);
    assert_memory_equal(back.out[0].data, x, sizeof x);
    evl_run_op_end(&there);
    evl_run_op_end(&back);
    evl_test_end(ctx);
}

enum { B = 2 };

/* Where pixel (h, w) of channel c comes from. */
static int64_t from_depth(const moved *m, size_t i)
{
    int64_t at[4], c = m->dims[1], block;
    moved_position(4, m->dims, i, at);
    block = at[2] % B * B + at[3] % B;
    const int64_t from[4] = { at[0], m->arg ? at[1] * B * B + block : block * c + at[1], at[2] / B,
                              at[3] / B };
    return moved_index(&m->in[0].shape, from);
}

static int64_t from_space(const moved *m, size_t i)
{
    int64_t at[4], c = m->in[0].shape.dim[1], block;
    moved_position(4, m->dims, i, at);
    block = at[1] / c;
    const int64_t from[4] = { at[0], at[1] % c, at[2] * B + block / B, at[3] * B + block % B };
    return moved_index(&m->in[0].shape, from);
}

static void depth_becomes_space_in_both_modes(void **unused)
{
    const int64_t dims[] = { 2, 12, 3, 5 };
    const evl_attribute crd[] = { evl_attribute_int("blocksize", B),
                                  evl_attribute_text("mode", "CRD") };
    moved m = { .op = "DepthToSpace",
                .attributes = crd,
                .n_attributes = 1,
                .n_in = 1,
                .in = { moved_shape(4, dims) },
                .rank = 4,
                .dims = { 2, 3, 6, 10 },
                .source = from_depth,
                .version = 1 };
    (void)unused;
    moved_check(&m);
    m.version = 13;
    m.n_attributes = 2;
    m.arg = &m;
    moved_check(&m);
}

static void space_becomes_depth(void **unused)
{
    const int64_t dims[] = { 2, 3, 6, 10 };
    const evl_attribute block = evl_attribute_int("blocksize", B);
    moved m = { .op = "SpaceToDepth",
                .attributes = &block,
                .n_attributes = 1,
                .n_in = 1,
                .in = { moved_shape(4, dims) },
                .rank = 4,
                .dims = { 2, 12, 3, 5 },
                .source = from_space };
    (void)unused;
    moved_check(&m);
}

static void blocks_that_do_not_fit_are_refused(void **unused)
{
    const int64_t dims[] = { 1, 3, 3, 3 };
    static const int64_t sizes[] = { 2, 0, -1, INT64_MAX };
    (void)unused;
    for (size_t i = 0; i < 4; i++) {
        const evl_attribute block = evl_attribute_int("blocksize", sizes[i]);
        moved m = { .op = "DepthToSpace",
                    .attributes = &block,
                    .n_attributes = 1,
                    .n_in = 1,
                    .in = { moved_shape(4, dims) } };
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
        m.op = "SpaceToDepth";
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
        m.in[0] = moved_shape(3, dims);
        assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_four_dimensions),
        cmocka_unit_test(sizes_of_zero_and_large_ones),
        cmocka_unit_test(without_an_order_dimensions_are_reversed),
        cmocka_unit_test(bad_orders_are_refused),
        cmocka_unit_test(an_order_and_its_inverse_change_nothing),
        cmocka_unit_test(depth_becomes_space_in_both_modes),
        cmocka_unit_test(space_becomes_depth),
        cmocka_unit_test(blocks_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
