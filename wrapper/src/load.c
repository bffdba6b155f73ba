/* load.c - a network of a model that lies in memory, which stays there as long as the network. */
#include "evaluator.h"

/* A view of contiguous bytes that nobody can change: of the object's own, or of a copy. */
static PyObject *lasting(const evl_errors *errors, PyObject *data)
{
    if (!PyObject_CheckBuffer(data))
        return evl_raise_format(errors, EVAL_ERR_TYPE, "data must be bytes or like them, not %.100s",
                                Py_TYPE(data)->tp_name);
    PyObject *view = PyMemoryView_FromObject(data);
    if (!view)
        return NULL;
    const Py_buffer *buffer = PyMemoryView_GET_BUFFER(view);
    if (buffer->readonly && PyBuffer_IsContiguous(buffer, 'C'))
        return view;
    PyObject *copy = PyBytes_FromObject(view);
    Py_DECREF(view);
    view = copy ? PyMemoryView_FromObject(copy) : NULL;
    Py_XDECREF(copy);
    return view;
}

static bool load(const evl_call *call, PyObject *view, const char *description)
{
    const Py_buffer *buffer = PyMemoryView_GET_BUFFER(view);
    PyThreadState *python = PyEval_SaveThread();
    EvalStatus status = call->owner->native->load_memory(call->self, buffer->buf,
                                                         (size_t)buffer->len, description);
    PyEval_RestoreThread(python);
    if (status)
        evl_call_raise(call, status);
    else
        PyErr_Clear(); /* a shape rule in Python that failed in a branch never taken */
    return !status;
}

PyObject *evl_load_memory(PyObject *object, PyObject *args, PyObject *named)
{
    static char *known[] = { "data", "description", NULL };
    evl_evaluator *self = (evl_evaluator *)object;
    PyObject *data, *text, *result = NULL;
    evl_call call;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO", known, &data, &text) ||
        !evl_call_begin(self, &call))
        return NULL;
    const char *description = evl_keep_text(call.keep, &self->state->errors, "description", text);
    PyObject *view = description ? lasting(&self->state->errors, data) : NULL;
    if (view && evl_call_lend(&call, view)) {
        bool is_loaded = load(&call, view, description);
        evl_call_return(&call, is_loaded);
        if (is_loaded && evl_describe_refresh(&call) == 0) {
            result = Py_None;
            Py_INCREF(result);
        }
    }
    Py_XDECREF(view);
    evl_call_end(&call);
    return result;
}
