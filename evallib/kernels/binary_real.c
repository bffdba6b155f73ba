/* Two real numbers to one, and comparisons. */
#include "kernels/loops_set.h"
#include "kernels/real_items.h"
#include "kernels/compare.h"
#include "kernels/power.h"

static inline real divide(real a, real b)
{
    return a / b;
}

static inline real cube(real x, real unused)
{
    (void)unused;
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
    zip(n, a, a_step, b, b_step, y, add_loop, item_add);
}

static void sub_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, sub_loop, item_subtract);
}

static void mul_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, mul_loop, item_multiply);
}

static void div_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, div_loop, divide);
}

static void cube_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, cube_loop, cube);
}

/* Whether signed_power would change none: 0 < x < infinity, y a number. */
static inline bool all_usual(size_t n, const real *x, const real *y)
{
    real_bits n_others = 0;
#pragma omp simd reduction(+ : n_others)
    for (size_t i = 0; i < n; i++)
        n_others += ((x[i] > 0) & (x[i] <= REAL_MAX) & (y[i] == y[i])) ? 0 : 1;
    return n_others == 0;
}

/* A step at a time over what stays in the first cache: in one go the steps of few elements
** would fit a processor's window, and it would wait. */
static void power_loop(size_t n, const void *left, size_t a_step, const void *right, size_t b_step,
                       void *to)
{
    const real *a = left, *b = right;
    real *y = to, power[TILE], low[TILE];
    if (!is_plain(n, a_step, b_step, sizeof *y)) {
        zip_tiles(n, &(const zip_arrays){ a, b, a_step, b_step, to, sizeof *y, power_loop });
        return;
    }
    for (size_t i = 0; i < n; i += TILE) {
        size_t part = whole(n - i < TILE ? n - i : TILE, sizeof *y);
#pragma omp simd
        for (size_t j = 0; j < part; j++)
            power[j] = log2_of(fabs(a[i + j]), &low[j]);
        bool is_usual = all_usual(part, a + i, b + i);
        real *result = is_usual ? y + i : power;
#pragma omp simd
        for (size_t j = 0; j < part; j++)
            result[j] = power_of(b[i + j], power[j], low[j]);
        if (is_usual)
            continue;
#pragma omp simd
        for (size_t j = 0; j < part; j++)
            y[i + j] = signed_power(a[i + j], b[i + j], power[j]);
    }
}

/* Squares are most of what Pow is used for: one multiplication, and exact to the last bit. */
static void pow_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    bool is_one = n && a_step && !b_step;
    if (is_one && *(const real *)b == 2)
        mul_loop(n, a, 1, a, 1, y);
    else if (is_one && *(const real *)b == 3)
        cube_loop(n, a, 1, a, 1, y);
    else
        power_loop(n, a, a_step, b, b_step, y);
}

static void min_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, min_loop, item_min);
}

static void max_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, max_loop, item_max);
}

static void prelu_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                       void *y)
{
    zip(n, a, a_step, b, b_step, y, prelu_loop, prelu);
}

static void mod_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, mod_loop, remainder_of_divisor);
}

static void fmod_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, fmod_loop, remainder_of_dividend);
}

static inline real exp_of_difference(real a, real b)
{
    return evl_exp(a - b);
}

void SET(evl_exp_of_difference)(size_t n, const void *a, size_t a_step, const void *b,
                                size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, SET(evl_exp_of_difference), exp_of_difference);
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
