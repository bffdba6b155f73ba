/* Values made of values: their types and whole copies. */
#include "ir/nested.h"
#include "support/support.h"
#include <string.h>

static evl_tensor floats(const float *data, int64_t n)
{
    evl_tensor t = { .type = EVAL_FLOAT32, .shape = evl_shape_of(1, &n) };
    memcpy(&t.data, &data, sizeof data);
    return t;
}

static evl_tensor texts(const EvalString *data, int64_t n)
{
    evl_tensor t = { .type = EVAL_STRING, .shape = evl_shape_of(1, &n) };
    memcpy(&t.data, &data, sizeof data);
    return t;
}

static void around_and_inside_are_opposites(void **state)
{
    (void)state;
    evl_tensor t = { .type = EVAL_INT64, .shape = evl_shape_scalar() }, outer, inside;
    for (int depth = 0; depth < EVL_MAX_NESTING; depth++) {
        assert_true(evl_nested_around(depth % 2 ? EVAL_OPTIONAL : EVAL_SEQUENCE, &t, &outer));
        inside = evl_nested_inside(&outer, 0);
        assert_true(evl_type_equal(&inside, &t));
        assert_false(evl_type_equal(&outer, &t));
        assert_int_equal(outer.shape.rank, 1);
        assert_int_equal(outer.shape.dim[0], EVL_UNKNOWN_DIM);
        t = outer;
        outer = (evl_tensor){ 0 };
    }
    assert_false(evl_nested_around(EVAL_SEQUENCE, &t, &outer)); /* too deep */
}

static void a_map_has_keys_and_values(void **state)
{
    (void)state;
    char text[EVL_TYPE_TEXT];
    evl_tensor value = { .type = EVAL_FLOAT32 }, pair = { 0 }, map = { 0 }, list = { 0 };
    assert_true(evl_nested_around(EVAL_INT64, &value, &pair));
    assert_true(evl_nested_around(EVAL_MAP, &pair, &map));
    assert_int_equal(evl_nested_inside(&map, 0).type, EVAL_INT64);
    assert_int_equal(evl_nested_inside(&map, 1).type, EVAL_FLOAT32);
    assert_true(evl_nested_around(EVAL_SEQUENCE, &map, &list));
    assert_string_equal(evl_type_text(&list, text), "seq(map(int64,float32))");
    evl_type_make_real(&list, EVAL_FLOAT64);
    assert_string_equal(evl_type_text(&list, text), "seq(map(int64,float64))");
    assert_string_equal(evl_type_text(&value, text), "float32");
}

/* [floats, texts, no element] */
static evl_tensor list_of(evl_tensor elements[3])
{
    static const float numbers[] = { 1, 2, 3 };
    static const EvalString words[] = { { "one", 3 }, { NULL, 0 }, { "two\0three", 9 } };
    evl_tensor list = { .type = EVAL_SEQUENCE,
                        .shape = evl_shape_of(1, (int64_t[]){ 3 }),
                        .data = elements };
    elements[0] = floats(numbers, 3);
    elements[1] = texts(words, 3);
    elements[2] = floats(numbers, 0);
    return list;
}

static void a_copy_is_whole(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_tensor elements[3], list = list_of(elements), copy;
    size_t bytes;
    assert_true(evl_value_bytes(&list, &bytes));
    char *block = evl_allocate(ctx->memory, bytes + 1);
    assert_non_null(block);
    block[bytes] = 77;
    evl_value_copy(&list, block, &copy);
    assert_int_equal(block[bytes], 77); /* nothing behind its end */
    memset(elements, 0, sizeof elements);
    assert_int_equal(evl_nested_at(&copy, 0)->shape.dim[0], 3);
    assert_true(((float *)evl_nested_at(&copy, 0)->data)[2] == 3);
    const EvalString *words = evl_nested_at(&copy, 1)->data;
    assert_int_equal(words[1].size, 0);
    assert_memory_equal(words[2].text, "two\0three", 9);
    assert_true(words[0].text >= block && words[2].text + 9 <= block + bytes);
    assert_int_equal(evl_shape_count(&evl_nested_at(&copy, 2)->shape), 0);
    evl_release(ctx->memory, block);
    evl_test_end(ctx);
}

/* So operators say what their elements are before they fill them. */
static void elements_without_data_get_their_place(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_tensor elements[3], list = list_of(elements), copy;
    size_t bytes;
    elements[0].data = NULL;
    assert_true(evl_value_bytes(&list, &bytes));
    char *block = evl_allocate(ctx->memory, bytes);
    evl_value_copy(&list, block, &copy);
    const char *place = evl_nested_at(&copy, 0)->data;
    assert_true(place >= block && place + 3 * sizeof(float) <= block + bytes);
    assert_int_equal((uintptr_t)place % EVL_ALIGNMENT, 0);
    evl_release(ctx->memory, block);
    evl_test_end(ctx);
}

static void what_cannot_be_counted_has_no_bytes(void **state)
{
    (void)state;
    const int64_t huge[] = { INT64_MAX / 16, 16 };
    size_t bytes;
    evl_tensor element = { .type = EVAL_FLOAT64, .shape = evl_shape_of(2, huge) };
    evl_tensor list = { .type = EVAL_SEQUENCE,
                        .shape = evl_shape_of(1, (int64_t[]){ 1 }),
                        .data = &element };
    assert_false(evl_value_bytes(&list, &bytes));
    evl_context *ctx = evl_test_begin();
    assert_int_equal(evl_value_room(ctx, &list, &bytes), EVAL_ERR_LIMIT);
    evl_test_end(ctx);
}

static void a_value_may_have_so_many_bytes_and_no_more(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_limits limits = evl_default_limits;
    evl_tensor t = floats((float[]){ 1, 2 }, 2);
    size_t bytes = 0;
    limits.max_tensor_bytes = 8;
    ctx->limits = &limits;
    assert_int_equal(evl_value_room(ctx, &t, &bytes), EVAL_OK);
    assert_int_equal(bytes, 8);
    limits.max_tensor_bytes = 7;
    assert_int_equal(evl_value_room(ctx, &t, &bytes), EVAL_ERR_LIMIT);
    assert_string_equal(ctx->error.text,
                        "a value has more bytes than the setting maxTensorBytes allows, 7");
    evl_test_end(ctx);
}

static void texts_are_found_at_any_depth(void **state)
{
    (void)state;
    const struct {
        evl_tensor t;
        bool has;
    } cases[] = {
        { { .type = EVAL_STRING }, true },
        { { .type = EVAL_FLOAT32 }, false },
        { { .type = EVAL_UNDEFINED }, true },
        { { .type = EVAL_SEQUENCE }, true }, /* of what is not known */
        { { .type = EVAL_SEQUENCE, .inner = { EVAL_FLOAT32 } }, false },
        { { .type = EVAL_OPTIONAL, .inner = { EVAL_SEQUENCE, EVAL_STRING } }, true },
        { { .type = EVAL_OPTIONAL, .inner = { EVAL_SEQUENCE } }, true },
        { { .type = EVAL_MAP, .inner = { EVAL_STRING, EVAL_FLOAT32 } }, true },
        { { .type = EVAL_MAP, .inner = { EVAL_INT64, EVAL_STRING } }, true },
        { { .type = EVAL_MAP, .inner = { EVAL_INT64, EVAL_FLOAT32 } }, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(evl_type_has_text(&cases[i].t), cases[i].has);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(around_and_inside_are_opposites),
        cmocka_unit_test(a_map_has_keys_and_values),
        cmocka_unit_test(texts_are_found_at_any_depth),
        cmocka_unit_test(a_copy_is_whole),
        cmocka_unit_test(elements_without_data_get_their_place),
        cmocka_unit_test(what_cannot_be_counted_has_no_bytes),
        cmocka_unit_test(a_value_may_have_so_many_bytes_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
