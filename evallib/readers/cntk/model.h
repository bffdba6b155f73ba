/* model.h - a CNTK network as read, before it becomes a graph.
**
** Reading has two stages. The reader of a format turns bytes into this model and knows the
** layout of every version; this folder, which both formats of CNTK share, turns the model
** into a graph and knows what nodes mean. All of it lives in the graph's arena; matrices
** point into the file. Shapes are CNTK's: the first dimension varies fastest. */
#ifndef EVL_READERS_CNTK_MODEL_H
#define EVL_READERS_CNTK_MODEL_H
#include "ir/graph.h"

typedef struct evl_cntk_op evl_cntk_op; /* maker.h */

typedef struct evl_cntk_list {
    size_t n;
    int64_t *at;
} evl_cntk_list;

/* Column-major, rows x cols; data is NULL when there is no element, else perhaps unaligned. */
typedef struct evl_cntk_matrix {
    EvalType type;
    uint64_t rows, cols;
    const void *data;
} evl_cntk_matrix;

/* What a node's payload may hold. Which fields are set depends on the operator. */
typedef struct evl_cntk_fields {
    evl_cntk_list shape; /* of an input, parameter, delay; what Reshape makes */
    evl_cntk_matrix matrix;
    evl_cntk_list kernel, map_count, stride, dilation, output_shape;
    evl_cntk_list sharing, auto_pad, lower_pad, upper_pad;
    evl_cntk_list axes, begins, ends, steps, permutation, heads, feet;
    const char *word; /* which reduction, which cell */
    int64_t rows, cols, output_rank, axis, first_axis, end_axis, repeats, step;
    int64_t layout, pool, averages_pads, rounds_up, is_transposed, is_spatial, keeps_axes;
    int64_t size, layers, groups, mode, inferred_rank;
    int64_t frames_axis; /* of an input: which dynamic axis */
    int64_t is_bidirectional, is_single, is_static, is_sparse, output; /* of several */
    double epsilon, initial, number;
    double substitution, deletion, insertion; /* what an edit costs */
    evl_cntk_list ignored;                    /* labels */
    int64_t squashes, blank, delay;
    double arguments[2]; /* of a distribution */
    int64_t is_repeated; /* a class may be drawn twice */
} evl_cntk_fields;

enum { EVL_CNTK_HWC = 0, EVL_CNTK_CHW = 1 }; /* layout */
enum { EVL_CNTK_MAX_POOL = 1, EVL_CNTK_AVERAGE_POOL = 2 };

/* How many frames the values have: those of a sequence, or a single one for all of it. */
typedef enum evl_cntk_frames {
    EVL_CNTK_AS_OPERANDS,
    EVL_CNTK_AS_FIRST,
    EVL_CNTK_AS_SECOND,
    EVL_CNTK_AS_TOLD, /* fields.is_single */
    EVL_CNTK_SINGLE,
    EVL_CNTK_SEQUENCE
} evl_cntk_frames;

typedef struct evl_cntk_node {
    const char *name;
    const evl_cntk_op *op;
    size_t index, where; /* in model->nodes; byte offset in the file */
    EvalType real;
    uint8_t frames;    /* evl_cntk_frames */
    bool has_relation; /* its inputs were listed */
    size_t n_inputs;
    struct evl_cntk_node **inputs;
    evl_cntk_fields f;
} evl_cntk_node;

enum {
    EVL_CNTK_FEATURES,
    EVL_CNTK_LABELS,
    EVL_CNTK_CRITERIA,
    EVL_CNTK_EVALUATIONS,
    EVL_CNTK_OUTPUTS,
    EVL_CNTK_GROUPS
};

typedef struct evl_cntk_group {
    size_t n;
    evl_cntk_node **nodes;
} evl_cntk_group;

/* A further name under which a node can be asked for. */
typedef struct evl_cntk_alias {
    const char *text;
    size_t n;
    const evl_cntk_node *node;
} evl_cntk_alias;

typedef struct evl_cntk_model {
    const char *format;
    uint64_t version;
    bool has_old_variances; /* 1 / deviation in place of variances */
    bool has_free_dims;     /* a sample's size may be open, and its rank 0 */
    size_t n_nodes;
    evl_cntk_node *nodes; /* in the file's order */
    evl_cntk_group groups[EVL_CNTK_GROUPS];
    size_t n_aliases;
    evl_cntk_alias *aliases;
} evl_cntk_model;

enum { EVL_CNTK_MAX_RANK = EVAL_MAX_RANK - 1 }; /* an axis is for frames */

/* Into an empty graph. */
EVL_MUST_USE EvalStatus evl_cntk_build(evl_context *, const evl_cntk_model *, evl_graph *);
#endif
