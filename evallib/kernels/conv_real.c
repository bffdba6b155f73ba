/* Channels convolved one by one (depthwise), and the table of convolution kernels. */
#include "base/memory.h"
#include "kernels/conv_parts.h"
#include "kernels/vector.h"

enum {
    SIDE = 4, /* vectors of outputs at once: so many sums wait for each other */
    SIDE_OUTPUTS = SIDE * LANES
};

/* The padded plane: [depth][height][stride][length]. */
typedef struct layout {
    int64_t depth, height, phases, length;
} layout;

static int64_t reach(const evl_stencil *w, int d)
{
    return (w->kernel[d] - 1) * w->dilation[d] + 1;
}

static layout layout_of(const evl_stencil *w)
{
    return (layout){
        .depth = (w->out[0] - 1) * w->stride[0] + reach(w, 0),
        .height = (w->out[1] - 1) * w->stride[1] + reach(w, 1),
        .phases = w->stride[2],
        .length = (w->out[2] + LANES - 1) / LANES * LANES + (reach(w, 2) - 1) / w->stride[2] + 1,
    };
}

/* Padding that outweighs the plane is cheaper asked for than held. */
static size_t padded_size(const evl_stencil *w)
{
    layout l = layout_of(w);
    size_t rows, line, size, plane = (size_t)w->in[0] * (size_t)w->in[1] * (size_t)w->in[2];
    if (!evl_size_multiply((size_t)l.depth, (size_t)l.height, &rows) ||
        !evl_size_multiply((size_t)l.phases, (size_t)l.length, &line) ||
        !evl_size_multiply(rows, line, &size) || size > 8 * plane + 65536)
        return 0;
    return size;
}

static void taps(const evl_stencil *w, size_t *to)
{
    layout l = layout_of(w);
    for (int64_t z = 0; z < w->kernel[0]; z++)
        for (int64_t y = 0; y < w->kernel[1]; y++)
            for (int64_t x = 0; x < w->kernel[2]; x++) {
                int64_t row = z * w->dilation[0] * l.height + y * w->dilation[1];
                int64_t column = x * w->dilation[2];
                *to++ =
                    (size_t)((row * l.phases + column % l.phases) * l.length + column / l.phases);
            }
}

/* A row of the input, from its padded place on; what no window reaches is left out. */
static void pad_row(const layout *l, int64_t begin, int64_t n, const real *x, real *row)
{
    int64_t reached = l->length * l->phases - begin;
    n = n < reached ? n : reached;
    if (l->phases == 1)
        for (int64_t i = 0; i < n; i++)
            row[begin + i] = x[i];
    else
        for (int64_t i = 0; i < n; i++)
            row[(begin + i) % l->phases * l->length + (begin + i) / l->phases] = x[i];
}

static void pad(const evl_stencil *w, const real *x, real *padded)
{
    layout l = layout_of(w);
    int64_t row = l.phases * l.length, all = l.depth * l.height * row;
    for (int64_t i = 0; i < all; i++)
        padded[i] = 0;
    for (int64_t z = 0; z < w->in[0] && z + w->begin[0] < l.depth; z++)
        for (int64_t y = 0; y < w->in[1] && y + w->begin[1] < l.height; y++) {
            int64_t place = (z + w->begin[0]) * l.height + y + w->begin[1];
            pad_row(&l, w->begin[2], w->in[2], x + (z * w->in[1] + y) * w->in[2],
                    padded + place * row);
        }
}

/* SIDE vectors of one output row. */
static void side(const evl_conv_channel *c, size_t n_taps, const real *from, real *y)
{
    vec sum[SIDE];
    for (size_t v = 0; v < SIDE; v++)
        sum[v] = (vec){ 0 } + c->bias;
    for (size_t t = 0; t < n_taps; t++)
#pragma GCC unroll 4
        for (size_t v = 0; v < SIDE; v++)
            sum[v] += c->weights[t] * vec_load(from + c->taps[t] + v * LANES);
    for (size_t v = 0; v < SIDE; v++)
        vec_store(y + v * LANES, sum[v]);
}

static vec one(const evl_conv_channel *c, size_t n_taps, const real *from)
{
    vec sum = (vec){ 0 } + c->bias;
    for (size_t t = 0; t < n_taps; t++)
        sum += c->weights[t] * vec_load(from + c->taps[t]);
    return sum;
}

static void output_row(const evl_conv_channel *c, size_t n_taps, const real *from, real *y)
{
    size_t n = (size_t)c->stencil->out[2], x = 0;
    for (; x + SIDE_OUTPUTS <= n; x += SIDE_OUTPUTS)
        side(c, n_taps, from + x, y + x);
    for (; x + LANES <= n; x += LANES)
        vec_store(y + x, one(c, n_taps, from + x));
    if (x == n)
        return;
    real rest[LANES];
    vec_store(rest, one(c, n_taps, from + x));
    for (size_t i = 0; x + i < n; i++)
        y[x + i] = rest[i];
}

static void channel(const evl_conv_channel *c)
{
    const evl_stencil *w = c->stencil;
    layout l = layout_of(w);
    size_t n_taps = (size_t)(w->kernel[0] * w->kernel[1] * w->kernel[2]);
    real *y = c->y;
    for (int64_t oz = 0; oz < w->out[0]; oz++)
        for (int64_t oy = 0; oy < w->out[1]; oy++, y += w->out[2]) {
            int64_t row = oz * w->stride[0] * l.height + oy * w->stride[1];
            output_row(c, n_taps, c->padded + row * l.phases * l.length, y);
        }
}

const evl_conv_kernels SET(evl_conv_kernels) = {
    .windows = SET(evl_conv_windows),
    .padded_size = padded_size,
    .taps = taps,
    .pad = pad,
    .channel = channel,
    .scatter = SET(evl_conv_scatter),
};
