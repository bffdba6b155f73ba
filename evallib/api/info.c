/* What this library is: one constant for each set of kernels there is. */
#include "evallib/eval.h"
#include "kernels/loops.h"
#include "os/os.h"
#include <string.h>

enum { ABI = 0 };

static const EvalInfo infos[] = {
    { sizeof(EvalInfo), ABI, EVL_VERSION, EVL_BUILD, "base" },
    { sizeof(EvalInfo), ABI, EVL_VERSION, EVL_BUILD, "avx2" },
    { sizeof(EvalInfo), ABI, EVL_VERSION, EVL_BUILD, "avx512" },
};

const EvalInfo *EvalLibraryInfo(void)
{
    const char *name = evl_kernels_choose_f(evl_cpu_features()).name;
    for (size_t i = 1; i < sizeof infos / sizeof infos[0]; i++)
        if (strcmp(infos[i].kernels, name) == 0)
            return &infos[i];
    return &infos[0];
}
