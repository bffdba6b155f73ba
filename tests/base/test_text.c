#include "support/support.h"
#include "base/text.h"
#include <string.h>

static void utf8_is_told_from_what_is_not(void **state)
{
    static const char *const good[] = { "",
                                        "plain",
                                        "\xc2\x80",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xef\xbf\xbf",
                                        "\xf0\x90\x80\x80",
                                        "\xf4\x8f\xbf\xbf" };
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc2",
        "\xc2x",
        "\xe0\x9f\xbf",
        "\xe1\x80",
        "\xe1\x80x",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
        "ok\xfe",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(evl_utf8_valid(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(evl_utf8_valid(bad[i], strlen(bad[i])));
    assert_true(evl_utf8_valid("a\0b", 3));
}

static void a_cut_splits_no_character(void **state)
{
    static const char text[] = "a\xc3\xa9z\xe2\x82\xac\xf0\x9f\x8c\x8d";
    static const size_t expected[] = { 0, 1, 1, 3, 4, 4, 4, 7, 7, 7, 7, 11 };
    (void)state;
    for (size_t n = 0; n <= 11; n++)
        assert_int_equal(evl_utf8_cut(text, n), expected[n]);
    assert_int_equal(evl_utf8_cut("\x80\x80\x80\x80\x80", 5), 5);
}

static void utf16_becomes_utf8_and_lone_surrogates_are_replaced(void **state)
{
    static const unsigned char units[] = { 'a',  0,    0xe9, 0,    0xac, 0x20, 0x3c, 0xd8, 0x0d,
                                           0xdf, 0x00, 0xdc, 0x00, 0xd8, 'z',  0,    0xff, 0xdb };
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    char *text = evl_utf8_from_utf16(arena, units, sizeof units / 2);
    assert_string_equal(
        text, "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\x8d\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd");
    assert_string_equal(evl_utf8_from_utf16(arena, units, 0), "");
    evl_arena_free(arena);
}

static void texts_compare_by_length_and_byte(void **state)
{
    (void)state;
    assert_true(evl_text_equal("abc", "abcd", 3));
    assert_false(evl_text_equal("abc", "abcd", 4));
    assert_false(evl_text_equal("abcd", "abc", 3));
    assert_false(evl_text_equal("ab", "ab\0x", 4));
    assert_true(evl_text_equal_no_case("ModelPath", 9, "MODELpath", 9));
    assert_false(evl_text_equal_no_case("a", 1, "ab", 2));
    assert_false(evl_text_equal_no_case("[", 1, "{", 1));
}

static void distance_counts_edits_up_to_a_bound(void **state)
{
    char a[400], b[400];
    (void)state;
    assert_int_equal(evl_text_distance("", "", 3), 0);
    assert_int_equal(evl_text_distance("conv1", "conv1", 3), 0);
    assert_int_equal(evl_text_distance("conv1", "conv2", 3), 1);
    assert_int_equal(evl_text_distance("kitten", "sitting", 9), 3);
    assert_int_equal(evl_text_distance("sitting", "kitten", 9), 3);
    assert_int_equal(evl_text_distance("kitten", "sitting", 2), 3);
    assert_int_equal(evl_text_distance("", "abcdef", 3), 4);
    assert_int_equal(evl_text_distance("flaw", "lawn", 9), 2);
    assert_int_equal(evl_text_distance("aaa", "aa", 9), 1);
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    a[399] = b[399] = '\0';
    b[200] = 'y';
    assert_int_equal(evl_text_distance(a, b, 3), 1);
    memset(b, 'y', sizeof b - 1);
    assert_int_equal(evl_text_distance(a, b, 3), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_is_told_from_what_is_not),
        cmocka_unit_test(a_cut_splits_no_character),
        cmocka_unit_test(utf16_becomes_utf8_and_lone_surrogates_are_replaced),
        cmocka_unit_test(texts_compare_by_length_and_byte),
        cmocka_unit_test(distance_counts_edits_up_to_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
