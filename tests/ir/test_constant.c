#include "ir/constant.h"
#include "support/support.h"
#include <string.h>

typedef struct fixture {
    evl_context *ctx;
    evl_store *store;
} fixture;

static fixture begin(void)
{
    fixture f = { evl_test_begin(), NULL };
    f.store = evl_store_new(f.ctx->memory);
    assert_non_null(f.store);
    return f;
}

static void end(fixture *f)
{
    evl_store_free(f->store);
    evl_test_end(f->ctx);
}

static evl_tensor three(EvalType type, void *data)
{
    evl_tensor t = { .type = type, .data = data };
    t.shape.rank = 1;
    t.shape.dim[0] = 3;
    return t;
}

static void an_aligned_constant_stays_where_it_is(void **state)
{
    (void)state;
    fixture f = begin();
    int32_t numbers[3] = { 1, 2, 3 };
    evl_tensor t = three(EVAL_INT32, numbers);
    assert_int_equal(evl_constant_settle(f.ctx, f.store, EVAL_INT32, &t), EVAL_OK);
    assert_ptr_equal(t.data, numbers);
    end(&f);
}

static void an_unaligned_one_is_copied_once(void **state)
{
    (void)state;
    fixture f = begin();
    const int32_t numbers[3] = { 1, -2, 3 };
    _Alignas(8) char bytes[sizeof numbers + 1];
    memcpy(bytes + 1, numbers, sizeof numbers);
    evl_tensor t = three(EVAL_INT32, bytes + 1), again = t;
    assert_false(evl_constant_is_aligned(&t));
    assert_int_equal(evl_constant_settle(f.ctx, f.store, EVAL_INT32, &t), EVAL_OK);
    assert_true(evl_constant_is_aligned(&t));
    assert_memory_equal(t.data, numbers, sizeof numbers);
    assert_int_equal(evl_constant_settle(f.ctx, f.store, EVAL_INT32, &again), EVAL_OK);
    assert_ptr_equal(again.data, t.data);
    end(&f);
}

static void a_constant_of_another_type_is_converted(void **state)
{
    (void)state;
    fixture f = begin();
    const float numbers[3] = { 0.5f, -2, 3 };
    const double wide[3] = { 0.5, -2, 3 };
    char bytes[sizeof numbers + 3];
    memcpy(bytes + 3, numbers, sizeof numbers);
    evl_tensor t = three(EVAL_FLOAT32, bytes + 3);
    assert_int_equal(evl_constant_settle(f.ctx, f.store, EVAL_FLOAT64, &t), EVAL_OK);
    assert_int_equal(t.type, EVAL_FLOAT64);
    assert_memory_equal(t.data, wide, sizeof wide);
    end(&f);
}

static void what_cannot_be_converted_is_told_and_left(void **state)
{
    (void)state;
    fixture f = begin();
    EvalString texts[3] = { { "a", 1 }, { "b", 1 }, { "c", 1 } };
    evl_tensor t = three(EVAL_STRING, texts);
    assert_int_equal(evl_constant_settle(f.ctx, f.store, EVAL_FLOAT32, &t), EVAL_ERR_TYPE);
    assert_int_equal(t.type, EVAL_STRING);
    assert_ptr_equal(t.data, texts);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_aligned_constant_stays_where_it_is),
        cmocka_unit_test(an_unaligned_one_is_copied_once),
        cmocka_unit_test(a_constant_of_another_type_is_converted),
        cmocka_unit_test(what_cannot_be_converted_is_told_and_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
