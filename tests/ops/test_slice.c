#include "ops/moved.h"

/* Positions that range(start, end, step) visits on one axis. ONNX clamps as Python does,
** but for a start before element 0 when the step is negative: it becomes 0, not -1. */
typedef struct visited {
    size_t n;
    int64_t at[64];
} visited;

static visited visit(int64_t start, int64_t end, int64_t step, int64_t size)
{
    visited v = { 0 };
    int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
    start += start < 0 ? size : 0;
    end += end < 0 ? size : 0;
    start = start < 0 ? 0 : start > highest ? highest : start;
    end = end < lowest ? lowest : end > highest ? highest : end;
    for (int64_t i = start; step > 0 ? i < end : i > end; i += step)
        v.at[v.n++] = i;
    return v;
}

static int64_t from_visited(const moved *m, size_t i)
{
    const visited *v = m->arg;
    int64_t at[2];
    moved_position(2, m->dims, i, at);
    return moved_index(&m->in[0].shape, (const int64_t[2]){ v[0].at[at[0]], v[1].at[at[1]] });
}

static void every_range_visits_what_the_standard_says(void **unused)
{
    static const int64_t ends[] = { -9, -6, -5, -1, 0, 1, 4, 5, 9 };
    static const int64_t steps[] = { 1, 2, 7, -1, -2, -7 };
    const int64_t dims[] = { 5, 3 };
    (void)unused;
    for (size_t code = 0; code < 9 * 9 * 6; code++) {
        const int64_t starts[] = { ends[code % 9], 2 }, stops[] = { ends[code / 9 % 9], -4 };
        const int64_t step[] = { steps[code / 81], -1 }, axes[] = { 0, -1 };
        visited v[2] = { visit(starts[0], stops[0], step[0], 5), visit(2, -4, -1, 3) };
        moved m = { .op = "Slice",
                    .n_in = 5,
                    .source = from_visited,
                    .arg = v,
                    .rank = 2,
                    .in = { moved_shape(2, dims), moved_list(2, starts), moved_list(2, stops),
                            moved_list(2, axes), moved_list(2, step) },
                    .dims = { (int64_t)v[0].n, (int64_t)v[1].n } };
        moved_check_one(&m, EVAL_FLOAT32, code % 2, 0);
    }
}

static void all_element_sizes_and_opset_1(void **unused)
{
    const int64_t dims[] = { 30, 40 }, starts[] = { 3, -20 }, stops[] = { INT64_MAX, -3 };
    const int64_t axes[] = { 0, 1 };
    const evl_attribute a[] = { evl_attribute_ints("starts", starts, 2),
                                evl_attribute_ints("ends", stops, 2),
                                evl_attribute_ints("axes", axes, 2) };
    visited v[2] = { visit(3, 1000, 1, 30), visit(-20, -3, 1, 40) };
    moved m = { .op = "Slice",
                .n_in = 3,
                .source = from_visited,
                .arg = v,
                .rank = 2,
                .in = { moved_shape(2, dims), moved_list(2, starts), moved_list(2, stops) },
                .dims = { 27, 17 } };
    (void)unused;
    moved_check(&m);
    m.n_in = 1;
    m.version = 1;
    m.attributes = a;
    m.n_attributes = 2;
    moved_check(&m);
    m.n_attributes = 3;
    moved_check(&m);
}

static void extreme_numbers_are_cut_off(void **unused)
{
    static const int64_t extremes[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1 };
    const int64_t dims[] = { 5, 3 };
    (void)unused;
    for (size_t code = 0; code < 64; code++) {
        int64_t start = extremes[code % 4], end = extremes[code / 4 % 4],
                step = extremes[code / 16];
        int64_t first = start < 0  ? 0
                        : step > 0 ? 5
                                   : 4,
                stop = end < 0    ? step > 0 ? 0 : -1
                       : step > 0 ? 5
                                  : 4;
        visited v[2] = { { .n = step > 0 ? first < stop : first > stop, .at = { first } },
                         { .n = 3, .at = { 0, 1, 2 } } };
        moved m = { .op = "Slice",
                    .n_in = 5,
                    .source = from_visited,
                    .arg = v,
                    .rank = 2,
                    .in = { moved_shape(2, dims),
                            moved_list(1, &start),
                            moved_list(1, &end),
                            { .type = EVAL_UNDEFINED },
                            moved_list(1, &step) },
                    .dims = { (int64_t)v[0].n, 3 } };
        moved_check_one(&m, EVAL_INT64, false, 0);
    }
}

static void bad_lists_are_refused(void **unused)
{
    const int64_t dims[] = { 5, 3 }, zero[] = { 0, 0, 0 }, twice[] = { 1, 1 }, far[] = { 0, 2 };
    moved m = { .op = "Slice",
                .n_in = 5,
                .in = { moved_shape(2, dims), moved_list(2, zero), moved_list(2, dims) } };
    (void)unused;
    m.in[4] = moved_list(2, zero);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE); /* a step of 0 */
    m.in[4] = moved_list(1, dims);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.n_in = 4;
    m.in[3] = moved_list(2, twice);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[3] = moved_list(2, far);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.in[3] = moved_list(1, twice);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.n_in = 3;
    m.in[1] = m.in[2] = moved_list(3, zero);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
    m.n_in = 2;
    assert_int_equal(moved_fails(&m), EVAL_ERR_FORMAT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_range_visits_what_the_standard_says),
        cmocka_unit_test(all_element_sizes_and_opset_1),
        cmocka_unit_test(extreme_numbers_are_cut_off),
        cmocka_unit_test(bad_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
