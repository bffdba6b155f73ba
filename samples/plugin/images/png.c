/* png.c - PNG, by libpng: as it is stored, without regard to its gamma. */
#include "image.h"
#include <png.h>
#include <setjmp.h>
#include <string.h>

typedef struct reader {
    image *m;
    size_t at;
    png_structp png;
    png_infop info;
} reader;

static void give_up(png_structp png, png_const_charp why)
{
    reader *r = png_get_error_ptr(png);
    fail(r->m, "PNG", why);
    png_longjmp(png, 1);
}

static void say_nothing(png_structp png, png_const_charp why)
{
    (void)png;
    (void)why;
}

static void take(png_structp png, png_bytep to, size_t n)
{
    reader *r = png_get_io_ptr(png);
    if (n > r->m->bytes - r->at)
        png_error(png, "the data are cut short");
    memcpy(to, r->m->data + r->at, n);
    r->at += n;
}

static void begin(reader *r)
{
    png_set_read_fn(r->png, r, take);
    png_read_info(r->png, r->info);
    r->m->width = png_get_image_width(r->png, r->info);
    r->m->height = png_get_image_height(r->png, r->info);
}

static void decode_rows(reader *r, unsigned char *rgb)
{
    png_set_expand(r->png);
    png_set_strip_16(r->png);
    png_set_strip_alpha(r->png);
    png_set_gray_to_rgb(r->png);
    int passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < r->m->height; y++)
            png_read_row(r->png, rgb + y * r->m->width * 3, NULL);
}

/* Comes back here, too, when the library gives up. */
static int read_image(reader *r, unsigned char *rgb)
{
    if (setjmp(png_jmpbuf(r->png)))
        return 0;
    begin(r);
    if (rgb)
        decode_rows(r, rgb);
    return 1;
}

static int work(image *m, unsigned char *rgb)
{
    reader r = { .m = m };
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, give_up, say_nothing);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (!r.info) {
        png_destroy_read_struct(&r.png, NULL, NULL);
        return fail(m, "PNG", "no memory");
    }
    int ok = read_image(&r, rgb);
    png_destroy_read_struct(&r.png, &r.info, NULL);
    return ok;
}

static int claims(const image *m)
{
    return begins_with(m, 0, "\x89PNG\r\n\x1a\n", 8);
}

static int measure(image *m)
{
    return work(m, NULL);
}

const format png_format = { claims, measure, work };
