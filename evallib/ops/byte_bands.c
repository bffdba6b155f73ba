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
static evl_byte_axis axis_of(const evl_stencil *s, int d, size_t every, size_t outputs)
{
    evl_byte_axis a = { .stride = s->stride[d], .spacing = s->dilation[d] * (int64_t)every, .begin = s->begin[d],
                        .in = s->in[d], .kernel = ceil_divide((size_t)s->kernel[d], every) };
    size_t period = (size_t)(a.stride / common_divisor(a.stride, a.spacing));
    a.phases = a.kernel < period ? a.kernel : period;
    a.reach = (a.kernel - 1) * (size_t)a.spacing / (size_t)a.stride;
    a.is_apart = a.reach / a.kernel > outputs;
    if (a.is_apart) {
        a.phases = a.kernel;
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
    size_t rows = (b->lines - 1) * (size_t)b->y.stride + (size_t)s->dilation[Y] + 1;
    if (b->by_rows && (!evl_size_multiply(rows, b->pitch, &b->plane) ||
                       !evl_size_multiply(b->plane, (size_t)b->x.stride, &b->plane) ||
                       !evl_size_add(b->plane, spare * (size_t)b->x.stride, &b->plane)))
        return false;
    return evl_size_multiply(b->sources * b->planes, b->lines, &b->pairs) &&
           evl_size_multiply(b->pairs, b->pitch, &b->pairs) &&
           evl_size_add(b->pairs, spare + b->pitch, &b->pairs) && b->pairs < SIZE_MAX / 64 &&
           evl_size_multiply(b->y.kernel, b->sources * (size_t)s->kernel[Z] * b->x.kernel, &b->steps);
}

/* The parts of a step: source, and positions of the kernel. */
typedef struct place {
    size_t source, z, y, x;
} place;

static place place_of(const evl_byte_bands *b, size_t step)
{
    size_t x = b->x.kernel, y = b->y.kernel, z = (size_t)b->conv.stencil.kernel[Z];
    return (place){ step / x / y / z, step / x / y % z, step / x % y, step % x };
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
    place p = place_of(b, step);
    size_t rows = (size_t)b->conv.stencil.kernel[Y], y = b->by_rows ? 2 * p.y : p.y;
    size_t first = b->by_rows ? p.source : 2 * p.source;
    at[0] = first * b->conv.kernel + (p.z * rows + y) * b->x.kernel + p.x;
    if (b->by_rows)
        at[1] = y + 1 < rows ? at[0] + b->x.kernel : SIZE_MAX;
    else
        at[1] = first + 1 < b->conv.in_channels ? at[0] + b->conv.kernel : SIZE_MAX;
}

EvalStatus evl_byte_bands_of(evl_context *ctx, evl_arena *arena, const evl_conv *conv, evl_byte_limits limits,
                             evl_byte_bands *b)
{
    const evl_stencil *s = &conv->stencil;
    *b = (evl_byte_bands){ .conv = *conv, .by_rows = conv->in_channels == 1,
                           .sources = (conv->in_channels + 1) / 2 };
    b->y = axis_of(s, Y, b->by_rows ? 2 : 1, FEW_ROWS);
    b->x = axis_of(s, X, 1, (size_t)s->out[X]);
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

static span span_of(const evl_byte_axis *x, size_t places, int64_t position)
{
    int64_t n = (int64_t)places;
    int64_t from = position < 0 ? (x->stride - 1 - position) / x->stride : 0;
    int64_t end = x->in > position ? (x->in - position + x->stride - 1) / x->stride : 0;
    from = from > n ? n : from;
    end = end > n ? n : end < from ? from : end;
    return (span){ (size_t)from, (size_t)end, (size_t)(position + from * x->stride) };
}

static void beside(const copying *c, size_t n, const uint8_t *one, const uint8_t *other, const uint8_t *end,
                   int16_t *to)
{
    const size_t vector = c->from->k->columns / 2, stride = (size_t)c->b->x.stride;
    const uint8_t *last = one > other ? one : other;
    const evl_bytes_beside p = { n, stride, one, other, c->from->is_signed,
                                 (size_t)(end - last) / stride >= n + vector, c->from->zero };
    c->from->k->beside(&p, to);
}

static void copy_line(const copying *c, const uint8_t *one, const uint8_t *other, const span *x, int16_t *to)
{
    size_t pitch = c->b->pitch;
    if (!one || x->from == x->end) {
        memset(to, 0, 2 * pitch * sizeof *to);
        return;
    }
    for (size_t i = 0; i < 2 * x->from; i++)
        to[i] = 0;
    beside(c, x->end - x->from, one + x->first, other + x->first, c->from->end, to + 2 * x->from);
    for (size_t i = 2 * x->end; i < 2 * pitch; i++)
        to[i] = 0;
}

/* Of channels beside each other. */
static void copy_plane(const copying *c, size_t source, size_t plane, int16_t *to)
{
    const evl_byte_bands *b = c->b;
    const evl_stencil *s = &b->conv.stencil;
    size_t kz = plane / b->x.phases / b->y.phases, channel = 2 * source;
    size_t next = channel + 1 == b->conv.in_channels ? channel : channel + 1;
    int64_t z = (int64_t)c->band->z * s->stride[Z] - s->begin[Z] + (int64_t)kz * s->dilation[Z];
    int64_t y = position(&b->y, plane / b->x.phases % b->y.phases, c->band->y);
    const span x = span_of(&b->x, b->pitch, position(&b->x, plane % b->x.phases, c->band->x));
    size_t lines = c->band->rows + b->y.reach;
    for (size_t l = 0; l < lines; l++, y += b->y.stride, to += 2 * b->pitch)
        copy_line(c, line_at(c, channel, z, y), line_at(c, next, z, y), &x, to);
}

/* Of rows beside each other: the lines of a padded plane of bytes, and those below them. */
static void copy_rows(const copying *c, size_t plane, int16_t *to)
{
    const evl_byte_bands *b = c->b;
    const evl_stencil *s = &b->conv.stencil;
    const evl_byte_axis whole = { .stride = 1, .in = s->in[X] };
    size_t lines = c->band->rows + b->y.reach, stride = (size_t)b->x.stride, below = (size_t)s->dilation[Y];
    size_t places = b->pitch * stride, n = (lines - 1) * (size_t)b->y.stride + below + 1;
    int64_t z = (int64_t)c->band->z * s->stride[Z] - s->begin[Z] +
                (int64_t)(plane / b->x.phases / b->y.phases) * s->dilation[Z];
    int64_t y = position(&b->y, plane / b->x.phases % b->y.phases, c->band->y);
    const span x = span_of(&whole, places, position(&b->x, plane % b->x.phases, c->band->x));
    uint8_t *line = c->from->plane;
    const uint8_t *end = line + b->plane;
    memset(line, c->from->zero & 0xff, n * places);
    for (size_t l = 0; l < n; l++, y++) {
        const uint8_t *from = line_at(c, 0, z, y);
        if (from)
            memcpy(line + l * places + x.from, from + x.first, x.end - x.from);
    }
    if (stride == 1 && b->y.stride == 1) {
        beside(c, lines * places, line, line + below * places, end, to);
        return;
    }
    for (size_t l = 0; l < lines; l++, line += (size_t)b->y.stride * places, to += 2 * b->pitch)
        beside(c, b->pitch, line, line + below * places, end, to);
}

/* Whether lines of a plane follow each other in the input without a gap. */
static bool is_whole(const evl_byte_bands *b, const evl_byte_band *band)
{
    const evl_stencil *s = &b->conv.stencil;
    return b->planes == 1 && b->x.stride == 1 && b->y.stride == 1 && s->stride[Z] == 1 && s->begin[X] == 0 &&
           s->begin[Y] == 0 && s->begin[Z] == 0 && s->end[Y] == 0 && b->pitch == (size_t)s->in[X] && band->x == 0;
}

static void copy_whole(const copying *c, size_t source, int16_t *to)
{
    size_t channel = 2 * source, next = channel + 1 == c->b->conv.in_channels ? channel : channel + 1;
    int64_t z = (int64_t)c->band->z, y = (int64_t)c->band->y;
    beside(c, (c->band->rows + c->b->y.reach) * c->b->pitch, line_at(c, channel, z, y), line_at(c, next, z, y),
           c->from->end, to);
}

void evl_byte_bands_copy(const evl_byte_bands *b, const evl_byte_band *band, const evl_byte_source *from,
                         int16_t *pairs)
{
    const copying c = { b, band, from };
    bool whole = is_whole(b, band);
    for (size_t s = 0; s < b->sources; s++)
        for (size_t p = 0; p < b->planes; p++, pairs += 2 * b->lines * b->pitch)
            if (b->by_rows)
                copy_rows(&c, p, pairs);
            else if (whole)
                copy_whole(&c, s, pairs);
            else
                copy_plane(&c, s, p, pairs);
}
