/* The loops of two numbers and the comparisons. */
#include "kernels/sets.h"
#include <string.h>

enum { N = 517 };

static real a[N + 1], b[N + 1], y[N + 1], expected[N + 1];

static void fill(uint64_t seed)
{
    for (size_t i = 0; i < N + 1; i++) {
        a[i] = any_real(&seed, i);
        b[i] = any_real(&seed, i / 7);
    }
}

static real add(real v, real w)
{
    return v + w;
}

static real subtract(real v, real w)
{
    return v - w;
}

static real multiply(real v, real w)
{
    return v * w;
}

static real divide(real v, real w)
{
    return v / w;
}

static real larger(real v, real w)
{
    return isnan(v) || isnan(w) ? (real)NAN : v > w ? v : w;
}

static real smaller(real v, real w)
{
    return isnan(v) || isnan(w) ? (real)NAN : v < w ? v : w;
}

static real with_slope(real v, real w)
{
    return v < 0 ? v * w : v;
}

static real floored(real v, real w)
{
    return v - floor(v / w) * w;
}

typedef struct truth {
    evl_binary_kind kind;
    real (*f)(real, real);
} truth;

static const truth truths[] = {
    { EVL_ADD, add },    { EVL_SUB, subtract }, { EVL_MUL, multiply },     { EVL_DIV, divide },
    { EVL_MAX, larger }, { EVL_MIN, smaller },  { EVL_PRELU, with_slope },
};

static void assert_same(const real *got, const real *right, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_true((isnan(got[i]) && isnan(right[i])) || got[i] == right[i]);
}

static void loops_are_what_they_say_for_every_step(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 15, N };
    const evl_kernels *set;
    (void)state;
    fill(5);
    for (size_t at = 0; (set = next_set(&at)) != NULL;)
        for (size_t t = 0; t < sizeof truths / sizeof truths[0]; t++)
            for (size_t s = 0; s < 5 * 4; s++) {
                size_t n = sizes[s / 4], a_step = s % 2, b_step = s / 2 % 2;
                for (size_t i = 0; i < n; i++)
                    expected[i] = truths[t].f(a[1 + i * a_step], b[1 + i * b_step]);
                set->loops->binary[truths[t].kind](n, a + 1, a_step, b + 1, b_step, y);
                assert_same(y, expected, n);
            }
}

static void every_set_gives_the_same_bits_and_works_in_place(void **state)
{
    const evl_kernels *set;
    (void)state;
    for (size_t at = 0; (set = next_set(&at)) != NULL;)
        for (int kind = 0; kind < EVL_N_BINARY; kind++) {
            if (!set->loops->binary[kind])
                continue;
            fill(6);
            base_loops()->binary[kind](N, a, 1, b, 1, expected);
            set->loops->binary[kind](N, a, 1, b, 1, y);
            assert_memory_equal(y, expected, sizeof(real) * N);
            memcpy(y, b, sizeof b);
            set->loops->binary[kind](N, a, 1, y, 1, y);
            assert_memory_equal(y, expected, sizeof(real) * N);
            set->loops->binary[kind](N, a, 1, b, 1, a);
            assert_memory_equal(a, expected, sizeof(real) * N);
        }
}

static void a_power_is_the_library_s_or_a_product(void **state)
{
    real exponents[] = { 2, 3, (real)0.5, -1, 0 };
    (void)state;
    fill(9);
    for (size_t e = 0; e < 5; e++) {
        base_loops()->binary[EVL_POW](N, a, 1, &exponents[e], 0, y);
        for (size_t i = 0; i < N; i++) {
            real right = pow(a[i], exponents[e]);
            assert_true((isnan(y[i]) && isnan(right)) || y[i] == right ||
                        fabs(y[i] - right) <= 2 * REAL_EPSILON * fabs(right) + REAL_MIN);
        }
    }
}

static void remainders_take_the_sign_they_should(void **state)
{
    real v[] = { 5, -5, 5, -5, (real)-5.5, 6 }, w[] = { 3, 3, -3, -3, 2, 3 }, mod[6], rest[6];
    (void)state;
    base_loops()->binary[EVL_MOD](6, v, 1, w, 1, mod);
    base_loops()->binary[EVL_FMOD](6, v, 1, w, 1, rest);
    for (size_t i = 0; i < 6; i++) {
        assert_true(mod[i] == floored(v[i], w[i]));
        assert_true(rest[i] == fmod(v[i], w[i]));
    }
}

static void comparisons_are_false_for_nan(void **state)
{
    static uint8_t got[N];
    const evl_kernels *set;
    (void)state;
    fill(11);
    for (size_t at = 0; (set = next_set(&at)) != NULL;)
        for (size_t s = 0; s < 4; s++) {
            size_t i_a = s % 2, i_b = s / 2;
            for (int kind = 0; kind < EVL_N_COMPARE; kind++) {
                set->loops->compare[kind](N, a, i_a, b, i_b, got);
                for (size_t i = 0; i < N; i++) {
                    real v = a[i * i_a], w = b[i * i_b];
                    const int right[] = { v == w, v<w, v <= w, v> w, v >= w };
                    assert_int_equal(got[i], right[kind]);
                }
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_are_what_they_say_for_every_step),
        cmocka_unit_test(every_set_gives_the_same_bits_and_works_in_place),
        cmocka_unit_test(a_power_is_the_library_s_or_a_product),
        cmocka_unit_test(remainders_take_the_sign_they_should),
        cmocka_unit_test(comparisons_are_false_for_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
