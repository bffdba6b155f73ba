/* BlockedConv by Winograd's F(m x m, 3 x 3): a group of tiles of the input is transformed,
** multiplied by transformed weights, one product of channels for each of (m + 2)^2
** elements, and transformed back, two blocks of output channels at a time. */
#include "kernels/kernels.h"
#include "ops/blocked_conv.h"

enum {
    Z, Y, X,
    VALUES_BYTES = 224 * 1024, /* transformed tiles of a group: in the second cache */
    MOST_TILES = 48,
    LINE = 64, /* bytes of a line of the cache */
    TILES_WANTED = 4,
    MEMORY = 20, /* vector operations in the time that memory takes for a vector */
    MOST_WIDTH = 32, /* 2 * lanes */
    /* F4 loses more than the direct sums: few channels hide it less. Measured over whole
    ** networks by tests/accuracy/test_winograd.py, which holds the bound. */
    F4_CHANNELS = 8
};

typedef struct plan {
    evl_blocked_conv conv;
    evl_winograd shape;
    const real *weights; /* [pair][element][channel, filled up][2 * lanes] */
    const real *bias;
    size_t elements;     /* (m + 2)^2 */
    size_t in_blocks, out_blocks, pairs;
    size_t group, n_groups, n_all; /* tiles in a group; groups, tiles in a sample */
    size_t chunk, n_chunks;        /* pairs that one thread computes */
    size_t *places, *taps;
    size_t step, product_step;     /* from one element of a tile to the next: input, output */
    size_t scratch;                /* elements that a thread uses */
} plan;

static size_t ceil_divide(size_t n, size_t by)
{
    return n / by + (n % by != 0);
}

static size_t tiles_of(const evl_blocked_conv *c, size_t m)
{
    return ceil_divide((size_t)c->window.out[Y], m) * ceil_divide((size_t)c->window.out[X], m);
}

/* Vector operations: products of tiles, six at a time; transforms; weights that come from
** memory. Measured on Zen 3: within a tenth of what a layer takes. */
static real cost(const evl_blocked_conv *c, size_t m)
{
    real in = (real)ceil_divide(c->in_channels, c->lanes) * (real)c->lanes;
    real out = (real)ceil_divide(c->out_channels, 2 * c->lanes) * 2;
    real tiles = (real)tiles_of(c, m), side = (real)(m + 2);
    real products = side * side * tiles * in * out;
    real transforms = side * side * tiles * 6 * (in / (real)c->lanes + out);
    real weights = side * side * in * out;
    return products * (real)1.2 + transforms + weights * MEMORY;
}

static real direct_cost(const evl_blocked_conv *c)
{
    real in = (real)ceil_divide(c->in_channels, c->lanes) * (real)c->lanes;
    real out = (real)ceil_divide(c->out_channels, 2 * c->lanes) * 2;
    real places = (real)evl_stencil_out(&c->window);
    return 9 * in * out * (places + MEMORY);
}

static bool is_3_by_3(const evl_stencil *w)
{
    return w->kernel[Z] == 1 && w->in[Z] == 1 && w->stride[Z] == 1 && w->begin[Z] == 0 &&
           w->end[Z] == 0 && w->kernel[Y] == 3 && w->kernel[X] == 3 && w->stride[Y] == 1 &&
           w->stride[X] == 1 && w->dilation[Y] == 1 && w->dilation[X] == 1;
}

size_t TWIN(evl_winograd_fits)(const evl_machine *machine, const evl_blocked_conv *c)
{
    if (machine->accuracy == EVL_EXACT || c->groups != 1 || c->is_thin || !is_3_by_3(&c->window))
        return 0;
    real direct = direct_cost(c), two = cost(c, 2), four = cost(c, 4);
    bool may_four = machine->accuracy == EVL_FAST || c->in_channels >= F4_CHANNELS;
    if (may_four && four < two && four < direct)
        return 4;
    return two < direct ? 2 : 0;
}

/* The 3 x 3 weights of up to 2 * lanes output channels, for one input channel: w[position][channel]. */
static void gather(const evl_conv_packing *p, const loose_real *w, size_t out, size_t in, real *to)
{
    const evl_blocked_conv *c = p->conv;
    size_t width = 2 * c->lanes;
    for (size_t o = 0; o < width; o++)
        for (size_t k = 0; k < 9; k++)
            to[k * width + o] = out + o < c->out_channels
                                    ? w[((out + o) * c->in_channels + in) * 9 + k] *
                                          (p->scale ? p->scale[out + o] : 1)
                                    : 0;
}

/* [pair][element][channel, filled up][2 * lanes]: what one pair needs lies side by side. */
static void pack(void *block, const evl_tensor *source, const void *arg)
{
    const evl_conv_packing *p = arg;
    const evl_blocked_conv *c = p->conv;
    size_t width = 2 * c->lanes, elements = (p->m + 2) * (p->m + 2);
    size_t step = ceil_divide(c->in_channels, c->lanes) * c->lanes * width;
    real few[9 * MOST_WIDTH], *to = block;
    for (size_t out = 0; out < c->out_channels; out += width, to += elements * step)
        for (size_t in = 0; in < step / width; in++) {
            if (in < c->in_channels)
                gather(p, source->data, out, in, few);
            else
                for (size_t i = 0; i < 9 * width; i++)
                    few[i] = 0;
            p->k->winograd->weights(p->m, few, to + in * width, step);
        }
}

/* --- prepare --- */

static void set_shape(plan *x, size_t m)
{
    const evl_stencil *w = &x->conv.window;
    x->shape = (evl_winograd){ .m = m,
                               .in_height = (size_t)w->in[Y], .in_width = (size_t)w->in[X],
                               .out_height = (size_t)w->out[Y], .out_width = (size_t)w->out[X],
                               .begin_y = (size_t)w->begin[Y], .begin_x = (size_t)w->begin[X],
                               .across = ceil_divide((size_t)w->out[X], m) };
    x->elements = (m + 2) * (m + 2);
    x->in_blocks = ceil_divide(x->conv.in_channels, x->conv.lanes);
    x->out_blocks = ceil_divide(x->conv.out_channels, x->conv.lanes);
    x->pairs = ceil_divide(x->out_blocks, 2);
}

/* n numbers, filled up to an odd number of the cache's lines: elements of a tile, which are used
** together, lie in different sets of it. */
static size_t odd_lines(size_t n)
{
    size_t line = LINE / sizeof(real);
    return (ceil_divide(n, line) | 1) * line;
}

/* Groups of whole tiles of rows whose values fit the cache; when there are few, pairs are shared. */
static void cut(plan *x, size_t rows)
{
    size_t each = x->elements * x->in_blocks * x->conv.lanes * sizeof(real);
    size_t most = VALUES_BYTES / each < 12 ? 12 : VALUES_BYTES / each;
    x->n_all = tiles_of(&x->conv, x->shape.m);
    most = most > MOST_TILES ? MOST_TILES : most;
    x->n_groups = ceil_divide(x->n_all, most);
    x->group = ceil_divide(ceil_divide(x->n_all, x->n_groups), rows) * rows;
    x->group = x->group < x->n_all ? x->group : x->n_all;
    x->n_groups = ceil_divide(x->n_all, x->group);
    size_t all = x->n_groups * x->conv.batch;
    size_t wanted = all < TILES_WANTED ? ceil_divide(TILES_WANTED, all) : 1;
    x->chunk = ceil_divide(x->pairs, wanted < x->pairs ? wanted : x->pairs);
    x->n_chunks = ceil_divide(x->pairs, x->chunk);
    x->step = odd_lines(x->in_blocks * x->group * x->conv.lanes);
    x->product_step = odd_lines(2 * x->group * x->conv.lanes);
    x->scratch = x->elements * (x->step + x->product_step);
}

static EvalStatus set_offsets(evl_prepare *p, plan *x)
{
    size_t lanes = x->conv.lanes;
    x->places = evl_arena_take_many(p->arena, x->group, sizeof *x->places);
    x->taps = evl_arena_take_many(p->arena, x->in_blocks, sizeof *x->taps);
    if (!x->places || !x->taps)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < x->group; i++)
        x->places[i] = i * lanes;
    for (size_t i = 0; i < x->in_blocks; i++)
        x->taps[i] = i * x->group * lanes;
    return EVAL_OK;
}

static EvalStatus run(const evl_call *);

EvalStatus TWIN(evl_winograd_prepare)(evl_prepare *p, const evl_blocked_conv *c, size_t m)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    evl_conv_packing how = TWIN(evl_conv_packing_of)(p, c);
    size_t bytes;
    if (!x)
        return evl_no_memory(p->ctx);
    x->conv = *c;
    set_shape(x, m);
    cut(x, how.k->rows);
    how.m = m;
    if (!evl_size_multiply(x->elements * x->pairs * 2 * c->lanes,
                           x->in_blocks * c->lanes * sizeof(real), &bytes) ||
        !evl_size_multiply(x->scratch * sizeof(real), evl_pool_threads(p->machine->pool),
                           &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    EvalStatus st = set_offsets(p, x);
    if (st == EVAL_OK)
        st = TWIN(evl_blocked_bias)(p, c, &x->bias);
    if (st == EVAL_OK)
        st = evl_conv_block(p, c, m == 2 ? "Winograd 2" : "Winograd 4", bytes, pack, &how,
                            (const void **)&x->weights);
    p->state = x;
    p->run = run;
    p->strategy = m == 2 ? "Winograd 2 x 2" : "Winograd 4 x 4";
    return st;
}

/* --- run --- */

typedef struct running {
    const plan *x;
    const evl_blocked_kernels *k;
    const real *in, *residual;
    real *out, *scratch;
} running;

/* The tiles of one group. */
typedef struct group {
    size_t sample, from, n;
    real *values, *products; /* [element][block][tile][lanes], elements a step apart */
} group;

static void transform(const running *r, const group *g)
{
    const plan *x = r->x;
    size_t lanes = x->conv.lanes, plane = x->shape.in_height * x->shape.in_width * lanes;
    for (size_t b = 0; b < x->in_blocks; b++)
        r->k->winograd->input(&x->shape, g->from, g->n, r->in + (g->sample * x->in_blocks + b) * plane,
                              g->values + b * x->group * lanes, x->step);
}

static void multiply(const running *r, const group *g, size_t pair, size_t n_blocks)
{
    const plan *x = r->x;
    size_t lanes = x->conv.lanes, weights = x->in_blocks * lanes * 2 * lanes;
    evl_blocked_sums s = { .n = g->n, .places = x->places, .n_taps = x->in_blocks, .run = lanes,
                           .taps = x->taps, .n_blocks = n_blocks, .y_block = x->group * lanes };
    for (size_t e = 0; e < x->elements; e++) {
        s.x = g->values + e * x->step;
        s.weights = x->weights + (pair * x->elements + e) * weights;
        s.y = g->products + e * x->product_step;
        r->k->sums(&s);
    }
}

static void give(const running *r, const group *g, size_t block)
{
    const plan *x = r->x;
    const evl_blocked_conv *c = &x->conv;
    size_t lanes = c->lanes, plane = x->shape.out_height * x->shape.out_width * lanes;
    size_t at = (g->sample * x->out_blocks + block) * plane;
    evl_winograd_output o = { x->bias ? x->bias + block * lanes : NULL,
                              r->residual ? r->residual + at : NULL, c->clips,
                              (real)c->least, (real)c->most, r->out + at };
    r->k->winograd->output(&x->shape, g->from, g->n, g->products + block % 2 * x->group * lanes,
                           x->product_step, &o);
}

static void tile(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    size_t chunk = index % x->n_chunks, at = index / x->n_chunks;
    group g = { .sample = at / x->n_groups, .from = at % x->n_groups * x->group,
                .values = r->scratch + lane * x->scratch };
    g.products = g.values + x->elements * x->step;
    g.n = x->n_all - g.from < x->group ? x->n_all - g.from : x->group;
    transform(r, &g);
    for (size_t pair = chunk * x->chunk; pair < (chunk + 1) * x->chunk && pair < x->pairs; pair++) {
        size_t n_blocks = x->out_blocks - 2 * pair > 1 ? 2 : 1;
        multiply(r, &g, pair, n_blocks);
        for (size_t b = 0; b < n_blocks; b++)
            give(r, &g, 2 * pair + b);
    }
}

static EvalStatus run(const evl_call *call)
{
    const plan *x = call->state;
    const evl_tensor *residual = call->n_in > EVL_CONV_RESIDUAL ? call->in[EVL_CONV_RESIDUAL] : NULL;
    running r = { x, TWIN(evl_blocked_of)(call->machine->k, x->conv.lanes), call->in[0]->data,
                  residual ? residual->data : NULL, call->out[0]->data, call->scratch };
    evl_parallel_for(call->machine->pool, x->conv.batch * x->n_groups * x->n_chunks, tile, &r);
    return EVAL_OK;
}
