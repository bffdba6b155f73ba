/* network.h - a composite function as read: primitive functions and variables, by uid. */
#ifndef EVL_READERS_CNTK2_NETWORK_H
#define EVL_READERS_CNTK2_NETWORK_H
#include "readers/cntk2/attributes.h"
#include "readers/cntk2/ops.h"

typedef struct evl_cntk2_variable {
    const char *uid, *name;
    int64_t kind;
    evl_cntk2_dictionary record;
    evl_cntk_node *node; /* NULL: nobody reads it */
} evl_cntk2_variable;

enum {
    EVL_CNTK2_INPUT,
    EVL_CNTK2_OUTPUT,
    EVL_CNTK2_PARAMETER,
    EVL_CNTK2_CONSTANT,
    EVL_CNTK2_PLACEHOLDER
};

typedef struct evl_cntk2_function {
    const char *uid, *name;
    int64_t number; /* of the operator; -1: of a user */
    evl_cntk2_dictionary record;
    size_t n_inputs, n_outputs;
    const char **inputs;  /* uids of variables */
    const char *root;     /* of a Block: the function within; else NULL */
    evl_cntk_node *nodes; /* an output each */
} evl_cntk2_function;

typedef struct evl_cntk2_network {
    evl_cntk2_cursor c;
    const char *root, *name, *uid;
    size_t n_variables, n_functions;
    evl_cntk2_variable *variables;
    evl_cntk2_function *functions;
    evl_map *variable_of, *function_of; /* uid -> index */
    evl_map *binding_of;                /* uid of a Block's placeholder -> index in bindings */
    const char **bindings;              /* uids of what they stand for */
    size_t n_bindings, binding_capacity;
} evl_cntk2_network;

/* What a uid means once Blocks and Combines are dissolved. */
typedef struct evl_cntk2_source {
    evl_cntk2_variable *variable; /* NULL: an output of the function */
    evl_cntk2_function *function;
    size_t output;
} evl_cntk2_source;

/* Failures are the cursor's. */
void evl_cntk2_read_network(evl_cntk2_network *, const evl_cntk2_dictionary *composite);
bool evl_cntk2_resolve(evl_cntk2_network *, const char *uid, evl_cntk2_source *);
/* Output `output` of the function of that uid. */
bool evl_cntk2_resolve_output(evl_cntk2_network *, const char *function, size_t output,
                              evl_cntk2_source *);
/* How many outputs the function has: a Block those of its root, a Combine its inputs. */
size_t evl_cntk2_output_count(evl_cntk2_network *, const char *function);

/* The network becomes the model that CNTK's formats share. */
void evl_cntk2_make_model(evl_cntk2_network *, evl_cntk_model *);
#endif
