#include "support/support.h"
#include "base/arena.h"
#include <string.h>

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    evl_memory memory;
    char *pieces[500];
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    for (size_t i = 0; i < 500; i++) {
        pieces[i] = evl_arena_take(arena, i);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % (i < 64 ? 16 : 64), 0);
        for (size_t k = 0; k < i; k++)
            assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], (int)(i % 127) + 1, i);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_equal(pieces[i][k], (int)(i % 127) + 1);
    evl_arena_free(arena);
    assert_int_equal(memory.blocks, 0);
}

static void chunks_double_so_that_requests_stay_few(void **state)
{
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    for (int i = 0; i < 100000; i++)
        assert_non_null(evl_arena_take(arena, 48));
    assert_in_range(evl_test_requests(&memory), 5, 16);
    evl_arena_free(arena);
}

static void a_big_piece_costs_its_size_and_leaves_the_chunk_in_use(void **state)
{
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    char *small = evl_arena_take(arena, 16);
    size_t before = memory.bytes;
    assert_non_null(evl_arena_take(arena, 3 << 20));
    assert_in_range(memory.bytes - before, 3 << 20, (3 << 20) + 1024);
    assert_ptr_equal(evl_arena_take(arena, 16), small + 16);
    evl_arena_free(arena);
}

static void a_big_piece_may_come_first(void **state)
{
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    assert_non_null(evl_arena_take(arena, 2 << 20));
    assert_non_null(evl_arena_take(arena, 16));
    assert_non_null(evl_arena_take(arena, 2 << 20));
    assert_non_null(evl_arena_take(arena, 16));
    evl_arena_free(arena);
    assert_int_equal(memory.blocks, 0);
}

static void fill(evl_arena *arena)
{
    for (size_t i = 0; i < 300; i++) {
        char *piece = evl_arena_take(arena, i * 200);
        assert_non_null(piece);
        for (size_t k = 0; k < i * 200; k++)
            assert_int_equal(piece[k], 0);
        memset(piece, 1, i * 200);
    }
    assert_non_null(evl_arena_take(arena, 2 << 20));
}

static void after_a_reset_the_same_work_needs_no_memory(void **state)
{
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    fill(arena);
    size_t requests = evl_test_requests(&memory);
    for (int i = 0; i < 3; i++) {
        evl_arena_reset(arena);
        fill(arena);
    }
    assert_in_range(evl_test_requests(&memory), requests, requests + 1);
    evl_arena_free(arena);
}

static void products_and_lengths_that_overflow_give_nothing(void **state)
{
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    assert_null(evl_arena_take_many(arena, SIZE_MAX / 4, 8));
    assert_null(evl_arena_take(arena, SIZE_MAX));
    assert_null(evl_arena_take(arena, SIZE_MAX - 64));
    assert_null(evl_arena_text(arena, "", SIZE_MAX));
    assert_ptr_equal(evl_arena_memory(arena), &memory);
    evl_arena_free(arena);
    evl_arena_free(NULL);
}

static void texts_are_copied_and_ended(void **state)
{
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, SIZE_MAX);
    evl_arena *arena = evl_arena_new(&memory);
    assert_string_equal(evl_arena_text(arena, "abcdef", 3), "abc");
    assert_string_equal(evl_arena_text(arena, NULL, 0), "");
    evl_arena_free(arena);
}

static void a_growing_array_keeps_its_items_also_when_it_cannot_grow(void **state)
{
    evl_memory memory;
    size_t capacity = 0;
    int *items = NULL;
    (void)state;
    evl_test_memory(&memory, 3);
    evl_arena *arena = evl_arena_new(&memory);
    for (int n = 0;; n++) {
        int *grown = evl_arena_grow(arena, items, (size_t)n, &capacity, sizeof *items);
        if (!grown)
            break;
        items = grown;
        items[n] = n;
        assert_true((size_t)n < capacity);
    }
    assert_true(capacity >= 512);
    for (size_t i = 0; i < capacity; i++)
        assert_int_equal(items[i], i);
    evl_arena_free(arena);
    assert_int_equal(memory.blocks, 0);
}

static void each_failing_request_is_answered_by_nothing(void **state)
{
    (void)state;
    for (size_t failing = 0;; failing++) {
        evl_memory memory;
        evl_test_memory(&memory, failing);
        evl_arena *arena = evl_arena_new(&memory);
        bool is_whole = arena != NULL;
        for (int i = 0; is_whole && i < 200; i++)
            is_whole = evl_arena_take(arena, 1000) != NULL;
        is_whole = is_whole && evl_arena_take(arena, 2 << 20);
        assert_true(is_whole == (evl_test_requests(&memory) <= failing));
        evl_arena_free(arena);
        assert_int_equal(memory.blocks, 0);
        if (is_whole)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(chunks_double_so_that_requests_stay_few),
        cmocka_unit_test(a_big_piece_costs_its_size_and_leaves_the_chunk_in_use),
        cmocka_unit_test(a_big_piece_may_come_first),
        cmocka_unit_test(after_a_reset_the_same_work_needs_no_memory),
        cmocka_unit_test(products_and_lengths_that_overflow_give_nothing),
        cmocka_unit_test(texts_are_copied_and_ended),
        cmocka_unit_test(a_growing_array_keeps_its_items_also_when_it_cannot_grow),
        cmocka_unit_test(each_failing_request_is_answered_by_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
