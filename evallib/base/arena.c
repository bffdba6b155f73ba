/* arena.c - chunks that double in size; pieces are cut from the current one.
**
** The list runs from `first`. Chunks from `current` on may have room, those before it
** are taken to be full: that is where a request too big to share gets its own. */
#include "base/arena.h"
#include <stdint.h>
#include <string.h>

enum { FIRST_CHUNK = 4 << 10, LARGEST_CHUNK = 4 << 20, OWN_CHUNK = 1 << 20 };

typedef struct chunk {
    struct chunk *next;
    size_t size, used; /* of what follows the header */
} chunk;

struct evl_arena {
    evl_memory *memory;
    chunk *first, *current;
    size_t next_size;
};

evl_arena *evl_arena_new(evl_memory *memory)
{
    evl_arena *arena = evl_allocate_zeroed(memory, sizeof *arena);
    if (!arena)
        return NULL;
    arena->memory = memory;
    arena->next_size = FIRST_CHUNK;
    return arena;
}

/* The header fills a whole EVL_ALIGNMENT, which keeps what follows aligned. */
static chunk *chunk_new(evl_memory *memory, size_t size)
{
    size_t total;
    if (!evl_size_add(size, EVL_ALIGNMENT, &total))
        return NULL;
    chunk *c = evl_allocate(memory, total);
    if (!c)
        return NULL;
    *c = (chunk){ NULL, size, 0 };
    return c;
}

static size_t rounded_up(size_t n, size_t alignment)
{
    return (n + alignment - 1) / alignment * alignment;
}

static void *cut(chunk *c, size_t bytes, size_t alignment)
{
    size_t start = rounded_up(c->used, alignment);
    if (start > c->size || bytes > c->size - start)
        return NULL;
    c->used = start + bytes;
    return (char *)c + EVL_ALIGNMENT + start;
}

static void *take_own(evl_arena *arena, size_t bytes)
{
    chunk *c = chunk_new(arena->memory, bytes);
    if (!c)
        return NULL;
    c->next = arena->first;
    arena->first = c;
    if (!arena->current)
        arena->current = c;
    return cut(c, bytes, EVL_ALIGNMENT);
}

static void *take_from_new(evl_arena *arena, size_t bytes, size_t alignment)
{
    while (arena->next_size < bytes)
        arena->next_size *= 2;
    chunk *c = chunk_new(arena->memory, arena->next_size);
    if (!c)
        return NULL;
    if (arena->next_size < LARGEST_CHUNK)
        arena->next_size *= 2;
    chunk **link = arena->current ? &arena->current->next : &arena->first;
    while (*link)
        link = &(*link)->next;
    *link = c;
    arena->current = c;
    return cut(c, bytes, alignment);
}

/* A small request moves `current` on; a big one leaves the room it passed over to others. */
static void *take(evl_arena *arena, size_t bytes, size_t alignment)
{
    for (chunk *c = arena->current; c; c = c->next) {
        void *piece = cut(c, bytes, alignment);
        if (piece && bytes < OWN_CHUNK)
            arena->current = c;
        if (piece)
            return piece;
    }
    return bytes < OWN_CHUNK ? take_from_new(arena, bytes, alignment) : take_own(arena, bytes);
}

void *evl_arena_take(evl_arena *arena, size_t bytes)
{
    size_t alignment = bytes < EVL_ALIGNMENT ? 16 : EVL_ALIGNMENT;
    void *piece = take(arena, bytes ? bytes : 1, alignment);
    return piece ? memset(piece, 0, bytes) : NULL;
}

void *evl_arena_take_many(evl_arena *arena, size_t n, size_t each)
{
    size_t bytes;
    return evl_size_multiply(n, each, &bytes) ? evl_arena_take(arena, bytes) : NULL;
}

char *evl_arena_blank(evl_arena *arena, size_t n)
{
    size_t bytes;
    return evl_size_add(n, 1, &bytes) ? evl_arena_take(arena, bytes) : NULL;
}

char *evl_arena_text(evl_arena *arena, const char *text, size_t n)
{
    char *copy = evl_arena_blank(arena, n);
    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

void *evl_arena_grow(evl_arena *arena, void *items, size_t n, size_t *capacity, size_t each)
{
    size_t larger;
    if (n < *capacity)
        return items;
    if (!evl_size_multiply(*capacity ? *capacity : 4, 2, &larger))
        return NULL;
    void *copy = evl_arena_take_many(arena, larger, each);
    if (!copy)
        return NULL;
    if (n)
        memcpy(copy, items, n * each);
    *capacity = larger;
    return copy;
}

bool evl_arena_is_empty(const evl_arena *arena)
{
    for (const chunk *c = arena->first; c; c = c->next)
        if (c->used)
            return false;
    return true;
}

evl_memory *evl_arena_memory(const evl_arena *arena)
{
    return arena->memory;
}

void evl_arena_reset(evl_arena *arena)
{
    for (chunk *c = arena->first; c; c = c->next)
        c->used = 0;
    arena->current = arena->first;
}

void evl_arena_free(evl_arena *arena)
{
    if (!arena)
        return;
    for (chunk *c = arena->first, *next; c; c = next) {
        next = c->next;
        evl_release(arena->memory, c);
    }
    evl_release(arena->memory, arena);
}
