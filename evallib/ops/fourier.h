/* fourier.h - DFT and STFT: discrete Fourier transforms of any length.
**
** A length whose prime factors are small is split into them (Stockham's order, which needs
** no reversal of digits); any other becomes a convolution, of a length that is a power of 2
** (Bluestein's). */
#ifndef EVL_OPS_FOURIER_H
#define EVL_OPS_FOURIER_H
#include "ir/op.h"

enum { EVL_FOURIER_FACTORS = 64, EVL_FOURIER_RADIX = 13 };

typedef struct evl_fourier_split {
    size_t n, n_factors;
    uint8_t factor[EVL_FOURIER_FACTORS];
    const void *turns; /* n complex numbers: exp(-2 pi i k / n) */
} evl_fourier_split;

typedef struct evl_fourier {
    size_t n;                /* of a transform */
    evl_fourier_split split; /* of n, or of the convolution */
    const void *chirp;       /* NULL: n is split. n complex numbers: exp(-pi i k k / n) */
    const void *filter;      /* split.n of them: what the convolution is with, transformed */
    bool is_inverse, is_onesided;

    /* Lines: [outer, n_in, inner, in_parts] becomes [outer, n_out, inner, out_parts], where
       a real number has one part and a complex one two. */
    size_t outer, n_in, n_out, inner, in_parts, out_parts;

    /* Of STFT, whose `outer` counts frames: so many of each signal, so far apart. */
    size_t frames, step, n_window;
} evl_fourier;

/* From a node whose operands are known; tables are not made. */
EVL_MUST_USE EvalStatus evl_fourier_dft_of(const evl_prepare *, evl_fourier *);
EVL_MUST_USE EvalStatus evl_fourier_stft_of(const evl_prepare *, evl_fourier *);

/* n as a product of factors up to EVL_FOURIER_RADIX. False: it is none. */
bool evl_fourier_factors(size_t n, evl_fourier_split *);

extern const evl_impl evl_fourier_dft, evl_fourier_stft;
#endif
