/* map.c - open addressing with linear probing, at most three quarters full. */
#include "base/map.h"
#include "base/bytes.h"
#include <string.h>

enum { FIRST_CAPACITY = 16 };

typedef struct entry {
    const char *name; /* NULL: free */
    size_t n, value;
    uint64_t hash;
} entry;

struct evl_map {
    evl_arena *arena;
    entry *entries;
    size_t count, capacity; /* a power of two */
    uint64_t seed;
};

/* The multiplication makes each step depend on the seed, so that two names that collide under
** one seed do not under the next. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(uint64_t seed, const char *name, size_t n)
{
    uint64_t hash = mix(seed, n);
    for (; n >= 8; n -= 8, name += 8)
        hash = mix(hash, evl_load_u64(name));
    for (; n; n--, name++)
        hash = mix(hash, (unsigned char)*name);
    return mix(hash, seed);
}

evl_map *evl_map_new(evl_arena *arena)
{
    evl_map *map = evl_arena_take(arena, sizeof *map);
    entry *entries = evl_arena_take_many(arena, FIRST_CAPACITY, sizeof *entries);
    if (!map || !entries)
        return NULL;
    *map = (evl_map){ arena, entries, 0, FIRST_CAPACITY, (uintptr_t)map };
    return map;
}

/* The entry of that name, or the free one where it belongs. */
static entry *find(entry *entries, size_t capacity, const entry *wanted)
{
    size_t i = wanted->hash & (capacity - 1);
    for (; entries[i].name; i = (i + 1) & (capacity - 1))
        if (entries[i].hash == wanted->hash && entries[i].n == wanted->n &&
            memcmp(entries[i].name, wanted->name, wanted->n) == 0)
            break;
    return &entries[i];
}

static bool grow(evl_map *map)
{
    size_t capacity = map->capacity * 2;
    entry *entries = evl_arena_take_many(map->arena, capacity, sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].name)
            *find(entries, capacity, &map->entries[i]) = map->entries[i];
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

static entry entry_of(const evl_map *map, const char *name, size_t n)
{
    return (entry){ .name = n ? name : "", .n = n, .hash = hash_of(map->seed, name, n) };
}

bool evl_map_set(evl_map *map, const char *name, size_t n, size_t value)
{
    if (map->count >= map->capacity / 4 * 3 && !grow(map))
        return false;
    entry wanted = entry_of(map, name, n);
    entry *there = find(map->entries, map->capacity, &wanted);
    map->count += !there->name;
    wanted.value = value;
    *there = wanted;
    return true;
}

bool evl_map_get(const evl_map *map, const char *name, size_t n, size_t *value)
{
    entry wanted = entry_of(map, name, n);
    const entry *there = find(map->entries, map->capacity, &wanted);
    if (!there->name)
        return false;
    *value = there->value;
    return true;
}

size_t evl_map_count(const evl_map *map)
{
    return map->count;
}
