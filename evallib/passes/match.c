/* Who reads what, and which numbers stand beside it. */
#include "passes/match.h"
#include "ops/ops.h"
#include <math.h>

static void forget(evl_graph *g)
{
    for (size_t i = 0; i < g->n_values; i++)
        g->values[i]->slot = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            forget(evl_node_body(g->nodes[i], b));
}

static void count(evl_graph *g)
{
    for (size_t i = 0; i < g->n_outputs; i++)
        g->outputs[i]->slot++;
    for (size_t i = 0; i < g->n_nodes; i++) {
        evl_node *node = g->nodes[i];
        for (size_t j = 0; j < node->n_inputs; j++)
            if (node->inputs[j])
                (node->inputs[j] = evl_value_final(node->inputs[j]))->slot++;
        for (size_t b = 0; evl_node_body(node, b); b++)
            count(evl_node_body(node, b));
    }
}

void evl_match_count(evl_graph *g)
{
    forget(g);
    count(g);
}

EvalStatus evl_match_each(evl_graph *g, EvalStatus (*visit)(void *, evl_node *), void *arg)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < g->n_nodes && st == EVAL_OK; i++) {
        evl_node *node = g->nodes[i];
        for (size_t b = 0; evl_node_body(node, b) && st == EVAL_OK; b++)
            st = evl_match_each(evl_node_body(node, b), visit, arg);
        if (st == EVAL_OK)
            st = visit(arg, node);
    }
    return st;
}

bool evl_match_number(const evl_value *v, double *number)
{
    if (!v || !v->is_constant || !v->t.data || !evl_shape_is_known(&v->t.shape) ||
        evl_shape_count(&v->t.shape) != 1)
        return false;
    *number = evl_tensor_f64(&v->t, 0);
    return true;
}

const evl_node *evl_match_made(const evl_value *v, const evl_op *op)
{
    return v && v->producer && v->producer->op == op ? v->producer : NULL;
}

evl_value *evl_match_beside(const evl_node *node, double *number, size_t *at)
{
    for (size_t i = 0; node && node->n_inputs == 2 && i < 2; i++)
        if (evl_match_number(node->inputs[i], number)) {
            *at = i;
            return node->inputs[1 - i];
        }
    return NULL;
}

enum { X, GAMMA, BETA, MEAN, VARIANCE, BATCH_INPUTS };

bool evl_match_batch(const evl_node *node, size_t n)
{
    if (node->op != &evl_op_batch_normalization || node->n_inputs != BATCH_INPUTS ||
        evl_node_int(node, "training_mode", 0) || evl_node_int(node, "spatial", 1) != 1)
        return false;
    for (size_t i = GAMMA; i < BATCH_INPUTS; i++) {
        const evl_value *v = node->inputs[i];
        if (!v || !v->is_constant || !v->t.data || evl_shape_count(&v->t.shape) != n)
            return false;
    }
    for (size_t i = 1; i < node->n_outputs; i++)
        if (node->outputs[i])
            return false;
    return true;
}

/* gamma / sqrt(variance + epsilon), and what is left of the bias. */
void evl_match_batch_at(const evl_node *node, size_t channel, double *scale, double *bias)
{
    double in[BATCH_INPUTS] = { 0 };
    for (size_t i = GAMMA; i < BATCH_INPUTS; i++)
        in[i] = evl_tensor_f64(&node->inputs[i]->t, channel);
    *scale = in[GAMMA] / sqrt(in[VARIANCE] + evl_node_number(node, "epsilon", (double)1e-5f));
    *bias = in[BETA] - in[MEAN] * *scale;
}

bool evl_match_become(evl_node *node, const evl_op *op, evl_value *const *inputs, size_t n_inputs,
                      const evl_attribute *attributes, size_t n_attributes)
{
    evl_value **kept = evl_arena_take_many(node->graph->arena, n_inputs, sizeof *kept);
    if (!kept || !evl_node_attributes(node, attributes, n_attributes))
        return false;
    for (size_t i = 0; i < n_inputs; i++)
        kept[i] = inputs[i];
    node->op = op;
    node->version = EVL_NEWEST;
    node->inputs = kept;
    node->n_inputs = n_inputs;
    return true;
}
