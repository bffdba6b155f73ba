/* Networks that come from memory or from the caller's own files. */
#include "api/fixture.h"
#include "api/model.h"
#include "kernels/kernels.h"
#include <stdlib.h>

static const char path[] = EVL_TEST_SAMPLES "/digits/digits.onnx";

typedef struct shelf {
    const unsigned char *bytes;
    int64_t size;
    bool is_broken;
} shelf;

static unsigned char *read_all(size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static int64_t length(void *user, const char *name)
{
    return *name ? -1 : ((shelf *)user)->size;
}

static int read_part(void *user, const char *name, uint64_t offset, void *buffer, size_t bytes)
{
    const shelf *s = user;
    assert_string_equal(name, "");
    assert_true(offset + bytes <= (uint64_t)s->size);
    memcpy(buffer, s->bytes + offset, bytes);
    return s->is_broken;
}

static void scores(model *m, real y[10])
{
    real image[784];
    fill_image(784, image);
    input in = { "features", image, 784 };
    output out = { "ol.z", y, 10, 0 };
    EvalDimension dims[8];
    size_t count = 8;
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_OUTPUT, dims, &count), EVAL_OK);
    out.name = dims[0].name;
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_OK);
}

static void the_same_bytes_give_the_same_network_from_anywhere(void **state)
{
    (void)state;
    real expected[10], y[10];
    size_t size;
    unsigned char *bytes = read_all(&size);
    shelf s = { bytes, (int64_t)size, false };
    EvalFiles files = { sizeof files, &s, length, read_part };
    model *m = load("digits/digits.onnx", "");
    scores(m, expected);
    assert_int_equal(control(m)->LoadMemory(m, bytes, size, NULL), EVAL_OK);
    scores(m, y);
    assert_memory_equal(expected, y, sizeof y);
    assert_int_equal(control(m)->LoadCallback(m, &files, "numCPUThreads=2"), EVAL_OK);
    free(bytes); /* replaced by what the callback gave, which is the library's own */
    scores(m, y);
    assert_memory_equal(expected, y, sizeof y);
    m->vtbl->Destroy(m);
}

static void what_cannot_be_had_is_said_and_the_old_network_stays(void **state)
{
    (void)state;
    real expected[10], y[10];
    size_t size;
    unsigned char *bytes = read_all(&size);
    shelf s = { bytes, -1, false };
    EvalFiles files = { sizeof files, &s, length, read_part };
    model *m = load("digits/digits.onnx", "");
    scores(m, expected);
    assert_int_equal(control(m)->LoadCallback(m, &files, ""), EVAL_ERR_IO);
    assert_non_null(strstr(m->vtbl->LastError(m), "among the caller's files"));
    s.size = 0;
    assert_int_equal(control(m)->LoadCallback(m, &files, ""), EVAL_ERR_FORMAT);
    s.size = (int64_t)size;
    s.is_broken = true;
    assert_int_equal(control(m)->LoadCallback(m, &files, ""), EVAL_ERR_IO);
    files.size = 0;
    assert_int_equal(control(m)->LoadCallback(m, &files, ""), EVAL_ERR_ARGUMENT);
    assert_int_equal(control(m)->LoadCallback(m, NULL, ""), EVAL_ERR_ARGUMENT);
    assert_int_equal(control(m)->LoadMemory(m, NULL, 1, ""), EVAL_ERR_ARGUMENT);
    assert_int_equal(control(m)->LoadMemory(m, bytes, 0, ""), EVAL_ERR_FORMAT);
    assert_int_equal(control(m)->LoadMemory(m, bytes, size / 2, ""), EVAL_ERR_FORMAT);
    assert_int_equal(control(m)->LoadMemory(m, bytes, size, "modelPath=\"x\""), EVAL_ERR_ARGUMENT);
    assert_int_equal(control(m)->LoadMemory(NULL, bytes, size, ""), EVAL_ERR_ARGUMENT);
    scores(m, y);
    assert_memory_equal(expected, y, sizeof y);
    m->vtbl->Destroy(m);
    free(bytes);
}

static evl_model *with_kernels(evl_context *ctx, const char *text, EvalStatus expected)
{
    evl_arena *arena = evl_arena_new(ctx->memory);
    evl_config *config;
    evl_settings settings;
    evl_model *m = NULL;
    const evl_source source = { .path = path };
    assert_int_equal(evl_config_parse(ctx, arena, text, NULL, &config), EVAL_OK);
    assert_int_equal(evl_settings_read(ctx, config, &settings), EVAL_OK);
    assert_int_equal(evl_model_load(ctx, REAL_PRECISION, &settings, &source, NULL, &m), expected);
    evl_arena_free(arena);
    return m;
}

static void the_kernels_are_those_that_were_asked_for_or_none(void **state)
{
    (void)state;
    static const struct { const char *text, *name; unsigned needs; } sets[] = {
        { "kernels=base", "base", 0 },
        { "kernels=avx2", "avx2", EVL_CPU_AVX2 },
        { "kernels=avx512", "avx512", EVL_CPU_AVX512 },
    };
    evl_context *ctx = evl_test_begin();
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        if ((evl_cpu_features() & sets[i].needs) == sets[i].needs) {
            evl_model *m = with_kernels(ctx, sets[i].text, EVAL_OK);
            assert_string_equal(m->machine.k->name, sets[i].name);
            evl_model_release(m);
        } else {
            assert_null(with_kernels(ctx, sets[i].text, EVAL_ERR_UNSUPPORTED));
            assert_non_null(strstr(ctx->error.text, sets[i].text));
        }
    }
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_give_the_same_network_from_anywhere),
        cmocka_unit_test(what_cannot_be_had_is_said_and_the_old_network_stays),
        cmocka_unit_test(the_kernels_are_those_that_were_asked_for_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
