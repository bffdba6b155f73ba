/* text.c - UTF-8, UTF-16 and how near two names are; numbers are in number.c. */
#include "base/text.h"
#include "base/bytes.h"
#include <string.h>

enum { REPLACEMENT = 0xfffd, LONGEST_NAME = 127 };

/* Bytes of the character that starts there, 0 when it is none: RFC 3629 leaves out overlong
** forms, surrogates, and what lies past U+10FFFF, all told by the first two bytes. */
static size_t character_size(const unsigned char *p, size_t left)
{
    static const struct {
        unsigned char first, last, low, high, size;
    } forms[] = {
        { 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
        { 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
        { 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
    };
    size_t f = 0, n_forms = sizeof forms / sizeof *forms;
    while (f < n_forms && (*p < forms[f].first || *p > forms[f].last))
        f++;
    if (f == n_forms || forms[f].size > left)
        return 0;
    if (forms[f].size > 1 && (p[1] < forms[f].low || p[1] > forms[f].high))
        return 0;
    for (size_t i = 2; i < forms[f].size; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return forms[f].size;
}

bool evl_utf8_valid(const char *text, size_t n)
{
    for (size_t at = 0, size; at < n; at += size) {
        size = character_size((const unsigned char *)text + at, n - at);
        if (!size)
            return false;
    }
    return true;
}

size_t evl_utf8_cut(const char *text, size_t n)
{
    size_t start = n;
    while (start && n - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (!start || ((unsigned char)text[start - 1] & 0xc0) != 0xc0)
        return n; /* ends with ASCII, or is no UTF-8 anyway */
    start--;
    return character_size((const unsigned char *)text + start, n - start) ? n : start;
}

static size_t encode(uint32_t code, char *to)
{
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(lead[size] | code);
    return size;
}

/* The next character; *at moves by one unit or two. */
static uint32_t decode_utf16(const char *units, size_t n, size_t *at)
{
    uint32_t unit = evl_load_u16(units + 2 * (*at)++);
    if (unit < 0xd800 || unit > 0xdfff)
        return unit;
    uint32_t low = unit < 0xdc00 && *at < n ? evl_load_u16(units + 2 * *at) : 0;
    if (low < 0xdc00 || low > 0xdfff)
        return REPLACEMENT;
    ++*at;
    return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

char *evl_utf8_from_utf16(evl_arena *arena, const void *units, size_t n_units)
{
    char character[4];
    size_t bytes = 0;
    for (size_t at = 0; at < n_units;)
        bytes += encode(decode_utf16(units, n_units, &at), character);
    char *text = evl_arena_take(arena, bytes + 1), *to = text;
    if (!text)
        return NULL;
    for (size_t at = 0; at < n_units;)
        to += encode(decode_utf16(units, n_units, &at), to);
    return text;
}

bool evl_text_equal(const char *text, const char *other, size_t n)
{
    return !memchr(other, '\0', n) && strncmp(text, other, n) == 0 && text[n] == '\0';
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

bool evl_text_equal_no_case(const char *a, size_t n_a, const char *b, size_t n_b)
{
    if (n_a != n_b)
        return false;
    for (size_t i = 0; i < n_a; i++)
        if (lower(a[i]) != lower(b[i]))
            return false;
    return true;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Levenshtein's rows, one kept. */
static size_t edits(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t row[LONGEST_NAME + 1];
    for (size_t j = 0; j <= n_b; j++)
        row[j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(changed, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[n_b];
}

/* What both begin and end with is cut off first, so that long names, which differ in a part,
** fit the row too; those that still do not are far apart. */
size_t evl_text_distance(const char *a, const char *b, size_t most)
{
    while (*a && *a == *b)
        a++, b++;
    size_t n_a = strlen(a), n_b = strlen(b);
    while (n_a && n_b && a[n_a - 1] == b[n_b - 1])
        n_a--, n_b--;
    size_t apart = n_a < n_b ? n_b - n_a : n_a - n_b;
    if (apart > most || n_a > LONGEST_NAME || n_b > LONGEST_NAME)
        return most + 1;
    return least(edits(a, n_a, b, n_b), most + 1);
}
