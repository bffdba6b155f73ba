/* Bytes that are no good model: a status each, and a text that names the place. */
#include "reading.h"

typedef struct refusal {
    const char *name;
    EvalStatus status;
    const char *text;
} refusal;

static const refusal refusals[] = {
    { "constant_empty", EVAL_ERR_FORMAT, "node 'c' (Constant)" },
    { "constant_twice", EVAL_ERR_FORMAT, "'y' is defined twice" },
    { "cycle", EVAL_ERR_FORMAT, "cycle" },
    { "defined_twice", EVAL_ERR_FORMAT, "'y' is defined twice, again at byte 46" },
    { "field_is_group", EVAL_ERR_FORMAT, "at byte 87" },
    { "field_zero", EVAL_ERR_FORMAT, "at byte 87" },
    { "function_calls_itself", EVAL_ERR_LIMIT, "nest more than 64 deep" },
    { "function_calls_multiply", EVAL_ERR_LIMIT, "calls of functions multiply" },
    { "input_twice", EVAL_ERR_FORMAT, "'x' is defined twice" },
    { "name_not_utf8", EVAL_ERR_FORMAT, "not UTF-8" },
    { "no_operator", EVAL_ERR_FORMAT, "node 'n' has no operator" },
    { "no_opset", EVAL_ERR_FORMAT, "imports no opset" },
    { "no_outputs", EVAL_ERR_FORMAT, "without outputs" },
    { "opset_zero", EVAL_ERR_FORMAT, "opset 0 of domain ''" },
    { "refers_outside", EVAL_ERR_FORMAT, "attribute 'a' refers to 'b'" },
    { "sparse_bomb", EVAL_ERR_LIMIT, "137438953472 bytes, from a file of 89" },
    { "sparse_negative", EVAL_ERR_FORMAT, "an index is outside its shape" },
    { "sparse_outside", EVAL_ERR_FORMAT, "an index is outside its shape" },
    { "sparse_row_outside", EVAL_ERR_FORMAT, "an index is outside its shape" },
    { "sparse_unlike", EVAL_ERR_FORMAT, "its indices do not fit its values" },
    { "tensor_dims_overflow", EVAL_ERR_LIMIT, "[4294967296,4294967296,4294967296]" },
    { "tensor_huge", EVAL_ERR_FORMAT, "has 2 items of float_data, not 8589934592" },
    { "tensor_location_2", EVAL_ERR_FORMAT, "data_location 2" },
    { "tensor_negative_dim", EVAL_ERR_FORMAT, "a dimension of -2" },
    { "tensor_no_type", EVAL_ERR_FORMAT, "without an element type" },
    { "tensor_rank_17", EVAL_ERR_LIMIT, "rank 17" },
    { "tensor_raw_short", EVAL_ERR_FORMAT,
      "tensor 'y' (float32, shape [2]) has 7 bytes of raw_data, not 8" },
    { "tensor_strings_raw", EVAL_ERR_FORMAT, "0 items of string_data" },
    { "tensor_too_few", EVAL_ERR_FORMAT, "has 1 items of float_data, not 2" },
    { "tensor_wrong_field", EVAL_ERR_FORMAT, "has 0 items of int64_data, not 2" },
    { "too_deep", EVAL_ERR_LIMIT, "nest more than 64 deep" },
    { "undefined_input", EVAL_ERR_FORMAT,
      "node 'n' (Identity): nothing defines its input 0, 'z', at byte 22" },
    { "undefined_output", EVAL_ERR_FORMAT, "nothing defines output 'z'" },
    { "varint_endless", EVAL_ERR_FORMAT,
      "onnx: ModelProto: no field of a protocol buffer, at byte 87" },
    { "wrong_wire", EVAL_ERR_FORMAT, "no known model format" },
};

static void each_is_refused_and_told_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char name[64];
        evl_reading r;
        snprintf(name, sizeof name, "broken/%s", refusals[i].name);
        EvalStatus st = evl_test_open(name, &r);
        if (st != refusals[i].status || !strstr(r.ctx->error.text, refusals[i].text))
            fail_msg("%s: %d %s", name, (int)st, r.ctx->error.text);
        evl_test_close(&r);
    }
}

static const char *const good[] = {
    "attributes",   "constants", "encodings_field", "encodings_raw", "encodings_unpacked",
    "external",     "functions", "nested_if",       "old_inputs",    "old_names",
    "old_upsample", "reversed",  "sparse",          "unsupported",   "broken/too_deep",
};

enum { N_GOOD = sizeof good / sizeof good[0] };

/* What the bytes give is any status; a crash, a leak or a wild read is the failure. */
static void try_bytes(const void *bytes, size_t size, const char *path)
{
    evl_reading r;
    evl_context *ctx = evl_test_begin();
    EvalStatus st = evl_test_read(ctx, bytes, size, path, &r);
    assert_true(st == EVAL_OK || ctx->error.text[0] != '\0');
    evl_test_drop(&r);
    evl_test_end(ctx);
}

static void every_cut_gives_a_status(void **state)
{
    (void)state;
    char path[512];
    size_t size;
    for (size_t i = 0; i < N_GOOD; i++) {
        void *bytes = evl_test_load_model(good[i], path, &size);
        for (size_t n = 0; n < size; n++) {
            void *part = malloc(n ? n : 1); /* of that size, for sanitizers */
            memcpy(part, bytes, n);
            try_bytes(part, n, path);
            free(part);
        }
        free(bytes);
    }
}

static void every_flip_gives_a_status(void **state)
{
    (void)state;
    static const uint8_t flips[] = { 0x01, 0x10, 0xff };
    char path[512];
    size_t size;
    for (size_t i = 0; i < N_GOOD; i++) {
        uint8_t *bytes = evl_test_load_model(good[i], path, &size);
        for (size_t n = 0; n < size * sizeof flips; n++) {
            uint8_t *byte = bytes + n / sizeof flips;
            *byte ^= flips[n % sizeof flips];
            try_bytes(bytes, size, path);
            *byte ^= flips[n % sizeof flips];
        }
        free(bytes);
    }
}

/* Fails one request after the other until none is left to fail. */
static void fail_each_allocation(const char *name)
{
    char path[512];
    size_t size, failing = 0, requests;
    void *bytes = evl_test_load_model(name, path, &size);
    do {
        evl_memory memory;
        evl_context ctx;
        evl_reading r;
        evl_test_memory(&memory, failing);
        evl_context_init(&ctx, &memory, &evl_default_limits);
        EvalStatus st = evl_test_read(&ctx, bytes, size, path, &r);
        requests = evl_test_requests(&memory);
        if (failing < requests)
            assert_int_equal(st, EVAL_ERR_MEMORY);
        evl_test_drop(&r);
        evl_test_end(&ctx);
    } while (failing++ < requests);
    free(bytes);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const names[] = { "attributes", "constants", "encodings_field", "external",
                                         "functions",  "nested_if", "old_upsample",    "sparse" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        fail_each_allocation(names[i]);
}

/* However small the file, it gets no more than some multiple of itself. */
static void small_files_get_little_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char name[64];
        evl_reading r;
        snprintf(name, sizeof name, "broken/%s", refusals[i].name);
        evl_test_open(name, &r);
        bool is_function = strstr(name, "multiply") != NULL; /* bounded, and by more */
        assert_in_range(atomic_load(&r.ctx->memory->peak_bytes), 0,
                        is_function ? 64 << 20 : 1 << 20);
        evl_test_close(&r);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_refused_and_told_why),
        cmocka_unit_test(every_cut_gives_a_status),
        cmocka_unit_test(every_flip_gives_a_status),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(small_files_get_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
