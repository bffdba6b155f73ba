#include "support/support.h"
#include "base/bytes.h"

static const uint8_t data[] = { 0x01, 0x02, 0x03, 0x84, 0x05, 0x06,
                                0x07, 0x88, 0x00, 0x00, 0x80, 0x3f };

static void numbers_are_little_endian_and_may_be_unaligned(void **state)
{
    evl_bytes bytes = evl_bytes_of(data, sizeof data);
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    const void *start;
    (void)state;
    assert_true(evl_bytes_u8(&bytes, &u8));
    assert_int_equal(u8, 1);
    assert_true(evl_bytes_u16(&bytes, &u16));
    assert_int_equal(u16, 0x0302);
    assert_true(evl_bytes_u32(&bytes, &u32));
    assert_int_equal(u32, 0x07060584);
    assert_true(evl_bytes_skip(&bytes, 1));
    assert_true(evl_bytes_take(&bytes, 4, 1, &start));
    assert_true(evl_load_f32(start) == 1.0f);
    assert_int_equal(evl_bytes_left(&bytes), 0);
}

static void signed_numbers_keep_their_sign(void **state)
{
    evl_bytes bytes = evl_bytes_of(data, sizeof data);
    int32_t i32;
    (void)state;
    assert_true(evl_bytes_i32(&bytes, &i32));
    assert_int_equal(i32, -0x7bfcfdff);
}

static void doubles_and_loads_agree(void **state)
{
    const uint8_t two[] = { 9, 0, 0, 0, 0, 0, 0, 0, 0x40 };
    evl_bytes bytes = evl_bytes_of(two, sizeof two);
    uint64_t u64;
    (void)state;
    assert_true(evl_load_f64(two + 1) == 2.0);
    assert_true(evl_load_f32(data + 8) == 1.0f);
    assert_true(evl_bytes_u64(&bytes, &u64));
    assert_true(u64 == 9 && evl_load_u64(two) == 9);
}

static void numbers_of_7_bits_a_byte_hold_64_bits_and_end(void **state)
{
    const uint8_t most[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0xac, 0x02 };
    const uint8_t more[] = { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02 };
    evl_bytes bytes = evl_bytes_of(most, sizeof most);
    uint64_t value = 0;
    (void)state;
    assert_true(evl_bytes_varint(&bytes, &value));
    assert_true(value == UINT64_MAX);
    assert_int_equal(bytes.at, EVL_VARINT_BYTES);
    assert_true(evl_bytes_varint(&bytes, &value));
    assert_int_equal(value, 300);
    assert_false(evl_bytes_varint(&bytes, &value));
    bytes = evl_bytes_of(more, sizeof more);
    assert_false(evl_bytes_varint(&bytes, &value)); /* 65 bits */
    bytes = evl_bytes_of(most, 9);
    assert_false(evl_bytes_varint(&bytes, &value)); /* cut */
    assert_int_equal(bytes.at, 0);
    assert_int_equal(value, 300);
}

static void what_does_not_fit_moves_nothing(void **state)
{
    uint64_t u64 = 5;
    uint16_t u16 = 5;
    const void *start = &u64;
    (void)state;
    for (size_t size = 0; size < 8; size++) {
        evl_bytes bytes = evl_bytes_of(data, size);
        assert_false(evl_bytes_u64(&bytes, &u64));
        assert_int_equal(bytes.at, 0);
        assert_false(evl_bytes_skip(&bytes, size + 1));
        assert_true(evl_bytes_skip(&bytes, size));
        assert_false(evl_bytes_u16(&bytes, &u16));
        assert_int_equal(bytes.at, size);
    }
    evl_bytes bytes = evl_bytes_of(data, sizeof data);
    assert_true(evl_bytes_skip(&bytes, 2));
    assert_false(evl_bytes_take(&bytes, 3, 4, &start));
    assert_false(evl_bytes_take(&bytes, SIZE_MAX, 1, &start));
    assert_false(evl_bytes_take(&bytes, SIZE_MAX / 2 + 2, 2, &start));
    assert_ptr_equal(start, &u64);
    assert_int_equal(u64, 5);
    assert_int_equal(u16, 5);
    assert_int_equal(bytes.at, 2);
    assert_true(evl_bytes_take(&bytes, 5, 2, &start));
    assert_ptr_equal(start, data + 2);
}

static void no_bytes_at_all_are_a_cursor_too(void **state)
{
    evl_bytes bytes = evl_bytes_of(NULL, 0);
    const void *start;
    uint8_t u8;
    (void)state;
    assert_true(evl_bytes_take(&bytes, 0, 8, &start));
    assert_true(evl_bytes_skip(&bytes, 0));
    assert_false(evl_bytes_u8(&bytes, &u8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_little_endian_and_may_be_unaligned),
        cmocka_unit_test(signed_numbers_keep_their_sign),
        cmocka_unit_test(doubles_and_loads_agree),
        cmocka_unit_test(numbers_of_7_bits_a_byte_hold_64_bits_and_end),
        cmocka_unit_test(what_does_not_fit_moves_nothing),
        cmocka_unit_test(no_bytes_at_all_are_a_cursor_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
