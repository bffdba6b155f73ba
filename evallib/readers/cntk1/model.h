/* model.h - a CNTK v1 file as read, before it becomes a graph.
**
** Reading has two stages: parse.c turns bytes into this model and knows the layout of
** every version; build.c turns the model into a graph and knows what nodes mean. All of
** it lives in the graph's arena; matrices point into the file. Shapes are CNTK's: the
** first dimension varies fastest. */
#ifndef EVL_READERS_CNTK1_MODEL_H
#define EVL_READERS_CNTK1_MODEL_H
#include "ir/graph.h"

typedef struct evl_cntk1_op evl_cntk1_op; /* ops.h */

typedef struct evl_cntk1_list {
    size_t n;
    int64_t *at;
} evl_cntk1_list;

/* Column-major, rows x cols; data is NULL when there is no element, else perhaps unaligned. */
typedef struct evl_cntk1_matrix {
    EvalType type;
    uint64_t rows, cols;
    const void *data;
} evl_cntk1_matrix;

/* What a node's payload may hold. Which fields are set depends on the operator. */
typedef struct evl_cntk1_fields {
    evl_cntk1_list shape; /* of an input, parameter, delay; what Reshape makes */
    evl_cntk1_matrix matrix;
    evl_cntk1_list kernel, map_count, stride, dilation, output_shape;
    evl_cntk1_list sharing, auto_pad, lower_pad, upper_pad;
    evl_cntk1_list axes, begins, ends, steps, permutation;
    const char *word; /* which reduction, which cell */
    int64_t rows, cols, output_rank, axis, first_axis, end_axis, repeats, step;
    int64_t layout, pool, averages_pads, rounds_up, is_transposed, is_spatial, keeps_axes;
    double epsilon, initial;
} evl_cntk1_fields;

enum { EVL_CNTK1_HWC = 0, EVL_CNTK1_CHW = 1 }; /* layout */
enum { EVL_CNTK1_MAX_POOL = 1, EVL_CNTK1_AVERAGE_POOL = 2 };

typedef struct evl_cntk1_node {
    const char *name;
    const evl_cntk1_op *op;
    size_t index, where; /* in model->nodes; byte offset in the file */
    EvalType real;
    bool has_relation; /* its inputs were listed */
    size_t n_inputs;
    struct evl_cntk1_node **inputs;
    evl_cntk1_fields f;
} evl_cntk1_node;

enum {
    EVL_CNTK1_FEATURES,
    EVL_CNTK1_LABELS,
    EVL_CNTK1_CRITERIA,
    EVL_CNTK1_EVALUATIONS,
    EVL_CNTK1_OUTPUTS,
    EVL_CNTK1_GROUPS
};

typedef struct evl_cntk1_group {
    size_t n;
    evl_cntk1_node **nodes;
} evl_cntk1_group;

typedef struct evl_cntk1_model {
    uint64_t version;
    size_t n_nodes;
    evl_cntk1_node *nodes; /* in the file's order, which is that of the names */
    evl_cntk1_group groups[EVL_CNTK1_GROUPS];
} evl_cntk1_model;

enum { EVL_CNTK1_NEWEST = 31, EVL_CNTK1_MAX_RANK = EVAL_MAX_RANK - 1 }; /* an axis is for frames */

EVL_MUST_USE EvalStatus evl_cntk1_parse(evl_context *, const void *data, size_t size, evl_arena *,
                                        evl_cntk1_model *);

/* Into an empty graph. */
EVL_MUST_USE EvalStatus evl_cntk1_build(evl_context *, const evl_cntk1_model *, evl_graph *);
#endif
