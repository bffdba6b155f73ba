#include "support/support.h"
#include "base/text.h"
#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void reads_as(const char *text, double expected)
{
    double value = 12345;
    if (!evl_text_to_f64(text, strlen(text), &value) || !same_bits(value, expected))
        fail_msg("'%s' is %a, not %a", text, value, expected);
}

static void decimals_are_rounded_to_the_nearest_double(void **state)
{
    (void)state;
    reads_as("0", 0.0);
    reads_as("-0", -0.0);
    reads_as("+1.5", 1.5);
    reads_as(".5", 0.5);
    reads_as("5.", 5.0);
    reads_as("0.1", 0.1);
    reads_as("1e22", 1e22);
    reads_as("1E+2", 100.0);
    reads_as("-12.5e-1", -1.25);
    reads_as("9007199254740993", 9007199254740992.0);          /* a tie, to even */
    reads_as("9007199254740993.00000001", 9007199254740994.0); /* hardly above it */
    reads_as("9007199254740995", 9007199254740996.0);
    reads_as("1.7976931348623157e308", DBL_MAX);
    reads_as("2.2250738585072011e-308", 0x0.fffffffffffffp-1022); /* the largest subnormal */
    reads_as("4.9406564584124654e-324", 0x1p-1074);
    reads_as("2.4703282292062328e-324", 0x1p-1074);
    reads_as("2.4703282292062327e-324", 0.0);
    reads_as("1e-400", 0.0);
    reads_as("0e999999999999999999999", 0.0);
    reads_as("0.000000000000000000000000000000000000000000000001e48", 1.0);
}

static void infinities_and_nan_are_words(void **state)
{
    double value;
    (void)state;
    reads_as("inf", INFINITY);
    reads_as("-Infinity", -INFINITY);
    assert_true(evl_text_to_f64("NaN", 3, &value));
    assert_true(isnan(value));
}

static void what_is_no_number_or_too_large_is_refused(void **state)
{
    static const char *const bad[] = { "",
                                       "-",
                                       ".",
                                       "e5",
                                       "1e",
                                       "1e+",
                                       "1.2.3",
                                       " 1",
                                       "1 ",
                                       "0x10",
                                       "1,5",
                                       "++1",
                                       "1f",
                                       "in",
                                       "1e400",
                                       "-1e400",
                                       "nano",
                                       "1e5.5",
                                       "1.7976931348623159e308" };
    double value = 7;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (evl_text_to_f64(bad[i], strlen(bad[i]), &value))
            fail_msg("'%s' was taken for %a", bad[i], value);
    assert_false(evl_text_to_f64("1\0", 2, &value));
    assert_true(value == 7);
}

/* Seventeen digits name a double; fewer and more must round as the C library rounds. */
static void random_numbers_read_as_the_c_library_reads_them(void **state)
{
    uint64_t random = 20240607;
    char text[64];
    (void)state;
    for (int i = 0; i < 100000; i++) {
        double number;
        evl_test_random(&random, 0, 1);
        memcpy(&number, &random, sizeof number);
        if (!isfinite(number))
            continue;
        snprintf(text, sizeof text, "%.*e", i % 22, number);
        if (isfinite(strtod(text, NULL)))
            reads_as(text, strtod(text, NULL));
    }
}

static void texts_of_a_thousand_digits_are_exact(void **state)
{
    char text[1300];
    (void)state;
    for (int shift = 1; shift < 60; shift++) {
        /* 1 + 2^-53 is half way between two doubles; a digit far behind decides. */
        snprintf(text, sizeof text, "%.*f", 1100, ldexp(1.0, -shift) + ldexp(1.0, -shift - 52));
        reads_as(text, ldexp(1.0, -shift) + ldexp(1.0, -shift - 52));
    }
    memset(text, '0', sizeof text);
    memcpy(text, "9007199254740993.", 17);
    text[1200] = '\0';
    reads_as(text, 9007199254740992.0);
    text[1199] = '1';
    reads_as(text, 9007199254740994.0);
    memset(text, '9', 1299);
    text[1299] = '\0';
    double value;
    assert_false(evl_text_to_f64(text, strlen(text), &value));
    text[0] = '.';
    reads_as(text, 1.0);
}

static void neither_locale_nor_rounding_mode_matters(void **state)
{
    static const char *const german[] = { "de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8" };
    size_t i = 0;
    (void)state;
    fesetround(FE_UPWARD);
    reads_as("0.1", 0x1.999999999999ap-4);
    reads_as("0.3", 0x1.3333333333333p-2);
    fesetround(FE_TONEAREST);
    while (i < 4 && !setlocale(LC_ALL, german[i]))
        i++;
    if (i == 4)
        print_message("no locale with a decimal comma here\n");
    reads_as("2.5", 2.5);
    setlocale(LC_ALL, "C");
}

static void integers_are_strict(void **state)
{
    static const char *const bad[] = { "",
                                       "-",
                                       "+",
                                       "1.0",
                                       " 1",
                                       "1 ",
                                       "0x1",
                                       "9223372036854775808",
                                       "--1",
                                       "1e3",
                                       "-9223372036854775809",
                                       "99999999999999999999" };
    int64_t value = 7;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (evl_text_to_i64(bad[i], strlen(bad[i]), &value))
            fail_msg("'%s' was taken for an integer", bad[i]);
    assert_int_equal(value, 7);
    assert_true(evl_text_to_i64("-9223372036854775808", 20, &value));
    assert_true(value == INT64_MIN);
    assert_true(evl_text_to_i64("+9223372036854775807", 20, &value));
    assert_true(value == INT64_MAX);
    assert_true(evl_text_to_i64("0012x", 4, &value));
    assert_int_equal(value, 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimals_are_rounded_to_the_nearest_double),
        cmocka_unit_test(infinities_and_nan_are_words),
        cmocka_unit_test(what_is_no_number_or_too_large_is_refused),
        cmocka_unit_test(random_numbers_read_as_the_c_library_reads_them),
        cmocka_unit_test(texts_of_a_thousand_digits_are_exact),
        cmocka_unit_test(neither_locale_nor_rounding_mode_matters),
        cmocka_unit_test(integers_are_strict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
