/* match.h - what passes that look for something written out ask about values. */
#ifndef EVL_PASSES_MATCH_H
#define EVL_PASSES_MATCH_H
#include "ir/op.h"

/* Leaves in evl_value.slot how many read each value, in bodies too; who asks for it reads. */
void evl_match_count(evl_graph *);

/* Visits every node, those of a node's bodies before it, until one fails. */
EvalStatus evl_match_each(evl_graph *, EvalStatus (*visit)(void *arg, evl_node *), void *arg);

/* A constant of one element. */
bool evl_match_number(const evl_value *, double *number);

/* The node, when that operator makes v; NULL: another, or none. */
const evl_node *evl_match_made(const evl_value *v, const evl_op *);

/* The other operand of a node of two, when one is a constant number; *at: which that is. */
evl_value *evl_match_beside(const evl_node *, double *number, size_t *at);

/* A BatchNormalization of n channels as in inference, all of whose numbers are constants. */
bool evl_match_batch(const evl_node *, size_t n);
/* What it does to a channel: scale * x + bias. */
void evl_match_batch_at(const evl_node *, size_t channel, double *scale, double *bias);

/* Makes the node another of EVL_NEWEST; its outputs stay. False: no memory. */
bool evl_match_become(evl_node *, const evl_op *, evl_value *const *inputs, size_t n_inputs,
                      const evl_attribute *, size_t n_attributes);
#endif
