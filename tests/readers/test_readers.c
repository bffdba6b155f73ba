#include "reading.h"

typedef struct known {
    const char *bytes;
    size_t n;
    EvalStatus status;
    const char *text;
} known;

static void a_file_is_called_what_it_seems_to_be(void **state)
{
    (void)state;
    static const known cases[] = {
        { "", 0, EVAL_ERR_FORMAT, "empty" },
        { "ktnc1234", 8, EVAL_ERR_FORMAT, "CNTK v2" },
        { "\x08\x01\x12\x0b\x0a\x07version\x12\x00", 15, EVAL_ERR_FORMAT, "CNTK v2" },
        { "\x12\x0b\x0a\x07version\x12\x00", 13, EVAL_ERR_FORMAT, "CNTK v2" },
        { "\x0a\x0d\x08\x00\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 15, EVAL_ERR_UNSUPPORTED,
          "Paddle" },
        { "{\"base_code\":{\"magic\":\"pir\"}}", 29, EVAL_ERR_UNSUPPORTED, "Paddle" },
        { "PK\x03\x04rest", 8, EVAL_ERR_UNSUPPORTED, "zip" },
        { "GGUF\x03\x00\x00\x00", 8, EVAL_ERR_UNSUPPORTED, "GGUF" },
        { "\x1c\x00\x00\x00TFL3", 8, EVAL_ERR_UNSUPPORTED, "TensorFlow Lite" },
        { "\x80\x04\x95\x01", 4, EVAL_ERR_UNSUPPORTED, "pickle" },
        { "\x89HDF\r\n\x1a\n", 8, EVAL_ERR_UNSUPPORTED, "HDF5" },
        { "\x10\x00\x00\x00\x00\x00\x00\x00{\"a\":1}", 15, EVAL_ERR_UNSUPPORTED, "safetensors" },
        { "a letter to you\n", 16, EVAL_ERR_FORMAT, "text" },
        { "\x00\x01\x02\x03", 4, EVAL_ERR_FORMAT, "no known model format" },
        { "\x08\x08\x12\x07", 4, EVAL_ERR_FORMAT, "no known model format" },
        { "\x08", 1, EVAL_ERR_FORMAT, "no known model format" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        evl_reading r;
        assert_int_equal(evl_test_read(evl_test_begin(), cases[i].bytes, cases[i].n, NULL, &r),
                         cases[i].status);
        if (!strstr(r.ctx->error.text, cases[i].text))
            fail_msg("case %zu: %s", i, r.ctx->error.text);
        evl_test_drop(&r);
        evl_test_end(r.ctx);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_called_what_it_seems_to_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
