#include "support/support.h"
#include <errno.h>
#include <stdlib.h>

static void sizes_that_do_not_fit_are_refused(void **state)
{
    size_t result = 7;
    (void)state;
    assert_true(evl_size_multiply(SIZE_MAX / 2, 2, &result));
    assert_int_equal(result, SIZE_MAX - 1);
    assert_true(evl_size_multiply(SIZE_MAX, 0, &result));
    assert_int_equal(result, 0);
    assert_false(evl_size_multiply(SIZE_MAX / 2 + 1, 2, &result));
    assert_false(evl_size_multiply((size_t)1 << 32, (size_t)1 << 32, &result));
    assert_true(evl_size_add(SIZE_MAX, 0, &result));
    assert_int_equal(result, SIZE_MAX);
    assert_false(evl_size_add(SIZE_MAX, 1, &result));
    assert_int_equal(result, SIZE_MAX);
}

static void blocks_are_aligned_and_counted(void **state)
{
    evl_memory memory;
    (void)state;
    evl_memory_init(&memory, NULL, 0);
    char *a = evl_allocate(&memory, 1), *b = evl_allocate_zeroed(&memory, 1000);
    assert_non_null(a);
    assert_int_equal((uintptr_t)a % EVL_ALIGNMENT, 0);
    assert_int_equal((uintptr_t)b % EVL_ALIGNMENT, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(b[i], 0);
    assert_int_equal(memory.blocks, 2);
    assert_int_equal(memory.calls, 2);
    assert_true(memory.bytes >= 1001);
    size_t peak = memory.bytes;
    evl_release(&memory, a);
    evl_release(&memory, b);
    evl_release(&memory, NULL);
    assert_int_equal(memory.blocks, 0);
    assert_int_equal(memory.bytes, 0);
    assert_int_equal(memory.peak_bytes, peak);
}

static void the_cap_refuses_and_forgets_the_refused(void **state)
{
    evl_memory memory;
    (void)state;
    evl_memory_init(&memory, NULL, 1000);
    void *a = evl_allocate(&memory, 600);
    assert_non_null(a);
    assert_null(evl_allocate(&memory, 600));
    assert_null(evl_allocate(&memory, SIZE_MAX));
    assert_null(evl_allocate(&memory, SIZE_MAX - EVL_ALIGNMENT));
    evl_release(&memory, a);
    a = evl_allocate(&memory, 900);
    assert_non_null(a);
    evl_release(&memory, a);
    assert_int_equal(memory.bytes, 0);
    assert_true(memory.peak_bytes <= 1000);
}

static void *count_bytes(void *user, size_t bytes, size_t alignment)
{
    *(size_t *)user += bytes;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void discount_bytes(void *user, void *block, size_t bytes)
{
    *(size_t *)user -= bytes;
    free(block);
}

static void a_callers_functions_are_told_the_same_size_twice(void **state)
{
    size_t held = 0;
    EvalAllocator from = { sizeof from, count_bytes, discount_bytes, &held };
    evl_memory memory;
    (void)state;
    evl_memory_init(&memory, &from, 0);
    void *block = evl_allocate(&memory, 123);
    assert_non_null(block);
    assert_int_equal(held, memory.bytes);
    assert_true(held >= 123);
    evl_release(&memory, block);
    assert_int_equal(held, 0);
}

static void a_refused_allocation_leaves_the_counts_and_errno(void **state)
{
    evl_memory memory;
    (void)state;
    evl_test_memory(&memory, 0);
    errno = 77;
    assert_null(evl_allocate(&memory, 10));
    assert_int_equal(memory.bytes, 0);
    assert_int_equal(memory.blocks, 0);
    evl_memory_init(&memory, NULL, 0);
    assert_null(evl_allocate(&memory, PTRDIFF_MAX - 2 * EVL_ALIGNMENT));
    assert_int_equal(errno, 77);
    assert_int_equal(memory.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_do_not_fit_are_refused),
        cmocka_unit_test(blocks_are_aligned_and_counted),
        cmocka_unit_test(the_cap_refuses_and_forgets_the_refused),
        cmocka_unit_test(a_callers_functions_are_told_the_same_size_twice),
        cmocka_unit_test(a_refused_allocation_leaves_the_counts_and_errno),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
