/* image.h - what the files of this plug-in have in common: an encoded image, and a format. */
#ifndef IMAGE_H
#define IMAGE_H
#include <stddef.h>
#include <stdint.h>

typedef struct image {
    const unsigned char *data;
    size_t bytes;
    size_t width, height;      /* set by measure */
    char why[256];             /* set by what fails */
} image;

/* Functions that can fail give 0 then, and say why. */
typedef struct format {
    int (*claims)(const image *);                    /* by the first bytes */
    int (*measure)(image *);                         /* reads the header */
    int (*decode)(image *, unsigned char *rgb);      /* three bytes a pixel, rows from the top */
} format;

extern const format jpeg_format, png_format, tiff_format, webp_format, jpeg2000_format;

int begins_with(const image *, size_t at, const char *bytes, size_t n);
int fail(image *, const char *library, const char *why);
#endif
