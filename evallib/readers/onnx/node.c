/* NodeProto: a draft with its names looked up, then a node, a constant, the nodes of a
** function, or a line in the list of what is missing. */
#include "readers/onnx/onnx.h"
#include <string.h>

/* What a text calls a node that has no name of its own. */
const char *evl_onnx_called(const evl_onnx_draft *d)
{
    return *d->name || d->n_outputs == 0 || !d->outputs[0] ? d->name : d->outputs[0]->name;
}

static EvalStatus find_input(evl_onnx *o, const evl_onnx_scope *scope, const evl_onnx_draft *d,
                             size_t i, evl_bytes name)
{
    const char *text;
    if (evl_pb_size(name) == 0 || evl_onnx_find(scope, name, &d->inputs[i]))
        return EVAL_OK;
    EvalStatus st = evl_onnx_text(o, name, &text);
    if (st != EVAL_OK)
        return st;
    return evl_fail(o->ctx, EVAL_ERR_FORMAT,
                    "onnx: node '%s' (%s): nothing defines its input %zu, '%s', at byte %zu",
                    evl_onnx_called(d), d->op, i, text, name.at);
}

static EvalStatus draft_values(evl_onnx *o, const evl_onnx_scope *scope, onnx_node *node,
                               evl_onnx_draft *d)
{
    evl_bytes name;
    EvalStatus st = EVAL_OK;
    d->inputs = evl_arena_take_many(o->scratch, node->inputs.n + EVL_ONNX_SPARE, sizeof *d->inputs);
    d->outputs = evl_arena_take_many(o->scratch, node->outputs.n, sizeof *d->outputs);
    if (!d->inputs || !d->outputs)
        return evl_no_memory(o->ctx);
    for (size_t i = 0; evl_pb_next(&node->outputs, &name); i++)
        if (evl_pb_size(name) > 0) { /* declared before */
            d->outputs[i] = evl_onnx_look(scope, name)->value;
            d->n_outputs = i + 1; /* those left out at the end do not count */
        }
    for (size_t i = 0; st == EVAL_OK && evl_pb_next(&node->inputs, &name); i++) {
        st = find_input(o, scope, d, i, name);
        if (d->inputs[i])
            d->n_inputs = i + 1;
    }
    return st;
}

/* The opset of the node's domain; 0: there is none. */
static int version_of(const evl_onnx_scope *scope, const char *domain)
{
    size_t version;
    return evl_map_get(scope->opsets, domain, strlen(domain), &version) ? (int)version : 0;
}

static EvalStatus draft(evl_onnx *o, const evl_onnx_scope *scope, onnx_node *node,
                        evl_onnx_draft *d)
{
    EvalStatus st = evl_onnx_text(o, node->name, &d->name);
    if (st == EVAL_OK)
        st = evl_onnx_text(o, node->op_type, &d->op);
    if (st == EVAL_OK)
        st = evl_onnx_text(o, node->domain, &d->domain);
    if (st != EVAL_OK)
        return st;
    if (!*d->op)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: node '%s' has no operator, at byte %zu",
                        d->name, d->where);
    if (strcmp(d->domain, "ai.onnx") == 0)
        d->domain = "";
    d->version = version_of(scope, d->domain);
    st = draft_values(o, scope, node, d);
    return st == EVAL_OK
               ? evl_onnx_attributes(o, scope, node->attributes, &d->attributes, &d->n_attributes)
               : st;
}

static EvalStatus make(evl_onnx *o, const evl_onnx_scope *scope, const evl_onnx_draft *d,
                       const evl_op *op)
{
    const char *name;
    if (d->version == 0)
        return evl_fail(
            o->ctx, EVAL_ERR_FORMAT,
            "onnx: node '%s' (%s): the model imports no opset of its domain, at byte %zu",
            evl_onnx_called(d), d->op, d->where);
    EvalStatus st = evl_onnx_inner_name(o, scope, d->name, &name);
    if (st != EVAL_OK)
        return st;
    evl_node *node = evl_graph_node(scope->graph, op, name, d->n_inputs, d->n_outputs);
    if (!node || !evl_node_attributes(node, d->attributes, d->n_attributes))
        return evl_no_memory(o->ctx);
    node->version = d->version;
    node->where = d->where;
    for (size_t i = 0; i < d->n_inputs; i++)
        node->inputs[i] = d->inputs[i];
    for (size_t i = 0; i < d->n_outputs; i++)
        if (d->outputs[i])
            evl_node_output(node, i, d->outputs[i]);
    return EVAL_OK;
}

static EvalStatus miss(evl_onnx *o, const evl_onnx_draft *d)
{
    const char *domain = *d->domain ? d->domain : "ai.onnx", *name = evl_onnx_called(d);
    if (d->version == 0)
        return evl_onnx_miss(o, "node '%s': operator %s (%s, no opset)", name, d->op, domain);
    return evl_onnx_miss(o, "node '%s': operator %s (%s, opset %d)", name, d->op, domain,
                         d->version);
}

/* The domain of our own operators is no file's: their attributes are not checked. */
static const evl_op *find_op(const evl_onnx *o, const evl_onnx_draft *d)
{
    const evl_registry *more = o->source->guests ? &o->source->guests->registry : NULL;
    return strcmp(d->domain, "evl") == 0 ? NULL : evl_registry_find(more, d->domain, d->op);
}

/* Whether what is known of attributes holds: not for operators of plug-ins, nor for functions. */
static EvalStatus is_standard(evl_onnx *o, const evl_onnx_draft *d, evl_bytes overload, bool *is_so)
{
    static const char *const domains[] = { "", "ai.onnx.ml", "ai.onnx.preview", "com.microsoft" };
    evl_bytes function;
    bool is_function = false, is_ours = false;
    const evl_op *op = find_op(o, d);
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        is_ours |= strcmp(d->domain, domains[i]) == 0;
    EvalStatus st = op ? EVAL_OK : evl_onnx_find_function(o, d, overload, &function, &is_function);
    *is_so = is_ours && !is_function && op == evl_registry_find(NULL, d->domain, d->op);
    return st;
}

static EvalStatus check(evl_onnx *o, const evl_onnx_draft *d, evl_bytes overload)
{
    bool is_so;
    EvalStatus st = is_standard(o, d, overload, &is_so);
    return st == EVAL_OK && is_so ? evl_onnx_check_attributes(o, d) : st;
}

static EvalStatus place(evl_onnx *o, const evl_onnx_scope *scope, const evl_onnx_draft *d,
                        evl_bytes overload)
{
    evl_bytes function;
    bool is_function;
    const evl_op *op = find_op(o, d);
    if (!*d->domain && strcmp(d->op, "Constant") == 0)
        return evl_onnx_constant(o, d);
    if (op && (o->newer_ir || o->newer_opset) && d->n_inputs > op->max_inputs)
        return evl_onnx_miss(o, "node '%s': input %d of operator %s", evl_onnx_called(d),
                             (int)op->max_inputs, d->op);
    if (op)
        return make(o, scope, d, op);
    EvalStatus st = evl_onnx_find_function(o, d, overload, &function, &is_function);
    if (st != EVAL_OK)
        return st;
    return is_function ? evl_onnx_call_function(o, scope, d, function) : miss(o, d);
}

static EvalStatus read_node(evl_onnx *o, const evl_onnx_scope *scope, evl_bytes message)
{
    onnx_node node = { 0 };
    evl_onnx_draft d = { .where = message.at };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_node_schema, message, &node);
    if (st != EVAL_OK)
        return st;
    if (++o->n_nodes > o->ctx->limits->max_nodes)
        return evl_fail(o->ctx, EVAL_ERR_LIMIT, "onnx: more than %zu nodes, the setting maxNodes",
                        o->ctx->limits->max_nodes);
    st = draft(o, scope, &node, &d);
    if (st == EVAL_OK)
        st = check(o, &d, node.overload);
    if (st == EVAL_OK)
        st = evl_onnx_modernise(o, scope, &d);
    if (st == EVAL_OK)
        st = evl_onnx_compose(o, scope, &d);
    if (st == EVAL_OK)
        st = evl_onnx_quantized(o, scope, &d);
    return st == EVAL_OK ? place(o, scope, &d, node.overload) : st;
}

EvalStatus evl_onnx_nodes(evl_onnx *o, const evl_onnx_scope *scope, evl_pb_many nodes)
{
    evl_bytes item;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_pb_next(&nodes, &item))
        st = read_node(o, scope, item);
    return st;
}
