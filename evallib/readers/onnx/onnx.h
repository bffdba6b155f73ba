/* onnx.h - what the files of the ONNX reader share.
**
** A graph is read in passes over its bytes: first every value is declared (initialisers,
** inputs, outputs of nodes), then nodes are made and their inputs found by name. So
** nodes may stand in any order, and a body sees names that its outer graph defines
** later. Each pass reads a message's own fields and skips what is nested, which keeps
** the time linear. */
#ifndef EVL_READERS_ONNX_ONNX_H
#define EVL_READERS_ONNX_ONNX_H
#include "readers/onnx/schema.h"
#include "readers/readers.h"

/* Newest versions that were known when this was written. A newer file is taken when all that its
** nodes say is known: operators, attributes, how many operands. */
enum { EVL_ONNX_NEWEST_IR = 14, EVL_ONNX_NEWEST_OPSET = 28 };

/* What cannot be had: gathered while reading goes on, then reported at once. */
typedef struct evl_onnx_missing {
    struct evl_onnx_missing *next;
    const char *text;
} evl_onnx_missing;

typedef struct evl_onnx {
    evl_context *ctx;
    const evl_source *source;
    evl_external *external;
    evl_arena *arena;   /* of the graph: what stays */
    evl_arena *scratch; /* for the time of reading */
    evl_map *functions; /* "domain:name:overload" -> index */
    const evl_bytes *function_bytes;
    evl_map *files;   /* name of external data -> index in external->files */
    size_t n_nodes;   /* visited so far, bodies and calls of functions included */
    size_t n_values;  /* made so far: at most four a node that is allowed */
    size_t n_inlined; /* bytes of functions put into graphs so far */
    int64_t newer_ir, newer_opset; /* of a file that is newer than we are; 0: it is not */
    evl_onnx_missing *first_missing, **last_missing;
} evl_onnx;

/* What a name means. A name of a function's output is there before it is defined. */
typedef struct evl_onnx_name {
    evl_value *value; /* NULL: an input of a function that the call leaves out */
    bool is_defined;
} evl_onnx_name;

/* Where names are looked up: one a graph, one a call of a function. */
typedef struct evl_onnx_scope {
    const struct evl_onnx_scope *outer; /* NULL: nothing outside is seen */
    evl_graph *graph;                   /* gets the values and nodes */
    const evl_map *opsets;              /* domain -> version */
    const struct evl_onnx_call *call;   /* NULL: not inside a function */
    size_t depth;
    evl_map *names;
    evl_onnx_name *entries;
    size_t n, capacity;
} evl_onnx_scope;

/* A call of a function: what its body's attributes refer to. */
typedef struct evl_onnx_call {
    const char *prefix; /* of names in it */
    const evl_attribute *given, *defaults;
    size_t n_given, n_defaults;
} evl_onnx_call;

/* A node before it is made. Arrays are in scratch memory. */
typedef struct evl_onnx_draft {
    const char *name, *op, *domain;
    int version; /* 0: the domain has no opset */
    size_t n_inputs, n_outputs, n_attributes, where;
    evl_value **inputs, **outputs;
    evl_attribute *attributes; /* with room for EVL_ONNX_SPARE more */
} evl_onnx_draft;

enum { EVL_ONNX_SPARE = 4, EVL_ONNX_MAX_ATTRIBUTES = 256, EVL_ONNX_INNER_NAME = 256 };

/* scope.c */
EVL_MUST_USE EvalStatus evl_onnx_text(evl_onnx *, evl_bytes, const char **text); /* a copy in
                                                   scratch; FORMAT: not UTF-8, or too long */
EVL_MUST_USE EvalStatus evl_onnx_scope_begin(evl_onnx *, evl_onnx_scope *);      /* fields but the
                                                        last four are set; LIMIT: too deep */
/* A new value of that name; FORMAT: there is one. */
EVL_MUST_USE EvalStatus evl_onnx_declare(evl_onnx *, evl_onnx_scope *, evl_bytes name,
                                         evl_value **value);
EVL_MUST_USE EvalStatus evl_onnx_bind(evl_onnx *, evl_onnx_scope *, evl_bytes name,
                                      evl_onnx_name meaning);
/* A name inside a call of a function, behind the call's prefix: scratch; "" when that is
** taken or long. Elsewhere the name itself. */
EVL_MUST_USE EvalStatus evl_onnx_inner_name(evl_onnx *, const evl_onnx_scope *, const char *name,
                                            const char **full);
evl_onnx_name *evl_onnx_look(const evl_onnx_scope *, evl_bytes name); /* here; NULL: no */
/* Here, then outside; false: nothing of that name. */
bool evl_onnx_find(const evl_onnx_scope *, evl_bytes name, evl_value **value);

/* report.c: one line of the list of what is not offered. */
EVL_PRINTF(2, 3)
EVL_MUST_USE EvalStatus evl_onnx_miss(evl_onnx *, const char *format, ...);
EVL_MUST_USE EvalStatus evl_onnx_report(evl_onnx *);

/* type.c: a declared type's element type, shape and symbolic names. */
EVL_MUST_USE EvalStatus evl_onnx_check_rank(evl_onnx *, size_t rank, size_t where);
EVL_MUST_USE EvalStatus evl_onnx_type(evl_onnx *, evl_bytes type, evl_value *);

/* tensor.c, sparse.c, external.c. *name is a tensor's own. */
EVL_MUST_USE EvalStatus evl_onnx_tensor(evl_onnx *, evl_bytes message, evl_bytes *name,
                                        evl_tensor *);
EVL_MUST_USE EvalStatus evl_onnx_dims(evl_onnx *, const evl_pb_many *dims, size_t where,
                                      evl_shape *);
EVL_MUST_USE EvalStatus evl_onnx_sparse(evl_onnx *, evl_bytes message, evl_bytes *name,
                                        evl_tensor *);
EVL_MUST_USE EvalStatus evl_onnx_external(evl_onnx *, const onnx_tensor *, size_t where,
                                          size_t n_bytes, const void **data);

/* attribute.c. *is_there false: it refers to an attribute that a call does not give, or
** is of a kind that no operator reads. */
EVL_MUST_USE EvalStatus evl_onnx_attribute(evl_onnx *, const evl_onnx_scope *, evl_bytes message,
                                           evl_attribute *, bool *is_there);
EVL_MUST_USE EvalStatus evl_onnx_attributes(evl_onnx *, const evl_onnx_scope *, evl_pb_many,
                                            evl_attribute **, size_t *n);

/* graph.c */
EVL_MUST_USE EvalStatus evl_onnx_graph(evl_onnx *, evl_bytes message, evl_onnx_scope *);
EVL_MUST_USE EvalStatus evl_onnx_identity(evl_onnx *, evl_graph *, evl_value *from, evl_value *to);
EVL_MUST_USE EvalStatus evl_onnx_declare_outputs(evl_onnx *, evl_onnx_scope *, evl_pb_many nodes);

/* put.c: nodes that the file does not have, in front of the one that is read. The first
** failure is kept, and nothing done after it. */
typedef struct evl_onnx_putter {
    evl_onnx *o;
    const evl_onnx_scope *scope;
    const evl_onnx_draft *d;
    EvalStatus status;
} evl_onnx_putter;
/* An operator of ai.onnx with one output; attributes are copied, not what they point to. */
evl_value *evl_onnx_put(evl_onnx_putter *, const char *op, evl_value *const *inputs, size_t n_inputs,
                        const evl_attribute *attributes, size_t n_attributes);
void evl_onnx_put_to(evl_onnx_putter *, evl_value *output, const char *op, evl_value *const *inputs,
                     size_t n_inputs, const evl_attribute *attributes, size_t n_attributes);
/* Several outputs; those that are NULL are made. */
void evl_onnx_put_many(evl_onnx_putter *, evl_value **outputs, size_t n_outputs, const char *op,
                       evl_value *const *inputs, size_t n_inputs, const evl_attribute *attributes,
                       size_t n_attributes);

/* einsum.c: an Einsum becomes several, of two operands at most. */
EVL_MUST_USE EvalStatus evl_onnx_einsum(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);

/* retired.c: what is no operator any more, or another's, becomes nodes of ai.onnx. */
EVL_MUST_USE EvalStatus evl_onnx_retired(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);

/* compose.c: operators that are others in a row. */
EVL_MUST_USE EvalStatus evl_onnx_compose(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);

/* quantized.c: some operators on integers become others around one on real numbers. */
EVL_MUST_USE EvalStatus evl_onnx_quantized(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);

/* kinds.c: whether each attribute is of the kind that goes by its name, and none is missing that
** the operator needs. */
EVL_MUST_USE EvalStatus evl_onnx_check_attributes(evl_onnx *, const evl_onnx_draft *);

/* node.c, old.c, function.c, constant.c */
const char *evl_onnx_called(const evl_onnx_draft *); /* in texts: its name, or its output's */
EVL_MUST_USE EvalStatus evl_onnx_nodes(evl_onnx *, const evl_onnx_scope *, evl_pb_many nodes);
EVL_MUST_USE EvalStatus evl_onnx_modernise(evl_onnx *, const evl_onnx_scope *, evl_onnx_draft *);
EVL_MUST_USE EvalStatus evl_onnx_find_function(evl_onnx *, const evl_onnx_draft *,
                                               evl_bytes overload, evl_bytes *function,
                                               bool *is_there);
EVL_MUST_USE EvalStatus evl_onnx_call_function(evl_onnx *, const evl_onnx_scope *,
                                               const evl_onnx_draft *, evl_bytes function);
EVL_MUST_USE EvalStatus evl_onnx_functions(evl_onnx *, evl_pb_many functions);
EVL_MUST_USE EvalStatus evl_onnx_constant(evl_onnx *, const evl_onnx_draft *);
void evl_onnx_hold(evl_value *, const evl_tensor *); /* makes it a constant */

/* model.c */
EVL_MUST_USE EvalStatus evl_onnx_opsets(evl_onnx *, evl_pb_many messages, evl_map **);
#endif
