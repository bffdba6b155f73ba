/* types.c - the table of element types. */
#include "types.h"

static const evl_type types[] = {
    { EVAL_FLOAT32, NPY_FLOAT32, 'f', 4, 32, NULL },
    { EVAL_FLOAT64, NPY_FLOAT64, 'f', 8, 64, NULL },
    { EVAL_FLOAT16, NPY_FLOAT16, 'f', 2, 16, NULL },
    { EVAL_INT64, NPY_INT64, 'i', 8, 64, NULL },
    { EVAL_INT32, NPY_INT32, 'i', 4, 32, NULL },
    { EVAL_INT16, NPY_INT16, 'i', 2, 16, NULL },
    { EVAL_INT8, NPY_INT8, 'i', 1, 8, NULL },
    { EVAL_UINT64, NPY_UINT64, 'u', 8, 64, NULL },
    { EVAL_UINT32, NPY_UINT32, 'u', 4, 32, NULL },
    { EVAL_UINT16, NPY_UINT16, 'u', 2, 16, NULL },
    { EVAL_UINT8, NPY_UINT8, 'u', 1, 8, NULL },
    { EVAL_BOOL, NPY_BOOL, 'b', 1, 8, NULL },
    { EVAL_COMPLEX64, NPY_COMPLEX64, 'c', 8, 64, NULL },
    { EVAL_COMPLEX128, NPY_COMPLEX128, 'c', 16, 128, NULL },
    { EVAL_BFLOAT16, NPY_UINT16, '-', 2, 16, "bfloat16" },
    { EVAL_FLOAT8E4M3FN, NPY_UINT8, '-', 1, 8, "float8_e4m3fn" },
    { EVAL_FLOAT8E4M3FNUZ, NPY_UINT8, '-', 1, 8, "float8_e4m3fnuz" },
    { EVAL_FLOAT8E5M2, NPY_UINT8, '-', 1, 8, "float8_e5m2" },
    { EVAL_FLOAT8E5M2FNUZ, NPY_UINT8, '-', 1, 8, "float8_e5m2fnuz" },
    { EVAL_FLOAT8E8M0, NPY_UINT8, '-', 1, 8, "float8_e8m0fnu" },
    { EVAL_FLOAT4E2M1, NPY_UINT8, '-', 1, 4, "float4_e2m1fn" },
    { EVAL_UINT4, NPY_UINT8, '-', 1, 4, "uint4" },
    { EVAL_INT4, NPY_INT8, '-', 1, 4, "int4" },
    { EVAL_UINT2, NPY_UINT8, '-', 1, 2, "uint2" },
    { EVAL_INT2, NPY_INT8, '-', 1, 2, "int2" },
};
enum { N_TYPES = sizeof types / sizeof types[0] };

const evl_type *evl_type_find(EvalType type)
{
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].type == type)
            return &types[i];
    return NULL;
}

static bool is_called(PyArrayObject *array, const char *name)
{
    const char *full = PyArray_DESCR(array)->typeobj->tp_name, *point = strrchr(full, '.');
    return name && strcmp(point ? point + 1 : full, name) == 0;
}

const evl_type *evl_type_of(PyArrayObject *array)
{
    char kind = PyArray_DESCR(array)->kind;
    bool is_extension = PyTypeNum_ISUSERDEF(PyArray_TYPE(array));
    for (int i = 0; i < N_TYPES; i++)
        if (is_extension ? is_called(array, types[i].extension)
                         : types[i].kind == kind && types[i].size == (int)PyArray_ITEMSIZE(array))
            return &types[i];
    return NULL;
}

bool evl_type_is_floating(EvalType type)
{
    const evl_type *found = evl_type_find(type);
    if (type == EVAL_UNDEFINED || !found)
        return false;
    return found->kind == 'f' || type == EVAL_BFLOAT16 || type == EVAL_FLOAT4E2M1 ||
           type == EVAL_FLOAT8E8M0 || (type >= EVAL_FLOAT8E4M3FN && type <= EVAL_FLOAT8E5M2FNUZ);
}

PyObject *evl_type_view(const evl_type *type, PyObject *array)
{
    if (!type->extension)
        return array;
    PyObject *package = PyImport_ImportModule("ml_dtypes");
    PyObject *scalar = package ? PyObject_GetAttrString(package, type->extension) : NULL;
    Py_XDECREF(package);
    if (!scalar) { /* not installed, or too old to have it: the bits then */
        PyErr_Clear();
        return array;
    }
    PyObject *view = PyObject_CallMethod(array, "view", "O", scalar);
    Py_DECREF(scalar);
    Py_DECREF(array);
    return view;
}
