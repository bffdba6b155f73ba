/* finish.h - epilogue.h for the last stage of a kernel: a vector that is still in a
** register, or a row that is still in the first cache. */
#ifndef EVL_KERNELS_FINISH_H
#define EVL_KERNELS_FINISH_H
#include "kernels/epilogue.h"
#include "kernels/vector.h"

static inline real evl_clip_one(const evl_activation *f, real x)
{
    if (!f->clips)
        return x;
    real y = x < f->least ? f->least : x;
    return y > f->most ? f->most : y;
}

static inline vec evl_clip_vector(const evl_activation *f, vec x)
{
    return f->clips ? vec_clip(x, f->least, f->most) : x;
}

/* Elements (i, j), (i, j + 1) ... of what is added; NULL: nothing. */
static inline const real *evl_addend_at(const evl_addend *add, size_t i, size_t j)
{
    return add->data ? add->data + i * add->row + j * add->column : NULL;
}

static inline vec evl_add_vector(const evl_addend *add, const real *from, size_t x, vec v)
{
    if (!from)
        return v;
    return v + (add->column ? vec_load(from + x) : vec_all(*from));
}

/* All of the epilogue but the loop: y[x] from sums[x], which lie at row i, columns j on.
** y may be sums. */
static inline __attribute__((always_inline)) void
evl_finish_row(const evl_epilogue *e, size_t i, size_t j, size_t n, const real *sums, real *y)
{
    const evl_addend *a = &e->add[0], *b = &e->add[1];
    const real *from_a = evl_addend_at(a, i, j), *from_b = evl_addend_at(b, i, j);
    size_t x = 0;
    for (; x + LANES <= n; x += LANES) {
        vec v = vec_load(sums + x) * e->alpha;
        v = evl_add_vector(a, from_a, x, v);
        v = evl_add_vector(b, from_b, x, v);
        vec_store(y + x, evl_clip_vector(&e->activation, v));
    }
    for (; x < n; x++) {
        real v = sums[x] * e->alpha;
        v += from_a ? from_a[x * a->column] : 0;
        v += from_b ? from_b[x * b->column] : 0;
        y[x] = evl_clip_one(&e->activation, v);
    }
}
#endif
