/* tensor.h - element types, shapes, and values in memory.
**
** In a graph as read, a type is what the file declares. In a plan every
** floating-point value is of the plan's own type (float in F, double in D), so
** `type` always tells how `data` is stored. Elements narrower than a byte are kept
** one a byte. */
#ifndef EVL_IR_TENSOR_H
#define EVL_IR_TENSOR_H
#include "base/context.h"

typedef enum evl_precision { EVL_FLOAT, EVL_DOUBLE, EVL_PRECISIONS } evl_precision;

enum { EVL_N_TYPES = 27 }; /* numbers of EvalType that tensors use */

size_t evl_type_size(EvalType);         /* bytes of one element in memory; 0: no tensor type */
const char *evl_type_name(EvalType);    /* "float32", "int64", ... */
bool evl_type_is_float(EvalType);       /* float32, float64, float16, bfloat16: real in a plan */
bool evl_type_is_integer(EvalType);     /* int8 .. uint64 */
bool evl_type_is_small_float(EvalType); /* float8..., float4e2m1: themselves in a plan */
bool evl_type_is_number(EvalType);      /* any of those, bool, and integers of 2 and 4 bits */
int evl_type_packed_bits(EvalType);     /* 2 or 4, as files and callers pack them; else 0 */

/* Row-major. rank -1: nothing is known; dim -1: that size is not known. */
typedef struct evl_shape {
    int32_t rank;
    int64_t dim[EVAL_MAX_RANK];
} evl_shape;

enum { EVL_UNKNOWN_RANK = -1, EVL_UNKNOWN_DIM = -1 };

evl_shape evl_shape_unknown(void);
evl_shape evl_shape_scalar(void);
evl_shape evl_shape_of(size_t rank, const int64_t *dims);
bool evl_shape_is_known(const evl_shape *);              /* rank and every dimension */
bool evl_shape_equal(const evl_shape *, const evl_shape *);
/* Elements; of a known shape that was checked by evl_shape_check. */
size_t evl_shape_count(const evl_shape *);
/* Elements in the dimensions from .. to-1. */
size_t evl_shape_count_part(const evl_shape *, int32_t from, int32_t to);
/* The product of known dimensions fits, times `each` bytes, in max_tensor_bytes. */
EVL_MUST_USE EvalStatus evl_shape_check(evl_context *, const evl_shape *, size_t each);
/* Numpy's rule (ONNX "Multidirectional Broadcasting"); an unknown dimension against 1 or unknown stays unknown. */
EVL_MUST_USE EvalStatus evl_shape_broadcast(evl_context *, const evl_shape *, const evl_shape *,
                                            evl_shape *);
/* -rank .. rank-1 made 0 .. rank-1; EVAL_ERR_SHAPE otherwise. `what` names it in the text. */
EVL_MUST_USE EvalStatus evl_axis(evl_context *, const char *what, int64_t axis, int32_t rank,
                                 int32_t *result);
enum { EVL_SHAPE_TEXT = 256 };
const char *evl_shape_text(const evl_shape *, char buffer[EVL_SHAPE_TEXT]); /* "[2,?,3]" */

/* How long data stays where it is. */
typedef enum evl_life {
    EVL_LIFE_RUN,   /* known in a run only */
    EVL_LIFE_PLAN,  /* a constant of one plan */
    EVL_LIFE_MODEL  /* a constant of the model: its address may be a key of the store */
} evl_life;

enum { EVL_MAX_NESTING = 4 };

typedef struct evl_tensor {
    EvalType type;
    evl_life life;
    evl_shape shape;
    void *data; /* NULL: not known, or no element. In a graph as read perhaps unaligned */
    uint16_t inner[EVL_MAX_NESTING]; /* of a sequence, optional or map: types of what is inside,
                                        from the outside in (ir/nested.h) */
} evl_tensor;

/* One element of any integer type or bool (float types for f64) as a number; the
** element is there, its place may be unaligned. */
int64_t evl_tensor_i64(const evl_tensor *, size_t index);
double evl_tensor_f64(const evl_tensor *, size_t index);

/* n elements from one type to another, C's conversions and, to integers of a byte and more
** from floating point, towards zero and saturating (NaN gives 0); narrower ones wrap. Small
** floating-point types saturate. Between all numeric types and bool; false for strings. source may be unaligned, target not. */
bool evl_convert(size_t n, EvalType from, const void *source, EvalType to, void *target);

/* The types of evl_type_is_small_float: one element, rounded to nearest even. What does not
** fit becomes the largest number, or, unless it `saturates`, infinity or NaN as the type
** has them. float8e8m0, powers of two, rounds as `round` says (up: away from zero). */
typedef enum evl_small_round { EVL_SMALL_UP, EVL_SMALL_DOWN, EVL_SMALL_NEAREST } evl_small_round;
double evl_small_to_double(EvalType, uint8_t);
uint8_t evl_small_from_double(EvalType, double, bool saturates, evl_small_round round);

/* float16 and bfloat16, round to nearest even. */
float evl_float_from_f16(uint16_t);
float evl_float_from_bf16(uint16_t);
uint16_t evl_f16_from_double(double);
uint16_t evl_bf16_from_double(double);
#endif
