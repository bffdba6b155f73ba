/* EditDistance against the recursion that defines it, and CNTK's ways to count. */
#include "ops/op_case.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t changes(const int64_t *a, size_t n, const int64_t *b, size_t m)
{
    if (n == 0 || m == 0)
        return n + m;
    if (a[0] == b[0])
        return changes(a + 1, n - 1, b + 1, m - 1);
    return 1 + least(changes(a + 1, n - 1, b + 1, m - 1),
                     least(changes(a + 1, n - 1, b, m), changes(a, n, b + 1, m - 1)));
}

static void as_many_changes_are_found_as_there_must_be(void **state)
{
    uint64_t seed = 5;
    (void)state;
    for (int i = 0; i < 40; i++) {
        int64_t a[7], b[7];
        size_t n = 1 + (size_t)i % 7, m = 1 + (size_t)i / 7;
        for (size_t j = 0; j < 7; j++) {
            a[j] = (int64_t)floor(evl_test_random(&seed, 0, 3));
            b[j] = (int64_t)floor(evl_test_random(&seed, 0, 3));
        }
        double y = (double)changes(a, n, b, m) * (double)n / (double)m;
        op_case c = { .op = "evl.EditDistance",
                      .in = { vector(EVAL_INT64, a, (int64_t)n), vector(EVAL_INT64, b, (int64_t)m) },
                      .out = { reals(&y, 1) } };
        check_case(&c);
    }
}

/* aaab and abbd, squashed ab and abd; without d ab. */
static void repetitions_and_ignored_labels_are_left_out(void **state)
{
    static const int64_t a[] = { 0, 0, 0, 1 }, b[] = { 0, 1, 1, 3 }, ignored[] = { 7, 3 };
    static const double squashed = 1 * 4 / 3.0, of_first = 1 * 4 / 2.0, none = 0;
    (void)state;
    op_case c = { .op = "evl.EditDistance",
                  .attributes = { evl_attribute_int("squashes", 1) },
                  .in = { vector(EVAL_INT64, a, 4), vector(EVAL_INT64, b, 4) },
                  .out = { reals(&squashed, 1) } };
    check_case(&c);
    c.attributes[1] = evl_attribute_int("counts_first", 1);
    c.out[0] = reals(&of_first, 1);
    check_case(&c);
    c.attributes[2] = evl_attribute_ints("ignored", ignored, 2);
    c.out[0] = reals(&none, 1);
    check_case(&c);
}

/* A substitution that costs more than both is two changes. */
static void penalties_choose_the_way(void **state)
{
    static const int64_t a[] = { 0, 1, 2 }, b[] = { 0, 3, 2 };
    static const double two = 2, one = 1;
    (void)state;
    op_case c = { .op = "evl.EditDistance",
                  .attributes = { evl_attribute_number("substitution", 2.5) },
                  .in = { vector(EVAL_INT64, a, 3), vector(EVAL_INT64, b, 3) },
                  .out = { reals(&two, 1) } };
    check_case(&c);
    c.attributes[1] = evl_attribute_number("insertion", 4);
    c.out[0] = reals(&one, 1);
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_changes_are_found_as_there_must_be),
        cmocka_unit_test(repetitions_and_ignored_labels_are_left_out),
        cmocka_unit_test(penalties_choose_the_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
