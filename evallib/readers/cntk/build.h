/* build.h - the network while it is being built. */
#ifndef EVL_READERS_CNTK_BUILD_H
#define EVL_READERS_CNTK_BUILD_H
#include "readers/cntk/components.h"
#include "readers/cntk/maker.h"

typedef struct evl_cntk_network {
    evl_context *ctx;
    const evl_cntk_model *model;
    evl_graph *graph;
    evl_value **values; /* by node; NULL: not yet, or it has none */
    evl_value **inner;  /* the same within the loop being built */
    size_t *places;     /* by node: its place in that loop, from 1; 0: outside */
    int64_t *states;    /* by node: a PastValue's number, -1 for the others; where operand 1 tells
                           what stands before the first frame, the next one is its flags' */
    bool *is_single;    /* by node: one frame stands for the whole sequence */
} evl_cntk_network;

bool evl_cntk_is_delay(const evl_cntk_node *);
bool evl_cntk_looks_ahead(const evl_cntk_node *); /* FutureValue */

/* One node, from its operands, into the network or a loop's body. */
EVL_MUST_USE EvalStatus evl_cntk_build_node(const evl_cntk_network *, evl_graph *,
                                            const evl_cntk_node *, evl_value *const *in,
                                            evl_value **value);

/* n nodes that lie on cycles together: one Recurrence. Sets their values. */
EVL_MUST_USE EvalStatus evl_cntk_build_loop(const evl_cntk_network *, const size_t *members,
                                            size_t n);

/* Of delays (delay.c): that it is one of some frames; what stands before the first frame, a
** number or (false) a sample, which does not change within a loop; and, for each frame of a
** sequence, whether the delay reaches past its end. */
EVL_MUST_USE EvalStatus evl_cntk_check_delay(evl_context *, const evl_cntk_node *);
bool evl_cntk_initial_number(const evl_cntk_network *, const evl_cntk_node *, double *number);
evl_value *evl_cntk_initial_sample(evl_cntk_maker *, evl_value *x);
evl_value *evl_cntk_edge_flags(evl_cntk_maker *, evl_value *sequence);

/* The nodes of a loop, in the order in which one frame is computed. */
typedef struct evl_cntk_loop {
    const evl_cntk_network *net;
    size_t n, n_delays;
    const evl_cntk_node **nodes;
    evl_cntk_list *shapes; /* of samples, by position; set for delays */
} evl_cntk_loop;

/* Sets the shapes of delays: as stored, else from what the loop computes. */
EVL_MUST_USE EvalStatus evl_cntk_shape_delays(evl_cntk_loop *);
#endif
