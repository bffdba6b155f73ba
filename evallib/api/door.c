#include "api/door.h"
#include "api/perform.h"
#include <math.h>
#include <string.h>

bool evl_door_is_packed(EvalType type)
{
    return evl_type_packed_bits(type) != 0;
}

size_t evl_door_bytes(EvalType type, size_t n)
{
    int bits = evl_type_packed_bits(type);
    return bits ? (n * (size_t)bits + 7) / 8 : n * evl_type_size(type);
}

static void unpack(size_t n, EvalType type, const uint8_t *source, uint8_t *target)
{
    unsigned bits = (unsigned)evl_type_packed_bits(type);
    unsigned mask = (1u << bits) - 1, sign = 1u << (bits - 1);
    bool is_signed = type == EVAL_INT4 || type == EVAL_INT2;
    for (size_t i = 0; i < n; i++) {
        unsigned at = (unsigned)(i * bits % 8), v = (source[i * bits / 8] >> at) & mask;
        target[i] = (uint8_t)(is_signed ? (v ^ sign) - sign : v);
    }
}

static void pack(size_t n, EvalType type, const uint8_t *source, uint8_t *target)
{
    unsigned bits = (unsigned)evl_type_packed_bits(type), mask = (1u << bits) - 1;
    memset(target, 0, evl_door_bytes(type, n));
    for (size_t i = 0; i < n; i++)
        target[i * bits / 8] |= (uint8_t)((source[i] & mask) << (i * bits % 8));
}

/* The integral range of a type as doubles: [least, past). */
static void range_of(EvalType type, double *least, double *past)
{
    int bits = (int)evl_type_size(type) * 8;
    bool is_signed = type == EVAL_INT8 || type == EVAL_INT16 || type == EVAL_INT32 ||
                     type == EVAL_INT64;
    *least = is_signed ? -ldexp(1, bits - 1) : 0;
    *past = type == EVAL_BOOL ? 2 : ldexp(1, is_signed ? bits - 1 : bits);
}

static EvalStatus check_integral(evl_context *ctx, size_t n, EvalType from, const void *source,
                                 EvalType to)
{
    union {
        const void *given;
        void *read; /* a tensor over data that is only read */
    } data = { source };
    evl_tensor t = { .type = from, .data = data.read };
    double least, past;
    range_of(to, &least, &past);
    for (size_t i = 0; i < n; i++) {
        double x = evl_tensor_f64(&t, i);
        if (!(x >= least && x < past) || x != floor(x))
            return evl_fail(ctx, EVAL_ERR_TYPE, "element %zu is no %s: give whole numbers in its range",
                            i, evl_type_name(to));
    }
    return EVAL_OK;
}

static EvalStatus no_conversion(evl_context *ctx, EvalType from, EvalType to)
{
    return evl_fail(ctx, EVAL_ERR_TYPE, "elements of type %s cannot become %s", evl_type_name(from),
                    evl_type_name(to));
}

EvalStatus evl_door_in(evl_context *ctx, size_t n, EvalType from, const void *source, EvalType to,
                       void *target)
{
    if (evl_door_is_packed(from) && from == to) {
        unpack(n, from, source, target);
        return EVAL_OK;
    }
    if (evl_type_is_float(from) && !evl_type_is_float(to) && !evl_type_is_small_float(to)) {
        EvalStatus st = check_integral(ctx, n, from, source, to);
        if (st != EVAL_OK)
            return st;
    }
    return evl_convert(n, from, source, to, target) ? EVAL_OK : no_conversion(ctx, from, to);
}

EvalStatus evl_door_out(evl_context *ctx, size_t n, EvalType from, const void *source, EvalType to,
                        void *target)
{
    if (evl_door_is_packed(from) && from == to) {
        pack(n, from, source, target);
        return EVAL_OK;
    }
    return evl_convert(n, from, source, to, target) ? EVAL_OK : no_conversion(ctx, from, to);
}
