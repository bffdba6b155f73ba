/* bytes.h - a bounded cursor over bytes from outside.
**
** Nothing else in the library reads them, so nothing else can read past them. All
** numbers are little-endian and may be unaligned. A read that does not fit gives
** false, leaves the cursor and sets nothing. */
#ifndef EVL_BASE_BYTES_H
#define EVL_BASE_BYTES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct evl_bytes {
    const uint8_t *data;
    size_t size, at;
} evl_bytes;

evl_bytes evl_bytes_of(const void *data, size_t size);
size_t evl_bytes_left(const evl_bytes *);
bool evl_bytes_u8(evl_bytes *, uint8_t *);
bool evl_bytes_u16(evl_bytes *, uint16_t *);
bool evl_bytes_u32(evl_bytes *, uint32_t *);
bool evl_bytes_u64(evl_bytes *, uint64_t *);
bool evl_bytes_i32(evl_bytes *, int32_t *);
/* Of 1 to EVL_VARINT_BYTES bytes, 7 bits each, the lowest first. */
enum { EVL_VARINT_BYTES = 10 };
bool evl_bytes_varint(evl_bytes *, uint64_t *);
bool evl_bytes_take(evl_bytes *, size_t n, size_t each, const void **start); /* n * each bytes */
bool evl_bytes_skip(evl_bytes *, size_t n);

/* A little-endian element at an unaligned place that is known to be there. */
uint16_t evl_load_u16(const void *);
uint32_t evl_load_u32(const void *);
uint64_t evl_load_u64(const void *);
float evl_load_f32(const void *);
double evl_load_f64(const void *);
bool evl_is_little_endian(void);
#endif
