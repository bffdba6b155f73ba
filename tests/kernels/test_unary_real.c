/* The loops of one number: the same bits from every set, near the truth, in place. */
#include "kernels/sets.h"
#include <string.h>

enum { N = 1003 };

typedef long double wide;
typedef wide truth(wide);

static real x[N + 1], y[N + 1], expected[N + 1];

static const evl_number parameters[3] = { 0.75, 1.25, 0.5 };

static void fill(uint64_t seed)
{
    for (size_t i = 0; i < N + 1; i++)
        x[i] = any_real(&seed, i);
}

static bool gives_bytes(int kind)
{
    return kind == EVL_IS_NAN || kind == EVL_IS_INF;
}

static void every_set_gives_the_same_bits(void **state)
{
    static const size_t sizes[] = { 0, 1, 3, 16, 33, N };
    const evl_kernels *set;
    (void)state;
    fill(7);
    for (size_t at = 0; (set = next_set(&at)) != NULL;)
        for (int kind = 0; kind < EVL_N_UNARY; kind++)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                if (kind == EVL_NOT || kind == EVL_BIT_NOT) {
                    assert_null(set->loops->unary[kind]);
                    continue;
                }
                memset(y, 0, sizeof y);
                memset(expected, 0, sizeof expected);
                base_loops()->unary[kind](sizes[s], x, expected, parameters);
                set->loops->unary[kind](sizes[s], x + 1, y + 1, parameters); /* another alignment */
                base_loops()->unary[kind](sizes[s], x + 1, expected + 1, parameters);
                if (gives_bytes(kind))
                    assert_memory_equal(y + 1, expected + 1, sizes[s]);
                else
                    assert_same_reals(y + 1, expected + 1, sizes[s]);
            }
}

static void the_output_may_be_the_input(void **state)
{
    const evl_kernels *set;
    (void)state;
    for (size_t at = 0; (set = next_set(&at)) != NULL;)
        for (int kind = 0; kind < EVL_N_UNARY; kind++) {
            if (!set->loops->unary[kind] || gives_bytes(kind))
                continue;
            fill(8);
            set->loops->unary[kind](N, x, y, parameters);
            set->loops->unary[kind](N, x, x, parameters);
            assert_same_reals(x, y, N);
        }
}

/* Loops may take another way where all of a tile are near 0; neighbours decide it. */
static void neighbours_change_no_bit(void **state)
{
    enum { n = 256 };
    uint64_t seed = 9;
    (void)state;
    for (int kind = 0; kind < EVL_N_UNARY; kind++) {
        if (!base_loops()->unary[kind] || gives_bytes(kind))
            continue;
        for (size_t i = 0; i < n; i++)
            x[i] = (real)evl_test_random(&seed, i % 2 ? -59 : -2, i % 2 ? 59 : 2);
        base_loops()->unary[kind](n, x, y, parameters);
        x[n - 1] = 700;
        base_loops()->unary[kind](n, x, expected, parameters);
        assert_same_reals(y, expected, n - 1);
    }
}

static wide sigmoid(wide v)
{
    return 1 / (1 + expl(-v));
}

static wide softplus(wide v)
{
    return v > 0 ? v + log1pl(expl(-v)) : log1pl(expl(v));
}

static wide elu(wide v)
{
    return v < 0 ? (wide)0.75 * expm1l(v) : v;
}

static wide gelu(wide v)
{
    return v / 2 * erfcl(-v * 0.70710678118654752440L);
}

static wide gelu_tanh(wide v)
{
    return v / 2 * (1 + tanhl(0.79788456080286535588L * (v + 0.044715L * v * v * v)));
}

static wide mish(wide v)
{
    return v * tanhl(softplus(v));
}

static wide swish(wide v)
{
    return v * sigmoid((wide)0.75 * v);
}

static wide square_root(wide v)
{
    return sqrtl(v);
}

/* In units of the last place of what is right; infinite when one is no number. */
static double distance(real got, wide right)
{
    int exponent;
    if (isnan(right) || isinf((real)right))
        return (isnan(right) && isnan(got)) || got == (real)right ? 0 : (double)INFINITY;
    (void)frexpl(right, &exponent);
    int least = REAL_DIGITS == 24 ? -149 : -1074;
    int unit = right == 0 || exponent - REAL_DIGITS < least ? least : exponent - REAL_DIGITS;
    return (double)(fabsl(got - right) / ldexpl(1, unit));
}

typedef struct bound {
    evl_unary_kind kind;
    truth *f;
    double lo, hi, most;
} bound;

static void functions_are_near_the_truth(void **state)
{
    static const bound bounds[] = {
        { EVL_EXP, expl, -760, 720, 1.5 },
        { EVL_EXP, expl, -1, 1, 1.5 },
        { EVL_LOG, logl, 0, 1e30, 1.5 },
        { EVL_LOG, logl, 0.5, 2, 1.5 },
        { EVL_TANH, tanhl, -25, 25, 3 },
        { EVL_TANH, tanhl, -1, 1, 3 },
        { EVL_SIGMOID, sigmoid, -750, 40, 3 },
        { EVL_SIGMOID, sigmoid, -20, 20, 3 },
        { EVL_ERF, erfl, -7, 7, 1.5 },
        { EVL_ERF, erfl, -1, 1, 1.5 },
        { EVL_SOFTPLUS, softplus, -80, 40, 3 },
        { EVL_ELU, elu, -40, 1, 3 },
        { EVL_SQRT, square_root, 0, 1e20, 0.501 },
        { EVL_GELU, gelu, -1, 9, 4 },
        { EVL_GELU_TANH, gelu_tanh, -1, 9, 5 },
        { EVL_MISH, mish, -20, 60, 5 },
        { EVL_SWISH, swish, -6, 60, 8 },
    };
    uint64_t seed = 3;
    (void)state;
    for (size_t b = 0; b < sizeof bounds / sizeof bounds[0]; b++)
        for (int round = 0; round < 100; round++) {
            for (size_t i = 0; i < N; i++) {
                double scale = i % 8 ? 1 : exp2(evl_test_random(&seed, -130, 0));
                x[i] = (real)(scale * evl_test_random(&seed, bounds[b].lo, bounds[b].hi));
            }
            base_loops()->unary[bounds[b].kind](N, x, y, parameters);
            for (size_t i = 0; i < N; i++)
                if (!(distance(y[i], bounds[b].f(x[i])) <= bounds[b].most))
                    fail_msg("kind %d at %.17g: %.17g, %g units off", bounds[b].kind, (double)x[i],
                             (double)y[i], distance(y[i], bounds[b].f(x[i])));
        }
}

static void log_takes_every_exponent(void **state)
{
    (void)state;
    for (int e = REAL_DIGITS == 24 ? -149 : -1074; e <= REAL_BIAS; e++) {
        x[0] = (real)ldexpl(1.3L, e);
        base_loops()->unary[EVL_LOG](1, x, y, parameters);
        assert_true(distance(y[0], logl(x[0])) <= 1.5);
    }
}

typedef struct special {
    evl_unary_kind kind;
    double x, y;
} special;

static void special_values_are_as_they_should(void **state)
{
    static const double inf = (double)INFINITY, nan = (double)NAN;
    const special values[] = {
        { EVL_EXP, -inf, 0 },
        { EVL_EXP, inf, inf },
        { EVL_EXP, nan, nan },
        { EVL_EXP, 0, 1 },
        { EVL_LOG, 0, -inf },
        { EVL_LOG, -1, nan },
        { EVL_LOG, inf, inf },
        { EVL_LOG, nan, nan },
        { EVL_LOG, 1, 0 },
        { EVL_LOG, -inf, nan },
        { EVL_TANH, inf, 1 },
        { EVL_TANH, -inf, -1 },
        { EVL_TANH, nan, nan },
        { EVL_SIGMOID, -inf, 0 },
        { EVL_SIGMOID, inf, 1 },
        { EVL_SIGMOID, nan, nan },
        { EVL_SIGMOID, 0, 0.5 },
        { EVL_ERF, inf, 1 },
        { EVL_ERF, -inf, -1 },
        { EVL_ERF, nan, nan },
        { EVL_RELU, nan, nan },
        { EVL_RELU, -3, 0 },
        { EVL_SOFTPLUS, inf, inf },
        { EVL_SOFTPLUS, -inf, 0 },
        { EVL_CLIP, nan, nan },
        { EVL_CLIP, inf, 1.25 },
        { EVL_CLIP, -inf, 0.75 },
        { EVL_SIGN, nan, nan },
        { EVL_SIGN, -7, -1 },
        { EVL_SIGN, 0, 0 },
        { EVL_ROUND, 2.5, 2 },
        { EVL_ROUND, 3.5, 4 },
        { EVL_ROUND, -0.5, 0 },
        { EVL_FLOOR, -1.5, -2 },
        { EVL_CEIL, -1.5, -1 },
        { EVL_ABS, -inf, inf },
        { EVL_MISH, inf, inf },
        { EVL_SOFTSIGN, -1, -0.5 },
        { EVL_HARD_SWISH, 4, 4 },
        { EVL_THRESHOLDED_RELU, 0.75, 0 },
        { EVL_THRESHOLDED_RELU, 1, 1 },
        { EVL_SHRINK, 1, -0.25 },
        { EVL_SHRINK, -1, 0.25 },
        { EVL_SHRINK, 0.5, 0 },
        { EVL_AFFINE, 2.75, 3 },
        { EVL_HARD_SIGMOID, 9, 1 },
        { EVL_LEAKY_RELU, -2, -1.5 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        x[0] = (real)values[i].x;
        base_loops()->unary[values[i].kind](1, x, y, parameters);
        if (isnan(values[i].y) ? !isnan(y[0]) : y[0] != (real)values[i].y)
            fail_msg("kind %d of %g is %g", values[i].kind, values[i].x, (double)y[0]);
    }
}

static void a_zero_keeps_its_sign_in_tanh_and_erf(void **state)
{
    (void)state;
    x[0] = -(real)0;
    base_loops()->unary[EVL_TANH](1, x, y, parameters);
    assert_true(signbit(y[0]));
    base_loops()->unary[EVL_ERF](1, x, y, parameters);
    assert_true(signbit(y[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_gives_the_same_bits),
        cmocka_unit_test(the_output_may_be_the_input),
        cmocka_unit_test(neighbours_change_no_bit),
        cmocka_unit_test(functions_are_near_the_truth),
        cmocka_unit_test(log_takes_every_exponent),
        cmocka_unit_test(special_values_are_as_they_should),
        cmocka_unit_test(a_zero_keeps_its_sign_in_tanh_and_erf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
