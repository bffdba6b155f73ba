#include "ir/tensor.h"
#include "support/support.h"
#include <math.h>
#include <string.h>

static void every_float16_survives_the_way_there_and_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float x = evl_float_from_f16((uint16_t)bits);
        if (isnan(x))
            assert_int_equal(evl_f16_from_double((double)x) & 0x7c00, 0x7c00);
        else
            assert_int_equal(evl_f16_from_double((double)x), bits);
    }
}

static void every_bfloat16_survives_the_way_there_and_back(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float x = evl_float_from_bf16((uint16_t)bits);
        if (!isnan(x))
            assert_int_equal(evl_bf16_from_double((double)x), bits);
    }
}

static void float16_rounds_to_nearest_even(void **state)
{
    (void)state;
    assert_int_equal(evl_f16_from_double(1 + 0x1p-11), 0x3c00);           /* a tie: to even */
    assert_int_equal(evl_f16_from_double(1 + 3 * 0x1p-11), 0x3c02);       /* a tie: to even */
    assert_int_equal(evl_f16_from_double(1 + 0x1p-11 + 0x1p-40), 0x3c01); /* just above it */
    assert_int_equal(evl_f16_from_double(65519.99), 0x7bff);
    assert_int_equal(evl_f16_from_double(65520), 0x7c00);
    assert_int_equal(evl_f16_from_double(0x1p-25), 0);
    assert_int_equal(evl_f16_from_double(-0x1.8p-25), 0x8001);
}

static void bfloat16_rounds_once_even_from_double(void **state)
{
    (void)state;
    /* Halfway between two bfloat16 but for a bit that float has no room for. */
    assert_int_equal(evl_bf16_from_double(1 + 0x1p-8 + 0x1p-50), 0x3f81);
    assert_int_equal(evl_bf16_from_double(1 + 0x1p-8), 0x3f80);
    assert_int_equal(evl_bf16_from_double(1 + 0x1p-8 - 0x1p-50), 0x3f80);
    assert_int_equal(evl_bf16_from_double(INFINITY), 0x7f80);
}

static void floats_become_integers_towards_zero_and_within_range(void **state)
{
    (void)state;
    const double x[] = { -1.9, 1.9, 1e30, -1e30, NAN, 300 };
    int32_t i32[6];
    int8_t i8[6];
    uint8_t u8[6];
    assert_true(evl_convert(6, EVAL_FLOAT64, x, EVAL_INT32, i32));
    assert_memory_equal(i32, ((int32_t[]){ -1, 1, INT32_MAX, INT32_MIN, 0, 300 }), sizeof i32);
    assert_true(evl_convert(6, EVAL_FLOAT64, x, EVAL_INT8, i8));
    assert_memory_equal(i8, ((int8_t[]){ -1, 1, 127, -128, 0, 127 }), sizeof i8);
    assert_true(evl_convert(6, EVAL_FLOAT64, x, EVAL_UINT8, u8));
    assert_int_equal(u8[1], 1);
    assert_int_equal(u8[2], 255);
    assert_int_equal(u8[4], 0);
}

static void integers_narrow_as_c_does(void **state)
{
    (void)state;
    const int64_t x[] = { 300, -1, INT64_MIN };
    uint8_t y[3];
    double z[3];
    assert_true(evl_convert(3, EVAL_INT64, x, EVAL_UINT64, z));
    assert_memory_equal(z, x, sizeof x);
    assert_true(evl_convert(3, EVAL_INT64, x, EVAL_FLOAT64, z));
    assert_true(z[2] == -0x1p63);
    assert_true(evl_convert(1, EVAL_INT64, x, EVAL_BOOL, y));
    assert_int_equal(y[0], 1);
}

static void sources_may_be_unaligned(void **state)
{
    (void)state;
    char bytes[1 + 2 * sizeof(double)];
    const double x[] = { 1.5, -2.25 };
    float y[2];
    memcpy(bytes + 1, x, sizeof x);
    assert_true(evl_convert(2, EVAL_FLOAT64, bytes + 1, EVAL_FLOAT32, y));
    assert_true(y[0] == 1.5f && y[1] == -2.25f);
    evl_tensor t = { .type = EVAL_FLOAT64, .data = bytes + 1 };
    assert_true(evl_tensor_f64(&t, 1) == -2.25);
    assert_int_equal(evl_tensor_i64(&t, 1), -2);
}

static void strings_have_no_numbers(void **state)
{
    (void)state;
    EvalString text = { "1", 1 };
    int32_t y;
    assert_false(evl_convert(1, EVAL_STRING, &text, EVAL_INT32, &y));
    assert_true(evl_convert(0, EVAL_STRING, NULL, EVAL_INT32, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_float16_survives_the_way_there_and_back),
        cmocka_unit_test(every_bfloat16_survives_the_way_there_and_back),
        cmocka_unit_test(float16_rounds_to_nearest_even),
        cmocka_unit_test(bfloat16_rounds_once_even_from_double),
        cmocka_unit_test(floats_become_integers_towards_zero_and_within_range),
        cmocka_unit_test(integers_narrow_as_c_does),
        cmocka_unit_test(sources_may_be_unaligned),
        cmocka_unit_test(strings_have_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
