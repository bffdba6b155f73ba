/* Floating-point types of a byte and less: codes against what their definitions say, and
** rounding against a search for the nearest code. */
#include "ir/tensor.h"
#include "support/support.h"
#include <math.h>

static const EvalType types[] = { EVAL_FLOAT8E4M3FN, EVAL_FLOAT8E4M3FNUZ, EVAL_FLOAT8E5M2,
                                  EVAL_FLOAT8E5M2FNUZ, EVAL_FLOAT4E2M1 };
static const double largest[] = { 448, 240, 57344, 57344, 6 };
static const double least[] = { 0x1p-9, 0x1p-10, 0x1p-16, 0x1p-17, 0.5 };
enum { N_TYPES = sizeof types / sizeof types[0] };

static int n_codes(EvalType type)
{
    return type == EVAL_FLOAT4E2M1 ? 16 : 256;
}

static uint8_t code_of(EvalType type, double x)
{
    return evl_small_from_double(type, x, true, EVL_SMALL_UP);
}

static void every_code_survives_the_way_there_and_back(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++)
        for (int code = 0; code < n_codes(types[t]); code++) {
            double x = evl_small_to_double(types[t], (uint8_t)code);
            if (isfinite(x))
                assert_int_equal(code_of(types[t], x), code);
            else if (isinf(x))
                assert_int_equal(evl_small_from_double(types[t], x, false, EVL_SMALL_UP), code);
        }
    for (int code = 0; code < 256; code++) {
        double x = evl_small_to_double(EVAL_FLOAT8E8M0, (uint8_t)code);
        assert_int_equal(code_of(EVAL_FLOAT8E8M0, x), code);
        assert_true(code == 255 ? isnan(x) : x == ldexp(1, code - 127));
    }
}

static void the_ends_of_the_ranges_are_where_the_formats_have_them(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++) {
        double most = 0, smallest = 1;
        for (int code = 0; code < n_codes(types[t]); code++) {
            double x = evl_small_to_double(types[t], (uint8_t)code);
            most = isfinite(x) && x > most ? x : most;
            smallest = x > 0 && x < smallest ? x : smallest;
        }
        assert_true(most == largest[t]);
        assert_true(smallest == least[t]);
    }
}

/* The nearest finite number, of two the one with the even code. */
static double nearest(EvalType type, double x)
{
    double best = 0;
    int best_code = 0;
    for (int code = 0; code < n_codes(type) / 2; code++) {
        double y = evl_small_to_double(type, (uint8_t)code);
        double far = fabs(y - fabs(x)) - fabs(best - fabs(x));
        if (isfinite(y) && (far < 0 || (far == 0 && best_code % 2))) {
            best = y;
            best_code = code;
        }
    }
    return copysign(best, x);
}

static void numbers_round_to_the_nearest_and_ties_to_even(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++)
        for (double x = least[t] / 8; x < 2 * largest[t]; x += x / 64)
            for (int sign = -1; sign < 2; sign += 2) {
                double y = evl_small_to_double(types[t], code_of(types[t], sign * x));
                assert_true(y == nearest(types[t], sign * x));
            }
    for (int code = 0; code < 7; code++) { /* halfway between two */
        double x = (evl_small_to_double(EVAL_FLOAT4E2M1, (uint8_t)code) +
                    evl_small_to_double(EVAL_FLOAT4E2M1, (uint8_t)(code + 1))) / 2;
        assert_int_equal(code_of(EVAL_FLOAT4E2M1, x), code + (code & 1));
    }
}

static void what_does_not_fit_follows_saturate(void **state)
{
    (void)state;
    for (size_t t = 0; t < N_TYPES; t++) {
        double past = evl_small_to_double(
            types[t], evl_small_from_double(types[t], -1e30, false, EVL_SMALL_UP));
        assert_true(evl_small_to_double(types[t], code_of(types[t], -1e30)) == -largest[t]);
        assert_true(evl_small_to_double(types[t], code_of(types[t], (double)INFINITY)) == largest[t]);
        if (types[t] == EVAL_FLOAT8E5M2)
            assert_true(past == (double)-INFINITY);
        else
            assert_true(types[t] == EVAL_FLOAT4E2M1 ? past == -6 : isnan(past));
        if (types[t] != EVAL_FLOAT4E2M1)
            assert_true(isnan(evl_small_to_double(types[t], code_of(types[t], (double)NAN))));
    }
    assert_int_equal(code_of(EVAL_FLOAT8E4M3FNUZ, -0.0), 0);
    assert_int_equal(code_of(EVAL_FLOAT8E4M3FN, -0.0), 0x80);
    assert_int_equal(code_of(EVAL_FLOAT8E5M2FNUZ, -1e-9), 0);
}

static void powers_of_two_round_as_asked(void **state)
{
    static const struct {
        double x;
        int up, down, nearest, strict; /* strict: nearest, and does not saturate */
    } cases[] = { { 1, 127, 127, 127, 127 },     { 1.25, 128, 127, 127, 127 },
                  { 1.5, 128, 127, 128, 128 },   { 0x1.8p127, 254, 254, 254, 255 },
                  { 0, 0, 0, 0, 255 },           { 0x1p-130, 0, 0, 0, 255 },
                  { 0x1p200, 254, 254, 254, 255 }, { (double)INFINITY, 254, 254, 254, 255 } };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        EvalType type = EVAL_FLOAT8E8M0;
        double x = cases[i].x;
        assert_int_equal(evl_small_from_double(type, x, true, EVL_SMALL_UP), cases[i].up);
        assert_int_equal(evl_small_from_double(type, x, true, EVL_SMALL_DOWN), cases[i].down);
        assert_int_equal(evl_small_from_double(type, x, true, EVL_SMALL_NEAREST), cases[i].nearest);
        assert_int_equal(evl_small_from_double(type, x, false, EVL_SMALL_NEAREST), cases[i].strict);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_survives_the_way_there_and_back),
        cmocka_unit_test(the_ends_of_the_ranges_are_where_the_formats_have_them),
        cmocka_unit_test(numbers_round_to_the_nearest_and_ties_to_even),
        cmocka_unit_test(what_does_not_fit_follows_saturate),
        cmocka_unit_test(powers_of_two_round_as_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
