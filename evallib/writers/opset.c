/* opset.c - tables of what changed from opset to opset. A name of an operator that ends in '*' is a
** beginning. */
#include "writers/opset.h"
#include "ir/op.h"
#include <string.h>

/* Attributes of older opsets that are inputs, or are gone, from `since` on. */
static const struct {
    const char *op, *attribute;
    int becomes, since;
} moved[] = {
    { "Squeeze", "axes", 1, 13 },    { "Unsqueeze", "axes", 1, 13 },
    { "ReduceSum", "axes", 1, 13 },  { "Reduce*", "axes", 1, 18 },
    { "Clip", "min", 1, 11 },        { "Clip", "max", 2, 11 },
    { "Slice", "starts", 1, 10 },    { "Slice", "ends", 2, 10 },
    { "Slice", "axes", 3, 10 },      { "Slice", "steps", 4, 10 },
    { "Pad", "pads", 1, 11 },        { "Pad", "value", 2, 11 },
    { "Split", "split", 1, 13 },     { "TopK", "k", 1, 10 },
    { "Reshape", "shape", 1, 5 },    { "Expand", "shape", 1, 8 },
    { "Tile", "repeats", 1, 6 },     { "DFT", "axis", 2, 20 },
    { "Dropout", "ratio", EVL_GOES, 12 },
    { "BatchNormalization", "spatial", EVL_GOES, 9 },
    { "*", "consumed_inputs", EVL_GOES, 6 },
    { "*", "is_test", EVL_GOES, 7 }, { "*", "broadcast", EVL_GOES, 7 },
    { "*", "output_sequence", EVL_GOES, 7 },
    /* com.microsoft's, of what is composed of this operator and others */
    { "AveragePool", "channels_last", EVL_GOES, 1 },
    { "Conv", "activation", EVL_GOES, 1 },
    { "Conv", "activation_params", EVL_GOES, 1 },
    { "Gemm", "activation", EVL_GOES, 1 },
    { "Gemm", "activation_alpha", EVL_GOES, 1 },
    { "Gemm", "activation_beta", EVL_GOES, 1 },
    { "Gemm", "activation_gamma", EVL_GOES, 1 },
    { "GlobalAveragePool", "channels_last", EVL_GOES, 1 },
    { "Softmax", "opset", EVL_GOES, 1 },
};

/* Operators that mean something else from `since` on: all, or those with an attribute that is not
** the number `unless`. */
static const struct {
    const char *op;
    int since;
    evl_opset_change change;
    const char *with;
    int64_t unless;
} changed[] = {
    { "Softmax", 13, EVL_FLATTENS, NULL, 0 },
    { "LogSoftmax", 13, EVL_FLATTENS, NULL, 0 },
    { "Hardmax", 13, EVL_FLATTENS, NULL, 0 },
    { "Split", 18, EVL_COUNTS_OUTPUTS, NULL, 0 },
    { "Add", 7, EVL_CHANGED, "axis", -1 },
    { "Sub", 7, EVL_CHANGED, "axis", -1 },
    { "Mul", 7, EVL_CHANGED, "axis", -1 },
    { "Div", 7, EVL_CHANGED, "axis", -1 },
    { "Pow", 7, EVL_CHANGED, "axis", -1 },
    { "And", 7, EVL_CHANGED, "axis", -1 },
    { "Or", 7, EVL_CHANGED, "axis", -1 },
    { "Xor", 7, EVL_CHANGED, "axis", -1 },
    { "Less", 7, EVL_CHANGED, "axis", -1 },
    { "Greater", 7, EVL_CHANGED, "axis", -1 },
    { "Equal", 7, EVL_CHANGED, "axis", -1 },
    { "PRelu", 7, EVL_CHANGED, NULL, 0 },
    { "BatchNormalization", 9, EVL_CHANGED, "spatial", 1 },
    { "Cast", 6, EVL_CHANGED, NULL, 0 },
    { "GridSample", 20, EVL_CHANGED, "mode", 0 }, /* the modes' names */
    { "GroupNormalization", 21, EVL_CHANGED, NULL, 0 },
    { "LpPool", 2, EVL_CHANGED, NULL, 0 },
    { "Pad", 2, EVL_CHANGED, NULL, 0 },
    { "Resize", 11, EVL_CHANGED, NULL, 0 },
    { "RoiAlign", 16, EVL_CHANGED, NULL, 0 },
    { "Scan", 9, EVL_CHANGED, NULL, 0 },
    { "Selu", 6, EVL_CHANGED, NULL, 0 },
    { "Tile", 6, EVL_CHANGED, NULL, 0 },
};

/* Since when there is an operator, of those that readers compose; with more inputs than `beyond`, or an attribute. */
static const struct {
    const char *op;
    int since;
    size_t beyond;
    const char *with;
} begun[] = {
    { "Attention", 23, 0, NULL },
    { "Attention", 24, 6, NULL },
    { "Attention", 25, 0, "left_window_size" },
    { "Gelu", 20, 0, NULL },
    { "LayerNormalization", 17, 0, NULL },
    { "RMSNormalization", 23, 0, NULL },
    { "RotaryEmbedding", 23, 0, NULL },
    { "Shape", 15, 0, NULL },
    { "Swish", 24, 0, NULL },
    { "TensorScatter", 24, 0, NULL },
};

enum { LEAST = 13, RARE_INTEGERS = 21 }; /* of what is composed */

static bool is_called(const char *name, const char *pattern)
{
    size_t n = strlen(pattern);
    return pattern[n - 1] == '*' ? strncmp(name, pattern, n - 1) == 0 : strcmp(name, pattern) == 0;
}

int evl_opset_attribute(const evl_node *node, const evl_attribute *a, int opset)
{
    bool is_newest = node->version == EVL_NEWEST;
    for (size_t i = 0; i < sizeof moved / sizeof moved[0] && !node->op->domain; i++)
        if (is_called(node->op->name, moved[i].op) && strcmp(a->name, moved[i].attribute) == 0)
            return (is_newest || node->version < moved[i].since) && opset >= moved[i].since
                       ? moved[i].becomes
                       : EVL_STAYS;
    return EVL_STAYS;
}

/* Over the last axis alone nothing changed. */
static bool is_of_last_axis(const evl_node *node)
{
    int32_t rank = node->inputs[0]->t.shape.rank;
    int64_t axis = evl_node_int(node, "axis", 1);
    return rank > 0 && (axis < 0 ? axis + rank : axis) == rank - 1;
}

static bool concerns(const evl_node *node, const char *with, int64_t unless)
{
    const evl_attribute *a = with ? evl_node_attribute(node, with) : NULL;
    return !with || (a && !(a->kind == EVL_ATTRIBUTE_INT && a->u.i == unless));
}

static bool has_parts(const evl_node *node)
{
    return node->n_inputs > 1 || evl_node_attribute(node, "split") || evl_node_attribute(node, "num_outputs");
}

evl_opset_change evl_opset_change_of(const evl_node *node, int opset)
{
    for (size_t i = 0; i < sizeof changed / sizeof changed[0] && !node->op->domain; i++) {
        evl_opset_change change = changed[i].change;
        if (strcmp(node->op->name, changed[i].op) != 0 || opset < changed[i].since)
            continue;
        if (change == EVL_COUNTS_OUTPUTS)
            return has_parts(node) ? EVL_SAME : change;
        if (node->version < changed[i].since && concerns(node, changed[i].with, changed[i].unless))
            return change == EVL_FLATTENS && is_of_last_axis(node) ? EVL_SAME : change;
    }
    return EVL_SAME;
}

/* Integers of 2, 4 and 16 bits are quantized since then. */
static bool has_rare_integers(evl_value *const *values, size_t n)
{
    bool has = false;
    for (size_t i = 0; i < n && !has; i++) {
        EvalType type = values[i] ? values[i]->t.type : EVAL_UNDEFINED;
        has = type == EVAL_INT16 || type == EVAL_UINT16 || evl_type_packed_bits(type) != 0;
    }
    return has;
}

static bool is_begun(const evl_node *node, size_t i)
{
    return strcmp(node->op->name, begun[i].op) == 0 && node->n_inputs > begun[i].beyond &&
           (!begun[i].with || evl_node_attribute(node, begun[i].with));
}

/* The first opset with what a node of none uses. */
static int needed(const evl_node *node)
{
    int opset = has_rare_integers(node->inputs, node->n_inputs) ||
                        has_rare_integers(node->outputs, node->n_outputs)
                    ? RARE_INTEGERS
                    : LEAST;
    for (size_t i = 0; i < sizeof begun / sizeof begun[0]; i++)
        if (is_begun(node, i) && begun[i].since > opset)
            opset = begun[i].since;
    for (size_t i = 0; i < sizeof moved / sizeof moved[0]; i++)
        if (is_called(node->op->name, moved[i].op) && moved[i].becomes > 0 &&
            (size_t)moved[i].becomes < node->n_inputs)
            return moved[i].since > opset ? moved[i].since : opset;
    return opset;
}

int evl_opset_of_graph(const evl_graph *g, int least)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        const evl_node *node = g->nodes[i];
        int own = node->op->domain ? 0 : node->version == EVL_NEWEST ? needed(node) : node->version;
        least = own > least ? own : least;
        for (size_t b = 0; evl_node_body(node, b); b++)
            least = evl_opset_of_graph(evl_node_body(node, b), least);
    }
    return least;
}
