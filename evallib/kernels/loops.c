/* The loops of each integer type, by its number. */
#include "kernels/loops.h"

extern const evl_loops evl_loops_u8, evl_loops_i8, evl_loops_u16, evl_loops_i16, evl_loops_i32,
    evl_loops_i64, evl_loops_u32, evl_loops_u64;

const evl_loops *evl_loops_integer(EvalType type)
{
    switch (type) {
    case EVAL_BOOL:
    case EVAL_UINT8: return &evl_loops_u8;
    case EVAL_INT8: return &evl_loops_i8;
    case EVAL_UINT16: return &evl_loops_u16;
    case EVAL_INT16: return &evl_loops_i16;
    case EVAL_INT32: return &evl_loops_i32;
    case EVAL_INT64: return &evl_loops_i64;
    case EVAL_UINT32: return &evl_loops_u32;
    case EVAL_UINT64: return &evl_loops_u64;
    default: return NULL;
    }
}
