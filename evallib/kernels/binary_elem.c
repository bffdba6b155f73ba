/* Two integers to one, and comparisons. Dividing by zero gives 0 and never traps. */
#include "kernels/elem_loops.h"
#include "kernels/compare.h"

/* Towards zero. -1 is a case of its own, as the least number over it does not fit. */
static inline item divide(item a, item b)
{
    if (b == 0)
        return 0;
    return is_negative(b) && (item)(b + 1) == 0 ? item_negative(a) : (item)(a / b);
}

static inline item remainder_of_dividend(item a, item b)
{
    return item_subtract(a, item_multiply(divide(a, b), b));
}

static inline item remainder_of_divisor(item a, item b)
{
    if (b == 0)
        return 0;
    item rest = remainder_of_dividend(a, b);
    return rest != 0 && is_negative(rest) != is_negative(b) ? item_add(rest, b) : rest;
}

static inline item fmod_of(item a, item b)
{
    return b == 0 ? 0 : remainder_of_dividend(a, b);
}

/* b < 0: 1 / a^-b cut off, so 0 but for a = 1 and -1. */
static inline item power(item a, item b)
{
    item result = 1;
    if (is_negative(b)) {
        bool is_unit = a == 1 || item_negative(a) == 1;
        b = is_unit ? (item)(b & 1) : b;
        if (!is_unit)
            return 0;
    }
    for (; b != 0; b = (item)(b / 2)) {
        result = b % 2 ? item_multiply(result, a) : result;
        a = item_multiply(a, a);
    }
    return result;
}

static inline item prelu(item x, item slope)
{
    return is_negative(x) ? item_multiply(x, slope) : x;
}

static inline item bit_and(item a, item b)
{
    return a & b;
}

static inline item bit_or(item a, item b)
{
    return a | b;
}

static inline item bit_xor(item a, item b)
{
    return a ^ b;
}

/* Shifting by the width and more, or by less than nothing, leaves no bit but the sign's. */
static inline item shift_left(item a, item b)
{
    return (uint64_t)b < 8 * sizeof(item) ? (item)((uint64_t)a << b) : 0;
}

static inline item shift_right(item a, item b)
{
    item by = (uint64_t)b < 8 * sizeof(item) ? b : (item)(8 * sizeof(item) - 1);
    item shifted = (item)(a >> by);
    return by == b || is_negative(a) ? shifted : 0;
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

static void pow_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, pow_loop, power);
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
    zip(n, a, a_step, b, b_step, y, fmod_loop, fmod_of);
}

static void and_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, and_loop, bit_and);
}

static void or_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, or_loop, bit_or);
}

static void xor_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, xor_loop, bit_xor);
}

static void left_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step, void *y)
{
    zip(n, a, a_step, b, b_step, y, left_loop, shift_left);
}

static void right_loop(size_t n, const void *a, size_t a_step, const void *b, size_t b_step,
                       void *y)
{
    zip(n, a, a_step, b, b_step, y, right_loop, shift_right);
}

evl_binary_loop *const ELEM(evl_binary_loops)[EVL_N_BINARY] = {
    [EVL_ADD] = add_loop,     [EVL_SUB] = sub_loop,         [EVL_MUL] = mul_loop,
    [EVL_DIV] = div_loop,     [EVL_POW] = pow_loop,         [EVL_MIN] = min_loop,
    [EVL_MAX] = max_loop,     [EVL_PRELU] = prelu_loop,     [EVL_MOD] = mod_loop,
    [EVL_FMOD] = fmod_loop,   [EVL_BIT_AND] = and_loop,     [EVL_BIT_OR] = or_loop,
    [EVL_BIT_XOR] = xor_loop, [EVL_SHIFT_LEFT] = left_loop, [EVL_SHIFT_RIGHT] = right_loop,
};

evl_compare_loop *const ELEM(evl_compare_loops)[EVL_N_COMPARE] = {
    [EVL_EQUAL] = equal,
    [EVL_LESS] = less,
    [EVL_LESS_OR_EQUAL] = less_or_equal,
    [EVL_GREATER] = greater,
    [EVL_GREATER_OR_EQUAL] = greater_or_equal,
};
