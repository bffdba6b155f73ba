/* bytes.c - little-endian numbers put together byte by byte, which every alignment and
** byte order allows and compilers turn into one load. */
#include "base/bytes.h"
#include "base/memory.h"
#include <string.h>

uint16_t evl_load_u16(const void *from)
{
    const uint8_t *p = from;
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t evl_load_u32(const void *from)
{
    const uint8_t *p = from;
    return evl_load_u16(p) | (uint32_t)evl_load_u16(p + 2) << 16;
}

uint64_t evl_load_u64(const void *from)
{
    const uint8_t *p = from;
    return evl_load_u32(p) | (uint64_t)evl_load_u32(p + 4) << 32;
}

float evl_load_f32(const void *from)
{
    uint32_t bits = evl_load_u32(from);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double evl_load_f64(const void *from)
{
    uint64_t bits = evl_load_u64(from);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool evl_is_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t low;
    memcpy(&low, &one, 1);
    return low == 1;
}

evl_bytes evl_bytes_of(const void *data, size_t size)
{
    return (evl_bytes){ data, size, 0 };
}

size_t evl_bytes_left(const evl_bytes *bytes)
{
    return bytes->size - bytes->at;
}

bool evl_bytes_take(evl_bytes *bytes, size_t n, size_t each, const void **start)
{
    size_t total;
    if (!evl_size_multiply(n, each, &total) || total > evl_bytes_left(bytes))
        return false;
    /* An empty cursor may stand on NULL, to which nothing can be added. */
    *start = total ? bytes->data + bytes->at : bytes->data;
    bytes->at += total;
    return true;
}

bool evl_bytes_skip(evl_bytes *bytes, size_t n)
{
    const void *start;
    return evl_bytes_take(bytes, n, 1, &start);
}

bool evl_bytes_u8(evl_bytes *bytes, uint8_t *value)
{
    const void *p;
    if (!evl_bytes_take(bytes, 1, sizeof *value, &p))
        return false;
    *value = *(const uint8_t *)p;
    return true;
}

bool evl_bytes_varint(evl_bytes *bytes, uint64_t *value)
{
    uint64_t v = 0;
    size_t at = bytes->at;
    for (unsigned shift = 0; shift < 64 && at < bytes->size; shift += 7) {
        uint64_t byte = bytes->data[at++];
        v |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            if (shift == 63 && byte > 1) /* more than 64 bits */
                return false;
            bytes->at = at;
            *value = v;
            return true;
        }
    }
    return false;
}

bool evl_bytes_u16(evl_bytes *bytes, uint16_t *value)
{
    const void *p;
    if (!evl_bytes_take(bytes, 1, sizeof *value, &p))
        return false;
    *value = evl_load_u16(p);
    return true;
}

bool evl_bytes_u32(evl_bytes *bytes, uint32_t *value)
{
    const void *p;
    if (!evl_bytes_take(bytes, 1, sizeof *value, &p))
        return false;
    *value = evl_load_u32(p);
    return true;
}

bool evl_bytes_u64(evl_bytes *bytes, uint64_t *value)
{
    const void *p;
    if (!evl_bytes_take(bytes, 1, sizeof *value, &p))
        return false;
    *value = evl_load_u64(p);
    return true;
}

bool evl_bytes_i32(evl_bytes *bytes, int32_t *value)
{
    uint32_t bits;
    if (!evl_bytes_u32(bytes, &bits))
        return false;
    memcpy(value, &bits, sizeof bits);
    return true;
}
