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

static void number_all(evl_graph *top, evl_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i]->op->traits & EVL_OP_CARRIES)
            g->nodes[i]->state = ++top->n_states;
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            number_all(top, evl_node_body(g->nodes[i], b));
    }
}

bool evl_registry_carry(evl_graph *g)
{
    size_t n = g->n_states;
    number_all(g, g);
    if (g->n_states == n || !g->states)
        return true;
    evl_state_info *all = evl_arena_take_many(g->arena, g->n_states, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        all[i] = g->states[i];
    g->states = all;
    return all;
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
