/* ONNX Runtime as a peer, by its C interface: all graph optimisations, its default allocator, one
** thread between operators. The interface is a struct of functions that only ever grows, so the
** few used here are declared by their place in it, and no header is needed. */
#include "peer.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct ort_status ort_status;
typedef struct ort_env ort_env;
typedef struct ort_session ort_session;
typedef struct ort_options ort_options;
typedef struct ort_value ort_value;
typedef struct ort_shape ort_shape;
typedef struct ort_memory ort_memory;

enum { ORT_VERSION = 12, LOG_ERRORS = 3, ALL_OPTIMISATIONS = 99, ARENA = 1, DEFAULT_MEMORY = 0 };

typedef struct ort_api {
    void *unused_0[2];
    const char *(*GetErrorMessage)(const ort_status *);
    ort_status *(*CreateEnv)(int level, const char *id, ort_env **);
    void *unused_4[3];
    ort_status *(*CreateSession)(const ort_env *, const char *path, const ort_options *, ort_session **);
    void *unused_8;
    ort_status *(*Run)(ort_session *, const void *options, const char *const *in_names,
                       const ort_value *const *in, size_t n_in, const char *const *out_names,
                       size_t n_out, ort_value **out);
    ort_status *(*CreateSessionOptions)(ort_options **);
    void *unused_11[3];
    ort_status *(*EnableProfiling)(ort_options *, const char *prefix);
    void *unused_15[8];
    ort_status *(*SetSessionGraphOptimizationLevel)(ort_options *, int);
    ort_status *(*SetIntraOpNumThreads)(ort_options *, int);
    ort_status *(*SetInterOpNumThreads)(ort_options *, int);
    void *unused_26[23];
    ort_status *(*CreateTensorWithDataAsOrtValue)(const ort_memory *, void *data, size_t bytes,
                                                  const int64_t *dims, size_t rank, int type, ort_value **);
    void *unused_50;
    ort_status *(*GetTensorMutableData)(ort_value *, void **);
    void *unused_52[8];
    ort_status *(*GetTensorElementType)(const ort_shape *, int *);
    ort_status *(*GetDimensionsCount)(const ort_shape *, size_t *);
    ort_status *(*GetDimensions)(const ort_shape *, int64_t *, size_t);
    void *unused_63[2];
    ort_status *(*GetTensorTypeAndShape)(const ort_value *, ort_shape **);
    void *unused_66[3];
    ort_status *(*CreateCpuMemoryInfo)(int allocator, int kind, ort_memory **);
    void *unused_70[22];
    void (*ReleaseEnv)(ort_env *);
    void *unused_93;
    void (*ReleaseMemoryInfo)(ort_memory *);
    void (*ReleaseSession)(ort_session *);
    void (*ReleaseValue)(ort_value *);
    void *unused_97[2];
    void (*ReleaseTensorTypeAndShapeInfo)(ort_shape *);
    void (*ReleaseSessionOptions)(ort_options *);
    void *unused_101[29];
    ort_status *(*AddSessionConfigEntry)(ort_options *, const char *key, const char *value);
} ort_api;

typedef struct ort_base {
    const ort_api *(*GetApi)(uint32_t version);
    const char *(*GetVersionString)(void);
} ort_base;

struct peer_state {
    const ort_api *api;
    ort_env *env;
    ort_session *session;
    ort_memory *memory;
    size_t n_in, n_out;
    ort_value **in, **out;
    const char **in_names, **out_names;
};

/* A status is not given back: its text is the last thing that this process says. */
static const char *text_of(const peer_state *s, const ort_status *status)
{
    return status ? s->api->GetErrorMessage(status) : NULL;
}

static peer_state *make(void)
{
    return calloc(1, sizeof(peer_state));
}

static const char *open_library(peer_state *s, const peer_options *options)
{
    void *library = dlopen(options->library, RTLD_NOW);
    if (!library)
        return dlerror();
    const ort_base *(*get)(void);
    *(void **)&get = dlsym(library, "OrtGetApiBase");
    s->api = get ? get()->GetApi(ORT_VERSION) : NULL;
    if (!s->api)
        return "this is not ONNX Runtime, or one older than 1.12";
    return text_of(s, s->api->CreateEnv(LOG_ERRORS, "bench", &s->env));
}

static const char *configure(const peer_state *s, const peer_options *o, ort_options *to)
{
    const ort_api *api = s->api;
    ort_status *status = api->SetIntraOpNumThreads(to, o->threads);
    if (!status)
        status = api->SetInterOpNumThreads(to, 1);
    if (!status)
        status = api->SetSessionGraphOptimizationLevel(to, ALL_OPTIMISATIONS);
    if (!status && !o->spins)
        status = api->AddSessionConfigEntry(to, "session.intra_op.allow_spinning", "0");
    if (!status && o->profile[0])
        status = api->EnableProfiling(to, o->profile);
    return text_of(s, status);
}

static const char *load(peer_state *s, const peer_options *o)
{
    ort_options *options = NULL;
    const char *failure = text_of(s, s->api->CreateSessionOptions(&options));
    if (!failure)
        failure = configure(s, o, options);
    if (!failure)
        failure = text_of(s, s->api->CreateSession(s->env, o->model, options, &s->session));
    s->api->ReleaseSessionOptions(options);
    return failure;
}

static const char *take_inputs(peer_state *s, const peer_values *v)
{
    const char *failure = text_of(s, s->api->CreateCpuMemoryInfo(ARENA, DEFAULT_MEMORY, &s->memory));
    for (size_t i = 0; i < v->n_in && !failure; i++) {
        const EvalTensor *t = &v->in[i];
        s->in_names[i] = t->name;
        failure = text_of(s, s->api->CreateTensorWithDataAsOrtValue(
                                 s->memory, t->data, t->bytes, t->dims, (size_t)t->rank, (int)t->type, &s->in[i]));
    }
    for (size_t i = 0; i < v->n_out; i++)
        s->out_names[i] = v->out[i].name;
    return failure;
}

static const char *describe_shape(const ort_api *api, const ort_shape *shape, EvalTensor *t)
{
    size_t rank = 0;
    int type = 0;
    ort_status *status = api->GetTensorElementType(shape, &type);
    if (!status)
        status = api->GetDimensionsCount(shape, &rank);
    if (!status && rank > EVAL_MAX_RANK)
        return "an output of more than 16 axes";
    if (!status)
        status = api->GetDimensions(shape, t->dims, rank);
    t->type = (EvalType)type;
    t->rank = (int32_t)rank;
    return status ? api->GetErrorMessage(status) : NULL;
}

static const char *describe(const peer_state *s, ort_value *value, EvalTensor *t)
{
    ort_shape *shape;
    const char *failure = text_of(s, s->api->GetTensorTypeAndShape(value, &shape));
    if (failure)
        return failure;
    failure = describe_shape(s->api, shape, t);
    s->api->ReleaseTensorTypeAndShapeInfo(shape);
    return failure ? failure : text_of(s, s->api->GetTensorMutableData(value, &t->data));
}

static const char *run(peer_state *s, peer_values *v)
{
    return text_of(s, s->api->Run(s->session, NULL, s->in_names, (const ort_value *const *)s->in, v->n_in,
                                  s->out_names, v->n_out, s->out));
}

static const char *first(peer_state *s, peer_values *v)
{
    s->n_in = v->n_in;
    s->n_out = v->n_out;
    s->in = calloc(v->n_in + 1, sizeof *s->in);
    s->out = calloc(v->n_out + 1, sizeof *s->out);
    s->in_names = calloc(v->n_in + 1, sizeof *s->in_names);
    s->out_names = calloc(v->n_out + 1, sizeof *s->out_names);
    if (!s->in || !s->out || !s->in_names || !s->out_names)
        return "out of memory";
    const char *failure = take_inputs(s, v);
    if (!failure)
        failure = run(s, v);
    for (size_t i = 0; i < v->n_out && !failure; i++)
        failure = describe(s, s->out[i], &v->out[i]);
    return failure;
}

static void close_library(peer_state *s)
{
    for (size_t i = 0; i < s->n_in && s->in; i++)
        s->api->ReleaseValue(s->in[i]);
    for (size_t i = 0; i < s->n_out && s->out; i++)
        s->api->ReleaseValue(s->out[i]);
    if (s->api) {
        s->api->ReleaseMemoryInfo(s->memory);
        s->api->ReleaseSession(s->session);
        s->api->ReleaseEnv(s->env);
    }
    free(s->in);
    free(s->out);
    free(s->in_names);
    free(s->out_names);
    free(s);
}

const peer bench_ort = { "ort", make, open_library, load, first, run, close_library };
