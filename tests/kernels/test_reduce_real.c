/* Reductions and what is done along lines: against slow loops in long double, and the same
** bits from every set. */
#include "kernels/sets.h"
#include <string.h>

enum { N = 4099 };

typedef long double wide;

static real x[N], y[N], expected[N];
static const evl_number no_parameters[2];

static const evl_axis_lines shapes[] = {
    { N, 1, 1 },       { 1, 1, 1 },   { 31, 1, 1 },  { 33, 1, 1 },
    { 2049, 1, 1 },    { 5, 7, 7 },   { 1, 64, 64 }, { 40, 100, 65 },
    { 3, 1300, 1300 }, { 100, 3, 3 }, { 129, 2, 1 }, { 4, 1000, 129 },
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static void fill(uint64_t seed)
{
    for (size_t i = 0; i < N; i++)
        x[i] = (real)evl_test_random(&seed, -2, 2);
}

static wide reduced(int kind, evl_axis_lines at, size_t j)
{
    wide sum = 0, product = 1, most = -(wide)INFINITY, least = (wide)INFINITY, size = 0, square = 0;
    wide exps = 0;
    for (size_t i = 0; i < at.n; i++) {
        wide v = x[i * at.stride + j];
        sum += v;
        product *= v;
        most = v > most ? v : most;
        least = v < least ? v : least;
        size += fabsl(v);
        square += v * v;
        exps += expl(v);
    }
    switch (kind) {
    case EVL_REDUCE_SUM: return sum;
    case EVL_REDUCE_MEAN: return sum / at.n;
    case EVL_REDUCE_MAX: return most;
    case EVL_REDUCE_MIN: return least;
    case EVL_REDUCE_PROD: return product;
    case EVL_REDUCE_L1: return size;
    case EVL_REDUCE_L2: return sqrtl(square);
    case EVL_REDUCE_SUM_SQUARE: return square;
    case EVL_REDUCE_LOG_SUM: return logl(sum);
    default: return logl(exps);
    }
}

static void reductions_are_near_the_truth(void **state)
{
    (void)state;
    fill(1);
    for (int kind = 0; kind < EVL_N_REDUCE; kind++)
        for (size_t s = 0; s < N_SHAPES; s++) {
            base_loops()->reduce[kind](shapes[s], x, y);
            for (size_t j = 0; j < shapes[s].inner; j++) {
                wide right = reduced(kind, shapes[s], j);
                wide room = (wide)REAL_EPSILON * 8 *
                            (fabsl(right) + reduced(EVL_REDUCE_L1, shapes[s], j) / 16 + 1);
                if (kind == EVL_REDUCE_LOG_SUM) /* of a sum near 0 it is far off */
                    room = fabsl(reduced(EVL_REDUCE_SUM, shapes[s], j)) < 1 ? 1 : room;
                assert_true((isnan(right) && isnan(y[j])) || fabsl(y[j] - right) <= room);
            }
        }
}

static void every_set_reduces_to_the_same_bits(void **state)
{
    const evl_kernels *set;
    (void)state;
    fill(2);
    for (size_t at = 0; (set = next_set(&at)) != NULL;)
        for (size_t s = 0; s < N_SHAPES; s++) {
            for (int kind = 0; kind < EVL_N_REDUCE; kind++) {
                base_loops()->reduce[kind](shapes[s], x, expected);
                set->loops->reduce[kind](shapes[s], x, y);
                assert_memory_equal(y, expected, shapes[s].inner * sizeof(real));
            }
            for (int kind = 0; kind < EVL_N_AXIS; kind++) {
                memset(expected, 0, sizeof expected);
                memset(y, 0, sizeof y);
                base_loops()->axis[kind](shapes[s], x, expected, no_parameters);
                set->loops->axis[kind](shapes[s], x, y, no_parameters);
                if (kind != EVL_SOFTMAX && kind != EVL_LOG_SOFTMAX)
                    assert_memory_equal(y, expected, sizeof y);
                for (size_t i = 0; i < sizeof y / sizeof *y; i++) /* softmax of a row has FMA */
                    assert_true(fabs(y[i] - expected[i]) <= 8 * REAL_EPSILON * (1 + fabs(expected[i])));
            }
        }
}

static void nothing_reduces_to_what_is_neutral(void **state)
{
    const evl_axis_lines none = { 0, 1, 1 };
    const real right[] = { 0, (real)NAN, -(real)INFINITY, (real)INFINITY, 1, 0,
                           0, 0,         -(real)INFINITY, -(real)INFINITY };
    (void)state;
    for (int kind = 0; kind < EVL_N_REDUCE; kind++) {
        base_loops()->reduce[kind](none, x, y);
        assert_true(isnan(right[kind]) ? isnan(y[0]) : y[0] == right[kind]);
    }
}

static void a_nan_goes_through_max_and_min(void **state)
{
    (void)state;
    const evl_axis_lines row = { 301, 1, 1 };
    for (size_t where = 0; where < row.n; where++) {
        fill(3);
        x[where] = (real)NAN;
        base_loops()->reduce[EVL_REDUCE_MAX](row, x, y);
        assert_true(isnan(y[0]));
        base_loops()->reduce[EVL_REDUCE_MIN](row, x, y);
        assert_true(isnan(y[0]));
        int64_t found;
        base_loops()->arg(row, x, false, where % 2, &found);
        assert_int_equal(found, where);
    }
}

static void arg_finds_what_is_anywhere_in_a_long_row(void **state)
{
    const evl_axis_lines row = { 301, 1, 1 };
    const evl_kernels *set;
    (void)state;
    fill(4);
    for (size_t at = 0; (set = next_set(&at)) != NULL;)
        for (size_t where = 0; where + 1 < row.n; where++) {
            const real before[] = { x[where], x[where + 1] };
            int64_t found[2];
            x[where] = x[where + 1] = where % 2 ? 3 : -3;
            set->loops->arg(row, x, where % 2 == 0, false, &found[0]);
            set->loops->arg(row, x, where % 2 == 0, true, &found[1]);
            assert_int_equal(found[0], where);
            assert_int_equal(found[1], where + 1);
            memcpy(x + where, before, sizeof before);
        }
}

static void arg_finds_the_first_or_last_of_equal_ones(void **state)
{
    static const real values[] = { 3, 1, 3, 1, 2, 5, 2, 5, 2 }; /* two lines, of 0 and of 1 */
    int64_t found[3];
    (void)state;
    const evl_axis_lines row = { 4, 1, 1 }, columns = { 2, 3, 3 };
    base_loops()->arg(row, values, false, false, found);
    assert_int_equal(found[0], 0);
    base_loops()->arg(row, values, false, true, found);
    assert_int_equal(found[0], 2);
    base_loops()->arg(row, values, true, false, found);
    assert_int_equal(found[0], 1);
    base_loops()->arg(row, values, true, true, found);
    assert_int_equal(found[0], 3);
    base_loops()->arg(columns, values, false, false, found); /* 3 1 3 over 1 2 5 */
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 1);
    assert_int_equal(found[2], 1);
}

static void softmax_sums_to_one_and_may_be_in_place(void **state)
{
    (void)state;
    for (size_t s = 0; s < N_SHAPES; s++) {
        const evl_axis_lines at = shapes[s];
        fill(4 + s);
        x[0] = 900; /* exp of which is infinite */
        memset(y, 0, sizeof y);
        base_loops()->axis[EVL_SOFTMAX](at, x, y, no_parameters);
        memcpy(expected, x, sizeof x);
        base_loops()->axis[EVL_LOG_SOFTMAX](at, expected, expected, no_parameters);
        for (size_t j = 0; j < at.inner; j++) {
            wide sum = 0;
            for (size_t i = 0; i < at.n; i++) {
                wide p = y[i * at.stride + j];
                sum += p;
                assert_true(fabsl(expl(expected[i * at.stride + j]) - p) < 1e-5L);
            }
            assert_true(fabsl(sum - 1) < (wide)REAL_EPSILON * 64);
        }
        base_loops()->axis[EVL_SOFTMAX](at, x, x, no_parameters);
        for (size_t i = 0; i < at.n; i++)
            assert_memory_equal(x + i * at.stride, y + i * at.stride, at.inner * sizeof(real));
    }
}

static void running_sums_go_both_ways(void **state)
{
    static const real values[] = { 1, 2, 3, 4 };
    static const real right[4][4] = {
        { 1, 3, 6, 10 }, { 0, 1, 3, 6 }, { 10, 9, 7, 4 }, { 9, 7, 4, 0 }
    };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const evl_number p[2] = { i % 2, i / 2 };
        base_loops()->axis[EVL_CUM_SUM]((evl_axis_lines){ 4, 1, 1 }, values, y, p);
        assert_memory_equal(y, right[i], sizeof right[i]);
    }
}

static void norms_make_lines_of_length_one(void **state)
{
    (void)state;
    fill(20);
    base_loops()->axis[EVL_NORM_2]((evl_axis_lines){ 40, 100, 65 }, x, y, no_parameters);
    for (size_t j = 0; j < 65; j++) {
        wide square = 0;
        for (size_t i = 0; i < 40; i++)
            square += (wide)y[i * 100 + j] * y[i * 100 + j];
        assert_true(fabsl(square - 1) < (wide)REAL_EPSILON * 16);
    }
    memset(x, 0, sizeof x);
    base_loops()->axis[EVL_NORM_1]((evl_axis_lines){ 9, 1, 1 }, x, y, no_parameters);
    assert_true(y[0] == 0);
}

static void a_normalized_row_has_mean_0_and_deviation_1(void **state)
{
    static real scale[N], bias[N], mean, inverse;
    const evl_kernels *set;
    uint64_t seed = 5;
    (void)state;
    for (size_t i = 0; i < N; i++) {
        x[i] = (real)evl_test_random(&seed, 90, 100) + (real)(i / 500); /* parts have other means */
        scale[i] = (real)evl_test_random(&seed, 1, 2);
        bias[i] = (real)evl_test_random(&seed, -1, 1);
    }
    evl_normalize how = { .n = N,
                          .groups = N,
                          .scale = scale,
                          .bias = bias,
                          .centred = true,
                          .epsilon = 1e-5,
                          .mean = &mean,
                          .inverse = &inverse };
    base_loops()->normalize(&how, x, expected);
    wide sum = 0, square = 0;
    for (size_t i = 0; i < N; i++)
        sum += ((wide)expected[i] - bias[i]) / scale[i];
    for (size_t i = 0; i < N; i++)
        square += powl(((wide)expected[i] - bias[i]) / scale[i], 2);
    assert_true(fabsl(sum / N) < 1e-5L);
    assert_true(fabsl(square / N - 1) < 1e-4L);
    assert_true(fabs(mean - (real)98.6) < (real)0.5);
    for (size_t at = 0; (set = next_set(&at)) != NULL;) {
        set->loops->normalize(&how, x, y);
        assert_memory_equal(y, expected, sizeof y);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reductions_are_near_the_truth),
        cmocka_unit_test(every_set_reduces_to_the_same_bits),
        cmocka_unit_test(nothing_reduces_to_what_is_neutral),
        cmocka_unit_test(a_nan_goes_through_max_and_min),
        cmocka_unit_test(arg_finds_what_is_anywhere_in_a_long_row),
        cmocka_unit_test(arg_finds_the_first_or_last_of_equal_ones),
        cmocka_unit_test(softmax_sums_to_one_and_may_be_in_place),
        cmocka_unit_test(running_sums_go_both_ways),
        cmocka_unit_test(norms_make_lines_of_length_one),
        cmocka_unit_test(a_normalized_row_has_mean_0_and_deviation_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
