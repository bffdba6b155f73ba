/* elem.h - the only file that knows which element type is being built.
**
** Files named *_elem.c are compiled once for each integer type, with EVL_ELEM set
** to the type's number (EvalType), and say `elem`. Booleans are uint8 in these. */
#ifndef EVL_ELEM_H
#define EVL_ELEM_H
#include <stdint.h>

#if EVL_ELEM == 2
typedef uint8_t elem;
#define ELEM(name) name##_u8
#define ELEM_MIN 0
#define ELEM_MAX UINT8_MAX
#elif EVL_ELEM == 3
typedef int8_t elem;
#define ELEM(name) name##_i8
#define ELEM_MIN INT8_MIN
#define ELEM_MAX INT8_MAX
#elif EVL_ELEM == 4
typedef uint16_t elem;
#define ELEM(name) name##_u16
#define ELEM_MIN 0
#define ELEM_MAX UINT16_MAX
#elif EVL_ELEM == 5
typedef int16_t elem;
#define ELEM(name) name##_i16
#define ELEM_MIN INT16_MIN
#define ELEM_MAX INT16_MAX
#elif EVL_ELEM == 6
typedef int32_t elem;
#define ELEM(name) name##_i32
#define ELEM_MIN INT32_MIN
#define ELEM_MAX INT32_MAX
#elif EVL_ELEM == 7
typedef int64_t elem;
#define ELEM(name) name##_i64
#define ELEM_MIN INT64_MIN
#define ELEM_MAX INT64_MAX
#elif EVL_ELEM == 12
typedef uint32_t elem;
#define ELEM(name) name##_u32
#define ELEM_MIN 0
#define ELEM_MAX UINT32_MAX
#elif EVL_ELEM == 13
typedef uint64_t elem;
#define ELEM(name) name##_u64
#define ELEM_MIN 0
#define ELEM_MAX UINT64_MAX
#endif
#endif
