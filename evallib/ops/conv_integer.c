/* ConvInteger and QLinearConv: convolutions of bytes into 32-bit sums.
**
** Weights are the matrix A of a product, widened and less their zero point, once when they are
** constant. Windows of the input are B, made for each tile; padding holds the input's zero
** point. The kernels leave that zero point out, so every sum of a channel gets the same number
** more: (128 where the input is unsigned, as its bytes are packed, less the zero point) times
** the sum of the channel's weights, and the bias. */
#include "ops/conv.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/sums.h"
#include <string.h>

enum { CONV_INTEGER, QLINEAR_CONV, NONE = 255 };

/* Which input is what. */
typedef struct roles {
    uint8_t x, w, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, bias;
} roles;

static const roles roles_of[] = {
    [CONV_INTEGER] = { 0, 1, 2, 3, NONE, NONE, NONE, NONE, NONE },
    [QLINEAR_CONV] = { 0, 3, 2, 5, 1, 4, 6, 7, 8 },
};

enum {
    SMALL = 1 << 17,       /* multiplications that are not worth a second thread */
    ROWS = 8,              /* of the kernel's rows at once */
    WINDOW_BYTES = 96 << 10, /* of the windows of a tile */
    MOST_COLUMNS = 512
};

/* --- shapes --- */

static EvalStatus check_parameter(const evl_infer *infer, size_t input, int64_t channels)
{
    const evl_tensor *t = evl_use_in(&infer->use, input);
    if (!t || channels == EVL_UNKNOWN_DIM || !evl_shape_is_known(&t->shape))
        return EVAL_OK;
    size_t n = evl_shape_count(&t->shape);
    if (n == 1 || (t->shape.rank == 1 && n == (size_t)channels))
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_SHAPE, "input %zu has %zu elements, expected one, or for weights %lld",
                    input, n, (long long)channels);
}

static EvalStatus check_parameters(const evl_infer *infer, const roles *of)
{
    const uint8_t single[] = { of->x_zero, of->x_scale, of->y_scale, of->y_zero };
    const uint8_t each[] = { of->w_zero, of->w_scale };
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < sizeof single && st == EVAL_OK; i++)
        st = check_parameter(infer, single[i], 1);
    for (size_t i = 0; i < sizeof each && st == EVAL_OK; i++)
        st = check_parameter(infer, each[i], evl_infer_dim_of(infer, of->w, 0));
    return st;
}

static EvalStatus infer(evl_infer *infer)
{
    const evl_node *node = infer->use.node;
    const roles *of = &roles_of[node->op->kind];
    const evl_tensor *three[] = { infer->use.in[of->x], infer->use.in[of->w],
                                  evl_use_in(&infer->use, of->bias) };
    evl_infer conv = *infer;
    conv.use = (evl_use){ node, three, 3 };
    EvalStatus st = evl_infer_bytes(infer, of->x);
    if (st == EVAL_OK)
        st = evl_infer_bytes(infer, of->w);
    if (st == EVAL_OK)
        st = evl_infer_conv(&conv);
    infer->out[0].type = EVAL_INT32;
    if (st == EVAL_OK && node->op->kind == QLINEAR_CONV) {
        infer->out[0].type = infer->use.in[of->y_zero]->type;
        st = evl_infer_bytes(infer, of->y_zero);
    }
    return st == EVAL_OK ? check_parameters(infer, of) : st;
}

/* --- preparing --- */

typedef struct weights {
    const int32_t *sums; /* of each row */
    const int16_t *rows;
} weights;

typedef struct plan {
    evl_conv conv;
    const roles *of;
    const evl_integer_kernels *k;
    evl_sums sums;
    size_t channels;            /* of all groups */
    size_t windows, depth;      /* elements of a window, made even for packed ones */
    size_t columns, n_across;   /* windows in a tile; tiles of a plane */
    size_t rows, n_down;        /* channels of a group in a tile */
    bool is_pointwise, is_packed;
    weights packed;
    size_t rows_at, lanes_at, lane; /* bytes of scratch */
    size_t work;
} plan;

static weights weights_at(const plan *s, const void *block)
{
    return (weights){ block, (const int16_t *)((const int32_t *)block + s->channels) };
}

typedef struct packing {
    const plan *plan;
    const evl_tensor *zero;
} packing;

static void pack_channel(const packing *p, const evl_tensor *source, size_t i, int32_t *sums)
{
    const plan *s = p->plan;
    evl_bytes_matrix w = { (const char *)source->data + i * s->windows, s->windows, 1,
                           source->type == EVAL_INT8 };
    int32_t zero = (int32_t)evl_parameter(p->zero, i, 0);
    int16_t *rows = (int16_t *)(sums + s->channels);
    s->k->pack_rows(1, s->windows, w, &zero, 0, rows + i * s->depth, sums + i);
}

static void pack(void *block, const evl_tensor *source, const void *arg)
{
    const packing *p = arg;
    for (size_t i = 0; i < p->plan->channels; i++)
        pack_channel(p, source, i, block);
}

/* Whether the weights and their one zero point are known, so that they can be packed now. */
static bool is_known(const evl_use *use, const plan *s, const evl_tensor **zero)
{
    *zero = evl_use_in(use, s->of->w_zero);
    size_t n = *zero ? evl_shape_count(&(*zero)->shape) : 0;
    if (!use->in[s->of->w]->data || (n && !(*zero)->data))
        return false;
    for (size_t i = 1; i < n; i++)
        if (evl_tensor_i64(*zero, i) != evl_tensor_i64(*zero, 0))
            return false;
    return true;
}

static EvalStatus pack_weights(evl_prepare *p, plan *s)
{
    packing how = { .plan = s };
    size_t bytes, sums;
    const void *block;
    if (!evl_size_multiply(s->channels, s->depth * sizeof(int16_t), &bytes) ||
        !evl_size_multiply(s->channels, sizeof(int32_t), &sums) ||
        !evl_size_add(bytes, sums, &bytes))
        return evl_no_memory(p->ctx);
    if (!is_known(&p->use, s, &how.zero) || !bytes) {
        s->rows_at = p->scratch_bytes;
        return evl_size_add(p->scratch_bytes, bytes, &p->scratch_bytes) ? EVAL_OK
                                                                        : evl_no_memory(p->ctx);
    }
    const char *kind = evl_prepare_kind(p, "windows of bytes", s->channels, s->windows, 0);
    if (!kind)
        return evl_no_memory(p->ctx);
    uint64_t zero = (uint64_t)(int64_t)evl_parameter(how.zero, 0, 0);
    EvalStatus st = evl_prepare_block(p, s->of->w, kind, zero, bytes, pack, &how, &block);
    if (st == EVAL_OK) {
        s->packed = weights_at(s, block);
        s->is_packed = true;
    }
    return st;
}

static bool is_pointwise(const evl_conv *c)
{
    bool is_same = c->kernel == 1 && c->in_plane == c->out_plane;
    for (int d = 0; d < EVL_STENCIL_DIMS; d++)
        is_same = is_same && c->stencil.stride[d] == 1 && c->stencil.begin[d] == 0;
    return is_same;
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void cut(plan *s)
{
    const evl_conv *c = &s->conv;
    size_t columns = WINDOW_BYTES / (s->windows + 1) / s->k->columns * s->k->columns;
    columns = columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
    size_t plane = round_up(c->out_plane, s->k->columns);
    columns = columns < s->k->columns ? s->k->columns : columns;
    s->columns = columns > plane && plane ? plane : columns;
    s->n_across = (c->out_plane + s->columns - 1) / s->columns;
    s->rows = c->out_channels ? c->out_channels : 1;
    if (c->batch * c->groups * s->n_across < 4) /* threads want several */
        s->rows = round_up(s->rows / 4 + 1, s->k->rows);
    s->n_down = (c->out_channels + s->rows - 1) / s->rows;
    s->work = c->out_plane && c->batch
                  ? SIZE_MAX / c->out_plane / c->batch > s->channels * (s->windows + 1)
                        ? s->channels * s->windows * c->out_plane * c->batch
                        : SIZE_MAX
                  : 0;
}

static EvalStatus prepare(evl_prepare *p)
{
    plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->of = &roles_of[p->use.node->op->kind];
    const evl_tensor *two[] = { p->use.in[s->of->x], p->use.in[s->of->w] };
    evl_use use = { p->use.node, two, 2 };
    EvalStatus st = evl_conv_of(p->ctx, &use, &s->conv);
    if (st != EVAL_OK)
        return st;
    s->sums = evl_sums_of(p->machine, &p->use, s->of->x_scale, p->out[0]->type);
    s->k = s->sums.loops->integers;
    s->channels = s->conv.groups * s->conv.out_channels;
    s->windows = s->conv.in_channels * s->conv.kernel;
    s->depth = s->windows + (s->windows & 1);
    s->is_pointwise = is_pointwise(&s->conv);
    cut(s);
    p->state = s;
    st = pack_weights(p, s);
    if (st != EVAL_OK)
        return st;
    size_t lanes, bytes = (s->is_pointwise ? s->depth : 2 * s->depth) * s->columns;
    s->lane = round_up(bytes + ROWS * s->k->rows * s->columns * sizeof(int32_t), EVL_ALIGNMENT);
    s->lanes_at = round_up(p->scratch_bytes, EVL_ALIGNMENT);
    bool fits = evl_size_multiply(s->lane, evl_pool_threads(p->machine->pool), &lanes) &&
                evl_size_add(s->lanes_at, lanes, &p->scratch_bytes);
    return fits ? EVAL_OK : evl_no_memory(p->ctx);
}

/* --- windows --- */

typedef struct windows {
    const evl_stencil *stencil;
    const uint8_t *x; /* channels, one plane after another */
    size_t column, n; /* of the plane of the output */
    uint8_t zero;
} windows;

/* n places of a line of the input, `step` apart from `first` on; those outside are zero. */
static void fill_line(const windows *w, const uint8_t *line, int64_t first, size_t count, uint8_t *row)
{
    int64_t step = w->stencil->stride[2], size = w->stencil->in[2], n = (int64_t)count;
    int64_t from = first < 0 ? (step - 1 - first) / step : 0;
    int64_t to = size > first ? (size - first + step - 1) / step : 0;
    from = from > n ? n : from;
    to = to > n ? n : to < from ? from : to;
    memset(row, w->zero, (size_t)from);
    memset(row + to, w->zero, (size_t)(n - to));
    if (step == 1 && to > from)
        memcpy(row + from, line + first + from, (size_t)(to - from));
    for (int64_t i = from; step != 1 && i < to; i++)
        row[i] = line[first + i * step];
}

/* What one kernel position of a channel sees in each window. */
static void fill_row(const windows *w, const uint8_t *plane, const int64_t tap[3], uint8_t *row)
{
    const evl_stencil *s = w->stencil;
    size_t out_x = (size_t)s->out[2], out_y = (size_t)s->out[1], length;
    for (size_t j = w->column, end = j + w->n; j < end; j += length, row += length) {
        size_t x = j % out_x, line = j / out_x;
        int64_t y = (int64_t)(line % out_y) * s->stride[1] - s->begin[1] + tap[1];
        int64_t z = (int64_t)(line / out_y) * s->stride[0] - s->begin[0] + tap[0];
        int64_t first = (int64_t)x * s->stride[2] - s->begin[2] + tap[2];
        length = out_x - x < end - j ? out_x - x : end - j;
        if (z < 0 || z >= s->in[0] || y < 0 || y >= s->in[1])
            memset(row, w->zero, length);
        else
            fill_line(w, plane + (z * s->in[1] + y) * s->in[2], first, length, row);
    }
}

static void fill(const windows *w, const evl_conv *c, size_t stride, uint8_t *rows)
{
    const evl_stencil *s = w->stencil;
    size_t kernel_x = (size_t)s->kernel[2], kernel_y = (size_t)s->kernel[1];
    for (size_t i = 0; i < c->in_channels * c->kernel; i++, rows += stride) {
        size_t at = i % c->kernel;
        const int64_t tap[3] = { (int64_t)(at / kernel_x / kernel_y) * s->dilation[0],
                                 (int64_t)(at / kernel_x % kernel_y) * s->dilation[1],
                                 (int64_t)(at % kernel_x) * s->dilation[2] };
        fill_row(w, w->x + i / c->kernel * c->in_plane, tap, rows);
    }
}

/* --- running --- */

typedef struct running {
    const evl_call *call;
    const plan *s;
    evl_use use;
    weights w;
    int32_t x_zero;
} running;

static const evl_tensor *operand(const running *r, uint8_t role)
{
    return evl_use_in(&r->use, role);
}

typedef struct tile {
    size_t index, group;     /* of images and groups; the group */
    size_t column, n;        /* windows */
    size_t row, end;         /* channels of the group */
    int8_t *panels;
    uint8_t *bytes;
    int32_t *c;
} tile;

static void pack_windows(const running *r, const tile *t)
{
    const plan *s = r->s;
    const evl_conv *c = &s->conv;
    const evl_tensor *x = operand(r, s->of->x);
    windows w = { &c->stencil, (const uint8_t *)x->data + t->index * c->in_channels * c->in_plane,
                  t->column, t->n, (uint8_t)r->x_zero };
    evl_bytes_matrix b = { w.x + t->column, c->in_plane, 1, x->type == EVAL_INT8 };
    if (!s->is_pointwise) {
        fill(&w, c, t->n, t->bytes);
        b.data = t->bytes;
        b.row = t->n;
    }
    s->k->pack_panels(s->windows, t->n, b, t->panels);
}

static void finish_channel(const running *r, const tile *t, size_t channel, int32_t *c, void *y)
{
    const plan *s = r->s;
    const roles *of = s->of;
    const int32_t base = operand(r, of->x)->type == EVAL_UINT8 ? 128 : 0;
    uint32_t more = (uint32_t)(base - r->x_zero) * (uint32_t)r->w.sums[channel], *sums = (uint32_t *)c;
    evl_number scale, zero = evl_parameter(operand(r, of->y_zero), 0, 0);
    double scale_room, zero_room;
    if (operand(r, of->bias))
        more += (uint32_t)evl_tensor_i64(operand(r, of->bias), channel);
#pragma omp simd
    for (size_t j = 0; j < t->n; j++)
        sums[j] += more;
    scale = evl_sums_scale(&s->sums, evl_parameter(operand(r, of->x_scale), 0, 1),
                           evl_parameter(operand(r, of->w_scale), channel, 1),
                           evl_parameter(operand(r, of->y_scale), 0, 1));
    (void)evl_convert(1, EVAL_FLOAT64, &scale, s->sums.real, &scale_room);
    (void)evl_convert(1, EVAL_FLOAT64, &zero, s->sums.real, &zero_room);
    evl_sums_finish(&s->sums, t->n, c, &scale_room, &zero_room, 0, y);
}

static void rows(const running *r, const tile *t, size_t row, size_t n)
{
    const plan *s = r->s;
    size_t first = t->group * s->conv.out_channels + row;
    size_t size = evl_type_size(r->call->out[0]->type);
    evl_integer_block g = { .m = n,
                            .n = t->n,
                            .pairs = s->depth / 2,
                            .a = r->w.rows + first * s->depth,
                            .b = t->panels,
                            .c = t->c,
                            .c_row = s->columns };
    s->k->block(&g);
    for (size_t i = 0; i < n; i++) {
        size_t at = (t->index * s->conv.out_channels + row + i) * s->conv.out_plane + t->column;
        finish_channel(r, t, first + i, t->c + i * g.c_row, (char *)r->call->out[0]->data + at * size);
    }
}

static void tile_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *s = r->s;
    const evl_conv *c = &s->conv;
    char *room = (char *)r->call->scratch + s->lanes_at + lane * s->lane;
    size_t place = index % (s->n_down * s->n_across), step = ROWS * s->k->rows;
    tile t = { .index = index / (s->n_down * s->n_across),
               .column = place % s->n_across * s->columns,
               .row = place / s->n_across * s->rows };
    t.group = t.index % c->groups;
    t.n = c->out_plane - t.column < s->columns ? c->out_plane - t.column : s->columns;
    t.end = c->out_channels - t.row < s->rows ? c->out_channels : t.row + s->rows;
    t.c = (int32_t *)room;
    t.panels = (int8_t *)(t.c + step * s->columns);
    t.bytes = (uint8_t *)t.panels + s->depth * s->columns;
    pack_windows(r, &t);
    for (size_t i = t.row; i < t.end; i += step)
        rows(r, &t, i, t.end - i < step ? t.end - i : step);
}

typedef struct packing_run {
    packing how;
    const evl_tensor *source;
    int32_t *block;
} packing_run;

static void pack_work(void *arg, size_t index, size_t lane)
{
    const packing_run *p = arg;
    (void)lane;
    pack_channel(&p->how, p->source, index, p->block);
}

static EvalStatus run(const evl_call *call)
{
    const plan *s = call->state;
    running r = { .call = call, .s = s, .use = { call->node, call->in, call->n_in }, .w = s->packed };
    evl_pool *pool = s->work < SMALL ? NULL : call->machine->pool;
    if (s->work == 0 && evl_shape_count(&call->out[0]->shape) == 0)
        return EVAL_OK;
    r.x_zero = (int32_t)evl_parameter(operand(&r, s->of->x_zero), 0, 0);
    if (!s->is_packed) {
        int32_t *block = (int32_t *)((char *)call->scratch + s->rows_at);
        packing_run p = { { s, operand(&r, s->of->w_zero) }, operand(&r, s->of->w), block };
        r.w = weights_at(s, block);
        evl_parallel_for(pool, s->channels, pack_work, &p);
    }
    evl_parallel_for(pool, s->conv.batch * s->conv.groups * s->n_down * s->n_across, tile_work, &r);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_integer = {
    "ConvInteger", NULL, 2, 4, 1, 1, 0, 0, infer, { NULL, NULL }, &impl, NULL, CONV_INTEGER
};
const evl_op evl_op_qlinear_conv = {
    "QLinearConv", NULL, 8, 9, 1, 1, 0, 0, infer, { NULL, NULL }, &impl, NULL, QLINEAR_CONV
};
/* clang-format on */

const evl_op *const evl_ops_conv_integer[] = { &op_integer, &evl_op_qlinear_conv, NULL };
