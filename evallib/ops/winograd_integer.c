#include "ops/winograd_integer.h"

enum {
    Z, Y, X,
    MOST_CHANNELS = 900, /* 4 * 9 * 255 * 255 of each fit 31 bits */
    FEW_CHANNELS = 8,
    BLOCK = 16           /* columns that products are filled up to */
};

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Vector operations, four of which run at once, for each image: products of a row, a column and a
** pair take a quarter; then transforms, and bytes of weights, which come from afar. */
static double cost(const evl_conv *c, const evl_conv *tiles)
{
    double pairs = (double)(c->in_channels + 1) / 2, out = (double)c->out_channels, n = (double)tiles->out_plane;
    return 16 * pairs * out * ((double)round_up(tiles->out_plane, BLOCK) / 4 + 2) + n * (8 * pairs + 10 * out);
}

static double direct_cost(const evl_conv *c)
{
    double pairs = (double)(c->in_channels + 1) / 2, out = (double)c->out_channels;
    size_t columns = (size_t)(c->stencil.out[Y] * (c->stencil.out[X] + 2));
    return 9 * pairs * out * ((double)round_up(columns, BLOCK) / 4 + 2);
}

bool evl_byte_winograd_fits(const evl_conv *c)
{
    const evl_stencil *s = &c->stencil;
    bool fits = s->in[Z] == 1 && s->kernel[Z] == 1 && s->stride[Z] == 1 && s->begin[Z] == 0 && s->end[Z] == 0 &&
                c->groups == 1 && c->in_channels >= FEW_CHANNELS && c->in_channels <= MOST_CHANNELS;
    for (int d = Y; d <= X; d++)
        fits = fits && s->kernel[d] == 3 && s->stride[d] == 1 && s->dilation[d] == 1 && s->out[d] > 0;
    if (!fits)
        return false;
    evl_conv tiles = evl_byte_winograd_window(c);
    return cost(c, &tiles) < direct_cost(c);
}

evl_conv evl_byte_winograd_window(const evl_conv *c)
{
    evl_conv tiles = *c;
    for (int d = Y; d <= X; d++) {
        tiles.stencil.kernel[d] = 4;
        tiles.stencil.stride[d] = 2;
        tiles.stencil.out[d] = (c->stencil.out[d] + 1) / 2;
    }
    tiles.kernel = EVL_BYTE_ELEMENTS;
    tiles.out_plane = (size_t)(tiles.stencil.out[Y] * tiles.stencil.out[X]);
    return tiles;
}

/* Three weights to twice their polynomial's values at 0, 1, -1 and infinity. */
static void to_values(const int32_t *w, size_t step, int32_t *u, size_t u_step)
{
    u[0] = 2 * w[0];
    u[u_step] = w[0] + w[step] + w[2 * step];
    u[2 * u_step] = w[0] - w[step] + w[2 * step];
    u[3 * u_step] = 2 * w[2 * step];
}

void evl_byte_winograd_pack(const evl_byte_weights *p, int16_t *to)
{
    size_t pairs = (p->channels + 1) / 2;
    for (size_t i = 0; i < 2 * pairs; i++) {
        int32_t w[9] = { 0 }, half[4 * 3], u[EVL_BYTE_ELEMENTS];
        for (size_t k = 0; k < 9 && i < p->channels; k++)
            w[k] = (p->w[i * 9 + k] ^ p->flip) - p->less;
        for (size_t x = 0; x < 3; x++)
            to_values(w + x, 3, half + x, 3);
        for (size_t y = 0; y < 4; y++)
            to_values(half + 3 * y, 1, u + 4 * y, 1);
        for (size_t e = 0; e < EVL_BYTE_ELEMENTS; e++)
            to[2 * (e * pairs + i / 2) * p->rows + i % 2] = (int16_t)u[e];
    }
}
