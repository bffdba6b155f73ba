#include "support/support.h"
#include "base/text.h"
#include <string.h>

static void a_failure_gives_back_its_status_and_names_the_file(void **state)
{
    evl_context *ctx = evl_test_begin();
    (void)state;
    assert_string_equal(ctx->error.text, "");
    assert_int_equal(evl_fail(ctx, EVAL_ERR_SHAPE, "%zu of %s", (size_t)3, "them"), EVAL_ERR_SHAPE);
    assert_int_equal(ctx->error.status, EVAL_ERR_SHAPE);
    assert_string_equal(ctx->error.text, "3 of them");
    ctx->file = "a/b.onnx";
    assert_int_equal(evl_fail(ctx, EVAL_ERR_FORMAT, "cut"), EVAL_ERR_FORMAT);
    assert_string_equal(ctx->error.text, "a/b.onnx: cut");
    evl_test_end(ctx);
}

static void a_place_goes_between_the_file_and_the_rest(void **state)
{
    evl_context *ctx = evl_test_begin();
    (void)state;
    assert_int_equal(evl_fail(ctx, EVAL_ERR_TYPE, "no"), EVAL_ERR_TYPE);
    evl_fail_at(ctx, "node '%s': ", "c1");
    assert_string_equal(ctx->error.text, "node 'c1': no");
    ctx->file = "m";
    assert_int_equal(evl_fail(ctx, EVAL_ERR_TYPE, "no"), EVAL_ERR_TYPE);
    evl_fail_at(ctx, "input %d: ", 2);
    evl_fail_at(ctx, "node '%s': ", "c1");
    assert_string_equal(ctx->error.text, "m: node 'c1': input 2: no");
    assert_int_equal(ctx->error.status, EVAL_ERR_TYPE);
    evl_test_end(ctx);
}

static void long_texts_grow_and_short_ones_follow(void **state)
{
    evl_context *ctx = evl_test_begin();
    (void)state;
    assert_int_equal(evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "these:"), EVAL_ERR_UNSUPPORTED);
    for (int i = 0; i < 1000; i++)
        evl_fail_more(ctx, "\n%d", i);
    assert_int_equal(ctx->error.n, strlen("these:") + 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(ctx->error.text), ctx->error.n);
    assert_string_equal(strrchr(ctx->error.text, '\n'), "\n999");
    evl_fail_at(ctx, "place: ");
    assert_memory_equal(ctx->error.text, "place: these:\n0\n1", 17);
    assert_int_equal(evl_fail(ctx, EVAL_ERR_IO, "short"), EVAL_ERR_IO);
    assert_string_equal(ctx->error.text, "short");
    evl_test_end(ctx);
}

static void without_memory_a_text_is_cut_between_characters(void **state)
{
    char long_text[2001];
    (void)state;
    for (int shift = 0; shift < 4; shift++) {
        evl_memory memory;
        evl_context ctx;
        evl_test_memory(&memory, 0);
        evl_context_init(&ctx, &memory, &evl_default_limits);
        memset(long_text, 'x', sizeof long_text - 1);
        long_text[2000] = '\0';
        for (int i = shift; i + 4 <= 2000; i += 4)
            memcpy(long_text + i, "\xf0\x9f\x8c\x8d", 4);
        assert_int_equal(evl_fail(&ctx, EVAL_ERR_IO, "%s", long_text), EVAL_ERR_IO);
        assert_true(evl_utf8_valid(ctx.error.text, ctx.error.n));
        assert_in_range(ctx.error.n, 508, 511);
        assert_memory_equal(ctx.error.text, long_text, ctx.error.n);
        evl_context_end(&ctx);
        assert_int_equal(memory.blocks, 0);
    }
}

static void a_place_that_does_not_fit_is_left_out(void **state)
{
    evl_memory memory;
    evl_context ctx;
    char long_text[601];
    (void)state;
    memset(long_text, 'x', 600);
    long_text[600] = '\0';
    evl_test_memory(&memory, 0);
    evl_context_init(&ctx, &memory, &evl_default_limits);
    assert_int_equal(evl_fail(&ctx, EVAL_ERR_IO, "rest"), EVAL_ERR_IO);
    evl_fail_at(&ctx, "%s", long_text);
    assert_string_equal(ctx.error.text, "rest");
    evl_context_end(&ctx);
}

static void a_text_stops_growing_at_a_megabyte(void **state)
{
    evl_context *ctx = evl_test_begin();
    (void)state;
    assert_int_equal(evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "list"), EVAL_ERR_UNSUPPORTED);
    for (int i = 0; i < 3000; i++)
        evl_fail_more(ctx, "%1000d", i);
    assert_in_range(ctx->error.n, 1000000, 1 << 20);
    evl_test_end(ctx);
}

static void no_memory_says_so(void **state)
{
    evl_context *ctx = evl_test_begin();
    (void)state;
    assert_int_equal(evl_no_memory(ctx), EVAL_ERR_MEMORY);
    assert_string_equal(ctx->error.text, "not enough memory: 0 bytes are held already");
    ctx->memory->cap = 70;
    assert_null(evl_allocate(ctx->memory, 70));
    assert_int_equal(evl_no_memory(ctx), EVAL_ERR_MEMORY);
    assert_string_equal(ctx->error.text, "not enough memory: 0 bytes are held already, "
                                         "and the setting maxMemory allows 70");
    ctx->memory->cap = 0;
    evl_test_end(ctx);
}

typedef struct notes {
    EvalLogLevel level;
    char text[2000];
} notes;

static void take_note(void *user, EvalLogLevel level, const char *text)
{
    notes *n = user;
    n->level = level;
    strncpy(n->text, text, sizeof n->text - 1);
}

static void notes_go_to_the_log_and_nowhere_without_one(void **state)
{
    evl_context *ctx = evl_test_begin();
    notes n = { 0 };
    (void)state;
    evl_note(ctx, EVAL_LOG_WARNING, "unheard");
    ctx->log = (evl_log){ take_note, &n };
    evl_note(ctx, EVAL_LOG_WARNING, "%s is %d", "x", 5);
    assert_string_equal(n.text, "x is 5");
    assert_int_equal(n.level, EVAL_LOG_WARNING);
    evl_note(ctx, EVAL_LOG_INFO, "%1500d", 5);
    assert_int_equal(strlen(n.text), 1500);
    assert_string_equal(ctx->error.text, "");
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failure_gives_back_its_status_and_names_the_file),
        cmocka_unit_test(a_place_goes_between_the_file_and_the_rest),
        cmocka_unit_test(long_texts_grow_and_short_ones_follow),
        cmocka_unit_test(without_memory_a_text_is_cut_between_characters),
        cmocka_unit_test(a_place_that_does_not_fit_is_left_out),
        cmocka_unit_test(a_text_stops_growing_at_a_megabyte),
        cmocka_unit_test(no_memory_says_so),
        cmocka_unit_test(notes_go_to_the_log_and_nowhere_without_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
