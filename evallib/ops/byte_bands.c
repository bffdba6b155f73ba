#include "ops/byte_bands.h"
#include "ops/operands.h"
#include <string.h>

enum { Z, Y, X, FEW_ROWS = 8 };

static size_t ceil_divide(size_t n, size_t by)
{
    return n / by + (n % by != 0);
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* --- one dimension --- */

/* Positions that the stride leaves alike share a plane, unless dilation makes that longer than
** planes for each. */
static evl_byte_axis axis_of(const evl_stencil *s, int d, size_t outputs)
{
    evl_byte_axis a = { .stride = s->stride[d], .spacing = s->dilation[d], .begin = s->begin[d],
                        .in = s->in[d] };
    size_t kernel = (size_t)s->kernel[d], period = (size_t)(a.stride / common_divisor(a.stride, a.spacing));
    a.phases = kernel < period ? kernel : period;
    a.reach = (size_t)((s->kernel[d] - 1) * a.spacing / a.stride);
    a.is_apart = a.reach / kernel > outputs;
    if (a.is_apart) {
        a.phases = kernel;
        a.reach = 0;
    }
    return a;
}

static size_t shift_of(const evl_byte_axis *a, size_t k)
{
    return a->is_apart ? 0 : k * (size_t)a->spacing / (size_t)a->stride;
}

/* Where plane `phase` begins, for output `out`. */
static int64_t position(const evl_byte_axis *a, size_t phase, size_t out)
{
    int64_t at = (int64_t)phase * a->spacing;
    return (int64_t)out * a->stride + (a->is_apart ? at : at % a->stride) - a->begin;
}

/* --- bands --- */

/* As many rows as fit; of a single one, part of it. */
static void cut(evl_byte_bands *b, const evl_byte_limits *limits)
{
    size_t height = (size_t)b->conv.stencil.out[Y], each = b->sources * b->planes * 2 * sizeof(int16_t);
    b->width = (size_t)b->conv.stencil.out[X];
    b->pitch = b->width + b->x.reach;
    size_t lines = limits->bytes / (each + 1) / b->pitch, most = limits->columns / b->pitch;
    b->rows = lines > b->y.reach + 1 ? lines - b->y.reach : 1;
    b->rows = b->rows < most ? b->rows : most;
    b->rows = b->rows > height ? height : b->rows ? b->rows : 1;
    b->down = ceil_divide(height, b->rows);
    b->rows = b->down ? ceil_divide(height, b->down) : 1;
    if (b->rows == 1 && b->width > limits->columns) {
        b->width = limits->columns;
        b->pitch = b->width + b->x.reach;
    }
    b->across = b->width ? ceil_divide((size_t)b->conv.stencil.out[X], b->width) : 0;
    b->lines = b->rows + b->y.reach;
    b->n = (size_t)b->conv.stencil.out[Z] * b->down * b->across;
}

static bool count(evl_byte_bands *b, size_t spare)
{
    const evl_stencil *s = &b->conv.stencil;
    size_t kernel_y = (size_t)s->kernel[Y];
    return evl_size_multiply(b->sources * b->planes, b->lines, &b->pairs) &&
           evl_size_multiply(b->pairs, b->pitch, &b->pairs) &&
           evl_size_add(b->pairs, spare + b->pitch, &b->pairs) && b->pairs < SIZE_MAX / 64 &&
           evl_size_multiply(b->by_rows ? (kernel_y + 1) / 2 : kernel_y,
                             b->sources * (size_t)s->kernel[Z] * (size_t)s->kernel[X], &b->steps);
}

/* The parts of a step: source, and places of the kernel. */
typedef struct place {
    size_t source, z, y, x;
} place;

static place place_of(const evl_byte_bands *b, size_t step)
{
    const evl_stencil *s = &b->conv.stencil;
    size_t x = (size_t)s->kernel[X], y = (size_t)s->kernel[Y], z = (size_t)s->kernel[Z];
    size_t rows = b->by_rows ? (y + 1) / 2 : y;
    return (place){ step / x / rows / z, step / x / rows % z, step / x % rows * (b->by_rows ? 2 : 1), step % x };
}

static size_t tap_of(const evl_byte_bands *b, size_t step)
{
    place p = place_of(b, step);
    size_t plane = (p.z * b->y.phases + p.y % b->y.phases) * b->x.phases + p.x % b->x.phases;
    return ((p.source * b->planes + plane) * b->lines + shift_of(&b->y, p.y)) * b->pitch +
           shift_of(&b->x, p.x);
}

void evl_byte_bands_weights(const evl_byte_bands *b, size_t step, size_t at[2])
{
    const evl_stencil *s = &b->conv.stencil;
    place p = place_of(b, step);
    size_t kernel = b->conv.kernel, line = (size_t)s->kernel[X], first = b->by_rows ? p.source : 2 * p.source;
    at[0] = first * kernel + (p.z * (size_t)s->kernel[Y] + p.y) * line + p.x;
    if (b->by_rows)
        at[1] = p.y + 1 < (size_t)s->kernel[Y] ? at[0] + line : SIZE_MAX;
    else
        at[1] = first + 1 < b->conv.in_channels ? at[0] + kernel : SIZE_MAX;
}

EvalStatus evl_byte_bands_of(evl_context *ctx, evl_arena *arena, const evl_conv *conv, evl_byte_limits limits,
                             evl_byte_bands *b)
{
    const evl_stencil *s = &conv->stencil;
    *b = (evl_byte_bands){ .conv = *conv, .by_rows = conv->in_channels == 1,
                           .sources = (conv->in_channels + 1) / 2 };
    b->y = axis_of(s, Y, FEW_ROWS);
    b->x = axis_of(s, X, (size_t)s->out[X]);
    b->planes = (size_t)s->kernel[Z] * b->y.phases * b->x.phases;
    if (conv->out_plane == 0)
        return EVAL_OK;
    cut(b, &limits);
    if (!count(b, limits.spare))
        return evl_no_memory(ctx);
    b->taps = evl_arena_take_many(arena, b->steps + 1, sizeof *b->taps);
    if (!b->taps)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < b->steps; i++)
        b->taps[i] = tap_of(b, i);
    return EVAL_OK;
}

evl_byte_band evl_byte_band_at(const evl_byte_bands *b, size_t index)
{
    const evl_stencil *s = &b->conv.stencil;
    evl_byte_band band = { .z = index / b->across / b->down, .y = index / b->across % b->down * b->rows,
                           .x = index % b->across * b->width };
    size_t rows = (size_t)s->out[Y] - band.y, width = (size_t)s->out[X] - band.x;
    band.rows = rows < b->rows ? rows : b->rows;
    band.width = width < b->width ? width : b->width;
    band.n = (band.rows - 1) * b->pitch + band.width;
    return band;
}

/* --- copying --- */

typedef struct copying {
    const evl_byte_bands *b;
    const evl_byte_band *band;
    const evl_byte_source *from;
} copying;

/* A row of the input; NULL: it is padding. */
static const uint8_t *line_at(const copying *c, size_t channel, int64_t z, int64_t y)
{
    const evl_stencil *s = &c->b->conv.stencil;
    if (z < 0 || z >= s->in[Z] || y < 0 || y >= s->in[Y])
        return NULL;
    return c->from->x + channel * c->b->conv.in_plane + (size_t)((z * s->in[Y] + y) * s->in[X]);
}

/* Where the places of a line are in the input: from .. end of them, the first at `first`. */
typedef struct span {
    size_t from, end, first;
} span;

static span span_of(const copying *c, int64_t position)
{
    const evl_byte_axis *x = &c->b->x;
    int64_t n = (int64_t)c->b->pitch;
    int64_t from = position < 0 ? (x->stride - 1 - position) / x->stride : 0;
    int64_t end = x->in > position ? (x->in - position + x->stride - 1) / x->stride : 0;
    from = from > n ? n : from;
    end = end > n ? n : end < from ? from : end;
    return (span){ (size_t)from, (size_t)end, (size_t)(position + from * x->stride) };
}

static void copy_line(const copying *c, const uint8_t *one, const uint8_t *other, const span *x, int16_t *to)
{
    size_t pitch = c->b->pitch;
    if ((!one && !other) || x->from == x->end) {
        memset(to, 0, 2 * pitch * sizeof *to);
        return;
    }
    for (size_t i = 0; i < 2 * x->from; i++)
        to[i] = 0;
    for (size_t i = 2 * x->end; i < 2 * pitch; i++)
        to[i] = 0;
    const evl_bytes_beside p = { x->end - x->from, (size_t)c->b->x.stride, (one ? one : c->from->zeros) + x->first,
                                 (other ? other : c->from->zeros) + x->first, c->from->is_signed, c->from->zero };
    c->from->k->beside(&p, to + 2 * x->from);
}

/* Lines of a plane that follow each other in the input without a gap are one. */
static bool is_whole(const evl_byte_bands *b)
{
    return !b->by_rows && b->x.stride == 1 && b->y.stride == 1 && b->x.begin == 0 && b->y.begin == 0 &&
           b->pitch == (size_t)b->x.in;
}

static void copy_plane(const copying *c, size_t source, size_t plane, int16_t *to)
{
    const evl_byte_bands *b = c->b;
    const evl_stencil *s = &b->conv.stencil;
    size_t kz = plane / b->x.phases / b->y.phases, channel = b->by_rows ? source : 2 * source;
    size_t beside = b->by_rows || channel + 1 == b->conv.in_channels ? channel : channel + 1;
    int64_t z = (int64_t)c->band->z * s->stride[Z] - s->begin[Z] + (int64_t)kz * s->dilation[Z];
    int64_t y = position(&b->y, plane / b->x.phases % b->y.phases, c->band->y);
    const span x = span_of(c, position(&b->x, plane % b->x.phases, c->band->x));
    size_t lines = c->band->rows + b->y.reach;
    for (size_t l = 0; l < lines; l++, y += b->y.stride, to += 2 * b->pitch)
        copy_line(c, line_at(c, channel, z, y), line_at(c, beside, z, b->by_rows ? y + b->y.spacing : y), &x, to);
}

static void copy_whole(const copying *c, size_t source, int16_t *to)
{
    const evl_byte_bands *b = c->b;
    size_t beside = 2 * source + 1 == b->conv.in_channels ? 2 * source : 2 * source + 1;
    evl_bytes_beside p = { (c->band->rows + b->y.reach) * b->pitch, 1,
                           line_at(c, 2 * source, (int64_t)c->band->z, (int64_t)c->band->y),
                           line_at(c, beside, (int64_t)c->band->z, (int64_t)c->band->y),
                           c->from->is_signed, c->from->zero };
    c->from->k->beside(&p, to);
}

void evl_byte_bands_copy(const evl_byte_bands *b, const evl_byte_band *band, const evl_byte_source *from,
                         int16_t *pairs)
{
    copying c = { b, band, from };
    bool whole = is_whole(b) && b->planes == 1 && b->conv.stencil.end[Y] == 0 && b->conv.stencil.begin[Z] == 0 &&
                 b->conv.stencil.stride[Z] == 1 && band->x == 0;
    for (size_t s = 0; s < b->sources; s++)
        for (size_t p = 0; p < b->planes; p++) {
            int16_t *to = pairs + 2 * (s * b->planes + p) * b->lines * b->pitch;
            if (whole)
                copy_whole(&c, s, to);
            else
                copy_plane(&c, s, p, to);
        }
}
