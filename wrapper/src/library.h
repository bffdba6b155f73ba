/* library.h - where the evaluation library is: beside this extension, or where
** EVALLIB_LIBRARY says, or where the system's loader finds it; the first that is
** there decides. It is opened when the first object is made. */
#ifndef EVL_WRAPPER_LIBRARY_H
#define EVL_WRAPPER_LIBRARY_H
#include "errors.h"

typedef struct evl_library {
    void *handle;     /* NULL until opened */
    PyObject *beside; /* bytes: the path beside the extension */
} evl_library;

/* `file` is the extension's own path. 0, or -1 with an exception. */
int evl_library_create(evl_library *library, PyObject *file);

/* Closes the library; every object of it must be gone. */
void evl_library_close(evl_library *library);

/* A symbol of the library, which is opened if need be; NULL with LibraryError. */
void *evl_library_symbol(evl_library *library, const evl_errors *errors, const char *name);

#endif
