/* swish.c - an operator as a plug-in: Swish of the domain my.domain, y = x / (1 + exp(-beta x)).
**
**     cc -std=c11 -O2 -shared -fPIC -I ../../include swish.c -o swish.so -lm
**
** A model asks for it by a node of that domain; a program loads it with plugins=./swish.so. */
#include "evallib/plugin.h"
#include <math.h>

/* Elements are cut into parts that the model's threads share. */
enum { PART = 4096 };

typedef struct job {
    const EvalCall *call;
    size_t n;
    double beta;
} job;

static void part_f(void *arg, size_t part)
{
    const job *j = (const job *)arg;
    const float *x = (const float *)j->call->in[0].data;
    float *y = (float *)j->call->out[0].data, beta = (float)j->beta;
    for (size_t i = part * PART; i < j->n && i < (part + 1) * PART; i++)
        y[i] = x[i] / (1 + expf(-beta * x[i]));
}

static void part_d(void *arg, size_t part)
{
    const job *j = (const job *)arg;
    const double *x = (const double *)j->call->in[0].data;
    double *y = (double *)j->call->out[0].data;
    for (size_t i = part * PART; i < j->n && i < (part + 1) * PART; i++)
        y[i] = x[i] / (1 + exp(-j->beta * x[i]));
}

static EvalStatus run(EvalCall *call)
{
    int is_double = call->in[0].type == EVAL_FLOAT64;
    job j = { call, call->in[0].bytes / (is_double ? sizeof(double) : sizeof(float)),
              call->host->Number(call, "beta", 1) };
    if (!isfinite(j.beta))
        return call->host->Fail(call, EVAL_ERR_ARGUMENT, "%s: beta is no number", call->node);
    call->host->ParallelFor(call, (j.n + PART - 1) / PART, is_double ? part_d : part_f, &j);
    return EVAL_OK;
}

static const EvalImplementation in_float = { sizeof in_float, EVAL_FLOAT32, 0, run };
static const EvalImplementation in_double = { sizeof in_double, EVAL_FLOAT64, 0, run };
static const EvalImplementation *const both[] = { &in_float, &in_double };
static const EvalOperator swish = { sizeof swish, "my.domain", "Swish", 1, 1, 1, 1, 0, 0,
                                    0 /* shaped like its input */, both, 2 };
static const EvalOperator *const operators[] = { &swish };
static const EvalPlugin plugin = { sizeof plugin, EVAL_PLUGIN_ABI, 0, 0, "swish", "1.0", 0, 0,
                                   operators, 1, 0, 0, 0, 0, 0, 0, 0 };

const EvalPlugin *EvalPluginEntry(void)
{
    return &plugin;
}
