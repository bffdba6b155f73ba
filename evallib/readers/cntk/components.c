/* components.c - Tarjan's algorithm, with a stack of its own: a file may hold a chain of a
** million nodes. */
#include "readers/cntk/components.h"

enum { UNSEEN = 0 };

typedef struct search {
    const evl_cntk_edges *edges;
    size_t *order; /* when a node was first seen, from 1 */
    size_t *low;   /* the earliest node on the stack that it reaches */
    size_t *next;  /* the edge to follow next */
    size_t *path;  /* the walk to here */
    size_t *stack; /* nodes whose component is not complete */
    bool *is_open; /* on that stack */
    size_t n_path, n_stack, clock;
} search;

static void enter(search *s, size_t node)
{
    s->order[node] = s->low[node] = ++s->clock;
    s->next[node] = s->edges->start[node];
    s->stack[s->n_stack++] = node;
    s->is_open[node] = true;
    s->path[s->n_path++] = node;
}

static void lower(size_t *low, size_t other)
{
    if (other < *low)
        *low = other;
}

/* Follows the next edge of the last node of the walk; false: it has no more. */
static bool advance(search *s, size_t node)
{
    if (s->next[node] == s->edges->start[node + 1])
        return false;
    size_t to = s->edges->to[s->next[node]++];
    if (s->order[to] == UNSEEN)
        enter(s, to);
    else if (s->is_open[to])
        lower(&s->low[node], s->order[to]);
    return true;
}

static void leave(search *s, size_t node, evl_cntk_components *found)
{
    s->n_path--;
    if (s->n_path > 0)
        lower(&s->low[s->path[s->n_path - 1]], s->low[node]);
    if (s->low[node] != s->order[node])
        return;
    size_t at = found->start[found->n], member;
    do {
        member = s->stack[--s->n_stack];
        s->is_open[member] = false;
        found->nodes[at++] = member;
    } while (member != node);
    found->start[++found->n] = at;
}

bool evl_cntk_find_components(evl_arena *arena, const evl_cntk_edges *edges,
                              evl_cntk_components *found)
{
    size_t n = edges->n + 1;
    search s = { .edges = edges,
                 .order = evl_arena_take_many(arena, n, sizeof *s.order),
                 .low = evl_arena_take_many(arena, n, sizeof *s.low),
                 .next = evl_arena_take_many(arena, n, sizeof *s.next),
                 .path = evl_arena_take_many(arena, n, sizeof *s.path),
                 .stack = evl_arena_take_many(arena, n, sizeof *s.stack),
                 .is_open = evl_arena_take_many(arena, n, sizeof *s.is_open) };
    found->n = 0;
    found->start = evl_arena_take_many(arena, n, sizeof *found->start);
    found->nodes = evl_arena_take_many(arena, n, sizeof *found->nodes);
    if (!s.order || !s.low || !s.next || !s.path || !s.stack || !s.is_open || !found->start ||
        !found->nodes)
        return false;
    for (size_t root = 0; root < edges->n; root++) {
        if (s.order[root] == UNSEEN)
            enter(&s, root);
        while (s.n_path > 0)
            if (!advance(&s, s.path[s.n_path - 1]))
                leave(&s, s.path[s.n_path - 1], found);
    }
    return true;
}
