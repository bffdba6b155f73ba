/* tensor.c - Run: typed tensors in and out, stoppable by Ctrl-C, profiled if wanted. */
#include <time.h>
#include "arrays.h"

enum { MESSAGE_BYTES = 8192, SIGNAL_INTERVAL_MS = 50 };

/* Looking for signals needs the interpreter's lock, which other threads may hold
** for milliseconds: not at every step of a network that takes microseconds. */
typedef struct watch {
    int64_t last_ms;
    PyObject *steps; /* a list for the profile, or None */
} watch;

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A signal's handler may raise; the exception then waits in this thread until Run
** has come back. */
static int stop_on_signal(void *user)
{
    watch *seen = user;
    int64_t now = now_ms();
    if (now - seen->last_ms < SIGNAL_INTERVAL_MS)
        return 0;
    seen->last_ms = now;
    PyGILState_STATE lock = PyGILState_Ensure();
    int stop = PyErr_CheckSignals();
    PyGILState_Release(lock);
    return stop;
}

/* As _types.Step; what cannot be noted raises when Run has come back. */
static void note_step(void *user, const EvalStep *step)
{
    const watch *seen = user;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *noted = PyErr_Occurred() ? NULL
                                       : Py_BuildValue("(ssssId)", step->name, step->op, step->domain,
                                                       step->method, (unsigned)step->depth,
                                                       (double)step->nanoseconds * 1e-9);
    if (noted)
        PyList_Append(seen->steps, noted);
    Py_XDECREF(noted);
    PyGILState_Release(lock);
}

static evl_declared declared_type(const evl_evaluator *self, PyObject *name)
{
    PyObject *bytes = self->inputs ? PyDict_GetItemWithError(self->inputs, name) : NULL;
    evl_declared declared = { { EVAL_UNDEFINED } };
    if (bytes)
        memcpy(&declared, PyBytes_AS_STRING(bytes), sizeof declared);
    return declared;
}

static EvalTensor *tensors_in(const evl_call *call, PyObject *feeds, size_t *n)
{
    PyObject *pairs = evl_pairs(call, "feeds", feeds);
    if (!pairs)
        return NULL;
    *n = (size_t)PyList_GET_SIZE(pairs);
    EvalTensor *in = evl_keep_block(call->keep, *n, sizeof *in);
    for (size_t i = 0; in && i < *n; i++) {
        PyObject *pair = PyList_GET_ITEM(pairs, (Py_ssize_t)i);
        PyObject *name = PyTuple_GET_ITEM(pair, 0), *value = PyTuple_GET_ITEM(pair, 1);
        const evl_declared declared = declared_type(call->owner, name);
        if (PyErr_Occurred() || evl_array_input(call, name, value, &declared, &in[i]) < 0)
            return NULL;
    }
    return in;
}

/* The element types asked for, one an output. */
static int set_types(const evl_call *call, PyObject *types, EvalTensor *out, size_t n)
{
    if (types == Py_None)
        return 0;
    PyObject *list = PySequence_List(types);
    if (evl_keep(call->keep, list) < 0)
        return -1;
    if ((size_t)PyList_GET_SIZE(list) != n) {
        evl_raise(&call->owner->state->errors, EVAL_ERR_ARGUMENT,
                  "types must hold one number for each output");
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        long type = PyLong_AsLong(PyList_GET_ITEM(list, (Py_ssize_t)i));
        if (type == -1 && PyErr_Occurred())
            return -1;
        out[i].type = (EvalType)type;
    }
    return 0;
}

static EvalTensor *tensors_out(const evl_call *call, PyObject *outputs, PyObject *types, size_t *n)
{
    PyObject *own = call->owner->outputs;
    PyObject *wanted = outputs == Py_None && own ? own : outputs;
    if (wanted == Py_None) {
        evl_raise(&call->owner->state->errors, EVAL_ERR_STATE,
                  "There is no network yet; CreateNetwork makes one.");
        return NULL;
    }
    const char **names = evl_names(call, "outputs", wanted, n);
    EvalTensor *out = names ? evl_keep_block(call->keep, *n, sizeof *out) : NULL;
    if (!out)
        return NULL;
    for (size_t i = 0; i < *n; i++)
        out[i].name = names[i];
    return set_types(call, types, out, *n) < 0 ? NULL : out;
}

static PyObject *results(const evl_call *call, const EvalTensor *out, size_t n)
{
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < n; i++) {
        PyObject *name = evl_text(out[i].name);
        PyObject *value = name ? evl_array_output(&call->owner->state->errors, &out[i]) : NULL;
        if (!value || PyDict_SetItem(dict, name, value) < 0)
            Py_CLEAR(dict);
        Py_XDECREF(name);
        Py_XDECREF(value);
    }
    return dict;
}

typedef struct tensors {
    EvalTensor *in, *out;
    size_t n_in, n_out;
} tensors;

static PyObject *run(const evl_call *call, const tensors *all, PyObject *steps)
{
    const evl_native *native = call->owner->native;
    watch seen = { now_ms(), steps };
    char *message = evl_keep_block(call->keep, MESSAGE_BYTES, 1);
    if (!message)
        return NULL;
    EvalRunOptions options = { .size = sizeof options,
                               .message = message,
                               .messageBytes = MESSAGE_BYTES,
                               .stop = stop_on_signal,
                               .step = steps == Py_None ? NULL : note_step,
                               .user = &seen };
    PyThreadState *python = PyEval_SaveThread();
    EvalStatus status = native->run(call->self, all->in, all->n_in, all->out, all->n_out, &options);
    PyEval_RestoreThread(python);
    if (status)
        return PyErr_Occurred() ? NULL : evl_raise(&call->owner->state->errors, status, message);
    PyObject *dict = PyErr_Occurred() ? NULL : results(call, all->out, all->n_out);
    native->release(call->self, all->out, all->n_out);
    return dict;
}

PyObject *evl_tensor_run(PyObject *object, PyObject *args, PyObject *named)
{
    static char *known[] = { "feeds", "outputs", "types", "steps", NULL };
    PyObject *feeds, *outputs = Py_None, *types = Py_None, *steps = Py_None;
    evl_call call;
    tensors all = { 0 };
    if (!PyArg_ParseTupleAndKeywords(args, named, "O|OOO", known, &feeds, &outputs, &types, &steps) ||
        !evl_call_open((evl_evaluator *)object, &call))
        return NULL;
    if (steps != Py_None && !PyList_Check(steps)) {
        evl_call_close(&call);
        return PyErr_Format(PyExc_TypeError, "steps must be a list, not %s", Py_TYPE(steps)->tp_name);
    }
    PyObject *dict = NULL;
    all.in = tensors_in(&call, feeds, &all.n_in);
    if (all.in)
        all.out = tensors_out(&call, outputs, types, &all.n_out);
    if (all.out)
        dict = run(&call, &all, steps);
    evl_call_close(&call);
    return dict;
}
