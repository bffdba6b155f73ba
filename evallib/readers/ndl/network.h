/* network.h - a description while it becomes a model. */
#ifndef EVL_READERS_NDL_NETWORK_H
#define EVL_READERS_NDL_NETWORK_H
#include "config/lexer.h"
#include "readers/cntk/ops.h"

typedef struct evl_ndl_scope evl_ndl_scope;

/* What a name means. */
typedef struct evl_ndl_symbol {
    evl_span name, body; /* body: what stands behind '='; of a macro's parameter the argument */
    evl_ndl_scope *at;   /* where body's names are looked up */
    evl_cntk_node *node; /* once it is one */
    evl_ndl_scope *call; /* of a macro that was called: its names */
    bool is_open;        /* being looked at */
} evl_ndl_symbol;

struct evl_ndl_scope {
    evl_ndl_scope *outer;
    evl_map *names; /* -> index in symbols */
    evl_ndl_symbol **symbols;
    size_t n, capacity;
    const char *prefix; /* of its nodes' names */
};

typedef struct evl_ndl_macro {
    evl_span name, parameters, body; /* body: statements, brackets off */
    struct evl_ndl_macro *next;
} evl_ndl_macro;

/* How a parameter begins. Random ones are drawn last, in the order of statements. */
typedef enum evl_ndl_start {
    EVL_NDL_FIXED,
    EVL_NDL_FROM_FILE,
    EVL_NDL_BILINEAR,
    EVL_NDL_UNIFORM,
    EVL_NDL_GAUSSIAN,
    EVL_NDL_HE_NORMAL
} evl_ndl_start;

typedef struct evl_ndl_init {
    evl_ndl_start start;
    evl_span at;   /* the call */
    double scale, value, seed; /* seed below 0: the next one */
    const char *path;
    bool is_drawn;
} evl_ndl_init;

typedef struct evl_ndl_network {
    evl_context *ctx;
    evl_arena *arena;
    evl_cntk_node **nodes;
    size_t n_nodes, capacity, n_unnamed, depth;
    evl_ndl_macro *macros;
    evl_cntk_group groups[EVL_CNTK_GROUPS];
    size_t group_capacity[EVL_CNTK_GROUPS];
    evl_ndl_init *inits; /* of parameters: node->f.size is 1 + the index */
    size_t n_inits, init_capacity;
    EvalStatus status; /* the first failure */
} evl_ndl_network;

/* A call's arguments: those in order, and options. */
enum { EVL_NDL_ARGUMENTS = 64 };
typedef struct evl_ndl_call {
    evl_span function, arguments[EVL_NDL_ARGUMENTS], options[EVL_NDL_ARGUMENTS];
    size_t n, n_options;
    evl_ndl_scope *scope;
} evl_ndl_call;

/* A failure, with the line; NULL. */
EVL_PRINTF(4, 5)
void *evl_ndl_fail(evl_ndl_network *, const evl_span *, EvalStatus, const char *format, ...);

/* statements.c: what an argument means. */
evl_cntk_node *evl_ndl_node(evl_ndl_network *, evl_ndl_scope *, evl_span expression);
bool evl_ndl_number(evl_ndl_network *, evl_ndl_scope *, evl_span expression, double *);
bool evl_ndl_is_number(const evl_ndl_scope *, evl_span expression);
/* The value of an option; false: it is not there. */
bool evl_ndl_option(const evl_ndl_call *, const char *name, evl_span *value);
double evl_ndl_option_number(evl_ndl_network *, const evl_ndl_call *, const char *name,
                             double usual);
bool evl_ndl_option_flag(const evl_ndl_call *, const char *name, bool usual);
evl_cntk_list evl_ndl_list(evl_ndl_network *, size_t n, const int64_t *values);

/* functions.c: fills a node by what is called; false: no such function. */
bool evl_ndl_is_function(evl_span name);
void evl_ndl_apply(evl_ndl_network *, const evl_ndl_call *, evl_cntk_node *);

/* values.c: the elements of parameters, and (draw.c) those of a generator, in CNTK's order. */
void evl_ndl_read_init(evl_ndl_network *, const evl_ndl_call *, evl_cntk_node *);
void evl_ndl_fill(evl_ndl_network *, evl_cntk_node *, const int64_t *dims, size_t n);
void evl_ndl_constant(evl_ndl_network *, const evl_span *, evl_cntk_node *, int64_t rows,
                      int64_t cols, double value);
void evl_ndl_draw(evl_ndl_network *, evl_ndl_scope *);
#endif
