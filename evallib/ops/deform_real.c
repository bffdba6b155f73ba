/* DeformConv is a product whose B is made, panel by panel, of elements between elements; Col2Im
** is what a transposed convolution does after its product. */
#include "kernels/kernels.h"
#include "ops/deform.h"

typedef struct plan {
    evl_conv conv;
    size_t offset_groups;
    evl_product product; /* all but addresses of the run */
    evl_product_cut cut;
} plan;

static evl_product_fill windows;

static EvalStatus prepare(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    EvalStatus st = evl_conv_of(p->ctx, &p->use, &x->conv);
    if (st != EVAL_OK)
        return st;
    const evl_conv *c = &x->conv;
    x->offset_groups = (size_t)evl_node_int(p->use.node, "offset_group", 1);
    x->product = (evl_product){ .m = c->out_channels,
                                .n = c->out_plane,
                                .k = c->in_channels * c->kernel,
                                .fill = windows,
                                .c_row = c->out_plane,
                                .epilogue.alpha = 1 };
    x->cut = p->machine->k->product->cut(x->product.m, x->product.n, x->product.k,
                                         c->batch * c->groups, false);
    p->state = x;
    size_t n;
    if (!evl_size_multiply(x->cut.scratch, evl_pool_threads(p->machine->pool), &n) ||
        !evl_size_multiply(n, sizeof(real), &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    return EVAL_OK;
}

/* One group of one image. */
typedef struct image {
    const evl_call *call;
    size_t sample, group;
} image;

static const real *operand(const evl_call *call, size_t input)
{
    return input < call->n_in && call->in[input] ? call->in[input]->data : NULL;
}

/* What lies at (row, column) of a plane: between four elements, and 0 outside. */
static real between(const evl_stencil *w, const real *x, real row, real column)
{
    int64_t height = w->in[1], width = w->in[2];
    if (!(row > -1 && row < (real)height && column > -1 && column < (real)width))
        return 0;
    int64_t i = (int64_t)floor(row), j = (int64_t)floor(column);
    real down = row - (real)i, right = column - (real)j, sum = 0;
    for (int64_t k = 0; k < 4; k++) {
        int64_t y = i + k / 2, z = j + k % 2;
        real weight = (k / 2 ? down : 1 - down) * (k % 2 ? right : 1 - right);
        if (y >= 0 && y < height && z >= 0 && z < width)
            sum += weight * x[y * width + z];
    }
    return sum;
}

/* Row `row` of B, channel by kernel position, n columns from j on, `step` apart from panel to
** panel. */
static void window_row(const image *m, size_t row, const evl_product_part *part, real *panels,
                       size_t columns)
{
    const plan *p = m->call->state;
    const evl_conv *c = &p->conv;
    const evl_stencil *w = &c->stencil;
    size_t channel = m->group * c->in_channels + row / c->kernel, tap = row % c->kernel;
    size_t all = c->in_channels * c->groups, plane = c->out_plane;
    size_t group = m->sample * p->offset_groups + channel / (all / p->offset_groups);
    const real *x = operand(m->call, 0) + (m->sample * all + channel) * c->in_plane;
    const real *offset = operand(m->call, 2) + (group * c->kernel + tap) * 2 * plane;
    const real *mask = operand(m->call, 4);
    mask = mask ? mask + (group * c->kernel + tap) * plane : NULL;
    int64_t down = (int64_t)tap / w->kernel[2] * w->dilation[1] - w->begin[1];
    int64_t right = (int64_t)tap % w->kernel[2] * w->dilation[2] - w->begin[2];
    for (size_t i = 0; i < part->n; i++) {
        size_t at = part->j + i;
        int64_t y = (int64_t)at / w->out[2] * w->stride[1] + down;
        int64_t z = (int64_t)at % w->out[2] * w->stride[2] + right;
        real v = between(w, x, (real)y + offset[at], (real)z + offset[plane + at]);
        panels[i / columns * part->n_k * columns + i % columns] = mask ? v * mask[at] : v;
    }
    for (size_t i = part->n; i % columns != 0; i++)
        panels[i / columns * part->n_k * columns + i % columns] = 0;
}

static void windows(const void *arg, const evl_product_part *part, real *panels)
{
    const image *m = arg;
    size_t columns = m->call->machine->k->gemm->columns;
    for (size_t i = 0; i < part->n_k; i++)
        window_row(m, part->k + i, part, panels + i * columns, columns);
}

static void work(void *arg, size_t index, size_t lane)
{
    const evl_call *call = arg;
    const plan *x = call->state;
    const evl_conv *c = &x->conv;
    size_t each = x->cut.n_down * x->cut.n_across, i = index / each;
    image m = { call, i / c->groups, i % c->groups };
    const real *bias = operand(call, 3);
    evl_product p = x->product;
    p.a = (evl_gemm_matrix){ operand(call, 1) + m.group * p.m * p.k, p.k, 1 };
    p.fill_arg = &m;
    p.c = (real *)call->out[0]->data + i * p.m * p.n;
    if (bias)
        p.epilogue.add[0] = (evl_addend){ bias + m.group * p.m, 1, 0 };
    call->machine->k->product->tile(&p, &x->cut, index % each,
                                    (real *)call->scratch + lane * x->cut.scratch);
}

static EvalStatus run(const evl_call *call)
{
    const plan *x = call->state;
    evl_call own = *call;
    evl_parallel_for(call->machine->pool,
                     x->cut.n_down * x->cut.n_across * x->conv.batch * x->conv.groups, work, &own);
    return EVAL_OK;
}

/* --- Col2Im --- */

static EvalStatus prepare_col2im(evl_prepare *p)
{
    evl_stencil *w = evl_arena_take(p->arena, sizeof *w);
    p->state = w;
    return w ? evl_col2im_of(p, w) : evl_no_memory(p->ctx);
}

static void col2im_work(void *arg, size_t index, size_t lane)
{
    const evl_call *call = arg;
    const evl_stencil *w = call->state;
    size_t plane = (size_t)(w->in[0] * w->in[1] * w->in[2]);
    size_t columns = (size_t)(w->out[0] * w->out[1] * w->out[2]) *
                     (size_t)(w->kernel[0] * w->kernel[1] * w->kernel[2]);
    real *y = (real *)call->out[0]->data + index * plane;
    (void)lane;
    call->machine->k->conv->scatter(w, operand(call, 0) + index * columns, 0, y);
}

static EvalStatus run_col2im(const evl_call *call)
{
    evl_call own = *call;
    evl_parallel_for(call->machine->pool, evl_shape_count_part(&call->out[0]->shape, 0, 2),
                     col2im_work, &own);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_deform_conv), TWIN(evl_col2im);
const evl_impl TWIN(evl_deform_conv) = { prepare, run };
const evl_impl TWIN(evl_col2im) = { prepare_col2im, run_col2im };
