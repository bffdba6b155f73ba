/* results.c - what comes out: new arrays that own their memory, so that closing the
** model takes nothing away from them. */
#include "arrays.h"
#include "types.h"

static PyObject *raise_inconsistent(const evl_errors *errors, const EvalTensor *tensor)
{
    return evl_raise_format(errors, EVAL_ERR_INTERNAL,
                            "Output \"%s\": type %d with %zu bytes does not fit its shape",
                            tensor->name ? tensor->name : "", (int)tensor->type, tensor->bytes);
}

/* Elements narrower than a byte are packed with the low bits first. */
static void unpack(const evl_type *type, const uint8_t *from, size_t n, int8_t *to)
{
    bool is_signed = type->number == NPY_INT8;
    int per_byte = 8 / type->bits, unused = 8 - type->bits;
    for (size_t i = 0; i < n; i++) {
        int shift = (int)(i % (size_t)per_byte) * type->bits;
        uint8_t high = (uint8_t)(from[i / (size_t)per_byte] >> shift << unused);
        to[i] = is_signed ? (int8_t)((int8_t)high >> unused) : (int8_t)(high >> unused);
    }
}

static size_t bytes_of(const evl_type *type, size_t n)
{
    size_t per_byte = 8 / (size_t)type->bits;
    return per_byte ? (n + per_byte - 1) / per_byte : n * (size_t)type->size;
}

static PyObject *numbers(const evl_errors *errors, const EvalTensor *tensor, const evl_type *type)
{
    npy_intp dims[EVAL_MAX_RANK];
    for (int i = 0; i < tensor->rank; i++)
        dims[i] = (npy_intp)tensor->dims[i];
    PyObject *array = PyArray_SimpleNew(tensor->rank, dims, type->number);
    if (!array)
        return NULL;
    size_t n = (size_t)PyArray_SIZE((PyArrayObject *)array);
    size_t n_bytes = bytes_of(type, n);
    if (tensor->bytes < n_bytes || (n && !tensor->data)) {
        Py_DECREF(array);
        return raise_inconsistent(errors, tensor);
    }
    void *to = PyArray_DATA((PyArrayObject *)array);
    if (type->bits < 8)
        unpack(type, tensor->data, n, to);
    else if (n)
        memcpy(to, tensor->data, n_bytes);
    return evl_type_view(type, array);
}

static PyObject *list_of(const evl_errors *errors, const EvalTensor *tensor)
{
    const EvalTensor *elements = tensor->data;
    PyObject *list = PyList_New(0);
    for (int64_t i = 0; list && i < tensor->dims[0]; i++) {
        PyObject *element = evl_array_output(errors, &elements[i]);
        if (!element || PyList_Append(list, element) < 0)
            Py_CLEAR(list);
        Py_XDECREF(element);
    }
    return list;
}

static PyObject *optional_of(const evl_errors *errors, const EvalTensor *tensor)
{
    if (tensor->dims[0] == 0)
        Py_RETURN_NONE;
    return evl_array_output(errors, tensor->data);
}

/* dict(zip(keys, values)) with plain Python values. */
static PyObject *dict_of(const evl_errors *errors, const EvalTensor *tensor)
{
    const EvalTensor *pair = tensor->data;
    PyObject *keys = evl_array_output(errors, &pair[0]);
    PyObject *values = keys ? evl_array_output(errors, &pair[1]) : NULL;
    PyObject *key_list = values ? PyObject_CallMethod(keys, "tolist", NULL) : NULL;
    PyObject *value_list = key_list ? PySequence_List(values) : NULL;
    PyObject *dict = value_list ? PyDict_New() : NULL;
    for (Py_ssize_t i = 0; dict && i < PyList_GET_SIZE(key_list); i++) {
        PyObject *value = PyList_GetItem(value_list, i); /* NULL: fewer values than keys */
        if (!value || PyDict_SetItem(dict, PyList_GET_ITEM(key_list, i), value) < 0)
            Py_CLEAR(dict);
    }
    Py_XDECREF(keys);
    Py_XDECREF(values);
    Py_XDECREF(key_list);
    Py_XDECREF(value_list);
    return dict;
}

PyObject *evl_array_output(const evl_errors *errors, const EvalTensor *tensor)
{
    if (tensor->rank < 0 || tensor->rank > EVAL_MAX_RANK)
        return raise_inconsistent(errors, tensor);
    if (tensor->type == EVAL_STRING)
        return evl_strings_output(tensor);
    if (tensor->type == EVAL_SEQUENCE)
        return list_of(errors, tensor);
    if (tensor->type == EVAL_OPTIONAL)
        return optional_of(errors, tensor);
    if (tensor->type == EVAL_MAP)
        return dict_of(errors, tensor);
    const evl_type *type = evl_type_find(tensor->type);
    return type ? numbers(errors, tensor, type) : raise_inconsistent(errors, tensor);
}
