/* map.h - from a name to a number. Lives in an arena; names are not copied. Seeded
** with an address, so that a file cannot be made to collide on purpose. */
#ifndef EVL_BASE_MAP_H
#define EVL_BASE_MAP_H
#include "base/arena.h"
#include <stdint.h>

typedef struct evl_map evl_map;

evl_map *evl_map_new(evl_arena *);                                  /* NULL: no memory */
bool evl_map_set(evl_map *, const char *name, size_t n, size_t value); /* false: no memory;
                                                                     a name set again is replaced */
bool evl_map_get(const evl_map *, const char *name, size_t n, size_t *value);
size_t evl_map_count(const evl_map *);
#endif
