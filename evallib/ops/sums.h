/* sums.h - what becomes of the 32-bit sums of products of bytes: they stay what they are, are
** quantized again, or become real numbers. */
#ifndef EVL_OPS_SUMS_H
#define EVL_OPS_SUMS_H
#include "ir/op.h"
#include "kernels/loops.h"

/* Attributes of nodes that passes make: between which quantized results are held. */
static const char EVL_LEAST[] = "evl_least", EVL_MOST[] = "evl_most";

typedef struct evl_sums {
    EvalType type; /* of the results */
    EvalType real; /* of scales, and of zero points beside them */
    const evl_loops *loops;
    evl_quantized of;
} evl_sums;

/* Of a node whose scale is input `scale` (any number when it has none), whose results are of
** type `out`. */
evl_sums evl_sums_of(const evl_machine *, const evl_use *, size_t scale, EvalType out);

/* n of them: y = (c + add) * scale, and + zero where it is quantized; add, scale and zero are one
** number (step 0) or n (step 1; zero then the same everywhere). add NULL: 0, of results that are not
** quantized. c, and what has n numbers, is read up to the next whole vector, and c may be written. */
void evl_sums_finish(const evl_sums *, size_t n, int32_t *c, const int32_t *add, const void *scale,
                     const void *zero, size_t step, void *y);

/* The product of two scales over a third, in the type they are multiplied in. */
evl_number evl_sums_scale(const evl_sums *, evl_number a, evl_number b, evl_number y);

/* Number `index` of a parameter that may have fewer, each of which then counts again and
** again; left out: `fallback`. */
evl_number evl_parameter(const evl_tensor *, size_t index, evl_number fallback);

/* n of them, from `index` on. */
void evl_parameters(const evl_tensor *, size_t index, size_t n, evl_number fallback, evl_number *to);

/* int8 and uint8, the types of products of bytes. */
bool evl_is_byte(EvalType);
EVL_MUST_USE EvalStatus evl_infer_bytes(const evl_infer *, size_t input);
#endif
