/* Operands before users, without recursion over nodes: a file may chain a million. */
#include "ir/graph.h"
#include "ir/op.h"
#include <string.h>

typedef struct captures {
    evl_arena *arena;
    evl_map *seen; /* addresses of values, as text of their bytes */
    evl_value **values;
    size_t n, capacity;
} captures;

static bool is_inside(const evl_graph *g, const evl_graph *body)
{
    for (; g; g = g->outer)
        if (g == body)
            return true;
    return false;
}

static bool capture(captures *c, evl_value *v)
{
    size_t seen;
    evl_value **key;
    if (evl_map_get(c->seen, (const char *)&v, sizeof v, &seen))
        return true;
    evl_value **all = evl_arena_grow(c->arena, c->values, c->n, &c->capacity, sizeof *all);
    if (!all || !(key = evl_arena_take(c->arena, sizeof *key)))
        return false;
    *key = v;
    c->values = all;
    c->values[c->n++] = v;
    return evl_map_set(c->seen, (const char *)key, sizeof *key, 1);
}

static bool capture_from(captures *c, const evl_graph *body, const evl_graph *top)
{
    for (size_t i = 0; i < body->n_nodes; i++) {
        const evl_node *node = body->nodes[i];
        for (size_t j = 0; j < node->n_inputs; j++) {
            evl_value *v = evl_value_final(node->inputs[j]);
            if (v && !is_inside(v->graph, top) && !capture(c, v))
                return false;
        }
        for (size_t b = 0; evl_node_body(node, b); b++)
            if (!capture_from(c, evl_node_body(node, b), top))
                return false;
    }
    for (size_t i = 0; i < body->n_outputs; i++) {
        evl_value *v = evl_value_final(body->outputs[i]);
        if (!is_inside(v->graph, top) && !capture(c, v))
            return false;
    }
    return true;
}

EvalStatus evl_node_captures(evl_context *ctx, evl_arena *arena, const evl_node *node,
                             evl_value ***values, size_t *n)
{
    captures c = { .arena = arena };
    *values = NULL;
    *n = 0;
    if (!evl_node_body(node, 0))
        return EVAL_OK;
    if (!(c.seen = evl_map_new(arena)))
        return evl_no_memory(ctx);
    for (size_t b = 0; evl_node_body(node, b); b++)
        if (!capture_from(&c, evl_node_body(node, b), evl_node_body(node, b)))
            return evl_no_memory(ctx);
    *values = c.values;
    *n = c.n;
    return EVAL_OK;
}

enum { NEW, OPEN, DONE };

typedef struct visit {
    evl_node *node;
    size_t next; /* operand to look at next: inputs, then captures */
    evl_value **captures;
    size_t n_captures;
} visit;

typedef struct sorter {
    evl_context *ctx;
    evl_graph *graph;
    evl_arena *scratch;
    uint8_t *state; /* by node index */
    visit *stack;
    size_t depth;
    evl_node **sorted;
    size_t n_sorted;
} sorter;

static EvalStatus enter(sorter *s, evl_node *node)
{
    visit *v = &s->stack[s->depth];
    *v = (visit){ .node = node };
    s->state[node->index] = OPEN;
    s->depth++;
    return evl_node_captures(s->ctx, s->scratch, node, &v->captures, &v->n_captures);
}

/* What was folded is no node of the graph any more. */
static bool is_listed(const evl_graph *g, const evl_node *node)
{
    return node && node->index < g->n_nodes && g->nodes[node->index] == node;
}

/* The node that must come before the one on top and has not; NULL: none is left. */
static evl_node *next_operand(sorter *s, visit *top)
{
    while (top->next < top->node->n_inputs + top->n_captures) {
        size_t i = top->next++;
        evl_value *v = i < top->node->n_inputs ? top->node->inputs[i]
                                               : top->captures[i - top->node->n_inputs];
        if (v && v->graph == s->graph && is_listed(s->graph, v->producer) &&
            s->state[v->producer->index] != DONE)
            return v->producer;
    }
    return NULL;
}

static EvalStatus visit_from(sorter *s, evl_node *root)
{
    EvalStatus st = enter(s, root);
    while (st == EVAL_OK && s->depth) {
        visit *top = &s->stack[s->depth - 1];
        evl_node *operand = next_operand(s, top);
        if (operand && s->state[operand->index] == OPEN) {
            evl_fail(s->ctx, EVAL_ERR_FORMAT, "its value depends on itself: a cycle");
            return evl_node_failed(s->ctx, operand, EVAL_ERR_FORMAT);
        }
        if (operand) {
            st = enter(s, operand);
            continue;
        }
        s->state[top->node->index] = DONE;
        s->sorted[s->n_sorted++] = top->node;
        s->depth--;
    }
    return st;
}

static EvalStatus sort_nodes(sorter *s)
{
    evl_graph *g = s->graph;
    s->state = evl_arena_take_many(s->scratch, g->n_nodes + 1, sizeof *s->state);
    s->stack = evl_arena_take_many(s->scratch, g->n_nodes + 1, sizeof *s->stack);
    s->sorted = evl_arena_take_many(g->arena, g->n_nodes + 1, sizeof *s->sorted);
    if (!s->state || !s->stack || !s->sorted)
        return evl_no_memory(s->ctx);
    for (size_t i = 0; i < g->n_nodes; i++)
        g->nodes[i]->index = i;
    for (size_t i = 0; i < g->n_nodes; i++)
        if (s->state[i] == NEW) {
            EvalStatus st = visit_from(s, g->nodes[i]);
            if (st != EVAL_OK)
                return st;
        }
    g->nodes = s->sorted;
    g->node_capacity = g->n_nodes + 1;
    for (size_t i = 0; i < g->n_nodes; i++)
        g->nodes[i]->index = i;
    return EVAL_OK;
}

EvalStatus evl_graph_sort(evl_context *ctx, evl_graph *g)
{
    sorter s = { .ctx = ctx, .graph = g, .scratch = evl_arena_new(ctx->memory) };
    if (!s.scratch)
        return evl_no_memory(ctx);
    EvalStatus st = sort_nodes(&s);
    evl_arena_free(s.scratch);
    for (size_t i = 0; i < g->n_nodes && st == EVAL_OK; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b) && st == EVAL_OK; b++)
            st = evl_graph_sort(ctx, evl_node_body(g->nodes[i], b));
    return st;
}
