/* Walks through trees, several at a time: a step takes as long as its node takes to come from
** memory, so that steps of other trees or rows fill the time: TREES over one row, or one tree
** over LANES rows.
**
** Numbers become keys first, unsigned integers of the same order: what follows a node is then
** a comparison, its carry and an addition. Rows lie side by side for it, in tiles of LANES: a
** tile has for each column the keys of all its rows, and behind the columns a row of zeros,
** which no threshold is less than. Leaves ask for that one and follow themselves, so that
** their threshold can be what they hold: their value, or their number among the leaves.
**
** Sums are over trees in their order, whichever way they were walked. Tried and slower: the
** upper levels of a tree for many rows in vectors; lists of the walks that are not at their
** leaf; sixteen at a time, whose places do not fit into registers; twelve rows. */
#include "ops/trees.h"
#include "real.h"
#include <stddef.h>
#include <string.h>

extern const evl_tree_kit TWIN(evl_tree_kit);

enum {
    LANES = 8,                    /* rows that go through one tree together */
    TREES = 12,                   /* that one row goes through together */
    STEPS = 4,                    /* between two looks whether all are at their leaf */
    UNIT = 8 / sizeof(real_bits), /* columns are told in eight bytes, which addresses scale by, */
    COLUMN = LANES / UNIT,        /* and are so many of them apart */
    FEW = 3,                      /* rows that go one by one */
    HAS_SMALL = sizeof(real_bits) == 4
};

static const real_bits SIGN = (real_bits)1 << (8 * sizeof(real_bits) - 1);

/* The first of the two that follow is `kids` nodes away. The small form serves floats. */
typedef struct wide_node {
    real_bits threshold;
    uint32_t column;
    int32_t kids;
} wide_node;

typedef struct small_node {
    uint32_t threshold;
    uint16_t column;
    int16_t kids;
} small_node;

static real_bits key_of(real v)
{
    real_bits bits;
    v += 0; /* -0 becomes 0 */
    memcpy(&bits, &v, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

/* column: twice the feature, and one more if NaN goes where less goes. */
static real_bits key_at(const real *row, uint32_t column)
{
    real v = row[column / 2];
    return v == v ? key_of(v) : column % 2 ? 0 : (real_bits)-1;
}

static inline const void *next(bool is_wide, const void *at, const real_bits *x)
{
    if (is_wide) {
        const wide_node *n = at;
        real_bits v = x[(size_t)n->column * UNIT];
        size_t to = (size_t)n->kids;
        to += n->threshold < v;
        return n + (ptrdiff_t)to;
    }
    const small_node *n = at;
    real_bits v = x[(size_t)n->column * UNIT];
    size_t to = (size_t)n->kids;
    to += n->threshold < v;
    return n + (ptrdiff_t)to;
}

static inline bool is_leaf(bool is_wide, const void *at)
{
    return is_wide ? ((const wide_node *)at)->kids == 0 : ((const small_node *)at)->kids == 0;
}

/* n walks of at most `depth` steps; each is over its own row when `lane` is 1, all over the
** first when it is 0. */
static inline __attribute__((always_inline)) void walk(bool is_wide, size_t n, size_t depth,
                                                       const real_bits *x, size_t lane,
                                                       const void **from)
{
    const void *at[TREES];
#pragma GCC unroll 12
    for (size_t k = 0; k < n; k++)
        at[k] = from[k];
    for (size_t d = 1; d <= depth; d++) {
#pragma GCC unroll 12
        for (size_t k = 0; k < n; k++)
            at[k] = next(is_wide, at[k], x + k * lane);
        if (d % STEPS)
            continue;
        bool all = true;
#pragma GCC unroll 12
        for (size_t k = 0; k < n; k++)
            all &= is_leaf(is_wide, at[k]);
        if (all)
            break;
    }
#pragma GCC unroll 12
    for (size_t k = 0; k < n; k++)
        from[k] = at[k];
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

static inline real value_of(const void *leaf)
{
    real value;
    memcpy(&value, leaf, sizeof value);
    return value;
}

static inline void take_leaf(const evl_forest *f, const void *at, real *sums)
{
    const real *weights = f->weights;
    if (f->is_single) {
        take_one(f->sum, value_of(at), sums);
        return;
    }
    real_bits leaf;
    memcpy(&leaf, at, sizeof leaf);
    if (f->is_dense) {
        weights += leaf * f->n_targets;
        for (size_t i = 0; i < f->n_targets; i++)
            sums[i] += weights[i];
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

static size_t tile_size(const evl_forest *f)
{
    return (f->n_columns + 1) * LANES;
}

static void fill_lane(const evl_forest *f, const real *row, real_bits *tile)
{
    for (size_t c = 0; c < f->n_columns; c++)
        tile[c * LANES] = key_at(row, f->columns[c]);
    tile[f->n_columns * LANES] = 0;
}

static const void *root_of(const evl_forest *f, bool is_wide, size_t tree)
{
    return (const char *)f->nodes +
           f->root[tree] * (is_wide ? sizeof(wide_node) : sizeof(small_node));
}

static inline real add_leaves(real sum, size_t n, const void *const *at)
{
    if (n < TREES) {
        for (size_t k = 0; k < n; k++)
            sum += value_of(at[k]);
        return sum;
    }
#pragma GCC unroll 12
    for (size_t k = 0; k < TREES; k++)
        sum += value_of(at[k]);
    return sum;
}

/* A single sum stays in a register: in memory, every tree would wait for the one before. */
static inline __attribute__((always_inline)) void one_row(const evl_forest *f, bool is_wide,
                                                          const real_bits *tile, real *sums)
{
    const bool adds = f->is_single && (f->sum == EVL_TREE_SUM || f->sum == EVL_TREE_AVERAGE);
    const void *at[TREES];
    real sum = sums[0];
    for (size_t tree = 0; tree < f->n_trees; tree += TREES) {
        size_t n = f->n_trees - tree < TREES ? f->n_trees - tree : TREES;
#pragma GCC unroll 12
        for (size_t k = 0; k < TREES; k++)
            at[k] = root_of(f, is_wide, tree + (k < n ? k : 0));
        for (size_t k = 0; k < TREES && tree + TREES + k < f->n_trees; k++)
            __builtin_prefetch(root_of(f, is_wide, tree + TREES + k));
        walk(is_wide, TREES, f->depth[tree + n - 1], tile, 0, at); /* the deepest of them */
        if (adds)
            sum = add_leaves(sum, n, at);
        for (size_t k = 0; !adds && k < n; k++)
            take_leaf(f, at[k], sums);
    }
    if (adds)
        sums[0] = sum;
}

static inline __attribute__((always_inline)) void many_rows(const evl_forest *f, bool is_wide,
                                                            size_t n, const real_bits *tiles,
                                                            real *sums)
{
    const void *at[LANES];
    for (size_t tree = 0; tree < f->n_trees; tree++)
        for (size_t i = 0; i < n; i += LANES) {
            for (size_t k = 0; k < LANES; k++)
                at[k] = root_of(f, is_wide, tree);
            walk(is_wide, LANES, f->depth[tree], tiles + i / LANES * tile_size(f), 1, at);
            for (size_t k = 0; k < LANES && i + k < n; k++)
                take_leaf(f, at[k], sums + (i + k) * f->n_targets);
        }
}

/* Like those above, once for each form of nodes. */
static inline __attribute__((always_inline)) void walk_rows(const evl_forest *f, bool is_wide,
                                                            size_t n, size_t width, const real *x,
                                                            real_bits *tiles, real *sums)
{
    for (size_t i = 0; i < n && n <= FEW; i++) {
        fill_lane(f, x + i * width, tiles);
        one_row(f, is_wide, tiles, sums + i * f->n_targets);
    }
    if (n <= FEW)
        return;
    for (size_t i = 0; i < n; i++)
        fill_lane(f, x + i * width, tiles + i / LANES * tile_size(f) + i % LANES);
    for (size_t i = n; i % LANES; i++) /* lanes without a row go with the last one */
        fill_lane(f, x + (n - 1) * width, tiles + i / LANES * tile_size(f) + i % LANES);
    many_rows(f, is_wide, n, tiles, sums);
}

static void rows(const evl_forest *f, size_t n, size_t width, const void *x, void *tiles,
                 void *sums)
{
    real *to = sums;
    for (size_t i = 0; i < n; i++)
        start(f, to + i * f->n_targets);
    if (!HAS_SMALL || f->is_wide)
        walk_rows(f, true, n, width, x, tiles, to);
    else
        walk_rows(f, false, n, width, x, tiles, to);
    for (size_t i = 0; i < n; i++)
        finish(f, to + i * f->n_targets);
}

static size_t tile_bytes(const evl_forest *f)
{
    return tile_size(f) * sizeof(real_bits);
}

/* Less than t is at most the key before it; nothing is less than NaN, or at most NaN. */
static real_bits threshold_of(const evl_split *s)
{
    real t = (real)s->threshold;
    return t == t ? key_of(t) - s->is_strict : 0;
}

/* What a leaf holds; dense weights are 0 before. */
static real_bits fill_leaf(const evl_tree_nodes *t, size_t node, size_t leaf, const evl_forest *f,
                           real *weights)
{
    real_bits bits = (real_bits)leaf;
    real sum = 0;
    uint32_t to = f->first ? f->first[leaf] : 0;
    for (size_t j = t->weight[node]; j < t->weight[node + 1]; j++) {
        real w = (real)t->weights[j];
        sum += w;
        if (f->is_dense)
            weights[leaf * f->n_targets + t->target[j]] += w;
        else if (!f->is_single && evl_forest_keeps(f, t->weights[j]))
            weights[to++] = w;
    }
    if (f->is_single)
        memcpy(&bits, &sum, sizeof bits);
    return bits;
}

static void fill(const evl_splits *splits, const evl_tree_nodes *t, const uint32_t *columns,
                 const evl_forest *f, void *nodes, void *weights)
{
    wide_node *wide = nodes;
    small_node *small = nodes;
    size_t leaf = 0;
    for (size_t i = 0; i < splits->n; i++) {
        const evl_split *s = &splits->items[i];
        bool is_inner = s->node == UINT32_MAX;
        wide_node n = { .column = columns[i] * COLUMN };
        n.threshold = is_inner ? threshold_of(s) : fill_leaf(t, s->node, leaf++, f, weights);
        n.kids = is_inner ? (int32_t)((int64_t)s->kids - (int64_t)i) : 0;
        if (f->is_wide)
            wide[i] = n;
        else
            small[i] = (small_node){ (uint32_t)n.threshold, (uint16_t)n.column, (int16_t)n.kids };
    }
}

const evl_tree_kit TWIN(evl_tree_kit) = { .real_bytes = sizeof(real),
                                          .node_bytes = { sizeof(small_node), sizeof(wide_node) },
                                          .small_columns = HAS_SMALL ? UINT16_MAX / COLUMN : 0,
                                          .small_kids = INT16_MAX,
                                          .most_columns = INT32_MAX / COLUMN,
                                          .rows_in_tile = LANES,
                                          .tile_bytes = tile_bytes,
                                          .fill = fill,
                                          .rows = rows };
