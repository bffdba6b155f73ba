/* numpy.h - CPython and numpy, asked for in the same way by every file.
**
** One table of numpy's functions serves the extension; module.c alone fills it.
** Built against headers of numpy 2, the result runs under numpy 1.24 and later. */
#ifndef EVL_WRAPPER_NUMPY_H
#define EVL_WRAPPER_NUMPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define NPY_NO_DEPRECATED_API  NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION     NPY_1_22_API_VERSION
#define PY_ARRAY_UNIQUE_SYMBOL evl_numpy_functions
#ifndef EVL_FILLS_NUMPY_TABLE
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#endif
