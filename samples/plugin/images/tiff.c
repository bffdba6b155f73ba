/* tiff.c - TIFF, its first image, by libtiff 4.5 or later. */
#include "image.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

typedef struct reader {
    image *m;
    uint64_t at;
} reader;

static tmsize_t take(thandle_t handle, void *to, tmsize_t n)
{
    reader *r = handle;
    uint64_t left = r->at < r->m->bytes ? r->m->bytes - r->at : 0;
    tmsize_t taken = (uint64_t)n < left ? n : (tmsize_t)left;
    memcpy(to, r->m->data + (left ? r->at : 0), (size_t)taken);
    r->at += (uint64_t)taken;
    return taken;
}

static tmsize_t refuse(thandle_t handle, void *from, tmsize_t n)
{
    (void)handle;
    (void)from;
    (void)n;
    return -1;
}

static toff_t go(thandle_t handle, toff_t to, int from)
{
    reader *r = handle;
    r->at = to + (from == SEEK_CUR ? r->at : from == SEEK_END ? r->m->bytes : 0);
    return r->at;
}

static int finish(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle)
{
    return ((reader *)handle)->m->bytes;
}

/* 1: it goes no further, to the library's own handler, which prints. */
static int keep_text(TIFF *tiff, void *user, const char *module, const char *format_of_text, va_list values)
{
    char why[200];
    (void)tiff;
    (void)module;
    vsnprintf(why, sizeof why, format_of_text, values);
    fail(user, "TIFF", why);
    return 1;
}

static int say_nothing(TIFF *tiff, void *user, const char *module, const char *text, va_list values)
{
    (void)tiff;
    (void)user;
    (void)module;
    (void)text;
    (void)values;
    return 1;
}

static TIFF *open_tiff(reader *r)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, keep_text, r->m);
    TIFFOpenOptionsSetWarningHandlerExtR(options, say_nothing, NULL);
    TIFF *tiff = TIFFClientOpenExt("image", "rm", r, take, refuse, go, finish, size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return tiff;
}

/* Colours as they are: with an opacity of its own the library would multiply them by it. */
static void forget_opacity(TIFF *tiff)
{
    uint16_t n = 0, *kinds = NULL, unknown = EXTRASAMPLE_UNSPECIFIED;
    if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &n, &kinds) && n == 1 && kinds[0] == EXTRASAMPLE_UNASSALPHA)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &unknown);
}

/* The library gives red, green, blue and opacity in one number a pixel. */
static int decode_pixels(TIFF *tiff, image *m, unsigned char *rgb)
{
    size_t n = m->width * m->height;
    uint32_t *pixels = malloc(n * sizeof *pixels);
    if (!pixels)
        return fail(m, "TIFF", "no memory");
    forget_opacity(tiff);
    int ok = TIFFReadRGBAImageOriented(tiff, (uint32_t)m->width, (uint32_t)m->height, pixels,
                                       ORIENTATION_TOPLEFT, 1);
    for (size_t i = 0; ok && i < n; i++) {
        rgb[3 * i] = (unsigned char)TIFFGetR(pixels[i]);
        rgb[3 * i + 1] = (unsigned char)TIFFGetG(pixels[i]);
        rgb[3 * i + 2] = (unsigned char)TIFFGetB(pixels[i]);
    }
    free(pixels);
    return ok;
}

static int work(image *m, unsigned char *rgb)
{
    reader r = { m, 0 };
    uint32_t width = 0, height = 0;
    fail(m, "TIFF", "it cannot be read");
    TIFF *tiff = open_tiff(&r);
    int ok = tiff && TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width) &&
             TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
    m->width = width;
    m->height = height;
    if (ok && rgb)
        ok = decode_pixels(tiff, m, rgb);
    if (tiff)
        TIFFClose(tiff);
    return ok;
}

static int claims(const image *m)
{
    return begins_with(m, 0, "II*\0", 4) || begins_with(m, 0, "MM\0*", 4);
}

static int measure(image *m)
{
    return work(m, NULL);
}

const format tiff_format = { claims, measure, work };
