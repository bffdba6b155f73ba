/* QLinearAdd and QLinearMul against a loop over all elements, broadcast and not. */
#include "ops/op_case.h"

enum { MOST = 3 * 400 };

static const double a_scale = 0.5, b_scale = 0.25, y_scale = 2;
static const uint8_t zeros[] = { 3, 120, 60 };

static double byte(uint8_t x, bool is_signed)
{
    return is_signed ? (int8_t)x : x;
}

/* b: `columns` numbers that meet each row, or one for each element. */
static void check(const char *op, EvalType type, int64_t rows, int64_t columns, bool is_broadcast)
{
    static uint8_t a[MOST], b[MOST], y[MOST];
    bool is_signed = type == EVAL_INT8, adds = strcmp(op, "com.microsoft.QLinearAdd") == 0;
    uint64_t seed = 3;
    for (size_t i = 0; i < (size_t)(rows * columns); i++) {
        a[i] = (uint8_t)evl_test_random(&seed, 0, 256);
        b[i] = (uint8_t)evl_test_random(&seed, 0, 256);
    }
    for (size_t i = 0; i < (size_t)(rows * columns); i++) {
        double p = (byte(a[i], is_signed) - zeros[0]) * a_scale;
        double q = (byte(b[is_broadcast ? i % (size_t)columns : i], is_signed) - zeros[1]) * b_scale;
        double code = nearbyint((adds ? p + q : p * q) / y_scale) + zeros[2];
        double least = is_signed ? -128 : 0;
        y[i] = (uint8_t)(int)(code < least ? least : code > least + 255 ? least + 255 : code);
    }
    const op_case c = { op, 0, { { 0 } },
        { matrix(type, a, rows, columns), scalar(EVAL_FLOAT64, &a_scale), scalar(type, &zeros[0]),
          is_broadcast ? vector(type, b, columns) : matrix(type, b, rows, columns),
          scalar(EVAL_FLOAT64, &b_scale), scalar(type, &zeros[1]), scalar(EVAL_FLOAT64, &y_scale),
          scalar(type, &zeros[2]) },
        { matrix(type, y, rows, columns) }, !is_broadcast, EVAL_OK };
    check_case(&c);
}

static void what_the_integers_stand_for_is_added_and_multiplied(void **state)
{
    static const char *const ops[] = { "com.microsoft.QLinearAdd", "com.microsoft.QLinearMul" };
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (int type = 0; type < 2; type++) {
            check(ops[i], type ? EVAL_INT8 : EVAL_UINT8, 3, 400, false);
            check(ops[i], type ? EVAL_INT8 : EVAL_UINT8, 3, 5, true);
            check(ops[i], type ? EVAL_INT8 : EVAL_UINT8, 0, 5, false);
        }
}

static void two_types_and_several_scales_are_refused(void **state)
{
    const uint8_t x[4] = { 0 };
    const double scale[2] = { 1, 1 };
    const evl_tensor in = vector(EVAL_UINT8, x, 4), one = scalar(EVAL_FLOAT64, scale);
    const evl_tensor zero = scalar(EVAL_UINT8, x);
    const op_case all[] = {
        { "com.microsoft.QLinearAdd", 0, { { 0 } },
          { in, one, zero, vector(EVAL_INT8, x, 4), one, zero, one, zero }, { in }, false, EVAL_ERR_TYPE },
        { "com.microsoft.QLinearAdd", 0, { { 0 } },
          { in, reals(scale, 2), zero, in, one, zero, one, zero }, { in }, false, EVAL_ERR_SHAPE },
    };
    (void)state;
    check_cases(all, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_integers_stand_for_is_added_and_multiplied),
        cmocka_unit_test(two_types_and_several_scales_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
