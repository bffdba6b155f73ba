/* keep.c - borrowed memory. */
#include "keep.h"

int evl_keep(PyObject *keep, PyObject *owned)
{
    if (!owned)
        return -1;
    int status = PyList_Append(keep, owned);
    Py_DECREF(owned);
    return status;
}

static void free_block(PyObject *capsule)
{
    PyMem_Free(PyCapsule_GetPointer(capsule, NULL));
}

void *evl_keep_block(PyObject *keep, size_t n, size_t size)
{
    void *block = PyMem_Calloc(n ? n : 1, size);
    if (!block)
        return PyErr_NoMemory();
    PyObject *capsule = PyCapsule_New(block, NULL, free_block);
    if (!capsule) {
        PyMem_Free(block);
        return NULL;
    }
    return evl_keep(keep, capsule) < 0 ? NULL : block;
}

const char *evl_keep_text(PyObject *keep, const evl_errors *errors, const char *what,
                          PyObject *text)
{
    if (!PyUnicode_Check(text)) {
        evl_raise_format(errors, EVAL_ERR_TYPE, "%s must be a str, not %.100s", what,
                         Py_TYPE(text)->tp_name);
        return NULL;
    }
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
    if (!bytes || evl_keep(keep, bytes) < 0)
        return NULL;
    if (strlen(PyBytes_AS_STRING(bytes)) != (size_t)PyBytes_GET_SIZE(bytes)) {
        evl_raise_format(errors, EVAL_ERR_ARGUMENT, "%s holds a null character: %R", what, text);
        return NULL;
    }
    return PyBytes_AS_STRING(bytes);
}

PyObject *evl_text(const char *text)
{
    const char *known = text ? text : "";
    return PyUnicode_DecodeUTF8(known, (Py_ssize_t)strlen(known), "surrogateescape");
}
