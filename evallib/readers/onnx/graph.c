/* GraphProto: values first, then the nodes. */
#include "ops/ops.h"
#include "readers/onnx/onnx.h"

void evl_onnx_hold(evl_value *v, const evl_tensor *t)
{
    v->t = *t;
    v->is_constant = true;
}

typedef EvalStatus read_constant(evl_onnx *, evl_bytes message, evl_bytes *name, evl_tensor *);

static EvalStatus read_constants(evl_onnx *o, evl_onnx_scope *scope, evl_pb_many messages,
                                 read_constant *read)
{
    evl_bytes item, name;
    evl_tensor t;
    evl_value *v = NULL;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_pb_next(&messages, &item)) {
        st = read(o, item, &name, &t);
        if (st == EVAL_OK && evl_pb_size(name) == 0)
            st = evl_fail(o->ctx, EVAL_ERR_FORMAT,
                          "onnx: an initializer without a name, at byte %zu", item.at);
        if (st == EVAL_OK)
            st = evl_onnx_declare(o, scope, name, &v);
        if (st == EVAL_OK)
            evl_onnx_hold(v, &t);
    }
    return st;
}

static EvalStatus read_value_info(evl_onnx *o, evl_bytes message, onnx_value_info *info)
{
    *info = (onnx_value_info){ 0 };
    return evl_pb_read(o->ctx, &evl_onnx_value_info_schema, message, info);
}

/* For who writes the graph again: shapes are inferred anew, and in loops forgotten. */
static EvalStatus keep_declared(evl_onnx *o, evl_value *v)
{
    evl_shape *shape;
    if (v->t.shape.rank < 0)
        return EVAL_OK;
    if (!(shape = evl_arena_take(o->arena, sizeof *shape)))
        return evl_no_memory(o->ctx);
    *shape = v->t.shape;
    v->declared = shape;
    return EVAL_OK;
}

static EvalStatus read_input(evl_onnx *o, evl_onnx_scope *scope, evl_bytes message)
{
    onnx_value_info info;
    evl_value *v;
    EvalStatus st = read_value_info(o, message, &info);
    if (st != EVAL_OK)
        return st;
    /* Before IR version 4 every initialiser had to be an input too: its default. As any
    ** value may be given by its name, it is a constant and nothing more. */
    const evl_onnx_name *there = evl_onnx_look(scope, info.name);
    if (there && there->value->is_constant)
        return EVAL_OK;
    if (evl_pb_size(info.name) == 0)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: an input without a name, at byte %zu",
                        message.at);
    st = evl_onnx_declare(o, scope, info.name, &v);
    if (st != EVAL_OK)
        return st;
    if (!evl_graph_add_input(scope->graph, v))
        return evl_no_memory(o->ctx);
    st = evl_onnx_type(o, info.type, v);
    return st == EVAL_OK ? keep_declared(o, v) : st;
}

static EvalStatus read_inputs(evl_onnx *o, evl_onnx_scope *scope, evl_pb_many messages)
{
    evl_bytes item;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_pb_next(&messages, &item))
        st = read_input(o, scope, item);
    return st;
}

static EvalStatus declare_outputs_of(evl_onnx *o, evl_onnx_scope *scope, evl_bytes message)
{
    onnx_node node = { 0 };
    evl_bytes name;
    evl_value *v;
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_node_schema, message, &node);
    while (st == EVAL_OK && evl_pb_next(&node.outputs, &name))
        if (evl_pb_size(name) > 0)
            st = evl_onnx_declare(o, scope, name, &v);
    return st;
}

EvalStatus evl_onnx_declare_outputs(evl_onnx *o, evl_onnx_scope *scope, evl_pb_many nodes)
{
    evl_bytes item;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_pb_next(&nodes, &item))
        st = declare_outputs_of(o, scope, item);
    return st;
}

/* Of values that may have been optimised away: unknown names are passed over. */
static EvalStatus read_value_infos(evl_onnx *o, const evl_onnx_scope *scope, evl_pb_many messages)
{
    evl_bytes item;
    onnx_value_info info;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_pb_next(&messages, &item)) {
        st = read_value_info(o, item, &info);
        const evl_onnx_name *there = st == EVAL_OK ? evl_onnx_look(scope, info.name) : NULL;
        if (there && there->value->t.type == EVAL_UNDEFINED)
            st = evl_onnx_type(o, info.type, there->value);
    }
    return st;
}

EvalStatus evl_onnx_identity(evl_onnx *o, evl_graph *graph, evl_value *from, evl_value *to)
{
    evl_node *node = evl_graph_node(graph, &evl_op_identity, "", 1, 1);
    if (!node)
        return evl_no_memory(o->ctx);
    node->inputs[0] = from;
    evl_node_output(node, 0, to);
    return EVAL_OK;
}

/* A body may give out what it sees outside: its output is then a copy. */
static EvalStatus find_output(evl_onnx *o, evl_onnx_scope *scope, evl_bytes name,
                              evl_value **output)
{
    const char *text;
    evl_value *v;
    EvalStatus st = evl_onnx_text(o, name, &text);
    if (st != EVAL_OK)
        return st;
    if (!evl_onnx_find(scope, name, &v) || !v)
        return evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: nothing defines output '%s', at byte %zu",
                        text, name.at);
    *output = v;
    if (v->graph == scope->graph)
        return EVAL_OK;
    *output = evl_graph_value(scope->graph, "");
    return *output ? evl_onnx_identity(o, scope->graph, v, *output) : evl_no_memory(o->ctx);
}

static EvalStatus read_outputs(evl_onnx *o, evl_onnx_scope *scope, evl_pb_many messages)
{
    evl_bytes item;
    onnx_value_info info;
    evl_value *v = NULL;
    EvalStatus st = EVAL_OK;
    while (st == EVAL_OK && evl_pb_next(&messages, &item)) {
        st = read_value_info(o, item, &info);
        if (st == EVAL_OK)
            st = find_output(o, scope, info.name, &v);
        if (st == EVAL_OK && !evl_graph_add_output(scope->graph, v))
            st = evl_no_memory(o->ctx);
        if (st == EVAL_OK && v->t.type == EVAL_UNDEFINED)
            st = evl_onnx_type(o, info.type, v);
        if (st == EVAL_OK)
            st = keep_declared(o, v);
    }
    return st;
}

/* A graph costs more than a node does: it counts as some. */
enum { NODES_A_GRAPH = 16 };

EvalStatus evl_onnx_graph(evl_onnx *o, evl_bytes message, evl_onnx_scope *scope)
{
    onnx_graph g = { 0 };
    EvalStatus st = evl_pb_read(o->ctx, &evl_onnx_graph_schema, message, &g);
    o->n_nodes += NODES_A_GRAPH;
    if (st == EVAL_OK && g.outputs.n == 0)
        st = evl_fail(o->ctx, EVAL_ERR_FORMAT, "onnx: a graph without outputs, at byte %zu",
                      message.at);
    if (st == EVAL_OK)
        st = evl_onnx_scope_begin(o, scope);
    if (st == EVAL_OK)
        st = read_constants(o, scope, g.initializers, evl_onnx_tensor);
    if (st == EVAL_OK)
        st = read_constants(o, scope, g.sparse_initializers, evl_onnx_sparse);
    if (st == EVAL_OK)
        st = read_inputs(o, scope, g.inputs);
    if (st == EVAL_OK)
        st = evl_onnx_declare_outputs(o, scope, g.nodes);
    if (st == EVAL_OK)
        st = read_value_infos(o, scope, g.value_infos);
    if (st == EVAL_OK)
        st = evl_onnx_nodes(o, scope, g.nodes);
    return st == EVAL_OK ? read_outputs(o, scope, g.outputs) : st;
}
