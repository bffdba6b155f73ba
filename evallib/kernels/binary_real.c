/* Two real numbers to one, and comparisons. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"
#include "kernels/compare.h"

static inline real divide(real a, real b)
{
    return a / b;
}

static inline real power(real a, real b)
{
    return pow(a, b);
}

static inline real square(real x)
{
    return x * x;
}

static inline real cube(real x)
{
    return x * x * x;
}

static inline real prelu(real x, real slope)
{
    return x < 0 ? slope * x : x;
}

static inline real remainder_of_dividend(real a, real b)
{
    return fmod(a, b);
}

/* As Python's %: the sign of the divisor. */
static inline real remainder_of_divisor(real a, real b)
{
    real rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest == 0 ? copysign(rest, b) : rest;
}

static void add_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, item_add);
}

static void sub_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, item_subtract);
}

static void mul_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, item_multiply);
}

static void div_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, divide);
}

/* Squares are most of what Pow is used for: one multiplication, and exact to the last bit. */
static void pow_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    if (n && a_step && !b_step && *(const real *)b == 2)
        map(n, a, y, square);
    else if (n && a_step && !b_step && *(const real *)b == 3)
        map(n, a, y, cube);
    else
        zip(n, a, a_step, b, b_step, y, power);
}

static void min_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, item_min);
}

static void max_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, item_max);
}

static void prelu_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                       void *y)
{
    zip(n, a, a_step, b, b_step, y, prelu);
}

static void mod_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, remainder_of_divisor);
}

static void fmod_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, remainder_of_dividend);
}

evl_binary_loop *const SET(evl_binary_loops)[EVL_N_BINARY] = {
    [EVL_ADD] = add_loop, [EVL_SUB] = sub_loop,   [EVL_MUL] = mul_loop, [EVL_DIV] = div_loop,
    [EVL_POW] = pow_loop, [EVL_MIN] = min_loop,   [EVL_MAX] = max_loop, [EVL_PRELU] = prelu_loop,
    [EVL_MOD] = mod_loop, [EVL_FMOD] = fmod_loop,
};

evl_compare_loop *const SET(evl_compare_loops)[EVL_N_COMPARE] = {
    [EVL_EQUAL] = equal,
    [EVL_LESS] = less,
    [EVL_LESS_OR_EQUAL] = less_or_equal,
    [EVL_GREATER] = greater,
    [EVL_GREATER_OR_EQUAL] = greater_or_equal,
};
