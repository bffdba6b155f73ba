/* LinearAttention: the rows of a head in turn, its state in the cache. */
#include "base/memory.h"
#include "kernels/kernels.h"
#include "ops/linear_attention.h"
#include <string.h>

typedef struct plan {
    evl_linear_attention s;
    size_t room; /* elements of a lane's scratch: a state, a row of V, decays */
} plan;

typedef struct running {
    const plan *p;
    const evl_loops *loops;
    const real *q, *k, *v, *past, *decay, *beta;
    real *y, *present, *scratch;
} running;

/* y += by * x */
static void add(size_t n, real by, const real *x, real *y)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] += by * x[i];
}

/* Each row of the state times exp of its decay. */
static void decay_state(const running *r, const real *decay, size_t n, real *factors, real *state)
{
    const evl_linear_attention *s = &r->p->s;
    r->loops->unary[EVL_EXP](n, decay, factors, NULL);
    for (size_t d = 0; d < s->size; d++) {
        real by = factors[n == 1 ? 0 : d], *row = state + d * s->size_v;
#pragma omp simd
        for (size_t m = 0; m < s->size_v; m++)
            row[m] *= by;
    }
}

/* What is added: the row of V; or beta times what of it the state does not give yet. */
static void correct(const running *r, const real *k, const real *v, real beta, const real *state,
                    real *written)
{
    const evl_linear_attention *s = &r->p->s;
    memset(written, 0, s->size_v * sizeof(real));
    for (size_t d = 0; d < s->size; d++)
        add(s->size_v, k[d], state + d * s->size_v, written);
    for (size_t m = 0; m < s->size_v; m++)
        written[m] = beta * (v[m] - written[m]);
}

static void read_state(const running *r, const real *q, const real *state, real *y)
{
    const evl_linear_attention *s = &r->p->s;
    memset(y, 0, s->size_v * sizeof(real));
    for (size_t d = 0; d < s->size; d++)
        add(s->size_v, q[d], state + d * s->size_v, y);
    for (size_t m = 0; m < s->size_v; m++)
        y[m] *= (real)s->scale;
}

static void head(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const evl_linear_attention *s = &r->p->s;
    size_t sample = index / s->heads, h = index % s->heads, n = s->size * s->size_v;
    real *room = r->scratch + lane * r->p->room, *written = room + n, *factors = written + s->size_v;
    real *state = r->present ? r->present + index * n : room;
    size_t n_decay = s->decays == s->heads ? 1 : s->size;
    if (n && r->past)
        memcpy(state, r->past + index * n, n * sizeof(real));
    else if (n)
        memset(state, 0, n * sizeof(real));
    for (size_t t = sample * s->rows; t < (sample + 1) * s->rows; t++) {
        const real *k = r->k + (t * s->heads + h) * s->size, *v = r->v + (t * s->heads + h) * s->size_v;
        const real *add_row = v;
        if (r->decay)
            decay_state(r, r->decay + t * s->decays + h * n_decay, n_decay, factors, state);
        if (r->beta) {
            correct(r, k, v, r->beta[t * s->betas + (s->betas == 1 ? 0 : h)], state, written);
            add_row = written;
        }
        for (size_t d = 0; d < s->size; d++)
            add(s->size_v, k[d], add_row, state + d * s->size_v);
        for (size_t g = 0; g < s->group; g++) {
            size_t at = (t * s->heads + h) * s->group + g;
            read_state(r, r->q + at * s->size, state, r->y + at * s->size_v);
        }
    }
}

static const void *data_of(const evl_call *call, size_t input)
{
    return input < call->n_in && call->in[input] ? call->in[input]->data : NULL;
}

static EvalStatus run(const evl_call *call)
{
    const plan *p = call->state;
    running r = { .p = p,
                  .loops = call->machine->k->loops,
                  .q = data_of(call, EVL_LINEAR_Q),
                  .k = data_of(call, EVL_LINEAR_K),
                  .v = data_of(call, EVL_LINEAR_V),
                  .past = data_of(call, EVL_LINEAR_PAST),
                  .decay = data_of(call, EVL_LINEAR_DECAY),
                  .beta = data_of(call, EVL_LINEAR_BETA),
                  .y = call->out[0]->data,
                  .present = call->n_out > 1 && call->out[1] ? call->out[1]->data : NULL,
                  .scratch = call->scratch };
    evl_parallel_for(call->machine->pool, p->s.samples * p->s.heads, head, &r);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    size_t n, bytes;
    if (!x)
        return evl_no_memory(p->ctx);
    p->state = x;
    EvalStatus st = evl_linear_attention_of(p->ctx, &p->use, &x->s);
    if (st != EVAL_OK)
        return st;
    x->room = (x->s.size + 1) * x->s.size_v + x->s.size + 1;
    if (!evl_size_multiply(x->room, evl_pool_threads(p->machine->pool), &n) ||
        !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    p->scratch_bytes = bytes;
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_linear_attention);
const evl_impl TWIN(evl_linear_attention) = { .prepare = prepare, .run = run };
