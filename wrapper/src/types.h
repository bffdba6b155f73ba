/* types.h - element types of the library and of numpy, side by side. */
#ifndef EVL_WRAPPER_TYPES_H
#define EVL_WRAPPER_TYPES_H
#include <stdbool.h>
#include "numpy.h"
#include "evallib/eval.h"

typedef struct evl_type {
    EvalType type;
    int number; /* numpy's; a type that numpy has not comes out as its bits */
    char kind;  /* numpy's: f, i, u, b, c; '-' where no array becomes this type */
    int size;   /* bytes of numpy's element */
    int bits;   /* of an element in the library's memory */
} evl_type;

/* NULL for UNDEFINED and what is no array of numbers. */
const evl_type *evl_type_find(EvalType type);

/* What an array of numpy's is; NULL for object, text, time, records. */
const evl_type *evl_type_of(PyArrayObject *array);

/* Does the library compute with it in its own floating-point type? */
bool evl_type_is_floating(EvalType type);

#endif
