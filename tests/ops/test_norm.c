/* Normalizations against slow loops. */
#include "ops/op_case.h"

enum { BATCH = 2, CHANNELS = 6, SPACE = 20, N = BATCH * CHANNELS * SPACE };
static const int64_t dims[4] = { BATCH, CHANNELS, 4, 5 };
static double x[N], right[N], scale[N], bias[N], mean[CHANNELS], variance[CHANNELS];
static const double epsilon = 0.125;

static void fill(void)
{
    uint64_t seed = 9;
    for (size_t i = 0; i < N; i++) {
        x[i] = (double)(float)evl_test_random(&seed, -2, 3);
        scale[i] = (double)(float)evl_test_random(&seed, 0.5, 2);
        bias[i] = (double)(float)evl_test_random(&seed, -1, 1);
    }
    for (size_t c = 0; c < CHANNELS; c++) {
        mean[c] = (double)(float)evl_test_random(&seed, -1, 1);
        variance[c] = (double)(float)evl_test_random(&seed, 0, 2);
    }
}

/* n elements to mean 0 (when centred) and deviation 1. */
static void normalized(size_t n, const double *from, bool centred, double *to, double *moments)
{
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++)
        sum += from[i];
    double middle = centred ? sum / (double)n : 0;
    for (size_t i = 0; i < n; i++)
        square += (from[i] - middle) * (from[i] - middle);
    double inverse = 1 / sqrt(square / (double)n + epsilon);
    for (size_t i = 0; i < n; i++)
        to[i] = (from[i] - middle) * inverse;
    moments[0] = middle;
    moments[1] = inverse;
}

static void scale_each(size_t part, size_t n_scales)
{
    for (size_t i = 0; i < N; i++)
        right[i] = right[i] * scale[i / part % n_scales] + bias[i / part % n_scales];
}

static op_case case_of(const char *op, int version)
{
    return (op_case){ .op = op,
                      .version = version,
                      .attributes = { evl_attribute_number("epsilon", epsilon) },
                      .in = { evl_test_reals(x, 4, dims), reals(scale, CHANNELS),
                              reals(bias, CHANNELS) },
                      .out = { evl_test_reals(right, 4, dims) } };
}

static void batches_use_the_given_statistics(void **state)
{
    static const int versions[] = { 1, 6, 7, 9, 14, 0 };
    const int64_t flat[] = { BATCH * SPACE, CHANNELS };
    (void)state;
    fill();
    for (size_t i = 0; i < N; i++) {
        size_t c = i / SPACE % CHANNELS;
        right[i] = (x[i] - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c];
    }
    op_case c = case_of("BatchNormalization", 0);
    c.in[3] = reals(mean, CHANNELS);
    c.in[4] = reals(variance, CHANNELS);
    for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++) {
        c.version = versions[v];
        check_case(&c);
    }
    c.in[4] = reals(variance, CHANNELS - 1);
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
    c.in[4] = reals(variance, CHANNELS);
    c.status = EVAL_OK;
    c.in[0] = evl_test_reals(x, 2, flat); /* channels last, nothing behind them */
    c.out[0] = evl_test_reals(right, 2, flat);
    for (size_t i = 0; i < N; i++)
        right[i] = (x[i] - mean[i % CHANNELS]) / sqrt(variance[i % CHANNELS] + epsilon) *
                       scale[i % CHANNELS] +
                   bias[i % CHANNELS];
    check_case(&c);
}

static void in_training_batches_use_their_own_statistics(void **state)
{
    double means[CHANNELS] = { 0 }, variances[CHANNELS] = { 0 }, moved[2][CHANNELS];
    (void)state;
    fill();
    for (size_t i = 0; i < N; i++)
        means[i / SPACE % CHANNELS] += x[i] / (BATCH * SPACE);
    for (size_t i = 0; i < N; i++)
        variances[i / SPACE % CHANNELS] +=
            pow(x[i] - means[i / SPACE % CHANNELS], 2) / (BATCH * SPACE);
    for (size_t i = 0; i < N; i++) {
        size_t c = i / SPACE % CHANNELS;
        right[i] = (x[i] - means[c]) / sqrt(variances[c] + epsilon) * scale[c] + bias[c];
    }
    for (size_t c = 0; c < CHANNELS; c++) {
        moved[0][c] = mean[c] * 0.75 + means[c] * 0.25;
        moved[1][c] = variance[c] * 0.75 + variances[c] * 0.25;
    }
    op_case c = case_of("BatchNormalization", 14);
    c.in[3] = reals(mean, CHANNELS);
    c.in[4] = reals(variance, CHANNELS);
    c.out[1] = reals(moved[0], CHANNELS);
    c.out[2] = reals(moved[1], CHANNELS);
    c.attributes[1] = evl_attribute_int("training_mode", 1);
    c.attributes[2] = evl_attribute_number("momentum", 0.75);
    check_case(&c);
}

static void without_spatial_every_element_is_a_channel(void **state)
{
    static double means[N], variances[N];
    const int64_t sample[] = { CHANNELS, 4, 5 };
    (void)state;
    fill();
    for (size_t i = 0; i < N; i++) {
        size_t c = i % (N / BATCH);
        means[c] = bias[c] / 2;
        variances[c] = scale[c];
        right[i] = (x[i] - means[c]) / sqrt(variances[c] + epsilon) * scale[c] + bias[c];
    }
    op_case c = case_of("BatchNormalization", 7);
    c.attributes[1] = evl_attribute_int("spatial", 0);
    const double *const given[] = { scale, bias, means, variances };
    for (size_t i = 0; i < 4; i++)
        c.in[i + 1] = evl_test_reals(given[i], 3, sample);
    check_case(&c);
}

static void instances_normalize_each_channel(void **state)
{
    double moments[2];
    (void)state;
    fill();
    for (size_t i = 0; i < N; i += SPACE)
        normalized(SPACE, x + i, true, right + i, moments);
    scale_each(SPACE, CHANNELS);
    const op_case c = case_of("InstanceNormalization", 0);
    check_case(&c);
}

static void groups_have_a_scale_each_or_one_a_channel(void **state)
{
    double moments[2];
    (void)state;
    fill();
    for (int version = 18; version <= 21; version += 3) {
        for (size_t i = 0; i < N; i += 2 * SPACE)
            normalized(2 * SPACE, x + i, true, right + i, moments);
        op_case c = case_of("GroupNormalization", version);
        c.attributes[1] = evl_attribute_int("num_groups", 3);
        if (version == 18) {
            c.in[1] = reals(scale, 3);
            c.in[2] = reals(bias, 3);
            scale_each(2 * SPACE, 3);
        } else {
            scale_each(SPACE, CHANNELS);
        }
        check_case(&c);
        c.attributes[1] = evl_attribute_int("num_groups", 4);
        c.status = EVAL_ERR_SHAPE;
        check_case(&c);
    }
}

static void layers_normalize_from_an_axis_on(void **state)
{
    const int64_t last[] = { 4, 5 }, outer[] = { BATCH, CHANNELS, 1, 1 }, column[] = { 4, 1 };
    static double moments[BATCH * CHANNELS][2], means[BATCH * CHANNELS], inverses[BATCH * CHANNELS];
    (void)state;
    fill();
    for (size_t i = 0; i < BATCH * CHANNELS; i++) {
        normalized(SPACE, x + i * SPACE, true, right + i * SPACE, moments[i]);
        means[i] = moments[i][0];
        inverses[i] = moments[i][1];
    }
    scale_each(1, SPACE);
    op_case c = case_of("LayerNormalization", 0);
    c.attributes[1] = evl_attribute_int("axis", 2);
    c.in[1] = evl_test_reals(scale, 2, last);
    c.in[2] = evl_test_reals(bias, 2, last);
    c.out[1] = evl_test_reals(means, 4, outer);
    c.out[2] = evl_test_reals(inverses, 4, outer);
    check_case(&c);
    for (size_t i = 0; i < BATCH * CHANNELS; i++) /* a scale that is stretched, and no bias */
        normalized(SPACE, x + i * SPACE, true, right + i * SPACE, moments[i]);
    for (size_t i = 0; i < N; i++)
        right[i] *= scale[i / 5 % 4];
    c.in[1] = evl_test_reals(scale, 2, column);
    c.in[2].type = EVAL_UNDEFINED;
    check_case(&c);
    for (size_t i = 0; i < BATCH * CHANNELS; i++)
        normalized(SPACE, x + i * SPACE, false, right + i * SPACE, moments[i]);
    for (size_t i = 0; i < N; i++)
        right[i] *= scale[i % SPACE];
    c.op = "RMSNormalization";
    c.in[1] = evl_test_reals(scale, 2, last);
    c.out[1].type = EVAL_UNDEFINED;
    check_case(&c);
}

static void mean_and_variance_over_axes(void **state)
{
    const int64_t axes[] = { 0, 2, 3 };
    op_case c = { .op = "MeanVarianceNormalization",
                  .in = { evl_test_reals(x, 4, dims) },
                  .out = { evl_test_reals(right, 4, dims) } };
    (void)state;
    fill();
    for (size_t ch = 0; ch < CHANNELS; ch++) {
        double sum = 0, square = 0;
        for (size_t i = 0; i < N; i++)
            sum += i / SPACE % CHANNELS == ch ? x[i] : 0;
        double middle = sum / (BATCH * SPACE);
        for (size_t i = 0; i < N; i++)
            square += i / SPACE % CHANNELS == ch ? (x[i] - middle) * (x[i] - middle) : 0;
        for (size_t i = 0; i < N; i++)
            if (i / SPACE % CHANNELS == ch)
                right[i] = (x[i] - middle) / (sqrt(square / (BATCH * SPACE)) + 1e-9);
    }
    check_case(&c);
    c.attributes[0] = evl_attribute_ints("axes", axes, 3);
    check_case(&c);
}

static void local_responses_look_at_channels_around(void **state)
{
    (void)state;
    fill();
    for (int size = 1; size <= 5; size++) {
        for (int i = 0; i < N; i++) {
            int c = i / SPACE % CHANNELS, base = i - c * SPACE;
            double square = 0;
            for (int k = c - (size - 1) / 2; k <= c + size / 2; k++)
                if (k >= 0 && k < CHANNELS)
                    square += x[base + k * SPACE] * x[base + k * SPACE];
            right[i] = x[i] / pow(2 + 0.5 / size * square, 0.75);
        }
        const op_case c = { .op = "LRN",
                            .attributes = { evl_attribute_int("size", size),
                                            evl_attribute_number("alpha", 0.5),
                                            evl_attribute_number("bias", 2) },
                            .in = { evl_test_reals(x, 4, dims) },
                            .out = { evl_test_reals(right, 4, dims) } };
        check_case(&c);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    const int64_t counts[CHANNELS] = { 0 };
    (void)state;
    op_case c = case_of("InstanceNormalization", 0);
    c.in[1] = vector(EVAL_INT64, counts, CHANNELS);
    c.status = EVAL_ERR_TYPE;
    check_case(&c);
    c.in[1] = reals(scale, CHANNELS + 1);
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_use_the_given_statistics),
        cmocka_unit_test(in_training_batches_use_their_own_statistics),
        cmocka_unit_test(without_spatial_every_element_is_a_channel),
        cmocka_unit_test(instances_normalize_each_channel),
        cmocka_unit_test(groups_have_a_scale_each_or_one_a_channel),
        cmocka_unit_test(layers_normalize_from_an_axis_on),
        cmocka_unit_test(mean_and_variance_over_axes),
        cmocka_unit_test(local_responses_look_at_channels_around),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
