#include "ops/moved.h"

typedef struct triangle {
    bool is_upper;
    int64_t k;
} triangle;

static int64_t kept(const moved *m, size_t i)
{
    const triangle *t = m->arg;
    int64_t at[3], distance;
    moved_position(3, m->dims, i, at);
    distance = at[2] - at[1];
    if (t->k == INT64_MAX || t->k == INT64_MIN)
        return (t->k > 0) == t->is_upper ? -1 : (int64_t)i;
    return (t->is_upper ? distance >= t->k : distance <= t->k) ? (int64_t)i : -1;
}

static void both_triangles_at_every_diagonal(void **unused)
{
    static const int64_t shapes[][3] = { { 2, 3, 5 }, { 2, 5, 3 }, { 1, 1, 1 },
                                         { 0, 3, 3 }, { 2, 3, 0 }, { 1, 300, 301 } };
    static const int64_t diagonals[] = { 0, 1, -1, 2, -4, 7, INT64_MAX, INT64_MIN };
    (void)unused;
    for (size_t i = 0; i < 6 * 8 * 2; i++) {
        const evl_attribute upper = evl_attribute_int("upper", i % 2 != 0);
        const int64_t *dims = shapes[i / 16];
        triangle t = { i % 2, diagonals[i / 2 % 8] };
        moved m = { .op = "Trilu",
                    .n_in = 2,
                    .rank = 3,
                    .source = kept,
                    .arg = &t,
                    .in = { moved_shape(3, dims), evl_test_ints(&t.k, 0, NULL) },
                    .attributes = &upper,
                    .n_attributes = 1 };
        memcpy(m.dims, dims, 3 * sizeof *dims);
        moved_check_one(&m, moved_types[i % 4], i % 3 == 0, 3);
    }
}

static void without_parameters_the_upper_triangle_with_its_diagonal(void **unused)
{
    const int64_t dims[] = { 2, 4, 4 };
    triangle t = { true, 0 };
    moved m = { .op = "Trilu",
                .n_in = 1,
                .rank = 3,
                .dims = { 2, 4, 4 },
                .source = kept,
                .arg = &t,
                .in = { moved_shape(3, dims) } };
    (void)unused;
    moved_check(&m);
    m.in[0] = moved_shape(1, dims);
    assert_int_equal(moved_fails(&m), EVAL_ERR_SHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_triangles_at_every_diagonal),
        cmocka_unit_test(without_parameters_the_upper_triangle_with_its_diagonal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
