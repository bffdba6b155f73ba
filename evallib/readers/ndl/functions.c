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

static int64_t layout(const evl_ndl_call *call, int64_t usual)
{
    evl_span name;
    if (!evl_ndl_option(call, "imageLayout", &name))
        return usual;
    bool is_hwc = evl_text_equal_no_case(name.text, name.n, "HWC", 3) ||
                  evl_text_equal_no_case(name.text, name.n, "legacy", 6);
    return is_hwc ? EVL_CNTK_HWC : EVL_CNTK_CHW; /* "cudnn" is CHW */
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

/* Dimensions from argument `first` on. */
static size_t take_dims(evl_ndl_network *net, const evl_ndl_call *call, int64_t *dims)
{
    size_t n = call->n < EVL_CNTK_MAX_RANK ? call->n : EVL_CNTK_MAX_RANK;
    if (call->n < 1 || call->n > EVL_CNTK_MAX_RANK)
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT, "%zu dimensions", call->n);
    for (size_t i = 0; i < n; i++)
        dims[i] = whole(net, call, i, 1);
    return n;
}

static void input(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t dims[EVL_CNTK_MAX_RANK];
    size_t n = take_dims(net, call, dims);
    node->f.shape = evl_ndl_list(net, n, dims);
}

/* Width, height, channels; a fourth number, of images, is ignored. */
static void image(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t w = whole(net, call, 0, 1), h = whole(net, call, 1, 1), c = whole(net, call, 2, 1);
    bool is_chw = layout(call, EVL_CNTK_HWC) == EVL_CNTK_CHW;
    const int64_t dims[3] = { is_chw ? w : c, is_chw ? h : w, is_chw ? c : h };
    if (call->n < 3 || call->n > 4)
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT,
                     "%zu numbers, expected width, height and channels", call->n);
    node->f.shape = evl_ndl_list(net, 3, dims);
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

/* The last three dimensions, width, height and channels, as the layout has them. */
static void arrange(const evl_ndl_call *call, int64_t *dims, size_t n)
{
    static const char name[] = "ImageParameter";
    bool is_image = evl_text_equal_no_case(call->function.text, call->function.n, name, sizeof name - 1);
    if (!is_image || n < 3 || layout(call, EVL_CNTK_HWC) == EVL_CNTK_CHW)
        return;
    int64_t channels = dims[n - 1];
    dims[n - 1] = dims[n - 2];
    dims[n - 2] = dims[n - 3];
    dims[n - 3] = channels;
}

/* Columns that are 0 are told by a Times. */
static void parameter(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t dims[EVL_CNTK_MAX_RANK] = { 0 };
    size_t n = take_dims(net, call, dims);
    arrange(call, dims, n);
    evl_ndl_read_init(net, call, node);
    node->f.rows = dims[0];
    if (n == 2 && dims[0] > 0 && dims[1] == 0) {
        node->f.cols = -1;
        node->f.shape = evl_ndl_list(net, 1, dims);
        return;
    }
    evl_ndl_fill(net, node, dims, n);
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
    const int64_t dims[2] = { w->f.rows, cols };
    w->f.cols = 0;
    evl_ndl_fill(net, w, dims, 2);
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

/* A list in brackets, or a number or truth value alone; of an option that is not there, `usual`. */
static evl_cntk_list list_of(evl_ndl_network *net, const evl_ndl_call *call, evl_span value)
{
    int64_t all[EVL_CNTK_MAX_RANK];
    size_t n = 0;
    char separator = ',';
    bool has_brackets = evl_span_is_bracket(&value);
    evl_lexer lexer = { .rest = has_brackets ? evl_span_inside(value, &separator) : value };
    evl_span item;
    lexer.separator = ':';
    while (net->status == EVAL_OK && evl_lexer_next(&lexer, &item)) {
        double number = evl_text_equal_no_case(item.text, item.n, "true", 4);
        bool is_truth = number != 0 || evl_text_equal_no_case(item.text, item.n, "false", 5);
        if (n == EVL_CNTK_MAX_RANK)
            evl_ndl_fail(net, &item, EVAL_ERR_LIMIT, "more than %zu numbers", n);
        else if (is_truth || evl_ndl_number(net, call->scope, item, &number))
            all[n++] = number >= -1e9 && number <= 1e9 ? (int64_t)number : -1;
    }
    return evl_ndl_list(net, n, all);
}

static evl_cntk_list option_list(evl_ndl_network *net, const evl_ndl_call *call, const char *name,
                                 int64_t usual)
{
    evl_span value;
    bool is_there = evl_ndl_option(call, name, &value);
    return is_there ? list_of(net, call, value) : evl_ndl_list(net, 1, &usual);
}

/* A kernel of any rank: argument `i`, and options. */
static void window(evl_ndl_network *net, const evl_ndl_call *call, size_t i, evl_cntk_node *node)
{
    evl_cntk_fields *f = &node->f;
    f->kernel = list_of(net, call, evl_span_trimmed(call->arguments[i]));
    f->stride = option_list(net, call, "stride", 1);
    f->auto_pad = option_list(net, call, "autoPadding", 1);
    f->lower_pad = option_list(net, call, "lowerPad", 0);
    f->upper_pad = option_list(net, call, "upperPad", 0);
    f->layout = layout(call, EVL_CNTK_CHW);
}

/* (W, x, kW, kH, maps, sx, sy, zeroPadding=false) */
static void flat_window(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t kernel[2] = { whole(net, call, 2, 1), whole(net, call, 3, 1) };
    int64_t stride[2] = { whole(net, call, 5, 1), whole(net, call, 6, 1) };
    int64_t maps = whole(net, call, 4, 1), pads = evl_ndl_option_flag(call, "zeroPadding", false);
    int64_t both[2] = { pads, pads };
    node->f.kernel = evl_ndl_list(net, 2, kernel);
    node->f.stride = evl_ndl_list(net, 2, stride);
    node->f.map_count = evl_ndl_list(net, 1, &maps);
    node->f.auto_pad = evl_ndl_list(net, 2, both);
    node->f.layout = layout(call, EVL_CNTK_HWC);
}

/* Convolution as above, or (W, x, kernel, mapCount=, ...) */
static void convolution(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    take_operands(net, call, 0, 2, node);
    if (call->n == 7) {
        flat_window(net, call, node);
        return;
    }
    if (call->n != 3) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT,
                     "%zu arguments: Convolution(W, x, kernel, mapCount=...) or Convolution(W, x, "
                     "kernelWidth, kernelHeight, maps, strideAcross, strideDown)", call->n);
        return;
    }
    window(net, call, 2, node);
    node->f.map_count = option_list(net, call, "mapCount", 0);
    node->f.sharing = option_list(net, call, "sharing", 1);
    node->f.output_shape = option_list(net, call, "outputShape", 0);
    node->f.is_transposed = evl_ndl_option_flag(call, "transpose", false);
}

/* Pooling(x, max | average, kernel, ...) */
static void pooling_of_any_rank(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    take_operands(net, call, 0, 1, node);
    evl_span kind = call->n > 1 ? evl_span_unquoted(call->arguments[1]) : call->function;
    bool is_max = evl_text_equal_no_case(kind.text, kind.n, "max", 3);
    if (call->n != 3 || (!is_max && !evl_text_equal_no_case(kind.text, kind.n, "average", 7))) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT,
                     "what is wanted is Pooling(x, max or average, kernel)");
        return;
    }
    node->f.pool = is_max ? EVL_CNTK_MAX_POOL : EVL_CNTK_AVERAGE_POOL;
    window(net, call, 2, node);
}

/* MaxUnpooling(x, what was pooled, kernel, ...) */
static void unpooling(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    take_operands(net, call, 0, 2, node);
    if (call->n == 3)
        window(net, call, 2, node);
    else
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT, "%zu arguments, expected 3", call->n);
}

/* Crop(x, like[, across, down]) */
static void crop(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    const int64_t offsets[2] = { whole(net, call, 2, 0), whole(net, call, 3, 0) };
    take_operands(net, call, 0, 2, node);
    if (call->n == 4)
        node->f.begins = evl_ndl_list(net, 2, offsets);
}

static void edit_distance(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    take_operands(net, call, 0, 2, node);
    node->f.substitution = evl_ndl_option_number(net, call, "subPen", 1);
    node->f.deletion = evl_ndl_option_number(net, call, "delPen", 1);
    node->f.insertion = evl_ndl_option_number(net, call, "insPen", 1);
    node->f.squashes = evl_ndl_option_flag(call, "squashInputs", false);
    node->f.ignored.n = 0;
}

/* Numbers that CNTK finds from all training data before it trains. */
static void found_before(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    (void)node;
    evl_ndl_fail(net, &call->function, EVAL_ERR_UNSUPPORTED,
                 "%.*s is computed from training data, which a description does not hold: save the "
                 "trained network", (int)(call->function.n < 32 ? call->function.n : 32),
                 call->function.text);
}

/* MaxPooling(x, width, height, across, down) */
static void pooling(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    int64_t kernel[2] = { whole(net, call, 1, 1), whole(net, call, 2, 1) };
    int64_t stride[2] = { whole(net, call, 3, 1), whole(net, call, 4, 1) };
    take_operands(net, call, 0, 1, node);
    node->f.kernel = evl_ndl_list(net, 2, kernel);
    node->f.stride = evl_ndl_list(net, 2, stride);
    node->f.layout = layout(call, EVL_CNTK_HWC);
}

static void batch_normalization(evl_ndl_network *net, const evl_ndl_call *call,
                                evl_cntk_node *node)
{
    take_operands(net, call, 0, call->n, node);
    node->f.is_spatial = evl_ndl_option_flag(call, "spatial", false);
    node->f.epsilon = evl_ndl_option_number(net, call, "epsilon", 1e-5);
    node->f.layout = layout(call, EVL_CNTK_CHW);
}

static const function functions[] = {
    { "Input", "InputValue", input },
    { "InputValue", "InputValue", input },
    { "ImageInput", "InputValue", image },
    { "Image", "InputValue", image },
    { "SparseInput", "SparseInputValue", input },
    { "SparseInputValue", "SparseInputValue", input },
    { "SparseImageInput", "SparseInputValue", image },
    { "Parameter", "LearnableParameter", parameter },
    { "LearnableParameter", "LearnableParameter", parameter },
    { "ImageParameter", "LearnableParameter", parameter },
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
    { "Pooling", "Pooling", pooling_of_any_rank },
    { "MaxUnpooling", "MaxUnpooling", unpooling },
    { "Crop", "Crop", crop },
    { "EditDistanceError", "EditDistanceError", edit_distance },
    { "Mean", "Mean", found_before },
    { "InvStdDev", "InvStdDev", found_before },
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
    { "CosWithNegSamples", "CosDistanceWithNegativeSamples", NULL },
    { "CBCEWithSM", "ClassBasedCrossEntropyWithSoftmax", NULL },
    { "GMMLL", "GMMLogLikelihood", NULL },
    { "SEWithSM", "SequenceWithSoftmax", NULL },
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
    "ReconcileDynamicAxis", "Cast", "StraightThrough", "StableSigmoid", "CosDistanceWithNegativeSamples",
    "LambdaRank", "NDCG1Eval", "ForwardBackward", "ClassBasedCrossEntropyWithSoftmax", "DummyCriterion",
    /* trained with, and not offered: a network that has them for its criterion loads */
    "GMMLogLikelihood", "SequenceWithSoftmax", "LatticeSequenceWithSoftmax",
    "NCEBasedCrossEntropyWithSoftmax", "CRF",
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
                                 .epsilon = 1e-5, .keeps_axes = 1, .blank = -1, .delay = -1,
                                 .number = 1 };
    if (f.apply)
        f.apply(net, call, node);
    else
        take_operands(net, call, 0, call->n, node);
}
