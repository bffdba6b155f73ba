/* BitCast: bits of the declared types. */
#include "ops/op_case.h"

static void bits_keep_their_place_and_widths_must_agree(void **state)
{
    static const int32_t bits[] = { 0x3f800000, (int32_t)0xc0200000, 0 };
    static const int8_t signs[] = { -1, 127 }, nibbles[] = { -8, -1, 7 };
    static const uint8_t bytes[] = { 255, 127 }, plain[] = { 8, 15, 7 };
    static const uint16_t halves[] = { 0x3c00, 0xc100 };
    static const double doubles[] = { 1, -2.5, 0 };
    const op_case cases[] = {
        { "BitCast", 26, { evl_attribute_int("to", EVAL_UINT8) }, { vector(EVAL_INT8, signs, 2) },
          { vector(EVAL_UINT8, bytes, 2) }, false, EVAL_OK },
        { "BitCast", 26, { evl_attribute_int("to", EVAL_UINT4) }, { vector(EVAL_INT4, nibbles, 3) },
          { vector(EVAL_UINT4, plain, 3) }, false, EVAL_OK },
        { "BitCast", 26, { evl_attribute_int("to", EVAL_INT4) }, { vector(EVAL_UINT4, plain, 3) },
          { vector(EVAL_INT4, nibbles, 3) }, false, EVAL_OK },
        { "BitCast", 26, { evl_attribute_int("to", EVAL_FLOAT32) }, { vector(EVAL_INT32, bits, 3) },
          { reals(doubles, 3) }, false, EVAL_OK },
        { "BitCast", 26, { evl_attribute_int("to", EVAL_FLOAT16) }, { vector(EVAL_UINT16, halves, 2) },
          { reals(doubles, 2) }, false, EVAL_OK },
        { "BitCast", 26, { evl_attribute_int("to", EVAL_INT64) }, { vector(EVAL_INT32, bits, 3) },
          { vector(EVAL_INT32, bits, 3) }, false, EVAL_ERR_TYPE },
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_keep_their_place_and_widths_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
