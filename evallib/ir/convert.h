/* convert.h - the loops of one integer type between it and what is wide (convert.c). Those
** of narrower types than a byte are their bytes'. */
#ifndef EVL_IR_CONVERT_H
#define EVL_IR_CONVERT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Elements of the type may be unaligned. */
typedef struct evl_integer_conversion {
    bool is_signed;
    void (*widen)(size_t n, const void *source, int64_t *y); /* uint64: the same bits */
    void (*narrow)(size_t n, const int64_t *x, void *target); /* wraps, as C's conversion */
    void (*round)(size_t n, const double *x, void *target);   /* to 0, within range; NaN is 0 */
} evl_integer_conversion;

extern const evl_integer_conversion evl_integer_conversion_u8, evl_integer_conversion_i8,
    evl_integer_conversion_u16, evl_integer_conversion_i16, evl_integer_conversion_u32,
    evl_integer_conversion_i32, evl_integer_conversion_u64, evl_integer_conversion_i64;
#endif
