/* graph.h - a network: nodes that turn values into values.
**
** A graph as a reader makes it is never rewritten. A plan works on a copy of the
** part it needs (evl_graph_copy), which passes rewrite. Everything lives in the
** graph's arena. A body (of If, Loop, a recurrence) is a graph whose `outer` is the
** graph around it; its nodes may use values of outer graphs directly. */
#ifndef EVL_IR_GRAPH_H
#define EVL_IR_GRAPH_H
#include "base/arena.h"
#include "base/map.h"
#include "ir/tensor.h"

typedef struct evl_graph evl_graph;
typedef struct evl_node evl_node;
typedef struct evl_op evl_op;
typedef struct evl_value evl_value;

/* frames_axis: one frame for a whole sequence. Others count CNTK's dynamic axes from 0. */
enum { EVL_FRAMES_SINGLE = 255 };

/* A value: given by the caller, constant, or made by a node. */
struct evl_value {
    const char *name;             /* "" when nothing named it */
    evl_graph *graph;             /* the graph it belongs to */
    size_t index;                 /* in graph->values */
    evl_tensor t;                 /* type and shape as far as known; data of a constant */
    const evl_shape *declared;    /* what the file says of an input or output, which t may forget; or NULL */
    const char *const *dim_names; /* EVAL_MAX_RANK symbolic names, NULL where there is none; or NULL */
    evl_node *producer;           /* NULL: input or constant */
    size_t output;                /* which of the producer's outputs */
    bool is_input;                /* the caller may have to give it */
    bool is_constant;             /* t.data holds it (NULL when it has no element) */
    bool is_sparse;               /* of an input: few of its elements are not 0 */
    bool has_frames;              /* CNTK: the first axis counts the frames of a sequence */
    uint8_t frames_axis;          /* of an input with frames: those of one axis have as many */
    evl_value *replaced_by;       /* in a plan's copy: use that one instead; see evl_value_final */
    size_t slot;                  /* a number for whoever works on the graph */
};

/* The node that shows a state, and how many frames it keeps. */
typedef struct evl_state_info {
    const evl_value *value; /* NULL: it was left out */
    int64_t n_frames;
    bool has_flags; /* the next state, whose value is NULL: 1 for frames before the sequence */
} evl_state_info;

typedef enum evl_attribute_kind {
    EVL_ATTRIBUTE_INT,
    EVL_ATTRIBUTE_NUMBER,
    EVL_ATTRIBUTE_TEXT,
    EVL_ATTRIBUTE_TENSOR,
    EVL_ATTRIBUTE_TYPE,           /* a tensor's type and shape, without its data */
    EVL_ATTRIBUTE_GRAPH,
    EVL_ATTRIBUTE_INTS,
    EVL_ATTRIBUTE_NUMBERS,
    EVL_ATTRIBUTE_TEXTS,
    EVL_ATTRIBUTE_TENSORS,
    EVL_ATTRIBUTE_GRAPHS
} evl_attribute_kind;

typedef struct evl_attribute {
    const char *name;
    evl_attribute_kind kind;
    size_t n;                     /* of the plural kinds */
    union {
        int64_t i;
        double number;            /* a float32's exact value */
        EvalString text;
        const evl_tensor *tensor;
        evl_graph *graph;
        const int64_t *ints;
        const double *numbers;
        const EvalString *texts;
        const evl_tensor *const *tensors;
        evl_graph *const *graphs;
    } u;
} evl_attribute;

struct evl_node {
    const evl_op *op;
    const char *name;             /* "" when the file gives none */
    int version;                  /* the opset whose semantics hold; EVL_NEWEST for our own nodes */
    size_t index;                 /* in graph->nodes */
    evl_graph *graph;
    size_t n_inputs, n_outputs, n_attributes;
    evl_value **inputs;           /* NULL: left out */
    evl_value **outputs;          /* NULL: not wanted */
    const evl_attribute *attributes;
    size_t where;                 /* byte offset in the file, for texts */
    const evl_node *origin;       /* in a plan's copy: the node as read */
    size_t state;                 /* of an operator that carries: from 1, among the graph's states */
};

enum { EVL_NEWEST = 1 << 20 };

typedef struct evl_metadata {
    const char *key, *value;
} evl_metadata;

struct evl_graph {
    evl_arena *arena;
    evl_graph *outer;             /* NULL: the network itself */
    evl_node **nodes;             /* operands before users, once evl_graph_sort has run */
    size_t n_nodes, node_capacity;
    evl_value **values;
    size_t n_values, value_capacity;
    evl_value **inputs;           /* of the network, in the file's order; of a body: its own */
    size_t n_inputs, input_capacity;
    evl_value **outputs;
    size_t n_outputs, output_capacity;
    evl_map *names;               /* value's name -> index in values */
    evl_metadata *metadata;
    size_t n_metadata, metadata_capacity;
    EvalType real;                /* in a plan's copy: what floating-point types became */
    EvalStatus failure;           /* of a branch whose shapes contradict: it fails when taken */
    const char *failure_text;
    size_t n_states;              /* carried from call to call: Delay, Recurrence */
    evl_state_info *states;       /* what they are; NULL: nobody told */
};

/* All NULL results mean: no memory. Names are copied; NULL is "". */
evl_graph *evl_graph_new(evl_arena *, evl_graph *outer);
evl_value *evl_graph_value(evl_graph *, const char *name);          /* a new one, nothing known */
evl_value *evl_graph_constant(evl_graph *, const char *name, EvalType, const evl_shape *,
                              void *data);                           /* data is not copied */
bool evl_graph_add_input(evl_graph *, evl_value *);                  /* false: no memory */
bool evl_graph_add_output(evl_graph *, evl_value *);
bool evl_graph_add_metadata(evl_graph *, const char *key, const char *value);
/* A node with room for its operands: set inputs[] afterwards; outputs[] by evl_node_output. */
evl_node *evl_graph_node(evl_graph *, const evl_op *, const char *name, size_t n_inputs,
                         size_t n_outputs);
void evl_node_output(evl_node *, size_t output, evl_value *);        /* sets the producer too */
bool evl_node_attributes(evl_node *, const evl_attribute *, size_t n); /* copies the array */

/* By name in this graph, then in outer ones; NULL: none. */
evl_value *evl_graph_find(const evl_graph *, const char *name, size_t n);
/* As users name them: a value's name, else the first output of the node of that name. */
evl_value *evl_graph_find_node(const evl_graph *, const char *name);
/* EVAL_ERR_NOT_FOUND with near names. */
EVL_MUST_USE EvalStatus evl_graph_not_found(evl_context *, const evl_graph *, const char *name);

/* Operands before users, bodies too. EVAL_ERR_FORMAT: a cycle, named. */
EVL_MUST_USE EvalStatus evl_graph_sort(evl_context *, evl_graph *);

/* The values of a body, moved into g (not their names). False: no memory. */
bool evl_graph_adopt(evl_graph *g, evl_graph *body);

/* Puts a node, made by this or another graph, at the end of g's nodes. */
bool evl_graph_append(evl_graph *g, evl_node *);

/* The value that stands for v after replacements. */
evl_value *evl_value_final(evl_value *v);

/* Values of outer graphs that the node's bodies use, each once. */
EVL_MUST_USE EvalStatus evl_node_captures(evl_context *, evl_arena *, const evl_node *,
                                          evl_value ***values, size_t *n);
/* The index-th body of a node, over all its graph attributes; NULL past the last. */
evl_graph *evl_node_body(const evl_node *, size_t index);
/* Another body in the place of that one. False: no memory. */
bool evl_node_set_body(evl_node *, const char *attribute, evl_graph *body);

/* A copy of what `asked` needs, in an arena of its own, for a plan to work on: the
** values `given` become its inputs (their t is taken from given_t), `asked` its
** outputs, in that order. EVAL_ERR_ARGUMENT lists inputs that are needed and not
** given. Constants keep their data; floating-point types become `real`, and
** constants of them are NOT converted yet: see passes/fold.c. */
typedef struct evl_selection {
    evl_value *const *given;
    const evl_tensor *given_t;
    size_t n_given;
    evl_value *const *asked;
    size_t n_asked;
} evl_selection;
EVL_MUST_USE EvalStatus evl_graph_copy(evl_context *, evl_arena *, const evl_graph *, EvalType real,
                                       const evl_selection *, evl_graph **);

/* A copy of a body that is itself in a plan's copy; values of outer graphs stay theirs. */
EVL_MUST_USE EvalStatus evl_graph_copy_body(evl_context *, const evl_graph *body, evl_graph **);

/* The graph's inputs that `asked` need, in the graph's order; arrays in the arena. */
EVL_MUST_USE EvalStatus evl_graph_inputs_of(evl_context *, evl_arena *, const evl_graph *,
                                            evl_value *const *asked, size_t n_asked,
                                            evl_value ***inputs, size_t *n);

/* Attributes. The accessors give the fallback when there is none of that name and kind. */
const evl_attribute *evl_node_attribute(const evl_node *, const char *name);
int64_t evl_node_int(const evl_node *, const char *name, int64_t fallback);
double evl_node_number(const evl_node *, const char *name, double fallback);
const char *evl_node_text(const evl_node *, const char *name, const char *fallback);
const int64_t *evl_node_ints(const evl_node *, const char *name, size_t *n); /* NULL and 0: none */
const double *evl_node_numbers(const evl_node *, const char *name, size_t *n);
evl_graph *evl_node_graph(const evl_node *, const char *name);

evl_attribute evl_attribute_int(const char *name, int64_t);
evl_attribute evl_attribute_number(const char *name, double);
evl_attribute evl_attribute_text(const char *name, const char *);  /* these keep the pointers */
evl_attribute evl_attribute_ints(const char *name, const int64_t *, size_t n);
evl_attribute evl_attribute_numbers(const char *name, const double *, size_t n);
evl_attribute evl_attribute_graph(const char *name, evl_graph *);

/* As people know it: by its name or, when it has none, by what it makes. */
const char *evl_node_name(const evl_node *);

/* Puts "node 'x' (Op): " before the text of a failure, and gives the status back. */
EvalStatus evl_node_failed(evl_context *, const evl_node *, EvalStatus);
#endif
