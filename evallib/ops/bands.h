/* bands.h - a convolution or pooling over blocked channels, cut into bands of rows.
**
** A band is a few rows of outputs beside each other. What its windows see is the input
** itself, or, when the input is padded, a copy of the rows they need, with the padding.
** Either way a window is found by offsets that are the same for every band. */
#ifndef EVL_OPS_BANDS_H
#define EVL_OPS_BANDS_H
#include "ops/stencil.h"

typedef struct evl_bands {
    evl_stencil window;
    size_t unit;           /* elements at each place: a block's lanes, or 1 */
    size_t planes;         /* of the input, that each output needs */
    size_t element;        /* bytes */
    bool is_padded;
    size_t depth, height, width; /* places of a plane of the copy, or of the input */
    size_t rows;           /* of outputs in a band; the last of a slice may have fewer */
    size_t n, in_slice;    /* bands in all; in one slice of depth */
    size_t *places;        /* of the outputs of a band: offsets in elements */
    size_t *taps;          /* [plane][kernel position]: offsets in elements */
    size_t n_taps;
    size_t copy;           /* elements of the copy; 0: none */
} evl_bands;

/* One band of one sample. */
typedef struct evl_band {
    int64_t slice, row;    /* of its first output */
    size_t rows;
    size_t first, n;       /* outputs: places in the output's plane */
} evl_band;

/* Padding so wide that copies would outgrow the input by far is not for bands. */
bool evl_bands_fit(const evl_stencil *);

/* `budget`: bytes of the input that a band may take. */
EVL_MUST_USE EvalStatus evl_bands_of(evl_context *, evl_arena *, const evl_stencil *, size_t unit,
                                     size_t planes, size_t element, size_t budget, evl_bands *);
evl_band evl_band_at(const evl_bands *, size_t index);

/* Where the band's offsets count from: in the input (its first plane at x), or in the copy,
** which is made of bytes `fill` (0: zeros). */
const void *evl_band_input(const evl_bands *, const evl_band *, const void *x, void *copy,
                           const void *fill);
#endif
