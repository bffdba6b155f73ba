/* pool.h - maxima and means of windows over rows, by whole vectors.
**
** A row of the output joins rows of the input, column by column, then columns sideways. Windows
** of few columns are joined in registers (`row`). For others the joined rows are a line between
** padding in memory first (`down`), in as many phases as the stride has columns, so that what
** a kernel column sees is a run of vectors (`across`). Sums have the same order in both. */
#ifndef EVL_KERNELS_POOL_H
#define EVL_KERNELS_POOL_H
#include "real.h"
#include <stddef.h>

typedef struct evl_pool_lines {
    bool is_max;          /* else sums, and means by factors */
    size_t columns;       /* of a row of the input */
    size_t begin, stride; /* columns of padding before it; from window to window */
    size_t out;           /* columns of the output */
    size_t n_taps;        /* kernel columns */
    /* where there are lines: */
    size_t phase;         /* elements of one phase, a vector of them behind its end */
    const size_t *taps;   /* where in a line kernel columns begin */
} evl_pool_lines;

/* n > 0 rows of the input. */
typedef struct evl_pool_rows {
    const real *const *x;
    size_t n;
    size_t room; /* elements that may be read from each row's first on */
} evl_pool_rows;

/* A row of the output. factors: of a mean, 1 / the cells of each window, a vector of them behind
** the end. `room` elements may be written, those behind the row before they get their values. */
typedef struct evl_pool_output {
    const real *factors;
    real *y;
    size_t room;
} evl_pool_output;

typedef struct evl_pool_kernels {
    /* 3 columns with stride 1 or 2 and begin <= 1, or 2 columns with stride 2 and begin 0; as many
       rows. Of 3 columns with begin 0 the rows begin with the column that is the middle of the
       first window. */
    void (*row)(const evl_pool_lines *, const evl_pool_rows *, const evl_pool_output *);
    /* All of the line but the padding before, which is there already. */
    void (*down)(const evl_pool_lines *, const evl_pool_rows *, real *line);
    void (*across)(const evl_pool_lines *, const real *line, const evl_pool_output *);
} evl_pool_kernels;
#endif
