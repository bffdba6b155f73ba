/* MaxPool, AveragePool and LpPool (ONNX 1 to 22), and the global ones. Here are windows of integers
** and of LpPool; pool_rows_real.c has the others.
**
** A kernel's rows are joined where they lie, to one row between padding, so that all rows
** begin at whole vectors; then, in as many phases as the stride has columns, several such
** rows sideways, each kernel column a single run. */
#include "ops/pool.h"
#include "kernels/loops.h"
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/stencil.h"
#include <math.h>
#include <string.h>

enum { D = 0, H = 1, W = 2, TILE_WORK = 1 << 16, STRIP = 1 << 11, WIDTH = 16 };

static const evl_op op_lp_pool, op_global_lp_pool;
extern const evl_impl evl_pool_rows_f, evl_pool_rows_d;

typedef struct plan {
    evl_stencil window;
    EvalType type;
    size_t size; /* bytes of an element */
    evl_binary_loop *join, *multiply, *power;
    evl_unary_loop *magnitude; /* NULL: elements enter as they are */
    double p;                  /* of LpPool */
    size_t begin, columns;        /* of a padded row: where the input's elements are */
    size_t width, phase_width;    /* elements of a padded row, and of one of its phases */
    size_t n_phases;              /* that windows reach: 0 when the stride is 1 */
    size_t n_in;                  /* elements of the input */
    size_t rows, strips, n_units; /* output rows in a strip; strips in a plane; strips in all */
    size_t units_each;            /* strips in a tile */
    const char *start;            /* a padded row of what is neutral */
    size_t block[4], lane_bytes;  /* where the scratch memory's parts begin, and of each lane */
} plan;

EvalStatus evl_pool_window(evl_context *ctx, const evl_use *use, evl_stencil *window)
{
    bool is_ceil = evl_node_int(use->node, "ceil_mode", 0) != 0;
    return evl_stencil_of(ctx, use, &use->in[0]->shape, NULL,
                          is_ceil ? EVL_STENCIL_CEIL : EVL_STENCIL_FLOOR, window);
}

static EvalStatus infer(evl_infer *infer)
{
    evl_stencil w;
    const evl_tensor *x = infer->use.in[0];
    EvalStatus st = evl_infer_takes(infer, 0, EVL_TAKES_BOOL | EVL_TAKES_INTEGERS | EVL_TAKES_REALS);
    infer->out[0].type = x->type;
    if (infer->n_out > 1)
        infer->out[1].type = EVAL_INT64;
    if (st != EVAL_OK || x->shape.rank < 0)
        return st;
    st = evl_pool_window(infer->ctx, &infer->use, &w);
    for (size_t i = 0; i < infer->n_out && st == EVAL_OK; i++)
        infer->out[i].shape = evl_stencil_shape(&w, x->shape.dim[0], x->shape.dim[1]);
    return st;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t up_to(size_t n, size_t multiple)
{
    return (n + multiple - 1) / multiple * multiple;
}

static void put_number(const plan *s, double number, char *at)
{
    (void)evl_convert(1, EVAL_FLOAT64, &number, s->type, at);
}

enum { DOWN, PHASES, RESULT, ROW };

/* Rows and widths of the parts of the scratch memory. */
static EvalStatus lay_out(evl_prepare *p, plan *s)
{
    const evl_stencil *w = &s->window;
    size_t span = (size_t)((w->out[W] - 1) * w->stride[W] + evl_stencil_reach(w, W)), total;
    size_t stride = (size_t)w->stride[W];
    s->n_phases = stride > 1 ? least(stride, span) : 0;
    s->begin = least((size_t)w->begin[W], span);
    s->columns = least((size_t)w->in[W], span - s->begin);
    s->width = s->begin + up_to(s->columns, WIDTH);
    s->width = up_to(s->width < span ? span : s->width, WIDTH);
    s->phase_width = stride > 1 ? up_to((span - 1) / stride + 1, WIDTH) : s->width;
    s->rows = (size_t)w->out[H];
    while (s->rows > 1 && s->rows > STRIP / s->width)
        s->rows = (s->rows + 1) / 2;
    s->strips = ((size_t)w->out[H] - 1) / s->rows + 1;
    size_t slack = s->phase_width;
    const size_t n[] = { s->rows * s->width + slack,
                         s->n_phases * s->rows * s->phase_width + slack,
                         s->rows * s->phase_width, s->width };
    for (int i = 0; i < 4; i++) {
        s->block[i] = s->lane_bytes;
        s->lane_bytes += up_to(n[i] * s->size, EVL_ALIGNMENT);
    }
    if (s->width > p->ctx->limits->max_tensor_bytes ||
        !evl_size_multiply(s->lane_bytes, evl_pool_threads(p->machine->pool), &total))
        return evl_fail(p->ctx, EVAL_ERR_LIMIT, "the window is too large");
    p->scratch_bytes = total;
    return EVAL_OK;
}

/* A row of what is neutral. */
static EvalStatus make_start(evl_prepare *p, plan *s)
{
    char *start = evl_arena_take_many(p->arena, s->width, s->size);
    bool is_max = p->use.node->op == &evl_op_max_pool;
    if (!start)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < s->width; i++)
        put_number(s, is_max ? -INFINITY : 0, start + i * s->size);
    s->start = start;
    return EVAL_OK;
}

/* LpPool's p was a number in opset 1. */
static EvalStatus read_p(evl_prepare *p, plan *s)
{
    const evl_loops *loops = evl_loops_of(p, 0);
    s->p = (double)evl_node_int(p->use.node, "p", 2);
    if (p->use.node->version < 2)
        s->p = evl_node_number(p->use.node, "p", s->p);
    s->magnitude = loops->unary[EVL_ABS];
    if (!(s->p > 0))
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "p is %g, it must be positive", s->p);
    return EVAL_OK;
}

static EvalStatus prepare_window(evl_prepare *p, const evl_stencil *window)
{
    const evl_tensor *x = p->use.in[0];
    const evl_op *op = p->use.node->op;
    const evl_loops *loops = evl_loops_of(p, 0);
    plan *s = evl_arena_take(p->arena, sizeof *s);
    EvalStatus st = EVAL_OK;
    if (!s)
        return evl_no_memory(p->ctx);
    *s = (plan){ .window = *window, .type = x->type, .size = evl_type_size(x->type) };
    s->join = loops->binary[op == &evl_op_max_pool ? EVL_MAX : EVL_ADD];
    s->multiply = loops->binary[EVL_MUL];
    s->power = loops->binary[EVL_POW];
    p->state = s;
    if (!s->join)
        return evl_fail(p->ctx, EVAL_ERR_TYPE, "does not take elements of type %s",
                        evl_type_name(x->type));
    size_t n_planes = (size_t)x->shape.dim[0] * (size_t)x->shape.dim[1];
    s->n_in = n_planes * evl_stencil_in(window);
    if (n_planes == 0 || evl_stencil_out(window) == 0)
        return EVAL_OK;
    if (op == &op_lp_pool || op == &op_global_lp_pool)
        st = read_p(p, s);
    if (st != EVAL_OK || (st = lay_out(p, s)) != EVAL_OK)
        return st;
    s->n_units = n_planes * (size_t)window->out[D] * s->strips;
    s->units_each = TILE_WORK / (s->rows * s->width * (size_t)window->kernel[D]) + 1;
    return make_start(p, s);
}

static EvalStatus prepare(evl_prepare *p)
{
    evl_stencil window;
    EvalStatus st = evl_pool_window(p->ctx, &p->use, &window);
    if (st != EVAL_OK)
        return st;
    if (p->n_out > 1 && p->out[1])
        return evl_pool_index_prepare(p, &window);
    return prepare_window(p, &window);
}

typedef struct running {
    const plan *s;
    const char *x;
    char *y, *scratch;
} running;

/* n elements as LpPool adds them, at `to`. */
static const char *raise(const plan *s, size_t n, const char *x, char *to)
{
    if (s->p == 2)
        s->multiply(n, x, 1, x, 1, to);
    else
        s->magnitude(n, x, to, NULL);
    if (s->p != 1 && s->p != 2) {
        char power[sizeof(double)];
        put_number(s, s->p, power);
        s->power(n, to, 1, power, 0, to);
    }
    return to;
}

/* One row of the output being joined. */
typedef struct joining {
    const plan *s;
    const char *first; /* what was joined before: NULL, a row of the input, or `to` */
    char *to, *raised;
} joining;

/* Rows of a plane that begin at x. Whole vectors, though the last may reach into the next row:
** of the last `room` elements of all, there is none. */
static void join_plane(joining *j, const char *x, size_t room, int64_t row)
{
    const plan *s = j->s;
    const evl_stencil *w = &s->window;
    size_t whole = up_to(s->columns, WIDTH);
    int64_t h = row * w->stride[H] - w->begin[H];
    for (int64_t k = 0; k < w->kernel[H]; k++, h += w->dilation[H]) {
        size_t at = (size_t)h * (size_t)w->in[W];
        if (h < 0 || h >= w->in[H])
            continue;
        size_t n = at + whole <= room ? whole : s->columns;
        const char *line = x + at * s->size;
        if (s->magnitude)
            line = raise(s, n, line, j->first ? j->raised : j->to);
        if (j->first)
            s->join(n, j->first, 1, line, 1, j->to);
        j->first = j->first ? j->to : line;
    }
}

/* All rows that one row of the output reaches over, between the padding of `line`. */
static void join_down(const running *r, size_t plane, int64_t depth, int64_t row, char *line,
                      char *raised)
{
    const plan *s = r->s;
    const evl_stencil *w = &s->window;
    size_t size = (size_t)(w->in[H] * w->in[W]), behind = up_to(s->columns, WIDTH) - s->columns;
    joining j = { s, NULL, line + s->begin * s->size, raised };
    int64_t d = depth * w->stride[D] - w->begin[D];
    for (int64_t k = 0; k < w->kernel[D]; k++, d += w->dilation[D]) {
        size_t at = (plane * (size_t)w->in[D] + (size_t)d) * size;
        if (d >= 0 && d < w->in[D])
            join_plane(&j, r->x + at * s->size, s->n_in - at, row);
    }
    if (j.first != j.to)
        memcpy(j.to, j.first ? j.first : s->start, s->columns * s->size);
    else if (behind)
        memcpy(j.to + s->columns * s->size, s->start, behind * s->size);
}

/* Where `size` is a constant, each memcpy becomes a load and a store. */
static inline void take_every(size_t size, size_t n, const char *from, size_t stride, char *to)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * size, from + i * stride * size, size);
}

/* Even and odd columns, which are as many, since padded rows end with whole vectors. */
static inline void take_both(size_t size, size_t n, const char *from, char *even, char *odd)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        memcpy(even + i * size, from + 2 * i * size, size);
        memcpy(odd + i * size, from + (2 * i + 1) * size, size);
    }
}

/* Both phases of stride 2 in one go: each element is loaded once. */
static void split_in_two(const plan *s, size_t rows, const char *from, char *to)
{
    size_t n = least(s->width / 2, s->phase_width), row = s->phase_width * s->size;
    for (size_t i = 0; i < rows; i++, from += s->width * s->size, to += row)
        if (s->size == 4)
            take_both(4, n, from, to, to + rows * row);
        else if (s->size == 8)
            take_both(8, n, from, to, to + rows * row);
        else if (s->size == 1)
            take_both(1, n, from, to, to + rows * row);
        else
            take_both(s->size, n, from, to, to + rows * row);
}

/* Every stride-th column from each of the first ones on. */
static void split(const plan *s, size_t rows, const char *from, char *to)
{
    size_t stride = (size_t)s->window.stride[W];
    for (size_t phase = 0; phase < s->n_phases; phase++)
        for (size_t i = 0; i < rows; i++, to += s->phase_width * s->size) {
            const char *x = from + (i * s->width + phase) * s->size;
            size_t n = least((s->width - phase - 1) / stride + 1, s->phase_width);
            if (s->size == 4)
                take_every(4, n, x, stride, to);
            else if (s->size == 8)
                take_every(8, n, x, stride, to);
            else if (s->size == 1)
                take_every(1, n, x, stride, to);
            else
                take_every(s->size, n, x, stride, to);
        }
}

static void join_sideways(const plan *s, size_t rows, const char *from, char *to)
{
    const evl_stencil *w = &s->window;
    size_t n = rows * s->phase_width, stride = (size_t)w->stride[W];
    const char *first = NULL;
    for (int64_t k = 0; k < w->kernel[W]; k++) {
        size_t column = (size_t)(k * w->dilation[W]);
        const char *x = from + (column % stride * n + column / stride) * s->size;
        if (first)
            s->join(n, k == 1 ? first : to, 1, x, 1, to);
        else if (w->kernel[W] == 1)
            memcpy(to, x, n * s->size);
        first = x;
    }
}

/* Sums to roots, and rows of the output to y. */
static void finish(const plan *s, size_t rows, char *x, char *y)
{
    size_t n = s->phase_width, out = (size_t)s->window.out[W];
    char number[sizeof(double)];
    if (s->magnitude && s->p != 1) {
        put_number(s, 1 / s->p, number);
        s->power(rows * n, x, 1, number, 0, x);
    }
    for (size_t i = 0; i < rows; i++, x += n * s->size, y += out * s->size)
        memcpy(y, x, out * s->size);
}

static void pool_strip(const running *r, size_t unit, char *scratch)
{
    const plan *s = r->s;
    const evl_stencil *w = &s->window;
    size_t first = unit % s->strips * s->rows, rows = least(s->rows, (size_t)w->out[H] - first);
    size_t plane = unit / s->strips / (size_t)w->out[D];
    int64_t depth = (int64_t)(unit / s->strips % (size_t)w->out[D]);
    char *down = scratch + s->block[DOWN], *result = scratch + s->block[RESULT];
    char *across = w->stride[W] > 1 ? scratch + s->block[PHASES] : down;
    char *row = scratch + s->block[ROW];
    char *y = r->y + ((unit / s->strips * (size_t)w->out[H]) + first) * (size_t)w->out[W] * s->size;
    for (size_t i = 0; i < rows; i++)
        join_down(r, plane, depth, (int64_t)(first + i), down + i * s->width * s->size, row);
    if (w->stride[W] == 2 && s->n_phases == 2)
        split_in_two(s, rows, down, across);
    else if (w->stride[W] > 1)
        split(s, rows, down, across);
    join_sideways(s, rows, across, result);
    finish(s, rows, result, y);
}

static void work(void *arg, size_t tile, size_t lane)
{
    const running *r = arg;
    const plan *s = r->s;
    char *scratch = r->scratch + lane * s->lane_bytes;
    /* what lies behind the last row is joined, too, and never seen */
    memset(scratch, 0, s->lane_bytes);
    for (size_t i = 0; i < s->rows; i++)
        memcpy(scratch + s->block[DOWN] + i * s->width * s->size, s->start, s->width * s->size);
    for (size_t i = tile * s->units_each; i < (tile + 1) * s->units_each && i < s->n_units; i++)
        pool_strip(r, i, scratch);
}

static EvalStatus run(const evl_call *call)
{
    const plan *s = call->state;
    running r = { s, call->in[0]->data, call->out[0]->data, call->scratch };
    if (s->n_units)
        evl_parallel_for(call->machine->pool, (s->n_units - 1) / s->units_each + 1, work, &r);
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
    g->loop =
        loops
            ->reduce[p->use.node->op == &evl_op_global_max_pool ? EVL_REDUCE_MAX : EVL_REDUCE_MEAN];
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

/* GlobalLpPool is one window over everything: over nothing, one of padding. */
static EvalStatus prepare_global_lp(evl_prepare *p)
{
    const evl_shape *x = &p->use.in[0]->shape;
    evl_stencil w = { .n = EVL_STENCIL_DIMS };
    for (int d = 0; d < EVL_STENCIL_DIMS; d++)
        w.in[d] = w.kernel[d] = w.stride[d] = w.dilation[d] = w.out[d] = 1;
    w.in[H] = (int64_t)evl_shape_count_part(x, 2, x->rank - 1);
    w.in[W] = x->dim[x->rank - 1];
    for (int d = H; d <= W; d++)
        w.kernel[d] = w.in[d] ? w.in[d] : 1;
    return prepare_window(p, &w);
}

static const evl_impl global_lp_impl = { prepare_global_lp, run };
static const evl_impl window_impl = { prepare, run }, global_impl = { prepare_global, run_global };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
const evl_op evl_op_max_pool = {
    "MaxPool", NULL, 1, 1, 1, 2, 0, 0, infer,
    { &evl_pool_rows_f, &evl_pool_rows_d }, NULL, &window_impl, 0
};
const evl_op evl_op_average_pool = {
    "AveragePool", NULL, 1, 1, 1, 1, 0, 0, infer,
    { &evl_pool_rows_f, &evl_pool_rows_d }, NULL, NULL, 0
};
const evl_op evl_op_global_average_pool = {
    "GlobalAveragePool", NULL, 1, 1, 1, 1, 0, 0, infer_global,
    { &global_impl, &global_impl }, NULL, NULL, 0
};
const evl_op evl_op_global_max_pool = {
    "GlobalMaxPool", NULL, 1, 1, 1, 1, 0, 0, infer_global,
    { &global_impl, &global_impl }, NULL, NULL, 0
};
static const evl_op op_lp_pool = {
    "LpPool", NULL, 1, 1, 1, 1, 0, 0, infer,
    { &window_impl, &window_impl }, NULL, NULL, 0
};
static const evl_op op_global_lp_pool = {
    "GlobalLpPool", NULL, 1, 1, 1, 1, 0, 0, infer_global,
    { &global_lp_impl, &global_lp_impl }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_pool[] = { &evl_op_max_pool,
                                       &evl_op_average_pool,
                                       &evl_op_global_average_pool,
                                       &evl_op_global_max_pool,
                                       &op_lp_pool,
                                       &op_global_lp_pool,
                                       NULL };
