#include "config/fixture.h"
#include <stdio.h>

static const char sample[] = "# settings\r\n"
                             "d=\"m x\"; p=$d$/$q$ ,q='a;b'\n"
                             "s=[ t=1:2*3:\"u:v\"; w={|k=1|l=(2)} ] z=$s$\n"
                             "s=[t=default]\nlist=(:a:b*2)\nflag # end";

static void records_keys_and_values_are_told_apart(void **state)
{
    static const char *const cases[][3] = {
        { "a=1", "a", "1" },
        { "a=1", "A", "1" },
        { "ModelPath=x", "modelpath", "x" },
        { "a=1", "b", "(none)" },
        { "", "a", "(none)" },
        { " \t\r\n,;", "a", "(none)" },
        { "a=1\nb=2", "b", "2" },
        { "a=1\r\nb=2\r\n", "a", "1" },
        { "a=1,b=2", "a", "1" },
        { "a=1;b=2", "b", "2" },
        { "a=1 b=2", "a", "1 b=2" },
        { "a=1 b=2", "b", "(none)" },
        { " \ta \t=\t 1 2 \t", "a", "1 2" },
        { "a", "a", "true" },
        { "a;b=1", "a", "true" },
        { "a=b=c", "a", "b=c" },
        { "a=x\na=y", "a", "y" },
        { "a=x\nA=y", "a", "y" },
        { "a=default", "a", "(none)" },
        { "01_OneHidden.cntk", "01_OneHidden.cntk", "true" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_text(cases[i][0], cases[i][1], cases[i][2]);
}

static void quotes_keep_separators_and_backslashes_are_literal(void **state)
{
    static const char *const cases[][3] = {
        { "a=\"x,y;z\nw\"", "a", "x,y;z\nw" },
        { "a='x,y;z'", "a", "x,y;z" },
        { "a=\" x \"", "a", " x " },
        { "a=\"\"", "a", "" },
        { "a=\"it's\"", "a", "it's" },
        { "a='say \"x\"'", "a", "say \"x\"" },
        { "a=dir/o'brien/x\nb=1", "a", "dir/o'brien/x" },
        { "a=dir/o'brien/x\nb=1", "b", "1" },
        { "a=\"..\\Output\\Models\\x\"", "a", "..\\Output\\Models\\x" },
        { "a=c:\\new\\table.dnn", "a", "c:\\new\\table.dnn" },
        { "a=\"C:\\dir\\\"\nb=1", "a", "C:\\dir\\" },
        { "deviceId=-1\nmodelPath=\"C:\\Users\\x\\01_OneHidden\"", "modelPath",
          "C:\\Users\\x\\01_OneHidden" },
        { "a=\"x y\" b=2", "a", "x y" },
        { "a=\"x y\" b=2", "b", "2" },
        { "a=\"x]\"", "a", "x]" },
        { "\"a b\"=1", "a b", "1" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_text(cases[i][0], cases[i][1], cases[i][2]);
}

static void comments_begin_a_line_or_follow_a_blank(void **state)
{
    static const char *const cases[][3] = {
        { "#a=1\nb=2", "b", "2" },
        { "#a=1\nb=2", "a", "(none)" },
        { "  # x [ \" {\nb=2", "b", "2" },
        { "a=1 # one", "a", "1" },
        { "a=1\t# it's \"one\nb=2", "b", "2" },
        { "a=x#y", "a", "x#y" },
        { "a=\"x # y\" # z", "a", "x # y" },
        { "a=//x", "a", "//x" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_text(cases[i][0], cases[i][1], cases[i][2]);
}

static void brackets_nest_and_a_text_that_is_one_is_flattened(void **state)
{
    static const char *const cases[][3] = {
        { "a=[b=1;c=(2,3)]", "a", "[b=1;c=(2,3)]" },
        { "a=[x=1] b=2", "b", "2" },
        { "a=[x=1]\nb=2", "b", "2" },
        { "a=f(x, y)+g(z)", "a", "f(x, y)+g(z)" },
        { "a=[\n]", "a", "[\n]" },
        { "[a=1;b=2]", "b", "2" },
        { "{a=1\nb=2}", "a", "1" },
        { "(|a=1|b=x;y)", "b", "x;y" },
        { "(|a=1|b=x;y)", "a", "1" },
        { "[..\\x;b=2]", "..\\x", "true" },
        { "a{x=1}", "a", "{x=1}" },
        { "a=[x=1]\na=[y=2]", "a", "[x=1] [y=2]" },
        { "a=1\na=[y=2]", "a", "[y=2]" },
        { "a=[y=2]\na=1", "a", "1" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_text(cases[i][0], cases[i][1], cases[i][2]);
}

static void bad_syntax_is_told_with_its_line(void **state)
{
    static const bad_case cases[] = {
        { "a=[b", "line 1: no closing ] found in parameters", EVAL_ERR_ARGUMENT },
        { "x=1\na={b=(\n1)\n", "line 2: no closing } found in parameters", EVAL_ERR_ARGUMENT },
        { "x=1\n\na=b]", "line 3: unmatched bracket found in parameters", EVAL_ERR_ARGUMENT },
        { "a=[\n(x]\n)", "line 2: unmatched bracket found in parameters", EVAL_ERR_ARGUMENT },
        { "x=1\na=\"b", "line 2: no closing \" found in parameters", EVAL_ERR_ARGUMENT },
        { "a='b", "line 1: no closing ' found in parameters", EVAL_ERR_ARGUMENT },
        { "a=\"x\ny\"\nb=\"", "line 3: no closing \" found", EVAL_ERR_ARGUMENT },
        { "x=1\r\na=\r\n", "line 2: ParseValue: No value given for 'a'", EVAL_ERR_ARGUMENT },
        { "a= ;b=1", "line 1: ParseValue: No value given for 'a'", EVAL_ERR_ARGUMENT },
        { "x=1\n=5", "line 2: no key is given for the value '=5'", EVAL_ERR_ARGUMENT },
        { "[a=1\n[b=2]]", "line 2: no key is given", EVAL_ERR_ARGUMENT },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        evl_context *ctx = evl_test_begin();
        evl_arena *arena = evl_arena_new(ctx->memory);
        evl_config *config = NULL;
        assert_int_equal(evl_config_parse(ctx, arena, cases[i].text, NULL, &config),
                         cases[i].status);
        assert_null(config);
        if (!strstr(ctx->error.text, cases[i].words))
            fail_msg("'%s': %s", cases[i].text, ctx->error.text);
        evl_arena_free(arena);
        evl_test_end(ctx);
    }
}

static void brackets_in_each_other_are_bounded(void **state)
{
    char text[300] = "a=";
    evl_context *ctx = evl_test_begin();
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_config *config;
    (void)state;
    memset(text + 2, '[', 64);
    memset(text + 66, ']', 64);
    assert_int_equal(evl_config_parse(ctx, arena, text, NULL, &config), EVAL_OK);
    memset(text + 2, '(', 65);
    memset(text + 67, ')', 65);
    assert_int_equal(evl_config_parse(ctx, arena, text, NULL, &config), EVAL_ERR_LIMIT);
    evl_arena_free(arena);
    evl_test_end(ctx);
}

static void keys_are_listed_in_order_with_their_lines(void **state)
{
    fixture f = begin("First=1\n\nsecond=[a=1\nb=2]\nTHIRD\nfirst=2");
    static const char *const keys[] = { "First", "second", "THIRD" };
    static const int lines[] = { 6, 3, 5 };
    (void)state;
    assert_int_equal(evl_config_count(f.config), 3);
    for (size_t i = 0; i < 3; i++) {
        int line;
        assert_string_equal(evl_config_key(f.config, i, &line), keys[i]);
        assert_int_equal(line, lines[i]);
    }
    evl_config *section;
    int line;
    assert_int_equal(evl_config_section(f.ctx, f.config, "second", &section), EVAL_OK);
    assert_string_equal(evl_config_key(section, 1, &line), "b");
    assert_int_equal(line, 4);
    end(&f);
}

/* Everything that can be asked of a configuration; false when memory ran out. */
static bool ask_all(evl_context *ctx, evl_config *config, int depth)
{
    for (size_t i = 0; i < evl_config_count(config); i++) {
        int line;
        const char *key = evl_config_key(config, i, &line), *text, **items;
        size_t n;
        int64_t integer;
        bool yes;
        evl_config *section = NULL;
        EvalStatus answers[] = {
            evl_config_text(ctx, config, key, &text),
            evl_config_int(ctx, config, key, &integer),
            evl_config_bool(ctx, config, key, &yes),
            evl_config_list(ctx, config, key, &items, &n),
            evl_config_section(ctx, config, key, &section),
        };
        for (size_t a = 0; a < sizeof answers / sizeof *answers; a++)
            if (answers[a] == EVAL_ERR_MEMORY)
                return false;
        assert_true(line >= 1);
        if (section && depth < 4 && !ask_all(ctx, section, depth + 1))
            return false;
    }
    return true;
}

static void parse_and_ask(const char *text)
{
    evl_context *ctx = evl_test_begin();
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_config *config;
    EvalStatus st = evl_config_parse(ctx, arena, text, NULL, &config);
    if (st == EVAL_OK)
        assert_true(ask_all(ctx, config, 0));
    else
        assert_int_equal(st, EVAL_ERR_ARGUMENT);
    evl_arena_free(arena);
    evl_test_end(ctx);
}

static void every_prefix_of_a_text_parses_or_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof sample; n++) {
        char text[sizeof sample];
        memcpy(text, sample, n);
        text[n] = '\0';
        parse_and_ask(text);
    }
}

static void every_character_may_be_another(void **state)
{
    static const char others[] = "[](){}\"'$#=:;,*\n |.\\a\xff";
    (void)state;
    for (size_t at = 0; at + 1 < sizeof sample; at++)
        for (size_t o = 0; others[o]; o++) {
            char text[sizeof sample];
            memcpy(text, sample, sizeof sample);
            text[at] = others[o];
            parse_and_ask(text);
        }
}

static void each_failing_allocation_is_answered(void **state)
{
    (void)state;
    for (size_t failing = 0;; failing++) {
        evl_memory memory;
        evl_context ctx;
        evl_config *config = NULL;
        evl_test_memory(&memory, failing);
        evl_context_init(&ctx, &memory, &evl_default_limits);
        evl_arena *arena = evl_arena_new(&memory);
        EvalStatus st = EVAL_ERR_MEMORY;
        char text[20000];
        size_t n = (size_t)snprintf(text, sizeof text, "%s\n", sample);
        for (int i = 0; i < 300; i++)
            n += (size_t)snprintf(text + n, sizeof text - n, "key%d=[a=$d$:x*100]\n", i);
        if (arena)
            st = evl_config_parse(&ctx, arena, text, NULL, &config);
        bool is_whole = st == EVAL_OK && ask_all(&ctx, config, 0);
        if (!is_whole)
            assert_true(st == EVAL_OK || st == EVAL_ERR_MEMORY);
        assert_true(is_whole == (evl_test_requests(&memory) <= failing));
        evl_arena_free(arena);
        evl_context_end(&ctx);
        assert_int_equal(memory.blocks, 0);
        if (is_whole)
            return;
    }
}

static void limits_hold(void **state)
{
    evl_limits limits = evl_default_limits;
    evl_context *ctx = evl_test_begin();
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_config *config;
    char key[300];
    (void)state;
    limits.max_text = 10;
    limits.max_nodes = 2;
    ctx->limits = &limits;
    assert_int_equal(evl_config_parse(ctx, arena, "a=12345678", NULL, &config), EVAL_OK);
    assert_int_equal(evl_config_parse(ctx, arena, "a=123456789", NULL, &config), EVAL_ERR_LIMIT);
    assert_int_equal(evl_config_parse(ctx, arena, "a;b", NULL, &config), EVAL_OK);
    assert_int_equal(evl_config_parse(ctx, arena, "a;b;c", NULL, &config), EVAL_ERR_LIMIT);
    ctx->limits = &evl_default_limits;
    memset(key, 'k', sizeof key);
    key[256] = '\0';
    assert_int_equal(evl_config_parse(ctx, arena, key, NULL, &config), EVAL_ERR_LIMIT);
    key[255] = '\0';
    assert_int_equal(evl_config_parse(ctx, arena, key, NULL, &config), EVAL_OK);
    assert_true(evl_config_has(config, key));
    assert_int_equal(evl_config_parse(ctx, arena, NULL, NULL, &config), EVAL_OK);
    assert_int_equal(evl_config_count(config), 0);
    evl_arena_free(arena);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_keys_and_values_are_told_apart),
        cmocka_unit_test(quotes_keep_separators_and_backslashes_are_literal),
        cmocka_unit_test(comments_begin_a_line_or_follow_a_blank),
        cmocka_unit_test(brackets_nest_and_a_text_that_is_one_is_flattened),
        cmocka_unit_test(bad_syntax_is_told_with_its_line),
        cmocka_unit_test(brackets_in_each_other_are_bounded),
        cmocka_unit_test(keys_are_listed_in_order_with_their_lines),
        cmocka_unit_test(every_prefix_of_a_text_parses_or_is_refused),
        cmocka_unit_test(every_character_may_be_another),
        cmocka_unit_test(each_failing_allocation_is_answered),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
