/* integers.h - products of bytes into 32-bit sums, which are exact: they never saturate, and wrap
** only where the sum itself does not fit.
**
** Bytes are widened to 16 bits, their zero points taken off, and kept in pairs of what is summed,
** so that one instruction multiplies two numbers for each column and adds them. (That for bytes,
** pmaddubsw, does no more in a cycle where two of the other run, and it saturates.) Built once,
** with the kernels of float32, and found in their table. */
#ifndef EVL_KERNELS_INTEGERS_H
#define EVL_KERNELS_INTEGERS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes anywhere: element (i, j) is data[i * row + j * column]. */
typedef struct evl_bytes_matrix {
    const void *data;
    size_t row, column;
    bool is_signed;
} evl_bytes_matrix;

/* C = A B, or C += A B: m x n sums of `steps` pairs. */
typedef struct evl_pairs_product {
    size_t m, n, steps;
    const int16_t *a;    /* the pair of row i and step p is at a + i * a_row + p * a_step */
    size_t a_row, a_step;
    const int16_t *b;    /* that of step p and column j at b + 2 * (b_at[p] + j) */
    const size_t *b_at;
    int32_t *c;          /* rows, and B's, have room for n rounded up to `columns` */
    size_t c_row;
    bool adds;
} evl_pairs_product;

/* n bytes beside n others, `step` apart, as pairs of their values less `zero`. Up to a whole vector
** more are written, and read where there is room. */
typedef struct evl_bytes_beside {
    size_t n, step;
    const uint8_t *first, *second;
    bool are_signed, has_room;
    int32_t zero;
} evl_bytes_beside;

/* What sums become again: q = nearest even((c + add) * scale) + zero, held within the bounds. One
** scale and addend for all (step 0), or one each (step 1, rounded up as the sums are). */
typedef struct evl_requantized {
    const float *scale;
    const int32_t *add;
    size_t step;
    float zero, least, most;
} evl_requantized;

/* Two bytes each of which stands for (q - zero) * scale, added or multiplied, as another such byte. */
typedef struct evl_bytes_joined {
    bool multiplies, are_signed;
    float scale[2], y_scale;
    int32_t zero[2], y_zero;
    float least, most; /* of y */
} evl_bytes_joined;

/* Winograd's F(2 x 2, 3 x 3), which is exact here: weights are four times as large, and sums wrap as
** often as they like, for four times the result fits. */
enum { EVL_BYTE_ELEMENTS = 16 };

typedef struct evl_integer_kernels {
    size_t rows, columns; /* of the tile that fits the registers: columns are two vectors */
    void (*product)(const evl_pairs_product *);
    void (*beside)(const evl_bytes_beside *, int16_t *pairs);
    void (*requantize)(const evl_requantized *, size_t n, const int32_t *sums, uint8_t *q);
    /* n tiles beside each other (and more, up to a whole vector), whose 4 x 4 places begin at `taps`
    ** pairs: element e to v + e * step. */
    void (*before)(size_t n, const int16_t *pairs, const size_t *taps, size_t step, int16_t *v);
    /* The products, element e at m + e * step, to 2 n bytes in each of two lines, which have room for
    ** those of a whole vector. */
    void (*after)(const evl_requantized *, size_t n, const int32_t *m, size_t step, uint8_t *const lines[2]);
    void (*join)(const evl_bytes_joined *, size_t n, const uint8_t *a, const uint8_t *b, uint8_t *y);
    /* m rows of k less `zero` (of each row when zero_step is 1), k made even. */
    void (*pack_rows)(size_t m, size_t k, evl_bytes_matrix a, const int32_t *zero, size_t zero_step,
                      int16_t *rows);
    /* k x n of B in signed bytes, unsigned ones less 128: [n / columns][k / 2][columns][2]. */
    void (*pack_panels)(size_t k, size_t n, evl_bytes_matrix b, int8_t *panels);
    /* `steps` of a panel as pairs, less a zero point for each column. */
    void (*widen)(size_t steps, const int8_t *panel, const int16_t *zero, int16_t *pairs);
} evl_integer_kernels;
#endif
