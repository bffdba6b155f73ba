/* TopK along any axis, for any k, with equal elements and NaN. */
#include "ops/op_case.h"

enum { N = 3 * 17 * 4 };
static const int64_t dims[3] = { 3, 17, 4 };
static double x[N];

static void fill(void)
{
    uint64_t seed = 12;
    for (size_t i = 0; i < N; i++) /* few values, so many are equal */
        x[i] = floor(evl_test_random(&seed, 0, 9));
}

/* Chooses by selection: each time the best of what is left. */
static void line(size_t n, size_t step, size_t k, bool largest, const double *from, double *to,
                 int64_t *index)
{
    bool taken[N] = { false };
    for (size_t i = 0; i < k; i++) {
        size_t best = n;
        for (size_t j = 0; j < n; j++) {
            double v = from[j * step];
            if (!taken[j] &&
                (best == n || (largest ? v > from[best * step] : v < from[best * step])))
                best = j;
        }
        taken[best] = true;
        to[i * step] = from[best * step];
        index[i * step] = (int64_t)best;
    }
}

static void check(int axis, int64_t k, bool largest, int version)
{
    double right[N];
    int64_t where[N], out_dims[3];
    size_t n = (size_t)dims[axis], inner = axis == 0 ? 68 : axis == 1 ? 4 : 1;
    memcpy(out_dims, dims, sizeof dims);
    out_dims[axis] = k;
    for (size_t o = 0; o < N / n / inner; o++)
        for (size_t j = 0; j < inner; j++) {
            size_t at = o * (size_t)k * inner + j;
            line(n, inner, (size_t)k, largest, x + o * n * inner + j, right + at, where + at);
        }
    op_case c = { .op = "TopK",
                  .version = version,
                  .attributes = { evl_attribute_int("axis", axis - 3),
                                  evl_attribute_int(version ? "k" : "largest",
                                                    version ? k : largest) },
                  .in = { evl_test_reals(x, 3, dims) },
                  .out = { evl_test_reals(right, 3, out_dims),
                           evl_test_tensor(EVAL_INT64, where, 3, out_dims) } };
    if (!version)
        c.in[1] = vector(EVAL_INT64, &k, 1);
    check_case(&c);
}

static void the_first_k_are_those_of_a_slow_choice(void **state)
{
    (void)state;
    fill();
    for (int axis = 0; axis < 3; axis++)
        for (int64_t k = 0; k <= dims[axis]; k++) {
            check(axis, k, true, 0);
            check(axis, k, false, 0);
            check(axis, k, true, 1);
        }
}

static void nan_is_the_largest(void **state)
{
    const double v[] = { 3, (double)NAN, 5 }, large[] = { (double)NAN, 5 }, small[] = { 3, 5 };
    const int64_t where[] = { 1, 2 }, least[] = { 0, 2 }, two = 2, four = 4;
    const int8_t bytes[] = { -5, 7, 0 }, chosen[] = { 7, 0 };
    const op_case cases[] = {
        { .op = "TopK",
          .in = { reals(v, 3), vector(EVAL_INT64, &two, 1) },
          .out = { reals(large, 2), vector(EVAL_INT64, where, 2) } },
        { .op = "TopK",
          .attributes = { evl_attribute_int("largest", 0) },
          .in = { reals(v, 3), vector(EVAL_INT64, &two, 1) },
          .out = { reals(small, 2), vector(EVAL_INT64, least, 2) } },
        { .op = "TopK",
          .in = { vector(EVAL_INT8, bytes, 3), vector(EVAL_INT64, &two, 1) },
          .out = { vector(EVAL_INT8, chosen, 2), vector(EVAL_INT64, where, 2) } },
        { .op = "TopK",
          .in = { reals(v, 3), vector(EVAL_INT64, &four, 1) },
          .out = { reals(large, 2), vector(EVAL_INT64, where, 2) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_k_are_those_of_a_slow_choice),
        cmocka_unit_test(nan_is_the_largest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
