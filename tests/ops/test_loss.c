/* NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss against loops over samples. */
#include "ops/op_case.h"

enum {
    SAMPLES = 3,
    CLASSES = 5,
    PLACES = 4,
    N = SAMPLES * CLASSES * PLACES,
    LABELS = SAMPLES * PLACES
};
static const int64_t dims[] = { SAMPLES, CLASSES, PLACES }, label_dims[] = { SAMPLES, PLACES };
static double x[N], weights[CLASSES];
static int64_t labels[LABELS];

static void fill(void)
{
    uint64_t seed = 31;
    for (size_t i = 0; i < N; i++)
        x[i] = (double)(float)evl_test_random(&seed, -3, 3);
    for (size_t i = 0; i < CLASSES; i++)
        weights[i] = (double)(float)evl_test_random(&seed, 0, 2);
    for (size_t i = 0; i < LABELS; i++)
        labels[i] = (int64_t)evl_test_random(&seed, 0, 4.99);
}

static double logarithm(size_t sample, size_t class, size_t place)
{
    double sum = 0;
    for (size_t c = 0; c < CLASSES; c++)
        sum += exp(x[(sample * CLASSES + c) * PLACES + place]);
    return x[(sample * CLASSES + class) * PLACES + place] - log(sum);
}

static void check(bool is_softmax, const char *reduction, bool is_weighed, int64_t ignored)
{
    double each[LABELS], logs[N], sum = 0, all = 0, one;
    for (size_t i = 0; i < N; i++)
        logs[i] = logarithm(i / CLASSES / PLACES, i / PLACES % CLASSES, i % PLACES);
    for (size_t i = 0; i < LABELS; i++) {
        size_t at = (i / PLACES * CLASSES + (size_t)labels[i]) * PLACES + i % PLACES;
        double w = labels[i] == ignored ? 0 : is_weighed ? weights[labels[i]] : 1;
        each[i] = w == 0 ? 0 : -(is_softmax ? logs : x)[at] * w;
        sum += each[i];
        all += w;
    }
    one = strcmp(reduction, "mean") == 0 ? sum / all : sum;
    op_case c = { .op = is_softmax ? "SoftmaxCrossEntropyLoss" : "NegativeLogLikelihoodLoss",
                  .attributes = { evl_attribute_text("reduction", reduction),
                                  evl_attribute_int("ignore_index", ignored) },
                  .in = { evl_test_reals(x, 3, dims), evl_test_ints(labels, 2, label_dims) } };
    if (is_weighed)
        c.in[2] = reals(weights, CLASSES);
    c.out[0] = strcmp(reduction, "none") == 0 ? evl_test_reals(each, 2, label_dims)
                                              : scalar(EVAL_FLOAT64, &one);
    if (is_softmax && is_weighed)
        c.out[1] = evl_test_reals(logs, 3, dims);
    check_case(&c);
}

static void losses_are_those_of_a_loop(void **state)
{
    static const char *const reductions[] = { "none", "sum", "mean" };
    (void)state;
    fill();
    for (int i = 0; i < 3; i++)
        for (int way = 0; way < 8; way++)
            check(way & 1, reductions[i], way & 2, way & 4 ? 2 : -100);
}

static void a_label_that_is_no_class_is_refused(void **state)
{
    const int64_t wrong[] = { 5 };
    op_case c = { .op = "NegativeLogLikelihoodLoss",
                  .in = { matrix(EVAL_FLOAT64, x, 1, CLASSES), vector(EVAL_INT64, wrong, 1) },
                  .out = { scalar(EVAL_FLOAT64, x) },
                  .status = EVAL_ERR_SHAPE };
    (void)state;
    check_case(&c);
    c.attributes[0] = evl_attribute_text("reduction", "most");
    c.status = EVAL_ERR_FORMAT;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses_are_those_of_a_loop),
        cmocka_unit_test(a_label_that_is_no_class_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
