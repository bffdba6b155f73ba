/* characters.h - code points of UTF-8: one by one, and in the other case. */
#ifndef EVL_BASE_CHARACTERS_H
#define EVL_BASE_CHARACTERS_H
#include <stddef.h>
#include <stdint.h>

/* The first character of n > 0 bytes, and how many bytes it has; what is no UTF-8 is U+FFFD,
** a byte long. */
uint32_t evl_character(const char *, size_t n, size_t *size);
size_t evl_character_put(uint32_t, char to[4]); /* bytes written */

/* Simple case mapping of Latin (with its extensions A and Additional), Greek and Cyrillic; others
** stay. */
uint32_t evl_character_lower(uint32_t);
uint32_t evl_character_upper(uint32_t);
#endif
