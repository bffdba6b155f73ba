/* Nodes that the file does not have, in front of the one that is read. */
#include "ops/ops.h"
#include "readers/onnx/onnx.h"

static EvalStatus put(evl_onnx_putter *p, evl_value **outputs, size_t n_outputs, const char *op,
                      evl_value *const *inputs, size_t n_inputs, const evl_attribute *attributes,
                      size_t n_attributes)
{
    evl_onnx *o = p->o;
    if (++o->n_nodes > o->ctx->limits->max_nodes)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT, "onnx: more than %zu nodes, the setting maxNodes",
                        o->ctx->limits->max_nodes);
    const char *name;
    EvalStatus st = evl_onnx_inner_name(o, p->scope, p->d->name, &name);
    if (st != EVAL_OK)
        return st;
    evl_node *node = evl_graph_node(p->scope->graph, evl_op_find(NULL, op), name, n_inputs, n_outputs);
    if (!node || !evl_node_attributes(node, attributes, n_attributes))
        return evl_no_memory(o->ctx);
    node->version = EVL_NEWEST;
    node->where = p->d->where;
    for (size_t i = 0; i < n_inputs; i++)
        node->inputs[i] = inputs[i];
    for (size_t i = 0; i < n_outputs; i++) {
        outputs[i] = outputs[i] ? outputs[i] : evl_graph_value(p->scope->graph, NULL);
        if (!outputs[i])
            return evl_no_memory(o->ctx);
        evl_node_output(node, i, outputs[i]);
    }
    return EVAL_OK;
}

void evl_onnx_put_to(evl_onnx_putter *p, evl_value *output, const char *op,
                     evl_value *const *inputs, size_t n_inputs, const evl_attribute *attributes,
                     size_t n_attributes)
{
    if (p->status == EVAL_OK)
        p->status = put(p, &output, 1, op, inputs, n_inputs, attributes, n_attributes);
}

evl_value *evl_onnx_put(evl_onnx_putter *p, const char *op, evl_value *const *inputs,
                        size_t n_inputs, const evl_attribute *attributes, size_t n_attributes)
{
    evl_value *output = NULL;
    if (p->status == EVAL_OK)
        p->status = put(p, &output, 1, op, inputs, n_inputs, attributes, n_attributes);
    return output;
}

void evl_onnx_put_many(evl_onnx_putter *p, evl_value **outputs, size_t n_outputs, const char *op,
                       evl_value *const *inputs, size_t n_inputs, const evl_attribute *attributes,
                       size_t n_attributes)
{
    if (p->status == EVAL_OK)
        p->status = put(p, outputs, n_outputs, op, inputs, n_inputs, attributes, n_attributes);
}
