/* Making graphs, and finding things in them by name. */
#include "ir/graph.h"
#include "base/text.h"
#include "ir/op.h"
#include <string.h>

evl_graph *evl_graph_new(evl_arena *arena, evl_graph *outer)
{
    evl_graph *g = evl_arena_take(arena, sizeof *g);
    if (!g)
        return NULL;
    g->arena = arena;
    g->outer = outer;
    g->names = evl_map_new(arena);
    return g->names ? g : NULL;
}

/* items with one more at its end; false: no memory. */
static bool append(evl_arena *arena, void *items, size_t *n, size_t *capacity, const void *item)
{
    void **array = items; /* the address of an array of pointers */
    void *grown = evl_arena_grow(arena, *array, *n, capacity, sizeof(void *));
    if (!grown)
        return false;
    memcpy((char *)grown + *n * sizeof(void *), &item, sizeof(void *));
    *array = grown;
    *n += 1;
    return true;
}

static const char *copied(evl_arena *arena, const char *name)
{
    return name && *name ? evl_arena_text(arena, name, strlen(name)) : "";
}

evl_value *evl_graph_value(evl_graph *g, const char *name)
{
    evl_value *v = evl_arena_take(g->arena, sizeof *v);
    if (!v || !(v->name = copied(g->arena, name)))
        return NULL;
    v->graph = g;
    v->index = g->n_values;
    v->t.shape = evl_shape_unknown();
    if (*v->name && !evl_map_set(g->names, v->name, strlen(v->name), v->index))
        return NULL;
    return append(g->arena, &g->values, &g->n_values, &g->value_capacity, v) ? v : NULL;
}

evl_value *evl_graph_constant(evl_graph *g, const char *name, EvalType type, const evl_shape *shape,
                              void *data)
{
    evl_value *v = evl_graph_value(g, name);
    if (v) {
        v->t = (evl_tensor){
            .type = type, .life = EVL_LIFE_MODEL, .shape = *shape, .data = data
        };
        v->is_constant = true;
    }
    return v;
}

bool evl_graph_add_input(evl_graph *g, evl_value *v)
{
    v->is_input = true;
    return append(g->arena, &g->inputs, &g->n_inputs, &g->input_capacity, v);
}

bool evl_graph_add_output(evl_graph *g, evl_value *v)
{
    return append(g->arena, &g->outputs, &g->n_outputs, &g->output_capacity, v);
}

bool evl_graph_add_metadata(evl_graph *g, const char *key, const char *value)
{
    evl_metadata *all =
        evl_arena_grow(g->arena, g->metadata, g->n_metadata, &g->metadata_capacity, sizeof *all);
    if (!all)
        return false;
    g->metadata = all;
    evl_metadata *m = &all[g->n_metadata];
    m->key = copied(g->arena, key);
    m->value = copied(g->arena, value);
    g->n_metadata++;
    return m->key && m->value;
}

evl_node *evl_graph_node(evl_graph *g, const evl_op *op, const char *name, size_t n_inputs,
                         size_t n_outputs)
{
    evl_node *node = evl_arena_take(g->arena, sizeof *node);
    if (!node || !(node->name = copied(g->arena, name)))
        return NULL;
    node->op = op;
    node->version = EVL_NEWEST;
    node->graph = g;
    node->index = g->n_nodes;
    node->n_inputs = n_inputs;
    node->n_outputs = n_outputs;
    node->inputs = evl_arena_take_many(g->arena, n_inputs, sizeof *node->inputs);
    node->outputs = evl_arena_take_many(g->arena, n_outputs, sizeof *node->outputs);
    if ((n_inputs && !node->inputs) || (n_outputs && !node->outputs))
        return NULL;
    return append(g->arena, &g->nodes, &g->n_nodes, &g->node_capacity, node) ? node : NULL;
}

void evl_node_output(evl_node *node, size_t output, evl_value *v)
{
    node->outputs[output] = v;
    v->producer = node;
    v->output = output;
}

bool evl_node_attributes(evl_node *node, const evl_attribute *attributes, size_t n)
{
    evl_attribute *copy = evl_arena_take_many(node->graph->arena, n, sizeof *copy);
    if (n && !copy)
        return false;
    if (n)
        memcpy(copy, attributes, n * sizeof *copy);
    node->attributes = copy;
    node->n_attributes = n;
    return true;
}

bool evl_graph_append(evl_graph *g, evl_node *node)
{
    node->graph = g;
    node->index = g->n_nodes;
    return append(g->arena, &g->nodes, &g->n_nodes, &g->node_capacity, node);
}

bool evl_graph_adopt(evl_graph *g, evl_graph *body)
{
    for (size_t i = 0; i < body->n_values; i++) {
        evl_value *v = body->values[i];
        v->graph = g;
        v->index = g->n_values;
        if (!append(g->arena, &g->values, &g->n_values, &g->value_capacity, v))
            return false;
    }
    body->n_values = 0;
    return true;
}

evl_value *evl_value_final(evl_value *v)
{
    while (v && v->replaced_by)
        v = v->replaced_by;
    return v;
}

evl_value *evl_graph_find(const evl_graph *g, const char *name, size_t n)
{
    size_t index;
    do {
        if (evl_map_get(g->names, name, n, &index))
            return g->values[index];
    } while ((g = g->outer));
    return NULL;
}

evl_value *evl_graph_find_node(const evl_graph *g, const char *name)
{
    evl_value *v = evl_graph_find(g, name, strlen(name));
    for (size_t i = 0; i < g->n_nodes && *name && !v; i++)
        if (g->nodes[i]->n_outputs && strcmp(g->nodes[i]->name, name) == 0)
            v = g->nodes[i]->outputs[0];
    return v;
}

enum { MOST_EDITS = 3, MOST_NEAR = 8 };

static void list(evl_context *ctx, const char *what, evl_value *const *values, size_t n)
{
    if (n)
        evl_fail_more(ctx, "%s", what);
    for (size_t i = 0; i < n && i < MOST_NEAR; i++)
        evl_fail_more(ctx, "\n%s", values[i]->name);
}

EvalStatus evl_graph_not_found(evl_context *ctx, const evl_graph *g, const char *name)
{
    size_t listed = 0;
    evl_fail(ctx, EVAL_ERR_NOT_FOUND, "the network has no node '%s'", name);
    for (size_t edits = 0; edits <= MOST_EDITS; edits++)
        for (size_t i = 0; i < g->n_values && listed < MOST_NEAR; i++) {
            const char *other = g->values[i]->name;
            if (!*other || evl_text_distance(name, other, MOST_EDITS) != edits)
                continue;
            evl_fail_more(ctx, "%s%s", listed++ ? "\n" : "; near names:\n", other);
        }
    if (listed)
        return EVAL_ERR_NOT_FOUND;
    list(ctx, "\nits inputs:", g->inputs, g->n_inputs);
    list(ctx, "\nits outputs:", g->outputs, g->n_outputs);
    return EVAL_ERR_NOT_FOUND;
}

const char *evl_node_name(const evl_node *node)
{
    bool is_output = !*node->name && node->n_outputs && node->outputs[0];
    return is_output ? node->outputs[0]->name : node->name;
}

EvalStatus evl_node_failed(evl_context *ctx, const evl_node *node, EvalStatus st)
{
    evl_fail_at(ctx, "node '%s' (%s): ", evl_node_name(node), node->op->name);
    return st;
}
