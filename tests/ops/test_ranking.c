/* Ranking: CNTK's measures of an order by score. */
#include "ops/op_case.h"

static const double gains[] = { 3, 1, 0, 2, 1 }, groups[] = { 7, 7, 7, 8, 8 };

static op_case ranking(const double *scores, const double *y, bool is_first)
{
    return (op_case){ .op = "evl.Ranking",
                      .attributes = { evl_attribute_int("first", is_first) },
                      .in = { reals(gains, 5), reals(scores, 5), reals(groups, 5) },
                      .out = { reals(y, 1) } };
}

static void the_best_order_misses_nothing(void **state)
{
    static const double scores[] = { 9, 5, -1, 4, 0 }, none = 0, all = 500;
    (void)state;
    op_case cases[] = { ranking(scores, &none, false), ranking(scores, &all, true) };
    check_cases(cases, 2);
}

/* The first group turned round: 0 1 3; the second as it should be. */
static void a_wrong_order_gains_less(void **state)
{
    static const double scores[] = { -1, 5, 9, 4, 0 };
    double ideal = 3 / log(2) + 1 / log(3), found = 1 / log(3) + 3 / log(4);
    double missing = (1 - (found / ideal + 1) / 2) * 500, first = (0.0 + 1) / 2 * 500;
    (void)state;
    op_case cases[] = { ranking(scores, &missing, false), ranking(scores, &first, true) };
    check_cases(cases, 2);
}

static void the_lower_gain_of_tied_scores_comes_first(void **state)
{
    static const double scores[] = { 1, 1, 0, 4, 0 };
    double first = (1 / 3.0 + 1) / 2 * 500;
    (void)state;
    op_case c = ranking(scores, &first, true);
    check_case(&c);
}

static void operands_have_one_length(void **state)
{
    static const double scores[] = { 1, 2, 3, 4, 5 }, y = 0;
    (void)state;
    op_case c = ranking(scores, &y, false);
    c.in[1] = reals(scores, 4);
    c.status = EVAL_ERR_SHAPE;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_order_misses_nothing),
        cmocka_unit_test(a_wrong_order_gains_less),
        cmocka_unit_test(the_lower_gain_of_tied_scores_comes_first),
        cmocka_unit_test(operands_have_one_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
