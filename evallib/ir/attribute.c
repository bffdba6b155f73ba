/* Attributes of a node: made by readers and passes, looked up by operators. */
#include "ir/graph.h"
#include <string.h>

const evl_attribute *evl_node_attribute(const evl_node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attributes; i++)
        if (strcmp(node->attributes[i].name, name) == 0)
            return &node->attributes[i];
    return NULL;
}

static const evl_attribute *of_kind(const evl_node *node, const char *name, evl_attribute_kind kind)
{
    const evl_attribute *a = evl_node_attribute(node, name);
    return a && a->kind == kind ? a : NULL;
}

int64_t evl_node_int(const evl_node *node, const char *name, int64_t fallback)
{
    const evl_attribute *a = of_kind(node, name, EVL_ATTRIBUTE_INT);
    return a ? a->u.i : fallback;
}

double evl_node_number(const evl_node *node, const char *name, double fallback)
{
    const evl_attribute *a = of_kind(node, name, EVL_ATTRIBUTE_NUMBER);
    return a ? a->u.number : fallback;
}

const char *evl_node_text(const evl_node *node, const char *name, const char *fallback)
{
    const evl_attribute *a = of_kind(node, name, EVL_ATTRIBUTE_TEXT);
    return a ? a->u.text.text : fallback;
}

const int64_t *evl_node_ints(const evl_node *node, const char *name, size_t *n)
{
    const evl_attribute *a = of_kind(node, name, EVL_ATTRIBUTE_INTS);
    *n = a ? a->n : 0;
    return a ? a->u.ints : NULL;
}

const double *evl_node_numbers(const evl_node *node, const char *name, size_t *n)
{
    const evl_attribute *a = of_kind(node, name, EVL_ATTRIBUTE_NUMBERS);
    *n = a ? a->n : 0;
    return a ? a->u.numbers : NULL;
}

evl_graph *evl_node_graph(const evl_node *node, const char *name)
{
    const evl_attribute *a = of_kind(node, name, EVL_ATTRIBUTE_GRAPH);
    return a ? a->u.graph : NULL;
}

evl_graph *evl_node_body(const evl_node *node, size_t index)
{
    for (size_t i = 0; i < node->n_attributes; i++) {
        const evl_attribute *a = &node->attributes[i];
        size_t n = a->kind == EVL_ATTRIBUTE_GRAPH ? 1 : a->kind == EVL_ATTRIBUTE_GRAPHS ? a->n : 0;
        if (index < n)
            return a->kind == EVL_ATTRIBUTE_GRAPH ? a->u.graph : a->u.graphs[index];
        index -= n;
    }
    return NULL;
}

bool evl_node_set_body(evl_node *node, const char *attribute, evl_graph *body)
{
    evl_attribute *all = evl_arena_take_many(node->graph->arena, node->n_attributes, sizeof *all);
    if (!all)
        return node->n_attributes == 0;
    for (size_t i = 0; i < node->n_attributes; i++) {
        all[i] = node->attributes[i];
        if (strcmp(all[i].name, attribute) == 0 && all[i].kind == EVL_ATTRIBUTE_GRAPH)
            all[i].u.graph = body;
    }
    node->attributes = all;
    return true;
}

evl_attribute evl_attribute_int(const char *name, int64_t i)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_INT, .u.i = i };
}

evl_attribute evl_attribute_number(const char *name, double number)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_NUMBER, .u.number = number };
}

evl_attribute evl_attribute_text(const char *name, const char *text)
{
    return (evl_attribute){ .name = name,
                            .kind = EVL_ATTRIBUTE_TEXT,
                            .u.text = { text, strlen(text) } };
}

evl_attribute evl_attribute_ints(const char *name, const int64_t *ints, size_t n)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_INTS, .n = n, .u.ints = ints };
}

evl_attribute evl_attribute_numbers(const char *name, const double *numbers, size_t n)
{
    return (evl_attribute){
        .name = name, .kind = EVL_ATTRIBUTE_NUMBERS, .n = n, .u.numbers = numbers
    };
}

evl_attribute evl_attribute_graph(const char *name, evl_graph *graph)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_GRAPH, .u.graph = graph };
}
