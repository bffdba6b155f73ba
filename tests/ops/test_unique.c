/* Unique against a comparison of every slice with every other. */
#include "ops/op_case.h"

enum { ROWS = 9, COLUMNS = 4, N = ROWS * COLUMNS };
static const int64_t dims[2] = { ROWS, COLUMNS };

static int compare(const double *x, size_t n, size_t a, size_t b)
{
    for (size_t i = 0; i < n; i++)
        if (x[a * n + i] != x[b * n + i])
            return x[a * n + i] < x[b * n + i] ? -1 : 1;
    return 0;
}

/* Slices of n elements: first[] and counts[] of the groups in order; gives how many. */
static size_t unique(const double *x, size_t slices, size_t n, bool is_sorted, int64_t *first,
                     int64_t *inverse)
{
    size_t groups = 0;
    for (size_t i = 0; i < slices; i++) {
        bool is_new = true;
        for (size_t j = 0; j < i; j++)
            is_new &= compare(x, n, i, j) != 0;
        size_t at = groups;
        while (is_new && is_sorted && at > 0 && compare(x, n, i, (size_t)first[at - 1]) < 0) {
            first[at] = first[at - 1];
            at--;
        }
        if (is_new) {
            first[at] = (int64_t)i;
            groups++;
        }
    }
    for (size_t i = 0; i < slices; i++)
        for (size_t g = 0; g < groups; g++)
            if (compare(x, n, i, (size_t)first[g]) == 0)
                inverse[i] = (int64_t)g;
    return groups;
}

static void check(bool by_rows, bool is_sorted, double values)
{
    double x[N], y[N];
    int64_t first[N], inverse[N];
    uint64_t seed = 3;
    for (size_t i = 0; i < N; i++)
        x[i] = floor(evl_test_random(&seed, 0, values));
    size_t n = by_rows ? COLUMNS : 1, slices = N / n;
    size_t groups = unique(x, slices, n, is_sorted, first, inverse);
    for (size_t i = 0; i < groups * n; i++)
        y[i] = x[(size_t)first[i / n] * n + i % n];
    op_case c = { .op = "Unique",
                  .attributes = { evl_attribute_int("sorted", is_sorted) },
                  .in = { evl_test_reals(x, 2, dims) },
                  .out = { reals(y, (int64_t)groups), vector(EVAL_INT64, first, (int64_t)groups),
                           vector(EVAL_INT64, inverse, (int64_t)slices) } };
    if (by_rows) {
        c.attributes[1] = evl_attribute_int("axis", -2);
        c.out[0] = matrix(EVAL_FLOAT64, y, (int64_t)groups, COLUMNS);
    }
    check_case(&c);
}

static void each_element_or_row_is_there_once(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        check(way & 1, way & 2, 2);
        check(way & 1, way & 2, 50);
    }
}

static void all_types_have_an_order(void **state)
{
    const uint64_t large[] = { UINT64_MAX, 1, UINT64_MAX }, large_y[] = { 1, UINT64_MAX };
    const double nan[] = { (double)NAN, 3, (double)NAN, -1 }, nan_y[] = { -1, 3, (double)NAN };
    const op_case cases[] = {
        { .op = "Unique",
          .in = { vector(EVAL_UINT64, large, 3) },
          .out = { vector(EVAL_UINT64, large_y, 2) } },
        { .op = "Unique", .in = { reals(nan, 4) }, .out = { reals(nan_y, 3) } },
        { .op = "Unique", .in = { reals(nan, 0) }, .out = { reals(nan, 0) } },
        { .op = "Unique", .in = { scalar(EVAL_FLOAT64, &nan[1]) }, .out = { reals(&nan[1], 1) } },
        { .op = "Unique",
          .attributes = { evl_attribute_int("axis", 1) },
          .in = { reals(nan, 2) },
          .out = { reals(nan, 2) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_or_row_is_there_once),
        cmocka_unit_test(all_types_have_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
