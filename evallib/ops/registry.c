#include "ops/registry.h"
#include "ops/ops.h"
#include <string.h>

static const char *plain(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static const evl_op *find_here(const evl_registry *r, const char *domain, const char *name)
{
    for (size_t i = r ? r->n : 0; i-- > 0;)
        if (strcmp(r->ops[i]->name, name) == 0 &&
            strcmp(plain(r->ops[i]->domain), plain(domain)) == 0)
            return r->ops[i];
    return NULL;
}

const evl_op *evl_registry_find(const evl_registry *r, const char *domain, const char *name)
{
    const evl_op *op = find_here(r, domain, name);
    return op ? op : evl_op_find(domain, name);
}

void evl_registry_replace(const evl_registry *r, evl_graph *g)
{
    if (!r || r->n == 0)
        return;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const evl_op *op = find_here(r, g->nodes[i]->op->domain, g->nodes[i]->op->name);
        if (op)
            g->nodes[i]->op = op;
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            evl_registry_replace(r, evl_node_body(g->nodes[i], b));
    }
}
