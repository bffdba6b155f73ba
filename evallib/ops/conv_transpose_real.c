/* ConvTranspose: a product gives every input element's share in every output it reaches,
** the shares are added up plane by plane. Some output channels at a time, so that the
** shares stay small. */
#include "kernels/kernels.h"
#include "ops/conv.h"
#include "ops/operands.h"

enum {
    ROWS_WANTED = 32,  /* of a product: enough to read its B for */
    PANELS_AT_ONCE = 16 /* that a thread packs */
};

typedef struct plan {
    evl_conv conv;
    evl_product product; /* of one piece; all but addresses of the run */
    evl_product_cut cut;
    const real *rows; /* packed weights, rows_size of them a piece; or NULL */
    size_t rows_size;
    size_t channels, pieces; /* output channels of a piece, pieces of a group */
    size_t columns, n_packs; /* of the input that are packed at once; how often, for an image */
    size_t panels, shares;   /* elements: the packed input of an image, what a lane needs beside */
} plan;

static size_t divisor(size_t n, size_t most)
{
    size_t d = n < most ? n : most;
    while (d > 1 && n % d != 0)
        d--;
    return d ? d : 1;
}

/* W^T of one piece of one group. */
static evl_gemm_matrix weights_of(const plan *x, const real *weights, size_t group, size_t piece)
{
    const evl_conv *c = &x->conv;
    size_t all = c->out_channels * c->kernel;
    return (evl_gemm_matrix){ weights + group * c->in_channels * all + piece * x->product.m, 1,
                              all };
}

typedef struct packing {
    const evl_kernels *k;
    const plan *x;
} packing;

static void pack(void *block, const evl_tensor *source, const void *arg)
{
    const packing *p = arg;
    const plan *x = p->x;
    for (size_t i = 0; i < x->conv.groups * x->pieces; i++)
        p->k->gemm->pack_rows(
            x->product.m, x->product.k, weights_of(x, source->data, i / x->pieces, i % x->pieces),
            x->cut.rows, x->cut.rows * x->product.k, (real *)block + i * x->rows_size);
}

static EvalStatus pack_weights(evl_prepare *p, plan *x)
{
    packing how = { p->machine->k, x };
    size_t n, bytes;
    if (!evl_size_multiply(x->rows_size, x->conv.groups * x->pieces, &n) ||
        !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    const char *kind =
        evl_prepare_kind(p, "transposed", x->conv.groups, x->conv.out_channels, x->conv.kernel);
    if (!kind)
        return evl_no_memory(p->ctx);
    const void *block;
    EvalStatus st =
        evl_prepare_block(p, 1, kind, x->conv.in_channels, bytes ? bytes : 1, pack, &how, &block);
    if (st == EVAL_OK)
        x->rows = block;
    return st;
}

/* All panels, then the lanes' shares. */
static EvalStatus take_scratch(evl_prepare *p, plan *x, const evl_kernels *k)
{
    size_t all, n, bytes;
    x->columns = PANELS_AT_ONCE * k->gemm->columns;
    x->n_packs = x->product.n / x->columns + (x->product.n % x->columns != 0);
    x->panels = k->product->panels_size(x->product.k, x->product.n);
    if (!evl_size_multiply(x->product.m, x->product.n, &x->shares) ||
        !evl_size_multiply(x->panels, x->conv.batch * x->conv.groups, &all) ||
        !evl_size_multiply(x->shares, evl_pool_threads(p->machine->pool), &n) ||
        !evl_size_add(n, all, &n) || !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    p->scratch_bytes = bytes;
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    EvalStatus st = evl_conv_transpose_of(p->ctx, &p->use, &x->conv);
    if (st != EVAL_OK)
        return st;
    const evl_conv *c = &x->conv;
    const evl_product_kernels *k = p->machine->k->product;
    x->channels = divisor(c->out_channels, c->kernel ? ROWS_WANTED / c->kernel + 1 : 1);
    x->pieces = c->out_channels / x->channels;
    x->product = (evl_product){ .m = x->channels * c->kernel,
                                .n = c->in_plane,
                                .k = c->in_channels,
                                .c_row = c->in_plane,
                                .epilogue.alpha = 1 };
    x->cut =
        k->cut(x->product.m, x->product.n, x->product.k, x->pieces * c->groups * c->batch, true);
    x->rows_size = k->rows_size(&x->cut, x->product.m, x->product.k);
    p->state = x;
    p->strategy = "product and scatter";
    st = p->use.in[1]->data ? pack_weights(p, x) : EVAL_OK;
    return st == EVAL_OK ? take_scratch(p, x, p->machine->k) : st;
}

typedef struct running {
    const plan *x;
    const evl_kernels *k;
    const real *in, *weights, *bias;
    real *out, *panels, *shares;
} running;

static void pack_input(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    const evl_product *p = &x->product;
    size_t image = index / x->n_packs, at = index % x->n_packs * x->columns, left = p->n - at;
    evl_gemm_matrix b = { r->in + image * p->k * p->n + at, p->n, 1 };
    (void)lane;
    r->k->gemm->pack_panels(p->k, left < x->columns ? left : x->columns, b, p->k * r->k->gemm->columns,
                            r->panels + image * x->panels + at * p->k);
}

static void make_shares(const running *r, size_t image, size_t piece, real *shares)
{
    const plan *x = r->x;
    size_t group = image % x->conv.groups;
    evl_product p = x->product;
    p.rows = x->rows ? x->rows + (group * x->pieces + piece) * x->rows_size : NULL;
    p.a = weights_of(x, r->weights, group, piece);
    p.panels = r->panels + image * x->panels;
    p.c = shares;
    for (size_t tile = 0; tile < x->cut.n_down * x->cut.n_across; tile++)
        r->k->product->tile(&p, &x->cut, tile, NULL);
}

static void work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *x = r->x;
    const evl_conv *c = &x->conv;
    real *shares = r->shares + lane * x->shares;
    size_t image = index / x->pieces, piece = index % x->pieces;
    make_shares(r, image, piece, shares);
    for (size_t j = 0; j < x->channels; j++) {
        size_t channel = piece * x->channels + j;
        real *y = r->out + (image * c->out_channels + channel) * c->out_plane;
        real bias = r->bias ? r->bias[image % c->groups * c->out_channels + channel] : 0;
        r->k->conv->scatter(&c->stencil, shares + j * c->kernel * c->in_plane, bias, y);
    }
}

static EvalStatus run(const evl_call *call)
{
    const plan *x = call->state;
    size_t images = x->conv.batch * x->conv.groups;
    running r = { .x = x,
                  .k = call->machine->k,
                  .in = call->in[0]->data,
                  .weights = call->in[1]->data,
                  .out = call->out[0]->data,
                  .bias = call->n_in > 2 && call->in[2] ? call->in[2]->data : NULL,
                  .panels = call->scratch,
                  .shares = (real *)call->scratch + images * x->panels };
    evl_pool *pool = x->cut.work < EVL_PRODUCT_SMALL ? NULL : call->machine->pool;
    evl_parallel_for(pool, images * x->n_packs, pack_input, &r);
    evl_parallel_for(pool, images * x->pieces, work, &r);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_conv_transpose);
const evl_impl TWIN(evl_conv_transpose) = { .prepare = prepare, .run = run };
