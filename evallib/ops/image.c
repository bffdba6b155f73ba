/* ImageDecoder: BMP without compression, and PNM, to [height, width, channels] bytes. */
#include "base/bytes.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

enum { MOST_SIDE = 1 << 20, N_COLOURS = 256 };

typedef enum pixels { RGB, BGR, GREY } pixels;

/* An image as its bytes say it. */
typedef struct image {
    size_t width, height;
    const uint8_t *data;
    size_t size;
    /* BMP */
    bool is_bmp, from_top;
    unsigned bits;
    uint8_t colours[N_COLOURS][4]; /* blue, green, red */
    /* PNM: P1 .. P6 */
    int kind;
    unsigned most; /* of a sample */
} image;

static EvalStatus broken(evl_context *ctx, const char *what)
{
    return evl_fail(ctx, EVAL_ERR_FORMAT, "the image: %s", what);
}

/* --- BMP --- */

typedef struct bmp_header {
    uint32_t start, size, compression, colours;
    int32_t width, height;
    uint16_t bits;
} bmp_header;

static bool read_header(evl_bytes *b, bmp_header *h)
{
    uint16_t planes;
    return evl_bytes_skip(b, 10) && evl_bytes_u32(b, &h->start) && evl_bytes_u32(b, &h->size) &&
           h->size >= 40 && evl_bytes_i32(b, &h->width) && evl_bytes_i32(b, &h->height) &&
           evl_bytes_u16(b, &planes) && evl_bytes_u16(b, &h->bits) &&
           evl_bytes_u32(b, &h->compression) && evl_bytes_skip(b, 12) &&
           evl_bytes_u32(b, &h->colours) && evl_bytes_skip(b, 4 + (size_t)h->size - 40);
}

static EvalStatus read_bmp(evl_context *ctx, evl_bytes *b, image *to)
{
    bmp_header h;
    if (!read_header(b, &h))
        return broken(ctx, "the BMP's header is cut short");
    bool has_table = h.bits == 8 || h.bits == 4 || h.bits == 1;
    if (h.compression != 0 || !(has_table || h.bits == 24 || h.bits == 32))
        return evl_fail(
            ctx, EVAL_ERR_UNSUPPORTED,
            "the image: a BMP of %u bits with compression %u is not offered; 1, 4, 8, 24 "
            "and 32 bits without are",
            (unsigned)h.bits, (unsigned)h.compression);
    if (h.width < 1 || h.width > MOST_SIDE || h.height == 0 || h.height > MOST_SIDE ||
        h.height < -MOST_SIDE)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "the image: %d x %d pixels", (int)h.width,
                        (int)h.height);
    size_t n = h.colours && h.colours <= 1u << h.bits % 32 ? h.colours : (size_t)1 << h.bits % 32;
    const void *table = NULL;
    if (has_table && !evl_bytes_take(b, n, 4, &table))
        return broken(ctx, "the BMP's colours are cut short");
    if (table)
        memcpy(to->colours, table, n * 4);
    to->is_bmp = true;
    to->from_top = h.height < 0;
    to->width = (size_t)h.width;
    to->height = (size_t)(h.height < 0 ? -h.height : h.height);
    to->bits = h.bits;
    b->at = 0;
    size_t row = (to->width * h.bits + 31) / 32 * 4;
    if (!evl_bytes_skip(b, h.start) || evl_bytes_left(b) / row < to->height)
        return broken(ctx, "the BMP's pixels are cut short");
    to->data = b->data + b->at;
    to->size = evl_bytes_left(b);
    return EVAL_OK;
}

static void bmp_pixel(const image *m, size_t y, size_t x, uint8_t rgb[3])
{
    const uint8_t *row =
        m->data + (m->width * m->bits + 31) / 32 * 4 * (m->from_top ? y : m->height - 1 - y);
    const uint8_t *at = row + x * (m->bits / 8);
    if (m->bits <= 8) {
        unsigned shift = 8 - m->bits - (unsigned)(x * m->bits % 8);
        at = m->colours[row[x * m->bits / 8] >> shift & ((1u << m->bits) - 1)];
    }
    for (int i = 0; i < 3; i++)
        rgb[i] = at[2 - i];
}

/* --- PNM --- */

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A number behind spaces and comments, of one digit when `is_bit`. */
static bool take_number(evl_bytes *b, bool is_bit, unsigned *number)
{
    size_t digits = 0;
    *number = 0;
    while (b->at < b->size && (is_space(b->data[b->at]) || b->data[b->at] == '#')) {
        if (b->data[b->at++] == '#')
            while (b->at < b->size && b->data[b->at] != '\n')
                b->at++;
    }
    for (; b->at < b->size && b->data[b->at] >= '0' && b->data[b->at] <= '9' &&
           digits < (is_bit ? 1 : 7);
         digits++)
        *number = *number * 10 + (unsigned)(b->data[b->at++] - '0');
    return digits > 0;
}

static size_t pnm_channels(const image *m)
{
    return m->kind % 3 == 0 ? 3 : 1;
}

/* Bytes of a row of P4, P5 and P6. */
static size_t pnm_row(const image *m)
{
    return m->kind == 4 ? (m->width + 7) / 8 : m->width * pnm_channels(m) * (m->most > 255 ? 2 : 1);
}

static EvalStatus read_pnm(evl_context *ctx, evl_bytes *b, image *to)
{
    unsigned width, height;
    to->kind = b->data[1] - '0';
    to->most = 1;
    b->at = 2;
    if (!take_number(b, false, &width) || !take_number(b, false, &height) ||
        (to->kind % 3 != 1 && !take_number(b, false, &to->most)))
        return broken(ctx, "the PNM's header is cut short");
    if (width < 1 || width > MOST_SIDE || height < 1 || height > MOST_SIDE || to->most < 1 ||
        to->most > 65535)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "the image: %u x %u pixels of at most %u", width,
                        height, to->most);
    to->width = width;
    to->height = height;
    if (to->kind > 3 && (!evl_bytes_skip(b, 1) || evl_bytes_left(b) / pnm_row(to) < height))
        return broken(ctx, "the PNM's pixels are cut short");
    if (to->kind <= 3 && evl_bytes_left(b) / width < height)
        return broken(ctx, "the PNM's numbers are cut short");
    to->data = b->data + b->at;
    to->size = evl_bytes_left(b);
    return EVAL_OK;
}

static uint8_t scaled(const image *m, unsigned v)
{
    return (uint8_t)(m->most == 255 ? v : (v * 255u + m->most / 2) / m->most);
}

static uint8_t pnm_sample(const image *m, size_t y, size_t i)
{
    const uint8_t *row = m->data + y * pnm_row(m);
    if (m->kind == 4)
        return row[i / 8] >> (7 - i % 8) & 1 ? 0 : 255;
    return scaled(m, m->most > 255 ? row[2 * i] * 256u + row[2 * i + 1] : row[i]);
}

/* --- what comes out --- */

static void put_pixel(pixels to, const uint8_t rgb[3], uint8_t *y)
{
    if (to == GREY) /* ITU-R 601-2, in 16 bits */
        y[0] = (uint8_t)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
    for (int i = 0; i < 3 && to != GREY; i++)
        y[i] = rgb[to == RGB ? i : 2 - i];
}

static EvalStatus put_numbers(evl_context *ctx, const image *m, pixels to, uint8_t *out)
{
    evl_bytes b = evl_bytes_of(m->data, m->size);
    size_t n = pnm_channels(m), size = to == GREY ? 1 : 3;
    for (size_t i = 0; i < m->width * m->height; i++, out += size) {
        uint8_t rgb[3];
        for (size_t k = 0; k < 3; k++) {
            unsigned v;
            if (k < n && !take_number(&b, m->kind == 1, &v))
                return broken(ctx, "the PNM's numbers are cut short");
            if (k < n && v > m->most)
                return broken(ctx, "a number of the PNM is above its largest");
            rgb[k] = k >= n ? rgb[0] : m->kind == 1 ? (v ? 0 : 255) : scaled(m, v);
        }
        put_pixel(to, rgb, out);
    }
    return EVAL_OK;
}

static void put_pixels(const image *m, pixels to, uint8_t *out)
{
    size_t n = m->is_bmp ? 3 : pnm_channels(m), size = to == GREY ? 1 : 3;
    for (size_t y = 0; y < m->height; y++)
        for (size_t x = 0; x < m->width; x++, out += size) {
            uint8_t rgb[3];
            if (m->is_bmp)
                bmp_pixel(m, y, x, rgb);
            for (size_t k = 0; k < 3 && !m->is_bmp; k++)
                rgb[k] = pnm_sample(m, y, x * n + (n == 3 ? k : 0));
            put_pixel(to, rgb, out);
        }
}

static EvalStatus read_image(evl_context *ctx, const evl_tensor *x, image *to)
{
    static const struct {
        const char *name, *magic;
    } others[] = { { "JPEG", "\xff\xd8\xff" }, { "PNG", "\x89PNG" },
                   { "TIFF", "II*" },          { "TIFF", "MM" },
                   { "WebP", "RIFF" },         { "JPEG 2000", "\xff\x4f\xff\x51" },
                   { "GIF", "GIF8" } };
    evl_bytes b = evl_bytes_of(x->data, evl_shape_count(&x->shape));
    *to = (image){ 0 };
    if (b.size >= 2 && b.data[0] == 'B' && b.data[1] == 'M')
        return read_bmp(ctx, &b, to);
    if (b.size >= 2 && b.data[0] == 'P' && b.data[1] >= '1' && b.data[1] <= '6')
        return read_pnm(ctx, &b, to);
    const char *name = b.size >= 12 && memcmp(b.data + 4, "jP  ", 4) == 0 ? "JPEG 2000" : NULL;
    for (size_t i = 0; i < sizeof others / sizeof others[0] && !name; i++)
        if (b.size >= strlen(others[i].magic) &&
            memcmp(b.data, others[i].magic, strlen(others[i].magic)) == 0)
            name = others[i].name;
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED,
                    "the image is %s; BMP and PNM are offered, others by samples/plugin/images",
                    name ? name : "of an unknown format");
}

static EvalStatus pixels_of(evl_context *ctx, const evl_node *node, pixels *to)
{
    static const char *const names[] = { "RGB", "BGR", "Grayscale" };
    const char *name = evl_node_text(node, "pixel_format", "RGB");
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            *to = (pixels)i;
            return EVAL_OK;
        }
    return evl_fail(ctx, EVAL_ERR_FORMAT,
                    "attribute pixel_format is '%s', expected RGB, BGR or Grayscale", name);
}

static EvalStatus infer(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    pixels to;
    image m;
    EvalStatus st = pixels_of(x->ctx, x->use.node, &to);
    if (st == EVAL_OK)
        st = evl_infer_rank(x, 0, 1, 1);
    if (st == EVAL_OK && in->type != EVAL_UINT8 && in->type != EVAL_UNDEFINED)
        st = evl_fail(x->ctx, EVAL_ERR_TYPE, "input 0 is %s, expected uint8",
                      evl_type_name(in->type));
    if (st != EVAL_OK)
        return st;
    int64_t dims[] = { EVL_UNKNOWN_DIM, EVL_UNKNOWN_DIM, to == GREY ? 1 : 3 };
    if (in->data || (evl_shape_is_known(&in->shape) && evl_shape_count(&in->shape) == 0)) {
        st = read_image(x->ctx, in, &m);
        dims[0] = (int64_t)m.height;
        dims[1] = (int64_t)m.width;
    }
    x->out[0].type = EVAL_UINT8;
    x->out[0].shape = evl_shape_of(3, dims);
    return st;
}

static EvalStatus run(const evl_call *call)
{
    pixels to;
    image m;
    EvalStatus st = pixels_of(call->ctx, call->node, &to);
    if (st == EVAL_OK)
        st = read_image(call->ctx, call->in[0], &m);
    if (st == EVAL_OK && !m.is_bmp && m.kind <= 3)
        return put_numbers(call->ctx, &m, to, call->out[0]->data);
    if (st == EVAL_OK)
        put_pixels(&m, to, call->out[0]->data);
    return st;
}

static const evl_impl impl = { NULL, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
static const evl_op op_image = { "ImageDecoder", NULL,           1,     1,    1, 1, 0, 0,
                                 infer,          { NULL, NULL }, &impl, NULL, 0 };

const evl_op *const evl_ops_image[] = { &op_image, NULL };
