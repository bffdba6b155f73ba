/* activations.h - the functions that networks put between their layers, of one real
** number and up to two parameters. NaN goes through. */
#ifndef EVL_KERNELS_ACTIVATIONS_H
#define EVL_KERNELS_ACTIVATIONS_H
#include "kernels/functions.h"

static inline real clip(real x, real least, real most)
{
    real y = x < least ? least : x;
    return y > most ? most : y;
}

static inline real relu(real x)
{
    return x < 0 ? 0 : x;
}

static inline real elu(real x, real alpha, real unused)
{
    (void)unused;
    return x < 0 ? alpha * evl_expm1(x) : x;
}

static inline real selu(real x, real alpha, real gamma)
{
    return gamma * elu(x, alpha, 0);
}

static inline real celu(real x, real alpha, real unused)
{
    (void)unused;
    return x < 0 ? alpha * evl_expm1(x / alpha) : x;
}

static inline real leaky_relu(real x, real alpha, real unused)
{
    (void)unused;
    return x < 0 ? alpha * x : x;
}

static inline real thresholded_relu(real x, real alpha, real unused)
{
    (void)unused;
    return x > alpha ? x : 0; /* of NaN, too */
}

static inline real hard_sigmoid(real x, real alpha, real beta)
{
    return clip(alpha * x + beta, 0, 1);
}

static inline real hard_swish(real x)
{
    return x * clip(x / 6 + (real)0.5, 0, 1);
}

static inline real swish(real x, real alpha)
{
    return x * evl_sigmoid(alpha * x);
}

static inline real swish_few(real x, real alpha)
{
    return x * sigmoid_few(alpha * x);
}

static inline real softsign(real x)
{
    return x / (1 + fabs(x));
}

/* x tanh(log(1 + e)), e = exp(x): the tanh is w / (w + 2) with w = e (e + 2). */
static inline real mish(real x)
{
    real e = evl_exp(x > 40 ? 40 : x); /* beyond, w / (w + 2) is 1 */
    real w = e * (e + 2);
    return x * (w / (w + 2));
}

static inline real gelu(real x)
{
    const real half_root = (real)0.70710678118654752440L;
    return (real)0.5 * x * (1 + evl_erf(x * half_root));
}

static inline real gelu_tanh(real x)
{
    const real root = (real)0.79788456080286535588L; /* sqrt(2 / pi) */
    return (real)0.5 * x * (1 + evl_tanh(root * (x + (real)0.044715 * x * x * x)));
}

static inline real shrink(real x, real lambda, real bias)
{
    real y = x > lambda ? x - bias : 0; /* of NaN too: it is on neither side */
    return x < -lambda ? x + bias : y;
}
#endif
