/* cache.h - the plans of a model that were needed last, by what was asked and given.
**
** Runs look plans up at the same time; a plan is built once, by the first that needs
** it. One that is pushed out lives until the runs that use it end. */
#ifndef EVL_EXEC_CACHE_H
#define EVL_EXEC_CACHE_H
#include "exec/exec.h"

typedef struct evl_cached_plan {
    evl_plan *plan;
    size_t users;                  /* runs, and the cache itself */
    evl_arena *arena;              /* of this entry and its key */
    evl_selection key;
    struct evl_cached_plan *next;  /* the one used before it */
} evl_cached_plan;

typedef struct evl_plan_cache {
    const evl_graph *graph;
    evl_pass_env env;
    size_t most;                   /* plans kept */
    evl_mutex *lock, *building;
    evl_cached_plan *newest;
    size_t largest_block;          /* bytes, of all plans so far */
} evl_plan_cache;

EVL_MUST_USE EvalStatus evl_plan_cache_start(evl_context *, evl_plan_cache *);
void evl_plan_cache_end(evl_plan_cache *); /* no run may use a plan any more */
EVL_MUST_USE EvalStatus evl_plan_cache_get(evl_context *, evl_plan_cache *, const evl_selection *,
                                           evl_cached_plan **);
void evl_plan_cache_release(evl_plan_cache *, evl_cached_plan *);
#endif
