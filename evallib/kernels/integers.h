/* integers.h - products of matrices of bytes into 32-bit sums, which are exact: they never
** saturate, and wrap only where the sum itself does not fit.
**
** A is widened to 16 bits when it is packed, its zero point taken off, and B is kept in
** signed bytes, in panels of `columns` columns with two k side by side: [panel][k / 2]
** [columns][2]. So one instruction multiplies two k for each column and adds them. What
** B's zero point adds is a number for each row of A, known from the sum of the row. */
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

/* C = A B. Both packed, with k rounded up to a pair. */
typedef struct evl_integer_block {
    size_t m, n, pairs;
    const int16_t *a; /* rows of 2 * pairs */
    const int8_t *b;
    int32_t *c;
    size_t c_row;
} evl_integer_block;

typedef struct evl_integer_kernels {
    size_t rows, columns; /* of the tile that fits the registers */
    void (*block)(const evl_integer_block *);
    /* m x k of A less `zero` (of each row when zero_step is 1); sums[i] gets the sum of row i. */
    void (*pack_rows)(size_t m, size_t k, evl_bytes_matrix a, const int32_t *zero, size_t zero_step,
                      int16_t *rows, int32_t *sums);
    /* k x n of B; unsigned bytes less 128. */
    void (*pack_panels)(size_t k, size_t n, evl_bytes_matrix b, int8_t *panels);
} evl_integer_kernels;
#endif
