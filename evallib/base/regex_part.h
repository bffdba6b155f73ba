/* regex_part.h - between parser (regex_parse.c) and matcher (regex.c): an expression as a tree. */
#ifndef EVL_BASE_REGEX_PART_H
#define EVL_BASE_REGEX_PART_H
#include "base/arena.h"
#include "base/context.h"

typedef struct evl_regex_range {
    uint32_t low, high;
} evl_regex_range;

typedef struct evl_regex_set {
    const evl_regex_range *ranges;
    size_t n;
    bool is_negated, any_case;
} evl_regex_set;

typedef enum evl_regex_place {
    EVL_REGEX_TEXT_START,
    EVL_REGEX_TEXT_END,
    EVL_REGEX_LINE_START,
    EVL_REGEX_LINE_END,
    EVL_REGEX_WORD_EDGE,
    EVL_REGEX_NO_WORD_EDGE
} evl_regex_place;

typedef enum evl_regex_kind {
    EVL_REGEX_SET,   /* one character */
    EVL_REGEX_PLACE, /* between two */
    EVL_REGEX_ALL,   /* its parts one after the other */
    EVL_REGEX_ONE,   /* one of its parts */
    EVL_REGEX_REPEAT /* its part so often */
} evl_regex_kind;

enum { EVL_REGEX_NO_END = -1 };

typedef struct evl_regex_part {
    evl_regex_kind kind;
    evl_regex_set set;
    evl_regex_place place;
    int least, most;                     /* most: EVL_REGEX_NO_END */
    struct evl_regex_part *first, *next; /* its parts; beside it */
} evl_regex_part;

EVL_MUST_USE EvalStatus evl_regex_parse(evl_context *, evl_arena *, const char *pattern, size_t n,
                                        evl_regex_part **);
#endif
