/* The tree of a pattern, written out: sets as [a-c], what is repeated as (part){least,most}, the
** parts of a row one after the other, those of a choice with | between them. */
#include "base/regex_part.h"
#include "support/support.h"
#include <stdio.h>
#include <string.h>

typedef struct written {
    char text[400];
    size_t n;
} written;

static void put(written *w, const char *text)
{
    w->n += (size_t)snprintf(w->text + w->n, sizeof w->text - w->n, "%s", text);
}

static void put_character(written *w, uint32_t c)
{
    char text[16];
    snprintf(text, sizeof text, c > ' ' && c < 0x7f ? "%c" : "<%x>", (unsigned)c);
    put(w, text);
}

static void put_set(written *w, const evl_regex_set *set)
{
    put(w, set->any_case ? "i[" : "[");
    put(w, set->is_negated ? "^" : "");
    for (size_t i = 0; i < set->n; i++) {
        put_character(w, set->ranges[i].low);
        if (set->ranges[i].high != set->ranges[i].low) {
            put(w, "-");
            put_character(w, set->ranges[i].high);
        }
    }
    put(w, "]");
}

static void put_part(written *w, const evl_regex_part *part)
{
    static const char *const places[] = { "<", ">", "^", "$", "b", "B" };
    char text[32];
    if (part->kind == EVL_REGEX_SET)
        put_set(w, &part->set);
    if (part->kind == EVL_REGEX_PLACE)
        put(w, places[part->place]);
    if (part->kind == EVL_REGEX_REPEAT)
        put(w, "(");
    for (const evl_regex_part *p = part->first; p; p = p->next) {
        put_part(w, p);
        put(w, part->kind == EVL_REGEX_ONE && p->next ? "|" : "");
    }
    snprintf(text, sizeof text, "){%d,%d}", part->least, part->most);
    if (part->kind == EVL_REGEX_REPEAT)
        put(w, text);
}

static void check(const char *pattern, size_t n, const char *expected)
{
    evl_context *ctx = evl_test_begin();
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_regex_part *part = NULL;
    written w = { "", 0 };
    assert_non_null(arena);
    if (evl_regex_parse(ctx, arena, pattern, n, &part) != EVAL_OK)
        fail_msg("'%s': %s", pattern, ctx->error.text);
    put_part(&w, part);
    assert_string_equal(w.text, expected);
    evl_arena_free(arena);
    evl_test_end(ctx);
}

typedef struct tree_case {
    const char *pattern, *tree;
} tree_case;

static void check_all(const tree_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check(cases[i].pattern, strlen(cases[i].pattern), cases[i].tree);
}

static void characters_are_sets_of_one(void **state)
{
    static const tree_case cases[] = {
        { "", "" },
        { "ab", "[a][b]" },
        { ".", "[^<a>]" },
        { "(?s).", "[^]" },
        { "\\t\\n\\r\\f\\v\\a\\0", "[<9>][<a>][<d>][<c>][<b>][<7>][<0>]" },
        { "\\x41\\x{1F600}\\.", "[A][<1f600>][.]" },
        { "\xc3\xa4", "[<e4>]" },
        { "{a},b{,2}x{2y", "[{][a][}][,][b][{][,][2][}][x][{][2][y]" },
        { "]", "[]]" },
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof cases[0]);
    check("a\0b", 3, "[a][<0>][b]"); /* a pattern is no C string */
}

static void sets_keep_their_ranges(void **state)
{
    static const tree_case cases[] = {
        { "[a-cx]", "[a-cx]" },
        { "[^a]", "[^a]" },
        { "[]a]", "[]a]" },
        { "[^]]", "[^]]" },
        { "[a-]", "[a-]" },
        { "[-a]", "[-a]" },
        { "[\\]\\-]", "[]-]" },
        { "[a-a]", "[a]" },
        { "\\d", "[0-9]" },
        { "\\W", "[<0>-/:-@[-^`{-<10ffff>]" },
        { "[\\dx]", "[0-9x]" },
        { "[[:upper:]_]", "[A-Z_]" },
        { "[[:^digit:]]", "[<0>-/:-<10ffff>]" },
        { "[[:none:]", "[[:none:]" },
        { "(?i)[a-c]", "i[a-c]" },
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void groups_keep_their_flags(void **state)
{
    static const tree_case cases[] = {
        { "(?i)a(?-i)b", "i[a][b]" },
        { "(?i:a)b", "i[a][b]" },
        { "((?i)a)b", "i[a][b]" },
        { "a(?i)b|c", "[a]i[b]|i[c]" },
        { "^a$", "<[a]>" },
        { "(?m)^a$", "^[a]$" },
        { "(?m-m:^)$", "<>" },
        { "\\A\\z\\b\\B", "<>bB" },
        { "(?P<n>a)(?<m>b)(?:c)", "[a][b][c]" },
        { "a|b|", "[a]|[b]|" },
        { "(a|b)c", "[a]|[b][c]" },
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof cases[0]);
}

static void repetitions_count(void **state)
{
    static const tree_case cases[] = {
        { "a*b+c?", "([a]){0,-1}([b]){1,-1}([c]){0,1}" },
        { "a*?b+?c??", "([a]){0,-1}([b]){1,-1}([c]){0,1}" },
        { "a{2}b{2,}c{2,3}d{0,0}", "([a]){2,2}([b]){2,-1}([c]){2,3}([d]){0,0}" },
        { "a{1000}", "([a]){1000,1000}" },
        { "(ab){2}?", "([a][b]){2,2}" },
    };
    (void)state;
    check_all(cases, sizeof cases / sizeof cases[0]);
}

typedef struct wrong_case {
    const char *pattern;
    EvalStatus status;
    const char *text;
} wrong_case;

static void what_is_wrong_is_told_with_its_place(void **state)
{
    static const wrong_case cases[] = {
        { "ab)", EVAL_ERR_FORMAT, "at byte 2: a ) without its (" },
        { "(ab", EVAL_ERR_FORMAT, "at byte 3: a ( without its )" },
        { "(?i", EVAL_ERR_FORMAT, "at byte 3: a ( without its )" },
        { "(?P<n", EVAL_ERR_FORMAT, "at byte 5: a ( without its )" },
        { "[ab", EVAL_ERR_FORMAT, "at byte 3: a [ without its ]" },
        { "[]", EVAL_ERR_FORMAT, "at byte 2: a [ without its ]" },
        { "[b-a]", EVAL_ERR_FORMAT, "a range that ends before it begins" },
        { "[a-\\d]", EVAL_ERR_FORMAT, "a range that ends before it begins" },
        { "a|*", EVAL_ERR_FORMAT, "at byte 2: nothing to repeat" },
        { "a*+", EVAL_ERR_FORMAT, "at byte 2: a repetition of a repetition" },
        { "a{2}{3}", EVAL_ERR_FORMAT, "at byte 4: a repetition of a repetition" },
        { "a{1001}", EVAL_ERR_FORMAT, "a count above 1000" },
        { "a{2,99999999999}", EVAL_ERR_FORMAT, "a count above 1000" },
        { "a{3,2}", EVAL_ERR_FORMAT, "one that ends before it begins" },
        { "\\", EVAL_ERR_FORMAT, "a backslash with nothing behind it" },
        { "[\\", EVAL_ERR_FORMAT, "a backslash with nothing behind it" },
        { "\\x4", EVAL_ERR_FORMAT, "two hexadecimal digits" },
        { "\\x{}", EVAL_ERR_FORMAT, "two hexadecimal digits" },
        { "\\x{41", EVAL_ERR_FORMAT, "two hexadecimal digits" },
        { "\\x{110000}", EVAL_ERR_FORMAT, "two hexadecimal digits" },
        { "\\p{L}", EVAL_ERR_UNSUPPORTED, "classes of Unicode properties" },
        { "(a)\\1", EVAL_ERR_UNSUPPORTED, "at byte 4: backreferences are not offered" },
        { "\\Q", EVAL_ERR_UNSUPPORTED, "this escape is not offered" },
        { "(?=a)", EVAL_ERR_UNSUPPORTED, "looking around" },
        { "(?<!a)", EVAL_ERR_UNSUPPORTED, "looking around" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        evl_context *ctx = evl_test_begin();
        evl_arena *arena = evl_arena_new(ctx->memory);
        evl_regex_part *part;
        const char *pattern = cases[i].pattern;
        EvalStatus st = evl_regex_parse(ctx, arena, pattern, strlen(pattern), &part);
        if (st != cases[i].status || !strstr(ctx->error.text, cases[i].text))
            fail_msg("'%s': %d, %s", pattern, (int)st, ctx->error.text);
        evl_arena_free(arena);
        evl_test_end(ctx);
    }
}

static void a_hundred_groups_are_the_most(void **state)
{
    char pattern[2 * 101 + 1] = "";
    (void)state;
    for (size_t depth = 100; depth <= 101; depth++) {
        evl_context *ctx = evl_test_begin();
        evl_arena *arena = evl_arena_new(ctx->memory);
        evl_regex_part *part;
        memset(pattern, '(', depth);
        memset(pattern + depth, ')', depth);
        assert_int_equal(evl_regex_parse(ctx, arena, pattern, 2 * depth, &part),
                         depth > 100 ? EVAL_ERR_LIMIT : EVAL_OK);
        evl_arena_free(arena);
        evl_test_end(ctx);
    }
}

static void each_lack_of_memory_is_told(void **state)
{
    static const char pattern[] = "(?i)(a[b-dx-z[:alnum:]\\W]{2,3}|^\\d+$|[^q]*.)|\\b";
    EvalStatus st = EVAL_ERR_MEMORY;
    size_t room = 0;
    (void)state;
    for (; st == EVAL_ERR_MEMORY; room += EVL_ALIGNMENT) {
        evl_memory memory;
        evl_context ctx;
        evl_regex_part *part;
        evl_arena *arena = evl_test_tight_arena(&memory, room);
        evl_context_init(&ctx, &memory, &evl_default_limits);
        st = evl_regex_parse(&ctx, arena, pattern, strlen(pattern), &part);
        evl_arena_free(arena);
        evl_context_end(&ctx);
        assert_int_equal(atomic_load(&memory.blocks), 0);
    }
    assert_int_equal(st, EVAL_OK);
    assert_true(room > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_sets_of_one),
        cmocka_unit_test(sets_keep_their_ranges),
        cmocka_unit_test(groups_keep_their_flags),
        cmocka_unit_test(repetitions_count),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(a_hundred_groups_are_the_most),
        cmocka_unit_test(each_lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
