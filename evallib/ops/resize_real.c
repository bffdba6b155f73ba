/* Resize by weighted sums: one pass for each axis that changes, the last axis first, so that
** what single elements are gathered from is small still. */
#include "ops/lines.h"
#include "ops/resize.h"
#include "real.h"
#include <string.h>

enum { LINES = 4 };

/* x is [outer, n_in, inner], y is [outer, n_out, inner]. */
typedef struct pass {
    const evl_taps *taps;
    size_t outer, inner;
    const real *x;
    real *y;
} pass;

/* A weight of 0 hides what it weighs, be it infinite. */
static real weighed(real w, real x)
{
    return w != 0 ? w * x : 0;
}

/* Lines that lie behind each other, by two weights an element: those are read once for all. */
static void two_taps(const evl_taps *t, const real *x, real *y)
{
    const real *w = t->real_weight;
    const size_t *index = t->index;
    for (size_t j = 0; j < t->n_out; j++, w += 2, index += 2, y++) {
        const real u = w[0], v = w[1], *a = x + index[0], *b = x + index[1];
        if (u == 0 || v == 0)
            for (size_t i = 0; i < LINES; i++)
                y[i * t->n_out] = weighed(u, a[i * t->n_in]) + weighed(v, b[i * t->n_in]);
        else
            for (size_t i = 0; i < LINES; i++)
                y[i * t->n_out] = u * a[i * t->n_in] + v * b[i * t->n_in];
    }
}

/* inner 1: up to LINES lines. */
static void do_lines(void *arg, size_t group)
{
    const pass *p = arg;
    const evl_taps *t = p->taps;
    size_t first = group * LINES, lines = p->outer - first < LINES ? p->outer - first : LINES;
    const real *x = p->x + first * t->n_in;
    real *y = p->y + first * t->n_out;
    if (t->n == 2 && lines == LINES) {
        two_taps(t, x, y);
        return;
    }
    for (; lines-- > 0; x += t->n_in, y += t->n_out) {
        const real *w = t->real_weight;
        const size_t *index = t->index;
        for (size_t j = 0; j < t->n_out; j++, w += t->n, index += t->n) {
            real sum = 0;
            for (size_t k = 0; k < t->n; k++)
                sum += weighed(w[k], x[index[k]]);
            y[j] = sum;
        }
    }
}

/* One position: `inner` elements side by side. */
static void do_row(void *arg, size_t row)
{
    const pass *p = arg;
    const evl_taps *t = p->taps;
    const real *x = p->x + row / t->n_out * t->n_in * p->inner;
    const real *w = (const real *)t->real_weight + row % t->n_out * t->n;
    const size_t *index = t->index + row % t->n_out * t->n;
    real *y = p->y + row * p->inner;
    size_t n = p->inner;
    if (t->n == 2 && w[0] != 0 && w[1] != 0) {
        const real *first = x + index[0] * n, *second = x + index[1] * n, u = w[0], v = w[1];
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] = u * first[i] + v * second[i];
        return;
    }
    memset(y, 0, n * sizeof *y);
    for (size_t k = 0; k < t->n; k++) {
        const real *from = x + index[k] * n, weight = w[k];
        if (weight == 0)
            continue;
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            y[i] += weight * from[i];
    }
}

static void run_pass(const pass *p, evl_pool *pool)
{
    pass own = *p;
    const evl_taps *t = p->taps;
    if (p->inner == 1)
        evl_each_for((p->outer + LINES - 1) / LINES, LINES * t->n_out * t->n, pool, do_lines, &own);
    else
        evl_each_for(p->outer * t->n_out, p->inner * t->n, pool, do_row, &own);
}

static void extrapolate(const evl_resize *r, size_t n, real *y)
{
    for (size_t i = 0; i < n; i++) {
        size_t rest = i;
        for (int32_t d = r->rank; d-- > 0;) {
            const evl_taps *t = &r->axis[d];
            if (t->is_used && t->is_outside[rest % t->n_out])
                y[i] = (real)r->extrapolation;
            rest /= t->n_out;
        }
    }
}

EvalStatus TWIN(evl_resize)(const evl_call *call)
{
    const evl_resize *r = call->state;
    size_t n = evl_shape_count(&call->out[0]->shape), which = 0, most = 0;
    const real *x = call->in[0]->data;
    int32_t first = 0; /* axis that is used */
    while (first < r->rank && !r->axis[first].is_used)
        first++;
    for (int32_t d = r->rank; d-- > 0;) { /* half of the scratch memory */
        size_t m = evl_resize_count(r, 0, d, false) * evl_resize_count(r, d, r->rank, true);
        most = m > most ? m : most;
    }
    for (int32_t d = r->rank; n && d-- > first;) {
        real *y = d == first ? call->out[0]->data : (real *)call->scratch + which * most;
        if (!r->axis[d].is_used)
            continue;
        which = 1 - which;
        run_pass(&(const pass){ &r->axis[d], evl_resize_count(r, 0, d, false),
                                evl_resize_count(r, d + 1, r->rank, true), x, y },
                 call->machine->pool);
        x = y;
    }
    if (n && first == r->rank)
        memcpy(call->out[0]->data, x, n * sizeof *x);
    if (r->has_outside)
        extrapolate(r, n, call->out[0]->data);
    return EVAL_OK;
}
