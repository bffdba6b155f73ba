/* errors.c - the table of exception classes. */
#include "errors.h"

typedef struct error_class {
    int status;      /* what `status` says */
    PyObject **fits; /* the builtin that it also derives from; NULL for none */
    const char *name;
    const char *doc;
} error_class;

/* In the order of evl_errors.classes, without EVAL_OK. Built at run time because
** the builtins' addresses are not constants for every linker. */
enum { N_CLASSES = EVL_ERROR_CLASSES - 1 };

static void list_classes(error_class list[N_CLASSES])
{
    const error_class all[N_CLASSES] = {
        { EVAL_ERR_ARGUMENT, &PyExc_ValueError, "evallib.ArgumentError",
          "A setting or an argument makes no sense." },
        { EVAL_ERR_MEMORY, &PyExc_MemoryError, "evallib.OutOfMemoryError",
          "The allocator said no." },
        { EVAL_ERR_IO, &PyExc_OSError, "evallib.FileError",
          "A file is missing, unreadable, or a directory." },
        { EVAL_ERR_FORMAT, &PyExc_ValueError, "evallib.FormatError",
          "The bytes are empty, unknown, cut, or inconsistent." },
        { EVAL_ERR_UNSUPPORTED, &PyExc_NotImplementedError, "evallib.UnsupportedError",
          "Valid, and not offered." },
        { EVAL_ERR_NOT_FOUND, &PyExc_LookupError, "evallib.NotFoundError",
          "There is no node of that name." },
        { EVAL_ERR_SHAPE, &PyExc_ValueError, "evallib.ShapeError",
          "Lengths, sample counts or dimensions do not fit." },
        { EVAL_ERR_TYPE, &PyExc_TypeError, "evallib.TypeMismatchError", "A wrong element type." },
        { EVAL_ERR_STATE, NULL, "evallib.StateError",
          "No network yet, an object in use by another thread, or a closed object." },
        { EVAL_ERR_LIMIT, NULL, "evallib.LimitError", "A limit was reached." },
        { EVAL_ERR_CANCELLED, NULL, "evallib.CancelledError", "The run was stopped." },
        { EVAL_ERR_PLUGIN, NULL, "evallib.PluginError", "A plug-in failed." },
        { EVAL_ERR_INTERNAL, NULL, "evallib.InternalError",
          "The library contradicts itself; please report it." },
        { EVAL_ERR_IO, &PyExc_ImportError, "evallib.LibraryError",
          "The evaluation library cannot be found or used." },
    };
    memcpy(list, all, sizeof all);
}

/* A new class "evallib.<Name>" with `status`, as the module's attribute <Name>. */
static PyObject *add_class(PyObject *module, const error_class *described, PyObject *bases)
{
    PyObject *dict = Py_BuildValue("{s:i}", "status", described->status);
    if (!dict)
        return NULL;
    PyObject *made = PyErr_NewExceptionWithDoc(described->name, described->doc, bases, dict);
    Py_DECREF(dict);
    if (made && PyObject_SetAttrString(module, strrchr(described->name, '.') + 1, made) < 0)
        Py_CLEAR(made);
    return made;
}

int evl_errors_create(evl_errors *errors, PyObject *module)
{
    const error_class base = { EVAL_ERR_INTERNAL, NULL, "evallib.Error",
                               "A call of the evaluation library failed; `status` tells how." };
    error_class list[N_CLASSES];
    list_classes(list);
    errors->base = add_class(module, &base, PyExc_RuntimeError);
    if (!errors->base)
        return -1;
    for (int i = 0; i < N_CLASSES; i++) {
        PyObject *bases = list[i].fits ? PyTuple_Pack(2, errors->base, *list[i].fits)
                                       : PyTuple_Pack(1, errors->base);
        if (!bases)
            return -1;
        errors->classes[i + 1] = add_class(module, &list[i], bases);
        Py_DECREF(bases);
        if (!errors->classes[i + 1])
            return -1;
    }
    return 0;
}

int evl_errors_traverse(const evl_errors *errors, visitproc visit, void *arg)
{
    Py_VISIT(errors->base);
    for (int i = 0; i < EVL_ERROR_CLASSES; i++)
        Py_VISIT(errors->classes[i]);
    return 0;
}

void evl_errors_clear(evl_errors *errors)
{
    Py_CLEAR(errors->base);
    for (int i = 0; i < EVL_ERROR_CLASSES; i++)
        Py_CLEAR(errors->classes[i]);
}

/* A status of a newer library has no class of its own. */
static PyObject *class_of(const evl_errors *errors, int status)
{
    return status > EVAL_OK && status < EVL_ERROR_CLASSES ? errors->classes[status] : errors->base;
}

PyObject *evl_raise(const evl_errors *errors, int status, const char *text)
{
    PyObject *message = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    if (message)
        PyErr_SetObject(class_of(errors, status), message);
    Py_XDECREF(message);
    return NULL;
}

/* Takes the exception that is set, made whole; NULL when there is none. */
static PyObject *take_exception(void)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (!type)
        return NULL;
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace)
        PyException_SetTraceback(value, trace);
    Py_DECREF(type);
    Py_XDECREF(trace);
    return value;
}

PyObject *evl_raise_format(const evl_errors *errors, int status, const char *format, ...)
{
    PyObject *cause = take_exception();
    va_list values;
    va_start(values, format);
    PyErr_FormatV(class_of(errors, status), format, values);
    va_end(values);
    if (cause) {
        PyObject *type, *value, *trace;
        PyErr_Fetch(&type, &value, &trace);
        PyErr_NormalizeException(&type, &value, &trace);
        PyException_SetCause(value, cause); /* steals it */
        PyErr_Restore(type, value, trace);
    }
    return NULL;
}
