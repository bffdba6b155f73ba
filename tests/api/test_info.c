/* What the library says of itself. */
#include "kernels/loops.h"
#include "os/os.h"
#include "support/support.h"
#include <stdlib.h>
#include <string.h>

static void it_is_one_constant(void **state)
{
    (void)state;
    const EvalInfo *info = EvalLibraryInfo();
    assert_int_equal(info->size, sizeof *info);
    assert_ptr_equal(EvalLibraryInfo(), info);
}

static void the_kernels_are_those_that_models_get(void **state)
{
    (void)state;
    unsigned cpu = evl_cpu_features();
    const char *kernels = EvalLibraryInfo()->kernels;
    assert_string_equal(kernels, evl_kernels_choose_f(cpu).name);
    assert_string_equal(kernels, evl_kernels_choose_d(cpu).name);
}

/* "1.2.3", whose first number is the binary interface's. */
static void the_version_begins_with_the_abi(void **state)
{
    (void)state;
    const EvalInfo *info = EvalLibraryInfo();
    char *end;
    assert_int_equal(strtoul(info->version, &end, 10), info->abi);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(*end, '.');
        strtoul(end + 1, &end, 10);
    }
    assert_int_equal(*end, '\0');
    assert_int_equal(strspn(info->version, "0123456789."), strlen(info->version));
    assert_true(*info->build);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_one_constant),
        cmocka_unit_test(the_kernels_are_those_that_models_get),
        cmocka_unit_test(the_version_begins_with_the_abi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
