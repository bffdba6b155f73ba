/* values.c - the elements of parameters: one number, numbers from a file, those that interpolate;
** what is random is drawn later (draw.c). */
#include "base/text.h"
#include "os/os.h"
#include "readers/ndl/network.h"
#include <math.h>
#include <string.h>

enum { MOST_ELEMENTS = 1 << 28 };

static double *take(evl_ndl_network *net, const evl_span *at, evl_cntk_node *node,
                    const int64_t *dims, size_t n)
{
    double *values = NULL;
    int64_t count = 1;
    for (size_t i = 0; i < n; i++) {
        if (dims[i] < 1 || dims[i] > MOST_ELEMENTS / count)
            return evl_ndl_fail(net, at, EVAL_ERR_ARGUMENT, "a dimension of %lld", (long long)dims[i]);
        count *= dims[i];
    }
    if ((size_t)count > net->ctx->limits->max_tensor_bytes / sizeof *values)
        return evl_ndl_fail(net, at, EVAL_ERR_LIMIT, "a parameter of %lld elements", (long long)count);
    values = evl_arena_take_many(net->arena, (size_t)count, sizeof *values);
    node->f.shape = evl_ndl_list(net, n, dims);
    node->f.matrix = (evl_cntk_matrix){ EVAL_FLOAT64, (uint64_t)dims[0],
                                        (uint64_t)(count / dims[0]), values };
    if (!values)
        net->status = evl_no_memory(net->ctx);
    return values;
}

void evl_ndl_constant(evl_ndl_network *net, const evl_span *at, evl_cntk_node *node, int64_t rows,
                      int64_t cols, double value)
{
    const int64_t dims[2] = { rows, cols };
    double *values = take(net, at, node, dims, 2);
    for (int64_t i = 0; values && i < rows * cols; i++)
        values[i] = value;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',';
}

/* Numbers row by row, as CNTK writes them; the matrix is kept by columns. */
static bool parse(const char *text, size_t n, double *values, size_t rows, size_t cols)
{
    size_t found = 0, at = 0;
    while (at < n) {
        size_t begin = at;
        while (at < n && !is_blank(text[at]))
            at++;
        if (at > begin) {
            double value;
            if (found == rows * cols || !evl_text_to_f64(text + begin, at - begin, &value))
                return false;
            values[found % cols * rows + found / cols] = value;
            found++;
        }
        at++;
    }
    return found == rows * cols;
}

static void fill_from_file(evl_ndl_network *net, const evl_ndl_init *init, double *values,
                           size_t rows, size_t cols)
{
    evl_file file;
    net->status = evl_file_open(net->ctx, init->path, false, &file);
    if (net->status != EVAL_OK)
        return;
    if (!parse(file.data, file.size, values, rows, cols))
        evl_ndl_fail(net, &init->at, EVAL_ERR_FORMAT, "'%s' does not hold %zu x %zu numbers",
                     init->path, rows, cols);
    evl_file_close(&file);
}

/* What makes a transposed convolution interpolate between pixels, each channel by itself. */
static void fill_bilinear(evl_ndl_network *net, const evl_ndl_init *init, double *values,
                          const int64_t *dims, size_t n)
{
    if (n != 4 || dims[0] != dims[1] || dims[2] != dims[3]) {
        evl_ndl_fail(net, &init->at, EVAL_ERR_ARGUMENT,
                     "init=bilinear wants dimensions k, k, channels, channels");
        return;
    }
    size_t k = (size_t)dims[0], channels = (size_t)dims[2], factor = (k + 1) / 2;
    double centre = (double)(k - 1) / 2;
    for (size_t c = 0; c < channels; c++)
        for (size_t y = 0; y < k; y++)
            for (size_t x = 0; x < k; x++)
                values[((c * channels + c) * k + y) * k + x] =
                    (1 - fabs((double)x - centre) / (double)factor) *
                    (1 - fabs((double)y - centre) / (double)factor);
}

static bool is(const evl_span *s, const char *word)
{
    return evl_text_equal_no_case(s->text, s->n, word, strlen(word));
}

static bool find_start(const evl_span *word, evl_ndl_start *start)
{
    static const char *const words[] = { "fixedValue", "fromFile", "bilinear",
                                         "uniform",    "gaussian", "heNormal" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is(word, words[i])) {
            *start = (evl_ndl_start)i;
            return true;
        }
    return false;
}

static void read_start(evl_ndl_network *net, const evl_ndl_call *call, evl_ndl_init *init)
{
    evl_span word = { "uniform", 7, call->function.line }, path;
    evl_ndl_option(call, "init", &word);
    if (!find_start(&word, &init->start)) {
        evl_ndl_fail(net, &word, EVAL_ERR_UNSUPPORTED,
                     "init=%.*s: offered are fixedValue, fromFile, bilinear, uniform, gaussian and "
                     "heNormal", (int)(word.n < 64 ? word.n : 64), word.text);
        return;
    }
    if (init->start != EVL_NDL_FROM_FILE)
        return;
    if (!evl_ndl_option(call, "initFromFilePath", &path)) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT, "init=fromFile needs initFromFilePath");
        return;
    }
    init->path = evl_arena_text(net->arena, path.text, path.n);
    if (!init->path)
        net->status = evl_no_memory(net->ctx);
}

void evl_ndl_read_init(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node)
{
    evl_ndl_init *all = evl_arena_grow(net->arena, net->inits, net->n_inits, &net->init_capacity,
                                       sizeof *all);
    if (!all) {
        net->status = evl_no_memory(net->ctx);
        return;
    }
    net->inits = all;
    evl_ndl_init *init = &all[net->n_inits++];
    *init = (evl_ndl_init){ .at = call->function };
    init->scale = evl_ndl_option_number(net, call, "initValueScale", 1);
    init->value = evl_ndl_option_number(net, call, "value", 0);
    init->seed = evl_ndl_option_number(net, call, "randomSeed", -1);
    read_start(net, call, init);
    node->f.size = (int64_t)net->n_inits;
}

void evl_ndl_fill(evl_ndl_network *net, evl_cntk_node *node, const int64_t *dims, size_t n)
{
    if (net->status != EVAL_OK)
        return;
    const evl_ndl_init *init = &net->inits[node->f.size - 1];
    double *values = take(net, &init->at, node, dims, n);
    size_t rows = (size_t)node->f.matrix.rows, cols = (size_t)node->f.matrix.cols;
    if (!values)
        return;
    for (size_t i = 0; i < rows * cols && init->start == EVL_NDL_FIXED; i++)
        values[i] = init->value;
    if (init->start == EVL_NDL_FROM_FILE)
        fill_from_file(net, init, values, rows, cols);
    if (init->start == EVL_NDL_BILINEAR)
        fill_bilinear(net, init, values, dims, n);
}
