/* Elements from one type to another, and the narrow floating-point types.
**
** Each element goes through int64, uint64 or double, whichever holds its type exactly;
** sources may be unaligned (they lie in mapped files), so they are copied out. */
#include "ir/tensor.h"
#include <math.h>
#include <string.h>

typedef enum wide_kind { WIDE_NONE, WIDE_SIGNED, WIDE_UNSIGNED, WIDE_FLOAT } wide_kind;

typedef struct wide {
    wide_kind kind;
    union {
        int64_t i;
        uint64_t u;
        double f;
    } as;
} wide;

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

static bool read_wide_unsigned(EvalType type, const char *at, wide *out)
{
    out->kind = WIDE_UNSIGNED;
    out->as.u = 0;
    switch (type) {
    case EVAL_BOOL:
    case EVAL_UINT8:
    case EVAL_UINT4:
    case EVAL_UINT2: out->as.u = (uint8_t)*at; return true;
    case EVAL_UINT16: {
        uint16_t v;
        memcpy(&v, at, sizeof v);
        out->as.u = v;
        return true;
    }
    case EVAL_UINT32: {
        uint32_t v;
        memcpy(&v, at, sizeof v);
        out->as.u = v;
        return true;
    }
    case EVAL_UINT64: memcpy(&out->as.u, at, sizeof out->as.u); return true;
    default: return false;
    }
}

static bool read_wide_signed(EvalType type, const char *at, wide *out)
{
    out->kind = WIDE_SIGNED;
    switch (type) {
    case EVAL_INT8:
    case EVAL_INT4:
    case EVAL_INT2: out->as.i = (int8_t)*at; return true;
    case EVAL_INT16: {
        int16_t v;
        memcpy(&v, at, sizeof v);
        out->as.i = v;
        return true;
    }
    case EVAL_INT32: {
        int32_t v;
        memcpy(&v, at, sizeof v);
        out->as.i = v;
        return true;
    }
    case EVAL_INT64: memcpy(&out->as.i, at, sizeof out->as.i); return true;
    default: return false;
    }
}

static bool read_wide_float(EvalType type, const char *at, wide *out)
{
    uint16_t half;
    float single;
    out->kind = WIDE_FLOAT;
    switch (type) {
    case EVAL_FLOAT32: memcpy(&single, at, sizeof single); out->as.f = (double)single; return true;
    case EVAL_FLOAT64: memcpy(&out->as.f, at, sizeof out->as.f); return true;
    case EVAL_FLOAT16:
        memcpy(&half, at, sizeof half);
        out->as.f = (double)evl_float_from_f16(half);
        return true;
    case EVAL_BFLOAT16:
        memcpy(&half, at, sizeof half);
        out->as.f = (double)evl_float_from_bf16(half);
        return true;
    default:
        if (!evl_type_is_small_float(type))
            return false;
        out->as.f = evl_small_to_double(type, (uint8_t)*at);
        return true;
    }
}

static wide read_wide(EvalType type, const void *data, size_t index)
{
    const char *at = (const char *)data + index * evl_type_size(type);
    wide value;
    if (!read_wide_float(type, at, &value) && !read_wide_signed(type, at, &value) &&
        !read_wide_unsigned(type, at, &value))
        value.kind = WIDE_NONE;
    return value;
}

static double as_double(const wide *w)
{
    return w->kind == WIDE_FLOAT ? w->as.f : w->kind == WIDE_SIGNED ? (double)w->as.i
                                                                    : (double)w->as.u;
}

/* Towards zero; what does not fit goes to the nearest end, NaN to 0. */
static int64_t as_i64(const wide *w)
{
    if (w->kind != WIDE_FLOAT)
        return w->as.i;
    if (isnan(w->as.f))
        return 0;
    return w->as.f >= 0x1p63 ? INT64_MAX : w->as.f < -0x1p63 ? INT64_MIN : (int64_t)w->as.f;
}

static uint64_t as_u64(const wide *w)
{
    if (w->kind != WIDE_FLOAT)
        return w->as.u;
    if (!(w->as.f >= 0)) /* NaN too; negative numbers wrap as those of int64 do */
        return (uint64_t)as_i64(w);
    return w->as.f >= 0x1p64 ? UINT64_MAX : (uint64_t)w->as.f;
}

/* Floating point saturates at the ends of the narrow type; integers wrap (C's conversion). */
static int64_t clamped(const wide *w, int64_t lo, int64_t hi)
{
    int64_t v = as_i64(w);
    return w->kind != WIDE_FLOAT ? v : v < lo ? lo : v > hi ? hi : v;
}

typedef union element {
    uint8_t u8;
    int8_t i8;
    uint16_t u16;
    int16_t i16;
    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    float f32;
    double f64;
} element;

static bool write_wide_integer(EvalType type, const wide *w, element *to)
{
    switch (type) {
    case EVAL_BOOL: to->u8 = w->kind == WIDE_FLOAT ? w->as.f != 0 : w->as.u != 0; break;
    case EVAL_UINT8: to->u8 = (uint8_t)clamped(w, 0, UINT8_MAX); break;
    case EVAL_INT8: to->i8 = (int8_t)clamped(w, INT8_MIN, INT8_MAX); break;
    case EVAL_UINT16: to->u16 = (uint16_t)clamped(w, 0, UINT16_MAX); break;
    case EVAL_INT16: to->i16 = (int16_t)clamped(w, INT16_MIN, INT16_MAX); break;
    case EVAL_INT32: to->i32 = (int32_t)clamped(w, INT32_MIN, INT32_MAX); break;
    case EVAL_UINT32: to->u32 = (uint32_t)clamped(w, 0, UINT32_MAX); break;
    case EVAL_INT64: to->i64 = as_i64(w); break;
    case EVAL_UINT64: to->u64 = as_u64(w); break;
    case EVAL_UINT4: to->u8 = (uint8_t)as_i64(w) & 15u; break;
    case EVAL_UINT2: to->u8 = (uint8_t)as_i64(w) & 3u; break;
    default: return false;
    }
    return true;
}

/* Two's complement in the low `bits`, spread over the byte that holds it. */
static int8_t narrow_signed(int64_t v, int bits)
{
    int64_t sign = (int64_t)1 << (bits - 1);
    return (int8_t)(((v & (2 * sign - 1)) ^ sign) - sign);
}

static bool write_wide(EvalType type, const wide *w, element *to)
{
    switch (type) {
    case EVAL_FLOAT32: to->f32 = (float)as_double(w); return true;
    case EVAL_FLOAT64: to->f64 = as_double(w); return true;
    case EVAL_FLOAT16: to->u16 = evl_f16_from_double(as_double(w)); return true;
    case EVAL_BFLOAT16: to->u16 = evl_bf16_from_double(as_double(w)); return true;
    case EVAL_INT4: to->i8 = narrow_signed(as_i64(w), 4); return true;
    case EVAL_INT2: to->i8 = narrow_signed(as_i64(w), 2); return true;
    default: break;
    }
    if (!evl_type_is_small_float(type))
        return write_wide_integer(type, w, to);
    to->u8 = evl_small_from_double(type, as_double(w), true, EVL_SMALL_UP);
    return true;
}

int64_t evl_tensor_i64(const evl_tensor *t, size_t index)
{
    wide w = read_wide(t->type, t->data, index);
    return w.kind == WIDE_NONE ? 0 : as_i64(&w);
}

double evl_tensor_f64(const evl_tensor *t, size_t index)
{
    wide w = read_wide(t->type, t->data, index);
    return w.kind == WIDE_NONE ? 0 : as_double(&w);
}

static void widen(size_t n, const void *source, double *target)
{
    for (size_t i = 0; i < n; i++) {
        float x;
        memcpy(&x, (const char *)source + i * sizeof x, sizeof x);
        double y = (double)x;
        memcpy(&target[i], &y, sizeof y); /* the caller's may be unaligned */
    }
}

static void narrow(size_t n, const void *source, float *target)
{
    for (size_t i = 0; i < n; i++) {
        double x;
        memcpy(&x, (const char *)source + i * sizeof x, sizeof x);
        float y = (float)x;
        memcpy(&target[i], &y, sizeof y);
    }
}

bool evl_convert(size_t n, EvalType from, const void *source, EvalType to, void *target)
{
    if (n == 0 || from == to) {
        if (n)
            memcpy(target, source, n * evl_type_size(to));
        return true;
    }
    if (from == EVAL_FLOAT32 && to == EVAL_FLOAT64)
        return widen(n, source, target), true;
    if (from == EVAL_FLOAT64 && to == EVAL_FLOAT32)
        return narrow(n, source, target), true;
    size_t each = evl_type_size(to);
    for (size_t i = 0; i < n; i++) {
        element one; /* aligned, which the caller's memory need not be */
        wide w = read_wide(from, source, i);
        if (w.kind == WIDE_NONE || !write_wide(to, &w, &one))
            return false;
        memcpy((char *)target + i * each, &one, each);
    }
    return true;
}
