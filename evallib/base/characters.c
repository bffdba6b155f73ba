#include "base/characters.h"
#include <stdbool.h>

uint32_t evl_character(const char *text, size_t n, size_t *size)
{
    const unsigned char *b = (const unsigned char *)text;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t bytes = b[0] < 0x80 ? 1 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : 4;
    uint32_t c = bytes == 1 ? b[0] : b[0] & (0xff >> (bytes + 1));
    bool ok = b[0] < 0x80 || (b[0] >= 0xc2 && b[0] < 0xf5 && bytes <= n);
    for (size_t i = 1; ok && i < bytes; i++) {
        ok = (b[i] & 0xc0) == 0x80;
        c = c << 6 | (b[i] & 0x3f);
    }
    ok = ok && c >= least[bytes] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
    *size = ok ? bytes : 1;
    return ok ? c : 0xfffd;
}

size_t evl_character_put(uint32_t c, char to[4])
{
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n; i-- > 1; c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[n] | c);
    return n;
}

/* Capital letters from .. to have their small ones `away` higher; away 1: the two take turns,
** from the even or the odd one on. */
typedef struct range {
    uint16_t from, to, away;
} range;

static const range ranges[] = {
    { 'A', 'Z', 32 },      { 0xc0, 0xd6, 32 },    { 0xd8, 0xde, 32 },     { 0x100, 0x12f, 1 },
    { 0x132, 0x137, 1 },   { 0x139, 0x148, 1 },   { 0x14a, 0x177, 1 },    { 0x179, 0x17e, 1 },
    { 0x386, 0x386, 38 },  { 0x388, 0x38a, 37 },  { 0x38c, 0x38c, 64 },   { 0x38e, 0x38f, 63 },
    { 0x391, 0x3a1, 32 },  { 0x3a3, 0x3ab, 32 },  { 0x400, 0x40f, 80 },   { 0x410, 0x42f, 32 },
    { 0x460, 0x481, 1 },   { 0x48a, 0x4bf, 1 },   { 0x4d0, 0x52f, 1 },    { 0x531, 0x556, 48 },
    { 0x1e00, 0x1e95, 1 }, { 0x1ea0, 0x1eff, 1 }, { 0xff21, 0xff3a, 32 },
};

enum { N_RANGES = sizeof ranges / sizeof ranges[0] };

uint32_t evl_character_lower(uint32_t c)
{
    if (c == 0x178)
        return 0xff;
    for (size_t i = 0; i < N_RANGES; i++)
        if (c >= ranges[i].from && c <= ranges[i].to)
            return ranges[i].away == 1 ? c + ((c - ranges[i].from) % 2 == 0) : c + ranges[i].away;
    return c;
}

uint32_t evl_character_upper(uint32_t c)
{
    if (c == 0xff)
        return 0x178;
    if (c == 0x3c2) /* sigma at a word's end */
        return 0x3a3;
    for (size_t i = 0; i < N_RANGES; i++) {
        const range *r = &ranges[i];
        if (r->away == 1 ? c >= r->from && c <= r->to
                         : c >= (uint32_t)r->from + r->away && c <= (uint32_t)r->to + r->away)
            return r->away == 1 ? c - (c - r->from) % 2 : c - r->away;
    }
    return c;
}
