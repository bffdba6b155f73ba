/* The truth by MPFR: 120 bits, rounded to the 64 of a long double. */
#include "kernels/loops.h"
#include "truth.h"
#include <mpfr.h>

enum { PRECISION = 120 };

typedef int mpfr_function(mpfr_t, const mpfr_t, mpfr_rnd_t);

static int sigmoid(mpfr_t y, const mpfr_t x, mpfr_rnd_t how)
{
    mpfr_neg(y, x, how);
    mpfr_exp(y, y, how);
    mpfr_add_ui(y, y, 1, how);
    return mpfr_ui_div(y, 1, y, how);
}

/* max(x, 0) + log(1 + exp(-|x|)), as exp of the largest doubles is beyond MPFR. */
static int softplus(mpfr_t y, const mpfr_t x, mpfr_rnd_t how)
{
    mpfr_abs(y, x, how);
    mpfr_neg(y, y, how);
    mpfr_exp(y, y, how);
    mpfr_log1p(y, y, how);
    return mpfr_sgn(x) > 0 ? mpfr_add(y, y, x, how) : 0;
}

static int elu(mpfr_t y, const mpfr_t x, mpfr_rnd_t how)
{
    return mpfr_sgn(x) < 0 ? mpfr_expm1(y, x, how) : mpfr_set(y, x, how);
}

static mpfr_function *const functions[EVL_N_UNARY] = {
    [EVL_EXP] = mpfr_exp,     [EVL_LOG] = mpfr_log,     [EVL_TANH] = mpfr_tanh,
    [EVL_SIGMOID] = sigmoid,  [EVL_ERF] = mpfr_erf,     [EVL_SOFTPLUS] = softplus,
    [EVL_ELU] = elu,          [EVL_SIN] = mpfr_sin,     [EVL_COS] = mpfr_cos,
    [EVL_TAN] = mpfr_tan,     [EVL_ASIN] = mpfr_asin,   [EVL_ACOS] = mpfr_acos,
    [EVL_ATAN] = mpfr_atan,   [EVL_SINH] = mpfr_sinh,   [EVL_COSH] = mpfr_cosh,
    [EVL_ASINH] = mpfr_asinh, [EVL_ACOSH] = mpfr_acosh, [EVL_ATANH] = mpfr_atanh,
};

wide evl_truth(int kind, wide x)
{
    mpfr_t from, to;
    mpfr_inits2(PRECISION, from, to, (mpfr_ptr)0);
    mpfr_set_ld(from, x, MPFR_RNDN);
    functions[kind](to, from, MPFR_RNDN);
    wide y = mpfr_get_ld(to, MPFR_RNDN);
    mpfr_clears(from, to, (mpfr_ptr)0);
    return y;
}

wide evl_truth_of_pow(wide x, wide y)
{
    mpfr_t a, b;
    mpfr_inits2(PRECISION, a, b, (mpfr_ptr)0);
    mpfr_set_ld(a, x, MPFR_RNDN);
    mpfr_set_ld(b, y, MPFR_RNDN);
    mpfr_pow(a, a, b, MPFR_RNDN);
    wide z = mpfr_get_ld(a, MPFR_RNDN);
    mpfr_clears(a, b, (mpfr_ptr)0);
    return z;
}
