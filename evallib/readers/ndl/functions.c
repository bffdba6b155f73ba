/* functions.c - what can be called: most functions make a node of operands; some have numbers
** among their arguments. */
#include "base/text.h"
#include "readers/ndl/network.h"
#include <string.h>

typedef void apply(evl_ndl_network *, const evl_ndl_call *, evl_cntk_node *);

typedef struct function {
    const char *name, *op;
    apply *apply; /* NULL: all arguments are operands */
} function;

static int64_t whole(evl_ndl_network *net, const evl_ndl_call *call, size_t i, int64_t usual)
{
    double number = (double)usual;
    if (i < call->n)
        evl_ndl_number(net, call->scope, call->arguments[i], &number);
    return number >= -1e15 && number <= 1e15 ? (int64_t)number : -1;
}

static int64_t option(evl_ndl_network *net, const evl_ndl_call *call, const char *name,
                      int64_t usual)
{
    double number = evl_ndl_option_number(net, call, name, (double)usual);
    return number >= -1e15 && number <= 1e15 ? (int64_t)number : -1;
}

/* Operands from argument `first` on, n of them. */
static void take_operands(evl_ndl_network *net, const evl_ndl_call *call, size_t first, size_t n,
                          evl_cntk_node *node)
{
    if (first + n > call->n || n == 0) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT, "%zu arguments, expected %zu", call->n,
                     first + (n ? n : 1));
        return;
    }
    node->inputs = evl_arena_take_many(net->arena, n, sizeof(evl_cntk_node *));
    if (!node->inputs) {
        net->status = evl_no_memory(net->ctx);
        return;
    }
    for (size_t i = 0; i < n && net->status == EVAL_OK; i++)
        node->inputs[i] = evl_ndl_node(net, call->scope, call->arguments[first + i]);
    node->n_inputs = net->status == EVAL_OK ? n : 0;
}

static void input(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t dims[3] = { whole(net, call, 0, 1), whole(net, call, 1, 1), whole(net, call, 2, 1) };
    node->f.shape = evl_ndl_list(net, call->n == 3 ? 3 : 1, dims);
}

/* Rows of a node's samples, as far as the description tells; 0: it does not. */
static int64_t rows_of(const evl_cntk_node *node, int depth)
{
    while (node && depth-- > 0) {
        if (node->f.shape.n > 0 && node->f.shape.at[0] > 0)
            return node->f.shape.at[0];
        if (node->f.ends.n > 0)
            return node->f.ends.at[0] - node->f.begins.at[0];
        node = node->n_inputs > 0 ? node->inputs[0] : NULL;
    }
    return 0;
}

enum { DEEP = 64 };

static void parameter(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t rows = whole(net, call, 0, 1), cols = whole(net, call, 1, 1);
    node->f.rows = rows;
    if (rows > 0 && cols == 0) {
        node->f.cols = -1; /* till a Times tells */
        node->f.shape = evl_ndl_list(net, 1, &rows);
        return;
    }
    evl_ndl_fill(net, call, node, rows, cols);
}

static void constant(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    double value = 0;
    if (call->n != 1)
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT, "a constant of %zu values", call->n);
    else if (evl_ndl_number(net, call->scope, call->arguments[0], &value))
        evl_ndl_constant(net, &call->function, node, option(net, call, "rows", 1),
                         option(net, call, "cols", 1), value);
}

/* A parameter without columns has as many as what it is multiplied with has rows. */
static void times(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    take_operands(net, call, 0, 2, node);
    node->f.output_rank = option(net, call, "outputRank", 1);
    if (net->status != EVAL_OK || node->inputs[0]->f.cols != -1)
        return;
    evl_cntk_node *w = node->inputs[0];
    int64_t cols = rows_of(node->inputs[1], DEEP);
    if (cols < 1) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT,
                     "the columns of '%s' are 0 and cannot be told", w->name);
        return;
    }
    evl_ndl_call own = { .function = call->function, .scope = call->scope };
    w->f.cols = 0;
    evl_ndl_fill(net, &own, w, w->f.rows, cols);
}

static void delay(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t rows = whole(net, call, 0, 0);
    node->f.shape = evl_ndl_list(net, rows > 0, &rows);
    node->f.step = option(net, call, "timeStep", option(net, call, "delayTime", 1));
    node->f.initial = evl_ndl_option_number(net, call, "defaultHiddenActivity", 0.1);
    take_operands(net, call, call->n > 2 ? 2 : 1, 1, node);
}

static void row_slice(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    const int64_t begin = whole(net, call, 0, 0), end = begin + whole(net, call, 1, 0), one = 1;
    node->f.begins = evl_ndl_list(net, 1, &begin);
    node->f.ends = evl_ndl_list(net, 1, &end);
    node->f.axes = evl_ndl_list(net, 1, &one);
    node->f.steps = evl_ndl_list(net, 1, &one);
    take_operands(net, call, 2, 1, node);
}

static void row_repeat(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    take_operands(net, call, 0, 1, node);
    node->f.repeats = whole(net, call, 1, 1);
}

static void reshape(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    take_operands(net, call, 0, 1, node);
    node->f.rows = whole(net, call, 1, 1);
}

static void transpose(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    static const int64_t both[2] = { 1, 2 };
    node->f.axes = evl_ndl_list(net, 2, both);
    take_operands(net, call, 0, 1, node);
}

static int64_t layout(const evl_ndl_call *call)
{
    evl_span name;
    bool is_chw = evl_ndl_option(call, "imageLayout", &name) &&
                  evl_text_equal_no_case(name.text, name.n, "CHW", 3);
    return is_chw ? EVL_CNTK_CHW : EVL_CNTK_HWC;
}

/* Convolution(W, x, kW, kH, maps, sx, sy, zeroPadding=false) */
static void convolution(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t kernel[2] = { whole(net, call, 2, 1), whole(net, call, 3, 1) };
    int64_t stride[2] = { whole(net, call, 5, 1), whole(net, call, 6, 1) };
    int64_t maps = whole(net, call, 4, 1), pads = evl_ndl_option_flag(call, "zeroPadding", false);
    int64_t both[2] = { pads, pads };
    if (call->n < 7) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_UNSUPPORTED,
                     "a convolution of any rank: offered is Convolution(W, x, kernelWidth, "
                     "kernelHeight, maps, strideAcross, strideDown)");
        return;
    }
    take_operands(net, call, 0, 2, node);
    node->f.kernel = evl_ndl_list(net, 2, kernel);
    node->f.stride = evl_ndl_list(net, 2, stride);
    node->f.map_count = evl_ndl_list(net, 1, &maps);
    node->f.auto_pad = evl_ndl_list(net, 2, both);
    node->f.layout = layout(call);
}

/* MaxPooling(x, width, height, across, down) */
static void pooling(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t kernel[2] = { whole(net, call, 1, 1), whole(net, call, 2, 1) };
    int64_t stride[2] = { whole(net, call, 3, 1), whole(net, call, 4, 1) };
    take_operands(net, call, 0, 1, node);
    node->f.kernel = evl_ndl_list(net, 2, kernel);
    node->f.stride = evl_ndl_list(net, 2, stride);
    node->f.layout = layout(call);
}

static void batch_normalization(evl_ndl_network *net, const evl_ndl_call *call,
                                evl_cntk_node *node)
{
    take_operands(net, call, 0, call->n, node);
    node->f.is_spatial = evl_ndl_option_flag(call, "spatial", false);
    node->f.epsilon = evl_ndl_option_number(net, call, "epsilon", 1e-5);
    node->f.layout = layout(call);
}

static const function functions[] = {
    { "Input", "InputValue", input },
    { "InputValue", "InputValue", input },
    { "ImageInput", "InputValue", input },
    { "Image", "InputValue", input },
    { "SparseInput", "SparseInputValue", input },
    { "SparseInputValue", "SparseInputValue", input },
    { "SparseImageInput", "SparseInputValue", input },
    { "Parameter", "LearnableParameter", parameter },
    { "LearnableParameter", "LearnableParameter", parameter },
    { "Constant", "LearnableParameter", constant },
    { "Const", "LearnableParameter", constant },
    { "Times", "Times", times },
    { "TransposeTimes", "TransposeTimes", times },
    { "PastValue", "PastValue", delay },
    { "Delay", "PastValue", delay },
    { "FutureValue", "FutureValue", delay },
    { "RowSlice", "RowSlice", row_slice },
    { "RowRepeat", "RowRepeat", row_repeat },
    { "Reshape", "LegacyReshape", reshape },
    { "Transpose", "Transpose", transpose },
    { "Convolution", "Convolution", convolution },
    { "Convolve", "Convolution", convolution },
    { "MaxPooling", "MaxPooling", pooling },
    { "AveragePooling", "AveragePooling", pooling },
    { "BatchNormalization", "BatchNormalization", batch_normalization },
    { "ReLU", "RectifiedLinear", NULL },
    { "Cos", "Cosine", NULL },
    { "ColumnwiseCrossProduct", "KhatriRaoProduct", NULL },
    { "CEWithSM", "CrossEntropyWithSoftmax", NULL },
    { "SE", "SquareError", NULL },
    { "PerDimMVNorm", "PerDimMeanVarNormalization", NULL },
    { "PerDimMVDeNorm", "PerDimMeanVarDeNormalization", NULL },
    { "L1Reg", "MatrixL1Reg", NULL },
    { "L2Reg", "MatrixL2Reg", NULL },
    { "CosDist", "CosDistance", NULL },
};

/* Nodes that are called as their operator is, and made of operands alone. */
static const char *const plain[] = {
    "Plus", "Minus", "ElementTimes", "DiagTimes", "Scale", "RowElementTimes", "ColumnElementTimes",
    "KhatriRaoProduct", "LogPlus", "Negate", "Abs", "Sigmoid", "Tanh", "RectifiedLinear", "Exp",
    "Log", "Sqrt", "Floor", "Reciprocal", "Sin", "Cosine", "Sinh", "Cosh", "Asin", "Acos", "Softmax",
    "LogSoftmax", "Hardmax", "Clip", "If", "Less", "Equal", "Greater", "LessEqual", "GreaterEqual",
    "NotEqual", "Pass", "StopGradient", "Dropout", "Diagonal", "SumElements", "SumColumnElements",
    "LookupTable", "PerDimMeanVarNormalization", "PerDimMeanVarDeNormalization", "RowStack",
    "CrossEntropyWithSoftmax", "CrossEntropy", "SquareError", "Logistic", "ClassificationError",
    "ErrorPrediction", "MatrixL1Reg", "MatrixL2Reg", "CosDistance", "LabelsToGraph",
    "ReconcileDynamicAxis", "Cast",
};

static function find(evl_span name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (evl_text_equal_no_case(functions[i].name, strlen(functions[i].name), name.text, name.n))
            return functions[i];
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (evl_text_equal_no_case(plain[i], strlen(plain[i]), name.text, name.n))
            return (function){ plain[i], plain[i], NULL };
    return (function){ NULL, NULL, NULL };
}

bool evl_ndl_is_function(evl_span name)
{
    return find(name).name;
}

void evl_ndl_apply(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    function f = find(call->function);
    node->op = f.op ? evl_cntk_op_find(f.op) : NULL;
    if (!node->op) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_UNSUPPORTED, "no function or macro '%.*s'",
                     (int)(call->function.n < 64 ? call->function.n : 64), call->function.text);
        return;
    }
    node->f = (evl_cntk_fields){ .word = "", .output_rank = 1, .inferred_rank = -1, .axis = 1,
                                 .step = 1, .layout = EVL_CNTK_CHW, .groups = 1, .initial = 0.1,
                                 .epsilon = 1e-5, .keeps_axes = 1 };
    if (f.apply)
        f.apply(net, call, node);
    else
        take_operands(net, call, 0, call->n, node);
}
