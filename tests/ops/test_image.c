/* ImageDecoder: BMP and PNM whole, cut short at each byte, and what is not offered. */
#include "op_case.h"

static op_case image_case(const void *bytes, size_t n, const char *format, const uint8_t *pixels,
                          int64_t h, int64_t w, int64_t c)
{
    return (
        op_case){ "ImageDecoder", .attributes = { evl_attribute_text("pixel_format", format) },
                  .in = { vector(EVAL_UINT8, bytes, (int64_t)n) },
                  .out = { evl_test_tensor(EVAL_UINT8, pixels, 3, (const int64_t[]){ h, w, c }) } };
}

static const uint8_t red_blue[] = { 255, 0, 0, 0, 0, 255 }, turned[] = { 0, 0, 255, 255, 0, 0 },
                     grey[] = { 76, 29 };

/* 1 x 2 pixels, red over blue, 24 bits. */
static const uint8_t bmp[] = { 'B', 'M', 62, 0, 0, 0, 0,   0, 0, 0, 54, 0, 0,   0, 40, 0,
                               0,   0,   1,  0, 0, 0, 2,   0, 0, 0, 1,  0, 24,  0, 0,  0,
                               0,   0,   8,  0, 0, 0, 0,   0, 0, 0, 0,  0, 0,   0, 0,  0,
                               0,   0,   0,  0, 0, 0, 255, 0, 0, 0, 0,  0, 255, 0 };

static void both_formats_are_read(void **state)
{
    static const char p6[] = "P6 # two\n1 2\n255\n\xff\0\0\0\0\xff",
                      p3[] = "P3\n1 2 7\n7 0 0\n0 0 7", p2[] = "P2 2 1 255 76 29",
                      p1[] = "P1 2 1\n01", p4[] = "P4 2 1\n\x40", p5[] = "P5 1 1 65535\n\x80\x00";
    static const uint8_t bits[] = { 255, 0 }, half[] = { 128 };
    const op_case cases[] = {
        image_case(bmp, sizeof bmp, "RGB", red_blue, 2, 1, 3),
        image_case(bmp, sizeof bmp, "BGR", turned, 2, 1, 3),
        image_case(bmp, sizeof bmp, "Grayscale", grey, 2, 1, 1),
        image_case(p6, sizeof p6 - 1, "RGB", red_blue, 2, 1, 3),
        image_case(p3, sizeof p3 - 1, "RGB", red_blue, 2, 1, 3),
        image_case(p2, sizeof p2 - 1, "Grayscale", grey, 1, 2, 1),
        image_case(p1, sizeof p1 - 1, "Grayscale", bits, 1, 2, 1),
        image_case(p4, sizeof p4 - 1, "Grayscale", bits, 1, 2, 1),
        image_case(p5, sizeof p5 - 1, "Grayscale", half, 1, 1, 1),
    };
    (void)state;
    check_cases(cases, sizeof cases / sizeof cases[0]);
}

static void a_cut_image_is_refused(void **state)
{
    (void)state;
    for (size_t n = 2; n < sizeof bmp; n++) {
        op_case c = image_case(bmp, n, "RGB", red_blue, 2, 1, 3);
        c.status = EVAL_ERR_FORMAT;
        check_case(&c);
    }
}

static void what_is_not_offered_is_named(void **state)
{
    static const char *const others[] = { "\xff\xd8\xff\xe0....", "\x89PNG\r\n\x1a\n", "II*\0....",
                                          "RIFF....WEBP", "nothing" };
    uint8_t packed[sizeof bmp], huge[sizeof bmp];
    (void)state;
    for (size_t i = 0; i < 5; i++) {
        op_case c = image_case(others[i], 7, "RGB", red_blue, 2, 1, 3);
        c.status = EVAL_ERR_UNSUPPORTED;
        check_case(&c);
    }
    memcpy(packed, bmp, sizeof bmp);
    packed[30] = 1;
    op_case c = image_case(packed, sizeof packed, "RGB", red_blue, 2, 1, 3);
    c.status = EVAL_ERR_UNSUPPORTED;
    check_case(&c);
    memcpy(huge, bmp, sizeof bmp);
    huge[21] = 0x7f;
    c = image_case(huge, sizeof huge, "RGB", red_blue, 2, 1, 3);
    c.status = EVAL_ERR_FORMAT;
    check_case(&c);
    c = image_case(bmp, sizeof bmp, "CMYK", red_blue, 2, 1, 3);
    c.status = EVAL_ERR_FORMAT;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_formats_are_read),
        cmocka_unit_test(a_cut_image_is_refused),
        cmocka_unit_test(what_is_not_offered_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
