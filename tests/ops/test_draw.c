/* Random numbers: what a seed says, how they are spread; Dropout, in inference and in training. */
#include "ops/op_case.h"
#include "ops/random.h"

enum { MANY = 20000 };

/* numpy.random.RandomState(5): three times rand(), then three times randn(). */
static void a_seed_gives_the_numbers_that_numpy_gives(void **state)
{
    static const double uniform[] = { 0.22199317108973948, 0.8707323061773764,
                                      0.20671915533942642 };
    evl_random r;
    (void)state;
    evl_random_start(&r, 5);
    for (size_t i = 0; i < 3; i++)
        assert_true(evl_random_uniform(&r) == uniform[i]);
    static const double normal[] = { 0.44122748688504143, -0.33087015189408764, 2.43077118700778 };
    evl_random_start(&r, 5);
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(evl_random_normal(&r) - normal[i]) < 1e-15);
}

typedef struct moments {
    double mean, variance;
} moments;

static moments moments_of(const evl_tensor *t)
{
    size_t n = evl_shape_count(&t->shape);
    moments m = { 0, 0 };
    for (size_t i = 0; i < n; i++)
        m.mean += evl_tensor_f64(t, i) / (double)n;
    for (size_t i = 0; i < n; i++)
        m.variance += pow(evl_tensor_f64(t, i) - m.mean, 2) / (double)n;
    return m;
}

/* Runs with a seed twice and without: shape, type, mean and variance. */
static void check_spread(const char *op, const evl_attribute *attributes, size_t n_attributes,
                         const evl_tensor *in, EvalType type, moments wanted)
{
    evl_attribute all[6] = { evl_attribute_number("seed", 7) };
    memcpy(all + 1, attributes, n_attributes * sizeof *attributes);
    double first[2] = { 0, 0 };
    for (int way = 0; way < 3; way++) {
        evl_context *ctx = evl_test_begin();
        evl_op_run r = { .op = evl_op_find(NULL, op), .n_in = in ? 1 : 0 };
        r.attributes = way == 2 ? attributes : all;
        r.n_attributes = n_attributes + (way == 2 ? 0 : 1);
        if (in)
            r.in[0] = *in;
        assert_int_equal(evl_run_op(ctx, &r, EVL_DOUBLE, 0), EVAL_OK);
        assert_int_equal(r.out[0].type, type);
        assert_int_equal(evl_shape_count(&r.out[0].shape), MANY);
        moments found = moments_of(&r.out[0]);
        assert_true(fabs(found.mean - wanted.mean) < 0.05 * (1 + fabs(wanted.mean)));
        assert_true(fabs(found.variance - wanted.variance) < 0.05 * (1 + wanted.variance));
        if (way < 2)
            first[way] = found.mean;
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
    assert_true(first[0] == first[1]);
}

static void numbers_are_spread_as_they_should(void **state)
{
    static double chances[MANY];
    const int64_t shape[] = { MANY / 2, 2 };
    const evl_attribute uniform[] = { evl_attribute_ints("shape", shape, 2),
                                      evl_attribute_number("low", 2),
                                      evl_attribute_number("high", 5) };
    const evl_attribute normal[] = { evl_attribute_number("mean", -1),
                                     evl_attribute_number("scale", 2) };
    const evl_attribute dtype[] = { evl_attribute_int("dtype", EVAL_INT8) };
    const evl_tensor in = evl_test_reals(chances, 1, (const int64_t[]){ MANY });
    (void)state;
    for (size_t i = 0; i < MANY; i++)
        chances[i] = 0.25;
    check_spread("RandomUniform", uniform, 3, NULL, EVAL_FLOAT64, (moments){ 3.5, 0.75 });
    check_spread("RandomUniformLike", uniform + 1, 2, &in, EVAL_FLOAT64, (moments){ 3.5, 0.75 });
    check_spread("RandomNormalLike", normal, 2, &in, EVAL_FLOAT64, (moments){ -1, 4 });
    check_spread("RandomNormal", uniform, 1, NULL, EVAL_FLOAT64, (moments){ 0, 1 });
    check_spread("Bernoulli", dtype, 1, &in, EVAL_INT8, (moments){ 0.25, 0.1875 });
    const double logarithms[] = { log(2), log(1), (double)-INFINITY, log(1) };
    const evl_tensor classes = evl_test_reals(logarithms, 2, (const int64_t[]){ 1, 4 });
    const evl_attribute samples[] = { evl_attribute_int("sample_size", MANY) };
    check_spread("Multinomial", samples, 1, &classes, EVAL_INT32, (moments){ 1, 1.5 });
}

static void outside_of_training_nothing_is_dropped(void **state)
{
    const double x[] = { 1, 2, 3 }, ratio = 0.5, ones[] = { 1, 1, 1 };
    const uint8_t kept[] = { 1, 1, 1 };
    const op_case cases[] = {
        { .op = "Dropout",
          .version = 7,
          .attributes = { evl_attribute_number("ratio", 0.9) },
          .in = { reals(x, 3) },
          .out = { reals(x, 3), reals(ones, 3) },
          .in_place = true },
        { .op = "Dropout",
          .version = 10,
          .in = { reals(x, 3) },
          .out = { reals(x, 3), vector(EVAL_BOOL, kept, 3) },
          .in_place = true },
        { .op = "Dropout",
          .in = { reals(x, 3), scalar(EVAL_FLOAT64, &ratio) },
          .out = { reals(x, 3), vector(EVAL_BOOL, kept, 3) } },
        { .op = "Dropout", .in = { reals(x, 3) }, .out = { reals(x, 3) }, .in_place = true },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void in_training_the_seed_says_what_is_dropped(void **state)
{
    enum { N = 64 };
    const double ratio = 0.25, none = 0, all = 1;
    const uint8_t yes = 1;
    double x[N], y[N];
    uint8_t mask[N], kept[N];
    evl_random r;
    (void)state;
    evl_random_start(&r, 3);
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)i;
        kept[i] = 1;
        mask[i] = evl_random_uniform(&r) >= ratio;
        y[i] = mask[i] ? x[i] / 0.75 : 0;
    }
    op_case c = { .op = "Dropout",
                  .attributes = { evl_attribute_int("seed", 3) },
                  .in = { reals(x, N), scalar(EVAL_FLOAT64, &ratio), scalar(EVAL_BOOL, &yes) },
                  .out = { reals(y, N), vector(EVAL_BOOL, mask, N) },
                  .in_place = true };
    check_case(&c);
    c.in[1] = scalar(EVAL_FLOAT64, &none);
    c.out[0] = reals(x, N);
    c.out[1] = vector(EVAL_BOOL, kept, N);
    check_case(&c);
    c.in[1] = scalar(EVAL_FLOAT64, &all);
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_seed_gives_the_numbers_that_numpy_gives),
        cmocka_unit_test(numbers_are_spread_as_they_should),
        cmocka_unit_test(outside_of_training_nothing_is_dropped),
        cmocka_unit_test(in_training_the_seed_says_what_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
