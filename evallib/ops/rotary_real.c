/* RotaryEmbedding: (a, b) becomes (a cos - b sin, a sin + b cos). */
#include "ops/lines.h"
#include "ops/rotary.h"
#include "real.h"
#include <string.h>

typedef struct running {
    const evl_rotary *s;
    const real *x, *cos, *sin;
    const evl_tensor *position;
    real *y;
} running;

static void turn_halves(size_t half, const real *x, const real *c, const real *s, real *y)
{
#pragma omp simd
    for (size_t i = 0; i < half; i++) {
        real a = x[i], b = x[i + half];
        y[i] = a * c[i] - b * s[i];
        y[i + half] = a * s[i] + b * c[i];
    }
}

static void turn_pairs(size_t half, const real *x, const real *c, const real *s, real *y)
{
    for (size_t i = 0; i < half; i++) {
        real a = x[2 * i], b = x[2 * i + 1];
        y[2 * i] = a * c[i] - b * s[i];
        y[2 * i + 1] = a * s[i] + b * c[i];
    }
}

/* The row of the tables that row `row` of a sample uses; checked before. */
static size_t position_of(const running *r, size_t sample, size_t row)
{
    if (!r->position)
        return sample * r->s->rows + row;
    if (r->s->is_offset)
        return (size_t)evl_tensor_i64(r->position, 0) + row;
    return (size_t)evl_tensor_i64(r->position, sample * r->s->rows + row);
}

/* One row of one sample: all its heads. */
static void work(void *arg, size_t index)
{
    const running *r = arg;
    const evl_rotary *s = r->s;
    size_t sample = index / s->rows, row = index % s->rows, half = s->turned / 2;
    size_t angle = position_of(r, sample, row) * half;
    for (size_t h = 0; h < s->heads; h++) {
        size_t at = sample * s->sample + h * s->head + row * s->row;
        (s->interleaved ? turn_pairs : turn_halves)(half, r->x + at, r->cos + angle, r->sin + angle,
                                                    r->y + at);
        if (s->turned < s->size)
            memcpy(r->y + at + s->turned, r->x + at + s->turned,
                   (s->size - s->turned) * sizeof(real));
    }
}

static EvalStatus check_positions(const evl_call *call, const running *r)
{
    const evl_rotary *s = r->s;
    size_t n = r->position ? evl_shape_count(&r->position->shape) : 0;
    size_t last = s->is_offset && s->rows ? s->rows - 1 : 0;
    for (size_t i = 0; i < n; i++) {
        int64_t p = evl_tensor_i64(r->position, i);
        if (p < 0 || (uint64_t)p >= s->n_positions || s->n_positions - (size_t)p <= last)
            return evl_fail(call->ctx, EVAL_ERR_SHAPE, "position %lld, and the tables have %zu",
                            (long long)p, s->n_positions);
    }
    return EVAL_OK;
}

static EvalStatus run(const evl_call *call)
{
    const evl_rotary *s = call->state;
    running r = { .s = s,
                  .x = call->in[0]->data,
                  .cos = call->in[s->cos]->data,
                  .sin = call->in[s->sin]->data,
                  .position = s->position < call->n_in ? call->in[s->position] : NULL,
                  .y = call->out[0]->data };
    EvalStatus st = check_positions(call, &r);
    if (st == EVAL_OK)
        evl_each_for(s->samples * s->rows, s->heads * s->size, call->machine->pool, work, &r);
    return st;
}

static EvalStatus prepare(evl_prepare *p)
{
    evl_rotary *s = evl_arena_take(p->arena, sizeof *s);
    p->state = s;
    return s ? evl_rotary_of(p->ctx, &p->use, s) : evl_no_memory(p->ctx);
}

extern const evl_impl TWIN(evl_rotary);
const evl_impl TWIN(evl_rotary) = { .prepare = prepare, .run = run };
