/* components.h - which nodes of a directed graph lie on a cycle together. */
#ifndef EVL_READERS_CNTK_COMPONENTS_H
#define EVL_READERS_CNTK_COMPONENTS_H
#include "base/arena.h"

/* Node i points to to[start[i]] .. to[start[i + 1] - 1]. */
typedef struct evl_cntk_edges {
    size_t n;
    const size_t *start, *to;
} evl_cntk_edges;

/* Strongly connected components: component i is nodes[start[i]] .. nodes[start[i + 1] - 1].
** Whatever a component points to comes before it. */
typedef struct evl_cntk_components {
    size_t n;
    size_t *start, *nodes;
} evl_cntk_components;

bool evl_cntk_find_components(evl_arena *, const evl_cntk_edges *,
                              evl_cntk_components *); /* false: no memory */
#endif
