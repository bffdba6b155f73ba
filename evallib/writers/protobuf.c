#include "writers/protobuf.h"
#include <string.h>

enum { VARINT = 0, BYTES = 2, FIXED32 = 5, LONGEST_VARINT = 10, LONGEST_HEAD = 20, FIRST_BLOCK = 4096 };

/* Room for n more; false after a failure. */
static bool reserve(evl_pb_writer *w, size_t n)
{
    if (w->status != EVAL_OK)
        return false;
    if (n <= w->capacity - w->n)
        return true;
    size_t capacity = w->capacity ? w->capacity : FIRST_BLOCK;
    while (capacity - w->n < n && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    unsigned char *larger = capacity - w->n < n ? NULL : evl_allocate(w->ctx->memory, capacity);
    if (!larger) {
        w->status = evl_no_memory(w->ctx);
        return false;
    }
    if (w->n)
        memcpy(larger, w->data, w->n);
    evl_release(w->ctx->memory, w->data);
    w->data = larger;
    w->capacity = capacity;
    return true;
}

static size_t varint(unsigned char *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (unsigned char)(value | 0x80);
    to[n++] = (unsigned char)value;
    return n;
}

static void put_tag(evl_pb_writer *w, uint32_t field, unsigned wire)
{
    w->n += varint(w->data + w->n, (uint64_t)field << 3 | wire);
}

void evl_pb_put_int(evl_pb_writer *w, uint32_t field, int64_t value)
{
    if (!reserve(w, LONGEST_HEAD))
        return;
    put_tag(w, field, VARINT);
    w->n += varint(w->data + w->n, (uint64_t)value);
}

void evl_pb_put_float(evl_pb_writer *w, uint32_t field, double value)
{
    float narrow = (float)value;
    if (!reserve(w, LONGEST_VARINT + sizeof narrow))
        return;
    put_tag(w, field, FIXED32);
    memcpy(w->data + w->n, &narrow, sizeof narrow);
    w->n += sizeof narrow;
}

void evl_pb_put_bytes(evl_pb_writer *w, uint32_t field, const void *bytes, size_t n)
{
    if (n > SIZE_MAX / 4 || !reserve(w, LONGEST_HEAD + n))
        return;
    put_tag(w, field, BYTES);
    w->n += varint(w->data + w->n, n);
    if (n)
        memcpy(w->data + w->n, bytes, n);
    w->n += n;
}

void evl_pb_put_text(evl_pb_writer *w, uint32_t field, const char *text)
{
    evl_pb_put_bytes(w, field, text, strlen(text));
}

size_t evl_pb_begin(evl_pb_writer *w)
{
    return w->n;
}

/* The length is known now: the content moves behind it. */
void evl_pb_end(evl_pb_writer *w, uint32_t field, size_t begun)
{
    unsigned char head[LONGEST_HEAD];
    size_t n_content = w->n - begun, n_head = varint(head, (uint64_t)field << 3 | BYTES);
    n_head += varint(head + n_head, n_content);
    if (!reserve(w, n_head))
        return;
    memmove(w->data + begun + n_head, w->data + begun, n_content);
    memcpy(w->data + begun, head, n_head);
    w->n += n_head;
}

void evl_pb_writer_free(evl_pb_writer *w)
{
    evl_release(w->ctx->memory, w->data);
    w->data = NULL;
    w->n = w->capacity = 0;
}
