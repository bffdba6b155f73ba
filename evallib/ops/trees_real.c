/* Walks through trees, many at a time: a step takes as long as its node takes to come from
** memory, so that steps of other trees or rows fill the time. Sums are over trees in their
** order, whichever way they were walked. */
#include "ops/trees.h"
#include "real.h"

extern const evl_tree_kit TWIN(evl_tree_kit);

typedef struct node {
    real threshold;
    real value;             /* of a leaf, when it has but one */
    uint32_t feature, kids; /* feature: the highest bit says that a NaN goes to the first */
} node;

enum {
    WALKS = 16,
    SURE = 4, /* steps between two looks whether all are at their leaf */
    NAN_SHIFT = 31
};

static inline uint32_t next(const node *all, uint32_t at, const real *x)
{
    const node *n = &all[at];
    return n->kids + !(x[n->feature] <= n->threshold);
}

static inline uint32_t next_nan(const node *all, uint32_t at, const real *x)
{
    const node *n = &all[at];
    real v = x[n->feature & INT32_MAX];
    bool is_first = (v <= n->threshold) | ((v != v) & (n->feature >> NAN_SHIFT));
    return n->kids + !is_first;
}

/* WALKS walks, from `at`, each over its own row. */
static inline void walk(const evl_forest *f, bool has_nan_first, size_t depth, const real *const *x,
                        uint32_t *at)
{
    const node *all = f->nodes;
    for (size_t d = 0; d < depth; d += SURE) {
        uint32_t moved = 0;
        for (int step = 0; step < SURE; step++) {
            moved = 0;
            for (int k = 0; k < WALKS; k++) {
                uint32_t to = has_nan_first ? next_nan(all, at[k], x[k]) : next(all, at[k], x[k]);
                moved |= to ^ at[k];
                at[k] = to;
            }
        }
        if (!moved)
            return;
    }
}

static void walk_any(const evl_forest *f, size_t depth, const real *const *x, uint32_t *at)
{
    if (f->has_nan_first)
        walk(f, true, depth, x, at);
    else
        walk(f, false, depth, x, at);
}

static void start(const evl_forest *f, real *sums)
{
    real from = f->sum == EVL_TREE_MIN ? INFINITY : f->sum == EVL_TREE_MAX ? -INFINITY : 0;
    for (size_t i = 0; i < f->n_targets; i++)
        sums[i] = from;
}

static inline void take_one(evl_tree_sum sum, real value, real *to)
{
    if (sum == EVL_TREE_MIN)
        *to = value < *to ? value : *to;
    else if (sum == EVL_TREE_MAX)
        *to = value > *to ? value : *to;
    else
        *to += value;
}

static void take_leaf(const evl_forest *f, uint32_t leaf, real *sums)
{
    const node *all = f->nodes;
    const real *weights = f->weights;
    if (f->is_single) {
        take_one(f->sum, all[leaf].value, sums);
        return;
    }
    for (size_t i = f->first[leaf]; i < f->first[leaf + 1]; i++)
        take_one(f->sum, weights[i], &sums[f->target[i]]);
}

/* What no leaf spoke of is 0. */
static void finish(const evl_forest *f, real *sums)
{
    for (size_t i = 0; i < f->n_targets; i++) {
        if (f->sum == EVL_TREE_AVERAGE)
            sums[i] /= (real)f->n_trees;
        else if (f->sum != EVL_TREE_SUM && isinf(sums[i]))
            sums[i] = 0;
    }
}

static void one_row(const evl_forest *f, const real *row, real *sums)
{
    const real *x[WALKS];
    uint32_t at[WALKS];
    for (int k = 0; k < WALKS; k++)
        x[k] = row;
    for (size_t tree = 0; tree < f->n_trees; tree += WALKS) {
        size_t n = f->n_trees - tree < WALKS ? f->n_trees - tree : WALKS;
        uint32_t depth = 0;
        for (size_t k = 0; k < WALKS; k++) {
            size_t which = tree + (k < n ? k : 0);
            at[k] = f->root[which];
            depth = f->depth[which] > depth ? f->depth[which] : depth;
        }
        walk_any(f, depth, x, at);
        for (size_t k = 0; k < n; k++)
            take_leaf(f, at[k], sums);
    }
}

/* At most WALKS rows through all trees. */
static void some_rows(const evl_forest *f, size_t n, size_t width, const real *rows, real *sums)
{
    const real *x[WALKS];
    uint32_t at[WALKS];
    for (size_t k = 0; k < WALKS; k++)
        x[k] = rows + (k < n ? k : 0) * width;
    for (size_t tree = 0; tree < f->n_trees; tree++) {
        for (int k = 0; k < WALKS; k++)
            at[k] = f->root[tree];
        walk_any(f, f->depth[tree], x, at);
        for (size_t k = 0; k < n; k++)
            take_leaf(f, at[k], sums + k * f->n_targets);
    }
}

static void rows(const evl_forest *f, size_t n, size_t width, const void *x, void *sums)
{
    const real *row = x;
    real *to = sums;
    for (size_t i = 0; i < n; i++)
        start(f, to + i * f->n_targets);
    size_t i = 0;
    for (; n - i >= WALKS / 2; i += n - i < WALKS ? n - i : WALKS)
        some_rows(f, n - i < WALKS ? n - i : WALKS, width, row + i * width, to + i * f->n_targets);
    for (; i < n; i++)
        one_row(f, row + i * width, to + i * f->n_targets);
    for (i = 0; i < n; i++)
        finish(f, to + i * f->n_targets);
}

static real threshold_of(const evl_split *s)
{
    real t = (real)s->threshold;
    if (s->node != UINT32_MAX || (s->is_strict && t == -INFINITY))
        return NAN; /* nothing is less */
    return s->is_strict ? nextafter(t, (real)-INFINITY) : t;
}

static void fill(const evl_splits *splits, const evl_tree_nodes *t, void *nodes, void *weights)
{
    node *all = nodes;
    real *w = weights;
    for (size_t i = 0; i < splits->n; i++) {
        const evl_split *s = &splits->items[i];
        all[i] = (node){ .threshold = threshold_of(s),
                         .feature = s->feature | (uint32_t)s->nan_first << NAN_SHIFT,
                         .kids = s->kids };
        if (s->node == UINT32_MAX)
            continue;
        for (size_t j = t->weight[s->node]; j < t->weight[s->node + 1]; j++) {
            all[i].value = (real)t->weights[j];
            *w++ = (real)t->weights[j];
        }
    }
}

const evl_tree_kit TWIN(evl_tree_kit) = { sizeof(node), sizeof(real), fill, rows };
