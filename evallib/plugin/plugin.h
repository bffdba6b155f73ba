/* plugin.h - plug-ins: opened once, started for each model.
**
** A model holds the plug-ins that it was loaded with, and its clones hold the model: a plug-in
** is stopped when the last of them goes, the last started first, and closed when nobody holds
** it. What a plug-in gives is copied and wrapped once: behind the registry its operators are
** descriptors like all others. */
#ifndef EVL_PLUGIN_PLUGIN_H
#define EVL_PLUGIN_PLUGIN_H
#include "evallib/plugin.h"
#include "os/os.h"
#include "passes/passes.h"
#include "readers/readers.h"

typedef struct evl_plugin {
    atomic_size_t users;
    evl_memory *memory;
    evl_library library;
    EvalPlugin table;    /* as this library knows it: what the plug-in's lacks is zero */
    const char *path;    /* "" when it was given as a table; in the same block */
} evl_plugin;

/* A path, or a name that is looked for in `folders` as name, name.so and libname.so. */
typedef struct evl_plugin_place {
    const char *name;
    const char *const *folders;
    size_t n_folders;
} evl_plugin_place;
EVL_MUST_USE EvalStatus evl_plugin_open(evl_context *, const evl_plugin_place *, evl_plugin **);
EVL_MUST_USE EvalStatus evl_plugin_of(evl_context *, const EvalPlugin *, evl_plugin **);
evl_plugin *evl_plugin_use(evl_plugin *);
void evl_plugin_release(evl_plugin *);

/* A plug-in in a model. */
typedef struct evl_guest {
    evl_plugin *plugin;
    void *context;
    evl_arena *arena;    /* the model's */
} evl_guest;

typedef struct evl_plugins {
    evl_guests for_readers; /* first: what readers are handed is one of these */
    evl_guest *guests;
    size_t n;               /* started */
    const evl_op **ops;
    size_t n_passes;
    const EvalKernelSet *gemm[EVL_PRECISIONS], *conv[EVL_PRECISIONS]; /* NULL: the library's own */
} evl_plugins;

/* Takes a further hold of each; what is in *plugins is to be stopped also after a failure. */
EVL_MUST_USE EvalStatus evl_plugins_start(evl_context *, evl_arena *, evl_plugin *const *, size_t n,
                                          evl_plugins *);
void evl_plugins_stop(evl_plugins *); /* before the arena goes; zeroed ones are allowed */

/* pass.c: passes of all of them over a plan's copy; env->guests is an evl_plugins. */
evl_pass evl_plugins_rewrite;

/* Inside plugin/. */

/* A public call with what the library itself needs behind it. */
typedef struct evl_plugin_call {
    EvalCall call;       /* first: host functions are handed its address */
    evl_context *ctx;
    const evl_guest *guest;
    const evl_node *node;       /* NULL: Start, readers */
    evl_pool *pool;             /* in Run */
    evl_arena *arena;           /* where Allocate takes from; NULL: nowhere */
    evl_graph *graph;           /* of readers and passes */
    const evl_registry *registry; /* where they find operators */
    const evl_source *source;   /* of readers */
    bool is_pass, is_counted;   /* evl_match_count holds */
    bool has_changed;           /* the network, by a pass */
    EvalTensor tensor;          /* the last attribute of that kind that was given */
    bool has_failed;            /* told why */
    EvalStatus (*replaced)(struct evl_plugin_call *); /* does what the replaced operator does */
    union {
        evl_infer *infer;
        evl_prepare *prepare;
        const evl_call *run;
    } as;                       /* what that one is asked by */
} evl_plugin_call;

extern const EvalHost evl_plugin_host;

evl_plugin_call evl_plugin_call_of(evl_context *, const evl_guest *);
/* What a plug-in's function gave, made a status with a text. `what` names the function. */
EvalStatus evl_plugin_answer(evl_plugin_call *, EvalStatus, const char *what);
/* A table of any size as this library knows it. */
void evl_plugin_copy(void *to, size_t size, const void *from);

/* operator.c: the descriptor of one; checks what can be. The registry has those before it. */
EVL_MUST_USE EvalStatus evl_plugin_operator(evl_context *, const evl_guest *, const evl_registry *,
                                            const EvalOperator *, const evl_op **);
/* reader.c */
EvalStatus evl_plugin_read(evl_context *, const evl_guests *, const evl_source *, evl_graph *,
                           bool *is_claimed);
/* build.c: what readers call. */
EvalStatus evl_plugin_add_input(EvalCall *, const EvalTensor *, const char *const *symbols);
EvalStatus evl_plugin_add_constant(EvalCall *, const EvalTensor *);
EvalStatus evl_plugin_add_node(EvalCall *, const char *domain, const char *op, int32_t version,
                               const char *name, const char *const *in, size_t n_in,
                               const char *const *out, size_t n_out, const EvalAttribute *, size_t n);
EvalStatus evl_plugin_add_output(EvalCall *, const char *name);
EvalStatus evl_plugin_add_metadata(EvalCall *, const char *key, const char *value);
EvalStatus evl_plugin_refuse(evl_plugin_call *, const char *what, const char *name, const char *why);
EvalStatus evl_plugin_no_memory(evl_plugin_call *);
/* The operator of that name, if a plug-in may use it. */
EvalStatus evl_plugin_find(evl_plugin_call *, const char *domain, const char *name, const evl_op **);
/* A node with its attributes and without operands. */
EvalStatus evl_plugin_node(evl_plugin_call *, const evl_op *, const char *name, int32_t version,
                           size_t n_in, size_t n_out, const EvalAttribute *, size_t n, evl_node **);
/* Type and shape of a tensor that is there to be checked. */
EvalStatus evl_plugin_define(evl_plugin_call *, const char *what, const EvalTensor *, evl_tensor *);
/* pass.c: what passes call. */
size_t evl_plugin_nodes(EvalCall *);
int evl_plugin_view_node(EvalCall *, size_t index, EvalNode *);
EvalValue evl_plugin_node_input(EvalCall *, size_t index, size_t i);
EvalValue evl_plugin_node_output(EvalCall *, size_t index, size_t i);
int evl_plugin_view_value(EvalCall *, EvalValue, EvalValueView *);
EvalValue evl_plugin_new_value(EvalCall *, const char *name);
EvalValue evl_plugin_new_constant(EvalCall *, const EvalTensor *);
EvalStatus evl_plugin_put_node(EvalCall *, const char *domain, const char *name_of_op, int32_t version,
                               const char *name, const EvalValue *in, size_t n_in,
                               const EvalValue *out, size_t n_out, const EvalAttribute *, size_t n);
EvalStatus evl_plugin_rename_node(EvalCall *, size_t index, const char *domain, const char *name,
                                  int32_t version);
/* host.c: the public form of a tensor and its name. */
EvalTensor evl_plugin_tensor(const evl_tensor *, const char *name);
#endif
