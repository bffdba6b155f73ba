/* Resize by weighted sums: one pass for each axis that changes. */
#include "ops/resize.h"
#include "real.h"
#include <string.h>

/* x is [outer, n_in, inner], y is [outer, n_out, inner]. */
static void pass(const evl_taps *t, size_t outer, size_t inner, const real *x, real *y)
{
    for (size_t o = 0; o < outer; o++, x += t->n_in * inner) {
        for (size_t j = 0; j < t->n_out; j++, y += inner) {
            for (size_t i = 0; i < inner; i++)
                y[i] = 0;
            for (size_t k = 0; k < t->n; k++) {
                const real *from = x + t->index[j * t->n + k] * inner;
                const real w = (real)t->weight[j * t->n + k];
                for (size_t i = 0; w != 0 && i < inner; i++)
                    y[i] += w * from[i];
            }
        }
    }
}

static size_t product(const evl_resize *r, int32_t from, int32_t to, bool is_out)
{
    size_t n = 1;
    for (int32_t d = from; d < to; d++)
        n *= is_out ? r->axis[d].n_out : r->axis[d].n_in;
    return n;
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
    size_t n = evl_shape_count(&call->out[0]->shape), which = 0;
    size_t most = evl_shape_count(&call->in[0]->shape);
    const real *x = call->in[0]->data;
    for (int32_t d = 0; d < r->rank; d++) { /* half of the scratch memory */
        size_t m = product(r, 0, d + 1, true) * product(r, d + 1, r->rank, false);
        most = m > most ? m : most;
    }
    if (n == 0)
        return EVAL_OK;
    for (int32_t d = 0; d < r->rank; d++) {
        real *y = (real *)call->scratch + which * most;
        if (!r->axis[d].is_used)
            continue;
        which = 1 - which;
        pass(&r->axis[d], product(r, 0, d, true), product(r, d + 1, r->rank, false), x, y);
        x = y;
    }
    memcpy(call->out[0]->data, x, n * sizeof *x);
    if (r->has_outside)
        extrapolate(r, n, call->out[0]->data);
    return EVAL_OK;
}
