/* images.c - ImageDecoder for JPEG, PNG, TIFF, WebP and JPEG 2000, by the usual libraries.
**
**     cc -std=c11 -O2 -shared -fPIC -I ../../../include *.c -o images.so \
**         $(pkg-config --cflags --libs libjpeg libpng libtiff-4 libwebp libopenjp2)
**
** It stands in the place of the built-in operator, and leaves to that one what it decodes by
** itself, BMP and PNM, and what no format claims. */
#include "evallib/plugin.h"
#include "image.h"
#include <stdio.h>
#include <string.h>

static const format *const formats[] = { &jpeg_format, &png_format, &tiff_format, &webp_format,
                                         &jpeg2000_format };

int begins_with(const image *m, size_t at, const char *bytes, size_t n)
{
    return m->bytes >= at + n && memcmp(m->data + at, bytes, n) == 0;
}

int fail(image *m, const char *library, const char *why)
{
    snprintf(m->why, sizeof m->why, "%s: %s", library, why);
    return 0;
}

/* NULL: the data is not known yet, or another's. */
static const format *format_of(const EvalTensor *in, image *m)
{
    memset(m, 0, sizeof *m);
    m->data = in->data;
    m->bytes = in->data ? in->bytes : 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i]->claims(m))
            return formats[i];
    return NULL;
}

/* The channels that pixel_format asks for; 0: there is no such format. */
static int channels_of(EvalCall *call)
{
    const char *pixels = call->host->Text(call, "pixel_format", "RGB");
    if (strcmp(pixels, "Grayscale") == 0)
        return 1;
    return strcmp(pixels, "RGB") == 0 || strcmp(pixels, "BGR") == 0 ? 3 : 0;
}

static EvalStatus failed(EvalCall *call, const image *m)
{
    return call->host->Fail(call, EVAL_ERR_FORMAT, "the image: %s", m->why);
}

/* A header of a few bytes may ask for any size. */
enum { MOST_PIXELS = 1 << 28 };

static int measure(const format *f, image *m)
{
    if (!f->measure(m))
        return 0;
    if (m->height && m->width > MOST_PIXELS / m->height)
        return fail(m, "images", "it has more than 268435456 pixels");
    return 1;
}

static EvalStatus infer(EvalCall *call)
{
    image m;
    const format *f = format_of(&call->in[0], &m);
    int channels = channels_of(call);
    if (!f || !channels)
        return call->host->Replaced(call);
    if (!measure(f, &m))
        return failed(call, &m);
    call->out[0].type = EVAL_UINT8;
    call->out[0].rank = 3;
    call->out[0].dims[0] = (int64_t)m.height;
    call->out[0].dims[1] = (int64_t)m.width;
    call->out[0].dims[2] = channels;
    return EVAL_OK;
}

/* Room for three colours, of which one grey is made. */
static EvalStatus prepare(EvalCall *call)
{
    call->scratchBytes = channels_of(call) == 1 ? 3 * call->out[0].bytes : 0;
    return call->host->Replaced(call);
}

/* ITU-R 601-2, in 16 bits. */
static void make_grey(const unsigned char *rgb, size_t n, unsigned char *grey)
{
    for (size_t i = 0; i < n; i++, rgb += 3)
        grey[i] = (unsigned char)((rgb[0] * 19595u + rgb[1] * 38470u + rgb[2] * 7471u + 0x8000u) >> 16);
}

static void turn_round(unsigned char *rgb, size_t n)
{
    for (size_t i = 0; i < n; i++, rgb += 3) {
        unsigned char red = rgb[0];
        rgb[0] = rgb[2];
        rgb[2] = red;
    }
}

static EvalStatus run(EvalCall *call)
{
    image m;
    const format *f = format_of(&call->in[0], &m);
    const EvalTensor *out = &call->out[0];
    int is_grey = out->dims[2] == 1;
    unsigned char *rgb = is_grey ? call->scratch : out->data;
    if (!f)
        return call->host->Replaced(call);
    if (!measure(f, &m))
        return failed(call, &m);
    if (m.height != (size_t)out->dims[0] || m.width != (size_t)out->dims[1])
        return call->host->Fail(call, EVAL_ERR_FORMAT, "the image is of another size than before");
    if (!f->decode(&m, rgb))
        return failed(call, &m);
    if (is_grey)
        make_grey(rgb, m.width * m.height, out->data);
    else if (strcmp(call->host->Text(call, "pixel_format", "RGB"), "BGR") == 0)
        turn_round(rgb, m.width * m.height);
    return EVAL_OK;
}

static const EvalImplementation bytes = { .size = sizeof bytes, .type = EVAL_UINT8,
                                          .Prepare = prepare, .Run = run };
static const EvalImplementation *const implementations[] = { &bytes };
static const EvalOperator decoder = { .size = sizeof decoder, .name = "ImageDecoder",
                                      .minInputs = 1, .maxInputs = 1, .minOutputs = 1,
                                      .maxOutputs = 1, .Infer = infer,
                                      .implementations = implementations, .nImplementations = 1 };
static const EvalOperator *const operators[] = { &decoder };
static const EvalPlugin plugin = { .size = sizeof plugin, .abi = EVAL_PLUGIN_ABI,
                                   .hostSize = sizeof(EvalHost), .name = "images",
                                   .version = "1.0", .operators = operators, .nOperators = 1 };

const EvalPlugin *EvalPluginEntry(void)
{
    return &plugin;
}
