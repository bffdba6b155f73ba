#include "config/fixture.h"
#include <locale.h>
#include <stdio.h>

static const char nested[] = "x=top # all around\n"
                             "outer=[\n"
                             "  y=$x$/in\n"
                             "  inner=[ z=$y$/deep; x=\"own\" ]\n"
                             "]\n"
                             "alias=$outer$\n"
                             "outer=[w=$x$:$y$]\n"
                             "plain=7\n";

static void numbers_and_booleans_are_strict(void **state)
{
    fixture f = begin("i=-12;n=2.5e3;t=T;g=FALSE;e=\"\";w=1x;h=1.0;alone");
    int64_t i = 5;
    double n = 5;
    bool b = false;
    (void)state;
    assert_int_equal(evl_config_int(f.ctx, f.config, "i", &i), EVAL_OK);
    assert_int_equal(i, -12);
    assert_int_equal(evl_config_int(f.ctx, f.config, "missing", &i), EVAL_OK);
    assert_int_equal(i, -12);
    assert_int_equal(evl_config_int(f.ctx, f.config, "h", &i), EVAL_ERR_ARGUMENT);
    assert_non_null(strstr(f.ctx->error.text, "line 1: h='1.0': integer argument expected"));
    assert_int_equal(evl_config_int(f.ctx, f.config, "e", &i), EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_config_number(f.ctx, f.config, "n", &n), EVAL_OK);
    assert_true(n == 2500.0);
    assert_int_equal(evl_config_number(f.ctx, f.config, "w", &n), EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_config_bool(f.ctx, f.config, "t", &b), EVAL_OK);
    assert_true(b);
    assert_int_equal(evl_config_bool(f.ctx, f.config, "g", &b), EVAL_OK);
    assert_false(b);
    assert_int_equal(evl_config_bool(f.ctx, f.config, "alone", &b), EVAL_OK);
    assert_true(b);
    assert_int_equal(evl_config_bool(f.ctx, f.config, "e", &b), EVAL_OK);
    assert_false(b);
    assert_int_equal(evl_config_bool(f.ctx, f.config, "w", &b), EVAL_ERR_ARGUMENT);
    assert_non_null(strstr(f.ctx->error.text, "boolean argument"));
    end(&f);
}

static void a_decimal_comma_changes_nothing(void **state)
{
    double n = 0;
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "de_DE"))
        skip();
    fixture f = begin("a=2.5;b=\"2,5\"");
    assert_int_equal(evl_config_number(f.ctx, f.config, "a", &n), EVAL_OK);
    assert_true(n == 2.5);
    assert_int_equal(evl_config_number(f.ctx, f.config, "b", &n), EVAL_ERR_ARGUMENT);
    end(&f);
    setlocale(LC_ALL, "C");
}

static void check_list(const char *text, const char *joined)
{
    fixture f = begin(text);
    const char **items;
    size_t n;
    char found[200] = "";
    if (evl_config_list(f.ctx, f.config, "a", &items, &n) != EVAL_OK)
        fail_msg("'%s': %s", text, f.ctx->error.text);
    for (size_t i = 0; i < n; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "<%s>", items[i]);
    if (strcmp(found, joined) != 0)
        fail_msg("'%s' gives %s, not %s", text, found, joined);
    end(&f);
}

static void lists_are_separated_by_colons_and_repeat_items(void **state)
{
    static const char *const cases[][2] = {
        { "b=1", "" },
        { "a=z", "<z>" },
        { "a=z:ol.z : x", "<z><ol.z><x>" },
        { "a=\"z:ol.z\"", "<z><ol.z>" },
        { "a=(1:2:3)", "<1><2><3>" },
        { "a={x\ny,z}", "<x><y><z>" },
        { "a=(|c:\\x|d:\\y)", "<c:\\x><d:\\y>" },
        { "a=1.5*3:2", "<1.5><1.5><1.5><2>" },
        { "a=1*0:2 * 2", "<2><2>" },
        { "a=\"x:y\":z", "<x:y><z>" },
        { "a=[p=1:2]:(x*y)", "<[p=1:2]><(x*y)>" },
        { "c=x*2;a=$c$:$c$", "<x><x><x><x>" },
        { "a=\"\"", "" },
        { "a=()", "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_list(cases[i][0], cases[i][1]);
}

static void bad_lists_are_refused(void **state)
{
    static const bad_case cases[] = {
        { "x=1\na=b*", "line 2", EVAL_ERR_ARGUMENT },
        { "a=*2", "how often", EVAL_ERR_ARGUMENT },
        { "a=x*y", "how often", EVAL_ERR_ARGUMENT },
        { "a=x*-1", "how often", EVAL_ERR_ARGUMENT },
        { "a=x*1000000000000", "items", EVAL_ERR_LIMIT },
        { "a=x*1000000:y*1000000", "items", EVAL_ERR_LIMIT },
        { "b=\"(\"\na=x:$b$", "line 2: no closing )", EVAL_ERR_ARGUMENT },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = begin(cases[i].text);
        const char **items;
        size_t n;
        assert_int_equal(evl_config_list(f.ctx, f.config, "a", &items, &n), cases[i].status);
        if (!strstr(f.ctx->error.text, cases[i].words))
            fail_msg("'%s': %s", cases[i].text, f.ctx->error.text);
        end(&f);
    }
}

static void sections_see_their_own_keys_and_those_around_them(void **state)
{
    fixture f = begin(nested);
    evl_config *outer, *inner, *none;
    const char *value = NULL;
    (void)state;
    assert_int_equal(evl_config_section(f.ctx, f.config, "OUTER", &outer), EVAL_OK);
    assert_int_equal(evl_config_section(f.ctx, outer, "inner", &inner), EVAL_OK);
    assert_int_equal(evl_config_text(f.ctx, inner, "z", &value), EVAL_OK);
    assert_string_equal(value, "top/in/deep");
    assert_int_equal(evl_config_text(f.ctx, inner, "x", &value), EVAL_OK);
    assert_string_equal(value, "own");
    assert_int_equal(evl_config_text(f.ctx, inner, "plain", &value), EVAL_OK);
    assert_string_equal(value, "7");
    assert_int_equal(evl_config_text(f.ctx, outer, "w", &value), EVAL_OK);
    assert_string_equal(value, "top:top/in");
    assert_int_equal(evl_config_section(f.ctx, f.config, "missing", &none), EVAL_OK);
    assert_null(none);
    assert_int_equal(evl_config_section(f.ctx, f.config, "plain", &none), EVAL_ERR_ARGUMENT);
    assert_null(none);
    assert_non_null(strstr(f.ctx->error.text, "line 8: plain='7': a section"));
    assert_true(evl_config_has(inner, "Plain"));
    assert_false(evl_config_has(f.config, "y"));
    end(&f);
}

static void a_section_may_be_named_by_a_variable(void **state)
{
    fixture f = begin("a=[x=1];b=$a$;c=\"[x=2]\"");
    evl_config *section;
    int64_t x = 0;
    (void)state;
    assert_int_equal(evl_config_section(f.ctx, f.config, "b", &section), EVAL_OK);
    assert_int_equal(evl_config_int(f.ctx, section, "x", &x), EVAL_OK);
    assert_int_equal(x, 1);
    assert_int_equal(evl_config_section(f.ctx, f.config, "c", &section), EVAL_OK);
    assert_int_equal(evl_config_int(f.ctx, section, "x", &x), EVAL_OK);
    assert_int_equal(x, 2);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_booleans_are_strict),
        cmocka_unit_test(a_decimal_comma_changes_nothing),
        cmocka_unit_test(lists_are_separated_by_colons_and_repeat_items),
        cmocka_unit_test(bad_lists_are_refused),
        cmocka_unit_test(sections_see_their_own_keys_and_those_around_them),
        cmocka_unit_test(a_section_may_be_named_by_a_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
