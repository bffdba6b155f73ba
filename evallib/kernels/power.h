/* power.h - pow as functions.h has others, in three steps: log2(x) in two parts, 2 to y times
** that, and what is special. */
#ifndef EVL_KERNELS_POWER_H
#define EVL_KERNELS_POWER_H
#include "kernels/functions.h"

/* x to half its digits: products of two such numbers are exact. */
static inline real high(real x)
{
    return real_of(bits_of(x) & (real_bits)-1 << (REAL_DIGITS + 1) / 2);
}

/* log2(x), x > 0 and finite: the sum of what is returned, which has half the digits, and *low.
** x = 2^n m, s = (m - 1) / (m + 1): log(m) is 2/3 s (3 + s^2 + s^4 series(s^2)). */
static inline real log2_of(real x, real *low)
{
    const real half_root = (real)0.70710678118654752440L;
    const real_bits one = (real_bits)REAL_BIAS << (REAL_DIGITS - 1);
    bool is_small = x < REAL_MIN;
    real normal = is_small ? x * ((real_bits)1 << REAL_DIGITS) : x;
    real_bits k = (bits_of(normal) - bits_of(half_root) + one) >> (REAL_DIGITS - 1);
    real m = real_of(bits_of(normal) - (k << (REAL_DIGITS - 1)) + one);
    real n = real_of(bits_of(round_shift) + k) - (round_shift + REAL_BIAS);
    n = is_small ? n - REAL_DIGITS : n;
    real f = m - 1, divisor = m + 1, divisor_high = high(divisor);
    real s = f / divisor, s_high = high(s);
    real s_low = ((f - s_high * divisor_high) - s_high * (m - (divisor_high - 1))) / divisor;
    real z_high = s_high * s_high, z_low = s_low * (s_high + s), z = z_high + z_low;
    real rest = z * z * horner(z, TWIN(poly_pow), N_POW) + z_low;
    real t_high = high(3 + z_high + rest), t_low = rest - ((t_high - 3) - z_high);
    real u = s_high * t_high, v = s_low * t_high + t_low * s;
    real p_high = high(u + v), p_low = v - (p_high - u);
    real w = TWIN(log2_scale_high) * p_high;
    real w_low =
        TWIN(log2_scale_low) * p_high + p_low * (TWIN(log2_scale_high) + TWIN(log2_scale_low));
    real y = high((w + w_low) + n);
    *low = w_low - ((y - n) - w);
    return y;
}

/* 2 to the product of y and log2(x) = log + low. */
static inline real power_of(real y, real log, real low)
{
    const real far = (real)((real_bits)1 << 12) * ((real_bits)1 << REAL_DIGITS);
    const real most = 2 * REAL_BIAS;
    y = y > far ? far : y; /* beyond, the power is infinite, 1 or 0 */
    y = y < -far ? -far : y;
    real y_high = high(y), product = y_high * log, product_low = (y - y_high) * log + y * low;
    real sum = product + product_low, clipped = sum > most ? most : sum;
    clipped = clipped < -most ? -most : clipped;
    real shifted = clipped + round_shift, n = shifted - round_shift;
    real rest = ((product - n) + product_low) * (TWIN(ln2_high) + TWIN(ln2_low));
    real power = scaled(1 + (rest + rest * rest * horner(rest, TWIN(poly_exp), N_EXP)), shifted);
    power = sum > most ? (real)INFINITY : power;
    return sum < -most ? 0 : power;
}

/* How far y is from an integer. */
static inline real fraction(real y)
{
    const real whole_from = (real)((real_bits)1 << (REAL_DIGITS - 1));
    real size = fabs(y);
    size = size > whole_from ? whole_from : size;
    return ((size + whole_from) - whole_from) - size;
}

/* x^y from |x|^y, as C has it: 1 for y = 0 and for x = 1, whatever the other is; NaN when
** x < 0 and y is no integer; zeros and infinities with their signs. */
static inline real signed_power(real x, real y, real power)
{
    real size = fabs(x), rest = fraction(y), rest_of_half = fraction(y * (real)0.5);
    real of_zero = y > 0 ? 0 : (real)INFINITY, of_infinity = y > 0 ? (real)INFINITY : 0;
    power = size == 0 ? of_zero : power;
    power = size > REAL_MAX ? of_infinity : power;
    real odd = rest_of_half == 0 ? power : copysign(power, x);
    power = rest == 0 ? odd : power;
    real negative = rest == 0 ? power : (real)NAN;
    negative = size > REAL_MAX ? power : negative;
    power = x < 0 ? negative : power;
    power = x != x ? x : power;
    power = y != y ? y : power;
    power = y == 0 ? 1 : power;
    return x == 1 ? 1 : power;
}
#endif
