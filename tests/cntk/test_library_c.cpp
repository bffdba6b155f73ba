/* The same program as C++, beside the classes of Eval.h. */
#include "evallib/cntk/Eval.h"
#include "test_library_c.c"
