/* CausalConvWithState: a line of each channel, what came before in front of it. */
#include "base/memory.h"
#include "kernels/kernels.h"
#include "ir/op.h"
#include <string.h>

typedef struct plan {
    size_t lines, channels, n, k, room; /* room: elements of a lane's scratch */
    bool is_silu;
} plan;

typedef struct running {
    const plan *p;
    const evl_loops *loops;
    const real *x, *w, *bias, *past;
    real *y, *kept, *scratch;
} running;

static void line(void *arg, size_t i, size_t lane)
{
    const running *r = arg;
    const plan *p = r->p;
    size_t before = p->k - 1, channel = i % p->channels;
    const real *w = r->w + channel * p->k;
    real *all = r->scratch + lane * p->room, *y = r->y + i * p->n, one = 1;
    for (size_t j = 0; j < before; j++)
        all[j] = r->past ? r->past[i * before + j] : 0;
    memcpy(all + before, r->x + i * p->n, p->n * sizeof(real));
    for (size_t t = 0; t < p->n; t++)
        y[t] = r->bias ? r->bias[channel] : 0;
    for (size_t j = 0; j < p->k; j++)
#pragma omp simd
        for (size_t t = 0; t < p->n; t++)
            y[t] += w[j] * all[t + j];
    if (p->is_silu)
        r->loops->unary[EVL_SWISH](p->n, y, y, &(const evl_number){ (evl_number)one });
    if (r->kept && before)
        memcpy(r->kept + i * before, all + p->n, before * sizeof(real));
}

static EvalStatus run(const evl_call *call)
{
    const plan *p = call->state;
    running r = { .p = p, .loops = call->machine->k->loops, .x = call->in[0]->data,
                  .w = call->in[1]->data, .y = call->out[0]->data, .scratch = call->scratch };
    r.bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL;
    r.past = call->n_in > 3 && call->in[3] ? call->in[3]->data : NULL;
    r.kept = call->n_out > 1 && call->out[1] ? call->out[1]->data : NULL;
    evl_parallel_for(call->machine->pool, p->lines, line, &r);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_shape *x = &p->use.in[0]->shape;
    const char *activation = evl_node_text(p->use.node, "activation", "none");
    plan *s = evl_arena_take(p->arena, sizeof *s);
    size_t n, bytes;
    if (!s)
        return evl_no_memory(p->ctx);
    s->is_silu = strcmp(activation, "silu") == 0 || strcmp(activation, "swish") == 0;
    if (!s->is_silu && strcmp(activation, "none") != 0)
        return evl_fail(p->ctx, EVAL_ERR_UNSUPPORTED,
                        "activation is '%.40s', expected none, silu or swish", activation);
    s->channels = (size_t)x->dim[1];
    s->lines = (size_t)x->dim[0] * s->channels;
    s->n = (size_t)x->dim[2];
    s->k = (size_t)p->use.in[1]->shape.dim[2];
    s->room = s->n + s->k;
    p->state = s;
    if (!evl_size_multiply(s->room, evl_pool_threads(p->machine->pool), &n) ||
        !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    p->scratch_bytes = bytes;
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_causal_conv);
const evl_impl TWIN(evl_causal_conv) = { .prepare = prepare, .run = run };
