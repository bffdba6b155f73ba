/* BlockedConv: Winograd's way where it is faster and allowed (ops/winograd_real.c), else
**
** depthwise: every channel has a kernel of its own, or groups lie in one block: then each sees its
** group's first channels, then its second ones, and so on, in copies where they are spread so;
** direct: sums over the taps of each window, two blocks of output channels at a time.
**
** Both take bands of rows. A band's input stays in the second cache while all its output
** channels are computed. */
#include "kernels/kernels.h"
#include "ops/blocked.h"
#include "ops/blocked_conv.h"

enum {
    BAND_BYTES = 192 * 1024,
    CHANNEL_BYTES = 24 * 1024, /* of one block, which nothing else uses again */
    TILES_WANTED = 8,
    MOST_LANES = 16,
    SMALL = EVL_PRODUCT_SMALL
};

typedef struct plan {
    evl_blocked_conv conv;
    evl_bands bands;
    const real *weights, *bias; /* bias: all blocks, filled up; NULL: none */
    size_t in_blocks, out_blocks; /* of a group; planes when x is not blocked */
    size_t n_chunks, chunk;     /* pairs of output blocks that one tile computes */
    size_t n_tiles, work;
    const size_t *taps;         /* depthwise: [channel of a group][kernel position] */
    size_t spread;              /* elements of one copy for groups; 0: none */
} plan;

static size_t ceil_divide(size_t n, size_t by)
{
    return n / by + (n % by != 0);
}

/* --- what the strategies share --- */

EvalStatus TWIN(evl_blocked_bias)(evl_prepare *p, const evl_blocked_conv *c, const real **bias)
{
    const evl_tensor *from = evl_use_in(&p->use, EVL_CONV_BIAS);
    size_t blocks = ceil_divide(c->out_channels, 2 * c->lanes), each = 2 * blocks * c->lanes;
    *bias = NULL;
    if (!from)
        return EVAL_OK;
    real *to = evl_arena_take_many(p->arena, each * c->groups, sizeof *to);
    const real *x = from->data;
    if (!to)
        return evl_no_memory(p->ctx);
    for (size_t g = 0; g < c->groups; g++)
        for (size_t i = 0; i < c->out_channels; i++)
            to[g * each + i] = x[g * c->out_channels + i];
    *bias = to;
    return EVAL_OK;
}

evl_conv_packing TWIN(evl_conv_packing_of)(const evl_prepare *p, const evl_blocked_conv *c)
{
    const evl_tensor *scale = evl_use_in(&p->use, EVL_CONV_SCALE);
    return (evl_conv_packing){ c, scale ? scale->data : NULL,
                               TWIN(evl_blocked_of)(p->machine->k, c->lanes), 0 };
}

/* --- direct --- */

/* Numbers at a place that are channels: of one block, what fills it up is left out. */
static size_t channels_at(const evl_blocked_conv *c)
{
    return c->is_thin ? 1 : c->in_channels < c->lanes ? c->in_channels : c->lanes;
}

static size_t weights_size(const plan *x)
{
    size_t n, pairs = ceil_divide(x->out_blocks, 2);
    if (!evl_size_multiply(x->bands.n_taps * channels_at(&x->conv), 2 * x->conv.lanes * pairs, &n) ||
        !evl_size_multiply(n, x->conv.groups * sizeof(real), &n))
        return 0;
    return n;
}

/* Two blocks of output channels from `first` on, of group g, for one place of the kernel and
** of the input: rows of w that lie `row` apart. */
typedef struct column_rows {
    const loose_real *w;
    size_t row, n;        /* channels that are there */
    const real *scale;    /* NULL: 1 */
} column_rows;

static void pack_row(const column_rows *c, size_t at, size_t width, real *to)
{
    for (size_t out = 0; out < c->n; out++)
        to[out] = c->w[out * c->row + at] * (c->scale ? c->scale[out] : 1);
    for (size_t out = c->n; out < width; out++)
        to[out] = 0;
}

static void zero(size_t n, real *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = 0;
}

static real *pack_pair(const evl_conv_packing *p, const column_rows *from, real *to)
{
    const evl_blocked_conv *c = p->conv;
    size_t run = channels_at(c), width = 2 * c->lanes;
    size_t kernel = evl_stencil_kernel(&c->window);
    for (size_t first = 0; first < c->in_channels; first += run)
        for (size_t k = 0; k < kernel; k++)
            for (size_t in = first; in < first + run; in++, to += width)
                if (in < c->in_channels)
                    pack_row(from, in * kernel + k, width, to);
                else
                    zero(width, to);
    return to;
}

/* [group][pair][plane][kernel position][channel of a place][2 * lanes] */
static void pack(void *block, const evl_tensor *source, const void *arg)
{
    const evl_conv_packing *p = arg;
    const evl_blocked_conv *c = p->conv;
    size_t row = c->in_channels * evl_stencil_kernel(&c->window);
    real *to = block;
    for (size_t g = 0; g < c->groups; g++)
        for (size_t out = 0; out < c->out_channels; out += 2 * c->lanes) {
            size_t first = g * c->out_channels + out, left = c->out_channels - out;
            column_rows from = { (const loose_real *)source->data + first * row, row,
                                left < 2 * c->lanes ? left : 2 * c->lanes,
                                p->scale ? p->scale + first : NULL };
            to = pack_pair(p, &from, to);
        }
}

/* Tiles for as many threads as may come, while each is worth waking one for. */
static void cut(plan *x)
{
    size_t pairs = ceil_divide(x->out_blocks, 2), bands = x->conv.batch * x->conv.groups * x->bands.n;
    size_t wanted = bands < TILES_WANTED ? ceil_divide(TILES_WANTED, bands) : 1;
    while (wanted > 1 && x->work / (bands * wanted) < SMALL / 2)
        wanted--;
    x->chunk = ceil_divide(pairs, wanted < pairs ? wanted : pairs);
    x->n_chunks = ceil_divide(pairs, x->chunk);
    x->n_tiles = bands * x->n_chunks;
}

static EvalStatus make_bands(evl_prepare *p, plan *x, size_t planes, size_t budget)
{
    const evl_blocked_conv *c = &x->conv;
    size_t lanes = evl_pool_threads(p->machine->pool);
    EvalStatus st = evl_bands_of(p->ctx, p->arena, &c->window, c->is_thin ? 1 : c->lanes, planes,
                                 sizeof(real), budget, &x->bands);
    if (st == EVAL_OK &&
        !evl_size_multiply(x->bands.copy * sizeof(real), lanes, &p->scratch_bytes))
        st = evl_no_memory(p->ctx);
    return st;
}

static EvalStatus prepare_direct(evl_prepare *p, plan *x)
{
    const evl_blocked_conv *c = &x->conv;
    evl_conv_packing how = TWIN(evl_conv_packing_of)(p, c);
    EvalStatus st = make_bands(p, x, x->in_blocks, BAND_BYTES);
    size_t bytes = st == EVAL_OK ? weights_size(x) : 1;
    if (bytes == 0)
        return evl_no_memory(p->ctx);
    if (st == EVAL_OK)
        st = evl_conv_block(p, c, c->is_thin ? "thin" : "direct", bytes, pack, &how,
                            (const void **)&x->weights);
    if (st == EVAL_OK)
        cut(x);
    return st;
}

typedef struct running {
    const plan *x;
    const evl_call *call;
    const evl_blocked_kernels *k;
} running;

static const real *data_of(const evl_call *call, size_t input)
{
    return input < call->n_in && call->in[input] ? call->in[input]->data : NULL;
}

/* Where sample n's group g begins in x. */
static const real *input_of(const running *r, size_t n, size_t g)
{
    const plan *x = r->x;
    size_t planes = n * x->conv.groups * x->in_blocks + g * x->in_blocks;
    return (const real *)r->call->in[0]->data +
           planes * evl_stencil_in(&x->conv.window) * x->bands.unit;
}

static void direct_tile(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    const evl_blocked_conv *c = &x->conv;
    size_t chunk = index % x->n_chunks, band_index = index / x->n_chunks % x->bands.n;
    size_t sample = index / x->n_chunks / x->bands.n, plane = evl_stencil_out(&c->window) * c->lanes;
    evl_band band = evl_band_at(&x->bands, band_index);
    real *copy = (real *)r->call->scratch + lane * x->bands.copy;
    const real *residual = data_of(r->call, EVL_CONV_RESIDUAL);
    size_t group = sample % c->groups, pairs = ceil_divide(x->out_blocks, 2);
    evl_blocked_sums s = { .n = band.n, .places = x->bands.places, .n_taps = x->bands.n_taps,
                           .run = channels_at(c), .taps = x->bands.taps, .y_block = plane,
                           .clips = c->clips, .least = (real)c->least, .most = (real)c->most };
    s.x = evl_band_input(&x->bands, &band, input_of(r, sample / c->groups, group), copy, NULL);
    for (size_t i = chunk * x->chunk; i < (chunk + 1) * x->chunk && i < pairs; i++) {
        size_t at = (sample * x->out_blocks + 2 * i) * plane + band.first * c->lanes;
        s.n_blocks = x->out_blocks - 2 * i > 1 ? 2 : 1;
        s.weights = x->weights + (group * pairs + i) * s.n_taps * s.run * 2 * c->lanes;
        s.bias = x->bias ? x->bias + (group * pairs + i) * 2 * c->lanes : NULL;
        s.residual = residual ? residual + at : NULL;
        s.y = (real *)r->call->out[0]->data + at;
        r->k->sums(&s);
    }
}

/* --- depthwise --- */

/* [block][channel of a group][kernel position][lanes] */
static void pack_depthwise(void *block, const evl_tensor *source, const void *arg)
{
    const evl_conv_packing *p = arg;
    const evl_blocked_conv *c = p->conv;
    const loose_real *w = source->data;
    size_t kernel = evl_stencil_kernel(&c->window) * c->in_channels, n = c->groups * c->out_channels;
    real *to = block;
    for (size_t channel = 0; channel < n; channel += c->lanes)
        for (size_t k = 0; k < kernel; k++)
            for (size_t i = channel; i < channel + c->lanes; i++)
                *to++ = i < n ? w[i * kernel + k] * (p->scale ? p->scale[i] : 1) : 0;
}

static EvalStatus set_spread(evl_prepare *p, plan *x)
{
    const evl_bands *b = &x->bands;
    size_t n = x->conv.in_channels, lanes = evl_pool_threads(p->machine->pool), elements;
    x->taps = b->taps;
    if (n == 1 && x->conv.out_channels == 1)
        return EVAL_OK;
    x->spread = b->places[b->rows * (size_t)b->window.out[EVL_STENCIL_DIMS - 1] - 1] + b->taps[b->n_taps - 1] +
                x->conv.lanes;
    size_t *taps = evl_arena_take_many(p->arena, b->n_taps * n, sizeof *taps);
    if (!taps || !evl_size_multiply(x->spread, n, &elements) || !evl_size_add(elements, b->copy, &elements) ||
        !evl_size_multiply(elements, lanes * sizeof(real), &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < b->n_taps * n; i++)
        taps[i] = i / b->n_taps * x->spread + b->taps[i % b->n_taps];
    x->taps = taps;
    return EVAL_OK;
}

static EvalStatus prepare_depthwise(evl_prepare *p, plan *x)
{
    evl_blocked_conv *c = &x->conv;
    evl_conv_packing how = TWIN(evl_conv_packing_of)(p, c);
    size_t bytes;
    x->in_blocks = ceil_divide(c->groups * c->in_channels, c->lanes);
    x->out_blocks = ceil_divide(c->groups * c->out_channels, c->lanes);
    x->n_tiles = c->batch * x->out_blocks;
    EvalStatus st = make_bands(p, x, 1, CHANNEL_BYTES / c->in_channels);
    if (st == EVAL_OK)
        st = set_spread(p, x);
    x->n_tiles *= x->bands.n;
    if (st == EVAL_OK && !evl_size_multiply(x->out_blocks * c->lanes, x->bands.n_taps * c->in_channels * sizeof(real),
                                            &bytes))
        st = evl_no_memory(p->ctx);
    if (st == EVAL_OK)
        st = evl_conv_block(p, c, "depthwise", bytes, pack_depthwise, &how,
                            (const void **)&x->weights);
    return st;
}

/* What the lanes of an output's block see of x: one copy for each channel of a group, as far as the
** last of n windows. */
static const real *spread(const running *r, size_t block, size_t n, const real *from, real *copies)
{
    const plan *x = r->x;
    const evl_blocked_conv *c = &x->conv;
    size_t which[MOST_LANES], places = (x->bands.places[n - 1] + x->bands.taps[x->bands.n_taps - 1]) / c->lanes + 1;
    for (size_t j = 0; x->spread && j < c->in_channels; j++) {
        for (size_t i = 0; i < c->lanes; i++)
            which[i] = ((block * c->lanes + i) / c->out_channels * c->in_channels + j) % c->lanes;
        r->k->windows->spread(places, from, which, copies + j * x->spread);
    }
    return x->spread ? copies : from;
}

static void depthwise_tile(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    const evl_blocked_conv *c = &x->conv;
    size_t plane = index / x->bands.n, block = plane % x->out_blocks;
    size_t in = evl_stencil_in(&c->window) * c->lanes, out = evl_stencil_out(&c->window) * c->lanes;
    evl_band band = evl_band_at(&x->bands, index % x->bands.n);
    size_t from_plane = plane / x->out_blocks * x->in_blocks + block * c->in_channels / c->out_channels;
    real *copy = (real *)r->call->scratch + lane * (x->bands.copy + c->in_channels * x->spread);
    const real *from = (const real *)r->call->in[0]->data + from_plane * in;
    evl_blocked_window s = { .n = band.n, .places = x->bands.places, .taps = x->taps,
                             .n_taps = x->bands.n_taps * c->in_channels, .clips = c->clips,
                             .least = (real)c->least, .most = (real)c->most };
    s.x = spread(r, block, band.n, evl_band_input(&x->bands, &band, from, copy, NULL), copy + x->bands.copy);
    s.weights = x->weights + block * s.n_taps * c->lanes;
    s.bias = x->bias ? x->bias + block * c->lanes : NULL;
    s.y = (real *)r->call->out[0]->data + plane * out + band.first * c->lanes;
    r->k->windows->depthwise(&s);
}

/* --- the operator --- */

static EvalStatus run_tiles(const evl_call *call, evl_tile_work *work)
{
    const plan *x = call->state;
    running r = { x, call, TWIN(evl_blocked_of)(call->machine->k, x->conv.lanes) };
    evl_parallel_for(x->work < SMALL ? NULL : call->machine->pool, x->n_tiles, work, &r);
    return EVAL_OK;
}

static EvalStatus run_direct(const evl_call *call)
{
    return run_tiles(call, direct_tile);
}

static EvalStatus run_depthwise(const evl_call *call)
{
    return run_tiles(call, depthwise_tile);
}

static EvalStatus prepare(evl_prepare *p)
{
    evl_blocked_conv c;
    EvalStatus st = evl_blocked_conv_of(p->ctx, &p->use, &c);
    if (st != EVAL_OK)
        return st;
    size_t m = TWIN(evl_winograd_fits)(p->machine, &c);
    if (m)
        return TWIN(evl_winograd_prepare)(p, &c, m);
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    bool is_depthwise = c.groups > 1 && c.in_channels < c.lanes;
    x->conv = c;
    x->in_blocks = ceil_divide(c.in_channels, c.is_thin ? 1 : c.lanes);
    x->out_blocks = ceil_divide(c.out_channels, c.lanes);
    x->work = evl_shape_count(&p->out[0]->shape);
    size_t each = c.in_channels * evl_stencil_kernel(&c.window);
    x->work = x->work > SIZE_MAX / each ? SIZE_MAX : x->work * each;
    p->state = x;
    p->run = is_depthwise ? run_depthwise : run_direct;
    p->strategy = is_depthwise ? "depthwise" : c.is_thin ? "thin" : "direct";
    if (is_depthwise) /* one group of all channels, as far as bias and blocks go */
        c = (evl_blocked_conv){ .groups = 1, .out_channels = c.groups * c.out_channels, .lanes = c.lanes };
    st = TWIN(evl_blocked_bias)(p, &c, &x->bias);
    if (st == EVAL_OK)
        st = is_depthwise ? prepare_depthwise(p, x) : prepare_direct(p, x);
    return st;
}

const evl_impl TWIN(evl_blocked_conv) = { prepare, NULL };
