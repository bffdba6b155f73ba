/* lexer.c - quotes, brackets, comments and separators of configuration text.
**
** A '"' opens a quote anywhere; an apostrophe only where no word goes on, so that a path
** such as models/o'brien.dnn needs no quotes. A '#' opens a comment at a line's start or after a
** blank. Nothing here recurses: the depth of brackets is a number. */
#include "config/lexer.h"
#include <string.h>

static bool is_one_of(char c, const char *set)
{
    return c && strchr(set, c);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static bool opens_bracket(char c)
{
    return is_one_of(c, "[{(");
}

static char closing_of(char open)
{
    switch (open) {
    case '[': return ']';
    case '{': return '}';
    default: return ')';
    }
}

static bool opens_quote(const char *start, const char *p)
{
    return *p == '"' || (*p == '\'' && (p == start || !is_word(p[-1])));
}

static bool opens_comment(const char *start, const char *p)
{
    return *p == '#' && (p == start || is_one_of(p[-1], " \t\r\n"));
}

static const char *skip_quote(const char *p, const char *end)
{
    const char *close = memchr(p + 1, *p, (size_t)(end - p) - 1);
    return close ? close + 1 : end;
}

void evl_comments_blank(char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        const char *p = text + at;
        if (opens_quote(text, p))
            at = (size_t)(skip_quote(p, text + n) - text);
        else if (!opens_comment(text, p))
            at++;
        else
            for (; at < n && text[at] != '\n' && text[at] != '\r'; at++)
                text[at] = ' ';
    }
}

/* --- the check --------------------------------------------------------------------------- */

typedef struct bracket {
    char open;
    int line;
} bracket;

typedef struct check {
    evl_context *ctx;
    evl_arena *arena;
    const char *start, *p, *end;
    int line;
    bracket *brackets; /* those open, outermost first */
    size_t depth, capacity;
} check;

static EvalStatus fail_unclosed(const check *c, char open, char closing, int line)
{
    return evl_fail(c->ctx, EVAL_ERR_ARGUMENT,
                    "configuration, line %d: no closing %c found in parameters for this %c", line,
                    closing, open);
}

static EvalStatus pass_quote(check *c)
{
    char quote = *c->p;
    int line = c->line;
    for (c->p++; c->p < c->end && *c->p != quote; c->p++)
        c->line += *c->p == '\n';
    if (c->p == c->end)
        return fail_unclosed(c, quote, quote, line);
    c->p++;
    return EVAL_OK;
}

static EvalStatus open_bracket(check *c)
{
    if (c->depth >= c->ctx->limits->max_depth)
        return evl_fail(c->ctx, EVAL_ERR_LIMIT,
                        "configuration, line %d: more than %zu brackets inside each other", c->line,
                        c->ctx->limits->max_depth);
    bracket *brackets =
        evl_arena_grow(c->arena, c->brackets, c->depth, &c->capacity, sizeof *brackets);
    if (!brackets)
        return evl_no_memory(c->ctx);
    c->brackets = brackets;
    c->brackets[c->depth++] = (bracket){ *c->p++, c->line };
    return EVAL_OK;
}

static EvalStatus close_bracket(check *c)
{
    if (c->depth == 0)
        return evl_fail(c->ctx, EVAL_ERR_ARGUMENT,
                        "configuration, line %d: unmatched bracket found in parameters: "
                        "nothing is open before this %c",
                        c->line, *c->p);
    bracket last = c->brackets[--c->depth];
    if (closing_of(last.open) != *c->p)
        return evl_fail(c->ctx, EVAL_ERR_ARGUMENT,
                        "configuration, line %d: unmatched bracket found in parameters: "
                        "%c where the %c of line %d needs its %c",
                        c->line, *c->p, last.open, last.line, closing_of(last.open));
    c->p++;
    return EVAL_OK;
}

static EvalStatus check_character(check *c)
{
    if (opens_quote(c->start, c->p))
        return pass_quote(c);
    else if (opens_bracket(*c->p))
        return open_bracket(c);
    else if (is_one_of(*c->p, "]})"))
        return close_bracket(c);
    else
        c->line += *c->p++ == '\n';
    return EVAL_OK;
}

EvalStatus evl_span_check(evl_context *ctx, evl_arena *arena, evl_span span)
{
    const char *start = span.text;
    check c = { ctx, arena, start, start, start + span.n, span.line, NULL, 0, 0 };
    while (c.p < c.end) {
        EvalStatus st = check_character(&c);
        if (st != EVAL_OK)
            return st;
    }
    if (c.depth == 0)
        return EVAL_OK;
    bracket last = c.brackets[c.depth - 1];
    return fail_unclosed(&c, last.open, closing_of(last.open), last.line);
}

/* --- parts of a checked text ------------------------------------------------------------- */

/* Past the quote or bracket that opens at p, or past the one character that is neither. */
static const char *skip(const char *start, const char *p, const char *end)
{
    size_t depth = 0;
    do {
        if (opens_quote(start, p)) {
            p = skip_quote(p, end);
            continue;
        }
        depth += opens_bracket(*p);
        depth -= depth && is_one_of(*p, "]})");
        p++;
    } while (depth && p < end);
    return p;
}

evl_span evl_span_after(evl_span span, size_t n)
{
    for (const char *p = span.text; p < span.text + n; p++)
        span.line += *p == '\n';
    span.text += n;
    span.n -= n;
    return span;
}

evl_span evl_span_trimmed(evl_span span)
{
    size_t n = 0;
    while (n < span.n && is_one_of(span.text[n], " \t\r\n"))
        n++;
    span = evl_span_after(span, n);
    while (span.n && is_one_of(span.text[span.n - 1], " \t\r\n"))
        span.n--;
    return span;
}

static bool is_separator(const evl_lexer *lexer, char c)
{
    return c == '\n' || c == '\r' || c == ',' || c == lexer->separator;
}

/* Where the record ends. One whose value is a quote or bracket as a whole is over behind it,
** if a blank follows: 'path="a b" n=1' are two, 'a=b n=1' is one. So is one that is nothing
** but a bracket. */
static const char *record_end(const evl_lexer *lexer)
{
    const char *start = lexer->rest.text, *end = start + lexer->rest.n, *p = start;
    bool begins_value = opens_bracket(*p);
    while (p < end && !is_separator(lexer, *p)) {
        bool is_nested = opens_bracket(*p) || opens_quote(start, p);
        const char *next = skip(start, p, end);
        if (is_nested && begins_value && next < end && is_blank(*next))
            return next;
        begins_value = *p == '=' || (begins_value && is_blank(*p)); /* after '=' */
        p = next;
    }
    return p;
}

bool evl_lexer_next(evl_lexer *lexer, evl_span *record)
{
    size_t n = 0;
    while (n < lexer->rest.n &&
           (is_separator(lexer, lexer->rest.text[n]) || is_blank(lexer->rest.text[n])))
        n++;
    lexer->rest = evl_span_after(lexer->rest, n);
    if (!lexer->rest.n)
        return false;
    evl_span found = lexer->rest;
    found.n = (size_t)(record_end(lexer) - found.text);
    lexer->rest = evl_span_after(lexer->rest, found.n);
    *record = evl_span_trimmed(found);
    return true;
}

static bool is_whole(const evl_span *span)
{
    const char *end = span->text + span->n;
    return span->n >= 2 && skip(span->text, span->text, end) == end;
}

bool evl_span_is_quoted(const evl_span *span)
{
    return is_whole(span) && opens_quote(span->text, span->text);
}

bool evl_span_is_bracket(const evl_span *span)
{
    return is_whole(span) && opens_bracket(*span->text);
}

evl_span evl_span_unquoted(evl_span span)
{
    return evl_span_is_quoted(&span) ? (evl_span){ span.text + 1, span.n - 2, span.line } : span;
}

static bool begins_path(const evl_span *span)
{
    return span->n > 1 && *span->text == '.' && is_one_of(span->text[1], "./\\");
}

static bool begins_variable(const evl_span *span)
{
    return span->n > 1 && *span->text == '$' && is_letter(span->text[1]);
}

evl_span evl_span_inside(evl_span span, char *separator)
{
    evl_span inside = { span.text + 1, span.n - 2, span.line };
    if (!inside.n || !is_one_of(*inside.text, "`~!@$%^&*_-+|:;,?.") || begins_path(&inside) ||
        begins_variable(&inside))
        return inside;
    *separator = *inside.text;
    return evl_span_after(inside, 1);
}

size_t evl_span_nested(const evl_span *span)
{
    return (size_t)(skip(span->text, span->text, span->text + span->n) - span->text);
}

size_t evl_span_key(const evl_span *record)
{
    const char *p = record->text, *end = p + record->n;
    if (p < end && opens_quote(p, p))
        p = skip_quote(p, end);
    while (p < end && *p != '=' && !opens_bracket(*p))
        p++;
    return (size_t)(p - record->text);
}

/* CNTK's rule: a letter first, and none of the signs that text around a variable may have. */
bool evl_is_variable_name(const char *text, size_t n)
{
    if (!n || !is_letter(*text))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!text[i] || strchr(",/<>?;':\"[]{}\\|!@#%^&*()+=~` \t\r\n$", text[i]))
            return false;
    return true;
}
