/* evaluator.h - ModelF and ModelD: one object of the library each.
**
** The library's object lives in a capsule, which every running call holds too:
** Destroy (or Python's end of the model) takes the capsule away from the model,
** and the last call that still runs lets the object go. CNTK's calls are for one
** thread at a time: `is_busy` says so under the interpreter's lock. Run may be
** called by any number of threads. */
#ifndef EVL_WRAPPER_EVALUATOR_H
#define EVL_WRAPPER_EVALUATOR_H
#include "keep.h"
#include "module.h"
#include "native.h"

typedef struct evl_evaluator {
    PyObject ob_base; /* what PyObject_HEAD says */
    evl_state *state; /* lives as long as the class does */
    const evl_native *native;
    PyObject *capsule; /* NULL once closed */
    PyObject *inputs;  /* dict of name to evl_declared, as bytes, as CreateNetwork left it */
    PyObject *outputs; /* tuple of the network's output names */
    PyObject *operators; /* list of those written in Python; NULL: none */
    PyObject *weak_references;
    bool is_busy;
} evl_evaluator;

/* The declared type of an input, from the outside in: of optional(seq(float32)) the three;
** a map's keys, then its values. UNDEFINED after the last. */
enum { EVL_MAX_INSIDE = sizeof ((EvalNodeInfo *)0)->inside / sizeof(EvalType) };
typedef struct evl_declared {
    EvalType types[EVL_MAX_INSIDE + 1];
} evl_declared;

/* One call of the library in progress. */
typedef struct evl_call {
    evl_evaluator *owner;
    PyObject *capsule;
    PyObject *keep; /* what the call borrows */
    void *self;     /* the library's object */
} evl_call;

/* ModelF or ModelD, new for this module. */
PyTypeObject *evl_evaluator_class(PyObject *module, bool is_double);

/* A call of Run's kind. false with an exception: closed. */
bool evl_call_open(evl_evaluator *owner, evl_call *call);
void evl_call_close(evl_call *call);

/* A call of CNTK's kind: refused while another of the same object runs. */
bool evl_call_begin(evl_evaluator *owner, evl_call *call);
void evl_call_end(evl_call *call);

/* Bytes that the library's object uses from here on, until another network has come in their place
** and no call needs them. false with an exception. Then evl_call_return says how it went: those
** that are not needed any more are let go. */
bool evl_call_lend(const evl_call *call, PyObject *bytes);
void evl_call_return(const evl_call *call, bool is_used);

/* Raises what LastError says; for calls that evl_call_begin began. */
PyObject *evl_call_raise(const evl_call *call, EvalStatus status);

/* A new Python object round a library's object, which it owns from here on (also
** on failure). `lent`: a list of the bytes that it uses; NULL: none. */
PyObject *evl_evaluator_wrap(PyTypeObject *type, evl_state *state, const evl_native *native,
                             void *self, PyObject *lent);

/* Arguments that several methods take. What is given back stays with the call;
** NULL with an exception that names the argument. */
const char **evl_names(const evl_call *call, const char *what, PyObject *names, size_t *n);
PyObject *evl_pairs(const evl_call *call, const char *what, PyObject *dict); /* list of pairs */

/* The methods, by subject. Each takes an evl_evaluator. */
PyObject *evl_cntk_init(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_cntk_create_network(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_load_memory(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_cntk_dimensions(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_cntk_start_loop(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_cntk_evaluate(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_cntk_evaluate_outputs(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_cntk_reset_state(PyObject *self, PyObject *unused);
PyObject *evl_cntk_save(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_cntk_load_plugin(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_operator_new(PyObject *module, PyObject *args); /* of the module */
PyObject *evl_operator_add(PyObject *self, PyObject *operator);
PyObject *evl_tensor_run(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_describe_nodes(PyObject *self, PyObject *args, PyObject *named);
PyObject *evl_describe_metadata(PyObject *self, PyObject *unused);
PyObject *evl_describe_memory(PyObject *self, PyObject *unused);

/* Refreshes `inputs` and `outputs` for a network just made. 0, or -1. */
int evl_describe_refresh(evl_call *call);

#endif
