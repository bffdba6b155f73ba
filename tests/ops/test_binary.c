/* Two numbers to one, and broadcasting. */
#include "ops/op_case.h"

enum { MOST = 1 << 17 };

static double a[MOST], b[MOST];

static void fill(void)
{
    uint64_t seed = 3;
    for (size_t i = 0; i < MOST; i++) {
        a[i] = (double)(float)evl_test_random(&seed, -9, 9);
        b[i] = (double)(float)evl_test_random(&seed, -9, 9);
    }
}

/* The element of `in` that stands for element `index` of `out`. */
static size_t source_of(const evl_shape *out, const evl_shape *in, size_t index)
{
    size_t at = 0, step = 1;
    for (int32_t d = in->rank, o = out->rank; o-- > 0; index /= (size_t)out->dim[o]) {
        size_t along = index % (size_t)out->dim[o];
        if (--d < 0)
            continue;
        at += in->dim[d] == 1 ? 0 : along * step;
        step *= (size_t)in->dim[d];
    }
    return at;
}

static void check_broadcast(const evl_tensor *x, const evl_tensor *y, evl_precision precision)
{
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_sub, .in = { *x, *y }, .n_in = 2, .threads = 2 };
    assert_int_equal(evl_run_op(ctx, &r, precision, evl_cpu_features()), EVAL_OK);
    const evl_shape *out = &r.out[0].shape;
    for (size_t i = 0; i < evl_shape_count(out); i++) {
        double right = a[source_of(out, &x->shape, i)] - b[source_of(out, &y->shape, i)];
        right = precision == EVL_FLOAT ? (double)(float)right : right;
        assert_true(((double *)r.out[0].data)[i] == right);
    }
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static void shapes_broadcast_as_in_numpy(void **state)
{
    static const struct {
        size_t n_a, n_b;
        int64_t a[5], b[5];
    } shapes[] = {
        { 0, 0, { 0 }, { 0 } },
        { 1, 1, { 7 }, { 7 } },
        { 2, 1, { 3, 5 }, { 5 } },
        { 2, 2, { 3, 1 }, { 1, 5 } },
        { 3, 1, { 2, 3, 4 }, { 1 } },
        { 0, 3, { 0 }, { 2, 3, 4 } },
        { 4, 3, { 2, 3, 4, 5 }, { 3, 1, 1 } },
        { 4, 4, { 2, 1, 4, 1 }, { 1, 3, 1, 5 } },
        { 5, 2, { 2, 3, 1, 2, 2 }, { 1, 2 } },
        { 2, 2, { 0, 3 }, { 1, 3 } },
        { 3, 2, { 1, 1, 1 }, { 1, 1 } },
        { 2, 2, { 300, 401 }, { 300, 1 } }, /* more than one tile */
        { 2, 1, { 401, 300 }, { 300 } },
        { 3, 3, { 40, 50, 3 }, { 40, 1, 3 } },
    };
    (void)state;
    fill();
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        evl_tensor x = evl_test_reals(a, shapes[i].n_a, shapes[i].a);
        evl_tensor y = evl_test_reals(b, shapes[i].n_b, shapes[i].b);
        check_broadcast(&x, &y, EVL_FLOAT);
        check_broadcast(&x, &y, EVL_DOUBLE);
    }
}

static const double six[] = { 1, 2, 3, 4, 5, 6 }, two[] = { 10, 20 }, three[] = { 10, 20, 30 };

static void old_opsets_place_the_second_input_by_axis(void **state)
{
    const double at_0[] = { 11, 12, 13, 24, 25, 26 }, at_1[] = { 11, 22, 33, 14, 25, 36 };
    const int64_t dims[] = { 2, 3, 1 };
    const double slopes[] = { -1, -4, -9, -4, -10, -18 }, negative[] = { -1, -2, -3, -4, -5, -6 };
    const double slope[] = { 1, 2, 3 };
    const op_case cases[] = {
        { .op = "Add",
          .version = 6,
          .attributes = { evl_attribute_int("broadcast", 1), evl_attribute_int("axis", 0) },
          .in = { matrix(EVAL_FLOAT64, six, 2, 3), reals(two, 2) },
          .out = { matrix(EVAL_FLOAT64, at_0, 2, 3) },
          .in_place = true },
        { .op = "Add",
          .version = 1,
          .attributes = { evl_attribute_int("broadcast", 1) },
          .in = { matrix(EVAL_FLOAT64, six, 2, 3), reals(three, 3) },
          .out = { matrix(EVAL_FLOAT64, at_1, 2, 3) } },
        { .op = "Add",
          .version = 6,
          .attributes = { evl_attribute_int("broadcast", 1) },
          .in = { matrix(EVAL_FLOAT64, six, 2, 3), reals(two, 2) },
          .out = { matrix(EVAL_FLOAT64, six, 2, 3) },
          .status = EVAL_ERR_SHAPE },
        { .op = "PRelu",
          .version = 6, /* the slope stands at the channels */
          .in = { evl_test_reals(negative, 3, dims), reals(slope, 3) },
          .out = { evl_test_reals(slopes, 3, dims) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void each_operator_computes_what_it_says(void **state)
{
    const double x[] = { 7, -7, 9, -0.5 }, y[] = { 2, 2, -4, 0.25 };
    const double sum[] = { 9, -5, 5, -0.25 }, difference[] = { 5, -9, 13, -0.75 };
    const double product[] = { 14, -14, -36, -0.125 }, quotient[] = { 3.5, -3.5, -2.25, -2 };
    const double slope[] = { 7, -14, 9, -0.125 }, rest[] = { 1, -1, 1, 0 };
    const int64_t p[] = { 7, -7, 9, 4 }, q[] = { 2, 2, -4, 0 }, whole[] = { 3, -3, -2, 0 };
    const int64_t mod[] = { 1, 1, -3, 0 }, fmods[] = { 1, -1, 1, 0 };
    const uint8_t bits[] = { 1, 2, 4, 255 }, by[] = { 1, 2, 3, 8 };
    const uint8_t left[] = { 2, 8, 32, 0 }, right[] = { 0, 0, 0, 0 };
    const op_case cases[] = {
        { .op = "Add",
          .in = { reals(x, 4), reals(y, 4) },
          .out = { reals(sum, 4) },
          .in_place = true },
        { .op = "Sub",
          .in = { reals(x, 4), reals(y, 4) },
          .out = { reals(difference, 4) },
          .in_place = true },
        { .op = "Mul", .in = { reals(x, 4), reals(y, 4) }, .out = { reals(product, 4) } },
        { .op = "Div", .in = { reals(x, 4), reals(y, 4) }, .out = { reals(quotient, 4) } },
        { .op = "PRelu", .in = { reals(x, 4), reals(y, 4) }, .out = { reals(slope, 4) } },
        { .op = "Mod",
          .attributes = { evl_attribute_int("fmod", 1) },
          .in = { reals(x, 4), reals(y, 4) },
          .out = { reals(rest, 4) } },
        { .op = "Div",
          .in = { vector(EVAL_INT64, p, 4), vector(EVAL_INT64, q, 4) },
          .out = { vector(EVAL_INT64, whole, 4) },
          .in_place = true },
        { .op = "Mod",
          .in = { vector(EVAL_INT64, p, 4), vector(EVAL_INT64, q, 4) },
          .out = { vector(EVAL_INT64, mod, 4) } },
        { .op = "Mod",
          .attributes = { evl_attribute_int("fmod", 1) },
          .in = { vector(EVAL_INT64, p, 4), vector(EVAL_INT64, q, 4) },
          .out = { vector(EVAL_INT64, fmods, 4) } },
        { .op = "BitShift",
          .attributes = { evl_attribute_text("direction", "LEFT") },
          .in = { vector(EVAL_UINT8, bits, 4), vector(EVAL_UINT8, by, 4) },
          .out = { vector(EVAL_UINT8, left, 4) } },
        { .op = "BitShift",
          .attributes = { evl_attribute_text("direction", "RIGHT") },
          .in = { vector(EVAL_UINT8, bits, 4), vector(EVAL_UINT8, by, 4) },
          .out = { vector(EVAL_UINT8, right, 4) } },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void the_exponent_has_a_type_of_its_own(void **state)
{
    const double x[] = { 4, 9, 0.5 }, half = 0.5, root[] = { 2, 3, 0.70710678118654752440 };
    const double cubes[] = { 64, 729, 0.125 };
    const int64_t three_whole = 3, whole[] = { 4, 9, 10 }, roots[] = { 2, 3, 3 };
    const int64_t cubed[] = { 64, 729, 1000 };
    const int32_t three_narrow = 3;
    const op_case cases[] = {
        { .op = "Pow",
          .in = { reals(x, 3), scalar(EVAL_FLOAT64, &half) },
          .out = { reals(root, 3) },
          .in_place = true },
        { .op = "Pow",
          .in = { reals(x, 3), scalar(EVAL_INT64, &three_whole) },
          .out = { reals(cubes, 3) },
          .in_place = true },
        { .op = "Pow",
          .in = { vector(EVAL_INT64, whole, 3), scalar(EVAL_FLOAT64, &half) },
          .out = { vector(EVAL_INT64, roots, 3) },
          .in_place = true },
        { .op = "Pow",
          .in = { vector(EVAL_INT64, whole, 3), scalar(EVAL_INT32, &three_narrow) },
          .out = { vector(EVAL_INT64, cubed, 3) },
          .in_place = true },
        { .op = "Pow",
          .in = { vector(EVAL_INT64, whole, 3), scalar(EVAL_INT64, &three_whole) },
          .out = { vector(EVAL_INT64, cubed, 3) },
          .in_place = true },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void what_does_not_fit_is_refused(void **state)
{
    const int64_t whole[] = { 1, 2 };
    const EvalString texts[] = { { "a", 1 }, { "b", 1 } };
    const op_case cases[] = {
        { .op = "Add",
          .in = { reals(three, 3), reals(two, 2) },
          .out = { reals(two, 2) },
          .status = EVAL_ERR_SHAPE },
        { .op = "Add",
          .in = { reals(two, 2), vector(EVAL_INT64, whole, 2) },
          .out = { reals(two, 2) },
          .status = EVAL_ERR_TYPE },
        { .op = "Pow",
          .in = { reals(two, 2), vector(EVAL_STRING, texts, 2) },
          .out = { reals(two, 2) },
          .status = EVAL_ERR_TYPE },
        { .op = "BitShift",
          .attributes = { evl_attribute_text("direction", "UP") },
          .in = { vector(EVAL_INT64, whole, 2), vector(EVAL_INT64, whole, 2) },
          .out = { vector(EVAL_INT64, whole, 2) },
          .status = EVAL_ERR_FORMAT },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_broadcast_as_in_numpy),
        cmocka_unit_test(old_opsets_place_the_second_input_by_axis),
        cmocka_unit_test(each_operator_computes_what_it_says),
        cmocka_unit_test(the_exponent_has_a_type_of_its_own),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
