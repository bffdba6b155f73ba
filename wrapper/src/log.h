/* log.h - the library's notes (ignored settings, a BLAS that is not used) go to
** Python's logger "evallib". */
#ifndef EVL_WRAPPER_LOG_H
#define EVL_WRAPPER_LOG_H
#include "numpy.h"
#include "evallib/eval.h"

/* For SetLog. May be called with and without the interpreter's lock. What a handler
** raises is reported as unraisable: the library's call goes on. */
void evl_log_write(void *unused, EvalLogLevel level, const char *text);

#endif
