/* Which sets there are, and the best of them for a processor. */
#include "kernels/kernels.h"
#include "os/os.h"

#if EVL_HAS_X86_SETS
extern const evl_kernels TWIN(evl_kernels_avx2), TWIN(evl_kernels_avx512);
#endif
extern const evl_kernels TWIN(evl_kernels_base);

const evl_kernels *const TWIN(evl_kernel_sets)[] = {
#if EVL_HAS_X86_SETS
    &TWIN(evl_kernels_avx512),
    &TWIN(evl_kernels_avx2),
#endif
    &TWIN(evl_kernels_base),
    NULL,
};

evl_kernel_choice TWIN(evl_kernels_choose)(unsigned cpu)
{
    const evl_kernels *const *set = TWIN(evl_kernel_sets);
    while (((*set)->needs & cpu) != (*set)->needs) /* base needs nothing */
        set++;
    bool has_narrow = (cpu & EVL_CPU_HALVES) && set[1] && set[1]->needs;
    return (evl_kernel_choice){ (*set)->name, *set, (*set)->loops, (*set)->blocked->lanes,
                                has_narrow ? set[1]->blocked->lanes : 0 };
}

const evl_blocked_kernels *TWIN(evl_blocked_of)(const evl_kernels *k, size_t lanes)
{
    const evl_kernels *const *set = TWIN(evl_kernel_sets);
    while (*set && (*set)->blocked->lanes != lanes)
        set++;
    return *set && k->blocked->lanes != lanes ? (*set)->blocked : k->blocked;
}
