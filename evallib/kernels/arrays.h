/* arrays.h - how loops run over arrays, once for real and once for every integer type:
** who includes it says what an `item` is, and how many BYTES its vectors have.
**
** What is done with each element comes as a function, which the compiler sees and
** inlines. A loop itself takes whole vectors of operands that all advance, so that it is
** compiled to its vectors and nothing else; what is left over, or stands still, is copied
** to where it is whole, and given to the same loop (`self`) again.
**
** `omp simd` says that elements do not depend on each other, so a loop whose output is
** its input is still made of vectors. */
#ifndef EVL_KERNELS_ARRAYS_H
#define EVL_KERNELS_ARRAYS_H
#include "kernels/loops.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { TILE = 512 };

/* As many of n as make whole vectors of results of that size: the compiler sees that it
** is a multiple, and makes no code for a rest. */
static inline size_t whole(size_t n, size_t size)
{
    return n & -(BYTES / size);
}

/* To the end of the vector that has the n-th. */
static void fill_tile(size_t n, item value, item *tile)
{
    n = whole(n + BYTES / sizeof value - 1, sizeof value);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        tile[i] = value;
}

/* The elements behind the last whole vector; gives how many are before. Once a file: it is
** what makes the loops small. */
__attribute__((noinline)) static size_t map_rest(size_t n, const void *from, void *to, size_t size,
                                                 evl_unary_loop *self, const evl_number *p)
{
    size_t done = whole(n, size);
    item x[BYTES], y[BYTES];
    if (n == done)
        return n;
    fill_tile(BYTES / size, 0, x);
    memcpy(x, (const item *)from + done, (n - done) * sizeof *x);
    self(BYTES / size, x, y, p);
    memcpy((char *)to + done * size, y, (n - done) * size);
    return done;
}

static inline void map(size_t n, const void *from, void *to, evl_unary_loop *self, item (*f)(item))
{
    const item *x = from;
    item *y = to;
    n = whole(map_rest(n, from, to, sizeof *y, self, NULL), sizeof *y);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* A function of parameters, which are p's first two. */
typedef struct map_parameters {
    const evl_number *p;
    item p0, p1;
} map_parameters;

static inline void map_with(size_t n, const void *from, void *to, evl_unary_loop *self,
                            map_parameters with, item (*f)(item, item, item))
{
    const item *x = from, p0 = with.p0, p1 = with.p1;
    item *y = to;
    n = whole(map_rest(n, from, to, sizeof *y, self, with.p), sizeof *y);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i], p0, p1);
}

/* Two operands, whose steps are 0 or 1, and results of that size. */
typedef struct zip_arrays {
    const item *a, *b;
    size_t a_step, b_step;
    char *y;
    size_t size;
    evl_binary_loop *self;
} zip_arrays;

static void zip_rest(size_t n, size_t done, const zip_arrays *z)
{
    item a[BYTES], b[BYTES], y[BYTES];
    fill_tile(BYTES / z->size, 0, a);
    fill_tile(BYTES / z->size, 0, b);
    memcpy(a, z->a + done, (n - done) * sizeof *a);
    memcpy(b, z->b + done, (n - done) * sizeof *b);
    z->self(BYTES / z->size, a, 1, b, 1, y);
    memcpy(z->y + done * z->size, y, (n - done) * z->size);
}

/* An operand that stands still is written out as often as a tile is long. */
__attribute__((noinline)) static void zip_tiles(size_t n, const zip_arrays *z)
{
    item same_a[TILE], same_b[TILE];
    size_t tile = n < TILE || (z->a_step && z->b_step) ? n : TILE;
    if (n && !z->a_step)
        fill_tile(tile, *z->a, same_a);
    if (n && !z->b_step)
        fill_tile(tile, *z->b, same_b);
    for (size_t i = 0; i < n; i += tile) {
        zip_arrays part = *z;
        part.a = z->a_step ? z->a + i : same_a;
        part.b = z->b_step ? z->b + i : same_b;
        part.y += i * z->size;
        size_t n_part = n - i < tile ? n - i : tile, done = whole(n_part, z->size);
        if (done)
            z->self(done, part.a, 1, part.b, 1, part.y);
        if (n_part > done)
            zip_rest(n_part, done, &part);
    }
}

static inline bool is_plain(size_t n, size_t a_step, size_t b_step, size_t size)
{
    return a_step && b_step && n == whole(n, size);
}

static inline void zip(size_t n, const void *left, size_t a_step, const void *right, size_t b_step,
                       void *to, evl_binary_loop *self, item (*f)(item, item))
{
    const item *a = left, *b = right;
    item *y = to;
    if (!is_plain(n, a_step, b_step, sizeof *y)) {
        zip_tiles(n, &(const zip_arrays){ a, b, a_step, b_step, to, sizeof *y, self });
        return;
    }
    n = whole(n, sizeof *y);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = f(a[i], b[i]);
}

/* A comparison's bytes never lie over its operands' elements in part, but 1-byte
** elements may be replaced by them. */
static inline void zip_to_bytes(size_t n, const void *left, size_t a_step, const void *right,
                                size_t b_step, void *to, evl_binary_loop *self,
                                uint8_t (*f)(item, item))
{
    const item *a = left, *b = right;
    uint8_t *y = to;
    if (!is_plain(n, a_step, b_step, sizeof *y)) {
        zip_tiles(n, &(const zip_arrays){ a, b, a_step, b_step, to, sizeof *y, self });
        return;
    }
    n = whole(n, sizeof *y);
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] = f(a[i], b[i]);
}
#endif
