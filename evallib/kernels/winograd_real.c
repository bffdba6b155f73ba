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

/* m + 2 values of a tile to their polynomial's values. */
static inline __attribute__((always_inline)) void before(size_t m, vec *d)
{
    vec d0 = d[0], d1 = d[1], d2 = d[2], d3 = d[3];
    if (m == 2) {
        d[0] = d0 - d2;
        d[1] = d2 + d1;
        d[2] = d2 - d1;
        d[3] = d3 - d1;
        return;
    }
    vec d4 = d[4], d5 = d[5];
    vec even_a = d4 - bb * d2, odd_a = a * (d3 - bb * d1);
    vec even_b = d4 - aa * d2, odd_b = b * (d3 - aa * d1);
    d[0] = aabb * d0 - (aa + bb) * d2 + d4;
    d[1] = even_a + odd_a;
    d[2] = even_a - odd_a;
    d[3] = even_b + odd_b;
    d[4] = even_b - odd_b;
    d[5] = aabb * d1 - (aa + bb) * d3 + d5;
}

/* m + 2 values of the product to m outputs. */
static inline __attribute__((always_inline)) void after(size_t m, vec *v)
{
    vec sum_a = v[1] + v[2], difference_a = v[1] - v[2];
    if (m == 2) {
        v[0] = v[0] + sum_a;
        v[1] = difference_a + v[3];
        return;
    }
    vec sum_b = v[3] + v[4], difference_b = v[3] - v[4];
    v[0] = v[0] + sum_a + sum_b;
    v[1] = a * difference_a + b * difference_b;
    v[2] = aa * sum_a + bb * sum_b;
    v[3] = aaa * difference_a + bbb * difference_b + v[5];
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

/* Of a tile: its first output. */
typedef struct place {
    size_t y, x;
} place;

static place place_of(const evl_winograd *w, size_t tile)
{
    return (place){ tile / w->across * w->m, tile % w->across * w->m };
}

static place next(const evl_winograd *w, place p)
{
    p.x += w->m;
    return p.x < w->m * w->across ? p : (place){ p.y + w->m, 0 };
}

/* A tile of the input that reaches over its edges, zero there: in `edge`. */
static const real *take(const evl_winograd *w, place p, const real *x, real *edge)
{
    const size_t side = w->m + 2;
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            size_t y = p.y + i - w->begin_y, column = p.x + j - w->begin_x; /* wraps below 0 */
            bool is_inside = y < w->in_height && column < w->in_width;
            vec v = { 0 };
            vec_store(edge + (i * side + j) * LANES,
                      is_inside ? vec_load(x + (y * w->in_width + column) * LANES) : v);
        }
    return edge;
}

static inline __attribute__((always_inline)) void input_of(const evl_winograd *w, size_t m,
                                                           size_t from, size_t n, const real *x,
                                                           real *v, size_t step)
{
    const size_t side = m + 2;
    place p = place_of(w, from);
    for (size_t t = 0; t < n; t++, v += LANES, p = next(w, p)) {
        real edge[MOST * MOST * LANES];
        vec half[MOST][MOST], d[MOST];
        size_t y = p.y - w->begin_y, column = p.x - w->begin_x, row = w->in_width * LANES;
        bool is_inside = p.y >= w->begin_y && y + side <= w->in_height && p.x >= w->begin_x &&
                         column + side <= w->in_width;
        const real *at = is_inside ? x + y * row + column * LANES : take(w, p, x, edge);
        row = is_inside ? row : side * LANES;
#pragma GCC unroll 1
        for (size_t i = 0; i < side; i++) {
#pragma GCC unroll 6
            for (size_t j = 0; j < side; j++)
                d[j] = vec_load(at + i * row + j * LANES);
            before(m, d);
#pragma GCC unroll 6
            for (size_t j = 0; j < side; j++)
                half[i][j] = d[j];
        }
#pragma GCC unroll 1
        for (size_t j = 0; j < side; j++) {
#pragma GCC unroll 6
            for (size_t i = 0; i < side; i++)
                d[i] = half[i][j];
            before(m, d);
#pragma GCC unroll 6
            for (size_t i = 0; i < side; i++)
                vec_store(v + (i * side + j) * step, d[i]);
        }
    }
}

static void input(const evl_winograd *w, size_t from, size_t n, const real *x, real *v, size_t step)
{
    if (w->m == 2)
        input_of(w, 2, from, n, x, v, step);
    else
        input_of(w, 4, from, n, x, v, step);
}

/* Column j of a tile's outputs, as many as there are. */
static inline __attribute__((always_inline)) void give(const evl_winograd *w, size_t m, size_t at,
                                                       size_t rows, const vec *sums,
                                                       const evl_winograd_output *o)
{
    const vec least = vec_all(o->clips ? o->least : -(real)INFINITY);
    const vec most = vec_all(o->clips ? o->most : (real)INFINITY);
    const real *added = o->residual;
    const size_t row = w->out_width * LANES;
    real *y = o->y;
    vec bias = { 0 };
    if (o->bias)
        bias = vec_load(o->bias);
#pragma GCC unroll 4
    for (size_t i = 0; i < m; i++, at += row) {
        if (i == rows)
            return;
        vec sum = sums[i] + bias;
        if (added)
            sum += vec_load(added + at);
        vec_store(y + at, vec_within(sum, least, most));
    }
}

static inline __attribute__((always_inline)) void output_of(const evl_winograd *w, size_t m,
                                                            size_t from, size_t n, const real *v,
                                                            size_t step,
                                                            const evl_winograd_output *o)
{
    const size_t side = m + 2;
    place p = place_of(w, from);
    for (size_t t = 0; t < n; t++, v += LANES, p = next(w, p)) {
        vec half[MOST][4], d[MOST];
        size_t rows = w->out_height - p.y, columns = w->out_width - p.x;
#pragma GCC unroll 1
        for (size_t i = 0; i < side; i++) {
#pragma GCC unroll 6
            for (size_t j = 0; j < side; j++)
                d[j] = vec_load(v + (i * side + j) * step);
            after(m, d);
#pragma GCC unroll 6
            for (size_t j = 0; j < m; j++)
                half[i][j] = d[j];
        }
#pragma GCC unroll 1
        for (size_t j = 0; j < m && j < columns; j++) {
#pragma GCC unroll 6
            for (size_t i = 0; i < side; i++)
                d[i] = half[i][j];
            after(m, d);
            give(w, m, (p.y * w->out_width + p.x + j) * LANES, rows, d, o);
        }
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
