/* rotary.h - what RotaryEmbedding asks for: pairs of elements turned by angles that depend
** on a row's position. */
#ifndef EVL_OPS_ROTARY_H
#define EVL_OPS_ROTARY_H
#include "ir/op.h"

typedef struct evl_rotary {
    size_t samples, heads, rows, size, turned; /* turned: elements of a head */
    size_t sample, head, row;                  /* steps, of input and output */
    size_t cos, sin, position;                 /* inputs; position SIZE_MAX: rows of the tables */
    size_t n_positions;                        /* rows of the tables; 0: they are the rows' own */
    bool interleaved, is_offset;               /* one position, of the first row */
} evl_rotary;

EVL_MUST_USE EvalStatus evl_rotary_of(evl_context *, const evl_use *, evl_rotary *);
#endif
