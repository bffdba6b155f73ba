/* A loop that does nothing but arithmetic, for float and for double. */
#ifndef BENCH_PEAK_H
#define BENCH_PEAK_H

typedef struct peak_loop {
    double (*turn)(long n); /* the result only keeps the arithmetic alive */
    double operations;      /* of each turn */
} peak_loop;

extern const peak_loop bench_peak_f, bench_peak_d;

#endif
