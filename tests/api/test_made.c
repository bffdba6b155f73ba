/* Memory that is made for outputs and found again. */
#include "api/core.h"

static evl_evaluator e;
static evl_context ctx;

static int setup(void **state)
{
    (void)state;
    assert_true(evl_evaluator_start(&e, EVL_FLOAT));
    evl_context_init(&ctx, &e.home->memory, &evl_default_limits);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    evl_context_end(&ctx);
    evl_evaluator_end(&e);
    return 0;
}

static size_t blocks(void)
{
    return atomic_load(&e.home->memory.blocks);
}

static void *make(size_t bytes)
{
    void *data = NULL;
    assert_int_equal(evl_made_new(&ctx, &e, &e.made, bytes, &data), EVAL_OK);
    assert_non_null(data);
    memset(data, 0x5a, bytes);
    return data;
}

static void what_was_made_is_freed_once_in_any_order(void **state)
{
    (void)state;
    static const size_t orders[][3] = { { 0, 1, 2 }, { 1, 0, 2 }, { 2, 1, 0 } };
    size_t before = blocks();
    for (size_t i = 0; i < 3; i++) {
        void *made[] = { make(10), make(0), make(1000) };
        for (size_t j = 0; j < 3; j++) {
            assert_true(evl_made_free(&e, &e.made, made[orders[i][j]]));
            assert_false(evl_made_free(&e, &e.made, made[orders[i][j]]));
        }
        assert_null(e.made);
        assert_int_equal(blocks(), before);
    }
}

static void what_was_not_made_is_not_freed(void **state)
{
    (void)state;
    char *made = make(16), mine;
    assert_false(evl_made_free(&e, &e.made, &mine));
    assert_false(evl_made_free(&e, &e.made, made + 1));
    assert_false(evl_made_free(&e, &e.evaluated, made)); /* of another list */
    assert_true(evl_made_free(&e, &e.made, made));
}

static void all_of_a_list_goes_at_once(void **state)
{
    (void)state;
    void *other;
    size_t before = blocks();
    for (size_t i = 0; i < 5; i++)
        make(i);
    assert_int_equal(evl_made_new(&ctx, &e, &e.evaluated, 8, &other), EVAL_OK);
    evl_made_free_all(&e, &e.made);
    assert_null(e.made);
    assert_true(evl_made_free(&e, &e.evaluated, other));
    evl_made_free_all(&e, &e.made); /* nothing is there */
    assert_int_equal(blocks(), before);
}

static void without_memory_nothing_is_listed(void **state)
{
    (void)state;
    evl_memory *memory = &e.home->memory;
    for (size_t room = 0; room < 2; room++) { /* of the entry, of what it lists */
        void *data = &data;
        size_t before = blocks();
        memory->cap = atomic_load(&memory->bytes) + (room ? 200 : 1);
        assert_int_equal(evl_made_new(&ctx, &e, &e.made, 100000, &data), EVAL_ERR_MEMORY);
        memory->cap = 0;
        assert_null(e.made);
        assert_ptr_equal(data, &data);
        assert_int_equal(blocks(), before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_made_is_freed_once_in_any_order, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_not_made_is_not_freed, setup, teardown),
        cmocka_unit_test_setup_teardown(all_of_a_list_goes_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_nothing_is_listed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
