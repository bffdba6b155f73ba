/* mutate.c - libFuzzer changes fields of protocol buffers, at any depth: the lengths around them are
** written anew, so that what is changed is still read. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

enum { VARINT = 0, EIGHT_BYTES = 1, BYTES = 2, FOUR_BYTES = 5, LONGEST_VARINT = 10, MOST_FIELDS = 4096 };

typedef struct field {
    size_t begin, payload, end;
    unsigned wire;
} field;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245u + 12345u;
    return *state >> 16;
}

static bool read_varint(const uint8_t *data, size_t size, size_t *at, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < size && shift < 64; shift += 7) {
        uint8_t byte = data[(*at)++];
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static size_t write_varint(uint8_t *to, uint64_t value)
{
    size_t n = 0;
    for (; value > 127; value >>= 7)
        to[n++] = (uint8_t)(value | 128);
    to[n++] = (uint8_t)value;
    return n;
}

static bool read_field(const uint8_t *data, size_t size, size_t at, field *f)
{
    uint64_t tag, length;
    f->begin = at;
    if (!read_varint(data, size, &at, &tag) || tag >> 3 == 0 || tag >> 3 > 100)
        return false;
    f->wire = tag & 7;
    f->payload = at;
    length = f->wire == EIGHT_BYTES ? 8 : f->wire == FOUR_BYTES ? 4 : 0;
    if ((f->wire == VARINT && !read_varint(data, size, &at, &length)) ||
        (f->wire == BYTES && !read_varint(data, size, &at, &length)))
        return false;
    length = f->wire == VARINT ? 0 : length;
    f->payload = f->wire == BYTES ? at : f->payload;
    f->end = at + (size_t)length;
    return length <= size - at && (f->wire == VARINT || f->wire == BYTES || length);
}

/* 0: it is no message. */
static size_t read_fields(const uint8_t *data, size_t size, field *fields)
{
    size_t n = 0;
    for (size_t at = 0; at < size; at = fields[n++].end)
        if (n == MOST_FIELDS || !read_field(data, size, at, &fields[n]))
            return 0;
    return n;
}

static size_t mutate(uint8_t *data, size_t size, size_t most, unsigned *state);

/* What becomes of a payload, at most `most` bytes. */
static size_t mutate_payload(uint8_t *data, const field *f, size_t size, size_t most, unsigned *state)
{
    static const uint64_t odd[] = { 0, 1, 2, 7, 8, 16, 64, 255, 65536, 1u << 31, UINT64_MAX, UINT64_MAX - 1,
                                    UINT64_C(1) << 32, UINT64_C(1) << 62, INT64_MAX, UINT64_C(1) << 63 };
    if (f->wire == BYTES)
        return next_random(state) % 8 ? mutate(data, size, most, state) : LLVMFuzzerMutate(data, size, most);
    if (f->wire != VARINT)
        return LLVMFuzzerMutate(data, size, size);
    uint64_t value = odd[next_random(state) % (sizeof odd / sizeof odd[0])];
    size_t at = 0;
    if (next_random(state) % 2 && read_varint(data, size, &at, &value))
        value += next_random(state) % 7 - UINT64_C(3);
    return most < LONGEST_VARINT ? size : write_varint(data, value);
}

/* Puts data[0 .. begin), the field with its new payload, and what was behind it, together. */
static size_t put_together(uint8_t *data, size_t size, const field *f, const uint8_t *payload, size_t n,
                           size_t most)
{
    uint8_t length[LONGEST_VARINT];
    size_t at = f->begin, behind = size - f->end, n_length = f->wire == BYTES ? write_varint(length, n) : 0;
    uint64_t tag;
    read_varint(data, size, &at, &tag);
    if (at + n_length + n + behind > most)
        return size;
    memmove(data + at + n_length + n, data + f->end, behind);
    memcpy(data + at, length, n_length);
    memcpy(data + at + n_length, payload, n);
    return at + n_length + n + behind;
}

static size_t change(uint8_t *data, size_t size, size_t most, const field *f, unsigned *state)
{
    size_t n = f->end - f->payload, room = most - size + n;
    uint8_t *payload = malloc(room + LONGEST_VARINT);
    if (!payload)
        return size;
    memcpy(payload, data + f->payload, n);
    n = mutate_payload(payload, f, n, room, state);
    size = put_together(data, size, f, payload, n, most);
    free(payload);
    return size;
}

static size_t mutate(uint8_t *data, size_t size, size_t most, unsigned *state)
{
    field *fields = malloc(MOST_FIELDS * sizeof *fields);
    size_t n = fields ? read_fields(data, size, fields) : 0, result;
    if (n == 0) {
        free(fields);
        return LLVMFuzzerMutate(data, size, most);
    }
    field f = fields[next_random(state) % n];
    unsigned choice = next_random(state) % 16;
    free(fields);
    if (choice == 0) {
        memmove(data + f.begin, data + f.end, size - f.end);
        result = size - (f.end - f.begin);
    } else if (choice == 1 && f.end - f.begin <= most - size) {
        memcpy(data + size, data + f.begin, f.end - f.begin);
        result = size + (f.end - f.begin);
    } else {
        result = change(data, size, most, &f, state);
    }
    return result;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return next_random(&seed) % 16 ? mutate(data, size, most, &seed) : LLVMFuzzerMutate(data, size, most);
}
