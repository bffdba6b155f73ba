#include "ops/moved.h"

/* Positions modulo the input's sizes, from the last dimension on: both for repeated
** elements of size 1 and for tiles. */
static int64_t repeated(const moved *m, size_t i)
{
    const evl_shape *in = &m->in[0].shape;
    int64_t at[EVAL_MAX_RANK], from[EVAL_MAX_RANK];
    moved_position(m->rank, m->dims, i, at);
    for (int32_t d = 0; d < in->rank; d++)
        from[d] = at[(int32_t)m->rank - in->rank + d] % in->dim[d];
    return moved_index(in, from);
}

static void expand_repeats_what_has_size_one(void **unused)
{
    static const struct {
        size_t in_rank, shape_rank, rank;
        int64_t in[3], shape[4], out[4];
    } cases[] = {
        { 2, 2, 2, { 3, 1 }, { 3, 4 }, { 3, 4 } },
        { 2, 3, 3, { 3, 1 }, { 2, 1, 6 }, { 2, 3, 6 } },
        { 3, 1, 3, { 1, 3, 1 }, { 5 }, { 1, 3, 5 } },
        { 1, 4, 4, { 5 }, { 2, 3, 4, 5 }, { 2, 3, 4, 5 } },
        { 0, 2, 2, { 0 }, { 2, 3 }, { 2, 3 } },
        { 3, 2, 3, { 2, 3, 4 }, { 1, 1 }, { 2, 3, 4 } },
        { 2, 2, 2, { 1, 4 }, { 0, 4 }, { 0, 4 } },
        { 2, 0, 2, { 2, 2 }, { 0 }, { 2, 2 } },
        { 2, 3, 3, { 1, 300 }, { 400, 1, 1 }, { 400, 1, 300 } },
        { 2, 2, 2, { 400, 1 }, { 1, 300 }, { 400, 300 } },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        moved m = { .op = "Expand", .n_in = 2, .rank = cases[i].rank, .source = repeated };
        m.in[0] = moved_shape(cases[i].in_rank, cases[i].in);
        m.in[1] = moved_list(cases[i].shape_rank, cases[i].shape);
        memcpy(m.dims, cases[i].out, sizeof cases[i].out);
        moved_check(&m);
    }
}

static void expand_refuses_other_sizes(void **unused)
{
    const int64_t dims[] = { 2, 3 }, other[] = { 2, 4 }, negative[] = { -1, 3 };
    moved m = { .op = "Expand", .n_in = 2, .in = { moved_shape(2, dims), moved_list(2, other) } };
    (void)unused;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[1] = moved_list(2, negative);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
}

static void tile_repeats_every_axis(void **unused)
{
    const int64_t dims[] = { 2, 3, 1, 5 }, times[] = { 3, 1, 4, 2 };
    moved m = { .op = "Tile",
                .n_in = 2,
                .rank = 4,
                .dims = { 6, 3, 4, 10 },
                .source = repeated,
                .in = { moved_shape(4, dims), moved_list(4, times) } };
    (void)unused;
    moved_check(&m);
    m.version = 6;
    moved_check(&m);
}

static void tile_can_leave_nothing(void **unused)
{
    const int64_t dims[] = { 2, 3 }, times[] = { 0, 2 }, empty[] = { 0, 3 };
    moved m = { .op = "Tile",
                .n_in = 2,
                .rank = 2,
                .dims = { 0, 6 },
                .source = repeated,
                .in = { moved_shape(2, dims), moved_list(2, times) } };
    (void)unused;
    moved_check(&m);
    m.in[0] = moved_shape(2, empty);
    m.in[1] = moved_list(2, dims);
    m.dims[1] = 9;
    moved_check(&m);
}

static void tile_of_opset_1_repeats_one_axis(void **unused)
{
    const int64_t dims[] = { 2, 3 }, times = 4, axis = 1;
    moved m = { .op = "Tile",
                .version = 1,
                .n_in = 3,
                .rank = 2,
                .dims = { 2, 12 },
                .source = repeated,
                .in = { moved_shape(2, dims), moved_list(1, &times), moved_list(1, &axis) } };
    (void)unused;
    moved_check(&m);
}

static void tile_refuses_bad_repeats(void **unused)
{
    const int64_t dims[] = { 2, 3 }, negative[] = { 2, -1 }, huge[] = { INT64_MAX, 2 };
    moved m = { .op = "Tile", .n_in = 2, .in = { moved_shape(2, dims), moved_list(2, negative) } };
    (void)unused;
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[1] = moved_list(1, dims);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[1] = moved_list(2, huge);
    assert_int_equal(moved_fails(&m), EVAL_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expand_repeats_what_has_size_one),
        cmocka_unit_test(expand_refuses_other_sizes),
        cmocka_unit_test(tile_repeats_every_axis),
        cmocka_unit_test(tile_can_leave_nothing),
        cmocka_unit_test(tile_of_opset_1_repeats_one_axis),
        cmocka_unit_test(tile_refuses_bad_repeats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
