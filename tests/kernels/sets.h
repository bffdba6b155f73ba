/* sets.h - the kernel sets that this processor can run, for tests of *_real.c. */
#ifndef EVL_TESTS_SETS_H
#define EVL_TESTS_SETS_H
#include "kernels/kernels.h"
#include "os/os.h"
#include "support/support.h"
#include <string.h>

/* The next set from `at` on that runs here; NULL after the last, which is the base set. */
static inline const evl_kernels *next_set(size_t *at)
{
    const evl_kernels *set;
    while ((set = TWIN(evl_kernel_sets)[*at]) != NULL) {
        ++*at;
        if ((set->needs & ~evl_cpu_features()) == 0)
            return set;
    }
    return NULL;
}

static inline const evl_loops *base_loops(void)
{
    const evl_kernels *const *set = TWIN(evl_kernel_sets);
    while (set[1])
        set++;
    return set[0]->loops;
}

/* Of all sizes, both signs; every 16th something special. */
static inline real any_real(uint64_t *seed, size_t i)
{
    static const real special[] = {
        0,           -(real)0,  (real)NAN, (real)INFINITY, -(real)INFINITY,
        REAL_MAX,    -REAL_MAX, REAL_MIN,  REAL_MIN / 8,   1,
        -1,          2,         (real)0.5, (real)2.5,      -REAL_MIN / 64,
        REAL_EPSILON
    };
    if (i % 16 == 15)
        return special[i / 16 % 16];
    double scale = evl_test_random(seed, -20, 8);
    return (real)(evl_test_random(seed, -1, 1) * exp2(scale));
}

/* The same bits, but for the sign of a NaN: IEEE 754 gives it no meaning, and compilers may
** move a negation through a product, as clang does in erf. */
static inline void assert_same_reals(const real *got, const real *right, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(got + i, right + i, sizeof *got) != 0 && !(isnan(got[i]) && isnan(right[i])))
            fail_msg("number %zu is %.17g instead of %.17g", i, (double)got[i], (double)right[i]);
}
#endif
