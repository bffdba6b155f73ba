/* Element types: their names and sizes, one table. */
#include "ir/tensor.h"

typedef struct type_info {
    const char *name;
    uint8_t size; /* in memory; elements narrower than a byte take one */
    bool is_float, is_integer;
} type_info;

static const type_info types[EVL_N_TYPES] = {
    [EVAL_UNDEFINED] = { "undefined", 0, false, false },
    [EVAL_FLOAT32] = { "float32", 4, true, false },
    [EVAL_UINT8] = { "uint8", 1, false, true },
    [EVAL_INT8] = { "int8", 1, false, true },
    [EVAL_UINT16] = { "uint16", 2, false, true },
    [EVAL_INT16] = { "int16", 2, false, true },
    [EVAL_INT32] = { "int32", 4, false, true },
    [EVAL_INT64] = { "int64", 8, false, true },
    [EVAL_STRING] = { "string", sizeof(EvalString), false, false },
    [EVAL_BOOL] = { "bool", 1, false, false },
    [EVAL_FLOAT16] = { "float16", 2, true, false },
    [EVAL_FLOAT64] = { "float64", 8, true, false },
    [EVAL_UINT32] = { "uint32", 4, false, true },
    [EVAL_UINT64] = { "uint64", 8, false, true },
    [EVAL_COMPLEX64] = { "complex64", 8, false, false },
    [EVAL_COMPLEX128] = { "complex128", 16, false, false },
    [EVAL_BFLOAT16] = { "bfloat16", 2, true, false },
    [EVAL_FLOAT8E4M3FN] = { "float8e4m3fn", 1, false, false },
    [EVAL_FLOAT8E4M3FNUZ] = { "float8e4m3fnuz", 1, false, false },
    [EVAL_FLOAT8E5M2] = { "float8e5m2", 1, false, false },
    [EVAL_FLOAT8E5M2FNUZ] = { "float8e5m2fnuz", 1, false, false },
    [EVAL_UINT4] = { "uint4", 1, false, false },
    [EVAL_INT4] = { "int4", 1, false, false },
    [EVAL_FLOAT4E2M1] = { "float4e2m1", 1, false, false },
    [EVAL_FLOAT8E8M0] = { "float8e8m0", 1, false, false },
    [EVAL_UINT2] = { "uint2", 1, false, false },
    [EVAL_INT2] = { "int2", 1, false, false },
};

static const type_info *info(EvalType type)
{
    return (unsigned)type < EVL_N_TYPES ? &types[type] : &types[EVAL_UNDEFINED];
}

size_t evl_type_size(EvalType type)
{
    return info(type)->size;
}

const char *evl_type_name(EvalType type)
{
    return type == EVAL_SEQUENCE   ? "sequence"
           : type == EVAL_OPTIONAL ? "optional"
           : type == EVAL_MAP      ? "map"
                                   : info(type)->name;
}

bool evl_type_is_float(EvalType type)
{
    return info(type)->is_float;
}

bool evl_type_is_integer(EvalType type)
{
    return info(type)->is_integer;
}

bool evl_type_is_number(EvalType type)
{
    return evl_type_is_float(type) || evl_type_is_integer(type) || evl_type_is_small_float(type) ||
           evl_type_packed_bits(type) != 0 || type == EVAL_BOOL;
}

int evl_type_packed_bits(EvalType type)
{
    switch (type) {
    case EVAL_UINT4:
    case EVAL_INT4:
    case EVAL_FLOAT4E2M1: return 4;
    case EVAL_UINT2:
    case EVAL_INT2: return 2;
    default: return 0;
    }
}
