/* log.c - logging.getLogger("evallib").log(level, "%s", text) */
#include "log.h"

/* The logger is looked up for each note: they are rare, and an object that is kept
** would outlive the module with a clone that still runs. */
static PyObject *logger(void)
{
    PyObject *logging = PyImport_ImportModule("logging");
    PyObject *found = logging ? PyObject_CallMethod(logging, "getLogger", "s", "evallib") : NULL;
    Py_XDECREF(logging);
    return found;
}

/* logging.WARNING or logging.INFO */
static int number_of(EvalLogLevel level)
{
    return level == EVAL_LOG_WARNING ? 30 : 20;
}

static void write_note(EvalLogLevel level, const char *text)
{
    PyObject *to = logger();
    PyObject *note = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    PyObject *done =
        to && note ? PyObject_CallMethod(to, "log", "isO", number_of(level), "%s", note) : NULL;
    if (!done)
        PyErr_WriteUnraisable(to);
    Py_XDECREF(done);
    Py_XDECREF(note);
    Py_XDECREF(to);
}

void evl_log_write(void *unused, EvalLogLevel level, const char *text)
{
    (void)unused;
    PyGILState_STATE lock = PyGILState_Ensure();
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    write_note(level, text);
    PyErr_Restore(type, value, trace);
    PyGILState_Release(lock);
}
