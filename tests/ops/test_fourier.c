/* DFT and STFT against sums of sines and cosines. */
#include "ops/op_case.h"

enum { MOST = 80, PARTS = 2, OUTER = 2, INNER = 3 };
static double x[OUTER * MOST * INNER * PARTS];

static void fill(void)
{
    uint64_t seed = 17;
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        x[i] = (double)(float)evl_test_random(&seed, -1, 1);
}

/* Number k of the transform of n numbers, of which `given` are there, `step` numbers apart. */
static void transform(const double *from, int64_t given, int64_t step, int64_t n, int64_t k,
                      int sign, double *to)
{
    to[0] = to[1] = 0;
    for (int64_t i = 0; i < given && i < n; i++) {
        double at = sign * 2 * acos(-1) * (double)(i * k % n) / (double)n;
        const double *v = from + i * step * PARTS;
        to[0] += v[0] * cos(at) - v[1] * sin(at);
        to[1] += v[0] * sin(at) + v[1] * cos(at);
    }
}

static void check(int64_t given, int64_t n, bool is_inverse, bool is_onesided)
{
    static double right[OUTER * MOST * INNER * PARTS];
    int64_t n_out = is_onesided ? n / 2 + 1 : n, axis = 1;
    for (int64_t i = 0; i < OUTER * n_out * INNER; i++) {
        int64_t outer = i / INNER / n_out, k = i / INNER % n_out, inner = i % INNER;
        double *to = right + i * PARTS;
        transform(x + (outer * given * INNER + inner) * PARTS, given, INNER, n, k,
                  is_inverse ? 1 : -1, to);
        to[0] /= is_inverse ? (double)n : 1;
        to[1] /= is_inverse ? (double)n : 1;
    }
    op_case c = { .op = "DFT",
                  .attributes = { evl_attribute_int("inverse", is_inverse),
                                  evl_attribute_int("onesided", is_onesided) },
                  .in = { evl_test_reals(x, 4, (const int64_t[]){ OUTER, given, INNER, PARTS }),
                          scalar(EVAL_INT64, &n), scalar(EVAL_INT64, &axis) },
                  .out = {
                      evl_test_reals(right, 4, (const int64_t[]){ OUTER, n_out, INNER, PARTS }) } };
    check_case(&c);
    c.version = 17; /* the axis, 1, is an attribute */
    c.in[2] = (evl_tensor){ 0 };
    check_case(&c);
}

static void any_length_is_a_sum(void **state)
{
    (void)state;
    fill();
    for (int64_t n = 1; n <= 40; n++)
        check(n, n, n % 2, n % 2 == 0);
    check(12, 20, false, false); /* filled up with zeros */
    check(20, 12, true, false);  /* cut */
    check(MOST, 79, false, true);
}

static void half_a_spectrum_gives_the_real_signal_back(void **state)
{
    const int64_t axis = 0;
    (void)state;
    for (int64_t n = 2; n <= 9; n++) {
        double signal[9], spectrum[MOST * PARTS];
        uint64_t seed = (uint64_t)n;
        for (int64_t i = 0; i < n; i++)
            signal[i] = (double)(float)evl_test_random(&seed, -1, 1);
        for (int64_t k = 0; k <= n / 2; k++) {
            spectrum[2 * k] = spectrum[2 * k + 1] = 0;
            for (int64_t i = 0; i < n; i++) {
                double at = -2 * acos(-1) * (double)(i * k) / (double)n;
                spectrum[2 * k] += signal[i] * cos(at);
                spectrum[2 * k + 1] += signal[i] * sin(at);
            }
        }
        const op_case c = { .op = "DFT",
                            .attributes = { evl_attribute_int("inverse", 1),
                                            evl_attribute_int("onesided", 1) },
                            .in = { matrix(EVAL_FLOAT64, spectrum, n / 2 + 1, PARTS),
                                    scalar(EVAL_INT64, &n), scalar(EVAL_INT64, &axis) },
                            .out = { matrix(EVAL_FLOAT64, signal, n, 1) } };
        check_case(&c);
    }
}

static void frames_are_weighed_and_transformed(void **state)
{
    enum { LENGTH = 23, FRAME = 6, STEP = 4, FRAMES = 1 + (LENGTH - FRAME) / STEP, BINS = 4 };
    const double window[FRAME] = { 0.5, 1, 0.25, 2, 1, 0.125 };
    const int64_t step = STEP, length = FRAME;
    double right[2 * FRAMES * BINS * PARTS], frame[FRAME * PARTS], signal[2 * LENGTH];
    (void)state;
    fill();
    for (size_t i = 0; i < 2 * LENGTH; i++)
        signal[i] = x[i];
    for (int64_t f = 0; f < 2 * FRAMES; f++) {
        for (int64_t i = 0; i < FRAME; i++) {
            frame[2 * i] = window[i] * signal[f / FRAMES * LENGTH + f % FRAMES * STEP + i];
            frame[2 * i + 1] = 0;
        }
        for (int64_t k = 0; k < BINS; k++)
            transform(frame, FRAME, 1, FRAME, k, -1, right + (f * BINS + k) * PARTS);
    }
    const op_case c = {
        .op = "STFT",
        .in = { evl_test_reals(signal, 3, (const int64_t[]){ 2, LENGTH, 1 }),
                scalar(EVAL_INT64, &step), reals(window, FRAME), scalar(EVAL_INT64, &length) },
        .out = { evl_test_reals(right, 4, (const int64_t[]){ 2, FRAMES, BINS, PARTS }) }
    };
    check_case(&c);
}

static void nothing_has_no_spectrum(void **state)
{
    const evl_attribute inverse = evl_attribute_int("inverse", 1), half = evl_attribute_int("onesided", 1);
    const evl_tensor nothing = evl_test_reals(x, 3, (const int64_t[]){ 2, 0, 1 }),
                     spectrum = evl_test_reals(x, 3, (const int64_t[]){ 2, 0, 2 });
    (void)state;
    const op_case cases[] = {
        { .op = "DFT", .in = { nothing }, .out = { spectrum } },
        { .op = "DFT", .attributes = { inverse }, .in = { spectrum }, .out = { spectrum } },
        { .op = "DFT", .attributes = { half }, .in = { nothing }, .out = { spectrum }, .status = EVAL_ERR_SHAPE },
    };
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void what_is_no_signal_is_refused(void **state)
{
    const int64_t none = 0;
    const op_case cases[] = {
        { .op = "DFT",
          .in = { matrix(EVAL_FLOAT64, x, 4, 3) },
          .out = { reals(x, 1) },
          .status = EVAL_ERR_SHAPE },
        { .op = "DFT",
          .version = 17,
          .in = { matrix(EVAL_FLOAT64, x, 4, 2) },
          .out = { reals(x, 1) },
          .status = EVAL_ERR_SHAPE }, /* axis 1 holds the parts */
        { .op = "DFT",
          .in = { matrix(EVAL_FLOAT64, x, 4, 2), scalar(EVAL_INT64, &none) },
          .out = { reals(x, 1) },
          .status = EVAL_ERR_SHAPE },
        { .op = "STFT",
          .in = { evl_test_reals(x, 3, (const int64_t[]){ 1, 8, 1 }), scalar(EVAL_INT64, &none) },
          .out = { reals(x, 1) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_length_is_a_sum),
        cmocka_unit_test(half_a_spectrum_gives_the_real_signal_back),
        cmocka_unit_test(frames_are_weighed_and_transformed),
        cmocka_unit_test(nothing_has_no_spectrum),
        cmocka_unit_test(what_is_no_signal_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
