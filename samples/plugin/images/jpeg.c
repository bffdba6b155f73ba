/* jpeg.c - JPEG, by libjpeg. */
#include "image.h"
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>

typedef struct reader {
    struct jpeg_decompress_struct jpeg; /* first: the library hands out its address */
    struct jpeg_error_mgr errors;
    jmp_buf back;
    image *m;
} reader;

static void give_up(j_common_ptr jpeg)
{
    char why[JMSG_LENGTH_MAX];
    reader *r = (reader *)jpeg;
    jpeg->err->format_message(jpeg, why);
    fail(r->m, "JPEG", why);
    longjmp(r->back, 1);
}

/* A warning: of data that end early, say, which leave the image grey from there on. */
static void say_nothing(j_common_ptr jpeg)
{
    (void)jpeg;
}

static void begin(reader *r)
{
    r->jpeg.err = jpeg_std_error(&r->errors);
    r->errors.error_exit = give_up;
    r->errors.output_message = say_nothing;
    jpeg_create_decompress(&r->jpeg);
    jpeg_mem_src(&r->jpeg, r->m->data, (unsigned long)r->m->bytes);
    jpeg_read_header(&r->jpeg, TRUE);
    r->m->width = r->jpeg.image_width;
    r->m->height = r->jpeg.image_height;
}

/* Adobe's programs store the four inks the other way round. */
static void inks_to_rgb(const reader *r, const unsigned char *inks, unsigned char *rgb)
{
    unsigned flip = r->jpeg.saw_Adobe_marker ? 0 : 255;
    for (size_t i = 0; i < r->m->width; i++, inks += 4, rgb += 3)
        for (size_t k = 0; k < 3; k++)
            rgb[k] = (unsigned char)((inks[k] ^ flip) * (inks[3] ^ flip) / 255);
}

static void decode_rows(reader *r, unsigned char *rgb)
{
    struct jpeg_decompress_struct *jpeg = &r->jpeg;
    int has_inks = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = has_inks ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(jpeg);
    JSAMPARRAY row = jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE, jpeg->output_width * 4, 1);
    while (jpeg->output_scanline < jpeg->output_height) {
        unsigned char *to = rgb + (size_t)jpeg->output_scanline * r->m->width * 3;
        jpeg_read_scanlines(jpeg, has_inks ? row : &to, 1);
        if (has_inks)
            inks_to_rgb(r, row[0], to);
    }
    jpeg_finish_decompress(jpeg);
}

/* Comes back here, too, when the library gives up. */
static int read_image(reader *r, unsigned char *rgb)
{
    if (setjmp(r->back))
        return 0;
    begin(r);
    if (rgb)
        decode_rows(r, rgb);
    return 1;
}

static int work(image *m, unsigned char *rgb)
{
    reader r = { .m = m };
    int ok = read_image(&r, rgb);
    jpeg_destroy_decompress(&r.jpeg);
    return ok;
}

static int claims(const image *m)
{
    return begins_with(m, 0, "\xff\xd8\xff", 3);
}

static int measure(image *m)
{
    return work(m, NULL);
}

const format jpeg_format = { claims, measure, work };
