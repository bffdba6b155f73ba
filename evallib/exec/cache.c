#include "exec/cache.h"
#include "ir/nested.h"
#include <string.h>

EvalStatus evl_plan_cache_start(evl_context *ctx, evl_plan_cache *cache)
{
    cache->lock = evl_mutex_new(ctx->memory);
    cache->building = evl_mutex_new(ctx->memory);
    return cache->lock && cache->building ? EVAL_OK : evl_no_memory(ctx);
}

static void free_entry(evl_cached_plan *entry)
{
    if (entry->plan) {
        evl_session_drop_idle(entry->plan);
        evl_plan_free(entry->plan);
    }
    evl_arena_free(entry->arena);
}

void evl_plan_cache_end(evl_plan_cache *cache)
{
    for (evl_cached_plan *e = cache->newest, *next; e; e = next) {
        next = e->next;
        free_entry(e);
    }
    evl_mutex_free(cache->lock);
    evl_mutex_free(cache->building);
    *cache = (evl_plan_cache){ 0 };
}

static bool is_same(const evl_selection *a, const evl_selection *b)
{
    if (a->n_given != b->n_given || a->n_asked != b->n_asked)
        return false;
    for (size_t i = 0; i < a->n_asked; i++)
        if (a->asked[i] != b->asked[i])
            return false;
    for (size_t i = 0; i < a->n_given; i++)
        if (a->given[i] != b->given[i] || !evl_type_equal(&a->given_t[i], &b->given_t[i]) ||
            !evl_shape_equal(&a->given_t[i].shape, &b->given_t[i].shape))
            return false;
    return true;
}

/* The plan of that key, moved to the front and counted as used; NULL: not there. */
static evl_cached_plan *find(evl_plan_cache *cache, const evl_selection *key)
{
    evl_mutex_lock(cache->lock);
    evl_cached_plan **at = &cache->newest, *e;
    while ((e = *at) && !is_same(&e->key, key))
        at = &e->next;
    if (e) {
        *at = e->next;
        e->next = cache->newest;
        cache->newest = e;
        e->users++;
    }
    evl_mutex_unlock(cache->lock);
    return e;
}

static bool copy_array(evl_arena *arena, const void *from, size_t n, size_t each, const void **to)
{
    void *copy = evl_arena_take_many(arena, n + 1, each);
    if (copy && n)
        memcpy(copy, from, n * each);
    *to = copy;
    return copy;
}

static bool copy_key(evl_arena *arena, const evl_selection *from, evl_selection *to)
{
    const void *given, *given_t, *asked;
    *to = *from;
    if (!copy_array(arena, from->given, from->n_given, sizeof *from->given, &given) ||
        !copy_array(arena, from->given_t, from->n_given, sizeof *from->given_t, &given_t) ||
        !copy_array(arena, from->asked, from->n_asked, sizeof *from->asked, &asked))
        return false;
    to->given = given;
    to->given_t = given_t;
    to->asked = asked;
    return true;
}

static EvalStatus build(evl_context *ctx, evl_plan_cache *cache, const evl_selection *key,
                        evl_cached_plan **entry)
{
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_cached_plan *e = arena ? evl_arena_take(arena, sizeof *e) : NULL;
    if (!e || !copy_key(arena, key, &e->key)) {
        evl_arena_free(arena);
        return evl_no_memory(ctx);
    }
    e->arena = arena;
    EvalStatus st = evl_compile(ctx, cache->graph, &cache->env, key, &e->plan);
    if (st != EVAL_OK) {
        evl_arena_free(arena);
        return st;
    }
    *entry = e;
    return EVAL_OK;
}

/* Takes the oldest plans out of the list until `most` are left; those that nobody uses
** are given back as a list. */
static evl_cached_plan *push_out(evl_plan_cache *cache)
{
    size_t n = 0;
    evl_cached_plan **at = &cache->newest, *out = NULL;
    while (*at && n < cache->most) {
        at = &(*at)->next;
        n++;
    }
    evl_cached_plan *old = *at;
    *at = NULL;
    for (evl_cached_plan *next; old; old = next) {
        next = old->next;
        old->next = NULL;
        if (--old->users)
            continue;
        old->next = out;
        out = old;
    }
    return out;
}

static void insert(evl_plan_cache *cache, evl_cached_plan *e)
{
    evl_mutex_lock(cache->lock);
    e->users = 2; /* the cache and the run that built it */
    e->next = cache->newest;
    cache->newest = e;
    if (e->plan->block_bytes > cache->largest_block)
        cache->largest_block = e->plan->block_bytes;
    evl_cached_plan *out = push_out(cache);
    evl_mutex_unlock(cache->lock);
    for (evl_cached_plan *next; out; out = next) {
        next = out->next;
        free_entry(out);
    }
}

EvalStatus evl_plan_cache_get(evl_context *ctx, evl_plan_cache *cache, const evl_selection *key,
                              evl_cached_plan **entry)
{
    EvalStatus st = EVAL_OK;
    *entry = find(cache, key);
    if (*entry)
        return EVAL_OK;
    evl_mutex_lock(cache->building);
    *entry = find(cache, key); /* another run may have built it meanwhile */
    if (!*entry) {
        st = build(ctx, cache, key, entry);
        if (st == EVAL_OK)
            insert(cache, *entry);
    }
    evl_mutex_unlock(cache->building);
    return st;
}

void evl_plan_cache_release(evl_plan_cache *cache, evl_cached_plan *e)
{
    evl_mutex_lock(cache->lock);
    bool is_last = --e->users == 0;
    evl_mutex_unlock(cache->lock);
    if (is_last)
        free_entry(e);
}
