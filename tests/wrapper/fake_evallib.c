/* fake_evallib.c - a library with evallib's interface and no network in it, for the
** tests of the Python package: every status, every element type, a run as slow as
** asked for. Compiled for float and for double, like the real one.
**
** Variants: FAKE_NO_MODEL (the doors give NULL), FAKE_OLD (a table without its last slot),
** FAKE_EMPTY (one without any). fake_aliveF and fake_aliveD count the objects there are. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "evallib/eval.h"

#if EVL_REAL_IS_DOUBLE
typedef double real;
#define TWIN(name) name##D
#define REAL_TYPE  EVAL_FLOAT64
#else
typedef float real;
#define TWIN(name) name##F
#define REAL_TYPE  EVAL_FLOAT32
#endif

typedef TWIN(IEvaluateModel) model;
typedef TWIN(EvalInput) input;
typedef TWIN(EvalOutput) output;

typedef struct fake {
    model face;
    char error[256];
    int has_network;
    const unsigned char *model; /* of LoadMemory */
    size_t n_model;
    real calls; /* of Evaluate since ResetState */
    real buffer[64];
} fake;

extern int TWIN(fake_alive);
int TWIN(fake_alive);

static EvalStatus fail(void *self, EvalStatus status, const char *text)
{
    snprintf(((fake *)self)->error, sizeof((fake *)self)->error, "%s", text);
    return status;
}

/* The number after a word in a text, -1 without the word. */
static int number_after(const char *text, const char *word)
{
    const char *found = text ? strstr(text, word) : NULL;
    return found ? atoi(found + strlen(word)) : -1;
}

static void sleep_ms(long ms)
{
    struct timespec pause = { ms / 1000, ms % 1000 * 1000000 };
    nanosleep(&pause, NULL);
}

/* --- CNTK's interface --------------------------------------------------------- */

static EvalStatus Init(model *self, const char *config)
{
    int status = number_after(config, "status=");
    return status > 0 ? fail(self, (EvalStatus)status, config) : EVAL_OK;
}

static void Destroy(model *self)
{
    free(self);
    TWIN(fake_alive)--;
}

/* The text is the error: tests see what the package sends. */
static EvalStatus CreateNetwork(model *self, const char *description)
{
    int status = number_after(description, "status="), ms = number_after(description, "sleep=");
    if (ms > 0)
        sleep_ms(ms);
    if (status > 0)
        return fail(self, (EvalStatus)status, description);
    ((fake *)self)->has_network = 1;
    return EVAL_OK;
}

static EvalStatus GetNodeDimensions(model *self, EvalNodeGroup group, EvalDimension *dims,
                                    size_t *count)
{
    static const EvalDimension known[] = { { "x", 2 }, { "y", 2 } };
    if (!((fake *)self)->has_network)
        return fail(self, EVAL_ERR_STATE, "no network");
    for (size_t i = 0; group == EVAL_NODE_SPECIFIED && i < *count; i++) {
        if (strcmp(dims[i].name, "missing") == 0)
            return fail(self, EVAL_ERR_NOT_FOUND, "no node \"missing\"");
        dims[i].size = strlen(dims[i].name);
    }
    if (group != EVAL_NODE_SPECIFIED && dims)
        dims[0] = known[group];
    if (group != EVAL_NODE_SPECIFIED)
        *count = 1;
    return EVAL_OK;
}

static EvalStatus StartEvaluateMinibatchLoop(model *self, const char *name)
{
    return strcmp(name, "y") ? fail(self, EVAL_ERR_NOT_FOUND, name) : EVAL_OK;
}

/* y is twice the first input, "calls" a state, "slow" 300 ms. */
static EvalStatus Evaluate(model *self, const input *in, size_t n_in, output *out, size_t n_out)
{
    fake *f = (fake *)self;
    f->calls += 1;
    for (size_t i = 0; i < n_out; i++) {
        out[i].data = f->buffer;
        out[i].count = n_in ? in[0].count : 0;
        for (size_t k = 0; k < out[i].count && k < 64; k++)
            f->buffer[k] = 2 * in[0].data[k];
        if (strcmp(out[i].name, "calls") == 0) {
            out[i].data = &f->calls;
            out[i].count = 1;
        } else if (strcmp(out[i].name, "slow") == 0) {
            sleep_ms(300);
        } else if (strcmp(out[i].name, "y")) {
            return fail(self, EVAL_ERR_NOT_FOUND, out[i].name);
        }
    }
    return EVAL_OK;
}

static EvalStatus EvaluateOutputs(model *self, output *out, size_t n_out)
{
    static real parameter[] = { 1, 2, 3 };
    (void)self;
    for (size_t i = 0; i < n_out; i++) {
        out[i].data = parameter;
        out[i].count = 3;
    }
    return EVAL_OK;
}

static EvalStatus ResetState(model *self)
{
    ((fake *)self)->calls = 0;
    return EVAL_OK;
}

static const char *LastError(model *self)
{
    return ((fake *)self)->error;
}

/* --- Run ------------------------------------------------------------------------ */

static void set(EvalTensor *out, EvalType type, size_t n, const void *data, size_t bytes)
{
    out->type = type;
    out->rank = 1;
    out->dims[0] = (int64_t)n;
    out->bytes = bytes;
    out->data = malloc(bytes + 1);
    memcpy(out->data, data, bytes);
}

/* "slow": up to ten seconds, asking whether to stop every millisecond. */
static EvalStatus slow(const EvalRunOptions *options, EvalTensor *out)
{
    for (int i = 0; i < 10000; i++) {
        if (options->stop(options->user)) {
            snprintf(options->message, options->messageBytes, "stopped");
            return EVAL_ERR_CANCELLED;
        }
        sleep_ms(1);
    }
    set(out, EVAL_INT8, 0, "", 0);
    return EVAL_OK;
}

static EvalStatus special(const char *name, EvalTensor *out)
{
    static EvalString words[] = { { "\xc3\xa9t\xc3\xa9", 5 }, { "a\0b", 3 } };
    static int64_t keys[] = { 7, 8 };
    static EvalTensor pair[] = { { .name = "k",
                                   .type = EVAL_INT64,
                                   .rank = 1,
                                   .dims = { 2 },
                                   .data = keys,
                                   .bytes = sizeof keys },
                                 { .name = "v",
                                   .type = EVAL_STRING,
                                   .rank = 1,
                                   .dims = { 2 },
                                   .data = words,
                                   .bytes = sizeof words } };
    if (strcmp(name, "words") == 0)
        set(out, EVAL_STRING, 2, words, sizeof words);
    else if (strcmp(name, "sequence") == 0)
        set(out, EVAL_SEQUENCE, 2, pair, sizeof pair);
    else if (strcmp(name, "optional") == 0)
        set(out, EVAL_OPTIONAL, 1, pair, sizeof pair[0]);
    else if (strcmp(name, "nothing") == 0)
        set(out, EVAL_OPTIONAL, 0, pair, 0);
    else if (strcmp(name, "map") == 0)
        set(out, EVAL_MAP, 2, pair, sizeof pair);
    else if (strcmp(name, "int4") == 0)
        set(out, EVAL_INT4, 3, "\xf1\x08", 2); /* 1, -1, -8 */
    else if (strcmp(name, "uint2") == 0)
        set(out, EVAL_UINT2, 5, "\xe4\x03", 2); /* 0, 1, 2, 3, 3 */
    else if (strcmp(name, "short") == 0)
        set(out, EVAL_INT64, 5, "1234", 4); /* inconsistent */
    else
        return EVAL_ERR_NOT_FOUND;
    return EVAL_OK;
}

/* A name that is an input's gives that input back as it came. */
static EvalStatus run_one(const EvalTensor *in, size_t n_in, EvalTensor *out,
                          const EvalRunOptions *options)
{
    EvalType asked = out->type;
    int status = number_after(out->name, "status=");
    if (status > 0) {
        snprintf(options->message, options->messageBytes, "failed with %d", status);
        return (EvalStatus)status;
    }
    if (strcmp(out->name, "slow") == 0)
        return slow(options, out);
    if (strcmp(out->name, "asked") == 0) {
        set(out, EVAL_INT32, 1, &asked, sizeof asked);
        return EVAL_OK;
    }
    for (size_t i = 0; i < n_in; i++) {
        if (strcmp(in[i].name, out->name) == 0 ||
            (strcmp(in[i].name, "x") == 0 && strcmp(out->name, "y") == 0)) {
            EvalTensor copy = in[i];
            set(out, copy.type, 0, copy.data, copy.bytes);
            out->rank = copy.rank;
            memcpy(out->dims, copy.dims, sizeof out->dims);
            return EVAL_OK;
        }
    }
    return special(out->name, out);
}

static EvalStatus Run(model *self, const EvalTensor *in, size_t n_in, EvalTensor *out, size_t n_out,
                      const EvalRunOptions *options)
{
    EvalStatus status = EVAL_OK;
    (void)self;
    for (size_t i = 0; i < n_out && status == EVAL_OK; i++)
        status = run_one(in, n_in, &out[i], options);
    return status;
}

static EvalStatus Release(model *self, EvalTensor *out, size_t n_out)
{
    (void)self;
    for (size_t i = 0; i < n_out; i++) {
        free(out[i].data);
        out[i].data = NULL;
    }
    return EVAL_OK;
}

/* --- further tables -------------------------------------------------------------- */

static const EvalNodeInfo infos[] = {
    { .name = "x",
      .op = "",
      .domain = "",
      .type = EVAL_FLOAT32,
      .rank = 2,
      .dims = { -1, 2 },
      .dimNames = { "batch" } },
    { .name = "i", .op = "", .domain = "", .type = EVAL_INT32, .rank = -1 },
    { .name = "b", .op = "", .domain = "", .type = EVAL_BOOL, .rank = 0 },
    { .name = "s", .op = "", .domain = "", .type = EVAL_STRING, .rank = 1, .dims = { -1 } },
    { .name = "c", .op = "", .domain = "", .type = EVAL_COMPLEX64, .rank = 1, .dims = { -1 } },
    { .name = "q", .op = "", .domain = "", .type = EVAL_SEQUENCE, .rank = -1 },
    { .name = "o", .op = "", .domain = "", .type = EVAL_OPTIONAL, .rank = -1 },
    { .name = "n",
      .op = "",
      .domain = "",
      .type = EVAL_OPTIONAL,
      .rank = 1,
      .dims = { -1 },
      .inside = { EVAL_SEQUENCE, EVAL_INT64 } },
    { .name = "m",
      .op = "",
      .domain = "",
      .type = EVAL_MAP,
      .rank = 1,
      .dims = { -1 },
      .inside = { EVAL_STRING, EVAL_FLOAT32 } },
    { .name = "h", .op = "", .domain = "", .type = EVAL_FLOAT16, .rank = -1 },
    { .name = "y", .op = "Add", .domain = "", .type = EVAL_FLOAT32, .rank = 2, .dims = { -1, 2 } },
};
enum { N_INFOS = sizeof infos / sizeof infos[0] };

static EvalStatus list(model *self, const EvalNodeInfo *from, size_t n, EvalNodeInfo *to,
                       size_t *count)
{
    if (!((fake *)self)->has_network)
        return fail(self, EVAL_ERR_STATE, "no network");
    for (size_t i = 0; to && i < n && i < *count; i++) {
        size_t size = to[i].size;
        memcpy(&to[i], &from[i], size);
        to[i].size = size;
    }
    *count = n;
    return EVAL_OK;
}

static EvalStatus Inputs(model *self, EvalNodeInfo *to, size_t *count)
{
    return list(self, infos, N_INFOS - 1, to, count);
}

static EvalStatus Outputs(model *self, EvalNodeInfo *to, size_t *count)
{
    return list(self, infos + N_INFOS - 1, 1, to, count);
}

static EvalStatus Nodes(model *self, EvalNodeInfo *to, size_t *count)
{
    return list(self, infos, N_INFOS, to, count);
}

static EvalStatus Metadata(model *self, size_t index, const char **key, const char **value)
{
    if (index > 1)
        return fail(self, EVAL_ERR_NOT_FOUND, "no more");
    *key = index ? "version" : "producer";
    *value = index ? "3" : "fake";
    return EVAL_OK;
}

static EvalStatus SetAllocator(model *self, const EvalAllocator *allocator)
{
    (void)self, (void)allocator;
    return EVAL_OK;
}

static EvalStatus SetLog(model *self, void (*log)(void *user, EvalLogLevel level, const char *text),
                         void *user)
{
    (void)self, (void)log, (void)user;
    return EVAL_OK;
}

static EvalStatus Clone(model *self, model **clone)
{
    fake *copy = malloc(sizeof *copy);
    memcpy(copy, self, sizeof *copy);
    copy->calls = 0;
    TWIN(fake_alive)++;
    *clone = &copy->face;
    return EVAL_OK;
}

static EvalStatus MemoryUse(model *self, EvalMemoryUse *use)
{
    const fake *f = (const fake *)self;
    use->bytes = f->model ? 0 : 100;
    for (size_t i = 0; f->model && i < f->n_model; i++)
        use->bytes += f->model[i];
    return EVAL_OK;
}

/* A model is any text but one that begins with '!'. */
static EvalStatus LoadMemory(model *self, const void *data, size_t bytes, const char *description)
{
    fake *f = (fake *)self;
    EvalStatus status = CreateNetwork(self, description);
    if (status == EVAL_OK && (bytes == 0 || *(const unsigned char *)data == '!'))
        return fail(self, EVAL_ERR_FORMAT, "no model");
    f->model = data;
    f->n_model = bytes;
    return status;
}

static const TWIN(EvalControl) control = { .size = sizeof control, SetAllocator, SetLog, Clone, MemoryUse,
                                           LoadMemory };
static const TWIN(EvalDescribe) describe = { sizeof describe, Inputs, Outputs, Nodes, Metadata };

static EvalStatus GetInterface(model *self, const char *name, uint32_t version, const void **table)
{
    (void)version;
    *table = strcmp(name, "control") == 0    ? (const void *)&control
             : strcmp(name, "describe") == 0 ? (const void *)&describe
                                             : NULL;
    return *table ? EVAL_OK : fail(self, EVAL_ERR_NOT_FOUND, name);
}

#if defined FAKE_EMPTY
enum { TABLE_SIZE = sizeof(size_t) };
#elif defined FAKE_OLD
enum { TABLE_SIZE = offsetof(TWIN(IEvaluateModelVtbl), GetInterface) };
#else
enum { TABLE_SIZE = sizeof(TWIN(IEvaluateModelVtbl)) };
#endif

static const TWIN(IEvaluateModelVtbl) table = {
    TABLE_SIZE,
    Init,
    Destroy,
    CreateNetwork,
    GetNodeDimensions,
    StartEvaluateMinibatchLoop,
    Evaluate,
    EvaluateOutputs,
    ResetState,
    LastError,
    Run,
    Release,
    GetInterface,
};

void TWIN(GetEval)(model **made)
{
#ifdef FAKE_NO_MODEL
    *made = NULL;
#else
    fake *f = calloc(1, sizeof *f);
    f->face.vtbl = &table;
    TWIN(fake_alive)++;
    *made = &f->face;
#endif
}
