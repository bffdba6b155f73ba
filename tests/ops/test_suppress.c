/* NonMaxSuppression against a choice made box by box. */
#include "ops/op_case.h"

enum { BATCH = 2, CLASSES = 2, BOXES = 24, ROWS = BATCH * CLASSES * BOXES };
static double boxes[BATCH * BOXES * 4], scores[BATCH * CLASSES * BOXES];

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Corners (y, x) of which any two opposite ones are given; or x, y, width, height. */
static void corners(const double *v, bool is_centred, double to[4])
{
    if (is_centred) {
        const double c[] = { v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2 };
        memcpy(to, c, sizeof c);
        return;
    }
    for (int i = 0; i < 2; i++) {
        to[i] = least(v[i], v[i + 2]);
        to[i + 2] = most(v[i], v[i + 2]);
    }
}

static double overlap(const double *v, const double *w, bool is_centred)
{
    double a[4], b[4];
    corners(v, is_centred, a);
    corners(w, is_centred, b);
    double height = least(a[2], b[2]) - most(a[0], b[0]);
    double width = least(a[3], b[3]) - most(a[1], b[1]);
    if (height <= 0 || width <= 0)
        return 0;
    double both = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - height * width;
    return height * width / both;
}

static int64_t choose(int64_t line, int64_t n_most, double threshold, double score, bool is_centred,
                      int64_t *rows)
{
    bool is_gone[BOXES] = { false };
    int64_t n = 0;
    const double *s = scores + line * BOXES, *b = boxes + line / CLASSES * BOXES * 4;
    while (n < n_most) {
        int64_t best = -1;
        for (int64_t i = 0; i < BOXES; i++)
            if (!is_gone[i] && s[i] > score && (best < 0 || s[i] > s[best]))
                best = i;
        if (best < 0)
            break;
        const int64_t row[] = { line / CLASSES, line % CLASSES, best };
        memcpy(rows + 3 * n++, row, sizeof row);
        for (int64_t i = 0; i < BOXES; i++)
            is_gone[i] |= i == best || overlap(b + best * 4, b + i * 4, is_centred) > threshold;
    }
    return n;
}

static void check(int64_t n_most, double threshold, double score, bool is_centred)
{
    int64_t rows[3 * ROWS], n = 0;
    for (int64_t line = 0; line < BATCH * CLASSES; line++)
        n += choose(line, n_most, threshold, score, is_centred, rows + 3 * n);
    const op_case c = {
        .op = "NonMaxSuppression",
        .attributes = { evl_attribute_int("center_point_box", is_centred) },
        .in = { evl_test_reals(boxes, 3, (const int64_t[]){ BATCH, BOXES, 4 }),
                evl_test_reals(scores, 3, (const int64_t[]){ BATCH, CLASSES, BOXES }),
                vector(EVAL_INT64, &n_most, 1), reals(&threshold, 1), reals(&score, 1) },
        .out = { matrix(EVAL_INT64, rows, n, 3) }
    };
    check_case(&c);
}

static void the_chosen_are_those_of_a_slow_choice(void **state)
{
    uint64_t seed = 44;
    (void)state;
    for (size_t i = 0; i < BATCH * BOXES * 4; i++)
        boxes[i] = (double)(float)evl_test_random(&seed, 0, 9);
    for (size_t i = 0; i < BATCH * CLASSES * BOXES; i++) /* few values, so many are equal */
        scores[i] = floor(evl_test_random(&seed, 0, 7)) / 8;
    for (int64_t n_most = 0; n_most < 30; n_most += 5)
        for (int way = 0; way < 4; way++)
            check(n_most, way & 1 ? 0.5 : 0.125, way & 2 ? 0.375 : -1, way & 1);
}

static void without_a_number_none_is_chosen(void **state)
{
    const op_case cases[] = {
        { .op = "NonMaxSuppression",
          .in = { evl_test_reals(boxes, 3, (const int64_t[]){ 1, 3, 4 }),
                  evl_test_reals(scores, 3, (const int64_t[]){ 1, 2, 3 }) },
          .out = { matrix(EVAL_INT64, NULL, 0, 3) } },
        { .op = "NonMaxSuppression",
          .in = { evl_test_reals(boxes, 3, (const int64_t[]){ 1, 3, 4 }),
                  evl_test_reals(scores, 3, (const int64_t[]){ 1, 2, 4 }) },
          .out = { matrix(EVAL_INT64, NULL, 0, 3) },
          .status = EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chosen_are_those_of_a_slow_choice),
        cmocka_unit_test(without_a_number_none_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
