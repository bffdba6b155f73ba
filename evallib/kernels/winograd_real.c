/* Winograd's minimal filtering (Lavin and Gray, "Fast Algorithms for Convolutional Neural
** Networks", 2015): outputs are products of polynomials, taken at m + 1 points and at
** infinity.
**
** The points of F(4 x 4) are 0, +-3/4, +-3/2: in simulations whole networks lose a quarter
** of what the usual 0, +-1, +-2 lose, and every number below is exact. Those of
** F(2 x 2) are 0, +-1. */
#include "kernels/blocked.h"
#include "kernels/set.h"
#include "kernels/vector.h"

enum { MOST = 6 /* m + 2 */ };

static const real a = (real)0.75, b = (real)1.5; /* the points */
static const real aa = (real)0.5625, bb = (real)2.25, aabb = (real)1.265625;
static const real aaa = (real)0.421875, bbb = (real)3.375;

/* m + 2 values of a tile, step apart, to their polynomial's values. */
static inline __attribute__((always_inline)) void before(size_t m, vec *d, size_t step)
{
    vec d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
    if (m == 2) {
        d[0] = d0 - d2;
        d[step] = d2 + d1;
        d[2 * step] = d2 - d1;
        d[3 * step] = d3 - d1;
        return;
    }
    vec d4 = d[4 * step], d5 = d[5 * step];
    vec even_a = d4 - bb * d2, odd_a = a * (d3 - bb * d1);
    vec even_b = d4 - aa * d2, odd_b = b * (d3 - aa * d1);
    d[0] = aabb * d0 - (aa + bb) * d2 + d4;
    d[step] = even_a + odd_a;
    d[2 * step] = even_a - odd_a;
    d[3 * step] = even_b + odd_b;
    d[4 * step] = even_b - odd_b;
    d[5 * step] = aabb * d1 - (aa + bb) * d3 + d5;
}

/* m + 2 values of the product, step apart, to m outputs. */
static inline __attribute__((always_inline)) void after(size_t m, const vec *v, size_t step, vec *y,
                                                        size_t y_step)
{
    vec sum_a = v[step] + v[2 * step], difference_a = v[step] - v[2 * step];
    if (m == 2) {
        y[0] = v[0] + sum_a;
        y[y_step] = difference_a + v[3 * step];
        return;
    }
    vec sum_b = v[3 * step] + v[4 * step], difference_b = v[3 * step] - v[4 * step];
    y[0] = v[0] + sum_a + sum_b;
    y[y_step] = a * difference_a + b * difference_b;
    y[2 * y_step] = aa * sum_a + bb * sum_b;
    y[3 * y_step] = aaa * difference_a + bbb * difference_b + v[5 * step];
}

/* --- weights --- */

static void points_of(size_t m, real (*g)[3])
{
    static const real two[4][3] = {
        { 1, 0, 0 }, { (real)0.5, (real)0.5, (real)0.5 }, { (real)0.5, -(real)0.5, (real)0.5 },
        { 0, 0, 1 }
    };
    const real p[] = { 0, a, -a, b, -b }, at_a = 1 / (2 * aa * (aa - bb)), at_b = 1 / (2 * bb * (bb - aa));
    const real scale[] = { 1 / aabb, at_a, at_a, at_b, at_b };
    for (size_t i = 0; m == 2 && i < 4; i++)
        for (size_t j = 0; j < 3; j++)
            g[i][j] = two[i][j];
    for (size_t i = 0; m == 4 && i < 5; i++) {
        g[i][0] = scale[i];
        g[i][1] = scale[i] * p[i];
        g[i][2] = scale[i] * p[i] * p[i];
    }
    if (m == 4) {
        g[5][0] = g[5][1] = 0;
        g[5][2] = 1;
    }
}

/* Three numbers, three rows of three at w, to the value at a point: row[0 .. 2] there. */
static inline vec at_point(const real *g, vec w0, vec w1, vec w2)
{
    return g[0] * w0 + g[1] * w1 + g[2] * w2;
}

static void weights_of(size_t m, const real (*g)[3], const real *w, real *u, size_t step)
{
    const size_t side = m + 2, row = 2 * (size_t)LANES;
    vec half[MOST][3];
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < 3; j++)
            half[i][j] = at_point(g[i], vec_load(w + j * row), vec_load(w + (3 + j) * row),
                                  vec_load(w + (6 + j) * row));
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++, u += step)
            vec_store(u, at_point(g[j], half[i][0], half[i][1], half[i][2]));
}

static void weights(size_t m, const real *w, real *u, size_t step)
{
    real g[MOST][3];
    points_of(m, g);
    weights_of(m, (const real(*)[3])g, w, u, step);
    weights_of(m, (const real(*)[3])g, w + LANES, u + LANES, step);
}

/* --- tiles --- */

typedef struct place {
    size_t y, x; /* of the tile's first output */
    size_t rows, columns; /* of its outputs that are there */
} place;

static place place_of(const evl_winograd *w, size_t tile)
{
    place p = { tile / w->across * w->m, tile % w->across * w->m, w->m, w->m };
    p.rows = w->out_height - p.y < w->m ? w->out_height - p.y : w->m;
    p.columns = w->out_width - p.x < w->m ? w->out_width - p.x : w->m;
    return p;
}

/* A tile of the input, zero where it lies in the padding. */
static inline __attribute__((always_inline)) void take(const evl_winograd *w, size_t m,
                                                       const place *p, const real *x, vec *d)
{
    const size_t side = m + 2;
    bool is_inside = p->y >= w->begin_y && p->y - w->begin_y + side <= w->in_height &&
                     p->x >= w->begin_x && p->x - w->begin_x + side <= w->in_width;
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            size_t y = p->y + i - w->begin_y, column = p->x + j - w->begin_x; /* wraps below 0 */
            d[i * side + j] = (vec){ 0 };
            if (is_inside || (y < w->in_height && column < w->in_width))
                d[i * side + j] = vec_load(x + (y * w->in_width + column) * LANES);
        }
}

static inline __attribute__((always_inline)) void input_of(const evl_winograd *w, size_t m,
                                                           size_t from, size_t n, const real *x,
                                                           real *v, size_t step)
{
    const size_t side = m + 2;
    for (size_t t = 0; t < n; t++, v += LANES) {
        vec d[MOST * MOST];
        place p = place_of(w, from + t);
        take(w, m, &p, x, d);
        for (size_t i = 0; i < side; i++)
            before(m, d + i * side, 1);
        for (size_t j = 0; j < side; j++)
            before(m, d + j, side);
        for (size_t e = 0; e < side * side; e++)
            vec_store(v + e * step, d[e]);
    }
}

static void input(const evl_winograd *w, size_t from, size_t n, const real *x, real *v, size_t step)
{
    if (w->m == 2)
        input_of(w, 2, from, n, x, v, step);
    else
        input_of(w, 4, from, n, x, v, step);
}

static void give(const evl_winograd *w, size_t m, const place *p, const vec *d,
                 const evl_winograd_output *o)
{
    vec bias = { 0 };
    if (o->bias)
        bias = vec_load(o->bias);
    for (size_t i = 0; i < p->rows; i++)
        for (size_t j = 0; j < p->columns; j++) {
            size_t at = ((p->y + i) * w->out_width + p->x + j) * LANES;
            vec y = d[i * m + j] + bias;
            if (o->residual)
                y += vec_load(o->residual + at);
            if (o->clips)
                y = vec_clip(y, o->least, o->most);
            vec_store(o->y + at, y);
        }
}

static inline __attribute__((always_inline)) void output_of(const evl_winograd *w, size_t m,
                                                            size_t from, size_t n, const real *v,
                                                            size_t step,
                                                            const evl_winograd_output *o)
{
    const size_t side = m + 2;
    for (size_t t = 0; t < n; t++, v += LANES) {
        vec d[MOST * MOST], half[MOST * 4], y[4 * 4];
        place p = place_of(w, from + t);
        for (size_t e = 0; e < side * side; e++)
            d[e] = vec_load(v + e * step);
        for (size_t i = 0; i < side; i++)
            after(m, d + i * side, 1, half + i * m, 1);
        for (size_t j = 0; j < m; j++)
            after(m, half + j, m, y + j, m);
        give(w, m, &p, y, o);
    }
}

static void output(const evl_winograd *w, size_t from, size_t n, const real *v, size_t step,
                   const evl_winograd_output *o)
{
    if (w->m == 2)
        output_of(w, 2, from, n, v, step, o);
    else
        output_of(w, 4, from, n, v, step, o);
}

const evl_winograd_kernels SET(evl_winograd_kernels) = {
    .weights = weights,
    .input = input,
    .output = output,
};
