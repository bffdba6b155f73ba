#include "support/support.h"
#include "os/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void there_is_a_processor(void **state)
{
    (void)state;
    assert_in_range(evl_processor_count(), 1, 1 << 20);
}

static void a_set_brings_those_below_it(void **state)
{
    unsigned have = evl_cpu_features();
    (void)state;
    assert_true(!(have & EVL_CPU_AVX512) || (have & EVL_CPU_AVX2));
    assert_true(!(have & EVL_CPU_VNNI) || (have & EVL_CPU_AVX512));
    assert_true(!(have & EVL_CPU_HALVES) || (have & EVL_CPU_AVX512));
    assert_int_equal(have, evl_cpu_features());
}

/* Valgrind puts itself before the program's libraries, and plays a processor of its own. */
static bool is_real_processor(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return !preloaded || !strstr(preloaded, "vgpreload");
}

/* Linux lists what it found, and leaves out what it does not save. */
static void linux_sees_the_same(void **state)
{
    static const struct {
        const char *flag;
        unsigned feature;
    } flags[] = { { " avx2", EVL_CPU_AVX2 },
                  { " avx512bw", EVL_CPU_AVX512 },
                  { " avx512_vnni", EVL_CPU_VNNI } };
    char line[8192] = "";
    FILE *info = fopen("/proc/cpuinfo", "r");
    (void)state;
    while (info && fgets(line, sizeof line, info) && strncmp(line, "flags", 5) != 0)
        ;
    if (info)
        fclose(info);
    if (strncmp(line, "flags", 5) != 0)
        skip();
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        bool is_listed = strstr(line, flags[i].flag) != NULL;
        bool is_found = (evl_cpu_features() & flags[i].feature) != 0;
        assert_true(is_listed || !is_found);
        assert_true(is_found || !is_listed || !is_real_processor());
    }
}

/* AMD's family 25 alone is known to compute 512 bits by halves. */
static void halves_are_told_by_the_family(void **state)
{
    char line[256], vendor[64] = "";
    int family = 0;
    FILE *info = fopen("/proc/cpuinfo", "r");
    (void)state;
    while (info && fgets(line, sizeof line, info) && family == 0) {
        if (strncmp(line, "vendor_id", 9) == 0)
            strcpy(vendor, strstr(line, "AuthenticAMD") ? "AMD" : "other");
        if (strncmp(line, "cpu family", 10) == 0)
            family = atoi(strchr(line, ':') + 1);
    }
    if (info)
        fclose(info);
    if (family == 0 || !is_real_processor())
        skip();
    bool expected = strcmp(vendor, "AMD") == 0 && family == 25 && (evl_cpu_features() & EVL_CPU_AVX512);
    assert_int_equal((evl_cpu_features() & EVL_CPU_HALVES) != 0, expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_is_a_processor),
        cmocka_unit_test(a_set_brings_those_below_it),
        cmocka_unit_test(linux_sees_the_same),
        cmocka_unit_test(halves_are_told_by_the_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
