/* strided.h - one machine that copies a box of elements between strided layouts: what
** Transpose, Slice, Expand, Tile, Concat, Split and Pad are made of.
**
** Dimensions are added from the outermost on, in the order of the target's memory. Steps
** are in bytes; they may be negative and, in the source, 0 (the element is repeated).
** Neighbours that run on are merged, so a box has as few dimensions as it can. */
#ifndef EVL_OPS_STRIDED_H
#define EVL_OPS_STRIDED_H
#include "ir/tensor.h"
#include "os/os.h"

enum { EVL_STRIDED_RANK = 2 * EVAL_MAX_RANK };

typedef struct evl_strided {
    size_t size; /* bytes of an element: 1, 2, 4, 8 or 16 */
    size_t rank;
    size_t n[EVL_STRIDED_RANK];
    ptrdiff_t from[EVL_STRIDED_RANK], to[EVL_STRIDED_RANK];
    bool is_blocked;              /* the source runs along rows, the target along columns */
    size_t rows, columns;         /* of a strip: a part of the two innermost dimensions */
    size_t column_strips, strips; /* that these two are cut into */
    size_t units, n_units;        /* strips a tile, strips in all */
} evl_strided;

void evl_strided_begin(evl_strided *, size_t size);
void evl_strided_add(evl_strided *, size_t n, ptrdiff_t from, ptrdiff_t to);
void evl_strided_ready(evl_strided *); /* when all dimensions are there, once */

/* The two must not overlap. */
void evl_strided_copy(const evl_strided *, evl_pool *, const void *from, void *to);

/* Bytes from one element to the next in each dimension of a row-major tensor. */
void evl_strided_steps(const evl_shape *, size_t size, ptrdiff_t steps[EVAL_MAX_RANK]);
#endif
