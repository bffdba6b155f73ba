/* keep.h - what one call borrows: a Python list that owns every array, text and
** block handed to the library. Dropping the list gives all of it back. */
#ifndef EVL_WRAPPER_KEEP_H
#define EVL_WRAPPER_KEEP_H
#include "errors.h"

/* Gives the list a reference of the caller's (stolen, also on failure). */
int evl_keep(PyObject *keep, PyObject *owned);

/* Zeroed memory for n elements; NULL with MemoryError. */
void *evl_keep_block(PyObject *keep, size_t n, size_t size);

/* A str as UTF-8 without '\0' inside, surrogates from os.fsdecode as the bytes
** they stood for. `what` names it in TypeMismatchError and ArgumentError. */
const char *evl_keep_text(PyObject *keep, const evl_errors *errors, const char *what,
                          PyObject *text);

/* The same from the library's side. */
PyObject *evl_text(const char *text);

#endif
