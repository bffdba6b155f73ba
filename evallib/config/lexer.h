/* lexer.h - configuration text cut into records and items.
**
** A text is checked once, whole: brackets and quotes are known to match. Whoever looks at a
** part of it afterwards skips over nested ones without fear. */
#ifndef EVL_CONFIG_LEXER_H
#define EVL_CONFIG_LEXER_H
#include "base/arena.h"
#include "base/context.h"

/* A stretch of checked text and the line it begins on. */
typedef struct evl_span {
    const char *text;
    size_t n;
    int line;
} evl_span;

typedef struct evl_lexer {
    evl_span rest;
    char separator; /* beside newline and ',' */
} evl_lexer;

/* Comments become blanks; lines stay. */
void evl_comments_blank(char *text, size_t n);

EVL_MUST_USE EvalStatus evl_span_check(evl_context *, evl_arena *, evl_span);

/* The next record or item, without blanks around it; false at the end. */
bool evl_lexer_next(evl_lexer *, evl_span *);

bool evl_span_is_quoted(const evl_span *);  /* as a whole */
bool evl_span_is_bracket(const evl_span *); /* as a whole */
evl_span evl_span_unquoted(evl_span);
evl_span evl_span_trimmed(evl_span);
evl_span evl_span_after(evl_span, size_t n); /* n bytes further on */

size_t evl_span_nested(const evl_span *); /* bytes of the quote or bracket that it begins with */

/* What is in the brackets; a punctuation character right behind the opening one becomes the
** separator there. */
evl_span evl_span_inside(evl_span, char *separator);

/* Bytes of a record's key, blanks behind it included: where '=' or a bracket stands. */
size_t evl_span_key(const evl_span *);

bool evl_is_variable_name(const char *text, size_t n);
#endif
