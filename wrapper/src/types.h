/* types.h - element types of the library and of numpy, side by side. */
#ifndef EVL_WRAPPER_TYPES_H
#define EVL_WRAPPER_TYPES_H
#include <stdbool.h>
#include "numpy.h"
#include "evallib/eval.h"

typedef struct evl_type {
    EvalType type;
    int number; /* numpy's; of a type that numpy has not: of its bits */
    char kind;  /* numpy's: f, i, u, b, c; '-' where it has none */
    int size;   /* bytes of numpy's element */
    int bits;   /* of an element in the library's memory */
    const char *extension; /* its name in ml_dtypes; NULL: it is numpy's own */
} evl_type;

/* NULL for UNDEFINED and what is no array of numbers. */
const evl_type *evl_type_find(EvalType type);

/* What an array of numpy's is; NULL for object, text, time, records. */
const evl_type *evl_type_of(PyArrayObject *array);

/* May numbers of any floating type go in where this one is declared? */
bool evl_type_is_floating(EvalType type);

/* An array of numbers or bits as one of ml_dtypes, when that package is installed; steals
** the reference. */
PyObject *evl_type_view(const evl_type *type, PyObject *array);

#endif
