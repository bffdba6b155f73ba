/* arrays.h - between Python's values and the library's vectors and tensors.
**
** Coming in, anything that numpy makes an array of is taken; a copy is made only
** when type, byte order or layout ask for one. Casts keep to numpy's "same kind",
** and integers must keep their values. Errors name the input. */
#ifndef EVL_WRAPPER_ARRAYS_H
#define EVL_WRAPPER_ARRAYS_H
#include "evaluator.h"

/* numpy's number of FLOAT32 or FLOAT64. */
int evl_array_real(EvalType real);

/* A value as a flat vector of the evaluator's own type. 0, or -1. */
int evl_array_flat(const evl_call *call, PyObject *name, PyObject *value, evl_flat *out);

/* A value as a tensor for an input declared so; EVAL_UNDEFINED when that is not
** known. A list for a sequence, a value or None for an optional, a dict for a map.
** 0, or -1. */
int evl_array_input(const evl_call *call, PyObject *name, PyObject *value,
                    const evl_declared *declared, EvalTensor *out);

/* A tensor as a new array; a sequence as a list, an optional as None or its value,
** a map as a dict. */
PyObject *evl_array_output(const evl_errors *errors, const EvalTensor *tensor);

/* Texts: arrays of str, or of bytes, are numpy's object arrays. */
int evl_strings_input(const evl_call *call, PyObject *name, PyArrayObject *array, EvalTensor *out);
PyObject *evl_strings_output(const EvalTensor *tensor);

#endif
