/* model.h - a network loaded: shared, unchanged, by an object, its clones and its runs. */
#ifndef EVL_API_MODEL_H
#define EVL_API_MODEL_H
#include "api/settings.h"
#include "exec/cache.h"
#include "plugin/plugin.h"
#include "readers/readers.h"

typedef struct evl_model {
    atomic_size_t users;
    evl_memory *memory;
    evl_arena *arena;        /* of the graph, the settings, this struct */
    evl_settings settings;
    evl_file file;
    evl_external external;
    evl_graph *graph;
    evl_machine machine;
    evl_blas blas;
    evl_store *store;
    evl_plan_cache plans;
    evl_plugins plugins;
} evl_model;

/* Those that a model is to be loaded with, in order. */
typedef struct evl_plugin_list {
    evl_plugin **items;
    size_t n, capacity;
} evl_plugin_list;

/* Nothing of the settings is needed afterwards; of the source, bytes that lie in memory are. */
EVL_MUST_USE EvalStatus evl_model_load(evl_context *, evl_precision, const evl_settings *,
                                       const evl_source *, const evl_plugin_list *, evl_model **);
evl_model *evl_model_use(evl_model *);
void evl_model_release(evl_model *); /* NULL is allowed */
#endif
