/* samples/plugin/images: pictures in each format, cut short everywhere, every byte flipped. */
#include "lines.h"

enum { WIDTH = 20, HEIGHT = 14, PIXELS = WIDTH * HEIGHT, MOST = 4096 };

static const char *const files[] = { "jpeg", "progressive.jpeg", "inks.jpeg", "png", "palette.png",
                                     "opacity.png", "tiff", "opacity.tiff", "lzw.tiff", "webp", "jp2", "bmp" };
enum { N_FILES = sizeof files / sizeof files[0] };

typedef struct picture {
    unsigned char data[MOST], rgb[PIXELS * 3];
    size_t bytes;
} picture;

static size_t read_file(const char *name, const char *more, unsigned char *to, size_t room)
{
    char path[512];
    snprintf(path, sizeof path, EVL_TEST_DATA "/images/%s%s", name, more);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(to, 1, room, f);
    fclose(f);
    return n;
}

static picture take(const char *name)
{
    picture p;
    p.bytes = read_file(name, "", p.data, MOST);
    assert_int_equal(read_file(name, ".rgb", p.rgb, sizeof p.rgb), sizeof p.rgb);
    return p;
}

static model *decoder(const char *pixels)
{
    char text[256];
    model *m = make();
    assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
    assert_int_equal(plugins(m)->Load(m, EVL_TEST_PLUGINS "/images.so"), EVAL_OK);
    snprintf(text, sizeof text, "lines\nbytes x -1\nnode n - ImageDecoder 20 x > y pixel_format=%s\nout y\n", pixels);
    if (control(m)->LoadMemory(m, text, strlen(text), NULL) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    return m;
}

/* The pixels, or a status; *out is to be released. */
static EvalStatus decode(model *m, const unsigned char *data, size_t n, EvalTensor *out)
{
    union {
        const unsigned char *given;
        void *data;
    } address = { data };
    EvalTensor in = { .name = "x", .type = EVAL_UINT8, .rank = 1, .dims = { (int64_t)n },
                      .data = address.data, .bytes = n };
    *out = (EvalTensor){ .name = "y" };
    return m->vtbl->Run(m, &in, 1, out, 1, NULL);
}

static void expect_pixel(const unsigned char *y, int64_t channels, const unsigned char rgb[3], bool is_turned)
{
    int grey = (rgb[0] * 299 + rgb[1] * 587 + rgb[2] * 114 + 500) / 1000;
    for (int64_t k = 0; k < channels; k++) {
        int wanted = channels == 1 ? grey : rgb[is_turned ? 2 - k : k];
        assert_in_range(y[k] + 3 - wanted, 0, 6); /* libraries differ in their last bit */
    }
}

static void every_format_is_decoded(void **state)
{
    (void)state;
    static const char *const pixels[] = { "RGB", "BGR", "Grayscale" };
    for (size_t p = 0; p < 3; p++) {
        model *m = decoder(pixels[p]);
        for (size_t i = 0; i < N_FILES; i++) {
            picture one = take(files[i]);
            EvalTensor y;
            if (decode(m, one.data, one.bytes, &y) != EVAL_OK)
                fail_msg("%s: %s", files[i], m->vtbl->LastError(m));
            assert_true(y.type == EVAL_UINT8 && y.rank == 3 && y.dims[0] == HEIGHT &&
                        y.dims[1] == WIDTH && y.dims[2] == (p == 2 ? 1 : 3));
            for (size_t at = 0; at < PIXELS; at++)
                expect_pixel((unsigned char *)y.data + at * (size_t)y.dims[2], y.dims[2],
                             one.rgb + 3 * at, p == 1);
            assert_int_equal(m->vtbl->Release(m, &y, 1), EVAL_OK);
        }
        m->vtbl->Destroy(m);
    }
}

/* An answer of some kind, in memory of our own; then the good one again. */
static void survive(model *m, const unsigned char *data, size_t n)
{
    EvalTensor y;
    if (decode(m, data, n, &y) == EVAL_OK)
        assert_int_equal(m->vtbl->Release(m, &y, 1), EVAL_OK);
    else
        assert_true(*m->vtbl->LastError(m));
}

static void broken_ones_are_told(void **state)
{
    (void)state;
    model *m = decoder("RGB");
    for (size_t i = 0; i < N_FILES; i++) {
        picture one = take(files[i]);
        EvalTensor y;
        for (size_t n = 0; n < one.bytes; n += 1 + n / 100) {
            unsigned char *cut = malloc(n + 1); /* the sanitizer sees its end */
            memcpy(cut, one.data, n);
            survive(m, cut, n);
            free(cut);
        }
        for (size_t at = 0; at < one.bytes; at++) {
            one.data[at] ^= 0xff;
            survive(m, one.data, one.bytes);
            one.data[at] ^= 0xff;
        }
        assert_int_equal(decode(m, one.data, one.bytes, &y), EVAL_OK);
        assert_int_equal(m->vtbl->Release(m, &y, 1), EVAL_OK);
    }
    m->vtbl->Destroy(m);
}

/* Nothing is taken for pixels that a header asks for. */
static void a_header_cannot_ask_for_all_of_the_memory(void **state)
{
    (void)state;
    picture one = take("jpeg");
    EvalTensor y;
    size_t at = 0;
    while (at + 9 < one.bytes && (one.data[at] != 0xff || one.data[at + 1] != 0xc0))
        at++;
    assert_int_equal(one.data[at + 6], HEIGHT);
    memset(one.data + at + 5, 0xfe, 4); /* 65278 * 65278 */
    model *m = decoder("RGB");
    assert_int_equal(decode(m, one.data, one.bytes, &y), EVAL_ERR_FORMAT);
    assert_non_null(strstr(m->vtbl->LastError(m), "more than 268435456 pixels"));
    m->vtbl->Destroy(m);
}

static void what_no_format_claims_is_left_to_the_library(void **state)
{
    (void)state;
    EvalTensor y;
    model *m = decoder("RGB");
    assert_int_equal(decode(m, (const unsigned char *)"P2 2 1 255 7 255", 16, &y), EVAL_OK);
    assert_memory_equal(y.data, "\7\7\7\377\377\377", 6);
    assert_int_equal(m->vtbl->Release(m, &y, 1), EVAL_OK);
    assert_int_equal(decode(m, (const unsigned char *)"GIF89a, and more", 16, &y), EVAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(m->vtbl->LastError(m), "GIF"));
    m->vtbl->Destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_decoded),
        cmocka_unit_test(broken_ones_are_told),
        cmocka_unit_test(a_header_cannot_ask_for_all_of_the_memory),
        cmocka_unit_test(what_no_format_claims_is_left_to_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
