/* memory.c - blocks that know their size, counted and capped.
**
** A header of EVL_ALIGNMENT bytes before each block holds the size of both, so that
** the caller's release function is told what its allocate function was asked for. */
#include "base/memory.h"
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* errno is the caller's: malloc may set it, a library that answers with a status must not. gcc
** believes, under -fno-math-errno, that malloc leaves it alone, hence volatile. */
static void *system_allocate(void *user, size_t bytes, size_t alignment)
{
    volatile int found = errno;
    size_t rounded;
    void *block = NULL;
    (void)user;
    if (evl_size_add(bytes, alignment - 1, &rounded))
        block = aligned_alloc(alignment, rounded / alignment * alignment);
    errno = found;
    return block;
}

static void system_release(void *user, void *block, size_t bytes)
{
    volatile int found = errno;
    (void)user;
    (void)bytes;
    free(block);
    errno = found;
}

void evl_memory_init(evl_memory *memory, const EvalAllocator *from, size_t cap)
{
    memory->from =
        from ? *from
             : (EvalAllocator){ sizeof(EvalAllocator), system_allocate, system_release, NULL };
    atomic_init(&memory->cap, cap);
    atomic_init(&memory->bytes, 0);
    atomic_init(&memory->peak_bytes, 0);
    atomic_init(&memory->blocks, 0);
    atomic_init(&memory->calls, 0);
    atomic_init(&memory->mapped_bytes, 0);
}

/* The bytes are claimed before they are asked for, so that threads together cannot pass the cap. */
static bool claim(evl_memory *memory, size_t bytes)
{
    size_t held = atomic_fetch_add(&memory->bytes, bytes) + bytes, cap = atomic_load(&memory->cap);
    if (held < bytes || (cap && held > cap)) {
        atomic_fetch_sub(&memory->bytes, bytes);
        return false;
    }
    return true;
}

static void note_peak(evl_memory *memory)
{
    size_t held = atomic_load(&memory->bytes), peak = atomic_load(&memory->peak_bytes);
    while (peak < held && !atomic_compare_exchange_weak(&memory->peak_bytes, &peak, held))
        ;
}

void *evl_allocate(evl_memory *memory, size_t bytes)
{
    size_t total;
    if (!evl_size_add(bytes, EVL_ALIGNMENT, &total) || total > PTRDIFF_MAX || !claim(memory, total))
        return NULL;
    atomic_fetch_add(&memory->calls, 1);
    char *block = memory->from.allocate(memory->from.user, total, EVL_ALIGNMENT);
    if (!block) {
        atomic_fetch_sub(&memory->bytes, total);
        return NULL;
    }
    note_peak(memory);
    atomic_fetch_add(&memory->blocks, 1);
    memcpy(block, &total, sizeof total);
    return block + EVL_ALIGNMENT;
}

void *evl_allocate_zeroed(evl_memory *memory, size_t bytes)
{
    void *block = evl_allocate(memory, bytes);
    return block ? memset(block, 0, bytes) : NULL;
}

void evl_release(evl_memory *memory, void *block)
{
    size_t total;
    if (!block)
        return;
    block = (char *)block - EVL_ALIGNMENT;
    memcpy(&total, block, sizeof total);
    memory->from.release(memory->from.user, block, total);
    atomic_fetch_sub(&memory->bytes, total);
    atomic_fetch_sub(&memory->blocks, 1);
}

bool evl_size_multiply(size_t a, size_t b, size_t *product)
{
    if (b && a > SIZE_MAX / b)
        return false;
    *product = a * b;
    return true;
}

bool evl_size_add(size_t a, size_t b, size_t *sum)
{
    if (a > SIZE_MAX - b)
        return false;
    *sum = a + b;
    return true;
}
