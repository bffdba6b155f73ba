/* truth.h - what a function's value is, to more digits than a real has.
**
** MPFR's where there is MPFR and the library is double (truth_mpfr.c), else the C library's
** in the next wider type (truth_libc_real.c): of a float's function, a double is off by a
** thousandth of a millionth of the float's last place. */
#ifndef EVL_TESTS_ACCURACY_TRUTH_H
#define EVL_TESTS_ACCURACY_TRUTH_H
#include "real.h"

#if EVL_REAL_IS_DOUBLE
typedef long double wide;
#else
typedef double wide;
#endif

/* kind: EVL_EXP and the like, of one operand. */
wide evl_truth(int kind, wide x);
wide evl_truth_of_pow(wide x, wide y);
#endif
