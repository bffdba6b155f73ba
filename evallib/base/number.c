/* number.c - numbers out of text, the same in every locale.
**
** A decimal is digits * 10^e. Both sides of that fraction are held as whole numbers of
** any length and divided bit by bit, so that the result is the nearest double, always:
** neither strtod's locale nor the rounding of floating-point steps comes in. */
#include "base/text.h"
#include <string.h>

/* 767 digits tell any double from its neighbours' midpoints; what follows them counts only as
** "more than nothing". The longest whole number is then 10^1127, or 3744 bits. */
enum { MOST_DIGITS = 800, N_LIMBS = 120, MOST_EXPONENT = 310, LEAST_EXPONENT = -326 };

typedef struct big {
    uint32_t limb[N_LIMBS]; /* the lowest first */
    size_t n;               /* limbs in use */
} big;

typedef struct decimal {
    char digits[MOST_DIGITS + 1]; /* values 0..9, none of them leading zeros */
    int n;
    int64_t exponent; /* of ten, for the last digit */
    bool is_negative;
} decimal;

static void big_multiply_add(big *x, uint32_t by, uint32_t add)
{
    uint64_t carry = add;
    for (size_t i = 0; i < x->n; i++) {
        carry += (uint64_t)x->limb[i] * by;
        x->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry)
        x->limb[x->n++] = (uint32_t)carry;
}

static void big_raise(big *x, int64_t power_of_ten)
{
    for (; power_of_ten >= 9; power_of_ten -= 9)
        big_multiply_add(x, 1000000000, 0);
    for (; power_of_ten > 0; power_of_ten--)
        big_multiply_add(x, 10, 0);
}

static void big_double(big *x, int times)
{
    for (; times >= 16; times -= 16)
        big_multiply_add(x, 1u << 16, 0);
    big_multiply_add(x, 1u << times, 0);
}

static int big_bits(const big *x)
{
    int bits = 32 * (int)x->n;
    for (uint32_t top = x->limb[x->n - 1]; !(top >> 31); top <<= 1)
        bits--;
    return bits;
}

static int big_compare(const big *a, const big *b)
{
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    for (size_t i = a->n; i-- > 0;)
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    return 0;
}

static void big_subtract(big *a, const big *b)
{
    int64_t borrow = 0;
    for (size_t i = 0; i < a->n; i++) {
        borrow += (int64_t)a->limb[i] - (i < b->n ? b->limb[i] : 0);
        a->limb[i] = (uint32_t)borrow;
        borrow = borrow < 0 ? -1 : 0;
    }
    while (a->n && !a->limb[a->n - 1])
        a->n--;
}

/* a / b as the bits of a double, rounded to nearest, ties to even; a is used up. */
static uint64_t divide(big *a, big *b)
{
    int k = big_bits(a) - big_bits(b); /* 2^k <= a / b < 2^(k + 1), after the next lines */
    big_double(k > 0 ? b : a, k > 0 ? k : -k);
    if (big_compare(a, b) < 0) {
        big_double(a, 1);
        k--;
    }
    int n_bits = k >= -1022 ? 53 : k + 1075; /* fewer for subnormals */
    uint64_t quotient = 0;
    if (n_bits < 0)
        return 0;
    for (int i = 0; i < n_bits; i++) {
        quotient *= 2;
        if (big_compare(a, b) >= 0) {
            big_subtract(a, b);
            quotient++;
        }
        big_double(a, 1);
    }
    int rest = big_compare(a, b);
    quotient += rest > 0 || (rest == 0 && (quotient & 1));
    /* The leading one adds to the exponent, and so does a carry out of the mantissa. */
    return k >= -1022 ? ((uint64_t)(k + 1022) << 52) + quotient : quotient;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void add_digit(decimal *d, int digit, bool is_after_point)
{
    if (d->n == MOST_DIGITS) {
        d->exponent += !is_after_point;
        if (digit) /* the last digit stands for all that follow */
            d->digits[MOST_DIGITS - 1] |= 1;
        return;
    }
    d->exponent -= is_after_point;
    if (d->n || digit)
        d->digits[d->n++] = (char)digit;
}

/* Digits with at most one point among them; where they end. NULL: there are none. */
static const char *read_digits(const char *p, const char *end, decimal *d)
{
    bool has_point = false, has_digit = false;
    for (; p < end && (is_digit(*p) || (*p == '.' && !has_point)); p++) {
        if (*p == '.') {
            has_point = true;
            continue;
        }
        has_digit = true;
        add_digit(d, *p - '0', has_point);
    }
    return has_digit ? p : NULL;
}

static bool read_exponent(const char *p, const char *end, decimal *d)
{
    if (p == end)
        return true;
    if (*p != 'e' && *p != 'E')
        return false;
    bool is_negative = ++p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    if (p == end)
        return false;
    int64_t exponent = 0;
    for (; p < end && is_digit(*p); p++)
        if (exponent < INT64_C(1) << 48) /* as good as endless, and far from an overflow */
            exponent = 10 * exponent + (*p - '0');
    d->exponent += is_negative ? -exponent : exponent;
    return p == end;
}

static uint64_t bits_of(const decimal *d)
{
    big a = { { 0 }, 0 }, b = { { 1 }, 1 };
    int64_t magnitude = d->n + d->exponent;
    if (!d->n || magnitude < LEAST_EXPONENT)
        return 0;
    if (magnitude > MOST_EXPONENT)
        return UINT64_MAX;
    for (int i = 0; i < d->n; i++)
        big_multiply_add(&a, 10, (uint32_t)d->digits[i]);
    big_raise(d->exponent < 0 ? &b : &a, d->exponent < 0 ? -d->exponent : d->exponent);
    return divide(&a, &b);
}

static bool read_word(const char *p, size_t n, uint64_t *bits)
{
    static const struct {
        const char *word;
        uint64_t bits;
    } words[] = {
        { "inf", UINT64_C(0x7ff) << 52 },
        { "infinity", UINT64_C(0x7ff) << 52 },
        { "nan", UINT64_C(0xfff) << 51 },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (evl_text_equal_no_case(p, n, words[i].word, strlen(words[i].word))) {
            *bits = words[i].bits;
            return true;
        }
    return false;
}

bool evl_text_to_f64(const char *text, size_t n, double *value)
{
    const char *end = text + n, *p = text;
    decimal d = { .is_negative = n && *text == '-' };
    uint64_t bits;
    p += n && (*text == '-' || *text == '+');
    if (!read_word(p, (size_t)(end - p), &bits)) {
        p = read_digits(p, end, &d);
        if (!p || !read_exponent(p, end, &d))
            return false;
        bits = bits_of(&d);
        if (bits >> 52 >= 0x7ff)
            return false; /* too large */
    }
    bits |= (uint64_t)d.is_negative << 63;
    memcpy(value, &bits, sizeof bits);
    return true;
}

bool evl_text_to_i64(const char *text, size_t n, int64_t *value)
{
    bool is_negative = n && *text == '-';
    size_t i = n && (*text == '-' || *text == '+');
    int64_t number = 0; /* counts downwards: there is one more negative number */
    if (i == n)
        return false;
    for (; i < n; i++) {
        int digit = text[i] - '0';
        if (digit < 0 || digit > 9 || number < (INT64_MIN + digit) / 10)
            return false;
        number = 10 * number - digit;
    }
    if (!is_negative && number == INT64_MIN)
        return false;
    *value = is_negative ? number : -number;
    return true;
}
