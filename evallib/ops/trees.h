/* trees.h - ensembles of decision trees.
**
** A file says them in one of two ways (trees_read.c); both become a list of nodes and
** leaves. Of that, trees.c makes splits that all ask "x[feature] <= threshold": the node
** that follows is kids when it holds and kids + 1 when not, so that a walk needs no branch;
** a leaf asks NaN and follows itself. Equality and sets become several splits. */
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

/* The same in the precision of a plan, one block. */
typedef struct evl_forest {
    size_t n_trees, n_targets;
    size_t n_features; /* one more than the last that is looked at, and */
    size_t where;      /* the item of nodes_featureids that does */
    bool has_nan_first;
    evl_tree_sum sum;
    const uint32_t *root, *depth;
    const size_t *first; /* by node and one more: its first weight */
    const uint32_t *target;
    const void *nodes, *weights;
    bool is_single;   /* one target, one weight a leaf: it stands in the node */
    bool is_positive; /* no weight is less than 0 */
} evl_forest;

/* What a precision does. Doors of trees_real.c. */
typedef struct evl_tree_kit {
    size_t node_bytes, real_bytes;
    /* Nodes, and the weights of leaves in the order of their splits. */
    void (*fill)(const evl_splits *, const evl_tree_nodes *, void *nodes, void *weights);
    /* n rows of `width` features: n x n_targets sums, from nothing. */
    void (*rows)(const evl_forest *, size_t n, size_t width, const void *x, void *sums);
} evl_tree_kit;
extern const evl_tree_kit evl_tree_kit_f, evl_tree_kit_d;

/* The forest of a node, kept with the model. */
EVL_MUST_USE EvalStatus evl_forest_of(evl_prepare *, const char *leaves, size_t n_targets,
                                      evl_tree_sum, const evl_forest **);
#endif
