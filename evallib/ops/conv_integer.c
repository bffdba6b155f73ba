/* ConvInteger and QLinearConv: convolutions of bytes into 32-bit sums.
**
** Weights are the matrix A of a product, as pairs of 16-bit numbers less their zero point, made once
** when they are constant. B is a band of the input (ops/byte_bands.h), which windows are found in by
** offsets: nothing is copied for each window. What becomes of the sums is done a few channels of a
** band at a time, while they are in the first cache.
**
** By Winograd's way the band's windows are tiles, which are transformed first, and there is a product
** for each element of a tile. */
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/sums.h"
#include "ops/winograd_integer.h"
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
    SMALL = 1 << 17, /* multiplications that are not worth a second thread */
    TILES_WANTED = 4, /* threads want several */
    COPY_BYTES = 128 << 10, /* in the second cache, beside sums and weights */
    MOST_COLUMNS = 2048,
    VALUES_BYTES = 256 << 10, /* of transformed tiles */
    FEW_COLUMNS = 32
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

/* What a channel's sums are multiplied by, and the bias. */
typedef struct parameters {
    void *scale; /* of the type that is computed in */
    int32_t *add;
} parameters;

typedef struct plan {
    evl_conv conv;
    evl_byte_bands bands;       /* of conv, or of Winograd's tiles */
    bool is_winograd;
    size_t *sources;            /* where a pair of channels begins among transformed tiles */
    const roles *of;
    const evl_integer_kernels *k;
    evl_sums sums;
    size_t channels;            /* of all groups */
    size_t rows, n_down;        /* channels of a group in a tile */
    size_t columns;             /* of sums */
    const int16_t *packed;      /* weights; NULL: they are not known */
    parameters parameters;      /* those that are known; else scale is NULL */
    size_t packed_at, scale_at, add_at, lanes_at, lane; /* bytes of scratch */
    size_t values_at, c_at, codes_at, plane_at;         /* in a lane */
    size_t work;
} plan;

typedef struct packing {
    const plan *plan;
    const evl_tensor *zero;
} packing;

/* Channels that the kernel takes at once lie together: [step][channel][2]. */
static void pack_channel(const packing *p, const evl_tensor *source, size_t channel, int16_t *packed)
{
    const plan *s = p->plan;
    const evl_conv *c = &s->conv;
    size_t in = channel % c->out_channels, row = in % s->k->rows, first = channel - row, at[2];
    size_t rows = c->out_channels - (in - row) < s->k->rows ? c->out_channels - (in - row) : s->k->rows;
    const uint8_t *w = (const uint8_t *)source->data + channel * c->in_channels * c->kernel;
    int32_t flip = source->type == EVAL_INT8 ? 0x80 : 0, less = flip + (int32_t)evl_parameter(p->zero, channel, 0);
    int16_t *to = packed + 2 * (first * s->bands.steps + row);
    if (s->is_winograd) {
        const evl_byte_weights three = { w, flip, less, c->in_channels, rows };
        evl_byte_winograd_pack(&three, to);
        return;
    }
    for (size_t i = 0; i < s->bands.steps; i++, to += 2 * rows) {
        evl_byte_bands_weights(&s->bands, i, at);
        to[0] = (int16_t)((w[at[0]] ^ flip) - less);
        to[1] = (int16_t)(at[1] == SIZE_MAX ? 0 : (w[at[1]] ^ flip) - less);
    }
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

/* Adds n elements of `size` bytes to the scratch; false: they do not fit. */
static bool reserve(size_t *all, size_t n, size_t size, size_t *at)
{
    size_t bytes;
    *at = (*all + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
    return evl_size_multiply(n, size, &bytes) && evl_size_add(*at, bytes, all);
}

static EvalStatus pack_weights(evl_prepare *p, plan *s)
{
    packing how = { .plan = s };
    size_t bytes;
    const void *block;
    if (!evl_size_multiply(s->channels, s->bands.steps * 2 * sizeof(int16_t), &bytes))
        return evl_no_memory(p->ctx);
    if (!is_known(&p->use, s, &how.zero) || !bytes)
        return reserve(&p->scratch_bytes, bytes, 1, &s->packed_at) ? EVAL_OK : evl_no_memory(p->ctx);
    const char *kind = evl_prepare_kind(p, s->is_winograd ? "Winograd of bytes" : "windows of bytes", s->channels,
                                        s->bands.steps, s->bands.by_rows);
    if (!kind)
        return evl_no_memory(p->ctx);
    uint64_t zero = (uint64_t)(int64_t)evl_parameter(how.zero, 0, 0);
    EvalStatus st = evl_prepare_block(p, s->of->w, kind, zero, bytes, pack, &how, &block);
    if (st == EVAL_OK)
        s->packed = block;
    return st;
}

static void set_parameters(const plan *s, const evl_use *use, const parameters *to)
{
    const roles *of = s->of;
    const evl_tensor *bias = evl_use_in(use, of->bias);
    evl_number x = evl_parameter(evl_use_in(use, of->x_scale), 0, 1);
    evl_number y = evl_parameter(evl_use_in(use, of->y_scale), 0, 1);
    size_t size = evl_type_size(s->sums.real);
    for (size_t i = 0; i < s->channels; i++) {
        evl_number scale = evl_sums_scale(&s->sums, x, evl_parameter(evl_use_in(use, of->w_scale), i, 1), y);
        (void)evl_convert(1, EVAL_FLOAT64, &scale, s->sums.real, (char *)to->scale + i * size);
        to->add[i] = bias ? (int32_t)evl_tensor_i64(bias, i) : 0;
    }
}

/* Once, when all are known; else in each run. */
static EvalStatus take_parameters(evl_prepare *p, plan *s)
{
    const uint8_t inputs[] = { s->of->x_scale, s->of->w_scale, s->of->y_scale, s->of->bias };
    size_t size = evl_type_size(s->sums.real);
    bool known = true;
    for (size_t i = 0; i < sizeof inputs; i++) {
        const evl_tensor *t = evl_use_in(&p->use, inputs[i]);
        known = known && (!t || t->data);
    }
    if (!known)
        return reserve(&p->scratch_bytes, s->channels, size, &s->scale_at) &&
                       reserve(&p->scratch_bytes, s->channels, sizeof(int32_t), &s->add_at)
                   ? EVAL_OK
                   : evl_no_memory(p->ctx);
    s->parameters.scale = evl_arena_take_many(p->arena, s->channels + 1, size);
    s->parameters.add = evl_arena_take_many(p->arena, s->channels + 1, sizeof(int32_t));
    if (!s->parameters.scale || !s->parameters.add)
        return evl_no_memory(p->ctx);
    set_parameters(s, &p->use, &s->parameters);
    return EVAL_OK;
}

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void cut(plan *s, size_t threads)
{
    const evl_conv *c = &s->conv;
    size_t tiles = c->batch * c->groups * s->bands.n, n, most = SIZE_MAX;
    s->rows = c->out_channels ? round_up(c->out_channels, s->k->rows) : 1;
    if (tiles < TILES_WANTED && threads > 1)
        s->rows = round_up(s->rows / TILES_WANTED + 1, s->k->rows);
    s->n_down = (c->out_channels + s->rows - 1) / s->rows;
    s->columns = round_up(s->bands.rows * s->bands.pitch, s->k->columns);
    if (s->is_winograd) /* the last row of tiles is a whole number of vectors */
        s->columns = round_up((s->bands.rows - 1) * s->bands.width + round_up(s->bands.width, s->k->columns / 2),
                              s->k->columns);
    for (size_t i = 0; s->is_winograd && i < s->bands.sources; i++)
        s->sources[i] = i * s->columns;
    s->work = evl_size_multiply(c->out_plane * c->batch, s->channels, &n) &&
                      evl_size_multiply(n, c->in_channels * c->kernel, &n)
                  ? n
                  : most;
}

static EvalStatus take_scratch(evl_prepare *p, plan *s)
{
    size_t lane = 0, pairs_at;
    size_t elements = s->is_winograd ? EVL_BYTE_ELEMENTS : 1;
    size_t values = s->is_winograd ? elements * s->bands.sources * s->columns : 0;
    bool fits = reserve(&lane, s->bands.pairs, 2 * sizeof(int16_t), &pairs_at) &&
                reserve(&lane, values, 2 * sizeof(int16_t), &s->values_at) &&
                reserve(&lane, elements * s->k->rows * sizeof(int32_t), s->columns, &s->c_at) &&
                reserve(&lane, 4 * s->k->columns + s->columns * sizeof(int32_t), 1, &s->codes_at) &&
                reserve(&lane, s->bands.plane, 1, &s->plane_at);
    s->lane = round_up(lane, EVL_ALIGNMENT);
    fits = fits && reserve(&p->scratch_bytes, s->lane, evl_pool_threads(p->machine->pool), &s->lanes_at);
    return fits ? EVAL_OK : evl_no_memory(p->ctx);
}

/* Winograd's way ends in bytes, by way of float32. */
static EvalStatus take_bands(evl_prepare *p, plan *s)
{
    evl_byte_limits limits = { COPY_BYTES, MOST_COLUMNS, 2 * s->k->columns };
    evl_conv windows = s->conv;
    s->is_winograd = evl_is_byte(s->sums.type) && s->sums.real == EVAL_FLOAT32 && evl_byte_winograd_fits(&s->conv);
    if (s->is_winograd) {
        size_t column = EVL_BYTE_ELEMENTS * (s->conv.in_channels + 1) * sizeof(int16_t);
        limits.columns = VALUES_BYTES / column < FEW_COLUMNS ? FEW_COLUMNS : VALUES_BYTES / column;
        windows = evl_byte_winograd_window(&s->conv);
        s->sources = evl_arena_take_many(p->arena, s->conv.in_channels, sizeof *s->sources);
        if (!s->sources)
            return evl_no_memory(p->ctx);
        p->strategy = "Winograd 2 x 2";
    }
    return evl_byte_bands_of(p->ctx, p->arena, &windows, limits, &s->bands);
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
    s->sums = evl_sums_of(p->machine, &p->use, s->of->x_scale, p->out[0]->type);
    s->k = p->machine->loops[EVAL_FLOAT32]->integers;
    s->channels = s->conv.groups * s->conv.out_channels;
    p->state = s;
    if (st == EVAL_OK)
        st = take_bands(p, s);
    if (st == EVAL_OK)
        st = pack_weights(p, s);
    if (st == EVAL_OK)
        st = take_parameters(p, s);
    if (st != EVAL_OK)
        return st;
    cut(s, evl_pool_threads(p->machine->pool));
    return take_scratch(p, s);
}

/* --- running --- */

typedef struct running {
    const evl_call *call;
    const plan *s;
    evl_use use;
    const int16_t *weights;
    parameters parameters;
    int32_t x_zero;
    double y_zero; /* of the type that is computed in */
} running;

static const evl_tensor *operand(const running *r, uint8_t role)
{
    return evl_use_in(&r->use, role);
}

typedef struct tile {
    size_t index, group;     /* of images and groups; the group */
    evl_byte_band band;
    size_t row, end;         /* channels of the group */
    int16_t *pairs, *values;
    int32_t *c;
    char *codes;
    uint8_t *plane; /* of bytes */
} tile;

static void copy(const running *r, const tile *t)
{
    const plan *s = r->s;
    const evl_conv *c = &s->conv;
    const evl_tensor *x = operand(r, s->of->x);
    const uint8_t *bytes = x->data;
    evl_byte_source from = { s->k, bytes + t->index * c->in_channels * c->in_plane,
                             bytes + c->batch * c->groups * c->in_channels * c->in_plane, t->plane,
                             x->type == EVAL_INT8, r->x_zero };
    evl_byte_bands_copy(&s->bands, &t->band, &from, t->pairs);
}

/* The sums of a channel to the output, but for those that are nobody's. */
static void finish(const running *r, const tile *t, size_t row, int32_t *c)
{
    const plan *s = r->s;
    const evl_stencil *of = &s->conv.stencil;
    size_t size = evl_type_size(r->call->out[0]->type), line = (size_t)of->out[2];
    size_t channel = t->group * s->conv.out_channels + row;
    size_t at = (t->index * s->conv.out_channels + row) * s->conv.out_plane +
                (t->band.z * (size_t)of->out[1] + t->band.y) * line + t->band.x;
    char *y = (char *)r->call->out[0]->data + at * size;
    bool is_whole = t->band.n == t->band.rows * t->band.width && (t->band.width == line || t->band.rows == 1);
    char *codes = is_whole ? y : t->codes;
    evl_sums_finish(&s->sums, t->band.n, c, r->parameters.add + channel,
                    (const char *)r->parameters.scale + channel * evl_type_size(s->sums.real), &r->y_zero, 0, codes);
    for (size_t i = 0; !is_whole && i < t->band.rows; i++)
        memcpy(y + i * line * size, codes + i * s->bands.pitch * size, t->band.width * size);
}

static void multiply(const running *r, const tile *t, size_t row, size_t n)
{
    const plan *s = r->s;
    size_t first = t->group * s->conv.out_channels + row;
    evl_pairs_product g = { .m = n,
                            .n = t->band.n,
                            .steps = s->bands.steps,
                            .a = r->weights + 2 * first * s->bands.steps,
                            .a_row = 2,
                            .a_step = 2 * n,
                            .b = t->pairs,
                            .b_at = s->bands.taps,
                            .c = t->c,
                            .c_row = s->columns };
    s->k->product(&g);
    for (size_t i = 0; i < n; i++)
        finish(r, t, row + i, t->c + i * g.c_row);
}

/* --- Winograd's way --- */

/* [element][pair of channels][tile] */
static void transform(const running *r, const tile *t)
{
    const plan *s = r->s;
    const evl_byte_bands *b = &s->bands;
    for (size_t i = 0; i < b->sources; i++)
        for (size_t y = 0; y < t->band.rows; y++)
            s->k->before(t->band.width, t->pairs + 2 * y * b->pitch, b->taps + i * EVL_BYTE_ELEMENTS,
                         2 * b->sources * s->columns, t->values + 2 * (i * s->columns + y * t->band.width));
}

/* The products of a channel, [element][channel][tile], to the output. */
static void finish_tiles(const running *r, const tile *t, size_t row, const int32_t *c)
{
    const plan *s = r->s;
    size_t line = (size_t)s->conv.stencil.out[2], height = (size_t)s->conv.stencil.out[1];
    size_t width = 2 * t->band.width < line - 2 * t->band.x ? 2 * t->band.width : line - 2 * t->band.x;
    uint8_t *y = (uint8_t *)r->call->out[0]->data + (t->index * s->conv.out_channels + row) * s->conv.out_plane;
    uint8_t *lines[2] = { (uint8_t *)t->codes, (uint8_t *)t->codes + 2 * round_up(t->band.width, s->k->columns) };
    const evl_requantized how = { (const float *)r->parameters.scale + row, r->parameters.add + row, 0,
                                  (float)evl_parameter(operand(r, s->of->y_zero), 0, 0), (float)s->sums.of.least, (float)s->sums.of.most };
    for (size_t i = 0; i < t->band.rows; i++) {
        size_t at = 2 * (t->band.y + i);
        s->k->after(&how, t->band.width, c + i * t->band.width, s->k->rows * s->columns, lines);
        memcpy(y + at * line + 2 * t->band.x, lines[0], width);
        if (at + 1 < height)
            memcpy(y + (at + 1) * line + 2 * t->band.x, lines[1], width);
    }
}

static void multiply_tiles(const running *r, const tile *t, size_t row, size_t n)
{
    const plan *s = r->s;
    size_t pairs = s->bands.sources;
    evl_pairs_product g = { .m = n, .n = t->band.rows * t->band.width, .steps = pairs, .a_row = 2,
                            .a_step = 2 * n, .b_at = s->sources, .c_row = s->columns };
    for (size_t e = 0; e < EVL_BYTE_ELEMENTS; e++) {
        g.a = r->weights + 2 * (row * s->bands.steps + e * pairs * n);
        g.b = t->values + 2 * e * pairs * s->columns;
        g.c = t->c + e * s->k->rows * s->columns;
        s->k->product(&g);
    }
    for (size_t i = 0; i < n; i++)
        finish_tiles(r, t, row + i, t->c + i * s->columns);
}

static void tile_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *s = r->s;
    const evl_conv *c = &s->conv;
    char *room = (char *)r->call->scratch + s->lanes_at + lane * s->lane;
    size_t place = index % (s->n_down * s->bands.n);
    tile t = { .index = index / (s->n_down * s->bands.n),
               .band = evl_byte_band_at(&s->bands, place % s->bands.n),
               .row = place / s->bands.n * s->rows,
               .pairs = (int16_t *)room,
               .values = (int16_t *)(room + s->values_at),
               .c = (int32_t *)(room + s->c_at),
               .codes = room + s->codes_at,
               .plane = (uint8_t *)room + s->plane_at };
    t.group = t.index % c->groups;
    t.end = c->out_channels - t.row < s->rows ? c->out_channels : t.row + s->rows;
    copy(r, &t);
    if (s->is_winograd)
        transform(r, &t);
    for (size_t i = t.row; i < t.end; i += s->k->rows)
        (s->is_winograd ? multiply_tiles : multiply)(r, &t, i, t.end - i < s->k->rows ? t.end - i : s->k->rows);
}

typedef struct packing_run {
    packing how;
    const evl_tensor *source;
    int16_t *block;
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
    running r = { .call = call, .s = s, .use = { call->node, call->in, call->n_in }, .weights = s->packed,
                  .parameters = s->parameters };
    char *scratch = call->scratch;
    evl_pool *pool = s->work < SMALL ? NULL : call->machine->pool;
    evl_number y_zero = evl_parameter(operand(&r, s->of->y_zero), 0, 0);
    if (evl_shape_count(&call->out[0]->shape) == 0)
        return EVAL_OK;
    r.x_zero = (int32_t)evl_parameter(operand(&r, s->of->x_zero), 0, 0);
    (void)evl_convert(1, EVAL_FLOAT64, &y_zero, s->sums.real, &r.y_zero);
    if (!r.parameters.scale) {
        r.parameters = (parameters){ scratch + s->scale_at, (int32_t *)(scratch + s->add_at) };
        set_parameters(s, &r.use, &r.parameters);
    }
    if (!s->packed) {
        int16_t *block = (int16_t *)(scratch + s->packed_at);
        packing_run p = { { s, operand(&r, s->of->w_zero) }, operand(&r, s->of->w), block };
        r.weights = block;
        evl_parallel_for(pool, s->channels, pack_work, &p);
    }
    evl_parallel_for(pool, s->conv.batch * s->conv.groups * s->n_down * s->bands.n, tile_work, &r);
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
