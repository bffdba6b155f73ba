/* Quotes, brackets, comments and separators, before anything is a key or a value. */
#include "config/lexer.h"
#include "support/support.h"
#include <string.h>

static evl_span span_of(const char *text)
{
    return (evl_span){ text, strlen(text), 1 };
}

static void check_span(evl_span span, const char *expected, int line)
{
    if (span.n != strlen(expected) || memcmp(span.text, expected, span.n) != 0)
        fail_msg("'%.*s', not '%s'", (int)span.n, span.text, expected);
    assert_int_equal(span.line, line);
}

static void comments_become_blanks(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "# a=1\nb=2", "     \nb=2" },
        { "a=1 # b\r\nc", "a=1    \r\nc" },
        { "a=1\t#b", "a=1\t  " },
        { "a=1#b", "a=1#b" },                 /* no blank before it */
        { "a=\"x # y\" # z", "a=\"x # y\"    " },
        { "a='x # y'", "a='x # y'" },
        { "a=o'b # c", "a=o'b    " },         /* no quote inside a word */
        { "a=1'b # c", "a=1'b    " },
        { "a\n#b", "a\n  " },
        { "a=\"x # y", "a=\"x # y" },         /* never closed */
        { "#", " " },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        strcpy(text, cases[i][0]);
        evl_comments_blank(text, strlen(text));
        assert_string_equal(text, cases[i][1]);
    }
}

static void brackets_and_quotes_must_match(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words; /* NULL: nothing is wrong */
    } cases[] = {
        { "", NULL },
        { "a=[b={c=(d)}]", NULL },
        { "a=\"]\" b='(' c=x'y", NULL },
        { "a=[\n(", "line 2: no closing ) found in parameters for this (" },
        { "a=[\n()\n", "line 1: no closing ] found in parameters for this [" },
        { "\n\na=\"b\nc", "line 3: no closing \" found" },
        { "a='", "line 1: no closing ' found" },
        { "\na)", "line 2: unmatched bracket found in parameters: nothing is open before this )" },
        { "[\n\n}", "line 3: unmatched bracket found in parameters: } where the [ of line 1 needs" },
        { "{\"\n\"]", "line 2: unmatched bracket found in parameters: ] where the { of line 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        evl_context *ctx = evl_test_begin();
        evl_arena *arena = evl_arena_new(ctx->memory);
        assert_int_equal(evl_span_check(ctx, arena, span_of(cases[i].text)),
                         cases[i].words ? EVAL_ERR_ARGUMENT : EVAL_OK);
        if (cases[i].words && !strstr(ctx->error.text, cases[i].words))
            fail_msg("'%s': %s", cases[i].text, ctx->error.text);
        evl_arena_free(arena);
        evl_test_end(ctx);
    }
}

static void brackets_nest_as_deep_as_the_limit(void **state)
{
    (void)state;
    char text[2000] = "";
    evl_context *ctx = evl_test_begin();
    evl_arena *arena = evl_arena_new(ctx->memory);
    size_t most = ctx->limits->max_depth;
    assert_in_range(most, 1, 999);
    memset(text, '[', most);
    memset(text + most, ']', most);
    assert_int_equal(evl_span_check(ctx, arena, span_of(text)), EVAL_OK);
    memset(text, '[', most + 1);
    assert_int_equal(evl_span_check(ctx, arena, span_of(text)), EVAL_ERR_LIMIT);
    evl_arena_free(arena);
    evl_test_end(ctx);
}

static void records_end_at_separators(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        char separator;
        const char *records[4]; /* NULL: no more */
        int lines[4];
    } cases[] = {
        { "", ';', { NULL }, { 0 } },
        { " ,;\n\r ,", ';', { NULL }, { 0 } },
        { "a=1;b=2, c\nd", ';', { "a=1", "b=2", "c", "d" }, { 1, 1, 1, 2 } },
        { "a:b;c", ':', { "a", "b;c" }, { 1, 1 } },
        { "  a = 1 2 \r\n b", ';', { "a = 1 2", "b" }, { 1, 2 } },
        { "a=[x;y\nz]\nb", ';', { "a=[x;y\nz]", "b" }, { 1, 3 } },
        { "a=\"x;y\" b=2", ';', { "a=\"x;y\"", "b=2" }, { 1, 1 } },
        { "a=[x] b", ';', { "a=[x]", "b" }, { 1, 1 } },
        { "a= (x) b", ';', { "a= (x)", "b" }, { 1, 1 } },
        { "a=[x]y b", ';', { "a=[x]y b" }, { 1 } },    /* the bracket is not all of it */
        { "a=b [x] c", ';', { "a=b [x] c" }, { 1 } },
        { "[a;b] c", ';', { "[a;b]", "c" }, { 1, 1 } },
        { "a=o'b;c'd", ';', { "a=o'b", "c'd" }, { 1, 1 } },
        { "a=([\"]\"])x;b", ';', { "a=([\"]\"])x", "b" }, { 1, 1 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        evl_lexer lexer = { span_of(cases[i].text), cases[i].separator };
        evl_span record;
        for (size_t j = 0; j < 4 && cases[i].records[j]; j++) {
            assert_true(evl_lexer_next(&lexer, &record));
            check_span(record, cases[i].records[j], cases[i].lines[j]);
        }
        assert_false(evl_lexer_next(&lexer, &record));
    }
}

static void a_quote_or_bracket_is_told_by_both_its_ends(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_quoted, is_bracket;
        const char *unquoted;
    } cases[] = {
        { "\"a b\"", true, false, "a b" },   { "'a'", true, false, "a" },
        { "\"\"", true, false, "" },         { "\"a\" \"b\"", false, false, "\"a\" \"b\"" },
        { "a\"b\"", false, false, "a\"b\"" }, { "\"", false, false, "\"" },
        { "", false, false, "" },            { "[a]", false, true, "[a]" },
        { "{a}", false, true, "{a}" },       { "(a)(b)", false, false, "(a)(b)" },
        { "[[a]]", false, true, "[[a]]" },   { "[\"]\"]", false, true, "[\"]\"]" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        evl_span span = span_of(cases[i].text);
        assert_int_equal(evl_span_is_quoted(&span), cases[i].is_quoted);
        assert_int_equal(evl_span_is_bracket(&span), cases[i].is_bracket);
        check_span(evl_span_unquoted(span), cases[i].unquoted, 1);
    }
}

static void a_bracket_may_name_its_separator(void **state)
{
    (void)state;
    static const struct {
        const char *text, *inside;
        char separator;
    } cases[] = {
        { "[a;b]", "a;b", '.' },      { "{|a|b}", "a|b", '|' },  { "(:a:b)", "a:b", ':' },
        { "[]", "", '.' },            { "(;)", "", ';' },        { "[./x:../y]", "./x:../y", '.' },
        { "[..\\x]", "..\\x", '.' },  { "[\\\\a]", "\\\\a", '.' }, { "[$x$]", "$x$", '.' },
        { "[$1$2]", "1$2", '$' },     { "[.a.b]", "a.b", '.' },  { "[?a?b]", "a?b", '?' },
        { "[a|b]", "a|b", '.' },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char separator = '.';
        check_span(evl_span_inside(span_of(cases[i].text), &separator), cases[i].inside, 1);
        assert_int_equal(separator, cases[i].separator);
    }
}

static void spans_know_their_line(void **state)
{
    (void)state;
    check_span(evl_span_after(span_of("a\nb\n\nc"), 4), "\nc", 3);
    check_span(evl_span_after(span_of("ab"), 2), "", 1);
    check_span(evl_span_trimmed(span_of(" \r\n\t\n a b \n")), "a b", 3);
    check_span(evl_span_trimmed(span_of(" \n ")), "", 2);
}

static void a_key_ends_where_its_value_begins(void **state)
{
    (void)state;
    static const struct {
        const char *record;
        size_t n;
    } cases[] = {
        { "a=1", 1 },      { "a =1", 2 },     { "a b=c=d", 3 }, { "a[1]", 1 },   { "a{1}", 1 },
        { "a", 1 },        { "=1", 0 },       { "", 0 },        { "\"a=b\"=1", 5 }, { "'a[' =1", 5 },
        { "\"a=b", 4 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        evl_span record = span_of(cases[i].record);
        assert_int_equal(evl_span_key(&record), cases[i].n);
    }
}

static void variables_have_names_like_words(void **state)
{
    (void)state;
    static const char *const good[] = { "a", "_", "A1_b", "x.y-z", "gr\xc3\xb6\xc3\x9f\x65" };
    static const char *const bad[] = { "", "1a", "a b", "a/b", "a\\b", "a:b", "a$b", "a\nb", "a=b" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(evl_is_variable_name(good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(evl_is_variable_name(bad[i], strlen(bad[i])));
    assert_false(evl_is_variable_name("a\0b", 3));
    assert_true(evl_is_variable_name("a b", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comments_become_blanks),
        cmocka_unit_test(brackets_and_quotes_must_match),
        cmocka_unit_test(brackets_nest_as_deep_as_the_limit),
        cmocka_unit_test(records_end_at_separators),
        cmocka_unit_test(a_quote_or_bracket_is_told_by_both_its_ends),
        cmocka_unit_test(a_bracket_may_name_its_separator),
        cmocka_unit_test(spans_know_their_line),
        cmocka_unit_test(a_key_ends_where_its_value_begins),
        cmocka_unit_test(variables_have_names_like_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
