/* Min, Max, Sum and Mean of any number of inputs. */
#include "ops/op_case.h"

static const double x[] = { 1, -2, 3, (double)NAN }, y[] = { 4, 0, -1, 1 }, one = 2;

static void all_inputs_take_part(void **state)
{
    const double sum[] = { 7, 0, 4, (double)NAN }, mean[] = { 7.0 / 3, 0, 4.0 / 3, (double)NAN };
    const double most[] = { 4, 2, 3, (double)NAN }, least[] = { 1, -2, -1, (double)NAN };
    const int32_t p[] = { 1, 5 }, q[] = { 4, 4 }, whole[] = { 2, 4 }; /* a mean is cut off */
    const op_case cases[] = {
        { .op = "Sum",
          .in = { reals(x, 4), reals(y, 4), scalar(EVAL_FLOAT64, &one) },
          .out = { reals(sum, 4) } },
        { .op = "Sum",
          .in = { scalar(EVAL_FLOAT64, &one), reals(y, 4), reals(x, 4) },
          .out = { reals(sum, 4) } },
        { .op = "Mean",
          .in = { reals(x, 4), reals(y, 4), scalar(EVAL_FLOAT64, &one) },
          .out = { reals(mean, 4) } },
        { .op = "Max",
          .in = { reals(x, 4), reals(y, 4), scalar(EVAL_FLOAT64, &one) },
          .out = { reals(most, 4) } },
        { .op = "Min",
          .in = { reals(x, 4), reals(y, 4), scalar(EVAL_FLOAT64, &one) },
          .out = { reals(least, 4) } },
        { .op = "Max", .in = { reals(x, 4) }, .out = { reals(x, 4) } },
        { .op = "Mean",
          .in = { vector(EVAL_INT32, p, 2), vector(EVAL_INT32, q, 2) },
          .out = { vector(EVAL_INT32, whole, 2) } },
        { .op = "Sum",
          .in = { reals(x, 4), reals(y, 3) },
          .out = { reals(x, 4) },
          .status = EVAL_ERR_SHAPE },
        { .op = "Sum",
          .in = { reals(x, 4), vector(EVAL_INT32, p, 1) },
          .out = { reals(x, 4) },
          .status = EVAL_ERR_TYPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(all_inputs_take_part) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
