/* Windows over rows. */
#include "kernels/set.h"
#include "kernels/vector.h"
#include <math.h>

static inline vec join_two(bool is_max, vec joined, vec more)
{
    if (is_max)
        return vec_max(more, joined);
    return joined + more;
}

static inline vec nothing(bool is_max)
{
    return vec_all(is_max ? -(real)INFINITY : 0);
}

/* The vectors of n rows at column i. */
static inline vec join(bool is_max, const real *const *x, size_t n, size_t i)
{
    vec v = vec_load(x[0] + i);
    for (size_t k = 1; k < n; k++)
        v = join_two(is_max, v, vec_load(x[k] + i));
    return v;
}

/* The same of the columns behind the last whole vector, with nothing behind them. */
__attribute__((noinline)) static vec join_rest(const evl_pool_lines *s, const evl_pool_rows *r)
{
    vec v = nothing(s->is_max), lanes = v;
    size_t n = s->columns % LANES, i = s->columns - n;
    for (size_t lane = 0; lane < LANES; lane++)
        lanes[lane] = (real)lane;
    if (i + LANES <= r->room) {
        vec whole = s->is_max ? join(true, r->x, r->n, i) : join(false, r->x, r->n, i);
        return vec_select(lanes < vec_all((real)n), whole, v);
    }
    for (size_t lane = 0; lane < n; lane++) {
        vec one = vec_all(r->x[0][i + lane]);
        for (size_t k = 1; k < r->n; k++)
            one = join_two(s->is_max, one, vec_all(r->x[k][i + lane]));
        v[lane] = one[0];
    }
    return v;
}

/* --- in registers --- */

/* A row, and what was found out before its first vector. Nothing here has an address that what is
** stored could be at: it stays in registers. */
typedef struct joining {
    const real *x[3];
    size_t columns, out, room;
    const real *factors;
    real *y, *spare; /* a vector, for results that are not wanted whole */
    vec before;      /* ends with what is left of column 0 */
    vec rest;
} joining;

static inline vec columns_at(const joining *j, bool is_max, size_t n, size_t i)
{
    if (i + LANES <= j->columns)
        return join(is_max, j->x, n, i);
    return i < j->columns ? j->rest : nothing(is_max);
}

static inline void put(const joining *j, bool is_max, size_t i, vec v)
{
    if (!is_max)
        v *= vec_load(j->factors + i);
    vec_store(i + LANES <= j->room ? j->y + i : j->spare, v);
}

static inline void row_by_1(joining j, bool is_max)
{
    vec here = columns_at(&j, is_max, 3, 0);
    for (size_t i = 0; i < j.out; i += LANES) {
        vec after = columns_at(&j, is_max, 3, i + LANES);
        vec left = vec_every(j.before, here, LANES - 1, 1), right = vec_every(here, after, 1, 1);
        put(&j, is_max, i, join_two(is_max, join_two(is_max, left, here), right));
        j.before = here;
        here = after;
    }
}

/* n columns, 2 or 3, and as many rows. */
static inline void row_by_2(joining j, bool is_max, size_t n)
{
    for (size_t i = 0; i < j.out; i += LANES) {
        vec a = columns_at(&j, is_max, n, 2 * i), b = columns_at(&j, is_max, n, 2 * i + LANES);
        vec v = vec_every(a, b, 0, 2), odd = vec_every(a, b, 1, 2);
        if (n == 3)
            v = join_two(is_max, vec_every(j.before, odd, LANES - 1, 1), v);
        put(&j, is_max, i, join_two(is_max, v, odd));
        j.before = odd;
    }
}

static inline __attribute__((always_inline)) void row_of(const evl_pool_lines *s,
                                                         const evl_pool_rows *r,
                                                         const evl_pool_output *o, bool is_max)
{
    real spare[LANES] = { 0 };
    joining j = { { r->x[0], r->x[1], r->x[s->n_taps - 1] }, s->columns, s->out, o->room,
                  o->factors, o->y, spare, nothing(is_max), nothing(is_max) };
    if (s->columns % LANES)
        j.rest = join_rest(s, r);
    if (s->n_taps == 3 && s->begin == 0)
        for (size_t k = 0; k < 3; k++)
            j.before = join_two(is_max, j.before, vec_all(*(j.x[k] - 1)));
    if (s->stride == 1)
        row_by_1(j, is_max);
    else if (s->n_taps == 3)
        row_by_2(j, is_max, 3);
    else
        row_by_2(j, is_max, 2);
    size_t whole = s->out - s->out % LANES;
    for (size_t i = whole; whole + LANES > o->room && i < s->out; i++)
        o->y[i] = spare[i - whole];
}

static void row(const evl_pool_lines *s, const evl_pool_rows *r, const evl_pool_output *o)
{
    if (s->is_max)
        row_of(s, r, o, true);
    else
        row_of(s, r, o, false);
}

/* --- by lines --- */

/* n elements from column i of the input on, to their phases. */
__attribute__((noinline)) static void deal(const evl_pool_lines *s, size_t i, size_t n,
                                           const real *x, real *line)
{
    size_t phase = (s->begin + i) % s->stride, at = (s->begin + i) / s->stride;
    for (size_t k = 0; k < n; k++) {
        line[phase * s->phase + at] = x[k];
        phase = phase + 1 < s->stride ? phase + 1 : 0;
        at += phase == 0;
    }
}

/* Vector by vector; behind a row's last column comes nothing. */
static inline void down_by(const evl_pool_lines *s, const evl_pool_rows *r, bool is_max, real *line)
{
    real part[LANES] = { 0 };
    for (size_t i = 0; i < s->columns; i += LANES) {
        vec v = i + LANES <= s->columns ? join(is_max, r->x, r->n, i) : join_rest(s, r);
        vec_store(s->stride == 1 ? line + s->begin + i : part, v);
        if (s->stride > 1)
            deal(s, i, s->columns - i < LANES ? s->columns - i : LANES, part, line);
    }
}

static void down(const evl_pool_lines *s, const evl_pool_rows *r, real *line)
{
    if (s->is_max)
        down_by(s, r, true, line);
    else
        down_by(s, r, false, line);
}

static inline void across_by(const evl_pool_lines *s, const real *line, const evl_pool_output *o,
                             bool is_max)
{
    for (size_t i = 0; i < s->out; i += LANES) {
        vec v = vec_load(line + s->taps[0] + i);
        for (size_t k = 1; k < s->n_taps; k++)
            v = join_two(is_max, v, vec_load(line + s->taps[k] + i));
        if (!is_max)
            v *= vec_load(o->factors + i);
        if (i + LANES <= o->room)
            vec_store(o->y + i, v);
        else
            for (size_t lane = 0; i + lane < s->out; lane++)
                o->y[i + lane] = v[lane];
    }
}

static void across(const evl_pool_lines *s, const real *line, const evl_pool_output *o)
{
    if (s->is_max)
        across_by(s, line, o, true);
    else
        across_by(s, line, o, false);
}

const evl_pool_kernels SET(evl_pool_kernels) = { row, down, across };
