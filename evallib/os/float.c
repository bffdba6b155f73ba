/* float.c - the floating-point environment of a call. A host may round upward, flush
** denormals or trap; arithmetic here may not. Saving and setting all of it takes 150 ns, and
** nearly always it is what arithmetic wants already: then only the flags it raised go back. */
#include "os/os.h"
#include <fenv.h>

#if defined(__x86_64__)

/* Round to nearest, all exceptions masked, denormals kept: of MXCSR, which also has the
** flags of exceptions that were raised, and of the x87 unit, which is not used here. */
enum { MXCSR_FLAGS = 0x3f, MXCSR_DEFAULT = 0x1f80, X87_DEFAULT = 0x37f };

void evl_float_enter(evl_float_state *found)
{
    uint16_t x87;
    found->control = __builtin_ia32_stmxcsr();
    __asm__ volatile("fnstcw %0" : "=m"(x87));
    found->is_set =
        (found->control & ~(unsigned)MXCSR_FLAGS) != MXCSR_DEFAULT || x87 != X87_DEFAULT;
    if (!found->is_set)
        return;
    fegetenv(&found->environment);
    fesetenv(FE_DFL_ENV);
}

void evl_float_leave(const evl_float_state *found)
{
    if (found->is_set)
        fesetenv(&found->environment);
    else if (__builtin_ia32_stmxcsr() != found->control)
        __builtin_ia32_ldmxcsr(found->control);
}

#else

void evl_float_enter(evl_float_state *found)
{
    fegetenv(&found->environment);
    fesetenv(FE_DFL_ENV);
}

void evl_float_leave(const evl_float_state *found)
{
    fesetenv(&found->environment);
}
#endif
