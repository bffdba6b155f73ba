/* A node's trees, read once and kept with the model for all its plans. */
#include "ops/trees.h"
#include <stdlib.h>
#include <string.h>

typedef struct making {
    evl_prepare *p;
    evl_arena *arena;
    const evl_tree_kit *kit;
    evl_tree_nodes nodes;
    evl_splits splits;
    evl_forest forest;
    uint32_t *column;  /* by split */
    uint32_t *columns; /* as forest.columns */
    size_t n_leaves, n_kept, n_weights;
    /* Where each part begins in the block. */
    size_t root_at, depth_at, columns_at, first_at, target_at, nodes_at, weights_at;
} making;

static bool place(size_t n, size_t each, size_t *bytes, size_t *at)
{
    size_t more;
    *at = *bytes;
    return evl_size_multiply(n, each, &more) && evl_size_add(*bytes, more, bytes) &&
           evl_size_add(*bytes, (EVL_ALIGNMENT - *bytes % EVL_ALIGNMENT) % EVL_ALIGNMENT, bytes);
}

static bool lay_out(making *m, size_t *bytes)
{
    const evl_forest *f = &m->forest;
    bool is_list = !f->is_single && !f->is_dense;
    size_t start;
    *bytes = 0;
    return place(1, sizeof(evl_forest), bytes, &start) &&
           place(f->n_trees, sizeof(uint32_t), bytes, &m->root_at) &&
           place(f->n_trees, sizeof(uint32_t), bytes, &m->depth_at) &&
           place(f->n_columns, sizeof(uint32_t), bytes, &m->columns_at) &&
           place(is_list ? m->n_leaves + 1 : 0, sizeof(uint32_t), bytes, &m->first_at) &&
           place(is_list ? m->n_kept : 0, sizeof(uint32_t), bytes, &m->target_at) &&
           place(m->splits.n, m->kit->node_bytes[f->is_wide], bytes, &m->nodes_at) &&
           place(m->n_weights, m->kit->real_bytes, bytes, &m->weights_at);
}

static void survey_features(making *m)
{
    const evl_tree_nodes *t = &m->nodes;
    evl_forest *f = &m->forest;
    for (size_t i = 0; i < t->n; i++)
        if (t->mode[i] != EVL_TREE_LEAF && t->feature[i] >= f->n_features) {
            f->n_features = (size_t)t->feature[i] + 1;
            f->where = i;
        }
}

static EvalStatus check_features(evl_context *ctx, const evl_forest *f, size_t width)
{
    if (f->n_features <= width)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE,
                    "attribute nodes_featureids: item %zu is %zu, and X has %zu columns", f->where,
                    f->n_features - 1, width);
}

/* Features that are looked at, one way or the other where NaN goes two ways; leaves look at the
** column behind them. */
static EvalStatus number_columns(making *m)
{
    const evl_splits *s = &m->splits;
    evl_forest *f = &m->forest;
    size_t n_ways = 2 * f->n_features;
    uint32_t *number = evl_arena_take_many(m->arena, n_ways + 1, sizeof *number);
    m->columns = evl_arena_take_many(m->arena, n_ways + 1, sizeof *m->columns);
    m->column = evl_arena_take_many(m->arena, s->n + 1, sizeof *m->column);
    if (!number || !m->columns || !m->column)
        return evl_no_memory(m->p->ctx);
    for (size_t i = 0; i < s->n; i++)
        if (s->items[i].node == UINT32_MAX)
            number[2 * (size_t)s->items[i].feature + s->items[i].nan_first] = 1;
    for (size_t way = 0; way < n_ways; way++)
        if (number[way]) {
            number[way] = (uint32_t)f->n_columns;
            m->columns[f->n_columns++] = (uint32_t)way;
        }
    for (size_t i = 0; i < s->n; i++)
        m->column[i] = s->items[i].node == UINT32_MAX
                           ? number[2 * (size_t)s->items[i].feature + s->items[i].nan_first]
                           : (uint32_t)f->n_columns;
    if (f->n_columns > m->kit->most_columns)
        return evl_fail(m->p->ctx, EVAL_ERR_LIMIT, "the trees look at %zu features", f->n_columns);
    return EVAL_OK;
}

static bool needs_wide(const making *m)
{
    const evl_splits *s = &m->splits;
    if (m->forest.n_columns >= m->kit->small_columns)
        return true;
    for (size_t i = 0; i < s->n; i++) {
        size_t kids = s->items[i].kids, away = kids > i ? kids - i : i - kids;
        if (s->items[i].node == UINT32_MAX && away > m->kit->small_kids)
            return true;
    }
    return false;
}

/* A third of the weights being 0, sums over all are as fast as a list of the others. */
static void survey_leaves(making *m)
{
    const evl_tree_nodes *t = &m->nodes;
    evl_forest *f = &m->forest;
    bool is_sum = f->sum == EVL_TREE_SUM || f->sum == EVL_TREE_AVERAGE, is_one = true;
    f->is_positive = true;
    for (size_t i = 0; i < m->splits.n; i++) {
        size_t node = m->splits.items[i].node;
        if (node == UINT32_MAX)
            continue;
        m->n_leaves++;
        is_one &= t->weight[node + 1] - t->weight[node] == 1;
        for (size_t j = t->weight[node]; j < t->weight[node + 1]; j++)
            m->n_kept += evl_forest_keeps(f, t->weights[j]);
    }
    for (size_t i = 0; i < t->weight[t->n]; i++)
        f->is_positive &= !(t->weights[i] < 0);
    f->is_single = f->n_targets == 1 && (is_sum || is_one);
    f->is_dense = !f->is_single && is_sum && m->n_kept / f->n_targets >= (m->n_leaves + 2) / 3;
    m->n_weights = f->is_single ? 0 : f->is_dense ? m->n_leaves * f->n_targets : m->n_kept;
}

typedef struct tree {
    uint32_t depth, root;
} tree;

static int by_depth(const void *left, const void *right)
{
    const tree *a = left, *b = right;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->root < b->root ? -1 : a->root > b->root;
}

static EvalStatus sort_trees(making *m)
{
    evl_splits *s = &m->splits;
    size_t n = m->nodes.n_trees;
    tree *trees = evl_arena_take_many(m->arena, n + 1, sizeof *trees);
    if (!trees)
        return evl_no_memory(m->p->ctx);
    for (size_t i = 0; i < n; i++)
        trees[i] = (tree){ s->depth[i], s->root[i] };
    qsort(trees, n, sizeof *trees, by_depth);
    for (size_t i = 0; i < n; i++) {
        s->depth[i] = trees[i].depth;
        s->root[i] = trees[i].root;
        m->forest.n_steps += trees[i].depth;
    }
    return EVAL_OK;
}

static void list_weights(const making *m, uint32_t *first, uint32_t *target)
{
    const evl_tree_nodes *t = &m->nodes;
    uint32_t n = 0;
    size_t leaf = 0;
    for (size_t i = 0; i < m->splits.n; i++) {
        size_t node = m->splits.items[i].node;
        if (node == UINT32_MAX)
            continue;
        first[leaf++] = n;
        for (size_t j = t->weight[node]; j < t->weight[node + 1]; j++)
            if (evl_forest_keeps(&m->forest, t->weights[j]))
                target[n++] = t->target[j];
    }
    first[leaf] = n;
}

static EvalStatus fill(evl_context *ctx, void *block, void *arg)
{
    const making *m = arg;
    char *at = block;
    evl_forest *f = block;
    (void)ctx;
    *f = m->forest;
    memcpy(at + m->root_at, m->splits.root, f->n_trees * sizeof(uint32_t));
    memcpy(at + m->depth_at, m->splits.depth, f->n_trees * sizeof(uint32_t));
    memcpy(at + m->columns_at, m->columns, f->n_columns * sizeof(uint32_t));
    f->root = (const uint32_t *)(void *)(at + m->root_at);
    f->depth = (const uint32_t *)(void *)(at + m->depth_at);
    f->columns = (const uint32_t *)(void *)(at + m->columns_at);
    f->nodes = at + m->nodes_at;
    f->weights = at + m->weights_at;
    if (!f->is_single && !f->is_dense) {
        f->first = (const uint32_t *)(void *)(at + m->first_at);
        f->target = (const uint32_t *)(void *)(at + m->target_at);
        list_weights(m, (uint32_t *)(void *)(at + m->first_at),
                     (uint32_t *)(void *)(at + m->target_at));
    }
    if (m->n_weights)
        memset(at + m->weights_at, 0, m->n_weights * m->kit->real_bytes);
    m->kit->fill(&m->splits, &m->nodes, m->column, f, at + m->nodes_at, at + m->weights_at);
    return EVAL_OK;
}

static EvalStatus make(making *m, const char *leaves, size_t width, const evl_store_key *key,
                       const void **block)
{
    evl_context *ctx = m->p->ctx;
    const evl_node *node = m->p->use.node;
    size_t bytes, n_targets = m->forest.n_targets;
    EvalStatus st = strcmp(leaves, "leaf") == 0
                        ? evl_trees_read_5(ctx, m->arena, node, n_targets, &m->nodes)
                        : evl_trees_read(ctx, m->arena, node, leaves, n_targets, &m->nodes);
    if (st != EVAL_OK)
        return st;
    m->forest.n_trees = m->nodes.n_trees;
    survey_features(m);
    st = check_features(ctx, &m->forest, width);
    if (st == EVAL_OK)
        st = evl_trees_split(ctx, m->arena, &m->nodes, &m->splits);
    if (st == EVAL_OK)
        st = sort_trees(m);
    if (st == EVAL_OK)
        st = number_columns(m);
    if (st != EVAL_OK)
        return st;
    m->forest.is_wide = needs_wide(m);
    survey_leaves(m);
    if (!lay_out(m, &bytes))
        return evl_fail(ctx, EVAL_ERR_LIMIT, "the trees are larger than memory");
    return evl_store_get(ctx, m->p->store, key, bytes, fill, m, block);
}

EvalStatus evl_forest_of(evl_prepare *p, const char *leaves, size_t width, size_t n_targets,
                         evl_tree_sum sum, const evl_forest **forest)
{
    size_t n;
    const int64_t *features = evl_node_ints(p->use.node, "nodes_featureids", &n);
    evl_store_key key = { features, leaves, n_targets };
    const void *block = features ? evl_store_find(p->store, &key) : NULL;
    if (!block) {
        making m = { .p = p,
                     .arena = evl_arena_new(p->ctx->memory),
                     .kit = p->machine->precision == EVL_FLOAT ? &evl_tree_kit_f : &evl_tree_kit_d,
                     .forest = { .n_targets = n_targets, .sum = sum } };
        EvalStatus st = m.arena ? make(&m, leaves, width, &key, &block) : evl_no_memory(p->ctx);
        evl_arena_free(m.arena);
        if (st != EVAL_OK)
            return st;
    }
    *forest = block;
    return check_features(p->ctx, *forest, width);
}
