/* linear.c - a file format as a plug-in: a linear model as text, y = x W + b.
**
**     cc -std=c11 -O2 -shared -fPIC -I ../../include linear.c -o linear.so
**
** The file: "linear-csv" and the numbers of inputs and outputs, then a line of weights for each
** input, then the line of b; numbers are separated by commas:
**
**     linear-csv,2,1
**     0.5
**     -1
**     3 */
#include "evallib/plugin.h"
#include <stdlib.h>
#include <string.h>

static const char mark[] = "linear-csv,";

typedef struct text {
    const char *at, *end;
} text;

/* The next number; bytes are no C text, so it is copied first. (strtod follows the locale: a
** program that sets one with decimal commas needs a parser of its own.) */
static int number(text *t, double *value)
{
    char word[64], *end;
    size_t n = 0;
    while (t->at < t->end && strchr(", \r\n", *t->at))
        t->at++;
    while (t->at < t->end && n < sizeof word - 1 && !strchr(", \r\n", *t->at))
        word[n++] = *t->at++;
    word[n] = '\0';
    *value = strtod(word, &end);
    return n > 0 && !*end;
}

static int claims(const void *data, size_t bytes)
{
    return bytes > sizeof mark && memcmp(data, mark, sizeof mark - 1) == 0;
}

static EvalStatus bad(EvalCall *call, const text *t, const void *data)
{
    return call->host->Fail(call, EVAL_ERR_FORMAT, "a number is missing or broken at byte %zu",
                            (size_t)(t->at - (const char *)data));
}

static EvalStatus add_matrix(EvalCall *call, text *t, const void *data, EvalTensor *like)
{
    size_t n = 1;
    for (int32_t i = 0; i < like->rank; i++)
        n *= (size_t)like->dims[i];
    like->bytes = n * sizeof(double);
    like->data = call->host->Allocate(call, like->bytes);
    if (!like->data)
        return call->host->Fail(call, EVAL_ERR_MEMORY, "no memory");
    for (size_t i = 0; i < n; i++)
        if (!number(t, (double *)like->data + i))
            return bad(call, t, data);
    return call->host->AddConstant(call, like);
}

static EvalStatus read_model(EvalCall *call, const void *data, size_t bytes)
{
    const EvalHost *host = call->host;
    text t = { (const char *)data + sizeof mark - 1, (const char *)data + bytes };
    double n_in, n_out;
    if (!number(&t, &n_in) || !number(&t, &n_out) || n_in < 1 || n_out < 1 || n_in > 1e6 || n_out > 1e6)
        return bad(call, &t, data);
    EvalTensor x = { "x", EVAL_FLOAT64, 2, { -1, (int64_t)n_in }, 0, 0, { 0, 0 } };
    EvalTensor w = { "w", EVAL_FLOAT64, 2, { (int64_t)n_in, (int64_t)n_out }, 0, 0, { 0, 0 } };
    EvalTensor b = { "b", EVAL_FLOAT64, 1, { (int64_t)n_out }, 0, 0, { 0, 0 } };
    const char *const symbols[] = { "rows", 0 };
    const char *const in[] = { "x", "w", "b" }, *const out[] = { "y" };
    EvalStatus st = host->AddInput(call, &x, symbols);
    if (st == EVAL_OK)
        st = add_matrix(call, &t, data, &w);
    if (st == EVAL_OK)
        st = add_matrix(call, &t, data, &b);
    if (st == EVAL_OK)
        st = host->AddNode(call, 0, "Gemm", 13, "linear", in, 3, out, 1, 0, 0);
    return st == EVAL_OK ? host->AddOutput(call, "y") : st;
}

static const EvalReader reader = { sizeof reader, "linear CSV", claims, read_model };
static const EvalReader *const readers[] = { &reader };
static const EvalPlugin plugin = { sizeof plugin, EVAL_PLUGIN_ABI, 0, sizeof(EvalHost), "linear", "1.0",
                                   0, 0, 0, 0, readers, 1, 0, 0, 0, 0, 0 };

const EvalPlugin *EvalPluginEntry(void)
{
    return &plugin;
}
