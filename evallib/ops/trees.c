/* Trees made of splits that all ask "x[feature] <= threshold", breadth first, so that what
** is asked first lies together.
**
** x < t asks x <= t, strictly; x > t is x <= t with its branches changed. x == t asks
** x <= t, then x < t; a set is searched by halves, each of its members asked for so. What
** follows "no" has then several places: the first is made, the others are copies of it. */
#include "ops/trees.h"

typedef enum place_kind { PLACE_NODE, PLACE_SET, PLACE_MEMBER } place_kind;

/* A split to be made: a node of the file, a search among some of a set's members, or the
** second question for one of them. depth: at most so many splits lead to the node; low: of a
** node, the one that it follows. */
typedef struct place {
    place_kind kind;
    uint32_t node, depth;
    size_t low, high;
} place;

typedef struct copy {
    uint32_t to, from;
} copy;

typedef struct builder {
    evl_context *ctx;
    evl_arena *arena;
    const evl_tree_nodes *t;
    evl_splits *out;
    place *places; /* by split: what it is made of; the queue as well */
    copy *copies;
    uint32_t *at, *owner; /* by node: its split, and the node that it follows there */
    size_t n_copies, split_capacity, place_capacity, copy_capacity;
} builder;

static const uint32_t NOWHERE = UINT32_MAX;

/* Two splits side by side, to be made later. */
static EvalStatus add(builder *b, const place *items, size_t n, uint32_t *first)
{
    evl_splits *s = b->out;
    if (s->n + n >= INT32_MAX)
        return evl_fail(b->ctx, EVAL_ERR_LIMIT, "the trees have more than %d splits", INT32_MAX);
    *first = (uint32_t)s->n;
    for (size_t i = 0; i < n; i++) {
        evl_split *splits =
            evl_arena_grow(b->arena, s->items, s->n, &b->split_capacity, sizeof *splits);
        place *places =
            evl_arena_grow(b->arena, b->places, s->n, &b->place_capacity, sizeof *places);
        if (splits)
            s->items = splits;
        if (places)
            b->places = places;
        if (!splits || !places)
            return evl_no_memory(b->ctx);
        s->items[s->n] = (evl_split){ .node = UINT32_MAX };
        b->places[s->n++] = items[i];
    }
    return EVAL_OK;
}

static EvalStatus add_copy(builder *b, uint32_t to, uint32_t from)
{
    copy *copies =
        evl_arena_grow(b->arena, b->copies, b->n_copies, &b->copy_capacity, sizeof *copies);
    if (!copies)
        return evl_no_memory(b->ctx);
    b->copies = copies;
    b->copies[b->n_copies++] = (copy){ to, from };
    return EVAL_OK;
}

static void make_split(builder *b, size_t i, const evl_split *how)
{
    b->out->items[i] = *how;
    b->out->items[i].node = UINT32_MAX;
}

/* Split i asks for the node's threshold or for a member; its kids are to be made. */
static EvalStatus ask(builder *b, size_t i, evl_split how, const place *kids)
{
    EvalStatus st = add(b, kids, 2, &how.kids);
    if (st == EVAL_OK)
        make_split(b, i, &how);
    return st;
}

static bool is_less(uint8_t mode)
{
    return mode == EVL_TREE_LEQ || mode == EVL_TREE_LT;
}

static EvalStatus ask_order(builder *b, size_t i, uint32_t node, uint32_t depth)
{
    const evl_tree_nodes *t = b->t;
    bool less = is_less(t->mode[node]);
    evl_split how = { .threshold = t->value[node],
                      .feature = t->feature[node],
                      .is_strict = t->mode[node] == EVL_TREE_LT || t->mode[node] == EVL_TREE_GTE,
                      .nan_first = less == t->nan_yes[node] };
    place yes = { .node = t->yes[node], .depth = depth + 1, .low = node };
    place no = { .node = t->no[node], .depth = depth + 1, .low = node };
    const place kids[] = { less ? yes : no, less ? no : yes };
    return ask(b, i, how, kids);
}

/* Of "is it not t", yes and no change places. */
static bool is_turned(const evl_tree_nodes *t, uint32_t node)
{
    return t->mode[node] == EVL_TREE_NEQ;
}

static size_t set_size(const evl_tree_nodes *t, uint32_t node)
{
    return t->mode[node] == EVL_TREE_MEMBER ? t->member[node + 1] - t->member[node] : 1;
}

/* Behind all that can be asked for the node: its copies lie at different depths. */
static place outcome(const builder *b, const place *p, bool is_in)
{
    const evl_tree_nodes *t = b->t;
    bool is_yes = is_in != is_turned(t, p->node);
    uint32_t depth = p->depth + 1;
    for (size_t n = set_size(t, p->node); n > 0; n /= 2)
        depth += 2;
    return (
        place){ .node = is_yes ? t->yes[p->node] : t->no[p->node], .depth = depth, .low = p->node };
}

static double member_at(const builder *b, uint32_t node, size_t i)
{
    const evl_tree_nodes *t = b->t;
    return t->mode[node] == EVL_TREE_MEMBER ? t->members[t->member[node] + i] : t->value[node];
}

/* Members low .. high-1: is x at most the middle one? Then the second question is whether it
** is less. A NaN that counts as a member is taken for the first middle one. */
static EvalStatus ask_set(builder *b, size_t i, const place *p)
{
    size_t middle = p->low + (p->high - p->low) / 2;
    evl_split how = { .threshold = member_at(b, p->node, middle),
                      .feature = b->t->feature[p->node] };
    place part = *p;
    if (p->kind == PLACE_SET) {
        how.nan_first = b->t->nan_yes[p->node] && !is_turned(b->t, p->node); /* NaN is not t */
        part.low = middle + 1;
        place inside = { PLACE_MEMBER, p->node, p->depth, p->low, p->high };
        const place kids[] = { inside, part.low < p->high ? part : outcome(b, p, false) };
        return ask(b, i, how, kids);
    }
    how.is_strict = true;
    part.kind = PLACE_SET;
    part.high = middle;
    const place kids[] = { p->low < middle ? part : outcome(b, p, false), outcome(b, p, true) };
    return ask(b, i, how, kids);
}

static EvalStatus twice(builder *b, const place *p)
{
    return evl_fail(b->ctx, EVAL_ERR_FORMAT,
                    "attributes %s and %s lead to the node at index %u twice; in a tree one way "
                    "leads to each node",
                    b->t->yes_name, b->t->no_name, (unsigned)p->node);
}

/* Split i becomes a node of the file. */
static EvalStatus make_node(builder *b, size_t i, const place *p)
{
    const evl_tree_nodes *t = b->t;
    uint8_t mode = t->mode[p->node];
    bool is_leaf = mode == EVL_TREE_LEAF;
    if (b->at[p->node] != NOWHERE) {
        if (b->owner[p->node] != p->low && !(is_leaf && t->is_shared_leaf))
            return twice(b, p);
        return add_copy(b, (uint32_t)i, b->at[p->node]);
    }
    b->at[p->node] = (uint32_t)i;
    b->owner[p->node] = (uint32_t)p->low;
    if (is_leaf) {
        b->out->items[i] = (evl_split){ .node = p->node };
        return EVAL_OK;
    }
    if (mode != EVL_TREE_EQ && mode != EVL_TREE_NEQ && mode != EVL_TREE_MEMBER)
        return ask_order(b, i, p->node, p->depth);
    size_t n = set_size(t, p->node);
    if (n == 0) { /* nothing is in it: a question that nothing answers with yes */
        evl_split never = { .threshold = 0, .feature = t->feature[p->node] };
        place no = outcome(b, p, false);
        const place kids[] = { no, no };
        return ask(b, i, never, kids);
    }
    return ask_set(b, i, &(place){ PLACE_SET, p->node, p->depth, 0, n });
}

static void make_copies(builder *b)
{
    for (size_t i = 0; i < b->n_copies; i++)
        b->out->items[b->copies[i].to] = b->out->items[b->copies[i].from];
}

static EvalStatus split_tree(builder *b, size_t tree)
{
    const place root = { .node = b->t->root[tree], .low = UINT32_MAX - 1 - tree };
    uint32_t *depth = &b->out->depth[tree];
    EvalStatus st = add(b, &root, 1, &b->out->root[tree]);
    for (size_t i = b->out->root[tree]; st == EVAL_OK && i < b->out->n; i++) {
        place p = b->places[i];
        *depth = p.depth > *depth ? p.depth : *depth;
        st = p.kind == PLACE_NODE ? make_node(b, i, &p) : ask_set(b, i, &p);
    }
    return st;
}

/* Each has one root, and one way leads to each node: what no root leads to is a circle. */
static EvalStatus check_reached(const builder *b)
{
    for (size_t i = 0; i < b->t->n; i++)
        if (b->at[i] == NOWHERE && !b->t->is_shared_leaf)
            return evl_fail(b->ctx, EVAL_ERR_FORMAT,
                            "attributes %s and %s lead from the node at index %zu back to it",
                            b->t->yes_name, b->t->no_name, i);
    return EVAL_OK;
}

EvalStatus evl_trees_split(evl_context *ctx, evl_arena *arena, const evl_tree_nodes *t,
                           evl_splits *out)
{
    builder b = { .ctx = ctx, .arena = arena, .t = t, .out = out };
    *out = (evl_splits){ 0 };
    out->root = evl_arena_take_many(arena, t->n_trees + 1, sizeof *out->root);
    out->depth = evl_arena_take_many(arena, t->n_trees + 1, sizeof *out->depth);
    b.at = evl_arena_take_many(arena, t->n + 1, sizeof *b.at);
    b.owner = evl_arena_take_many(arena, t->n + 1, sizeof *b.owner);
    if (!out->root || !out->depth || !b.at || !b.owner)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < t->n; i++)
        b.at[i] = NOWHERE;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; st == EVAL_OK && i < t->n_trees; i++)
        st = split_tree(&b, i);
    if (st == EVAL_OK)
        make_copies(&b);
    return st == EVAL_OK ? check_reached(&b) : st;
}
