#include "ir/store.h"
#include "support/support.h"
#include <string.h>

static size_t made;

static EvalStatus make(evl_context *ctx, void *block, void *arg)
{
    (void)ctx;
    made++;
    memcpy(block, arg, sizeof(int));
    return EVAL_OK;
}

static EvalStatus refuse(evl_context *ctx, void *block, void *arg)
{
    (void)block;
    (void)arg;
    return evl_fail(ctx, EVAL_ERR_TYPE, "no");
}

static void a_block_is_made_once_and_shared(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_store *store = evl_store_new(ctx->memory);
    int source = 7, other = 8;
    const void *a, *b, *c;
    evl_store_key key = { &source, "packed", 1 };
    made = 0;
    assert_null(evl_store_find(store, &key));
    assert_int_equal(evl_store_get(ctx, store, &key, sizeof source, make, &source, &a), EVAL_OK);
    assert_int_equal(evl_store_get(ctx, store, &key, sizeof source, make, &other, &b), EVAL_OK);
    assert_ptr_equal(a, b);
    assert_ptr_equal(evl_store_find(store, &key), a);
    key.variant = 2;
    assert_int_equal(evl_store_get(ctx, store, &key, sizeof source, make, &other, &c), EVAL_OK);
    assert_ptr_not_equal(a, c);
    assert_int_equal(made, 2);
    evl_store_free(store);
    evl_test_end(ctx);
}

static void a_key_may_end_before_its_block(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_store *store = evl_store_new(ctx->memory);
    int source = 7;
    const void *a;
    char kind[] = "rows of 3";
    evl_store_key key = { &source, kind, 0 };
    assert_int_equal(evl_store_get(ctx, store, &key, sizeof source, make, &source, &a), EVAL_OK);
    kind[8] = '4';
    assert_null(evl_store_find(store, &key));
    key.kind = "rows of 3";
    assert_ptr_equal(evl_store_find(store, &key), a);
    evl_store_free(store);
    evl_test_end(ctx);
}

static void a_block_that_cannot_be_made_leaves_nothing(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_store *store = evl_store_new(ctx->memory);
    evl_store_key key = { &made, "packed", 0 };
    const void *block;
    assert_int_equal(evl_store_get(ctx, store, &key, 4, refuse, NULL, &block), EVAL_ERR_TYPE);
    assert_null(evl_store_find(store, &key));
    evl_store_free(store);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_made_once_and_shared),
        cmocka_unit_test(a_key_may_end_before_its_block),
        cmocka_unit_test(a_block_that_cannot_be_made_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
