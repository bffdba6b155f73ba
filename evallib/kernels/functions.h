/* functions.h - exp, log, tanh, erf and their kin as plain branch-free code, which
** compilers turn into vectors. For *_real.c files.
**
** Only additions, multiplications, divisions and selections, each rounded once
** (-ffp-contract=off), so every instruction set and compiler gives the same bits.
** Within 2 units in the last place, denormal results too; NaN gives NaN, of either sign. */
#ifndef EVL_KERNELS_FUNCTIONS_H
#define EVL_KERNELS_FUNCTIONS_H
#include "kernels/coefficients.h"
#include "real.h"
#include <stddef.h>
#include <string.h>

static inline real_bits bits_of(real x)
{
    real_bits bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline real real_of(real_bits bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Adding it rounds to an integer, which then stands in the low bits of the sum. */
static const real round_shift = (real)3 * ((real_bits)1 << (REAL_DIGITS - 2));

/* 2^n, n the integer in the low bits of `shifted`; in the range of normal numbers. */
static inline real power_of_2(real shifted)
{
    real_bits n = bits_of(shifted) - bits_of(round_shift);
    return real_of((n + REAL_BIAS) << (REAL_DIGITS - 1));
}

static inline real horner(real x, const real *c, size_t n)
{
    real sum = c[n - 1];
    for (size_t i = n - 1; i-- > 0;)
        sum = sum * x + c[i];
    return sum;
}

enum {
    N_EXP = sizeof TWIN(poly_exp) / sizeof(real),
    N_LOG = sizeof TWIN(poly_log) / sizeof(real),
    N_ERF = sizeof TWIN(poly_erf) / sizeof(real),
    N_ERFC = sizeof TWIN(poly_erfc) / sizeof(real)
};

/* x = n log(2) + rest: gives exp(rest) - 1, and n in the low bits of *shifted. */
static inline real exp_rest(real x, real *shifted)
{
    const real per_ln2 = (real)1.44269504088896340736L;
    *shifted = x * per_ln2 + round_shift;
    real n = *shifted - round_shift;
    real rest = (x - n * TWIN(ln2_high)) - n * TWIN(ln2_low);
    return rest + rest * rest * horner(rest, TWIN(poly_exp), N_EXP);
}

static inline real evl_exp(real x)
{
    real shifted, half;
    x = x > TWIN(exp_most) ? TWIN(exp_most) : x;
    x = x < TWIN(exp_least) ? TWIN(exp_least) : x;
    real y = 1 + exp_rest(x, &shifted);
    /* in two steps, as 2^n alone may be infinite or denormal where the product is not */
    half = (shifted - round_shift) * (real)0.5 + round_shift;
    return y * power_of_2(half) * power_of_2(shifted - (half - round_shift));
}

/* exp(x) - 1 for x up to 60. */
static inline real evl_expm1(real x)
{
    real shifted;
    x = x < -60 ? -60 : x;
    real y = exp_rest(x, &shifted);
    real scale = power_of_2(shifted);
    return y * scale + (scale - 1);
}

static inline real evl_log(real x)
{
    const real half_root = (real)0.70710678118654752440L;
    const real_bits one = (real_bits)REAL_BIAS << (REAL_DIGITS - 1);
    bool is_small = x < REAL_MIN;
    real normal = is_small ? x * ((real_bits)1 << REAL_DIGITS) : x;
    /* normal = 2^k (1 + f), 1 + f from sqrt(1/2) to sqrt(2) */
    real_bits k = (bits_of(normal) - bits_of(half_root) + one) >> (REAL_DIGITS - 1);
    real f = real_of(bits_of(normal) - (k << (REAL_DIGITS - 1)) + one) - 1;
    real n = real_of(bits_of(round_shift) + k) - (round_shift + REAL_BIAS);
    n = is_small ? n - REAL_DIGITS : n;
    real s = f / (2 + f), z = s * s, h = f * f * (real)0.5;
    real tail = s * (h + z * horner(z, TWIN(poly_log), N_LOG)) + n * TWIN(ln2_low);
    real y = n * TWIN(ln2_high) - ((h - tail) - f);
    y = x > REAL_MAX ? x : y;
    y = x == 0 ? -(real)INFINITY : y;
    return x >= 0 ? y : (real)NAN;
}

/* log(1 + x), x >= 0. */
static inline real evl_log1p(real x)
{
    real sum = 1 + x;
    real lost = x - (sum - 1);
    return evl_log(sum) + (sum > REAL_MAX ? 0 : lost / sum);
}

static inline real evl_tanh(real x)
{
    real a = fabs(x) * 2;
    real y = evl_expm1(a > 50 ? 50 : a);
    y = y / (y + 2);
    return x < 0 ? -y : x == 0 ? x : y;
}

static inline real evl_sigmoid(real x)
{
    real y = evl_exp(x < 0 ? x : -x);
    real one = x < 0 ? y : 1;
    return one / (1 + y);
}

static inline real evl_erf(real x)
{
    real a = fabs(x), z = x * x;
    real small = x + x * horner(z, TWIN(poly_erf), N_ERF);
    a = a > 6 ? 6 : a;
    real c = evl_exp(-(a * a)) * horner(1 / (a + 2) - (real)0.25, TWIN(poly_erfc), N_ERFC);
    real large = x < 0 ? c - 1 : 1 - c;
    return a < 1 ? small : large;
}

/* log(1 + exp(x)), which never overflows on its way. */
static inline real evl_softplus(real x)
{
    real most = x < 0 ? 0 : x;
    return most + evl_log1p(evl_exp(x < 0 ? x : -x));
}
#endif
