/* webp.c - WebP, a single image, by libwebp. */
#include "image.h"
#include <webp/decode.h>

static int claims(const image *m)
{
    return begins_with(m, 0, "RIFF", 4) && begins_with(m, 8, "WEBP", 4);
}

static int measure(image *m)
{
    int width, height;
    if (!WebPGetInfo(m->data, m->bytes, &width, &height))
        return fail(m, "WebP", "the header is broken");
    m->width = (size_t)width;
    m->height = (size_t)height;
    return 1;
}

static int decode(image *m, unsigned char *rgb)
{
    size_t row = m->width * 3;
    return WebPDecodeRGBInto(m->data, m->bytes, rgb, row * m->height, (int)row) ||
           fail(m, "WebP", "the data are broken, or an animation");
}

const format webp_format = { claims, measure, decode };
