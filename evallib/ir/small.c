/* Floating-point types of a byte and less, as ONNX and the Open Compute Project define
** them. All but float8e8m0 are a sign, an exponent and a fraction, and differ in how wide
** those are and in what the last codes mean: one table. */
#include "ir/tensor.h"
#include <math.h>

typedef struct format {
    uint8_t sign;               /* the bit; the codes below it are the magnitudes */
    uint8_t fraction_bits, bias;
    uint8_t largest;            /* code of the largest finite magnitude */
    uint8_t infinity, nan;      /* codes; without an infinity it is the NaN */
    bool is_unsigned_zero;      /* "FNUZ": the code of -0 is the NaN */
} format;

static const format formats[] = {
    [EVAL_FLOAT8E4M3FN] = { 0x80, 3, 7, 0x7e, 0x7f, 0x7f, false },
    [EVAL_FLOAT8E4M3FNUZ] = { 0x80, 3, 8, 0x7f, 0x80, 0x80, true },
    [EVAL_FLOAT8E5M2] = { 0x80, 2, 15, 0x7b, 0x7c, 0x7e, false },
    [EVAL_FLOAT8E5M2FNUZ] = { 0x80, 2, 16, 0x7f, 0x80, 0x80, true },
    [EVAL_FLOAT4E2M1] = { 0x08, 1, 1, 0x07, 0x07, 0x08, false }, /* no NaN: -0, as ml_dtypes */
};

enum { E8M0_BIAS = 127, E8M0_LARGEST = 254, E8M0_NAN = 255 };

bool evl_type_is_small_float(EvalType type)
{
    return type == EVAL_FLOAT8E8M0 || type == EVAL_FLOAT4E2M1 ||
           (type >= EVAL_FLOAT8E4M3FN && type <= EVAL_FLOAT8E5M2FNUZ);
}

double evl_small_to_double(EvalType type, uint8_t code)
{
    if (type == EVAL_FLOAT8E8M0)
        return code == E8M0_NAN ? NAN : ldexp(1, code - E8M0_BIAS);
    const format *f = &formats[type];
    int magnitude = code & (f->sign - 1), exponent = magnitude >> f->fraction_bits;
    int fraction = magnitude & ((1 << f->fraction_bits) - 1);
    double sign = code & f->sign ? -1 : 1;
    if (f->is_unsigned_zero ? code == f->nan : magnitude > f->largest && magnitude != f->infinity)
        return NAN;
    if (magnitude > f->largest)
        return f->infinity == f->nan ? NAN : sign * INFINITY;
    if (exponent > 0)
        fraction |= 1 << f->fraction_bits;
    return sign * ldexp(fraction, (exponent ? exponent : 1) - f->bias - f->fraction_bits);
}

/* Powers of two: the exponent alone is rounded. */
static uint8_t e8m0_from_double(double x, bool saturates, evl_small_round round)
{
    int exponent;
    double mantissa = frexp(fabs(x), &exponent); /* in [0.5, 1) */
    if (isnan(x))
        return E8M0_NAN;
    if (isinf(x))
        return saturates ? E8M0_LARGEST : E8M0_NAN;
    bool is_up = round == EVL_SMALL_UP ? mantissa > 0.5
                                       : round == EVL_SMALL_NEAREST && mantissa >= 0.75;
    int code = exponent - 1 + is_up + E8M0_BIAS;
    if (code >= 0 && code <= E8M0_LARGEST && x != 0)
        return (uint8_t)code;
    return !saturates ? E8M0_NAN : code < 0 || x == 0 ? 0 : E8M0_LARGEST;
}

uint8_t evl_small_from_double(EvalType type, double x, bool saturates, evl_small_round round)
{
    if (type == EVAL_FLOAT8E8M0)
        return e8m0_from_double(x, saturates, round);
    const format *f = &formats[type];
    uint8_t sign = signbit(x) ? f->sign : 0;
    double a = fabs(x), code;
    int exponent;
    if (isnan(x))
        return f->nan < f->sign ? sign | f->nan : f->nan;
    if (isinf(x)) {
        code = 256;
    } else {
        frexp(a, &exponent); /* a < 2^exponent */
        exponent = a > 0 ? exponent + f->bias - 1 : 1;
        exponent = exponent < 1 ? 1 : exponent;
        /* A fraction rounded up to the next power of two carries into the exponent. */
        code = nearbyint(ldexp(a, f->fraction_bits + f->bias - exponent)) +
               (double)((exponent - 1) << f->fraction_bits);
    }
    if (code > f->largest) {
        uint8_t past = saturates || type == EVAL_FLOAT4E2M1 ? f->largest : f->infinity;
        return past < f->sign ? sign | past : past;
    }
    return code > 0 || !f->is_unsigned_zero ? sign | (uint8_t)code : 0;
}
