/* module.h - what the extension module owns. No static Python object: importing
** it twice gives two modules that share nothing. */
#ifndef EVL_WRAPPER_MODULE_H
#define EVL_WRAPPER_MODULE_H
#include "library.h"

typedef struct evl_state {
    evl_errors errors;
    evl_library library;
    PyTypeObject *model_f, *model_d;
} evl_state;

#endif
