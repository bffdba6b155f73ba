/* Det against the sum over a column's cofactors; Inverse times its matrix is the unit matrix. */
#include "ops/op_case.h"

enum { COUNT = 3, MOST = 5 };
static double x[COUNT * MOST * MOST];

static void fill(void)
{
    uint64_t seed = 2;
    for (size_t i = 0; i < COUNT * MOST * MOST; i++)
        x[i] = (double)(float)evl_test_random(&seed, -1, 1);
}

static double det(const double *a, size_t n)
{
    double sum = n == 0, minor[MOST * MOST];
    for (size_t row = 0; row < n; row++) {
        for (size_t i = 0; i < (n - 1) * (n - 1); i++)
            minor[i] = a[(i / (n - 1) + (i / (n - 1) >= row)) * n + i % (n - 1) + 1];
        sum += (row % 2 ? -1 : 1) * a[row * n] * det(minor, n - 1);
    }
    return sum;
}

static void determinants_are_sums_of_cofactors(void **state)
{
    (void)state;
    fill();
    for (int64_t n = 0; n <= MOST; n++) {
        double right[COUNT];
        for (int64_t i = 0; i < COUNT; i++)
            right[i] = det(x + i * n * n, (size_t)n);
        const op_case c = { .op = "Det",
                            .in = { evl_test_reals(x, 3, (const int64_t[]){ COUNT, n, n }) },
                            .out = { reals(right, COUNT) } };
        check_case(&c);
    }
}

static void a_singular_or_oblong_matrix(void **state)
{
    const double singular[] = { 1, 2, 2, 4 }, zero = 0;
    const op_case cases[] = {
        { .op = "Det",
          .in = { matrix(EVAL_FLOAT64, singular, 2, 2) },
          .out = { scalar(EVAL_FLOAT64, &zero) } },
        { .op = "Det",
          .in = { matrix(EVAL_FLOAT64, singular, 1, 4) },
          .out = { scalar(EVAL_FLOAT64, &zero) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, 2);
}

static void an_inverse_undoes_its_matrix(void **state)
{
    (void)state;
    fill();
    for (int64_t n = 1; n <= MOST; n++) {
        evl_context *ctx = evl_test_begin();
        evl_op_run r = { .op = evl_op_find("com.microsoft", "Inverse"), .n_in = 1 };
        r.in[0] = evl_test_reals(x, 3, (const int64_t[]){ COUNT, n, n });
        assert_int_equal(evl_run_op(ctx, &r, EVL_DOUBLE, 0), EVAL_OK);
        const double *y = r.out[0].data;
        for (int64_t i = 0; i < COUNT * n * n; i++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += x[i / n * n + k] * y[i / (n * n) * n * n + k * n + i % n];
            assert_true(fabs(sum - (i / n % n == i % n)) < 1e-12);
        }
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(determinants_are_sums_of_cofactors),
        cmocka_unit_test(a_singular_or_oblong_matrix),
        cmocka_unit_test(an_inverse_undoes_its_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
