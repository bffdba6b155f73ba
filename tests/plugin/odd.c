/* A plug-in that does what it should not, one thing a build: ODD says which. Without ODD it
** offers Odd (y = 2 x), and the same in place of Relu. */
#include "evallib/plugin.h"
#include <string.h>

#ifndef ODD
#define ODD 0
#endif
enum { GOOD, NO_TABLE, WRONG_ABI, NEEDS_MORE, BAD_START, BAD_RANK, BAD_DIM, BAD_TYPE, OPEN_SHAPE,
       WRITES_NOTHING, BAD_RUN, SILENT_RUN, BAD_PREPARE, MUCH_SCRATCH, NO_RUN, NO_NAME, STRANGE_STATUS,
       OLD, NEW };

static EvalStatus start(EvalCall *call)
{
    call->context = call->host->Allocate(call, 16);
    if (ODD == BAD_START)
        return call->host->Fail(call, EVAL_ERR_STATE, "the moon is not full, day %d", 12);
    return call->context ? EVAL_OK : EVAL_ERR_MEMORY;
}

static void stop(void *context)
{
    memset(context, 0, 16); /* still there */
}

static EvalStatus infer(EvalCall *call)
{
    call->out[0].type = ODD == BAD_TYPE ? (EvalType)77 : call->in[0].type;
    call->out[0].rank = ODD == BAD_RANK ? 99 : call->in[0].rank;
    memcpy(call->out[0].dims, call->in[0].dims, sizeof call->in[0].dims);
    if (ODD == BAD_DIM)
        call->out[0].dims[0] = -5;
    if (ODD == OPEN_SHAPE)
        call->out[0].dims[0] = -1;
    return EVAL_OK;
}

static EvalStatus prepare(EvalCall *call)
{
    if (ODD == BAD_PREPARE)
        return call->host->Fail(call, EVAL_ERR_SHAPE, "%s", "only on Sundays");
    call->scratchBytes = ODD == MUCH_SCRATCH ? (size_t)-1 / 4 : call->in[0].bytes;
    call->state = call->host->Allocate(call, sizeof(double));
    if (!call->state)
        return EVAL_ERR_MEMORY;
    *(double *)call->state = 2;
    return EVAL_OK;
}

static EvalStatus run(EvalCall *call)
{
    double times = *(const double *)call->state;
    memcpy(call->scratch, call->in[0].data, call->in[0].bytes);
    if (ODD == BAD_RUN)
        return call->host->Fail(call, EVAL_ERR_PLUGIN, "it broke");
    if (ODD == SILENT_RUN)
        return EVAL_ERR_SHAPE;
    if (ODD == STRANGE_STATUS)
        return (EvalStatus)4711;
    for (size_t i = 0; i < call->out[0].bytes / 4 && call->real == EVAL_FLOAT32 && ODD != WRITES_NOTHING; i++)
        ((float *)call->out[0].data)[i] = (float)times * ((const float *)call->scratch)[i];
    for (size_t i = 0; i < call->out[0].bytes / 8 && call->real == EVAL_FLOAT64 && ODD != WRITES_NOTHING; i++)
        ((double *)call->out[0].data)[i] = times * ((const double *)call->scratch)[i];
    return EVAL_OK;
}

static const EvalImplementation any = { sizeof any, EVAL_UNDEFINED, prepare, ODD == NO_RUN ? 0 : run };
static const EvalImplementation *const implementations[] = { &any };
static const EvalOperator odd = { sizeof odd, "odd.domain", ODD == NO_NAME ? 0 : "Odd", 1, 1, 1, 1, 0, 0, infer,
                                  implementations, 1 };
static const EvalOperator relu = { sizeof relu, "", "Relu", 1, 1, 1, 1, 0, 0, infer, implementations,
                                   1 };
static const EvalOperator *const operators[] = { &odd, &relu };
static const EvalPlugin plugin = {
    ODD == OLD ? offsetof(EvalPlugin, readers) : sizeof plugin,
    ODD == WRONG_ABI ? 7 : EVAL_PLUGIN_ABI, 0, ODD == NEEDS_MORE ? 100000 : ODD == NEW ? sizeof(EvalHost) : 0, "odd", "0.1", start, stop,
    operators, ODD == GOOD || ODD == OLD ? 2 : 1, 0, 0, 0, 0, 0, 0, 0
};

const EvalPlugin *EvalPluginEntry(void)
{
    return ODD == NO_TABLE ? 0 : &plugin;
}
