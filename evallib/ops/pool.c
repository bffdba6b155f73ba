/* MaxPool (ONNX 1 to 22), AveragePool (1 to 22), GlobalMaxPool, GlobalAveragePool.
**
** A row of outputs starts, takes one kernel position after another (a strided row of
** the input, as far as it lies inside), and ends. */
#include "ops/pool.h"
#include "kernels/loops.h"
#include "ops/ops.h"
#include "ops/stencil.h"

extern const evl_pool_rows evl_pool_max_f, evl_pool_max_d, evl_pool_mean_f, evl_pool_mean_d,
    evl_pool_max_u8, evl_pool_max_i8;

enum { D = 0, H = 1, W = 2, TILE_WORK = 1 << 16 };

typedef struct plan {
    evl_stencil window;
    const evl_pool_rows *rows;
    size_t size;             /* bytes of an element */
    size_t n_planes, planes_each; /* all; in one tile */
    bool counts_padding;
    bool is_column_major;    /* storage_order 1: of indices */
} plan;

static EvalStatus infer(evl_infer *infer)
{
    evl_stencil w;
    const evl_tensor *x = infer->use.in[0];
    bool is_ceil = evl_node_int(infer->use.node, "ceil_mode", 0) != 0;
    infer->out[0].type = x->type;
    if (infer->n_out > 1)
        infer->out[1].type = EVAL_INT64;
    if (x->shape.rank < 0)
        return EVAL_OK;
    EvalStatus st = evl_stencil_of(infer->ctx, &infer->use, &x->shape, NULL,
                                   is_ceil ? EVL_STENCIL_CEIL : EVL_STENCIL_FLOOR, &w);
    for (size_t i = 0; i < infer->n_out && st == EVAL_OK; i++)
        infer->out[i].shape = evl_stencil_shape(&w, x->shape.dim[0], x->shape.dim[1]);
    return st;
}

static const evl_pool_rows *choose_rows(const evl_prepare *p)
{
    bool is_double = p->machine->precision == EVL_DOUBLE;
    if (p->use.node->op == &evl_op_average_pool)
        return is_double ? &evl_pool_mean_d : &evl_pool_mean_f;
    switch (p->use.in[0]->type) {
    case EVAL_UINT8: return &evl_pool_max_u8;
    case EVAL_INT8: return &evl_pool_max_i8;
    case EVAL_FLOAT32:
    case EVAL_FLOAT64: return is_double ? &evl_pool_max_d : &evl_pool_max_f;
    default: return NULL;
    }
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    bool is_ceil = evl_node_int(p->use.node, "ceil_mode", 0) != 0;
    plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->rows = choose_rows(p);
    if (!s->rows)
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "does not take elements of type %s",
                        evl_type_name(x->type));
    EvalStatus st = evl_stencil_of(p->ctx, &p->use, &x->shape, NULL,
                                   is_ceil ? EVL_STENCIL_CEIL : EVL_STENCIL_FLOOR, &s->window);
    if (st != EVAL_OK)
        return st;
    s->size = evl_type_size(x->type);
    s->n_planes = (size_t)x->shape.dim[0] * (size_t)x->shape.dim[1];
    s->counts_padding = evl_node_int(p->use.node, "count_include_pad", 0) != 0;
    s->is_column_major = evl_node_int(p->use.node, "storage_order", 0) != 0;
    size_t work;
    if (!evl_size_multiply(evl_stencil_out(&s->window), evl_stencil_kernel(&s->window), &work))
        work = TILE_WORK;
    s->planes_each = work < TILE_WORK ? TILE_WORK / (work + 1) + 1 : 1;
    size_t lanes = evl_pool_threads(p->machine->pool);
    if (s->rows->end && !evl_size_multiply((size_t)s->window.out[W] * sizeof(int64_t), lanes,
                                           &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    p->state = s;
    return EVAL_OK;
}

typedef struct running {
    const plan *s;
    const char *x;
    char *y;
    int64_t *index;  /* NULL: not wanted */
    int64_t *counts; /* a row for each lane */
} running;

/* A place in the kernel and in the output: what one row of outputs takes next. */
typedef struct position {
    int64_t out[EVL_STENCIL_DIMS], kernel[EVL_STENCIL_DIMS];
} position;

static int64_t input_at(const evl_stencil *w, const position *at, int d)
{
    return at->out[d] * w->stride[d] - w->begin[d] + at->kernel[d] * w->dilation[d];
}

static int64_t divide_up(int64_t n, int64_t by)
{
    return n > 0 ? (n + by - 1) / by : 0;
}

/* The outputs of the row whose input lies in from .. to-1. */
static void inside(const evl_stencil *w, int64_t kernel, int64_t from, int64_t to, int64_t *first,
                   int64_t *last)
{
    int64_t shift = w->begin[W] - kernel * w->dilation[W];
    *first = divide_up(from + shift, w->stride[W]);
    *last = divide_up(to + shift, w->stride[W]);
    if (*last > w->out[W])
        *last = w->out[W];
}

static bool is_row_inside(const evl_stencil *w, const position *at)
{
    int64_t d = input_at(w, at, D), h = input_at(w, at, H);
    return d >= 0 && d < w->in[D] && h >= 0 && h < w->in[H];
}

/* Flat index in the plane of all samples, in the order that storage_order asks for. */
static int64_t index_of(const plan *s, size_t plane, int64_t d, int64_t h, int64_t w)
{
    const evl_stencil *window = &s->window;
    int64_t base = (int64_t)(plane * evl_stencil_in(window));
    if (s->is_column_major)
        return base + d + window->in[D] * (h + window->in[H] * w);
    return base + (d * window->in[H] + h) * window->in[W] + w;
}

static void take(const running *r, size_t plane, const position *at, char *y, int64_t *index)
{
    const plan *s = r->s;
    const evl_stencil *w = &s->window;
    int64_t first, last;
    inside(w, at->kernel[W], 0, w->in[W], &first, &last);
    if (first >= last)
        return;
    int64_t d = input_at(w, at, D), h = input_at(w, at, H);
    int64_t x = first * w->stride[W] - w->begin[W] + at->kernel[W] * w->dilation[W];
    size_t offset = plane * evl_stencil_in(w) + (size_t)((d * w->in[H] + h) * w->in[W] + x);
    size_t n = (size_t)(last - first), stride = (size_t)w->stride[W];
    const char *from = r->x + offset * s->size;
    y += (size_t)first * s->size;
    if (index)
        s->rows->take_at(n, from, stride, y, index_of(s, plane, d, h, x),
                         w->stride[W] * (s->is_column_major ? w->in[D] * w->in[H] : 1),
                         index + first);
    else
        s->rows->take(n, from, stride, y);
}

/* Cells of a window that count in one dimension: those inside, or also padding as it is
** written, but not what ceil_mode adds beyond it. */
static int64_t cells(const plan *s, int d, int64_t out)
{
    const evl_stencil *w = &s->window;
    int64_t from = s->counts_padding ? -w->begin[d] : 0;
    int64_t to = w->in[d] + (s->counts_padding ? w->end[d] : 0), n = 0;
    for (int64_t k = 0; k < w->kernel[d]; k++) {
        int64_t at = out * w->stride[d] - w->begin[d] + k * w->dilation[d];
        n += at >= from && at < to;
    }
    return n;
}

static void end_row(const running *r, const position *at, char *y, size_t lane)
{
    const plan *s = r->s;
    size_t n = (size_t)s->window.out[W];
    int64_t *counts = r->counts + lane * n;
    int64_t outer = cells(s, D, at->out[D]) * cells(s, H, at->out[H]);
    for (size_t i = 0; i < n; i++) {
        counts[i] = outer * cells(s, W, (int64_t)i);
        counts[i] += counts[i] == 0; /* a window of padding alone: 0 / 1 */
    }
    s->rows->end(n, counts, y);
}

static void pool_row(const running *r, size_t plane, position *at, size_t lane)
{
    const plan *s = r->s;
    const evl_stencil *w = &s->window;
    size_t row = ((size_t)at->out[D] * (size_t)w->out[H] + (size_t)at->out[H]) * (size_t)w->out[W];
    row += plane * evl_stencil_out(w);
    char *y = r->y + row * s->size;
    int64_t *index = r->index ? r->index + row : NULL;
    s->rows->start((size_t)w->out[W], y);
    for (int64_t i = 0; index && i < w->out[W]; i++)
        index[i] = -1;
    for (at->kernel[D] = 0; at->kernel[D] < w->kernel[D]; at->kernel[D]++)
        for (at->kernel[H] = 0; at->kernel[H] < w->kernel[H]; at->kernel[H]++)
            for (at->kernel[W] = 0; at->kernel[W] < w->kernel[W]; at->kernel[W]++)
                if (is_row_inside(w, at))
                    take(r, plane, at, y, index);
    if (s->rows->end)
        end_row(r, at, y, lane);
}

static void work(void *arg, size_t tile, size_t lane)
{
    const running *r = arg;
    const plan *s = r->s;
    position at;
    for (size_t i = tile * s->planes_each; i < (tile + 1) * s->planes_each && i < s->n_planes; i++)
        for (at.out[D] = 0; at.out[D] < s->window.out[D]; at.out[D]++)
            for (at.out[H] = 0; at.out[H] < s->window.out[H]; at.out[H]++)
                pool_row(r, i, &at, lane);
}

static EvalStatus run(const evl_call *call)
{
    const plan *s = call->state;
    running r = { .s = s, .x = call->in[0]->data, .y = call->out[0]->data, .counts = call->scratch };
    if (call->n_out > 1 && call->out[1])
        r.index = call->out[1]->data;
    evl_parallel_for(call->machine->pool, (s->n_planes + s->planes_each - 1) / s->planes_each, work,
                     &r);
    return EVAL_OK;
}

static EvalStatus infer_global(evl_infer *infer)
{
    const evl_shape *x = &infer->use.in[0]->shape;
    infer->out[0].type = infer->use.in[0]->type;
    if (x->rank < 0)
        return EVAL_OK;
    if (x->rank < 3)
        return evl_fail(infer->ctx, EVAL_ERR_SHAPE, "rank %d, expected at least 3", (int)x->rank);
    infer->out[0].shape = *x;
    for (int32_t i = 2; i < x->rank; i++)
        infer->out[0].shape.dim[i] = 1;
    return EVAL_OK;
}

typedef struct global {
    evl_reduce_loop *loop;
    size_t n_planes, plane, planes_each, size;
} global;

static EvalStatus prepare_global(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    global *g = evl_arena_take(p->arena, sizeof *g);
    const evl_loops *loops = p->machine->loops[x->type];
    if (!g)
        return evl_no_memory(p->ctx);
    g->loop = loops->reduce[p->use.node->op == &evl_op_global_max_pool ? EVL_REDUCE_MAX
                                                                       : EVL_REDUCE_MEAN];
    g->n_planes = evl_shape_count_part(&x->shape, 0, 2);
    g->plane = evl_shape_count_part(&x->shape, 2, x->shape.rank);
    g->planes_each = g->plane < TILE_WORK ? TILE_WORK / (g->plane + 1) + 1 : 1;
    g->size = evl_type_size(x->type);
    p->state = g;
    return EVAL_OK;
}

static void work_global(void *arg, size_t tile, size_t lane)
{
    const evl_call *call = arg;
    const global *g = call->state;
    evl_axis_lines whole = { g->plane, 1, 1 };
    (void)lane;
    for (size_t i = tile * g->planes_each; i < (tile + 1) * g->planes_each && i < g->n_planes; i++)
        g->loop(whole, (const char *)call->in[0]->data + i * g->plane * g->size,
                (char *)call->out[0]->data + i * g->size);
}

static EvalStatus run_global(const evl_call *call)
{
    const global *g = call->state;
    evl_call own = *call;
    evl_parallel_for(call->machine->pool, (g->n_planes + g->planes_each - 1) / g->planes_each,
                     work_global, &own);
    return EVAL_OK;
}

static const evl_impl window_impl = { prepare, run }, global_impl = { prepare_global, run_global };

const evl_op evl_op_max_pool = { .name = "MaxPool", .min_inputs = 1, .max_inputs = 1,
                                 .min_outputs = 1, .max_outputs = 2, .infer = infer,
                                 .any = &window_impl };
const evl_op evl_op_average_pool = { .name = "AveragePool", .min_inputs = 1, .max_inputs = 1,
                                     .min_outputs = 1, .max_outputs = 1, .infer = infer,
                                     .real = { &window_impl, &window_impl } };
const evl_op evl_op_global_average_pool = { .name = "GlobalAveragePool", .min_inputs = 1,
                                            .max_inputs = 1, .min_outputs = 1, .max_outputs = 1,
                                            .infer = infer_global,
                                            .real = { &global_impl, &global_impl } };
const evl_op evl_op_global_max_pool = { .name = "GlobalMaxPool", .min_inputs = 1, .max_inputs = 1,
                                        .min_outputs = 1, .max_outputs = 1,
                                        .infer = infer_global,
                                        .real = { &global_impl, &global_impl } };

const evl_op *const evl_ops_pool[] = { &evl_op_max_pool, &evl_op_average_pool,
                                       &evl_op_global_average_pool, &evl_op_global_max_pool, NULL };
