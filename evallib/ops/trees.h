/* trees.h - ensembles of decision trees.
**
** A file says them in one of two ways (trees_read.c); both become a list of nodes and
** leaves. Of that, trees.c makes splits that all ask "x[feature] <= threshold": the node
** that follows is kids when it holds and kids + 1 when not, so that a walk needs no branch.
** Equality and sets become several splits. */
#ifndef EVL_OPS_TREES_H
#define EVL_OPS_TREES_H
#include "ir/op.h"

typedef enum evl_tree_mode {
    EVL_TREE_LEQ,
    EVL_TREE_LT,
    EVL_TREE_GTE,
    EVL_TREE_GT,
    EVL_TREE_EQ,
    EVL_TREE_NEQ,
    EVL_TREE_MEMBER,
    EVL_TREE_LEAF,
    EVL_N_TREE_MODES
} evl_tree_mode;

typedef enum evl_tree_sum {
    EVL_TREE_AVERAGE,
    EVL_TREE_SUM,
    EVL_TREE_MIN,
    EVL_TREE_MAX
} evl_tree_sum;

/* As the file has them, checked: every index is within its list. */
typedef struct evl_tree_nodes {
    size_t n, n_trees;
    uint8_t *mode; /* evl_tree_mode */
    bool *nan_yes; /* where a missing value goes */
    uint32_t *feature, *yes, *no;
    double *value;
    size_t *member; /* of a MEMBER node: first of its members; n + 1 */
    double *members;
    uint32_t *root;   /* by tree */
    size_t *weight;   /* of a leaf: first of its weights; n + 1 */
    uint32_t *target; /* by weight */
    double *weights;
    bool is_shared_leaf;            /* a leaf may have two parents */
    const char *yes_name, *no_name; /* of the attributes, for texts */
} evl_tree_nodes;

/* `leaves`: the prefix of the attributes with the weights, "class" or "target"; opset 5: "leaf". */
EVL_MUST_USE EvalStatus evl_trees_read(evl_context *, evl_arena *, const evl_node *,
                                       const char *leaves, size_t n_targets, evl_tree_nodes *);
EVL_MUST_USE EvalStatus evl_trees_read_5(evl_context *, evl_arena *, const evl_node *,
                                         size_t n_targets, evl_tree_nodes *);

typedef struct evl_split {
    double threshold;
    uint32_t feature, kids;
    uint32_t node;  /* the leaf it is; UINT32_MAX: none */
    bool is_strict; /* less than the threshold, not equal */
    bool nan_first; /* a NaN goes where less goes */
} evl_split;

typedef struct evl_splits {
    evl_split *items;
    size_t n;
    uint32_t *root, *depth; /* by tree */
} evl_splits;
EVL_MUST_USE EvalStatus evl_trees_split(evl_context *, evl_arena *, const evl_tree_nodes *,
                                        evl_splits *);

/* The same in the precision of a plan, one block. Trees are in the order of their depth, those
** that are walked together being as deep as each other. */
typedef struct evl_forest {
    size_t n_trees, n_targets, n_columns;
    size_t n_steps;    /* of all trees, at most */
    size_t n_features; /* one more than the last that is looked at, and */
    size_t where;      /* the item of nodes_featureids that does */
    evl_tree_sum sum;
    const uint32_t *root, *depth; /* by tree */
    const uint32_t *columns;      /* what splits look at: twice a feature, and 1 if nan_first */
    const void *nodes;
    bool is_wide; /* nodes: too far from each other, or of too many columns, for the small form */
    /* Leaves hold their value (single), or are numbered: n_targets weights each (dense), or
    ** those from first[leaf] to first[leaf + 1]. */
    bool is_single, is_dense;
    bool is_positive; /* no weight is less than 0 */
    const uint32_t *first, *target;
    const void *weights;
} evl_forest;

/* Weights that change something. */
static inline bool evl_forest_keeps(const evl_forest *f, double weight)
{
    return f->sum == EVL_TREE_MIN || f->sum == EVL_TREE_MAX || weight != 0;
}

/* What a precision does. Doors of trees_real.c. */
typedef struct evl_tree_kit {
    size_t real_bytes, node_bytes[2]; /* small and wide */
    size_t small_columns, small_kids; /* what has fewer columns, and kids no farther away, is small */
    size_t most_columns;
    size_t rows_in_tile;
    size_t (*tile_bytes)(const evl_forest *);
    /* columns: by split. Nodes, and the weights of leaves in the order of their splits. */
    void (*fill)(const evl_splits *, const evl_tree_nodes *, const uint32_t *columns,
                 const evl_forest *, void *nodes, void *weights);
    /* n rows of `width` features: n x n_targets sums, from nothing. Tiles for all of them. */
    void (*rows)(const evl_forest *, size_t n, size_t width, const void *x, void *tiles,
                 void *sums);
} evl_tree_kit;
extern const evl_tree_kit evl_tree_kit_f, evl_tree_kit_d;

/* The forest of a node, kept with the model; width: features of a row. */
EVL_MUST_USE EvalStatus evl_forest_of(evl_prepare *, const char *leaves, size_t width,
                                      size_t n_targets, evl_tree_sum, const evl_forest **);
#endif
