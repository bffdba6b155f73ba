/* arena.h - memory that is given back all at once.
**
** A graph and a plan own one arena each; whatever they point to lives there. So a
** reader that fails half way frees nothing by hand: the owner drops the arena. */
#ifndef EVL_BASE_ARENA_H
#define EVL_BASE_ARENA_H
#include "base/memory.h"

typedef struct evl_arena evl_arena;

evl_arena *evl_arena_new(evl_memory *);                       /* NULL: no memory */
void *evl_arena_take(evl_arena *, size_t bytes);              /* zeroed, EVL_ALIGNMENT from 64 bytes
                                                                 on, else 16; NULL as above */
void *evl_arena_take_many(evl_arena *, size_t n, size_t each); /* the product is checked */
char *evl_arena_text(evl_arena *, const char *, size_t n);    /* a copy, ended by '\0' */
char *evl_arena_blank(evl_arena *, size_t n);                 /* room for a text and its '\0', zeroed */

/* items with room for one more: itself, or a larger copy (doubled). *capacity is
** updated. NULL: no memory, and items stays good. */
void *evl_arena_grow(evl_arena *, void *items, size_t n, size_t *capacity, size_t each);

bool evl_arena_is_empty(const evl_arena *);                   /* nothing taken since a reset */
evl_memory *evl_arena_memory(const evl_arena *);
void evl_arena_reset(evl_arena *);                            /* empty again; keeps its blocks */
void evl_arena_free(evl_arena *);                             /* NULL is allowed */
#endif
