/* Conv, in the first of these ways that fits:
**
** a plug-in's kernel: what it takes, a few channels of the output at a time;
** depthwise: a channel is convolved with a kernel of its own, straight from a padded copy;
** pointwise: the kernel is one element, so the planes are the matrix B as they lie;
** windows: B's columns are the windows of the input, made panel by panel for each tile, so
** that the whole matrix is never there.
**
** In the last two, weights are the matrix A, packed once when they are constant. */
#include "evallib/plugin.h"
#include "kernels/kernels.h"
#include "ops/conv.h"
#include "ops/operands.h"

typedef struct plan {
    evl_conv conv;
    evl_product product; /* all but addresses of the run */
    evl_product_cut cut;
    const real *rows; /* packed weights, rows_size of them a group; or NULL */
    size_t rows_size;
    size_t *taps;    /* depthwise */
    size_t scratch;  /* elements of one lane */
    size_t per_tile; /* products or channels that a thread takes at once */
} plan;

static EvalStatus take_scratch(evl_prepare *p, const plan *x)
{
    size_t n, bytes;
    if (!evl_size_multiply(x->scratch, evl_pool_threads(p->machine->pool), &n) ||
        !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    p->scratch_bytes = bytes;
    return EVAL_OK;
}

/* So many pieces of work at once that waking a thread is worth it. */
static size_t per_tile(size_t work, size_t pieces)
{
    size_t each = pieces ? work / pieces : 0;
    return each < EVL_PRODUCT_SMALL ? EVL_PRODUCT_SMALL / (each + 1) + 1 : 1;
}

static evl_pool *pool_for(const evl_call *call, size_t work)
{
    return work < EVL_PRODUCT_SMALL ? NULL : call->machine->pool;
}

typedef struct running {
    const plan *x;
    const evl_kernels *k;
    const real *in, *weights, *bias;
    real *out, *scratch;
} running;

static running begin(const evl_call *call)
{
    return (running){ .x = call->state,
                      .k = call->machine->k,
                      .in = call->in[0]->data,
                      .weights = call->in[1]->data,
                      .out = call->out[0]->data,
                      .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
                      .scratch = call->scratch };
}

/* --- by a plug-in's kernel --- */

enum { FOREIGN_CHANNELS = 16 }; /* a tile */

static bool is_foreign(const evl_prepare *p, const evl_conv *c)
{
    return evl_conv_is_foreign(p->machine, c);
}

static EvalStatus prepare_foreign(evl_prepare *p, plan *x)
{
    const evl_conv *c = &x->conv;
    x->cut = p->machine->k->product->cut(c->out_channels, c->out_plane, c->in_channels * c->kernel,
                                         c->batch * c->groups, false);
    p->strategy = p->machine->foreign_conv->name;
    return EVAL_OK;
}

static void foreign_tile(void *arg, size_t index, size_t lane)
{
    const evl_call *call = arg;
    running r = begin(call);
    const evl_conv *c = &r.x->conv;
    EvalConvolution shown = evl_conv_shown(c);
    size_t tiles = (c->out_channels + FOREIGN_CHANNELS - 1) / FOREIGN_CHANNELS;
    size_t image = index / tiles, from = index % tiles * FOREIGN_CHANNELS; /* of a group */
    size_t left = c->out_channels - from, channel = image % c->groups * c->out_channels + from;
    (void)lane;
    call->machine->foreign_conv->PUBLIC(Convolve)(
        &shown, left < FOREIGN_CHANNELS ? left : FOREIGN_CHANNELS, r.in + image * c->in_channels * c->in_plane,
        r.weights + channel * c->in_channels * c->kernel, r.bias ? r.bias + channel : NULL,
        r.out + (image * c->out_channels + from) * c->out_plane);
}

static EvalStatus run_foreign(const evl_call *call)
{
    const plan *x = call->state;
    evl_call copy = *call;
    size_t tiles = (x->conv.out_channels + FOREIGN_CHANNELS - 1) / FOREIGN_CHANNELS;
    evl_parallel_for(pool_for(call, x->cut.work), x->conv.batch * x->conv.groups * tiles,
                     foreign_tile, &copy);
    return EVAL_OK;
}

/* --- depthwise --- */

static bool is_depthwise(const evl_prepare *p, const evl_conv *c)
{
    return c->in_channels == 1 && c->groups > 1 && c->out_plane > 0 &&
           p->machine->k->conv->padded_size(&c->stencil) > 0;
}

static EvalStatus prepare_depthwise(evl_prepare *p, plan *x)
{
    const evl_conv_kernels *k = p->machine->k->conv;
    x->scratch = k->padded_size(&x->conv.stencil);
    x->taps = evl_arena_take_many(p->arena, x->conv.kernel, sizeof *x->taps);
    if (!x->taps)
        return evl_no_memory(p->ctx);
    k->taps(&x->conv.stencil, x->taps);
    /* A fold of the work that a product has: everything is read once. */
    x->cut.work = x->conv.batch * x->conv.groups * x->conv.out_channels * x->conv.out_plane;
    x->cut.work = x->cut.work > SIZE_MAX / x->conv.kernel ? SIZE_MAX : x->cut.work * x->conv.kernel;
    x->per_tile = per_tile(x->cut.work, x->conv.batch * x->conv.groups);
    return take_scratch(p, x);
}

static void depthwise_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    const evl_conv *c = &x->conv;
    real *padded = r->scratch + lane * x->scratch;
    size_t from = index * x->per_tile, to = from + x->per_tile;
    for (size_t i = from; i < to && i < c->batch * c->groups; i++) {
        r->k->conv->pad(&c->stencil, r->in + i * c->in_plane, padded);
        for (size_t j = 0; j < c->out_channels; j++) {
            size_t channel = i % c->groups * c->out_channels + j;
            evl_conv_channel one = { &c->stencil,
                                     x->taps,
                                     padded,
                                     r->weights + channel * c->kernel,
                                     r->bias ? r->bias[channel] : 0,
                                     r->out + (i * c->out_channels + j) * c->out_plane };
            r->k->conv->channel(&one);
        }
    }
}

static EvalStatus run_depthwise(const evl_call *call)
{
    running r = begin(call);
    size_t n = r.x->conv.batch * r.x->conv.groups, each = r.x->per_tile;
    evl_parallel_for(pool_for(call, r.x->cut.work), n / each + (n % each != 0), depthwise_work, &r);
    return EVAL_OK;
}

/* --- products --- */

typedef struct packing {
    const evl_kernels *k;
    const evl_conv *conv;
    size_t rows, rows_size, depth;
} packing;

static void pack(void *block, const evl_tensor *source, const void *arg)
{
    const packing *p = arg;
    size_t group = p->conv->out_channels * p->depth;
    for (size_t g = 0; g < p->conv->groups; g++) {
        evl_gemm_matrix a = { (const real *)source->data + g * group, p->depth, 1 };
        p->k->gemm->pack_rows(p->conv->out_channels, p->depth, a, p->rows, p->rows * p->depth,
                              (real *)block + g * p->rows_size);
    }
}

static EvalStatus pack_weights(evl_prepare *p, plan *x)
{
    const evl_conv *c = &x->conv;
    packing how = { p->machine->k, c, x->cut.rows, x->rows_size, x->product.k };
    size_t n, bytes;
    if (!evl_size_multiply(x->rows_size, c->groups, &n) ||
        !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    const char *kind = evl_prepare_kind(p, "conv rows", c->groups, c->out_channels, x->product.k);
    if (!kind)
        return evl_no_memory(p->ctx);
    const void *block;
    EvalStatus st = evl_prepare_block(p, 1, kind, 0, bytes ? bytes : 1, pack, &how, &block);
    if (st == EVAL_OK)
        x->rows = block;
    return st;
}

static EvalStatus prepare_product(evl_prepare *p, plan *x)
{
    const evl_conv *c = &x->conv;
    const evl_product_kernels *k = p->machine->k->product;
    x->product = (evl_product){ .m = c->out_channels,
                                .n = c->out_plane,
                                .k = c->in_channels * c->kernel,
                                .c_row = c->out_plane,
                                .epilogue.alpha = 1 };
    x->cut = k->cut(x->product.m, x->product.n, x->product.k, c->batch * c->groups, false);
    x->rows_size = k->rows_size(&x->cut, x->product.m, x->product.k);
    x->scratch = x->cut.scratch;
    x->per_tile = per_tile(x->cut.work, c->batch * c->groups);
    EvalStatus st = p->use.in[1]->data ? pack_weights(p, x) : EVAL_OK;
    return st == EVAL_OK ? take_scratch(p, x) : st;
}

static bool is_pointwise(const evl_prepare *p, const evl_conv *c)
{
    (void)p;
    bool is_same = c->kernel == 1 && c->in_plane == c->out_plane;
    for (int d = 0; d < EVL_STENCIL_DIMS; d++)
        is_same = is_same && c->stencil.stride[d] == 1 && c->stencil.begin[d] == 0;
    return is_same;
}

static bool is_any(const evl_prepare *p, const evl_conv *c)
{
    (void)p;
    (void)c;
    return true;
}

static void product_tile(const running *r, size_t index, size_t tile, size_t lane)
{
    const plan *x = r->x;
    const evl_conv *c = &x->conv;
    size_t group = index % c->groups;
    evl_product p = x->product;
    const real *in = r->in + index * c->in_channels * c->in_plane;
    evl_conv_input input = { &c->stencil, in };
    p.rows = x->rows ? x->rows + group * x->rows_size : NULL;
    p.a = (evl_gemm_matrix){ r->weights + group * p.m * p.k, p.k, 1 };
    p.b = (evl_gemm_matrix){ in, c->in_plane, 1 };
    p.fill_arg = &input;
    p.c = r->out + index * p.m * p.n;
    if (r->bias)
        p.epilogue.add[0] = (evl_addend){ r->bias + group * p.m, 1, 0 };
    r->k->product->tile(&p, &x->cut, tile, r->scratch + lane * x->scratch);
}

static void product_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    size_t each = r->x->cut.n_down * r->x->cut.n_across;
    size_t n = each * r->x->conv.batch * r->x->conv.groups;
    size_t from = index * r->x->per_tile, to = from + r->x->per_tile;
    for (size_t i = from; i < to && i < n; i++)
        product_tile(r, i / each, i % each, lane);
}

static EvalStatus run_product(const evl_call *call)
{
    running r = begin(call);
    const plan *x = r.x;
    size_t n = x->cut.n_down * x->cut.n_across * x->conv.batch * x->conv.groups;
    evl_parallel_for(pool_for(call, x->cut.work), n / x->per_tile + (n % x->per_tile != 0),
                     product_work, &r);
    return EVAL_OK;
}

static EvalStatus prepare_windows(evl_prepare *p, plan *x)
{
    EvalStatus st = prepare_product(p, x);
    x->product.fill = p->machine->k->conv->windows;
    return st;
}

/* --- the choice --- */

typedef struct way {
    const char *name;
    bool (*fits)(const evl_prepare *, const evl_conv *);
    EvalStatus (*prepare)(evl_prepare *, plan *);
    evl_run *run;
} way;

static const way ways[] = {
    /* best first */
    { "foreign", is_foreign, prepare_foreign, run_foreign },
    { "depthwise", is_depthwise, prepare_depthwise, run_depthwise },
    { "pointwise", is_pointwise, prepare_product, run_product },
    { "windows", is_any, prepare_windows, run_product },
};

static EvalStatus prepare(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    EvalStatus st = evl_conv_of(p->ctx, &p->use, &x->conv);
    if (st != EVAL_OK)
        return st;
    const way *chosen = ways;
    while (!chosen->fits(p, &x->conv))
        chosen++;
    p->state = x;
    p->run = chosen->run;
    p->strategy = chosen->name;
    return chosen->prepare(p, x);
}

extern const evl_impl TWIN(evl_conv);
const evl_impl TWIN(evl_conv) = { .prepare = prepare, .run = run_product };
