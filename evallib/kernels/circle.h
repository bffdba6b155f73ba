/* circle.h - sin and cos as functions.h has others, for |x| below sin_far. */
#ifndef EVL_KERNELS_CIRCLE_H
#define EVL_KERNELS_CIRCLE_H
#include "kernels/functions.h"

/* x = n pi / 2 + rest, |rest| <= pi / 4; n stands in the low bits of what is returned. */
static inline real_bits quarter_turns(real x, real *rest)
{
    const real per_half_pi = (real)0.63661977236758134308L;
    real shifted = x * per_half_pi + round_shift, n = shifted - round_shift;
    real first = x - n * TWIN(half_pi)[0];
    real second = first - n * TWIN(half_pi)[1];
    real low = (first - second) - n * TWIN(half_pi)[1];
    real third = second - n * TWIN(half_pi)[2];
    low += (second - third) - n * TWIN(half_pi)[2];
    *rest = third + (low - n * TWIN(half_pi)[3]);
    return bits_of(shifted);
}

/* sin(rest + n pi / 2) for n in the low bits of `turns`. */
static inline real sin_of(real rest, real_bits turns)
{
    real z = rest * rest, half = (real)0.5 * z, one = 1 - half;
    real sine = rest + rest * (z * horner(z, TWIN(poly_sin), N_SIN));
    real cosine = one + (((1 - one) - half) + z * z * horner(z, TWIN(poly_cos), N_COS));
    real y = turns & 1 ? cosine : sine;
    return turns & 2 ? -y : y;
}

static inline real near_sin(real x)
{
    real rest;
    real_bits turns = quarter_turns(x, &rest);
    return sin_of(x == 0 ? x : rest, turns);
}

static inline real near_cos(real x)
{
    real rest;
    real_bits turns = quarter_turns(x, &rest);
    return sin_of(rest, turns + 1);
}
#endif
