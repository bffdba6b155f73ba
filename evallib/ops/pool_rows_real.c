/* MaxPool and AveragePool over windows, by the kernels of kernels/pool.h: a strip of rows is
** joined down, then across, so that nothing waits for what was just written. */
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "ops/pool.h"
#include "ops/stencil.h"
#include "real.h"
#include <string.h>

enum { D = 0, H = 1, W = 2, TILE_WORK = 1 << 16, STRIP = 1 << 11 };

typedef struct plan {
    evl_stencil window;
    evl_pool_lines lines;
    bool is_direct;               /* joined in registers: there are no lines */
    size_t first;                 /* column of the input that the kernels' rows begin with */
    size_t first_inside;          /* the first row of the output whose windows do not begin .. */
    size_t end_inside;            /* .. and the first whose windows end in the padding */
    size_t n_in, line;            /* elements of the input; of a line with all its phases */
    size_t rows, strips, n_units; /* output rows in a strip; strips in a plane; strips in all */
    size_t units_each;            /* strips in a tile */
    const real *start;            /* a line of what is neutral */
    const real *factors;          /* of a mean: 1 / cells, rows for each number of cells .. */
    const size_t *factors_of;     /* .. and where they begin, for each row of the output */
    size_t lane_bytes;
} plan;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t up_to(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

/* Whether windows are joined in registers. */
static bool is_direct(const evl_stencil *w)
{
    int64_t rows = w->kernel[D] * w->kernel[H], columns = w->kernel[W];
    if (w->dilation[W] != 1 || w->in[W] < 1 || rows != columns)
        return false;
    return columns == 3 ? w->stride[W] <= 2 && w->begin[W] <= 1
                        : columns == 2 && w->stride[W] == 2 && w->begin[W] == 0;
}

/* Where the phases of a line lie, and in them what the kernel's columns see. More padding than
** there is brings the input's columns to whole vectors. */
static EvalStatus lay_line(evl_prepare *p, plan *s)
{
    const evl_stencil *w = &s->window;
    const size_t lanes = p->machine->lanes, stride = (size_t)w->stride[W];
    size_t span = (size_t)((w->out[W] - 1) * w->stride[W] + evl_stencil_reach(w, W));
    size_t begin = least((size_t)w->begin[W], span), more = stride > 1 ? 0 : up_to(begin, lanes) - begin;
    size_t *taps = evl_arena_take_many(p->arena, s->lines.n_taps, sizeof *taps);
    if (!taps)
        return evl_no_memory(p->ctx);
    s->lines.begin = begin + more;
    s->lines.columns = least(s->lines.columns, span - begin);
    s->lines.phase = up_to((more + span - 1) / stride + 1 + lanes, lanes);
    for (size_t k = 0; k < s->lines.n_taps; k++) {
        size_t column = more + k * (size_t)w->dilation[W];
        taps[k] = column % stride * s->lines.phase + column / stride;
    }
    s->lines.taps = taps;
    if (!evl_size_multiply(least(stride, span), s->lines.phase, &s->line) ||
        s->line > p->ctx->limits->max_tensor_bytes / sizeof(real))
        return evl_fail(p->ctx, EVAL_ERR_LIMIT, "the window is too large");
    return EVAL_OK;
}

/* A line of what is neutral, which is also a row of the input. */
static EvalStatus make_start(evl_prepare *p, plan *s)
{
    size_t n = s->is_direct ? (size_t)s->window.in[W] + p->machine->lanes : s->line;
    real *start = evl_arena_take_many(p->arena, n, sizeof *start);
    if (!start)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < n; i++)
        start[i] = s->lines.is_max ? -(real)INFINITY : 0;
    s->start = start;
    return EVAL_OK;
}

/* Lines of a strip, and the rows of the input that one row of the output joins. */
static EvalStatus lay_out(evl_prepare *p, plan *s)
{
    const evl_stencil *w = &s->window;
    const evl_shape *x = &p->use.in[0]->shape;
    size_t deep = least((size_t)w->kernel[D], (size_t)w->in[D]), froms;
    froms = s->is_direct ? 3 : deep * least((size_t)w->kernel[H], (size_t)w->in[H]);
    s->rows = (size_t)w->out[H];
    while (!s->is_direct && s->rows > 1 && s->rows * s->line > STRIP)
        s->rows = (s->rows + 1) / 2;
    int64_t inside = w->in[H] + w->begin[H] - evl_stencil_reach(w, H);
    s->first_inside = (size_t)((w->begin[H] + w->stride[H] - 1) / w->stride[H]);
    if (inside >= 0 && !(s->is_direct && w->kernel[D] > 1)) /* rows of nothing do not go on */
        s->end_inside = (size_t)(inside / w->stride[H]) + 1;
    s->strips = ((size_t)w->out[H] - 1) / s->rows + 1;
    s->n_units = (size_t)(x->dim[0] * x->dim[1] * w->out[D]) * s->strips;
    s->units_each = TILE_WORK / (s->rows * (size_t)(w->in[W] + w->out[W]) * deep + 1) + 1;
    s->lane_bytes = up_to(s->rows * s->line * sizeof(real), EVL_ALIGNMENT) +
                    up_to(froms * sizeof(real *), EVL_ALIGNMENT);
    if (!evl_size_multiply(s->lane_bytes, evl_pool_threads(p->machine->pool), &p->scratch_bytes))
        return evl_no_memory(p->ctx);
    return make_start(p, s);
}

/* 1 / the cells of a row's windows, of which there are `outer` in depth and height; a window of
** none counts as one. */
static void fill_factors(const plan *s, int64_t outer, bool counts_padding, real *to)
{
    for (size_t i = 0; i < s->lines.out; i++) {
        int64_t n = outer * evl_stencil_cells(&s->window, W, (int64_t)i, counts_padding);
        to[i] = 1 / (real)(n > 0 ? n : 1);
    }
}

/* Few rows differ in their cells: those whose windows lie inside have the same. */
static EvalStatus make_factors(evl_prepare *p, plan *s)
{
    const evl_stencil *w = &s->window;
    const bool counts_padding = evl_node_int(p->use.node, "count_include_pad", 0) != 0;
    const size_t width = up_to(s->lines.out, p->machine->lanes), n = (size_t)(w->out[D] * w->out[H]);
    int64_t *cells = evl_arena_take_many(p->arena, n, sizeof *cells);
    size_t *of = evl_arena_take_many(p->arena, n, sizeof *of), n_kinds = 0, kind;
    if (!cells || !of)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < n; i++) {
        int64_t depth = (int64_t)i / w->out[H], row = (int64_t)i % w->out[H];
        cells[n_kinds] = evl_stencil_cells(w, D, depth, counts_padding) *
                         evl_stencil_cells(w, H, row, counts_padding);
        for (kind = 0; cells[kind] != cells[n_kinds];)
            kind++;
        n_kinds += kind == n_kinds;
        of[i] = kind * width;
    }
    real *factors = evl_arena_take_many(p->arena, n_kinds * width, sizeof *factors);
    if (!factors)
        return evl_no_memory(p->ctx);
    for (kind = 0; kind < n_kinds; kind++)
        fill_factors(s, cells[kind], counts_padding, factors + kind * width);
    s->factors = factors;
    s->factors_of = of;
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_shape *x = &p->use.in[0]->shape;
    evl_stencil window;
    EvalStatus st = evl_pool_window(p->ctx, &p->use, &window);
    if (st != EVAL_OK)
        return st;
    if (p->n_out > 1 && p->out[1])
        return evl_pool_index_prepare(p, &window);
    plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    *s = (plan){ .window = window, .is_direct = is_direct(&window), .n_in = evl_shape_count(x) };
    s->lines = (evl_pool_lines){ .is_max = p->use.node->op == &evl_op_max_pool,
                                 .columns = (size_t)window.in[W],
                                 .begin = (size_t)window.begin[W],
                                 .stride = (size_t)window.stride[W],
                                 .out = (size_t)window.out[W],
                                 .n_taps = (size_t)window.kernel[W] };
    p->state = s;
    if (x->dim[0] == 0 || x->dim[1] == 0 || evl_stencil_out(&window) == 0)
        return EVAL_OK;
    s->first = s->is_direct && s->lines.n_taps == 3 && s->lines.begin == 0;
    s->lines.columns -= s->first;
    if (!s->is_direct)
        st = lay_line(p, s);
    if (st == EVAL_OK)
        st = lay_out(p, s);
    return st == EVAL_OK && !s->lines.is_max ? make_factors(p, s) : st;
}

/* A strip being pooled. */
typedef struct strip {
    const plan *s;
    const evl_pool_kernels *k;
    const real *x; /* the whole input */
    size_t plane;
    int64_t depth;
    real *lines;
    const real **from;
} strip;

/* The rows of the input that a row of the output joins. In registers their number is known: rows
** of nothing stand for those outside. */
static evl_pool_rows rows_of(const strip *t, int64_t row)
{
    const plan *s = t->s;
    const evl_stencil *w = &s->window;
    evl_pool_rows r = { t->from, 0, s->n_in };
    int64_t d = t->depth * w->stride[D] - w->begin[D];
    for (int64_t i = 0; i < w->kernel[D]; i++, d += w->dilation[D]) {
        int64_t h = row * w->stride[H] - w->begin[H];
        for (int64_t j = 0; j < w->kernel[H]; j++, h += w->dilation[H]) {
            size_t plane = t->plane * (size_t)w->in[D] + (size_t)d;
            size_t at = (plane * (size_t)w->in[H] + (size_t)h) * (size_t)w->in[W] + s->first;
            bool is_inside = d >= 0 && d < w->in[D] && h >= 0 && h < w->in[H];
            if (is_inside)
                r.room = s->n_in - at; /* the last one's is the least */
            if (is_inside || s->is_direct)
                t->from[r.n++] = is_inside ? t->x + at : s->start + s->first;
        }
    }
    return r;
}

/* The rows of the next one, which lie inside as these do. */
static void go_on(const strip *t, evl_pool_rows *r)
{
    const size_t step = (size_t)(t->s->window.stride[H] * t->s->window.in[W]);
    for (size_t k = 0; k < r->n; k++)
        t->from[k] += step;
    r->room -= step;
}

static evl_pool_output output_of(const strip *t, size_t row, real *y, size_t room)
{
    const plan *s = t->s;
    size_t at = (size_t)(t->depth * s->window.out[H]) + row;
    return (evl_pool_output){ s->factors ? s->factors + s->factors_of[at] : NULL, y, room };
}

static void pool_strip(const strip *t, size_t first, size_t rows, real *y)
{
    const plan *s = t->s;
    const size_t out = s->lines.out;
    evl_pool_rows r = { NULL, 0, 0 };
    for (size_t i = 0; i < rows; i++) {
        evl_pool_output o = output_of(t, first + i, y + i * out, (rows - i) * out);
        if (i > 0 && first + i > s->first_inside && first + i < s->end_inside)
            go_on(t, &r);
        else
            r = rows_of(t, (int64_t)(first + i));
        if (s->is_direct)
            t->k->row(&s->lines, &r, &o);
        else if (r.n > 0)
            t->k->down(&s->lines, &r, t->lines + i * s->line);
        else
            memcpy(t->lines + i * s->line, s->start, s->line * sizeof(real));
    }
    for (size_t i = 0; i < rows && !s->is_direct; i++) {
        evl_pool_output o = output_of(t, first + i, y + i * out, (rows - i) * out);
        t->k->across(&s->lines, t->lines + i * s->line, &o);
    }
}

static void work(void *arg, size_t tile, size_t lane)
{
    const evl_call *call = arg;
    const plan *s = call->state;
    const size_t height = (size_t)s->window.out[H], deep = (size_t)s->window.out[D];
    char *scratch = (char *)call->scratch + lane * s->lane_bytes;
    strip t = { s, call->machine->k->pool, call->in[0]->data, 0, 0, (real *)scratch, NULL };
    t.from = (const real **)(scratch + up_to(s->rows * s->line * sizeof(real), EVL_ALIGNMENT));
    for (size_t i = 0; i < s->rows; i++)
        memcpy(t.lines + i * s->line, s->start, s->line * sizeof(real));
    for (size_t i = tile * s->units_each; i < (tile + 1) * s->units_each && i < s->n_units; i++) {
        size_t first = i % s->strips * s->rows, outer = i / s->strips;
        t.plane = outer / deep;
        t.depth = (int64_t)(outer % deep);
        pool_strip(&t, first, least(s->rows, height - first),
                   (real *)call->out[0]->data + (outer * height + first) * s->lines.out);
    }
}

static EvalStatus run(const evl_call *call)
{
    const plan *s = call->state;
    evl_call own = *call;
    if (s->n_units)
        evl_parallel_for(call->machine->pool, (s->n_units - 1) / s->units_each + 1, work, &own);
    return EVAL_OK;
}

const evl_impl TWIN(evl_pool_rows) = { prepare, run };
