/* values.c - the elements of parameters: one number, numbers from a file, or, as training would
** begin with, numbers of a generator, the same ones on every machine. */
#include "base/text.h"
#include "os/os.h"
#include "readers/ndl/network.h"
#include <string.h>

enum { MOST_ELEMENTS = 1 << 28 };

static double *take(evl_ndl_network *net, const evl_span *at, evl_cntk_node *node, int64_t rows,
                    int64_t cols)
{
    const int64_t dims[2] = { rows, cols };
    double *values = NULL;
    if (rows < 1 || cols < 1 || rows > MOST_ELEMENTS / cols)
        return evl_ndl_fail(net, at, EVAL_ERR_ARGUMENT, "a matrix of %lld x %lld", (long long)rows,
                            (long long)cols);
    if ((size_t)rows * (size_t)cols > net->ctx->limits->max_tensor_bytes / sizeof *values)
        return evl_ndl_fail(net, at, EVAL_ERR_LIMIT, "a matrix of %lld x %lld", (long long)rows,
                            (long long)cols);
    values = evl_arena_take_many(net->arena, (size_t)rows * (size_t)cols, sizeof *values);
    node->f.shape = evl_ndl_list(net, cols == 1 ? 1 : 2, dims);
    node->f.matrix = (evl_cntk_matrix){ EVAL_FLOAT64, (uint64_t)rows, (uint64_t)cols, values };
    if (!values)
        net->status = evl_no_memory(net->ctx);
    return values;
}

void evl_ndl_constant(evl_ndl_network *net, const evl_span *at, evl_cntk_node *node, int64_t rows,
                      int64_t cols, double value)
{
    double *values = take(net, at, node, rows, cols);
    for (int64_t i = 0; values && i < rows * cols; i++)
        values[i] = value;
}

/* Uniform in -1 .. 1: xorshift, with a seed that is never 0. */
static double next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

/* A sum of twelve is near enough to what CNTK calls gaussian. */
static void fill_at_random(double *values, size_t n, uint64_t seed, bool is_gaussian, double scale)
{
    uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15u | 1;
    for (size_t i = 0; i < n; i++) {
        double sum = next(&state);
        for (int j = 1; is_gaussian && j < 12; j++)
            sum += next(&state);
        values[i] = scale * (is_gaussian ? sum / 2 : sum);
    }
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

static void fill_from_file(evl_ndl_network *net, const evl_ndl_call *call, double *values,
                           int64_t rows, int64_t cols)
{
    evl_span path;
    evl_file file;
    if (!evl_ndl_option(call, "initFromFilePath", &path)) {
        evl_ndl_fail(net, &call->function, EVAL_ERR_ARGUMENT, "init=fromFile needs initFromFilePath");
        return;
    }
    const char *name = evl_arena_text(net->arena, path.text, path.n);
    if (!name) {
        net->status = evl_no_memory(net->ctx);
        return;
    }
    net->status = evl_file_open(net->ctx, name, false, &file);
    if (net->status != EVAL_OK)
        return;
    if (!parse(file.data, file.size, values, (size_t)rows, (size_t)cols))
        evl_ndl_fail(net, &path, EVAL_ERR_FORMAT, "'%s' does not hold %lld x %lld numbers", name,
                     (long long)rows, (long long)cols);
    evl_file_close(&file);
}

static bool is(const evl_span *s, const char *word)
{
    return evl_text_equal_no_case(s->text, s->n, word, strlen(word));
}

void evl_ndl_fill(evl_ndl_network *net, const evl_ndl_call *call, evl_cntk_node *node, int64_t rows,
                  int64_t cols)
{
    evl_span init = { "uniform", 7, call->function.line };
    evl_ndl_option(call, "init", &init);
    double scale = evl_ndl_option_number(net, call, "initValueScale", 1);
    double value = evl_ndl_option_number(net, call, "value", 0);
    double seed = evl_ndl_option_number(net, call, "randomSeed", (double)node->index);
    double *values = take(net, &call->function, node, rows, cols);
    size_t n = values ? (size_t)rows * (size_t)cols : 0;
    if (!values)
        return;
    if (is(&init, "fixedValue"))
        for (size_t i = 0; i < n; i++)
            values[i] = value;
    else if (is(&init, "fromFile"))
        fill_from_file(net, call, values, rows, cols);
    else if (is(&init, "uniform") || is(&init, "gaussian"))
        fill_at_random(values, n, seed >= 0 && seed < 1e15 ? (uint64_t)seed : 0,
                       is(&init, "gaussian"), is(&init, "uniform") ? 0.05 * scale : 0.2 * scale);
    else
        evl_ndl_fail(net, &init, EVAL_ERR_UNSUPPORTED,
                     "init=%.*s: offered are fixedValue, fromFile, uniform and gaussian",
                     (int)(init.n < 64 ? init.n : 64), init.text);
}
