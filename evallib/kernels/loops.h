/* loops.h - loops over arrays, the same table for every element type.
**
** For floating point there is one table per instruction set (loops_real.c), with the
** same bits from each, but for softmax of rows (kernels/attention_real.c); for every integer type there is one (loops_elem.c). What an
** element type has no arithmetic for is NULL. Operators pick a loop by number when
** they are prepared and never look again. */
#ifndef EVL_KERNELS_LOOPS_H
#define EVL_KERNELS_LOOPS_H
#include "base/number.h"
#include "evallib/eval.h"
#include "kernels/integers.h"
#include "kernels/quantize.h"
#include <stdbool.h>

typedef enum evl_unary_kind {
    EVL_ABS, EVL_NEG, EVL_SIGN, EVL_RECIPROCAL, EVL_SQRT, EVL_EXP, EVL_LOG, EVL_ERF,
    EVL_FLOOR, EVL_CEIL, EVL_ROUND, EVL_SIN, EVL_COS, EVL_SIGMOID, EVL_TANH, EVL_SOFTPLUS,
    EVL_RELU, EVL_ELU, EVL_LEAKY_RELU, EVL_HARD_SIGMOID, EVL_HARD_SWISH, EVL_CLIP,
    EVL_TAN, EVL_ASIN, EVL_ACOS, EVL_ATAN, EVL_SINH, EVL_COSH, EVL_ASINH, EVL_ACOSH, EVL_ATANH,
    EVL_SOFTSIGN, EVL_SELU, EVL_CELU, EVL_THRESHOLDED_RELU, EVL_MISH, EVL_GELU, EVL_GELU_TANH,
    EVL_SWISH, EVL_SHRINK,
    EVL_AFFINE,          /* (x - p[0]) * p[1] + p[2] */
    EVL_IS_NAN,          /* these and EVL_NOT write bytes, 0 or 1 */
    EVL_IS_INF,          /* p: not 0 when the negative, the positive one counts */
    EVL_NOT, EVL_BIT_NOT,
    EVL_N_UNARY
} evl_unary_kind;

typedef enum evl_binary_kind {
    EVL_ADD, EVL_SUB, EVL_MUL, EVL_DIV, EVL_POW, EVL_MIN, EVL_MAX, EVL_PRELU,
    EVL_MOD,             /* the sign of the divisor */
    EVL_FMOD,            /* the sign of the dividend */
    EVL_BIT_AND, EVL_BIT_OR, EVL_BIT_XOR, EVL_SHIFT_LEFT, EVL_SHIFT_RIGHT,
    EVL_N_BINARY
} evl_binary_kind;

typedef enum evl_compare_kind {
    EVL_EQUAL, EVL_LESS, EVL_LESS_OR_EQUAL, EVL_GREATER, EVL_GREATER_OR_EQUAL,
    EVL_N_COMPARE
} evl_compare_kind;

typedef enum evl_reduce_kind {
    EVL_REDUCE_SUM, EVL_REDUCE_MEAN, EVL_REDUCE_MAX, EVL_REDUCE_MIN, EVL_REDUCE_PROD,
    EVL_REDUCE_L1, EVL_REDUCE_L2, EVL_REDUCE_SUM_SQUARE, EVL_REDUCE_LOG_SUM,
    EVL_REDUCE_LOG_SUM_EXP,
    EVL_N_REDUCE
} evl_reduce_kind;

typedef enum evl_axis_kind {
    EVL_SOFTMAX, EVL_LOG_SOFTMAX, EVL_HARDMAX,
    EVL_NORM_1, EVL_NORM_2,         /* x over its norm along the axis */
    EVL_CUM_SUM, EVL_CUM_PROD,      /* p: not 0 when exclusive, when reversed */
    EVL_N_AXIS
} evl_axis_kind;

/* Where the elements of an axis are: x[i * stride + j], i < n, for inner lines j side by
** side. inner 1 and stride 1: the axis is contiguous. */
typedef struct evl_axis_lines {
    size_t n, stride, inner;
} evl_axis_lines;

/* y[i] = f(x[i]); p: the operator's parameters (alpha; alpha, beta; min, max). x may be y. */
typedef void evl_unary_loop(size_t n, const void *x, void *y, const evl_number *p);
/* y[i] = f(a[i * a_step], b[i * b_step]), steps 0 or 1. a or b may be y where its step is 1. */
typedef void evl_binary_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                             void *y);
typedef evl_binary_loop evl_compare_loop; /* y: bytes, 0 or 1 */
/* y[j] = over the elements of line j; n may be 0 (the neutral element). */
typedef void evl_reduce_loop(evl_axis_lines, const void *x, void *y);
/* y[j] = the i of the largest (or least, when `least`) element of line j; of equal ones the
** first, or the last when `last`; a NaN wins. n > 0. */
typedef void evl_arg_loop(evl_axis_lines, const void *x, bool least, bool last, int64_t *y);
/* The k elements of each line that go first, sorted: the largest, or the least; of equal ones
** the first. k <= n. Results lie as x does: values[i * stride + j], i < k. */
typedef struct evl_top {
    size_t k;
    bool least;
    void *values;
    int64_t *index;
} evl_top;
typedef void evl_top_loop(evl_axis_lines, const void *x, evl_top *);
/* Each line of y from the same line of x, which lie alike. x may be y. */
typedef void evl_axis_loop(evl_axis_lines, const void *x, void *y, const evl_number *p);

/* One row made mean 0 (when `centred`) and square mean 1, then scaled: y = (x - mean) *
** inverse * scale + bias, inverse = 1 / sqrt(mean square + epsilon). The row has `groups`
** equal parts, each with one scale and one bias (groups 1: one for all; groups n: one for
** each element). */
typedef struct evl_normalize {
    size_t n, groups;
    const void *scale, *bias;  /* NULL: 1, 0 */
    evl_number epsilon;
    bool centred;
    void *mean, *inverse;      /* to write, NULL: not wanted */
} evl_normalize;
typedef void evl_normalize_loop(const evl_normalize *, const void *x, void *y);

/* Channels of `inner` elements each by given statistics: y = (x - mean) * scale /
** sqrt(variance + epsilon) + bias. x may be y. */
typedef struct evl_channels {
    size_t n, inner;
    const void *scale, *bias, *mean, *variance; /* n elements each */
    evl_number epsilon;
} evl_channels;
typedef void evl_channels_loop(const evl_channels *, const void *x, void *y);

/* ONNX LRN along channels: y = x / (bias + alpha / size * (sum of squares over `size`
** channels around)) ^ beta. x is not y. */
typedef struct evl_window {
    size_t size;
    evl_number alpha, beta, bias;
} evl_window;
typedef void evl_window_loop(evl_axis_lines, const evl_window *, const void *x, void *y);

/* y[i] = c[i * c_step] ? a[i * a_step] : b[i * b_step], steps 0 or 1. What has step 1 may be y. */
typedef struct evl_select_arrays {
    const uint8_t *c;
    const void *a, *b;
    size_t c_step, a_step, b_step;
} evl_select_arrays;
typedef void evl_select_loop(size_t n, const evl_select_arrays *, void *y);

typedef struct evl_loops {
    evl_unary_loop *const *unary;     /* [EVL_N_UNARY] */
    evl_binary_loop *const *binary;   /* [EVL_N_BINARY] */
    evl_compare_loop *const *compare; /* [EVL_N_COMPARE] */
    evl_reduce_loop *const *reduce;   /* [EVL_N_REDUCE] */
    evl_axis_loop *const *axis;       /* [EVL_N_AXIS] */
    evl_arg_loop *arg;
    evl_top_loop *top;
    evl_normalize_loop *normalize;
    evl_channels_loop *channels;
    evl_window_loop *local_response;
    evl_select_loop *select;          /* of integers: for any type of that size */
    const evl_quantize_loops *quantized;  /* of real */
    const evl_integer_kernels *integers;  /* in float32's table alone, of its instruction set */
} evl_loops;

/* Of an integer type or bool (as uint8); NULL for others. */
const evl_loops *evl_loops_integer(EvalType);

/* The best kernels for a processor (bits of evl_cpu_features), in each precision. */
struct evl_kernels;
typedef struct evl_kernel_choice {
    const char *name;
    const struct evl_kernels *k;
    const evl_loops *loops;
    size_t lanes, narrow_lanes; /* reals in a vector; in one of half the width that is as fast, or 0 */
} evl_kernel_choice;

evl_kernel_choice evl_kernels_choose_f(unsigned cpu);
evl_kernel_choice evl_kernels_choose_d(unsigned cpu);
#endif
