/* Drops nodes whose outputs nothing uses, here and in bodies. */
#include "passes/passes.h"

enum { UNUSED, USED };

static void use_all(evl_value *const *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (values[i])
            evl_value_final(values[i])->slot = USED;
}

static void forget(evl_graph *g)
{
    for (size_t i = 0; i < g->n_values; i++)
        g->values[i]->slot = UNUSED;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            forget(evl_node_body(g->nodes[i], b));
}

static bool is_used(const evl_node *node)
{
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i] && node->outputs[i]->slot == USED)
            return true;
    return false;
}

static void keep_used(evl_graph *g)
{
    size_t kept = g->n_nodes, first;
    use_all(g->outputs, g->n_outputs);
    for (size_t i = g->n_nodes; i-- > 0;) {
        evl_node *node = g->nodes[i];
        if (!is_used(node))
            continue;
        use_all(node->inputs, node->n_inputs);
        for (size_t b = 0; evl_node_body(node, b); b++)
            keep_used(evl_node_body(node, b)); /* marks what the body captures */
        g->nodes[--kept] = node;
    }
    first = kept;
    for (size_t i = first; i < g->n_nodes; i++) {
        g->nodes[i - first] = g->nodes[i];
        g->nodes[i - first]->index = i - first;
    }
    g->n_nodes -= first;
}

EvalStatus evl_pass_dead(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    (void)ctx;
    (void)env;
    forget(graph);
    keep_used(graph);
    return EVAL_OK;
}
