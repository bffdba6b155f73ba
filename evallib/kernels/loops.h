/* loops.h - loops over arrays, the same table for every element type.
**
** For floating point there is one table per instruction set (loops_real.c), with the
** same bits from each; for every integer type there is one (loops_elem.c). What an
** element type has no arithmetic for is NULL. Operators pick a loop by number when
** they are prepared and never look again. */
#ifndef EVL_KERNELS_LOOPS_H
#define EVL_KERNELS_LOOPS_H
#include "evallib/eval.h"

typedef enum evl_unary_kind {
    EVL_ABS, EVL_NEG, EVL_SIGN, EVL_RECIPROCAL, EVL_SQRT, EVL_EXP, EVL_LOG, EVL_ERF,
    EVL_FLOOR, EVL_CEIL, EVL_ROUND, EVL_SIN, EVL_COS, EVL_SIGMOID, EVL_TANH, EVL_SOFTPLUS,
    EVL_RELU, EVL_ELU, EVL_LEAKY_RELU, EVL_HARD_SIGMOID, EVL_HARD_SWISH, EVL_CLIP,
    EVL_N_UNARY
} evl_unary_kind;

typedef enum evl_binary_kind {
    EVL_ADD, EVL_SUB, EVL_MUL, EVL_DIV, EVL_POW, EVL_MIN, EVL_MAX, EVL_PRELU,
    EVL_N_BINARY
} evl_binary_kind;

typedef enum evl_compare_kind {
    EVL_EQUAL, EVL_LESS, EVL_LESS_OR_EQUAL, EVL_GREATER, EVL_GREATER_OR_EQUAL,
    EVL_N_COMPARE
} evl_compare_kind;

typedef enum evl_reduce_kind {
    EVL_REDUCE_SUM, EVL_REDUCE_MEAN, EVL_REDUCE_MAX, EVL_REDUCE_MIN, EVL_REDUCE_PROD,
    EVL_N_REDUCE
} evl_reduce_kind;

/* y[i] = f(x[i]); p: the operator's parameters (alpha; alpha, beta; min, max). x may be y. */
typedef void evl_unary_loop(size_t n, const void *x, void *y, const double *p);
/* y[i] = f(a[i * a_step], b[i * b_step]), steps 0 or 1. a or b may be y where its step is 1. */
typedef void evl_binary_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                             void *y);
typedef void evl_compare_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                              uint8_t *y);
/* y[j] = over all i < n of x[i * inner + j]; n may be 0 (the neutral element). */
typedef void evl_reduce_loop(size_t n, size_t inner, const void *x, void *y);
/* y[j] = the i of the largest (or least, when `least`) x[i * inner + j]; of equal ones the
** first, or the last when `last`. n > 0. */
typedef void evl_arg_loop(size_t n, size_t inner, const void *x, int least, int last, int64_t *y);

typedef struct evl_loops {
    evl_unary_loop *unary[EVL_N_UNARY];
    evl_binary_loop *binary[EVL_N_BINARY];
    evl_compare_loop *compare[EVL_N_COMPARE];
    evl_reduce_loop *reduce[EVL_N_REDUCE];
    evl_arg_loop *arg;
} evl_loops;

/* Of an integer type or bool (as uint8); NULL for others. */
const evl_loops *evl_loops_integer(EvalType);

/* The best kernels for a processor (bits of evl_cpu_features), in each precision. */
struct evl_kernels;
typedef struct evl_kernel_choice {
    const char *name;
    const struct evl_kernels *k;
    const evl_loops *loops;
} evl_kernel_choice;

evl_kernel_choice evl_kernels_choose_f(unsigned cpu);
evl_kernel_choice evl_kernels_choose_d(unsigned cpu);
#endif
