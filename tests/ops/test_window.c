/* Windows against their formulas; MelWeightMatrix against triangles between marks. */
#include "ops/op_case.h"

enum { MOST = 300 };

static double weight(int kind, double t)
{
    const double values[] = { pow(sin(t / 2), 2), 25.0 / 46 - 21.0 / 46 * cos(t),
                              0.42 - 0.5 * cos(t) + 0.08 * cos(2 * t) };
    return values[kind];
}

static void windows_follow_their_formulas(void **state)
{
    static const char *const names[] = { "HannWindow", "HammingWindow", "BlackmanWindow" };
    static const int64_t sizes[] = { 0, 1, 2, 7, MOST };
    double right[MOST];
    (void)state;
    for (int i = 0; i < 30; i++) {
        int64_t n = sizes[i / 6];
        int periodic = i % 2;
        for (int64_t j = 0; j < n; j++)
            right[j] = n == 1 && !periodic
                           ? 1
                           : weight(i % 3, 2 * acos(-1) * (double)j / (double)(n - 1 + periodic));
        const op_case c = { .op = names[i % 3],
                            .attributes = { evl_attribute_int("periodic", periodic),
                                            evl_attribute_int("output_datatype", EVAL_FLOAT64) },
                            .in = { scalar(EVAL_INT64, &n) },
                            .out = { reals(right, n) } };
        check_case(&c);
    }
}

static void blackman_is_whole_where_integers_are_asked_for(void **state)
{
    const int64_t n = 8;
    const int32_t right[] = { 0, 0, 0, 0, 1, 0, 0, 0 };
    (void)state;
    check_case(&(const op_case){
        .op = "BlackmanWindow",
        .attributes = { evl_attribute_int("output_datatype", EVAL_INT32) },
        .in = { scalar(EVAL_INT64, &n) },
        .out = { vector(EVAL_INT32, right, n) } });
}

static void mel_bins_are_triangles(void **state)
{
    enum { BINS = 6, LENGTH = 64, ROWS = LENGTH / 2 + 1 };
    const int64_t bins = BINS, length = LENGTH, rate = 8192, negative = -1;
    const double low = 0, high = 4000;
    double right[ROWS * BINS] = { 0 }, most = 2595 * log10(1 + high / 700);
    (void)state;
    for (int j = 0; j < BINS; j++) {
        double marks[3];
        for (int i = 0; i < 3; i++)
            marks[i] = floor((LENGTH + 1) *
                             (700 * (pow(10, (j + i) * most / (BINS + 2) / 2595) - 1)) / 8192);
        for (int row = 0; row < ROWS; row++) {
            double *to = &right[row * BINS + j];
            if (row >= marks[0] && row <= marks[1])
                *to = marks[1] > marks[0] ? (row - marks[0]) / (marks[1] - marks[0]) : 1;
            if (row >= marks[1] && row < marks[2])
                *to = (marks[2] - row) / (marks[2] - marks[1]);
        }
    }
    op_case c = { .op = "MelWeightMatrix",
                  .in = { scalar(EVAL_INT64, &bins), scalar(EVAL_INT64, &length),
                          scalar(EVAL_INT64, &rate), scalar(EVAL_FLOAT64, &low),
                          scalar(EVAL_FLOAT64, &high) },
                  .out = { matrix(EVAL_FLOAT64, right, ROWS, BINS) } };
    c.out[0].type = EVAL_FLOAT64;
    check_case(&c);
    c.in[0] = scalar(EVAL_INT64, &negative);
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_follow_their_formulas),
        cmocka_unit_test(blackman_is_whole_where_integers_are_asked_for),
        cmocka_unit_test(mel_bins_are_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
