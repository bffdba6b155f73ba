/* errors.h - a status becomes an exception.
**
** Every class derives from evallib.Error, a RuntimeError, and from the builtin
** that fits; each has `status`. The classes belong to the module, so that two
** modules (a reload) do not share them. */
#ifndef EVL_WRAPPER_ERRORS_H
#define EVL_WRAPPER_ERRORS_H
#include "numpy.h"
#include "evallib/eval.h"

/* Not a status of the library: the library itself cannot be had. */
enum { EVL_ERR_LIBRARY = EVAL_ERR_INTERNAL + 1, EVL_ERROR_CLASSES };

typedef struct evl_errors {
    PyObject *base;                       /* evallib.Error */
    PyObject *classes[EVL_ERROR_CLASSES]; /* by status; [EVAL_OK] is NULL */
} evl_errors;

/* Makes the classes and adds them to the module. 0, or -1 with an exception. */
int evl_errors_create(evl_errors *errors, PyObject *module);
int evl_errors_traverse(const evl_errors *errors, visitproc visit, void *arg);
void evl_errors_clear(evl_errors *errors);

/* Raises the class of that status; always NULL, so that callers can return it. */
PyObject *evl_raise(const evl_errors *errors, int status, const char *text);

/* The same with a text in PyErr_Format's language; an exception that is already
** set becomes the cause. */
PyObject *evl_raise_format(const evl_errors *errors, int status, const char *format, ...);

#endif
