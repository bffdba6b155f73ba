/* Regular expressions as trees. */
#include "base/characters.h"
#include "base/regex_part.h"
#include <string.h>

enum { MOST_DEPTH = 100, MOST_REPEATS = 1000, LAST = 0x10ffff };
static const uint32_t END = UINT32_MAX;

typedef struct flags {
    bool any_case, dot_is_all, many_lines;
} flags;

typedef struct parser {
    evl_context *ctx;
    evl_arena *arena;
    const char *pattern;
    size_t n, at;
    int depth;
    flags flags;
    evl_regex_range *ranges; /* of the set that is being read */
    size_t n_ranges, capacity;
} parser;

static EvalStatus parse_choice(parser *p, evl_regex_part **part);

static EvalStatus refuse(parser *p, const char *what)
{
    return evl_fail(p->ctx, EVAL_ERR_UNSUPPORTED, "the pattern, at byte %zu: %s not offered", p->at,
                    what);
}

static EvalStatus wrong(parser *p, const char *what)
{
    return evl_fail(p->ctx, EVAL_ERR_FORMAT, "the pattern, at byte %zu: %s", p->at, what);
}

static uint32_t peek(const parser *p, size_t *size)
{
    if (p->at >= p->n)
        return END;
    return evl_character(p->pattern + p->at, p->n - p->at, size);
}

static bool take(parser *p, const char *text)
{
    size_t n = strlen(text);
    if (p->n - p->at < n || memcmp(p->pattern + p->at, text, n) != 0)
        return false;
    p->at += n;
    return true;
}

static bool is_next(const parser *p, char c)
{
    return p->at < p->n && p->pattern[p->at] == c;
}

static EvalStatus make(parser *p, evl_regex_kind kind, evl_regex_part **part)
{
    *part = evl_arena_take(p->arena, sizeof **part);
    if (!*part)
        return evl_no_memory(p->ctx);
    (*part)->kind = kind;
    return EVAL_OK;
}

/* --- sets --- */

static EvalStatus add_range(parser *p, uint32_t low, uint32_t high)
{
    evl_regex_range *grown =
        evl_arena_grow(p->arena, p->ranges, p->n_ranges, &p->capacity, sizeof *grown);
    if (!grown)
        return evl_no_memory(p->ctx);
    p->ranges = grown;
    p->ranges[p->n_ranges++] = (evl_regex_range){ low, high };
    return EVAL_OK;
}

typedef struct named_set {
    const char *name, *pairs; /* low and high one after the other, in their order */
} named_set;

static const named_set perl_sets[] = { { "d", "09" }, { "w", "09AZ__az" }, { "s", "\t\n\f\r  " } };
static const named_set posix_sets[] = {
    { "alnum", "09AZaz" },
    { "alpha", "AZaz" },
    { "ascii", "\x01\x7f" },
    { "blank", "\t\t  " },
    { "cntrl", "\x01\x1f\x7f\x7f" },
    { "digit", "09" },
    { "graph", "!~" },
    { "lower", "az" },
    { "print", " ~" },
    { "punct", "!/:@[`{~" },
    { "space", "\t\r  " },
    { "upper", "AZ" },
    { "word", "09AZ__az" },
    { "xdigit", "09AFaf" },
};

/* The set, or all that is not in it. */
static EvalStatus add_named(parser *p, const named_set *set, bool is_negated)
{
    EvalStatus st = EVAL_OK;
    uint32_t from = 0;
    for (const char *pair = set->pairs; *pair && st == EVAL_OK; pair += 2) {
        uint32_t low = (unsigned char)pair[0], high = (unsigned char)pair[1];
        if (!is_negated)
            st = add_range(p, low, high);
        else if (low > from)
            st = add_range(p, from, low - 1);
        from = high + 1;
    }
    return st == EVAL_OK && is_negated ? add_range(p, from, LAST) : st;
}

/* \d and its kin, behind the backslash; false: none of them. */
static bool take_perl(parser *p, EvalStatus *st)
{
    for (size_t i = 0; i < sizeof perl_sets / sizeof perl_sets[0]; i++) {
        char small = perl_sets[i].name[0], capital = (char)(small - 'a' + 'A');
        if (!is_next(p, small) && !is_next(p, capital))
            continue;
        *st = add_named(p, &perl_sets[i], p->pattern[p->at++] == capital);
        return true;
    }
    return false;
}

static bool take_posix(parser *p, EvalStatus *st)
{
    size_t start = p->at;
    bool is_negated = take(p, "[:^");
    if (!is_negated && !take(p, "[:"))
        return false;
    for (size_t i = 0; i < sizeof posix_sets / sizeof posix_sets[0]; i++) {
        size_t at = p->at;
        if (take(p, posix_sets[i].name) && take(p, ":]")) {
            *st = add_named(p, &posix_sets[i], is_negated);
            return true;
        }
        p->at = at;
    }
    p->at = start;
    return false;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Behind \x: two digits, or some in braces. */
static EvalStatus parse_hex(parser *p, uint32_t *c)
{
    bool in_braces = take(p, "{");
    size_t digits = 0;
    *c = 0;
    for (; p->at < p->n && hex_digit(p->pattern[p->at]) >= 0 && digits < (in_braces ? 6 : 2);
         digits++)
        *c = *c * 16 + (uint32_t)hex_digit(p->pattern[p->at++]);
    if ((in_braces && !take(p, "}")) || digits < (in_braces ? 1 : 2) || *c > LAST)
        return wrong(p, "\\x is followed by two hexadecimal digits, or by some in braces");
    return EVAL_OK;
}

/* A character behind a backslash. */
static EvalStatus parse_escape(parser *p, uint32_t *c)
{
    static const char from[] = "tnrfva0", to[] = "\t\n\r\f\v\a";
    size_t size = 0;
    *c = peek(p, &size);
    if (*c == END)
        return wrong(p, "a backslash with nothing behind it");
    const char *simple = *c < 0x80 && *c ? strchr(from, (int)*c) : NULL;
    bool is_letter =
        (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '1' && *c <= '9');
    if (simple) {
        *c = (uint32_t)to[simple - from];
    } else if (*c == 'x') {
        p->at++;
        return parse_hex(p, c);
    } else if (*c == 'p' || *c == 'P')
        return refuse(p, "classes of Unicode properties, \\p and \\P, are");
    else if (*c >= '1' && *c <= '9')
        return refuse(p, "backreferences are");
    else if (is_letter)
        return refuse(p, "this escape is");
    p->at += size;
    return EVAL_OK;
}

/* A character of a set, or one of the named sets (then *c is END). */
static EvalStatus parse_member(parser *p, uint32_t *c)
{
    EvalStatus st = EVAL_OK;
    size_t size = 0;
    if (take_posix(p, &st)) {
        *c = END;
        return st;
    }
    if (!take(p, "\\")) {
        *c = peek(p, &size);
        p->at += size;
        return EVAL_OK;
    }
    if (take_perl(p, &st)) {
        *c = END;
        return st;
    }
    return parse_escape(p, c);
}

static void close_set(parser *p, evl_regex_part *part, bool is_negated)
{
    part->set = (evl_regex_set){ p->ranges, p->n_ranges, is_negated, p->flags.any_case };
    p->ranges = NULL;
    p->n_ranges = p->capacity = 0;
}

/* Behind "[". A "]" that comes first is a member. */
static EvalStatus parse_set(parser *p, evl_regex_part **part)
{
    bool is_negated = take(p, "^");
    EvalStatus st = make(p, EVL_REGEX_SET, part);
    for (bool is_first = true; st == EVAL_OK && (is_first || !is_next(p, ']')); is_first = false) {
        uint32_t low, high;
        if (p->at >= p->n)
            return wrong(p, "a [ without its ]");
        st = parse_member(p, &low);
        high = low;
        bool is_range = is_next(p, '-') && p->at + 1 < p->n && p->pattern[p->at + 1] != ']';
        if (st == EVAL_OK && low != END && is_range) {
            p->at++;
            st = parse_member(p, &high);
            if (st == EVAL_OK && (high == END || high < low))
                return wrong(p, "a range that ends before it begins");
        }
        if (st == EVAL_OK && low != END)
            st = add_range(p, low, high);
    }
    p->at += st == EVAL_OK;
    if (st == EVAL_OK)
        close_set(p, *part, is_negated);
    return st;
}

/* --- what is not repeated --- */

static EvalStatus parse_place(parser *p, evl_regex_place place, evl_regex_part **part)
{
    EvalStatus st = make(p, EVL_REGEX_PLACE, part);
    if (st == EVAL_OK)
        (*part)->place = place;
    return st;
}

/* "(?ims-ims": up to ":" or ")", which is taken. */
static EvalStatus parse_flags(parser *p, bool *is_group)
{
    bool value = true;
    for (; p->at < p->n && !is_next(p, ':') && !is_next(p, ')'); p->at++) {
        switch (p->pattern[p->at]) {
        case 'i': p->flags.any_case = value; break;
        case 's': p->flags.dot_is_all = value; break;
        case 'm': p->flags.many_lines = value; break;
        case 'U': break; /* which match is found makes no difference */
        case '-': value = false; break;
        default: return refuse(p, "looking around, conditions and such groups are");
        }
    }
    if (p->at >= p->n)
        return wrong(p, "a ( without its )");
    *is_group = p->pattern[p->at++] == ':';
    return EVAL_OK;
}

static bool skip_name(parser *p)
{
    if (!take(p, "?P<") &&
        !(is_next(p, '?') && p->n - p->at > 2 && p->pattern[p->at + 1] == '<' &&
          p->pattern[p->at + 2] != '=' && p->pattern[p->at + 2] != '!' && take(p, "?<")))
        return false;
    while (p->at < p->n && !is_next(p, '>'))
        p->at++;
    p->at += p->at < p->n;
    return true;
}

/* Behind "(". Flags that a group sets end with it. */
static EvalStatus parse_group(parser *p, evl_regex_part **part)
{
    flags before = p->flags;
    bool is_group = true;
    EvalStatus st = EVAL_OK;
    if (!skip_name(p) && take(p, "?"))
        st = parse_flags(p, &is_group);
    if (st != EVAL_OK)
        return st;
    if (!is_group) /* for the rest of the group around it */
        return make(p, EVL_REGEX_ALL, part);
    if (++p->depth > MOST_DEPTH)
        return evl_fail(p->ctx, EVAL_ERR_LIMIT,
                        "the pattern, at byte %zu: more than %d groups in each other", p->at,
                        MOST_DEPTH);
    st = parse_choice(p, part);
    p->depth--;
    p->flags = before;
    if (st == EVAL_OK && !take(p, ")"))
        return wrong(p, "a ( without its )");
    return st;
}

static EvalStatus parse_backslash(parser *p, evl_regex_part **part)
{
    static const char names[] = "AzbB";
    static const evl_regex_place places[] = { EVL_REGEX_TEXT_START, EVL_REGEX_TEXT_END,
                                              EVL_REGEX_WORD_EDGE, EVL_REGEX_NO_WORD_EDGE };
    for (size_t i = 0; names[i]; i++)
        if (is_next(p, names[i])) {
            p->at++;
            return parse_place(p, places[i], part);
        }
    uint32_t c;
    EvalStatus st = make(p, EVL_REGEX_SET, part);
    if (st == EVAL_OK && !take_perl(p, &st)) {
        st = parse_escape(p, &c);
        if (st == EVAL_OK)
            st = add_range(p, c, c);
    }
    if (st == EVAL_OK)
        close_set(p, *part, false);
    return st;
}

static EvalStatus parse_atom(parser *p, evl_regex_part **part)
{
    size_t size = 0;
    bool lines = p->flags.many_lines;
    if (take(p, "("))
        return parse_group(p, part);
    if (take(p, "["))
        return parse_set(p, part);
    if (take(p, "\\"))
        return parse_backslash(p, part);
    if (take(p, "^"))
        return parse_place(p, lines ? EVL_REGEX_LINE_START : EVL_REGEX_TEXT_START, part);
    if (take(p, "$"))
        return parse_place(p, lines ? EVL_REGEX_LINE_END : EVL_REGEX_TEXT_END, part);
    if (is_next(p, '*') || is_next(p, '+') || is_next(p, '?'))
        return wrong(p, "nothing to repeat");
    EvalStatus st = make(p, EVL_REGEX_SET, part);
    bool is_dot = take(p, ".");
    uint32_t c = is_dot ? '\n' : peek(p, &size);
    p->at += size;
    if (st == EVAL_OK && !(is_dot && p->flags.dot_is_all))
        st = add_range(p, c, c);
    if (st == EVAL_OK)
        close_set(p, *part, is_dot);
    return st;
}

/* --- repetition, sequence, choice --- */

static bool take_count(parser *p, int *count)
{
    size_t start = p->at;
    for (*count = 0; p->at < p->n && p->pattern[p->at] >= '0' && p->pattern[p->at] <= '9'; p->at++)
        if (*count <= MOST_REPEATS)
            *count = *count * 10 + (p->pattern[p->at] - '0');
    return p->at > start;
}

/* "{m}", "{m,}", "{m,n}"; anything else is a brace like other characters. */
static bool take_counts(parser *p, int *least, int *most)
{
    size_t start = p->at;
    if (take(p, "{") && take_count(p, least)) {
        *most = *least;
        if (take(p, ",") && !take_count(p, most))
            *most = EVL_REGEX_NO_END;
        if (take(p, "}"))
            return true;
    }
    p->at = start;
    return false;
}

static bool take_repeat(parser *p, int *least, int *most)
{
    *least = 0;
    *most = EVL_REGEX_NO_END;
    if (take(p, "*"))
        return true;
    if (take(p, "+")) {
        *least = 1;
        return true;
    }
    if (take(p, "?")) {
        *most = 1;
        return true;
    }
    return take_counts(p, least, most);
}

static EvalStatus parse_repeat(parser *p, evl_regex_part **part)
{
    int least, most;
    evl_regex_part *inner = NULL;
    EvalStatus st = parse_atom(p, &inner);
    *part = inner;
    if (st != EVAL_OK || !take_repeat(p, &least, &most))
        return st;
    if (least > MOST_REPEATS || most > MOST_REPEATS || (most != EVL_REGEX_NO_END && most < least))
        return wrong(p, "a count above 1000, or one that ends before it begins");
    (void)take(p, "?"); /* the same texts match */
    size_t at = p->at;
    int more, much;
    if (take_repeat(p, &more, &much)) {
        p->at = at;
        return wrong(p, "a repetition of a repetition");
    }
    st = make(p, EVL_REGEX_REPEAT, part);
    if (st != EVAL_OK)
        return st;
    (*part)->least = least;
    (*part)->most = most;
    (*part)->first = inner;
    return EVAL_OK;
}

static EvalStatus parse_sequence(parser *p, evl_regex_part **part)
{
    EvalStatus st = make(p, EVL_REGEX_ALL, part);
    evl_regex_part **link = st == EVAL_OK ? &(*part)->first : NULL;
    while (st == EVAL_OK && p->at < p->n && !is_next(p, '|') && !is_next(p, ')')) {
        st = parse_repeat(p, link);
        if (st == EVAL_OK)
            link = &(*link)->next;
    }
    return st;
}

static EvalStatus parse_choice(parser *p, evl_regex_part **part)
{
    EvalStatus st = make(p, EVL_REGEX_ONE, part);
    if (st != EVAL_OK)
        return st;
    evl_regex_part **link = &(*part)->first;
    do {
        st = parse_sequence(p, link);
        if (st == EVAL_OK)
            link = &(*link)->next;
    } while (st == EVAL_OK && take(p, "|"));
    return st;
}

EvalStatus evl_regex_parse(evl_context *ctx, evl_arena *arena, const char *pattern, size_t n,
                           evl_regex_part **part)
{
    parser p = { .ctx = ctx, .arena = arena, .pattern = pattern, .n = n };
    EvalStatus st = parse_choice(&p, part);
    return st == EVAL_OK && p.at < n ? wrong(&p, "a ) without its (") : st;
}
