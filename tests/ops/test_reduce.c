/* Reductions over any axes, from an attribute or an input, ArgMax, ArgMin and CumSum. */
#include "ops/op_case.h"

enum { N = 2 * 3 * 4 * 5 };
static const int64_t dims[4] = { 2, 3, 4, 5 };
static double x[N];

static void fill(void)
{
    uint64_t seed = 6;
    for (size_t i = 0; i < N; i++)
        x[i] = (double)(float)evl_test_random(&seed, 0.5, 2);
}

typedef struct running {
    double sum, product, most, least, square, exps;
    size_t n;
} running;

static void take(running *r, double v)
{
    r->most = r->n == 0 || v > r->most ? v : r->most;
    r->least = r->n == 0 || v < r->least ? v : r->least;
    r->product = r->n == 0 ? v : r->product * v;
    r->sum += v;
    r->square += v * v;
    r->exps += exp(v);
    r->n++;
}

static const char *const names[] = { "ReduceSum",      "ReduceMean",      "ReduceMax",
                                     "ReduceMin",      "ReduceProd",      "ReduceL1",
                                     "ReduceL2",       "ReduceSumSquare", "ReduceLogSum",
                                     "ReduceLogSumExp" };

static double result_of(size_t op, const running *r)
{
    const double results[] = {
        r->sum, r->sum / (double)r->n, r->most,   r->least,    r->product,
        r->sum, sqrt(r->square),       r->square, log(r->sum), log(r->exps)
    };
    return results[op];
}

/* Which element of the result takes element i: the same index with reduced axes 0. */
static size_t target_of(size_t i, unsigned axes)
{
    size_t at = 0, step = 1;
    for (int d = 4; d-- > 0; i /= (size_t)dims[d])
        if (!(axes >> d & 1)) {
            at += i % (size_t)dims[d] * step;
            step *= (size_t)dims[d];
        }
    return at;
}

static void check_axes(size_t op, unsigned axes, bool keeps)
{
    running sums[N] = { 0 };
    double right[N];
    int64_t list[4], out_dims[4];
    size_t n = 0, rank = 0;
    for (size_t i = 0; i < N; i++)
        take(&sums[target_of(i, axes)], x[i]);
    for (size_t i = 0; i < N; i++)
        right[i] = result_of(op, &sums[i]);
    for (int d = 0; d < 4; d++) {
        if (axes >> d & 1) {
            list[n] = n % 2 ? d - 4 : d; /* some count from the end */
            n++;
        }
        if (keeps || !(axes >> d & 1))
            out_dims[rank++] = axes >> d & 1 ? 1 : dims[d];
    }
    op_case c = { .op = names[op],
                  .in = { evl_test_reals(x, 4, dims), vector(EVAL_INT64, list, (int64_t)n) },
                  .out = { evl_test_reals(right, rank, out_dims) } };
    c.attributes[0] = evl_attribute_int("keepdims", keeps);
    check_case(&c);
    c.in[1].type = EVAL_UNDEFINED;
    c.version = 11;
    c.attributes[1] = evl_attribute_ints("axes", list, n);
    check_case(&c);
}

static void any_axes_reduce_as_a_slow_loop_does(void **state)
{
    (void)state;
    fill();
    for (size_t op = 0; op < sizeof names / sizeof names[0]; op++)
        for (unsigned axes = 1; axes < 16; axes++)
            check_axes(op, axes, (axes + op) % 2);
}

static void integers_are_cut_once_however_the_axes_lie(void **state)
{
    /* Of the first and the last axis; cut in between, they would be 2 and 1, 6 and 1. */
    const int32_t v[] = { 1, 2, 1, 1, 4, 5, 1, 1 }, means[] = { 3, 1 }, roots[] = { 6, 2 };
    const int64_t axes[] = { 0, 2 };
    const evl_tensor from = evl_test_tensor(EVAL_INT32, v, 3, (const int64_t[]){ 2, 2, 2 });
    const op_case cases[] = {
        { .op = "ReduceMean",
          .attributes = { evl_attribute_int("keepdims", 0) },
          .in = { from, vector(EVAL_INT64, axes, 2) },
          .out = { vector(EVAL_INT32, means, 2) } },
        { .op = "ReduceL2",
          .attributes = { evl_attribute_int("keepdims", 0) },
          .in = { from, vector(EVAL_INT64, axes, 2) },
          .out = { vector(EVAL_INT32, roots, 2) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void no_axes_are_all_or_none(void **state)
{
    const double v[] = { 1, 2, 3 }, all = 6, squares[] = { 1, 4, 9 };
    const int64_t none = 0;
    const op_case cases[] = {
        { .op = "ReduceSum",
          .attributes = { evl_attribute_int("keepdims", 0) },
          .in = { reals(v, 3) },
          .out = { scalar(EVAL_FLOAT64, &all) } },
        { .op = "ReduceSum",
          .in = { reals(v, 3), vector(EVAL_INT64, &none, 0) },
          .out = { reals(&all, 1) } },
        { .op = "ReduceSum",
          .attributes = { evl_attribute_int("noop_with_empty_axes", 1) },
          .in = { reals(v, 3), vector(EVAL_INT64, &none, 0) },
          .out = { reals(v, 3) } },
        { .op = "ReduceSumSquare",
          .attributes = { evl_attribute_int("noop_with_empty_axes", 1) },
          .in = { reals(v, 3) },
          .out = { reals(squares, 3) } },
        { .op = "ReduceSum",
          .in = { scalar(EVAL_FLOAT64, &all) },
          .out = { scalar(EVAL_FLOAT64, &all) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void an_empty_set_has_its_neutral_element(void **state)
{
    const double inf = (double)INFINITY;
    const double zero[] = { 0, 0 }, one[] = { 1, 1 }, lowest[] = { -inf, -inf },
                 highest[] = { inf, inf };
    const int64_t axis = 1, beyond = 2;
    const op_case cases[] = {
        { .op = "ReduceSum",
          .in = { matrix(EVAL_FLOAT64, zero, 2, 0), vector(EVAL_INT64, &axis, 1) },
          .out = { matrix(EVAL_FLOAT64, zero, 2, 1) } },
        { .op = "ReduceProd",
          .in = { matrix(EVAL_FLOAT64, zero, 2, 0), vector(EVAL_INT64, &axis, 1) },
          .out = { matrix(EVAL_FLOAT64, one, 2, 1) } },
        { .op = "ReduceMax",
          .in = { matrix(EVAL_FLOAT64, zero, 2, 0), vector(EVAL_INT64, &axis, 1) },
          .out = { matrix(EVAL_FLOAT64, lowest, 2, 1) } },
        { .op = "ReduceMin",
          .in = { matrix(EVAL_FLOAT64, zero, 2, 0), vector(EVAL_INT64, &axis, 1) },
          .out = { matrix(EVAL_FLOAT64, highest, 2, 1) } },
        { .op = "ReduceSum",
          .in = { matrix(EVAL_FLOAT64, zero, 2, 1), vector(EVAL_INT64, &beyond, 1) },
          .out = { reals(zero, 2) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void arg_gives_the_index_along_an_axis(void **state)
{
    const double v[] = { 2, 7, 7, 9, 1, 1 };
    const int64_t first[] = { 1, 0 }, last[] = { 2, 0 }, least[] = { 0, 1 }, down[] = { 1, 0, 0 };
    const int32_t whole[] = { 5, 3, 9 };
    const int64_t two = 2;
    const op_case cases[] = {
        { .op = "ArgMax",
          .attributes = { evl_attribute_int("axis", -1), evl_attribute_int("keepdims", 0) },
          .in = { matrix(EVAL_FLOAT64, v, 2, 3) },
          .out = { vector(EVAL_INT64, first, 2) } },
        { .op = "ArgMax",
          .attributes = { evl_attribute_int("axis", 1), evl_attribute_int("select_last_index", 1) },
          .in = { matrix(EVAL_FLOAT64, v, 2, 3) },
          .out = { matrix(EVAL_INT64, last, 2, 1) } },
        { .op = "ArgMin",
          .attributes = { evl_attribute_int("axis", 1), evl_attribute_int("keepdims", 0) },
          .in = { matrix(EVAL_FLOAT64, v, 2, 3) },
          .out = { vector(EVAL_INT64, least, 2) } },
        { .op = "ArgMax",
          .in = { matrix(EVAL_FLOAT64, v, 2, 3) },
          .out = { matrix(EVAL_INT64, down, 1, 3) } },
        { .op = "ArgMax",
          .attributes = { evl_attribute_int("keepdims", 0) },
          .in = { vector(EVAL_INT32, whole, 3) },
          .out = { scalar(EVAL_INT64, &two) } },
        { .op = "ArgMax",
          .in = { reals(v, 0) },
          .out = { vector(EVAL_INT64, first, 1) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void running_sums_along_an_axis(void **state)
{
    const double v[] = { 1, 2, 3, 4, 5, 6 }, along[] = { 1, 3, 6, 4, 9, 15 };
    const double down[] = { 4, 5, 6, 0, 0, 0 };
    const int64_t whole[] = { 1, 2, 3 }, sums[] = { 1, 3, 6 }, zero = 0;
    const int32_t one = 1;
    const op_case cases[] = {
        { .op = "CumSum",
          .in = { matrix(EVAL_FLOAT64, v, 2, 3), scalar(EVAL_INT32, &one) },
          .out = { matrix(EVAL_FLOAT64, along, 2, 3) } },
        { .op = "CumSum",
          .attributes = { evl_attribute_int("exclusive", 1), evl_attribute_int("reverse", 1) },
          .in = { matrix(EVAL_FLOAT64, v, 2, 3), scalar(EVAL_INT64, &zero) },
          .out = { matrix(EVAL_FLOAT64, down, 2, 3) } },
        { .op = "CumSum",
          .in = { vector(EVAL_INT64, whole, 3), scalar(EVAL_INT64, &zero) },
          .out = { vector(EVAL_INT64, sums, 3) } },
        { .op = "CumSum",
          .in = { vector(EVAL_INT64, whole, 3), scalar(EVAL_INT32, &one) },
          .out = { vector(EVAL_INT64, sums, 3) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void running_products_too(void **state)
{
    const double v[] = { 1, 2, 3, 4 }, forward[] = { 1, 2, 6, 24 }, backward[] = { 24, 12, 4, 1 };
    const int64_t zero = 0;
    const op_case cases[] = {
        { .op = "CumProd",
          .in = { reals(v, 4), scalar(EVAL_INT64, &zero) },
          .out = { reals(forward, 4) } },
        { .op = "CumProd",
          .attributes = { evl_attribute_int("exclusive", 1), evl_attribute_int("reverse", 1) },
          .in = { reals(v, 4), scalar(EVAL_INT64, &zero) },
          .out = { reals(backward, 4) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_axes_reduce_as_a_slow_loop_does),
        cmocka_unit_test(integers_are_cut_once_however_the_axes_lie),
        cmocka_unit_test(no_axes_are_all_or_none),
        cmocka_unit_test(an_empty_set_has_its_neutral_element),
        cmocka_unit_test(arg_gives_the_index_along_an_axis),
        cmocka_unit_test(running_sums_along_an_axis),
        cmocka_unit_test(running_products_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
