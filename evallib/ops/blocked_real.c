/* Block, Unblock and pooling over blocked channels. */
#include "kernels/kernels.h"
#include "ops/blocked.h"
#include "real.h"

enum { WORTH_WAKING = 1 << 15 /* elements */ };

/* --- to blocks and back --- */

/* Channels and places of the plain tensor. */
typedef struct shape {
    size_t batch, channels, places, blocks, lanes;
} shape;

static shape shape_of(const evl_tensor *plain, const evl_tensor *blocked)
{
    const evl_shape *s = &plain->shape;
    return (shape){ (size_t)s->dim[0], (size_t)s->dim[1], evl_shape_count_part(s, 2, s->rank),
                    (size_t)blocked->shape.dim[1],
                    (size_t)blocked->shape.dim[blocked->shape.rank - 1] };
}

typedef struct turning {
    shape s;
    const evl_blocked_kernels *k;
    const real *x;
    real *y;
} turning;

/* Channels of a block, and where they begin in the plain tensor. */
static size_t channels_of(const shape *s, size_t index, size_t *first)
{
    size_t channel = index % s->blocks * s->lanes;
    *first = (index / s->blocks * s->channels + channel) * s->places;
    return s->channels - channel < s->lanes ? s->channels - channel : s->lanes;
}

static void block_tile(void *arg, size_t index, size_t lane)
{
    const turning *t = arg;
    size_t first, n = channels_of(&t->s, index, &first), places = t->s.places;
    (void)lane;
    t->k->block(n, places, t->x + first, places, t->y + index * places * t->s.lanes);
}

static void unblock_tile(void *arg, size_t index, size_t lane)
{
    const turning *t = arg;
    size_t first, n = channels_of(&t->s, index, &first), places = t->s.places;
    (void)lane;
    t->k->unblock(n, places, t->x + index * places * t->s.lanes, t->y + first, places);
}

static EvalStatus turn(const evl_call *call, const shape *s, evl_tile_work *work)
{
    turning t = { *s, TWIN(evl_blocked_of)(call->machine->k, s->lanes), call->in[0]->data,
                  call->out[0]->data };
    size_t n = s->batch * s->blocks;
    evl_pool *pool = n * s->places * s->lanes < WORTH_WAKING ? NULL : call->machine->pool;
    evl_parallel_for(pool, n, work, &t);
    return EVAL_OK;
}

static EvalStatus run_block(const evl_call *call)
{
    shape s = shape_of(call->in[0], call->out[0]);
    return turn(call, &s, block_tile);
}

static EvalStatus run_unblock(const evl_call *call)
{
    shape s = shape_of(call->out[0], call->in[0]);
    return turn(call, &s, unblock_tile);
}

const evl_impl TWIN(evl_block) = { NULL, run_block };
const evl_impl TWIN(evl_unblock) = { NULL, run_unblock };

/* --- pooling --- */

enum { PLANE_BYTES = 24 * 1024 };

typedef struct plan {
    evl_bands bands;
    size_t n_planes, in_plane, out_plane; /* elements of one block's plane */
    bool is_max;
    real *factors; /* of a mean: 1 / what counts, for each output */
} plan;

static EvalStatus set_factors(evl_prepare *p, plan *x, const evl_stencil *w)
{
    bool counts_padding = evl_node_int(p->use.node, "count_include_pad", 0) != 0;
    real *to = x->factors = evl_arena_take_many(p->arena, evl_stencil_out(w), sizeof *to);
    if (!to)
        return evl_no_memory(p->ctx);
    for (int64_t z = 0; z < w->out[0]; z++)
        for (int64_t y = 0; y < w->out[1]; y++) {
            int64_t outer = evl_stencil_cells(w, 0, z, counts_padding) *
                            evl_stencil_cells(w, 1, y, counts_padding);
            for (int64_t column = 0; column < w->out[2]; column++) {
                int64_t n = outer * evl_stencil_cells(w, 2, column, counts_padding);
                *to++ = n > 0 ? 1 / (real)n : 1; /* a window of padding alone is 0 */
            }
        }
    return EVAL_OK;
}

static EvalStatus prepare_pool(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    const evl_shape *in = &p->use.in[0]->shape;
    size_t lanes = (size_t)in->dim[in->rank - 1];
    evl_stencil w;
    if (!x)
        return evl_no_memory(p->ctx);
    EvalStatus st = evl_blocked_pool_of(p->ctx, &p->use, &w);
    if (st == EVAL_OK)
        st = evl_bands_of(p->ctx, p->arena, &w, lanes, 1, sizeof(real), PLANE_BYTES, &x->bands);
    x->is_max = p->use.node->op == &evl_op_blocked_max_pool;
    if (st == EVAL_OK && !x->is_max)
        st = set_factors(p, x, &w);
    if (st != EVAL_OK)
        return st;
    x->n_planes = (size_t)in->dim[0] * (size_t)in->dim[1];
    x->in_plane = evl_stencil_in(&w) * lanes;
    x->out_plane = evl_stencil_out(&w) * lanes;
    if (!evl_size_multiply(x->bands.copy * sizeof(real), evl_pool_threads(p->machine->pool),
                           &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    p->state = x;
    return EVAL_OK;
}

static void pool_tile(void *arg, size_t index, size_t lane)
{
    static const real nothing = -INFINITY;
    const evl_call *call = arg;
    const plan *x = call->state;
    const size_t lanes = x->bands.unit, plane = index / x->bands.n;
    const evl_blocked_kernels *k = TWIN(evl_blocked_of)(call->machine->k, lanes);
    evl_band band = evl_band_at(&x->bands, index % x->bands.n);
    real *copy = (real *)call->scratch + lane * x->bands.copy;
    const real *from = (const real *)call->in[0]->data + plane * x->in_plane;
    evl_blocked_window s = { .n = band.n, .places = x->bands.places, .taps = x->bands.taps,
                             .n_taps = x->bands.n_taps };
    s.x = evl_band_input(&x->bands, &band, from, copy, x->is_max ? &nothing : NULL);
    s.y = (real *)call->out[0]->data + plane * x->out_plane + band.first * lanes;
    if (x->is_max) {
        k->windows->max(&s);
        return;
    }
    k->windows->sum(&s);
    for (size_t i = 0; i < band.n; i++)
        for (size_t c = 0; c < lanes; c++)
            s.y[i * lanes + c] *= x->factors[band.first + i];
}

static EvalStatus run_pool(const evl_call *call)
{
    const plan *x = call->state;
    evl_call own = *call;
    evl_pool *pool = x->n_planes * x->in_plane < WORTH_WAKING ? NULL : call->machine->pool;
    evl_parallel_for(pool, x->n_planes * x->bands.n, pool_tile, &own);
    return EVAL_OK;
}

const evl_impl TWIN(evl_blocked_pool) = { prepare_pool, run_pool };
