/* network.h - a graph of toy operators on int64, run through a plan. */
#ifndef EVL_TESTS_EXEC_NETWORK_H
#define EVL_TESTS_EXEC_NETWORK_H
#include "exec/exec.h"
#include "support/run_op.h"
#include "support/toy.h"
#include <string.h>

typedef struct network {
    evl_context *ctx;
    evl_machine machine;
    evl_pass_env env;
    evl_graph *g;
} network;

static inline void network_begin(network *n)
{
    n->ctx = evl_test_begin();
    evl_test_machine(&n->machine, EVL_FLOAT, 0);
    n->env = (evl_pass_env){ .machine = &n->machine, .store = evl_store_new(n->ctx->memory) };
    n->g = evl_graph_new(evl_arena_new(n->ctx->memory), NULL);
}

static inline void network_end(network *n)
{
    evl_store_free(n->env.store);
    evl_arena_free(n->g->arena);
    evl_test_end(n->ctx);
}

/* The inputs as they are, one output; given_t has room for all inputs. */
static inline evl_selection network_asking(const network *n, evl_value *const *asked,
                                           evl_tensor *given_t)
{
    for (size_t i = 0; i < n->g->n_inputs; i++)
        given_t[i] = n->g->inputs[i]->t;
    return (evl_selection){ n->g->inputs, given_t, n->g->n_inputs, asked, 1 };
}
#endif
