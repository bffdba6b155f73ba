/* Multiplications and additions a second of one thread: independent sums in registers, nothing else. */
#include "peak.h"
#include "real.h"

/* The build says how wide the machine's vectors are, in bytes. Twelve sums keep two units of four or
** five cycles busy and fit into sixteen registers. */
typedef real lanes __attribute__((vector_size(VECTOR_BYTES)));
enum { N_SUMS = 12, N_LANES = sizeof(lanes) / sizeof(real) };

static double turn(long n)
{
    lanes sums[N_SUMS], factor, term;
    for (int k = 0; k < N_LANES; k++) {
        factor[k] = (real)0.999;
        term[k] = (real)0.001;
    }
    for (int j = 0; j < N_SUMS; j++)
        sums[j] = factor * (real)j;
    for (long i = 0; i < n; i++) {
        for (int j = 0; j < N_SUMS; j++)
            sums[j] = sums[j] * factor + term;
        __asm__ volatile("" : "+x"(factor), "+x"(term)); /* or the loop would be calculated away */
    }
    double total = 0;
    for (int j = 0; j < N_SUMS; j++)
        total += (double)sums[j][0];
    return total;
}

const peak_loop TWIN(bench_peak) = { turn, 2.0 * N_SUMS * N_LANES };
