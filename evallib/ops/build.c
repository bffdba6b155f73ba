#include "ops/build.h"
#include <string.h>

static evl_value *failed(evl_builder *b, EvalStatus st)
{
    if (b->status == EVAL_OK)
        b->status = st;
    return NULL;
}

static evl_value *no_memory(evl_builder *b)
{
    return failed(b, b->status == EVAL_OK ? evl_no_memory(b->ctx) : b->status);
}

/* A node's output has frames when any of its operands has. */
static bool has_frames(evl_value *const *inputs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (inputs[i] && inputs[i]->has_frames)
            return true;
    return false;
}

evl_value *evl_build(evl_builder *b, const evl_op *op, const char *name, evl_value *const *inputs,
                     size_t n_inputs, const evl_attribute *attributes, size_t n_attributes)
{
    if (b->status != EVAL_OK)
        return NULL;
    evl_node *node = evl_graph_node(b->graph, op, name, n_inputs, 1);
    evl_value *y = evl_graph_value(b->graph, name);
    if (!node || !y || !evl_node_attributes(node, attributes, n_attributes))
        return no_memory(b);
    for (size_t i = 0; i < n_inputs; i++)
        node->inputs[i] = inputs[i];
    evl_node_output(node, 0, y);
    y->has_frames = has_frames(inputs, n_inputs);
    EvalStatus st = evl_infer_node(b->ctx, node);
    return st == EVAL_OK ? y : failed(b, st);
}

evl_value *evl_build_1(evl_builder *b, const evl_op *op, const char *name, evl_value *x)
{
    return evl_build(b, op, name, &x, 1, NULL, 0);
}

evl_value *evl_build_2(evl_builder *b, const evl_op *op, const char *name, evl_value *x,
                       evl_value *y)
{
    evl_value *inputs[2] = { x, y };
    return evl_build(b, op, name, inputs, 2, NULL, 0);
}

static evl_value *constant(evl_builder *b, EvalType type, const evl_shape *shape, size_t bytes,
                           const void *source)
{
    if (b->status != EVAL_OK)
        return NULL;
    void *data = evl_arena_take(b->graph->arena, bytes);
    if (bytes && !data)
        return no_memory(b);
    if (bytes)
        memcpy(data, source, bytes);
    evl_value *v = evl_graph_constant(b->graph, NULL, type, shape, data);
    return v ? v : no_memory(b);
}

evl_value *evl_build_number(evl_builder *b, EvalType type, double number)
{
    evl_shape scalar = evl_shape_scalar();
    double room = 0; /* as wide as any element */
    if (!evl_convert(1, EVAL_FLOAT64, &number, type, &room))
        return failed(b, evl_fail(b->ctx, EVAL_ERR_TYPE, "no number of type %s",
                                  evl_type_name(type)));
    return constant(b, type, &scalar, evl_type_size(type), &room);
}

evl_value *evl_build_ints(evl_builder *b, const int64_t *ints, size_t n)
{
    evl_shape shape = { .rank = 1, .dim = { (int64_t)n } };
    return constant(b, EVAL_INT64, &shape, n * sizeof *ints, ints);
}

evl_value *evl_build_reshape(evl_builder *b, const char *name, evl_value *x, const int64_t *dims,
                             size_t n)
{
    return evl_build_2(b, &evl_op_reshape, name, x, evl_build_ints(b, dims, n));
}
