/* The loops over integers: wrapping, saturating, never trapping. */
#include "kernels/loops.h"
#include "support/support.h"
#include <math.h>
#include <string.h>

static const EvalType types[] = { EVAL_UINT8, EVAL_INT8,  EVAL_UINT16, EVAL_INT16,
                                  EVAL_INT32, EVAL_INT64, EVAL_UINT32, EVAL_UINT64 };

static int8_t run_i8(evl_binary_kind kind, int8_t a, int8_t b)
{
    int8_t y;
    evl_loops_integer(EVAL_INT8)->binary[kind](1, &a, 1, &b, 1, &y);
    return y;
}

static int64_t run_i64(evl_binary_kind kind, int64_t a, int64_t b)
{
    int64_t y;
    evl_loops_integer(EVAL_INT64)->binary[kind](1, &a, 1, &b, 1, &y);
    return y;
}

static void each_type_has_its_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        assert_non_null(evl_loops_integer(types[i])->binary[EVL_ADD]);
    assert_ptr_equal(evl_loops_integer(EVAL_BOOL), evl_loops_integer(EVAL_UINT8));
    assert_null(evl_loops_integer(EVAL_FLOAT32));
    assert_null(evl_loops_integer(EVAL_STRING));
}

static void arithmetic_wraps_around(void **state)
{
    (void)state;
    for (int a = -128; a < 128; a++)
        for (int b = -128; b < 128; b++) {
            assert_int_equal(run_i8(EVL_ADD, (int8_t)a, (int8_t)b), (int8_t)(a + b));
            assert_int_equal(run_i8(EVL_SUB, (int8_t)a, (int8_t)b), (int8_t)(a - b));
            assert_int_equal(run_i8(EVL_MUL, (int8_t)a, (int8_t)b), (int8_t)(a * b));
            assert_int_equal(run_i8(EVL_MAX, (int8_t)a, (int8_t)b), a > b ? a : b);
            assert_int_equal(run_i8(EVL_PRELU, (int8_t)a, (int8_t)b), (int8_t)(a < 0 ? a * b : a));
        }
    assert_int_equal(run_i64(EVL_ADD, INT64_MAX, 1), INT64_MIN);
    assert_int_equal(run_i64(EVL_MUL, INT64_MIN, -1), INT64_MIN);
}

static int floored(int a, int b)
{
    int rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static void division_is_as_in_c_and_never_traps(void **state)
{
    (void)state;
    for (int a = -128; a < 128; a++) {
        for (int b = -128; b < 128; b++) {
            if (b == 0)
                continue;
            assert_int_equal(run_i8(EVL_DIV, (int8_t)a, (int8_t)b), (int8_t)(a / b));
            assert_int_equal(run_i8(EVL_FMOD, (int8_t)a, (int8_t)b), a % b);
            assert_int_equal(run_i8(EVL_MOD, (int8_t)a, (int8_t)b), floored(a, b));
        }
        assert_int_equal(run_i8(EVL_DIV, (int8_t)a, 0), 0);
        assert_int_equal(run_i8(EVL_MOD, (int8_t)a, 0), 0);
        assert_int_equal(run_i8(EVL_FMOD, (int8_t)a, 0), 0);
    }
    assert_int_equal(run_i64(EVL_DIV, INT64_MIN, -1), INT64_MIN);
    assert_int_equal(run_i64(EVL_MOD, INT64_MIN, -1), 0);
}

static void powers_are_whole(void **state)
{
    (void)state;
    assert_int_equal(run_i64(EVL_POW, 3, 5), 243);
    assert_int_equal(run_i64(EVL_POW, -2, 3), -8);
    assert_int_equal(run_i64(EVL_POW, 7, 0), 1);
    assert_int_equal(run_i64(EVL_POW, 2, -1), 0);
    assert_int_equal(run_i64(EVL_POW, -1, -3), -1);
    assert_int_equal(run_i64(EVL_POW, 1, INT64_MIN), 1);
    assert_int_equal(run_i64(EVL_POW, 0, -1), 0);
}

static void shifts_beyond_the_width_leave_the_sign(void **state)
{
    (void)state;
    assert_int_equal(run_i8(EVL_SHIFT_LEFT, 3, 2), 12);
    assert_int_equal(run_i8(EVL_SHIFT_LEFT, 3, 8), 0);
    assert_int_equal(run_i8(EVL_SHIFT_RIGHT, -8, 1), -4);
    assert_int_equal(run_i8(EVL_SHIFT_RIGHT, -8, 100), -1);
    assert_int_equal(run_i8(EVL_SHIFT_RIGHT, 8, -1), 0);
}

static void clip_takes_any_limit(void **state)
{
    const uint8_t x[] = { 0, 5, 200 };
    uint8_t y[3];
    const evl_number wide[] = { -1e300, 1e300 }, narrow[] = { 4, 100 }, none[] = { (double)NAN, 9 };
    (void)state;
    evl_loops_integer(EVAL_UINT8)->unary[EVL_CLIP](3, x, y, wide);
    assert_memory_equal(x, y, 3);
    evl_loops_integer(EVAL_UINT8)->unary[EVL_CLIP](3, x, y, narrow);
    assert_memory_equal(y, "\4\5\144", 3);
    evl_loops_integer(EVAL_UINT8)->unary[EVL_CLIP](3, x, y, none);
    assert_memory_equal(y, "\0\5\11", 3);
}

static void one_number_becomes_one(void **state)
{
    const int32_t x[] = { INT32_MIN, -7, 0, 9, INT32_MAX };
    const int32_t right[][5] = {
        { INT32_MIN, 7, 0, 9, INT32_MAX },
        { INT32_MIN, 7, 0, -9, -INT32_MAX },
        { -1, -1, 0, 1, 1 },
        { 0, 0, 0, 9, INT32_MAX },
        { 0, 0, 1, 0, 0 },
        { INT32_MAX, 6, -1, -10, INT32_MIN },
    };
    const evl_unary_kind kinds[] = { EVL_ABS, EVL_NEG, EVL_SIGN, EVL_RELU, EVL_NOT, EVL_BIT_NOT };
    int32_t y[5];
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        evl_loops_integer(EVAL_INT32)->unary[kinds[k]](5, x, y, NULL);
        assert_memory_equal(y, right[k], sizeof y);
    }
    assert_null(evl_loops_integer(EVAL_INT32)->unary[EVL_EXP]);
}

static void reductions_of_integers(void **state)
{
    const int16_t x[] = { 3, -4, 5, 6, -7, 8 }; /* two rows of three */
    const int16_t right[][3] = { { 9, -11, 13 }, { 4, -5, 6 },  { 6, -4, 8 }, { 3, -7, 5 },
                                 { 18, 28, 40 }, { 9, 11, 13 }, { 6, 8, 9 },  { 45, 65, 89 } };
    int16_t y[3];
    (void)state;
    for (int kind = 0; kind < EVL_REDUCE_LOG_SUM; kind++) {
        evl_loops_integer(EVAL_INT16)->reduce[kind]((evl_axis_lines){ 2, 3, 3 }, x, y);
        assert_memory_equal(y, right[kind], sizeof y);
    }
    evl_loops_integer(EVAL_INT16)->reduce[EVL_REDUCE_MAX]((evl_axis_lines){ 0, 1, 1 }, x, y);
    assert_int_equal(y[0], INT16_MIN);
}

static void select_writes_what_is_chosen(void **state)
{
    enum { N = 600 };
    static uint8_t c[N];
    static uint32_t a[N], b[N], y[N];
    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        c[i] = i % 3 == 0;
        a[i] = i + 1000;
        b[i] = i + 5000;
    }
    for (size_t s = 0; s < 8; s++) {
        size_t c_step = s % 2, a_step = s / 2 % 2, b_step = s / 4;
        evl_select_arrays from = { c, a, b, c_step, a_step, b_step };
        evl_loops_integer(EVAL_UINT32)->select(N, &from, y);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(y[i], c[i * c_step] ? a[i * a_step] : b[i * b_step]);
    }
    evl_loops_integer(EVAL_UINT32)->select(N, &(evl_select_arrays){ c, a, b, 1, 1, 1 }, a);
    assert_int_equal(a[1], 5001);
    assert_int_equal(a[3], 1003);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_has_its_table),
        cmocka_unit_test(arithmetic_wraps_around),
        cmocka_unit_test(division_is_as_in_c_and_never_traps),
        cmocka_unit_test(powers_are_whole),
        cmocka_unit_test(shifts_beyond_the_width_leave_the_sign),
        cmocka_unit_test(clip_takes_any_limit),
        cmocka_unit_test(one_number_becomes_one),
        cmocka_unit_test(reductions_of_integers),
        cmocka_unit_test(select_writes_what_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
