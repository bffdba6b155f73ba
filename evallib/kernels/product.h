/* product.h - a whole product of matrices, cut into tiles that threads can share.
**
** The cut depends on the sizes alone, and each tile is computed from its inputs to its
** final values by one thread, so results do not depend on how many there are. An
** operator makes the cut when it is prepared, and hands the tiles of all its products
** to evl_parallel_for in the run. */
#ifndef EVL_KERNELS_PRODUCT_H
#define EVL_KERNELS_PRODUCT_H
#include "kernels/gemm.h"
#include "kernels/loops.h"

/* Rows k .. k+n_k-1 of B, n columns from column j on, into panels that are
** n_k * columns elements apart. */
typedef struct evl_product_part {
    size_t k, n_k, j, n;
} evl_product_part;
typedef void evl_product_fill(const void *arg, const evl_product_part *, real *panels);

/* C = f(alpha * A B + add[0] + add[1]). */
typedef struct evl_product {
    size_t m, n, k;
    evl_gemm_matrix a;      /* where it lies; or */
    const real *rows;       /* not NULL: packed by evl_gemm_kernels.pack_rows, groups of cut.rows */
    evl_gemm_matrix b;      /* where it lies; or */
    const real *panels;     /* not NULL: packed, panels k * columns apart; or */
    evl_product_fill *fill; /* not NULL: made as needed */
    const void *fill_arg;
    real *c;
    size_t c_row;
    evl_epilogue epilogue;
} evl_product;

typedef struct evl_product_cut {
    size_t rows; /* of A in a group */
    size_t tile_groups, tile_panels;
    size_t block_k;
    size_t n_down, n_across; /* tiles; all of them: the product */
    size_t scratch;          /* elements a tile may use */
    size_t work;             /* multiply-adds, saturated: EVL_PRODUCT_SMALL is not shared */
} evl_product_cut;

enum { EVL_PRODUCT_SMALL = 100000 }; /* waking a thread costs as much as this */

typedef struct evl_product_kernels {
    /* `times`: how many such products there are to share; b_packed: panels are there. */
    evl_product_cut (*cut)(size_t m, size_t n, size_t k, size_t times, int b_packed);
    void (*tile)(const evl_product *, const evl_product_cut *, size_t tile, real *scratch);
    /* Elements of a packed operand; 0: does not fit in size_t. */
    size_t (*panels_size)(size_t k, size_t n);
    size_t (*rows_size)(const evl_product_cut *, size_t m, size_t k);
} evl_product_kernels;
#endif
