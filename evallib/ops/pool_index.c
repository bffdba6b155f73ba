/* MaxPool that also says where its maxima are: a row of outputs takes one kernel position
** after another, a strided row of the input, as far as it lies inside. */
#include "ops/pool.h"
#include "ops/stencil.h"
#include <math.h>

extern evl_pool_take evl_pool_take_max_f, evl_pool_take_max_d, evl_pool_take_max_u8,
    evl_pool_take_max_i8;

enum { D = 0, H = 1, W = 2, TILE_WORK = 1 << 16 };

typedef struct plan {
    evl_stencil window;
    evl_pool_take *take;
    EvalType type;
    size_t n_planes, planes_each; /* all; in one tile */
    bool is_column_major;         /* storage_order 1 */
} plan;

typedef struct running {
    const plan *s;
    const char *x;
    char *y;
    int64_t *index;
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

/* The outputs of the row whose input lies inside. */
static void inside(const evl_stencil *w, int64_t kernel, int64_t *first, int64_t *last)
{
    int64_t shift = w->begin[W] - kernel * w->dilation[W];
    *first = divide_up(shift, w->stride[W]);
    *last = divide_up(w->in[W] + shift, w->stride[W]);
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
    inside(w, at->kernel[W], &first, &last);
    if (first >= last)
        return;
    int64_t d = input_at(w, at, D), h = input_at(w, at, H);
    int64_t x = first * w->stride[W] - w->begin[W] + at->kernel[W] * w->dilation[W];
    size_t offset = plane * evl_stencil_in(w) + (size_t)((d * w->in[H] + h) * w->in[W] + x);
    size_t size = evl_type_size(s->type);
    s->take((size_t)(last - first), r->x + offset * size, (size_t)w->stride[W],
            y + (size_t)first * size, index_of(s, plane, d, h, x),
            w->stride[W] * (s->is_column_major ? w->in[D] * w->in[H] : 1), index + first);
}

/* A window of padding alone has the least number, and no index. */
static void pool_row(const running *r, size_t plane, position *at)
{
    static const double least = -INFINITY;
    const plan *s = r->s;
    const evl_stencil *w = &s->window;
    size_t row = ((size_t)at->out[D] * (size_t)w->out[H] + (size_t)at->out[H]) * (size_t)w->out[W];
    row += plane * evl_stencil_out(w);
    size_t size = evl_type_size(s->type);
    int64_t *index = r->index + row;
    for (int64_t i = 0; i < w->out[W]; i++) {
        (void)evl_convert(1, EVAL_FLOAT64, &least, s->type, r->y + (row + (size_t)i) * size);
        index[i] = -1;
    }
    for (at->kernel[D] = 0; at->kernel[D] < w->kernel[D]; at->kernel[D]++)
        for (at->kernel[H] = 0; at->kernel[H] < w->kernel[H]; at->kernel[H]++)
            for (at->kernel[W] = 0; at->kernel[W] < w->kernel[W]; at->kernel[W]++)
                if (is_row_inside(w, at))
                    take(r, plane, at, r->y + row * size, index);
}

static void work(void *arg, size_t tile, size_t lane)
{
    const running *r = arg;
    const plan *s = r->s;
    position at;
    (void)lane;
    for (size_t i = tile * s->planes_each; i < (tile + 1) * s->planes_each && i < s->n_planes; i++)
        for (at.out[D] = 0; at.out[D] < s->window.out[D]; at.out[D]++)
            for (at.out[H] = 0; at.out[H] < s->window.out[H]; at.out[H]++)
                pool_row(r, i, &at);
}

static EvalStatus run(const evl_call *call)
{
    const plan *s = call->state;
    running r = { s, call->in[0]->data, call->out[0]->data, call->out[1]->data };
    evl_parallel_for(call->machine->pool, (s->n_planes + s->planes_each - 1) / s->planes_each, work,
                     &r);
    return EVAL_OK;
}

static evl_pool_take *take_of(EvalType type)
{
    switch (type) {
    case EVAL_UINT8: return evl_pool_take_max_u8;
    case EVAL_INT8: return evl_pool_take_max_i8;
    case EVAL_FLOAT32: return evl_pool_take_max_f;
    case EVAL_FLOAT64: return evl_pool_take_max_d;
    default: return NULL;
    }
}

EvalStatus evl_pool_index_prepare(evl_prepare *p, const evl_stencil *window)
{
    const evl_tensor *x = p->use.in[0];
    size_t work_each;
    plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    *s = (plan){ .window = *window, .take = take_of(x->type), .type = x->type };
    if (!s->take)
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "does not take elements of type %s",
                        evl_type_name(x->type));
    s->n_planes = (size_t)x->shape.dim[0] * (size_t)x->shape.dim[1];
    s->is_column_major = evl_node_int(p->use.node, "storage_order", 0) != 0;
    if (!evl_size_multiply(evl_stencil_out(window), evl_stencil_kernel(window), &work_each))
        work_each = TILE_WORK;
    s->planes_each = work_each < TILE_WORK ? TILE_WORK / (work_each + 1) + 1 : 1;
    p->state = s;
    p->run = run;
    return EVAL_OK;
}
