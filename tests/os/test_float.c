/* The floating-point environment inside a call, and after it. */
#include "os/os.h"
#include "support/support.h"

static volatile double one = 1, three = 3, zero = 0;

static void what_is_as_wanted_stays(void **state)
{
    (void)state;
    evl_float_state found;
    assert_int_equal(feclearexcept(FE_ALL_EXCEPT), 0);
    evl_float_enter(&found);
    assert_int_equal(fegetround(), FE_TONEAREST);
    evl_float_leave(&found);
    assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
}

static void flags_raised_inside_are_not_seen_outside(void **state)
{
    (void)state;
    evl_float_state found;
    feclearexcept(FE_ALL_EXCEPT);
    feraiseexcept(FE_UNDERFLOW);
    if (!fetestexcept(FE_UNDERFLOW))
        skip(); /* valgrind's processor keeps no flags */
    evl_float_enter(&found);
    one = one / zero;
    evl_float_leave(&found);
    one = 1;
    assert_int_equal(fetestexcept(FE_DIVBYZERO), 0);
    assert_int_equal(fetestexcept(FE_UNDERFLOW), FE_UNDERFLOW);
    feclearexcept(FE_ALL_EXCEPT);
}

static void another_rounding_mode_is_put_aside(void **state)
{
    (void)state;
    static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    double nearest = one / three;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        evl_float_state found;
        fesetround(modes[i]);
        evl_float_enter(&found);
        double inside = one / three;
        int mode = fegetround();
        evl_float_leave(&found);
        int after = fegetround();
        fesetround(FE_TONEAREST);
        assert_true(inside == nearest);
        assert_int_equal(mode, FE_TONEAREST);
        assert_int_equal(after, modes[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_as_wanted_stays),
        cmocka_unit_test(flags_raised_inside_are_not_seen_outside),
        cmocka_unit_test(another_rounding_mode_is_put_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
