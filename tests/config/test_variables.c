#include "config/fixture.h"
#include <stdio.h>

static void variables_are_replaced_at_look_up(void **state)
{
    static const char *const cases[][3] = {
        { "d=x\na=$d$/y", "a", "x/y" },
        { "a=$d$/y\nd=x", "a", "x/y" },
        { "d=x\na=\"$D$\\$d$\"", "a", "x\\x" },
        { "a=$b$;b=$c$$c$;c=z", "a", "zz" },
        { "a=$5;b=x", "a", "$5" },
        { "a=5$", "a", "5$" },
        { "a=$x y$", "a", "$x y$" },
        { "a=$b", "a", "$b" },
        { "a=$$;b=1", "a", "$$" },
        { "_x=3;a=$_x$$", "a", "3$" },
        { "b=\"q r\";a=<$b$>", "a", "<q r>" },
        { "b=[x=1];a=$b$", "a", "[x=1]" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_text(cases[i][0], cases[i][1], cases[i][2]);
}

static void bad_variables_are_told_when_they_are_asked_for(void **state)
{
    static const bad_case cases[] = {
        { "x=1\na=$b$", "line 2: No variable found with the name b", EVAL_ERR_ARGUMENT },
        { "a=$a$", "line 1: the variable $a$ is made of itself", EVAL_ERR_ARGUMENT },
        { "b=$c$\nc=$a$\na=$b$", "made of itself", EVAL_ERR_ARGUMENT },
        { "b=default;a=$b$", "No variable found with the name b", EVAL_ERR_ARGUMENT },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture f = begin(cases[i].text);
        const char *value = NULL;
        for (int again = 0; again < 2; again++)
            assert_int_equal(evl_config_text(f.ctx, f.config, "a", &value), cases[i].status);
        assert_null(value);
        if (!strstr(f.ctx->error.text, cases[i].words))
            fail_msg("'%s': %s", cases[i].text, f.ctx->error.text);
        end(&f);
    }
}

/* v0 names v1 twice, v1 names v2 twice, and so on to the last. */
static void check_chain(int last, const char *leaf, EvalStatus expected)
{
    char text[4000];
    size_t n = 0;
    const char *value = NULL;
    for (int i = 0; i < last; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "v%d=$v%d$$v%d$\n", i, i + 1, i + 1);
    snprintf(text + n, sizeof text - n, "v%d=%s\n", last, leaf);
    fixture f = begin(text);
    assert_int_equal(evl_config_text(f.ctx, f.config, "v0", &value), expected);
    assert_true((value != NULL) == (expected == EVAL_OK));
    end(&f);
}

static void variables_in_each_other_are_bounded_in_depth_size_and_work(void **state)
{
    (void)state;
    check_chain(10, "x", EVAL_OK);
    check_chain(30, "x", EVAL_ERR_LIMIT);    /* a billion letters */
    check_chain(60, "\"\"", EVAL_OK);        /* 2^60 leaves, each looked at once */
    check_chain(70, "\"\"", EVAL_ERR_LIMIT); /* deeper than max_depth */
}

static void the_parent_answers_for_what_is_not_here(void **state)
{
    fixture f = begin("threads=4;path=$root$/x;root=old;hidden=1");
    evl_config *child;
    const char *value = NULL;
    int64_t number = 0;
    (void)state;
    assert_int_equal(
        evl_config_parse(f.ctx, f.arena, "root=new;own=$root$;hidden=default", f.config, &child),
        EVAL_OK);
    assert_int_equal(evl_config_int(f.ctx, child, "threads", &number), EVAL_OK);
    assert_int_equal(number, 4);
    assert_int_equal(evl_config_text(f.ctx, child, "own", &value), EVAL_OK);
    assert_string_equal(value, "new");
    assert_int_equal(evl_config_text(f.ctx, child, "path", &value), EVAL_OK);
    assert_string_equal(value, "old/x");
    assert_false(evl_config_has(child, "hidden"));
    assert_int_equal(evl_config_count(child), 3);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_replaced_at_look_up),
        cmocka_unit_test(bad_variables_are_told_when_they_are_asked_for),
        cmocka_unit_test(variables_in_each_other_are_bounded_in_depth_size_and_work),
        cmocka_unit_test(the_parent_answers_for_what_is_not_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
