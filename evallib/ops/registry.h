/* registry.h - operators beside the built-in ones: those of a model's plug-ins.
**
** A descriptor is a descriptor: once it stands here nothing tells it from a built-in one, in
** whose place it comes when it has the same name. */
#ifndef EVL_OPS_REGISTRY_H
#define EVL_OPS_REGISTRY_H
#include "ir/op.h"

typedef struct evl_registry {
    const evl_op *const *ops; /* the last of one name counts */
    size_t n;
} evl_registry;

/* Here, else among the built-in ones; NULL: no such operator. The registry may be NULL. */
const evl_op *evl_registry_find(const evl_registry *, const char *domain, const char *name);

/* Numbers what nodes carry along a sequence, in bodies too, after the graph's other states.
** False: no memory. */
bool evl_registry_carry(evl_graph *);

/* Puts the registry's operators in the place of those of the same name, in bodies too. */
void evl_registry_replace(const evl_registry *, evl_graph *);
#endif
