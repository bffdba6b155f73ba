/* memory.h - every byte the library holds comes from an evl_memory.
**
** One belongs to a model and its clones. It counts what is held, so that a user
** sees what a model costs and a test sees a leak; it refuses what goes over its
** cap; and the functions underneath can be the user's. Blocks know their size. */
#ifndef EVL_BASE_MEMORY_H
#define EVL_BASE_MEMORY_H
#include "evallib/eval.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { EVL_ALIGNMENT = 64 }; /* of every block: a cache line, the widest vector */

typedef struct evl_memory {
    EvalAllocator from;
    atomic_size_t cap; /* 0: none */
    atomic_size_t bytes, peak_bytes, blocks, calls, mapped_bytes;
} evl_memory;

/* NULL: malloc. The struct is copied. */
void evl_memory_init(evl_memory *, const EvalAllocator *, size_t cap);

void *evl_allocate(evl_memory *, size_t bytes);       /* NULL: no memory; not zeroed */
void *evl_allocate_zeroed(evl_memory *, size_t bytes);
void evl_release(evl_memory *, void *block);          /* NULL is allowed */

/* Products and sums of sizes from outside: false when they do not fit. */
bool evl_size_multiply(size_t a, size_t b, size_t *product);
bool evl_size_add(size_t a, size_t b, size_t *sum);
#endif
