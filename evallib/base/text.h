/* text.h - text without a locale: UTF-8, UTF-16, numbers, near names. */
#ifndef EVL_BASE_TEXT_H
#define EVL_BASE_TEXT_H
#include "base/arena.h"
#include <stdint.h>

bool evl_utf8_valid(const char *, size_t n);
size_t evl_utf8_cut(const char *, size_t n); /* n, or less so that no character is split */
/* A copy in UTF-8 of little-endian UTF-16; a lone surrogate becomes U+FFFD. NULL: no memory. */
char *evl_utf8_from_utf16(evl_arena *, const void *units, size_t n_units);

/* The whole of n bytes as a number; false when it is none or does not fit. */
bool evl_text_to_i64(const char *, size_t n, int64_t *);
bool evl_text_to_f64(const char *, size_t n, double *); /* rounded to nearest; "inf", "nan" too */

bool evl_text_equal(const char *, const char *, size_t n);          /* the first ends by '\0' */
bool evl_text_equal_no_case(const char *a, size_t n_a, const char *b, size_t n_b); /* ASCII */

/* How many edits turn a into b, at most `most` + 1: for lists of near names. */
size_t evl_text_distance(const char *a, const char *b, size_t most);
#endif
