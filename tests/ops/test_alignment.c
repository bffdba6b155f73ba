/* Alignment against all paths there are, frame by frame. */
#include "ops/op_case.h"

enum { FRAMES = 5, CLASSES = 3, BLANK = 2 };

/* What a path says: repetitions once, blanks not at all. */
static bool says(const size_t *path, const size_t *labels, size_t n)
{
    size_t found = 0;
    for (size_t t = 0; t < FRAMES; t++) {
        if (path[t] == BLANK || (t > 0 && path[t] == path[t - 1]))
            continue;
        if (found == n || labels[found++] != path[t])
            return false;
    }
    return found == n;
}

/* With a delay: label i is over, and the blank behind it a frame before, when that many frames have
** passed since label i + 1 began. */
static bool is_in_time(const size_t *path, const size_t *begins, size_t n, int64_t delay)
{
    size_t label = 0;
    for (size_t t = 0; t + 1 < FRAMES && delay >= 0; t++) {
        bool is_blank = path[t] == BLANK;
        if (!is_blank && (t == 0 || path[t] != path[t - 1]))
            label++;
        size_t next = is_blank ? label + 1 : label; /* of the state two further on */
        int64_t begin = next < n ? (int64_t)begins[next] : FRAMES;
        if ((int64_t)t > begin + delay - is_blank)
            return false;
    }
    return true;
}

static double all_paths(const double *x, const size_t *labels, const size_t *begins, size_t n,
                        int64_t delay)
{
    size_t path[FRAMES];
    double sum = 0;
    for (size_t number = 0; number < 243; number++) {
        double p = 0;
        for (size_t t = 0, rest = number; t < FRAMES; t++, rest /= CLASSES) {
            path[t] = rest % CLASSES;
            p += x[t * CLASSES + path[t]];
        }
        if (says(path, labels, n) && is_in_time(path, begins, n, delay))
            sum += exp(p);
    }
    return -log(sum);
}

static void check(const size_t *labels, const size_t *begins, size_t n, int64_t delay)
{
    double marks[FRAMES * CLASSES] = { 0 }, x[FRAMES * CLASSES];
    uint64_t seed = 9;
    for (size_t i = 0; i < FRAMES * CLASSES; i++)
        x[i] = evl_test_random(&seed, -3, 0);
    for (size_t t = 0; t < FRAMES; t++)
        marks[t * CLASSES] = 1;
    for (size_t i = 0; i < n; i++) {
        marks[begins[i] * CLASSES] = 0;
        marks[begins[i] * CLASSES + labels[i]] = 2;
    }
    double y = all_paths(x, labels, begins, n, delay);
    op_case c = { .op = "evl.Alignment",
                  .attributes = { evl_attribute_int("delay", delay) },
                  .in = { matrix(EVAL_FLOAT64, marks, FRAMES, CLASSES),
                          matrix(EVAL_FLOAT64, x, FRAMES, CLASSES) },
                  .out = { reals(&y, 1) } };
    check_case(&c);
}

static void it_is_the_sum_over_all_paths(void **state)
{
    static const size_t none[] = { 0 }, two[] = { 0, 1 }, same[] = { 1, 1 }, at[] = { 0, 2 };
    static const size_t three[] = { 1, 0, 1 }, close[] = { 0, 1, 2 };
    (void)state;
    check(none, none, 0, -1);
    check(two, at, 2, -1);
    check(same, at, 2, -1);
    check(three, close, 3, -1);
    check(two, at, 2, 1);
    check(three, close, 3, 1);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const double x[6] = { 0 }, y = 0;
    (void)state;
    op_case c = { .op = "evl.Alignment",
                  .attributes = { evl_attribute_int("blank", 3) },
                  .in = { matrix(EVAL_FLOAT64, x, 2, 3), matrix(EVAL_FLOAT64, x, 2, 3) },
                  .out = { reals(&y, 1) },
                  .status = EVAL_ERR_FORMAT };
    check_case(&c);
    c.in[0] = matrix(EVAL_FLOAT64, x, 3, 2);
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_sum_over_all_paths),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
