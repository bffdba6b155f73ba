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

/* c[0] + c[1] x + c[2] x^2 ..: even and odd powers side by side, as one chain of n steps
** would keep a processor waiting. */
static inline real horner(real x, const real *c, size_t n)
{
    real square = x * x, sum[2] = { c[n - 1], c[n - 2] };
    for (size_t i = n - 2; i-- > 0;)
        sum[(n - 1 - i) % 2] = sum[(n - 1 - i) % 2] * square + c[i];
    return n % 2 ? sum[0] + x * sum[1] : sum[1] + x * sum[0];
}

enum {
    N_EXP = sizeof TWIN(poly_exp) / sizeof(real),
    N_LOG = sizeof TWIN(poly_log) / sizeof(real),
    N_POW = sizeof TWIN(poly_pow) / sizeof(real),
    N_SIN = sizeof TWIN(poly_sin) / sizeof(real),
    N_COS = sizeof TWIN(poly_cos) / sizeof(real),
    N_TANH = sizeof TWIN(poly_tanh) / sizeof(real),
    N_ERF = sizeof TWIN(poly_erf) / sizeof(real),
    N_ERFC = sizeof TWIN(poly_erfc) / sizeof(real)
};

/* x = n log(2) + rest: gives exp(rest) - 1, and n in the low bits of *shifted. */
static inline real exp_rest(real x, real *shifted)
{
    const real per_ln2 = (real)1.44269504088896340736L;
    *shifted = x * per_ln2 + round_shift;
    real n = *shifted - round_shift;
    real most = x - n * TWIN(ln2_high), low = n * TWIN(ln2_low), rest = most - low;
    return most + (rest * rest * horner(rest, TWIN(poly_exp), N_EXP) - low);
}

/* y 2^n for n in the low bits of `shifted`: in two steps, as 2^n alone may be infinite or
** denormal where the product is not. */
static inline real scaled(real y, real shifted)
{
    real half = (shifted - round_shift) * (real)0.5 + round_shift;
    return y * power_of_2(half) * power_of_2(shifted - (half - round_shift));
}

static inline real exp_clipped(real x)
{
    x = x > TWIN(exp_most) ? TWIN(exp_most) : x;
    return x < TWIN(exp_least) ? TWIN(exp_least) : x;
}

static inline real evl_exp(real x)
{
    real shifted, y = 1 + exp_rest(exp_clipped(x), &shifted);
    return scaled(y, shifted);
}

/* exp(x) in two parts, the second what the first lost. */
static inline real exp_of(real x, real *lost)
{
    real shifted, rest = exp_rest(exp_clipped(x), &shifted), y = 1 + rest;
    *lost = scaled(rest - (y - 1), shifted);
    return scaled(y, shifted);
}

/* evl_exp's bits with less work, for arguments up to NEAR in size: there 2^n is a normal number. */
enum { NEAR = 60 };

static inline real exp_near(real x)
{
    real shifted, y = 1 + exp_rest(x, &shifted);
    return y * power_of_2(shifted);
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

/* exp(2 a) + 1 has no digit to lose where a is not small. */
static inline real evl_tanh(real x)
{
    real shifted, z = x * x, a = fabs(x);
    real small = x + x * (z * horner(z, TWIN(poly_tanh), N_TANH));
    real y = exp_rest(a > 20 ? 40 : 2 * a, &shifted);
    y = y * power_of_2(shifted) + power_of_2(shifted);
    real large = 1 - 2 / (y + 1);
    large = x < 0 ? -large : large;
    return x == 0 ? x : a < (real)0.55 ? small : large;
}

/* y / (1 + y), y = exp(x) + what it lost, for x < 0: then what rounding y and 1 + y lost. */
static inline real sigmoid_low(real x)
{
    real low, y = exp_of(x, &low), sum = 1 + y, lost = (y - (sum - 1)) + low;
    real result = y / sum;
    return result + (low - result * lost) * (1 - result);
}

/* The sigmoid of x from -FEW to NEAR: 1 / (1 + y), y = exp(-x) = 2^n (1 + rest): 1 + 2^n is
** exact, and what rounding the sum lost is put right. */
enum { FEW = 16 };

static inline real sigmoid_few(real x)
{
    real shifted, rest = exp_rest(-x, &shifted), scale = power_of_2(shifted);
    real whole = 1 + scale, part = scale * rest, sum = whole + part, result = 1 / sum;
    return result - result * (result * (part - (sum - whole)));
}

static inline real evl_sigmoid(real x)
{
    real low = sigmoid_low(x), few = sigmoid_few(x > NEAR ? NEAR : x);
    return x < -FEW ? low : few;
}

static inline real evl_erf(real x)
{
    real a = fabs(x), z = x * x;
    real small = x + x * horner(z, TWIN(poly_erf), N_ERF);
    a = a > 6 ? 6 : a;
    real c = exp_near(-(a * a)) * horner(1 / (a + 2) - (real)0.25, TWIN(poly_erfc), N_ERFC);
    real large = x < 0 ? c - 1 : 1 - c;
    return a < 1 ? small : large;
}

/* exp(-|x|) and what it lost: the first step of softplus. */
static inline real softplus_begin(real x, real *low)
{
    return exp_of(x < 0 ? x : -x, low);
}

/* log(1 + exp(x)) = max(x, 0) + log(1 + y), which never overflows on its way. */
static inline real softplus_end(real x, real y, real low)
{
    real sum = 1 + y, lost = ((y - (sum - 1)) + low) / sum;
    real most = x < 0 ? 0 : x, log = evl_log(sum), both = most + log, back = both - most;
    real rest = (most - (both - back)) + (log - back) + lost;
    return both > REAL_MAX ? both : both + rest;
}
#endif
