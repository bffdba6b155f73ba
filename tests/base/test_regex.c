#include "base/regex.h"
#include "support/support.h"
#include <string.h>

typedef struct regex_case {
    const char *pattern, *text;
    bool is_match;
} regex_case;

static void check(const regex_case *c)
{
    evl_context *ctx = evl_test_begin();
    evl_arena *arena = evl_arena_new(ctx->memory);
    const evl_regex *regex;
    assert_non_null(arena);
    if (evl_regex_new(ctx, arena, c->pattern, strlen(c->pattern), &regex) != EVAL_OK)
        fail_msg("'%s': %s", c->pattern, ctx->error.text);
    void *room = evl_arena_take(arena, evl_regex_room(regex));
    assert_non_null(room);
    if (evl_regex_matches(regex, c->text, strlen(c->text), room) != c->is_match)
        fail_msg("'%s' and '%s'", c->pattern, c->text);
    evl_arena_free(arena);
    evl_test_end(ctx);
}

static void patterns_match_whole_texts(void **state)
{
    static const regex_case cases[] = {
        { "", "", true },
        { "", "a", false },
        { "abc", "abc", true },
        { "abc", "abcd", false },
        { "a.c",
          "a\xc3\xa4"
          "c",
          true },
        { "a.c", "a\nc", false },
        { "(?s)a.c", "a\nc", true },
        { "a*", "", true },
        { "a*", "aaaa", true },
        { "a+", "", false },
        { "a?b", "b", true },
        { "(a|bc)*d", "abcad", true },
        { "(a|bc)*d", "abad", false },
        { "a|b|", "", true },
        { "a{2,3}", "a", false },
        { "a{2,3}", "aaa", true },
        { "a{2,3}", "aaaa", false },
        { "a{2,}", "aaaaa", true },
        { "a{2}", "aa", true },
        { "a{,2}", "a{,2}", true },
        { "a*?b", "aab", true },
        { "(a*)*", "aaa", true },
        { "(|a)+", "aa", true },
        { "(a*)+b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaac", false },
        { "[a-c]+", "abccba", true },
        { "[^a-c]+", "xyz", true },
        { "[^a-c]", "b", false },
        { "[]a]+", "]a", true },
        { "[a-]+", "a-", true },
        { "[\\w.]+@[\\d\\-]+", "a_1.b@1-2", true },
        { "[[:alpha:]]+", "abZ", true },
        { "[[:^alpha:]]", "1", true },
        { "[^\\D]", "7", true },
        { "\\D", "7", false },
        { "\\W\\S\\s", "- \t", false },
        { "\\W\\S\\s", "-x\t", true },
        { "\\x41\\x{e4}\\.", "A\xc3\xa4.", true },
        { "[\xc3\xa4-\xc3\xbc]", "\xc3\xb6", true },
        { "[^\xc3\xa4]", "\xc3\xa4", false },
        { "^ab$", "ab", true },
        { "\\Aab\\z", "ab", true },
        { "a$b", "ab", false },
        { "(?m)a$\\nb", "a\nb", true },
        { "a$\\nb", "a\nb", false },
        { "\\bab\\b cd", "ab cd", true },
        { "a\\bb", "ab", false },
        { "a\\Bb", "ab", true },
        { "(?i)stra\xc3\x9f"
          "e \xc3\x84",
          "STRA\xc3\x9f"
          "e \xc3\xa4",
          true },
        { "(?i:a)b", "Ab", true },
        { "(?i:a)b", "AB", false },
        { "(?i)[a-c]+", "aBC", true },
        { "(?i)[^a]", "A", false },
        { "(?P<name>x)(?:y)(?<more>z)", "xyz", true },
        { ".", "\xff", true },
        { "a(?i)b|c", "aB", true },
        { "(www.[\\w.-]+\\b)?", "www.", false },
        { "(\\W|^)[\\w.\\-]{0,25}@(yahoo|gmail)\\.com(\\W|$)", "abc@gmail.com", true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i]);
}

static void refuse(const char *pattern, EvalStatus status)
{
    evl_context *ctx = evl_test_begin();
    evl_arena *arena = evl_arena_new(ctx->memory);
    const evl_regex *regex;
    EvalStatus st = evl_regex_new(ctx, arena, pattern, strlen(pattern), &regex);
    if (st != status)
        fail_msg("'%s': status %d", pattern, (int)st);
    assert_non_null(strstr(ctx->error.text, "the pattern"));
    evl_arena_free(arena);
    evl_test_end(ctx);
}

static void what_is_not_offered_is_named(void **state)
{
    static const char *const more[] = { "(a)\\1", "(?=a)", "(?<=a)b", "(?!a)",
                                        "\\p{L}", "\\PN",  "\\Qa\\E", "(?(1)a)" };
    static const char *const wrong[] = { "(",   ")",      "a)",      "[a", "[z-a]", "*",
                                         "a**", "a{3,2}", "a{1001}", "\\", "\\x4",  "(?i" };
    (void)state;
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        refuse(more[i], EVAL_ERR_UNSUPPORTED);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        refuse(wrong[i], EVAL_ERR_FORMAT);
    refuse("((a{100}){100}){100}", EVAL_ERR_LIMIT);
}

static void nothing_is_repeated_at_once(void **state)
{
    static const regex_case c = { "((((((){1000}){1000}){1000}){1000}){1000}){1000}a", "a", true };
    (void)state;
    check(&c);
}

static void depth_has_an_end(void **state)
{
    char pattern[4001];
    (void)state;
    memset(pattern, '(', 4000);
    pattern[4000] = '\0';
    refuse(pattern, EVAL_ERR_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_whole_texts),
        cmocka_unit_test(what_is_not_offered_is_named),
        cmocka_unit_test(nothing_is_repeated_at_once),
        cmocka_unit_test(depth_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
