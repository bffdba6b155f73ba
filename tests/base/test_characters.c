#include "base/characters.h"
#include "support/support.h"
#include <string.h>

static void characters_come_back_as_they_were_put(void **state)
{
    (void)state;
    for (uint32_t c = 0; c <= 0x10ffff; c += c < 0x3000 ? 1 : 251) {
        char text[4];
        size_t size, n = evl_character_put(c, text);
        if (c >= 0xd800 && c <= 0xdfff)
            continue;
        assert_int_equal(evl_character(text, n, &size), c);
        assert_int_equal(size, n);
        if (n > 1) { /* cut short */
            assert_int_equal(evl_character(text, n - 1, &size), 0xfffd);
            assert_int_equal(size, 1);
        }
    }
}

static void what_is_no_utf_8_is_one_byte(void **state)
{
    static const char *const bad[] = { "\x80",         "\xc0\x80",         "\xe0\x80\x80",
                                       "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff",
                                       "\xc3(" };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        size_t size;
        assert_int_equal(evl_character(bad[i], strlen(bad[i]), &size), 0xfffd);
        assert_int_equal(size, 1);
    }
}

static void case_goes_there_and_back(void **state)
{
    (void)state;
    assert_int_equal(evl_character_lower('Q'), 'q');
    assert_int_equal(evl_character_upper('['), '[');
    assert_int_equal(evl_character_lower(0xd7), 0xd7);
    assert_int_equal(evl_character_upper(0x451), 0x401);
    assert_int_equal(evl_character_upper(0xff), 0x178);
    for (uint32_t c = 0; c < 0x10000; c++) {
        uint32_t low = evl_character_lower(c), up = evl_character_upper(c);
        assert_int_equal(evl_character_lower(low), low);
        assert_int_equal(evl_character_upper(up), up);
        if (low != c)
            assert_int_equal(evl_character_upper(low), c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_come_back_as_they_were_put),
        cmocka_unit_test(what_is_no_utf_8_is_one_byte),
        cmocka_unit_test(case_goes_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
