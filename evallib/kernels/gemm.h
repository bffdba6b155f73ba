/* gemm.h - products of matrices: what MatMul, convolution and recurrence stand on.
**
** C = f(alpha * A B + add[0] + add[1]), for one block of k. B comes in panels: `columns`
** of its columns side by side, for each k in turn ([panel][k][columns], the last
** panel filled up with zeros), so that the inner loop reads it from end to end. A is
** read where it lies, element (i, p) at a[i * a_row + p * a_step]; or in groups of
** `rows` rows, a_group apart, when packed ([group][k][rows]).
**
** Sums over k run in one order for every element, whatever the tile, so results
** depend on the blocks of k alone. */
#ifndef EVL_KERNELS_GEMM_H
#define EVL_KERNELS_GEMM_H
#include "kernels/epilogue.h"

typedef struct evl_gemm_block {
    size_t m, n, k;
    size_t rows; /* of A in a group, at most the table's */
    const real *a;
    size_t a_row, a_step, a_group;
    const real *b;
    size_t b_panel; /* from one panel to the next */
    real *c;        /* may be what is added */
    size_t c_row;
    evl_epilogue epilogue;
} evl_gemm_block;

/* A matrix anywhere: element (i, j) is data[i * row + j * column]. */
typedef struct evl_gemm_matrix {
    const real *data;
    size_t row, column;
} evl_gemm_matrix;

typedef struct evl_gemm_kernels {
    size_t rows, columns; /* of the tile that fits the registers */
    void (*block)(const evl_gemm_block *);
    /* k x n of B, perhaps unaligned, into panels, panel elements from one to the next. */
    void (*pack_panels)(size_t k, size_t n, evl_gemm_matrix b, size_t panel, real *panels);
    /* m x k of A into groups of `rows`, group elements from one to the next. */
    void (*pack_rows)(size_t m, size_t k, evl_gemm_matrix a, size_t rows, size_t group,
                      real *packed);
} evl_gemm_kernels;
#endif
