/* strings.c - texts in tensors: UTF-8 with a length in the library, str here. */
#include "arrays.h"

/* The bytes of a str, or bytes as they are; kept with the call. */
static PyObject *keep_bytes(const evl_call *call, PyObject *name, PyObject *element)
{
    PyObject *bytes = NULL;
    if (PyUnicode_Check(element)) {
        bytes = PyUnicode_AsEncodedString(element, "utf-8", "surrogateescape");
    } else if (PyBytes_Check(element)) {
        Py_INCREF(element);
        bytes = element;
    } else {
        evl_raise_format(&call->owner->state->errors, EVAL_ERR_TYPE,
                         "Input %R: every element must be a str or bytes, not %.100s", name,
                         Py_TYPE(element)->tp_name);
    }
    return evl_keep(call->keep, bytes) < 0 ? NULL : bytes;
}

static int fill(const evl_call *call, PyObject *name, PyObject *const *elements, size_t n,
                EvalString *strings)
{
    for (size_t i = 0; i < n; i++) {
        PyObject *element = elements[i] ? elements[i] : Py_None; /* numpy.empty leaves NULL */
        PyObject *bytes = keep_bytes(call, name, element);
        if (!bytes)
            return -1;
        strings[i] = (EvalString){ PyBytes_AS_STRING(bytes), (size_t)PyBytes_GET_SIZE(bytes) };
    }
    return 0;
}

int evl_strings_input(const evl_call *call, PyObject *name, PyArrayObject *array, EvalTensor *out)
{
    PyObject *objects = PyArray_FromArray(array, PyArray_DescrFromType(NPY_OBJECT),
                                          NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST);
    if (evl_keep(call->keep, objects) < 0)
        return -1;
    size_t n = (size_t)PyArray_SIZE((PyArrayObject *)objects);
    EvalString *strings = evl_keep_block(call->keep, n, sizeof *strings);
    if (!strings || fill(call, name, PyArray_DATA((PyArrayObject *)objects), n, strings) < 0)
        return -1;
    out->type = EVAL_STRING;
    out->data = strings;
    out->bytes = n * sizeof *strings;
    return 0;
}

PyObject *evl_strings_output(const EvalTensor *tensor)
{
    npy_intp dims[EVAL_MAX_RANK];
    for (int i = 0; i < tensor->rank; i++)
        dims[i] = (npy_intp)tensor->dims[i];
    PyObject *array = PyArray_SimpleNew(tensor->rank, dims, NPY_OBJECT);
    if (!array)
        return NULL;
    const EvalString *strings = tensor->data;
    PyObject **elements = PyArray_DATA((PyArrayObject *)array);
    npy_intp n = PyArray_SIZE((PyArrayObject *)array);
    for (npy_intp i = 0; i < n; i++) {
        PyObject *text = PyUnicode_DecodeUTF8(strings[i].text ? strings[i].text : "",
                                              (Py_ssize_t)strings[i].size, "surrogateescape");
        if (!text) {
            Py_DECREF(array);
            return NULL;
        }
        Py_XDECREF(elements[i]);
        elements[i] = text;
    }
    return array;
}
