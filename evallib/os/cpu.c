/* cpu.c - what this processor and its operating system offer, asked of them directly: the
** compiler's own check would bring a constructor into the library. */
#include "os/os.h"
#include <errno.h>
#include <unistd.h>

size_t evl_processor_count(void)
{
    int found = errno;
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    errno = found;
    return count > 0 ? (size_t)count : 1;
}

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

enum { AVX_STATE = 0x6, AVX512_STATE = 0xe6 }; /* bits of XCR0: registers that the system saves */

static unsigned saved_state(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static bool has_all(unsigned bits, unsigned wanted)
{
    return (bits & wanted) == wanted;
}

/* Zen 4; family 26, Zen 5, has whole units but for some notebooks. */
static bool computes_halves(void)
{
    enum { BASE = 0xf, EXTENDED = 0x19 - 0xf };
    unsigned a, b, c, d;
    bool is_amd = __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx;
    return is_amd && __get_cpuid(1, &a, &b, &c, &d) && (a >> 8 & 0xf) == BASE && (a >> 20 & 0xff) == EXTENDED;
}

unsigned evl_cpu_features(void)
{
    unsigned a, b, c, d, have = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !has_all(c, bit_OSXSAVE | bit_FMA))
        return 0;
    unsigned state = saved_state();
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return 0;
    if (has_all(state, AVX_STATE) && has_all(b, bit_AVX2))
        have |= EVL_CPU_AVX2;
    if (have && has_all(state, AVX512_STATE) &&
        has_all(b, bit_AVX512F | bit_AVX512VL | bit_AVX512DQ | bit_AVX512BW))
        have |= EVL_CPU_AVX512;
    if ((have & EVL_CPU_AVX512) && has_all(c, bit_AVX512VNNI))
        have |= EVL_CPU_VNNI;
    if ((have & EVL_CPU_AVX512) && computes_halves())
        have |= EVL_CPU_HALVES;
    return have;
}
#else
unsigned evl_cpu_features(void)
{
    return 0;
}
#endif
