/* Gauss' elimination: the row with the largest element of the column is taken each time. */
#include "ops/square.h"
#include "real.h"
#include <string.h>

static void swap_rows(real *a, size_t n, size_t i, size_t j)
{
    for (size_t k = 0; k < n && i != j; k++) {
        real kept = a[i * n + k];
        a[i * n + k] = a[j * n + k];
        a[j * n + k] = kept;
    }
}

static size_t pivot(const real *a, size_t n, size_t column)
{
    size_t best = column;
    for (size_t i = column + 1; i < n; i++)
        if (fabs(a[i * n + column]) > fabs(a[best * n + column]))
            best = i;
    return best;
}

static void subtract(real *a, size_t n, size_t from, size_t row, real times)
{
    for (size_t k = 0; k < n; k++)
        a[row * n + k] -= times * a[from * n + k];
}

static real det(real *a, size_t n)
{
    real product = 1;
    for (size_t i = 0; i < n; i++) {
        size_t best = pivot(a, n, i);
        swap_rows(a, n, i, best);
        product *= best == i ? a[i * n + i] : -a[i * n + i];
        if (a[i * n + i] == 0)
            return 0;
        for (size_t j = i + 1; j < n; j++)
            subtract(a, n, i, j, a[j * n + i] / a[i * n + i]);
    }
    return product;
}

/* y becomes the inverse of a; of a matrix that has none, numbers that are not finite. */
static void invert(real *a, size_t n, real *y)
{
    for (size_t i = 0; i < n * n; i++)
        y[i] = i % (n + 1) == 0 ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        size_t best = pivot(a, n, i);
        swap_rows(a, n, i, best);
        swap_rows(y, n, i, best);
        real scale = 1 / a[i * n + i];
        for (size_t k = 0; k < n; k++) {
            a[i * n + k] *= scale;
            y[i * n + k] *= scale;
        }
        for (size_t j = 0; j < n; j++) {
            real times = a[j * n + i];
            if (j == i)
                continue;
            subtract(a, n, i, j, times);
            subtract(y, n, i, j, times);
        }
    }
}

static real *copy_of(const evl_call *call, size_t index, size_t lane)
{
    const evl_square *s = call->state;
    size_t n = s->n * s->n;
    real *a = (real *)call->scratch + lane * n;
    if (n)
        memcpy(a, (const real *)call->in[0]->data + index * n, n * sizeof *a);
    return a;
}

static void det_work(void *arg, size_t index, size_t lane)
{
    const evl_call *call = arg;
    const evl_square *s = call->state;
    ((real *)call->out[0]->data)[index] = det(copy_of(call, index, lane), s->n);
}

static void inverse_work(void *arg, size_t index, size_t lane)
{
    const evl_call *call = arg;
    const evl_square *s = call->state;
    real *y = call->out[0]->data;
    if (s->n)
        invert(copy_of(call, index, lane), s->n, y + index * s->n * s->n);
}

static EvalStatus run_all(const evl_call *call, evl_tile_work *work)
{
    const evl_square *s = call->state;
    evl_call own = *call;
    evl_parallel_for(call->machine->pool, s->count, work, &own);
    return EVAL_OK;
}

static EvalStatus run_det(const evl_call *call)
{
    return run_all(call, det_work);
}

static EvalStatus run_inverse(const evl_call *call)
{
    return run_all(call, inverse_work);
}

extern const evl_impl TWIN(evl_det), TWIN(evl_inverse);
const evl_impl TWIN(evl_det) = { evl_square_prepare, run_det };
const evl_impl TWIN(evl_inverse) = { evl_square_prepare, run_inverse };
