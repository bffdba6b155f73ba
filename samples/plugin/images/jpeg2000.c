/* jpeg2000.c - JPEG 2000, bare or in a JP2 file, by OpenJPEG. */
#include "image.h"
#include <openjpeg.h>
#include <string.h>

typedef struct reader {
    image *m;
    size_t at;
    opj_stream_t *stream;
    opj_codec_t *codec;
    opj_image_t *image;
} reader;

static OPJ_SIZE_T take(void *to, OPJ_SIZE_T n, void *user)
{
    reader *r = user;
    size_t left = r->m->bytes - r->at, taken = n < left ? n : left;
    memcpy(to, r->m->data + r->at, taken);
    r->at += taken;
    return taken ? taken : (OPJ_SIZE_T)-1;
}

static OPJ_BOOL go(OPJ_OFF_T to, void *user)
{
    reader *r = user;
    if (to < 0 || (size_t)to > r->m->bytes)
        return OPJ_FALSE;
    r->at = (size_t)to;
    return OPJ_TRUE;
}

static OPJ_OFF_T skip(OPJ_OFF_T n, void *user)
{
    reader *r = user;
    return go((OPJ_OFF_T)r->at + n, r) ? n : -1;
}

static void keep_text(const char *why, void *user)
{
    fail(user, "JPEG 2000", why);
}

static int is_bare(const image *m)
{
    return begins_with(m, 0, "\xff\x4f\xff\x51", 4);
}

static int begin(reader *r)
{
    opj_dparameters_t parameters;
    opj_set_default_decoder_parameters(&parameters);
    r->stream = opj_stream_default_create(OPJ_TRUE);
    r->codec = opj_create_decompress(is_bare(r->m) ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
    if (!r->stream || !r->codec)
        return 0;
    opj_stream_set_user_data(r->stream, r, NULL);
    opj_stream_set_user_data_length(r->stream, r->m->bytes);
    opj_stream_set_read_function(r->stream, take);
    opj_stream_set_skip_function(r->stream, skip);
    opj_stream_set_seek_function(r->stream, go);
    opj_set_error_handler(r->codec, keep_text, r->m);
    return opj_setup_decoder(r->codec, &parameters) && opj_read_header(r->stream, r->codec, &r->image) &&
           r->image->numcomps > 0;
}

static uint32_t divide_up(uint32_t a, uint32_t b)
{
    return (uint32_t)(((uint64_t)a + b - 1) / b);
}

static void take_size(reader *r)
{
    const opj_image_t *i = r->image;
    uint32_t dx = i->comps[0].dx, dy = i->comps[0].dy;
    r->m->width = divide_up(i->x1, dx) - divide_up(i->x0, dx);
    r->m->height = divide_up(i->y1, dy) - divide_up(i->y0, dy);
}

/* A sample in 8 bits; components may be coarser than the first. */
static int sample(const opj_image_t *from, size_t component, size_t x, size_t y)
{
    const opj_image_comp_t *first = &from->comps[0], *c = &from->comps[component];
    size_t column = x * first->dx / c->dx, row = y * first->dy / c->dy;
    column = column < c->w ? column : c->w - 1;
    row = row < c->h ? row : c->h - 1;
    int64_t most = ((int64_t)1 << c->prec) - 1;
    int64_t v = c->data[row * c->w + column] + (c->sgnd ? (int64_t)1 << (c->prec - 1) : 0);
    v = v < 0 ? 0 : v > most ? most : v;
    return (int)(c->prec > 8 ? v >> (c->prec - 8) : v * 255 / most);
}

static unsigned char clip(double v)
{
    return (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v + 0.5);
}

static void put_pixel(const opj_image_t *from, size_t x, size_t y, unsigned char *rgb)
{
    int has_colours = from->numcomps > 2;
    double a = sample(from, 0, x, y), b = sample(from, has_colours ? 1 : 0, x, y),
           c = sample(from, has_colours ? 2 : 0, x, y);
    int is_ycc = has_colours && from->color_space == OPJ_CLRSPC_SYCC;
    rgb[0] = clip(is_ycc ? a + 1.402 * (c - 128) : a);
    rgb[1] = clip(is_ycc ? a - 0.344136 * (b - 128) - 0.714136 * (c - 128) : b);
    rgb[2] = clip(is_ycc ? a + 1.772 * (b - 128) : c);
}

static int has_samples(const reader *r)
{
    const opj_image_t *i = r->image;
    for (size_t c = 0; c < i->numcomps && c < 3; c++)
        if (!i->comps[c].data || !i->comps[c].w || !i->comps[c].h || i->comps[c].prec < 1 ||
            i->comps[c].prec > 31)
            return 0;
    return i->comps[0].w == r->m->width && i->comps[0].h == r->m->height;
}

static int decode_pixels(reader *r, unsigned char *rgb)
{
    if (!opj_decode(r->codec, r->stream, r->image) || !opj_end_decompress(r->codec, r->stream) ||
        !has_samples(r))
        return 0;
    for (size_t y = 0; y < r->m->height; y++)
        for (size_t x = 0; x < r->m->width; x++, rgb += 3)
            put_pixel(r->image, x, y, rgb);
    return 1;
}

static int work(image *m, unsigned char *rgb)
{
    reader r = { .m = m };
    fail(m, "JPEG 2000", "it cannot be read");
    int ok = begin(&r);
    if (ok)
        take_size(&r);
    if (ok && rgb)
        ok = decode_pixels(&r, rgb);
    opj_image_destroy(r.image);
    if (r.codec)
        opj_destroy_codec(r.codec);
    if (r.stream)
        opj_stream_destroy(r.stream);
    return ok;
}

static int claims(const image *m)
{
    return is_bare(m) || begins_with(m, 4, "jP  \r\n\x87\n", 8);
}

static int measure(image *m)
{
    return work(m, NULL);
}

const format jpeg2000_format = { claims, measure, work };
