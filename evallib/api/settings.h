/* settings.h - what Init and CreateNetwork may say, read from configuration text. */
#ifndef EVL_API_SETTINGS_H
#define EVL_API_SETTINGS_H
#include "config/config.h"

typedef struct evl_texts {
    const char **items;
    size_t n;
} evl_texts;

enum { EVL_KERNELS_BASE, EVL_KERNELS_AVX2, EVL_KERNELS_AVX512, EVL_KERNELS_AUTO };

typedef struct evl_settings {
    const char *model_path;        /* NULL: none */
    const evl_config *description; /* NULL: none; else it holds NDLNetworkBuilder */
    evl_texts outputs;             /* outputNodeNames */
    evl_texts plugins;             /* paths, or names that are looked for in */
    evl_texts plugin_folders;      /* pluginPath */
    int64_t threads;               /* numCPUThreads: 0 and negative count from all processors */
    int64_t spin_us;               /* spinMicroseconds */
    int64_t plans;                 /* planCacheSize */
    bool may_map;                  /* mapFile */
    bool saves_simplified;         /* saveSimplified */
    bool is_strict;                /* strict: unknown keys are errors */
    const char *blas;              /* "auto", "off" or a path */
    int64_t accuracy;              /* accuracy: "exact" 0, "normal" 1, "fast" 2 */
    int64_t kernels;               /* kernels: EVL_KERNELS_... */
    evl_limits limits;             /* maxTensorBytes, maxNodes, maxDepth, maxTrips */
    int64_t most_memory;           /* maxMemory: bytes; 0: no cap */
} evl_settings;

/* Texts live as long as the configuration. */
EVL_MUST_USE EvalStatus evl_settings_read(evl_context *, const evl_config *, evl_settings *);
#endif
