/* native_real.c - one precision of the library's interface; compiled for float
** and for double. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "native.h"

#if EVL_REAL_IS_DOUBLE
typedef double real;
#define TWIN(name) name##_d
#define SLOT(name) name##D
#define REAL_TYPE  EVAL_FLOAT64
#define REAL_DOOR  "GetEvalD"
#else
typedef float real;
#define TWIN(name) name##_f
#define SLOT(name) name##F
#define REAL_TYPE  EVAL_FLOAT32
#define REAL_DOOR  "GetEvalF"
#endif

typedef SLOT(IEvaluateModel) model;
typedef SLOT(EvalInput) input;
typedef SLOT(EvalOutput) output;
typedef SLOT(EvalControl) control_table;
typedef SLOT(EvalDescribe) describe_table;
typedef SLOT(EvalPlugins) plugins_table;

static void *create(void *symbol)
{
    void (*door)(model **);
    model *made = NULL;
    memcpy(&door, &symbol, sizeof door); /* ISO C has no cast from void * to a function */
    door(&made);
    return made;
}

static bool is_complete(void *self)
{
    const model *m = self;
    return m->vtbl && m->vtbl->size >= sizeof *m->vtbl;
}

/* A table too old to have Destroy gives no way to free what it made. */
static void destroy(void *self)
{
    model *m = self;
    if (m->vtbl && m->vtbl->size > offsetof(SLOT(IEvaluateModelVtbl), Destroy))
        m->vtbl->Destroy(m);
}

static EvalStatus init(void *self, const char *config)
{
    model *m = self;
    return m->vtbl->Init(m, config);
}

static EvalStatus create_network(void *self, const char *description)
{
    model *m = self;
    return m->vtbl->CreateNetwork(m, description);
}

static EvalStatus find_table(void *self, const char *name, const void **table)
{
    model *m = self;
    return m->vtbl->GetInterface(m, name, 1, table);
}

static EvalStatus load_memory(void *self, const void *data, size_t bytes, const char *description)
{
    const void *table;
    EvalStatus status = find_table(self, "control", &table);
    return status ? status
                  : ((const control_table *)table)->LoadMemory(self, data, bytes, description);
}

static EvalStatus start_loop(void *self, const char *name)
{
    model *m = self;
    return m->vtbl->StartEvaluateMinibatchLoop(m, name);
}

static EvalStatus reset_state(void *self)
{
    model *m = self;
    return m->vtbl->ResetState(m);
}

static EvalStatus dimensions(void *self, EvalNodeGroup group, EvalDimension *dims, size_t *count)
{
    model *m = self;
    return m->vtbl->GetNodeDimensions(m, group, dims, count);
}

static const char *last_error(void *self)
{
    model *m = self;
    return m->vtbl->LastError(m);
}

static void fill(const evl_flat *in, size_t n_in, input *to, const evl_flat *out, size_t n_out,
                 output *wanted)
{
    for (size_t i = 0; i < n_in; i++)
        to[i] =
            (input){ .name = in[i].name, .data = (const real *)in[i].data, .count = in[i].count };
    for (size_t i = 0; i < n_out; i++)
        wanted[i] = (output){ .name = out[i].name };
}

static EvalStatus evaluate(void *self, const evl_flat *in, size_t n_in, evl_flat *out, size_t n_out)
{
    model *m = self;
    input *inputs = calloc(n_in + 1, sizeof *inputs);
    output *outputs = calloc(n_out + 1, sizeof *outputs);
    EvalStatus status = EVAL_ERR_MEMORY;
    if (inputs && outputs) {
        fill(in, n_in, inputs, out, n_out, outputs);
        status = in ? m->vtbl->Evaluate(m, inputs, n_in, outputs, n_out)
                    : m->vtbl->EvaluateOutputs(m, outputs, n_out);
        for (size_t i = 0; i < n_out; i++) {
            out[i].data = outputs[i].data;
            out[i].count = outputs[i].count;
        }
    }
    free(inputs);
    free(outputs);
    return status;
}

static EvalStatus run(void *self, const EvalTensor *in, size_t n_in, EvalTensor *out, size_t n_out,
                      const EvalRunOptions *options)
{
    model *m = self;
    return m->vtbl->Run(m, in, n_in, out, n_out, options);
}

static EvalStatus release(void *self, EvalTensor *out, size_t n_out)
{
    model *m = self;
    return m->vtbl->Release(m, out, n_out);
}

static EvalStatus set_log(void *self, void (*log)(void *user, EvalLogLevel level, const char *text),
                          void *user)
{
    const void *table;
    EvalStatus status = find_table(self, "control", &table);
    return status ? status : ((const control_table *)table)->SetLog(self, log, user);
}

static EvalStatus clone_model(void *self, void **made)
{
    const void *table;
    model *copy = NULL;
    EvalStatus status = find_table(self, "control", &table);
    if (status == EVAL_OK)
        status = ((const control_table *)table)->Clone(self, &copy);
    if (status == EVAL_OK)
        *made = copy;
    return status;
}

static EvalStatus save(void *self, const char *path)
{
    const void *table;
    EvalStatus status = find_table(self, "control", &table);
    return status ? status : ((const control_table *)table)->Save(self, path);
}

static EvalStatus load_plugin(void *self, const char *path)
{
    const void *table;
    EvalStatus status = find_table(self, "plugins", &table);
    return status ? status : ((const plugins_table *)table)->Load(self, path);
}

static EvalStatus add_plugin(void *self, const struct EvalPlugin *plugin)
{
    const void *table;
    EvalStatus status = find_table(self, "plugins", &table);
    return status ? status : ((const plugins_table *)table)->LoadStatic(self, plugin);
}

static EvalStatus memory_use(void *self, EvalMemoryUse *use)
{
    const void *table;
    EvalStatus status = find_table(self, "control", &table);
    return status ? status : ((const control_table *)table)->MemoryUse(self, use);
}

static EvalStatus describe(void *self, evl_list list, EvalNodeInfo *infos, size_t *count)
{
    const void *found;
    EvalStatus status = find_table(self, "describe", &found);
    if (status)
        return status;
    const describe_table *table = found;
    if (list == EVL_LIST_INPUTS)
        return table->Inputs(self, infos, count);
    if (list == EVL_LIST_OUTPUTS)
        return table->Outputs(self, infos, count);
    return table->Nodes(self, infos, count);
}

static EvalStatus metadata(void *self, size_t index, const char **key, const char **value)
{
    const void *table;
    EvalStatus status = find_table(self, "describe", &table);
    return status ? status : ((const describe_table *)table)->Metadata(self, index, key, value);
}

const evl_native TWIN(evl_native) = {
    .real = REAL_TYPE,
    .door = REAL_DOOR,
    .create = create,
    .is_complete = is_complete,
    .destroy = destroy,
    .init = init,
    .create_network = create_network,
    .load_memory = load_memory,
    .start_loop = start_loop,
    .reset_state = reset_state,
    .dimensions = dimensions,
    .evaluate = evaluate,
    .last_error = last_error,
    .run = run,
    .release = release,
    .set_log = set_log,
    .clone = clone_model,
    .save = save,
    .load_plugin = load_plugin,
    .add_plugin = add_plugin,
    .memory_use = memory_use,
    .describe = describe,
    .metadata = metadata,
};
