/* regex.h - regular expressions that match whole texts, in time linear in the text.
**
** What RE2 and most others share: literals and escapes, ., [...] with \d \w \s and [:alpha:],
** groups, |, * + ? {m,n} and their lazy forms, ^ $ \A \z \b \B, (?i) (?s) (?m), UTF-8. What
** needs more than a linear walk (backreferences, looking around) and Unicode's properties are
** refused by name. */
#ifndef EVL_BASE_REGEX_H
#define EVL_BASE_REGEX_H
#include "base/arena.h"
#include "base/context.h"

typedef struct evl_regex evl_regex;

/* Kept in the arena. */
EVL_MUST_USE EvalStatus evl_regex_new(evl_context *, evl_arena *, const char *pattern, size_t n,
                                      const evl_regex **);
size_t evl_regex_room(const evl_regex *); /* bytes that a match needs, aligned for uint32_t */
bool evl_regex_matches(const evl_regex *, const char *text, size_t n, void *room);
#endif
