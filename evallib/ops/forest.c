/* A node's trees, read once and kept with the model for all its plans. */
#include "ops/trees.h"
#include <stdlib.h>
#include <string.h>

typedef struct making {
    const evl_tree_kit *kit;
    evl_tree_nodes nodes;
    evl_splits splits;
    evl_forest forest;
    size_t n_weights;
    /* Where each part begins in the block. */
    size_t root_at, depth_at, first_at, target_at, nodes_at, weights_at;
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
    size_t n = m->splits.n, n_trees = m->nodes.n_trees, start;
    *bytes = 0;
    return place(1, sizeof(evl_forest), bytes, &start) &&
           place(n_trees, sizeof(uint32_t), bytes, &m->root_at) &&
           place(n_trees, sizeof(uint32_t), bytes, &m->depth_at) &&
           place(n + 1, sizeof(size_t), bytes, &m->first_at) &&
           place(m->n_weights, sizeof(uint32_t), bytes, &m->target_at) &&
           place(n, m->kit->node_bytes, bytes, &m->nodes_at) &&
           place(m->n_weights, m->kit->real_bytes, bytes, &m->weights_at);
}

/* What the splits' leaves hold in all, and what is to be known of the whole. */
static void survey(making *m)
{
    const evl_tree_nodes *t = &m->nodes;
    evl_forest *f = &m->forest;
    f->is_single = f->n_targets == 1;
    f->is_positive = true;
    for (size_t i = 0; i < m->splits.n; i++) {
        const evl_split *s = &m->splits.items[i];
        f->has_nan_first |= s->nan_first;
        if (s->node == UINT32_MAX)
            continue;
        size_t n = t->weight[s->node + 1] - t->weight[s->node];
        m->n_weights += n;
        f->is_single &= n == 1;
    }
    for (size_t i = 0; i < t->weight[t->n]; i++)
        f->is_positive &= !(t->weights[i] < 0);
    for (size_t i = 0; i < t->n; i++)
        if (t->mode[i] != EVL_TREE_LEAF && t->feature[i] >= f->n_features) {
            f->n_features = (size_t)t->feature[i] + 1;
            f->where = i;
        }
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

/* Trees that are walked at a time end together when they are as deep. */
static EvalStatus sort_trees(evl_context *ctx, evl_arena *arena, evl_splits *s, size_t n)
{
    tree *trees = evl_arena_take_many(arena, n + 1, sizeof *trees);
    if (!trees)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < n; i++)
        trees[i] = (tree){ s->depth[i], s->root[i] };
    qsort(trees, n, sizeof *trees, by_depth);
    for (size_t i = 0; i < n; i++) {
        s->depth[i] = trees[i].depth;
        s->root[i] = trees[i].root;
    }
    return EVAL_OK;
}

static EvalStatus fill(evl_context *ctx, void *block, void *arg)
{
    const making *m = arg;
    const evl_tree_nodes *t = &m->nodes;
    char *at = block;
    evl_forest *f = block;
    size_t *first = (size_t *)(void *)(at + m->first_at), n = 0;
    uint32_t *target = (uint32_t *)(void *)(at + m->target_at);
    (void)ctx;
    *f = m->forest;
    memcpy(at + m->root_at, m->splits.root, t->n_trees * sizeof(uint32_t));
    memcpy(at + m->depth_at, m->splits.depth, t->n_trees * sizeof(uint32_t));
    for (size_t i = 0; i < m->splits.n; i++) {
        const evl_split *s = &m->splits.items[i];
        first[i] = n;
        if (s->node != UINT32_MAX)
            for (size_t j = t->weight[s->node]; j < t->weight[s->node + 1]; j++)
                target[n++] = t->target[j];
    }
    first[m->splits.n] = n;
    f->root = (const uint32_t *)(void *)(at + m->root_at);
    f->depth = (const uint32_t *)(void *)(at + m->depth_at);
    f->first = first;
    f->target = target;
    f->nodes = at + m->nodes_at;
    f->weights = at + m->weights_at;
    m->kit->fill(&m->splits, t, at + m->nodes_at, at + m->weights_at);
    return EVAL_OK;
}

static EvalStatus make(evl_prepare *p, evl_arena *arena, const char *leaves,
                       const evl_store_key *key, making *m, const void **block)
{
    size_t bytes, n_targets = m->forest.n_targets;
    bool is_5 = strcmp(leaves, "leaf") == 0;
    EvalStatus st = is_5 ? evl_trees_read_5(p->ctx, arena, p->use.node, n_targets, &m->nodes)
                         : evl_trees_read(p->ctx, arena, p->use.node, leaves, n_targets, &m->nodes);
    if (st == EVAL_OK)
        st = evl_trees_split(p->ctx, arena, &m->nodes, &m->splits);
    if (st == EVAL_OK)
        st = sort_trees(p->ctx, arena, &m->splits, m->nodes.n_trees);
    if (st != EVAL_OK)
        return st;
    m->forest.n_trees = m->nodes.n_trees;
    survey(m);
    if (!lay_out(m, &bytes))
        return evl_fail(p->ctx, EVAL_ERR_LIMIT, "the trees are larger than memory");
    return evl_store_get(p->ctx, p->store, key, bytes, fill, m, block);
}

EvalStatus evl_forest_of(evl_prepare *p, const char *leaves, size_t n_targets, evl_tree_sum sum,
                         const evl_forest **forest)
{
    size_t n;
    const int64_t *features = evl_node_ints(p->use.node, "nodes_featureids", &n);
    evl_store_key key = { features, leaves, n_targets };
    const void *block = features ? evl_store_find(p->store, &key) : NULL;
    if (!block) {
        making m = { .kit = p->machine->precision == EVL_FLOAT ? &evl_tree_kit_f : &evl_tree_kit_d,
                     .forest = { .n_targets = n_targets, .sum = sum } };
        evl_arena *arena = evl_arena_new(p->ctx->memory);
        EvalStatus st = arena ? make(p, arena, leaves, &key, &m, &block) : evl_no_memory(p->ctx);
        evl_arena_free(arena);
        if (st != EVAL_OK)
            return st;
    }
    *forest = block;
    return EVAL_OK;
}
