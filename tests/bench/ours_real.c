/* evallib as a peer, opened like a user's program would; built for float and for double. */
#include "peer.h"
#include "real.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer_state {
    void *library;
    PUBLIC(IEvaluateModel) * model;
    EvalTensor *out; /* of these the first run took the memory */
    size_t n_out;
    char text[512];
};

static peer_state *make(void)
{
    return calloc(1, sizeof(peer_state));
}

static const char *open_library(peer_state *s, const peer_options *options)
{
    s->library = dlopen(options->library, RTLD_NOW);
    if (!s->library)
        return dlerror();
    void (*get)(PUBLIC(IEvaluateModel) **);
    *(void **)&get = dlsym(s->library, REAL_TYPE == EVAL_FLOAT64 ? "GetEvalD" : "GetEvalF");
    if (!get)
        return "the library has no GetEvalF and GetEvalD";
    get(&s->model);
    return s->model ? NULL : "out of memory";
}

static const char *load(peer_state *s, const peer_options *options)
{
    snprintf(s->text, sizeof s->text, "modelPath=\"%s\"\nnumCPUThreads=%d\n%s", options->model,
             options->threads, options->settings);
    return s->model->vtbl->CreateNetwork(s->model, s->text) ? s->model->vtbl->LastError(s->model) : NULL;
}

static const char *run(peer_state *s, peer_values *v)
{
    EvalStatus st = s->model->vtbl->Run(s->model, v->in, v->n_in, v->out, v->n_out, NULL);
    return st ? s->model->vtbl->LastError(s->model) : NULL;
}

/* The library makes the outputs; from now on its memory is given to it as the caller's. */
static const char *first(peer_state *s, peer_values *v)
{
    s->out = v->out;
    s->n_out = v->n_out;
    return run(s, v);
}

static void close_library(peer_state *s)
{
    if (s->model) {
        s->model->vtbl->Release(s->model, s->out, s->n_out);
        s->model->vtbl->Destroy(s->model);
    }
    if (s->library)
        dlclose(s->library);
    free(s);
}

const peer TWIN(bench_ours) = {
    REAL_TYPE == EVAL_FLOAT64 ? "ours_d" : "ours_f", make, open_library, load, first, run, close_library,
};
