/* Softmax and its kin along any axis and as old opsets have it; LpNormalization. */
#include "ops/op_case.h"

enum { N = 2 * 3 * 70 };
static const int64_t dims[3] = { 2, 3, 70 };
static double x[N];

typedef enum kind { SOFTMAX, LOG_SOFTMAX, HARDMAX, NORM_1, NORM_2 } kind;
static const char *const names[] = { "Softmax", "LogSoftmax", "Hardmax", "LpNormalization",
                                     "LpNormalization" };

/* One line of n elements, `step` apart. */
static void line(kind k, size_t n, size_t step, const double *from, double *to)
{
    size_t best = 0;
    double sum = 0, size = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        double v = from[i * step];
        best = v > from[best * step] ? i : best;
        sum += exp(v);
        size += fabs(v);
        square += v * v;
    }
    for (size_t i = 0; i < n; i++) {
        double v = from[i * step];
        const double results[] = { exp(v) / sum, v - log(sum), i == best, v / size,
                                   v / sqrt(square) };
        to[i * step] = results[k];
    }
}

static void fill(void)
{
    uint64_t seed = 8;
    for (size_t i = 0; i < N; i++)
        x[i] = (double)(float)evl_test_random(&seed, -3, 3);
}

static void check_axis(kind k, int axis)
{
    double right[N];
    size_t n = (size_t)dims[axis], inner = axis == 0 ? 210 : axis == 1 ? 70 : 1;
    for (size_t o = 0; o < N / n / inner; o++)
        for (size_t j = 0; j < inner; j++)
            line(k, n, inner, x + o * n * inner + j, right + o * n * inner + j);
    op_case c = { .op = names[k],
                  .in = { evl_test_reals(x, 3, dims) },
                  .out = { evl_test_reals(right, 3, dims) } };
    c.attributes[0] = evl_attribute_int("axis", axis % 2 ? axis : axis - 3);
    if (k == NORM_1)
        c.attributes[1] = evl_attribute_int("p", 1);
    check_case(&c);
}

static void any_axis_is_a_line(void **state)
{
    (void)state;
    fill();
    for (int k = 0; k <= NORM_2; k++)
        for (int axis = 0; axis < 3; axis++)
            check_axis((kind)k, axis);
}

static void before_opset_13_the_axis_begins_the_rows(void **state)
{
    (void)state;
    fill();
    for (int k = 0; k <= HARDMAX; k++)
        for (int axis = 0; axis < 3; axis++) {
            double right[N];
            size_t n = axis == 0 ? N : axis == 1 ? 210 : 70;
            for (size_t o = 0; o < N / n; o++)
                line((kind)k, n, 1, x + o * n, right + o * n);
            op_case c = { .op = names[k],
                          .version = 11,
                          .in = { evl_test_reals(x, 3, dims) },
                          .out = { evl_test_reals(right, 3, dims) } };
            if (axis != 1) /* 1 is the default */
                c.attributes[0] = evl_attribute_int("axis", axis);
            check_case(&c);
        }
}

static void odd_shapes_and_axes(void **state)
{
    const double one = 1, v = 7, ones[] = { 1, 1 };
    const op_case cases[] = {
        { .op = "Softmax",
          .in = { scalar(EVAL_FLOAT64, &v) },
          .out = { scalar(EVAL_FLOAT64, &one) } },
        { .op = "Softmax", .in = { reals(&v, 0) }, .out = { reals(&v, 0) } },
        { .op = "Softmax", .version = 1, .in = { reals(x, 2) }, .out = { reals(ones, 2) } },
        { .op = "Softmax",
          .attributes = { evl_attribute_int("axis", 1) },
          .in = { reals(x, 2) },
          .out = { reals(x, 2) },
          .status = EVAL_ERR_SHAPE },
        { .op = "LpNormalization",
          .attributes = { evl_attribute_int("p", 3) },
          .in = { reals(x, 2) },
          .out = { reals(x, 2) },
          .status = EVAL_ERR_UNSUPPORTED },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_axis_is_a_line),
        cmocka_unit_test(before_opset_13_the_axis_begins_the_rows),
        cmocka_unit_test(odd_shapes_and_axes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
