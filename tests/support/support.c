#include "support/support.h"
#include <stdlib.h>

typedef struct failing_heap {
    size_t requests, failing;
} failing_heap;

static failing_heap heap;

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    failing_heap *h = user;
    if (h->requests++ == h->failing)
        return NULL;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *block, size_t bytes)
{
    (void)user;
    (void)bytes;
    free(block);
}

void evl_test_memory(evl_memory *memory, size_t failing)
{
    EvalAllocator allocator = { sizeof allocator, allocate, release, &heap };
    heap = (failing_heap){ 0, failing };
    evl_memory_init(memory, &allocator, 0);
}

size_t evl_test_requests(const evl_memory *memory)
{
    return ((const failing_heap *)memory->from.user)->requests;
}

evl_arena *evl_test_tight_arena(evl_memory *memory, size_t room)
{
    enum { CHUNK = 64 << 10 };
    evl_test_memory(memory, 2); /* there is one for the arena and one for its chunk */
    evl_arena *arena = evl_arena_new(memory);
    assert_non_null(arena);
    assert_non_null(evl_arena_take(arena, CHUNK - room));
    assert_int_equal(evl_test_requests(memory), 2);
    return arena;
}

static evl_memory test_memory;
static evl_context test_context;

evl_context *evl_test_begin(void)
{
    evl_test_memory(&test_memory, SIZE_MAX);
    evl_context_init(&test_context, &test_memory, &evl_default_limits);
    return &test_context;
}

void evl_test_end(evl_context *ctx)
{
    evl_context_end(ctx);
    assert_int_equal(atomic_load(&ctx->memory->blocks), 0);
    assert_int_equal(atomic_load(&ctx->memory->bytes), 0);
}

double evl_test_random(uint64_t *state, double lo, double hi)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return lo + (hi - lo) * (double)(*state >> 11) / 9007199254740992.0;
}
