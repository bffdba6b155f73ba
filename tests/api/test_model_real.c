/* Networks that come from memory or from the caller's own files. */
#include "api/fixture.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes_give_the_same_network_from_anywhere),
        cmocka_unit_test(what_cannot_be_had_is_said_and_the_old_network_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
