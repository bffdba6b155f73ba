/* evaluator.h - the object behind IEvaluateModelF and IEvaluateModelD, as far as the
** two are one: evaluator_real.c puts their tables before it.
**
** Calls of CNTK's interface are for one thread at a time (`is_busy`); Run may be
** called by many. Every call enters and leaves, so that errno and the floating-point
** environment are left as found. */
#ifndef EVL_API_EVALUATOR_H
#define EVL_API_EVALUATOR_H
#include "api/model.h"

/* Memory that an object and its clones count together; it outlives all they made. */
typedef struct evl_home {
    atomic_size_t users;
    evl_memory memory;
} evl_home;

/* What StartForwardEvaluation chose: extended.c. */
typedef struct evl_forward {
    evl_arena *arena; /* holds what follows; NULL: nothing is chosen */
    evl_value **inputs, **outputs;
    size_t n_inputs, n_outputs;
    void **dense;       /* by input: room for sparse columns written out */
    size_t *dense_bytes;
    bool has_sequence;  /* one may go on */
    evl_states *sequences;
    size_t n_sequences, n_rooms;
} evl_forward;

typedef struct evl_made evl_made; /* an output whose memory the library made: made.c */

typedef struct evl_evaluator {
    evl_precision precision;
    evl_home *home;
    evl_mutex *lock;       /* of model, made, error */
    atomic_flag is_busy;
    evl_model *model;      /* NULL: no network yet */
    evl_states states;     /* of the network's recurrences, for Evaluate and ForwardPass */
    evl_forward forward;
    evl_plugin_list plugins; /* for the next CreateNetwork */
    char *init;            /* text of the last Init; NULL: none */
    evl_made *made;        /* by Run: until Release */
    evl_made *evaluated;   /* by Evaluate: until the next */
    evl_error error;       /* of the last failing call */
    evl_log log;
} evl_evaluator;

/* The object comes from malloc, all else from its home. False: no memory. */
bool evl_evaluator_start(evl_evaluator *, evl_precision);
void evl_evaluator_end(evl_evaluator *);
/* `clone` is zeroed memory for a further object on the same network. */
EVL_MUST_USE EvalStatus evl_evaluator_clone(evl_context *, evl_evaluator *, evl_evaluator *clone);

/* A public call. */
typedef struct evl_entry {
    evl_evaluator *e;
    evl_context ctx;
    int saved_errno;
    evl_float_state found;
    bool is_exclusive;
} evl_entry;

/* is_exclusive: one of CNTK's calls; EVAL_ERR_STATE when one runs already. */
EVL_MUST_USE EvalStatus evl_enter(evl_entry *, evl_evaluator *, bool is_exclusive);
/* Ends a call that entered: keeps the text of a failure. Gives the status back. */
EvalStatus evl_leave(evl_entry *, EvalStatus);

/* The network, counted as used: release it. EVAL_ERR_STATE: there is none. */
EVL_MUST_USE EvalStatus evl_evaluator_model(evl_context *, evl_evaluator *, evl_model **);

EVL_MUST_USE EvalStatus evl_evaluator_init(evl_context *, evl_evaluator *, const char *config);
/* given: what the caller has of the model; NULL: modelPath names it. */
EVL_MUST_USE EvalStatus evl_evaluator_create(evl_context *, evl_evaluator *, const char *description,
                                             const evl_source *given);
EVL_MUST_USE EvalStatus evl_evaluator_set_allocator(evl_context *, evl_evaluator *,
                                                    const EvalAllocator *);
EVL_MUST_USE EvalStatus evl_evaluator_memory_use(evl_context *, evl_evaluator *, EvalMemoryUse *);
/* As an ONNX file. */
EVL_MUST_USE EvalStatus evl_evaluator_save(evl_context *, evl_evaluator *, const char *path);
const char *evl_evaluator_last_error(evl_evaluator *);

/* nodes.c: what there is in the network. */
EVL_MUST_USE EvalStatus evl_evaluator_dimensions(evl_context *, evl_evaluator *, EvalNodeGroup,
                                                 EvalDimension *, size_t *count);
size_t evl_sample_size(const evl_value *); /* elements; 0: that depends on the input */
EVL_MUST_USE EvalStatus evl_evaluator_find(evl_context *, evl_evaluator *, const char *name);
typedef enum evl_listing { EVL_LIST_INPUTS, EVL_LIST_OUTPUTS, EVL_LIST_NODES } evl_listing;
EVL_MUST_USE EvalStatus evl_evaluator_describe(evl_context *, evl_evaluator *, evl_listing,
                                               EvalNodeInfo *, size_t *count);
EVL_MUST_USE EvalStatus evl_evaluator_metadata(evl_context *, evl_evaluator *, size_t index,
                                               const char **key, const char **value);

/* operators.c: those that files may name. */
EVL_MUST_USE EvalStatus evl_describe_operators(evl_context *, evl_precision, EvalOperatorInfo *,
                                               size_t *count);

/* evaluate.c: flat vectors of the object's type. */
typedef struct evl_flat {
    const char *name;
    const void *in;  /* of inputs */
    void *out;       /* of outputs; NULL: to be made */
    size_t capacity; /* elements */
    size_t count;
} evl_flat;
EVL_MUST_USE EvalStatus evl_evaluator_evaluate(evl_context *, evl_evaluator *, const evl_flat *in,
                                               size_t n_in, evl_flat *out, size_t n_out);
/* The same with states that the caller swaps when all went well; an output may be made. */
EVL_MUST_USE EvalStatus evl_evaluate_with(evl_context *, evl_evaluator *, evl_states *,
                                          const evl_flat *in, size_t n_in, evl_flat *out,
                                          size_t n_out);
EVL_MUST_USE EvalStatus evl_evaluator_reset(evl_context *, evl_evaluator *);

/* extended.c: which variables a forward pass has. */
EVL_MUST_USE EvalStatus evl_forward_start(evl_context *, evl_evaluator *,
                                          const char *const *outputs, size_t n_out);
EVL_MUST_USE EvalStatus evl_forward_schema(evl_context *, evl_evaluator *, bool of_outputs,
                                           EvalVariable *, size_t *count);
void evl_forward_end(evl_evaluator *);

/* forward.c: buffers of the object's type. */
typedef struct evl_buffer {
    void *data;
    size_t count, capacity;
    const int32_t *rows, *columns;
    size_t n_rows, n_columns;
} evl_buffer;
EVL_MUST_USE EvalStatus evl_forward_pass(evl_context *, evl_evaluator *, const evl_buffer *in,
                                         size_t n_in, evl_buffer *out, size_t n_out, bool reset);
typedef struct evl_sequences {
    const size_t *lengths;
    const uint8_t *begins;
    size_t n;
} evl_sequences;
EVL_MUST_USE EvalStatus evl_forward_sequences(evl_context *, evl_evaluator *, const evl_buffer *in,
                                              size_t n_in, evl_buffer *out, size_t n_out,
                                              const evl_sequences *);

/* carried.c: what recurrences carry from call to call. */
EVL_MUST_USE EvalStatus evl_carried_list(evl_context *, evl_evaluator *, EvalDimension *,
                                         size_t *count);
EVL_MUST_USE EvalStatus evl_carried_get(evl_context *, evl_evaluator *, const char *name,
                                        void *data, size_t *count);
EVL_MUST_USE EvalStatus evl_carried_set(evl_context *, evl_evaluator *, const char *name,
                                        const void *data, size_t count);

/* run.c: typed tensors. */
enum { EVL_RUN_OPTIONS_LEAST = offsetof(EvalRunOptions, step) }; /* what the first header had */
EVL_MUST_USE EvalStatus evl_evaluator_run(evl_context *, evl_evaluator *, const EvalTensor *in,
                                          size_t n_in, EvalTensor *out, size_t n_out,
                                          const EvalRunOptions *);
EVL_MUST_USE EvalStatus evl_evaluator_release(evl_context *, evl_evaluator *, EvalTensor *,
                                              size_t n);

/* plugins.c: plug-ins of the object's own. */
EVL_MUST_USE EvalStatus evl_evaluator_load_plugin(evl_context *, evl_evaluator *, const char *path);
EVL_MUST_USE EvalStatus evl_evaluator_add_plugin(evl_context *, evl_evaluator *, const EvalPlugin *);
EVL_MUST_USE EvalStatus evl_evaluator_unload_plugin(evl_context *, evl_evaluator *, const char *name);
EVL_MUST_USE EvalStatus evl_evaluator_plugins(evl_context *, evl_evaluator *, EvalPluginInfo *,
                                              size_t *count);
EVL_MUST_USE EvalStatus evl_plugin_list_copy(evl_context *, evl_memory *, const evl_plugin_list *,
                                             evl_plugin_list *);
void evl_plugin_list_free(evl_memory *, evl_plugin_list *);
/* Those of the object, then those that the settings name. */
EVL_MUST_USE EvalStatus evl_plugin_list_all(evl_context *, const evl_evaluator *,
                                            const evl_settings *, evl_plugin_list *);

/* made.c: memory for outputs, in a list that remembers it. */
EVL_MUST_USE EvalStatus evl_made_new(evl_context *, evl_evaluator *, evl_made **list, size_t bytes,
                                     void **data);
bool evl_made_free(evl_evaluator *, evl_made **list, const void *data); /* false: not in the list */
void evl_made_free_all(evl_evaluator *, evl_made **list);
#endif
