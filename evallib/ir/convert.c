/* Elements from one type to another, and the narrow floating-point types.
**
** A tile at a time goes through int64, uint64 or double, whichever holds its type exactly, in
** a loop a type; integers' loops are in convert_elem.c. Sources and targets may be unaligned
** (they lie in mapped files, or are the caller's), so elements are copied in and out. */
#include "ir/convert.h"
#include "ir/tensor.h"
#include <math.h>
#include <string.h>

enum { TILE = 128 };

typedef enum wide_kind { WIDE_NONE, WIDE_SIGNED, WIDE_UNSIGNED, WIDE_FLOAT } wide_kind;

typedef struct wides {
    wide_kind kind;
    union {
        int64_t i[TILE]; /* of unsigned types too: their bits */
        double f[TILE];
    } as;
} wides;

float evl_float_from_bf16(uint16_t bits)
{
    uint32_t wide_bits = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide_bits, sizeof value);
    return value;
}

/* IEEE 754 binary16: 5 bits of exponent, 10 of fraction. */
float evl_float_from_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
    uint32_t exponent = (bits >> 10) & 31u, fraction = bits & 1023u, wide_bits;
    float value;
    if (exponent == 0) {
        value = ldexpf((float)fraction, -24);
        return sign ? -value : value;
    }
    exponent = exponent == 31 ? 255 : exponent + 112;
    wide_bits = sign | exponent << 23 | fraction << 13;
    memcpy(&value, &wide_bits, sizeof value);
    return value;
}

uint16_t evl_f16_from_double(double x)
{
    uint16_t sign = signbit(x) ? 0x8000u : 0;
    double a = fabs(x);
    int exponent;
    if (isnan(x))
        return sign | 0x7e00u;
    if (a >= 65520) /* rounds to infinity */
        return sign | 0x7c00u;
    if (a < 0x1p-14) /* subnormal: a multiple of 2^-24; may round up to 2^-14, which is right */
        return sign | (uint16_t)nearbyint(a * 0x1p24);
    frexp(a, &exponent); /* a = m * 2^exponent, m in [0.5, 1) */
    double scaled = nearbyint(ldexp(a, 11 - exponent)); /* 1024 .. 2048 */
    return sign | (uint16_t)(((exponent + 14) << 10) + (int)scaled - 1024);
}

/* By way of float, rounded to odd so that the second rounding sees what the first dropped. */
uint16_t evl_bf16_from_double(double x)
{
    float narrow = (float)x;
    uint32_t bits;
    if (isnan(x))
        return 0x7fc0u;
    memcpy(&bits, &narrow, sizeof bits);
    if (isfinite(narrow) && (double)narrow != x && !(bits & 1)) {
        if (fabs((double)narrow) > fabs(x))
            bits--;
        bits |= 1;
    }
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}

static const evl_integer_conversion *integer_conversion(EvalType type)
{
    switch (type) {
    case EVAL_BOOL:
    case EVAL_UINT2:
    case EVAL_UINT4:
    case EVAL_UINT8: return &evl_integer_conversion_u8;
    case EVAL_INT2:
    case EVAL_INT4:
    case EVAL_INT8: return &evl_integer_conversion_i8;
    case EVAL_UINT16: return &evl_integer_conversion_u16;
    case EVAL_INT16: return &evl_integer_conversion_i16;
    case EVAL_UINT32: return &evl_integer_conversion_u32;
    case EVAL_INT32: return &evl_integer_conversion_i32;
    case EVAL_UINT64: return &evl_integer_conversion_u64;
    case EVAL_INT64: return &evl_integer_conversion_i64;
    default: return NULL;
    }
}

static void widen(size_t n, const void *source, double *y)
{
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, (const char *)source + i * sizeof x, sizeof x);
        y[i] = (double)x;
    }
}

static void narrow(size_t n, const double *x, void *target)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        float y = (float)x[i];
        memcpy((char *)target + i * sizeof y, &y, sizeof y);
    }
}

static void widen_halves(size_t n, const void *source, float (*widened)(uint16_t), double *y)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t x;
        memcpy(&x, (const char *)source + i * sizeof x, sizeof x);
        y[i] = (double)widened(x);
    }
}

static void narrow_to_halves(size_t n, const double *x, uint16_t (*narrowed)(double), void *target)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t y = narrowed(x[i]);
        memcpy((char *)target + i * sizeof y, &y, sizeof y);
    }
}

static bool read_floats(size_t n, EvalType type, const void *source, double *y)
{
    switch (type) {
    case EVAL_FLOAT32: widen(n, source, y); return true;
    case EVAL_FLOAT64: memcpy(y, source, n * sizeof *y); return true;
    case EVAL_FLOAT16: widen_halves(n, source, evl_float_from_f16, y); return true;
    case EVAL_BFLOAT16: widen_halves(n, source, evl_float_from_bf16, y); return true;
    default: break;
    }
    if (!evl_type_is_small_float(type))
        return false;
    for (size_t i = 0; i < n; i++)
        y[i] = evl_small_to_double(type, ((const uint8_t *)source)[i]);
    return true;
}

static bool read_wides(size_t n, EvalType type, const void *source, wides *w)
{
    const evl_integer_conversion *c = integer_conversion(type);
    w->kind = !c ? WIDE_FLOAT : c->is_signed ? WIDE_SIGNED : WIDE_UNSIGNED;
    if (c)
        c->widen(n, source, w->as.i);
    else if (!read_floats(n, type, source, w->as.f))
        w->kind = WIDE_NONE;
    return w->kind != WIDE_NONE;
}

/* Integers of 32 bits and less: the sum is below 2^53, and the low bits of its fraction are x.
** Few processors turn 64 bits into a double in a vector. */
static void make_floats_of_small(size_t n, wides *w)
{
    const double shift = 0x3p51;
    int64_t shift_bits;
    memcpy(&shift_bits, &shift, sizeof shift);
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        int64_t sum = shift_bits + w->as.i[i];
        double y;
        memcpy(&y, &sum, sizeof y);
        w->as.f[i] = y - shift;
    }
    w->kind = WIDE_FLOAT;
}

/* Integers as doubles, in their place. */
static void make_floats(size_t n, wides *w)
{
    for (size_t i = 0; w->kind == WIDE_SIGNED && i < n; i++)
        w->as.f[i] = (double)w->as.i[i];
    for (size_t i = 0; w->kind == WIDE_UNSIGNED && i < n; i++)
        w->as.f[i] = (double)(uint64_t)w->as.i[i];
    w->kind = WIDE_FLOAT;
}

/* Towards zero; what does not fit goes to the nearest end, NaN to 0. */
static int64_t truncated(double x)
{
    if (isnan(x))
        return 0;
    return x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static void make_integers(size_t n, wides *w)
{
    for (size_t i = 0; w->kind == WIDE_FLOAT && i < n; i++)
        w->as.i[i] = truncated(w->as.f[i]);
    w->kind = WIDE_SIGNED;
}

/* Two's complement in the low `bits`, spread over the byte that holds it. */
static uint8_t narrow_bits(int64_t v, int bits, bool is_signed)
{
    int64_t sign = is_signed ? (int64_t)1 << (bits - 1) : 0;
    return (uint8_t)(((v & (((int64_t)1 << bits) - 1)) ^ sign) - sign);
}

/* Types of less than a byte, and bool, which stand in bytes. */
static bool write_bytes(size_t n, EvalType type, wides *w, uint8_t *y)
{
    int bits = type == EVAL_INT4 || type == EVAL_UINT4 ? 4 : 2;
    bool is_signed = type == EVAL_INT4 || type == EVAL_INT2, is_float = w->kind == WIDE_FLOAT;
    if (type != EVAL_BOOL)
        make_integers(n, w);
    for (size_t i = 0; i < n; i++)
        if (type != EVAL_BOOL)
            y[i] = narrow_bits(w->as.i[i], bits, is_signed);
        else
            y[i] = is_float ? w->as.f[i] != 0 : w->as.i[i] != 0;
    return true;
}

static bool write_floats(size_t n, EvalType type, const double *x, void *target)
{
    switch (type) {
    case EVAL_FLOAT32: narrow(n, x, target); return true;
    case EVAL_FLOAT64: memcpy(target, x, n * sizeof *x); return true;
    case EVAL_FLOAT16: narrow_to_halves(n, x, evl_f16_from_double, target); return true;
    case EVAL_BFLOAT16: narrow_to_halves(n, x, evl_bf16_from_double, target); return true;
    default: break;
    }
    if (!evl_type_is_small_float(type))
        return false;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)target)[i] = evl_small_from_double(type, x[i], true, EVL_SMALL_UP);
    return true;
}

static bool write_wides(size_t n, EvalType type, wides *w, void *target)
{
    const evl_integer_conversion *c = integer_conversion(type);
    switch (type) {
    case EVAL_BOOL:
    case EVAL_INT4:
    case EVAL_UINT4:
    case EVAL_INT2:
    case EVAL_UINT2: return write_bytes(n, type, w, target);
    default: break;
    }
    if (!c) {
        make_floats(n, w);
        return write_floats(n, type, w->as.f, target);
    }
    if (w->kind == WIDE_FLOAT)
        c->round(n, w->as.f, target);
    else
        c->narrow(n, w->as.i, target);
    return true;
}

int64_t evl_tensor_i64(const evl_tensor *t, size_t index)
{
    wides w;
    if (!read_wides(1, t->type, (const char *)t->data + index * evl_type_size(t->type), &w))
        return 0;
    make_integers(1, &w);
    return w.as.i[0];
}

double evl_tensor_f64(const evl_tensor *t, size_t index)
{
    wides w;
    if (!read_wides(1, t->type, (const char *)t->data + index * evl_type_size(t->type), &w))
        return 0;
    make_floats(1, &w);
    return w.as.f[0];
}

bool evl_convert(size_t n, EvalType from, const void *source, EvalType to, void *target)
{
    size_t each_from = evl_type_size(from), each = evl_type_size(to);
    wides w;
    if (from == to && n)
        memcpy(target, source, n * each);
    for (size_t i = 0; from != to && i < n; i += TILE) {
        size_t part = n - i < TILE ? n - i : TILE;
        if (!read_wides(part, from, (const char *)source + i * each_from, &w))
            return false;
        if (w.kind != WIDE_FLOAT && each_from <= sizeof(int32_t) && evl_type_is_float(to))
            make_floats_of_small(part, &w);
        if (!write_wides(part, to, &w, (char *)target + i * each))
            return false;
    }
    return true;
}
