/* byte_bands.h - what the windows of a convolution of bytes see, as pairs of 16-bit numbers.
**
** A band is a few rows of outputs beside each other. The input that its windows need is copied
** with the padding and less the zero point: a plane for each pair of channels (of a single channel
** each row beside the one that the next row of the kernel sees), and for each rest that positions
** leave when divided by the stride. So what a place of the kernel sees of neighbouring outputs lies
** side by side, at an offset that is the same for every band; at the end of a row of outputs come a
** few that are nobody's. */
#ifndef EVL_OPS_BYTE_BANDS_H
#define EVL_OPS_BYTE_BANDS_H
#include "kernels/integers.h"
#include "ops/conv.h"

/* Positions of the kernel along one dimension. */
typedef struct evl_byte_axis {
    int64_t stride, spacing, begin, in;
    size_t kernel;  /* positions: of pairs of rows every second */
    size_t phases;  /* planes */
    bool is_apart;  /* each position has its own */
    size_t reach;   /* of the farthest position within its plane */
} evl_byte_axis;

typedef struct evl_byte_bands {
    evl_conv conv;
    bool by_rows;              /* pairs of rows */
    size_t sources;            /* pairs of channels */
    evl_byte_axis y, x;
    size_t planes;             /* of a source */
    size_t rows, width;        /* of outputs in a band, at most */
    size_t lines, pitch;       /* of a plane */
    size_t down, across, n;    /* bands in a slice of depth; in all */
    size_t steps;              /* pairs that a sum has */
    size_t *taps;              /* of each, where its plane and position begin, in pairs */
    size_t pairs;              /* of the copy */
    size_t plane;              /* bytes of a padded plane, of bands with by_rows */
} evl_byte_bands;

typedef struct evl_byte_band {
    size_t z, y, x, rows, width; /* outputs */
    size_t n;                    /* columns of the product: width + those that are nobody's */
} evl_byte_band;

/* The copy takes `bytes` at most, if a row does, and has room for `spare` pairs more than its last
** window needs; a band has `columns` at most. */
typedef struct evl_byte_limits {
    size_t bytes, columns, spare;
} evl_byte_limits;
EVL_MUST_USE EvalStatus evl_byte_bands_of(evl_context *, evl_arena *, const evl_conv *, evl_byte_limits,
                                          evl_byte_bands *);
evl_byte_band evl_byte_band_at(const evl_byte_bands *, size_t index);

/* x: the channels of one group, of one image, of a tensor that ends at `end`; plane: of bands with
** `by_rows`, room for bytes of a plane. */
typedef struct evl_byte_source {
    const evl_integer_kernels *k;
    const uint8_t *x, *end;
    uint8_t *plane;
    bool is_signed;
    int32_t zero;
} evl_byte_source;
void evl_byte_bands_copy(const evl_byte_bands *, const evl_byte_band *, const evl_byte_source *,
                         int16_t *pairs);

/* Which weights of a channel the pair of a step is multiplied by; SIZE_MAX: none. */
void evl_byte_bands_weights(const evl_byte_bands *, size_t step, size_t at[2]);
#endif
