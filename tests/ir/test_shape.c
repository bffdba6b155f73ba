#include "ir/tensor.h"
#include <string.h>
#include "support/support.h"

static evl_shape shape(size_t rank, int64_t a, int64_t b, int64_t c)
{
    return evl_shape_of(rank, (int64_t[]){ a, b, c });
}

static void known_shapes_count_their_elements(void **state)
{
    (void)state;
    evl_shape s = shape(3, 2, 3, 4), scalar = evl_shape_scalar(), empty = shape(2, 0, 5, 0);
    assert_int_equal(evl_shape_count(&s), 24);
    assert_int_equal(evl_shape_count(&scalar), 1);
    assert_int_equal(evl_shape_count(&empty), 0);
    assert_int_equal(evl_shape_count_part(&s, 1, 3), 12);
}

static void an_unknown_size_is_not_known(void **state)
{
    (void)state;
    evl_shape s = shape(2, -1, 3, 0), u = evl_shape_unknown(), k = shape(1, 3, 0, 0);
    assert_false(evl_shape_is_known(&s));
    assert_false(evl_shape_is_known(&u));
    assert_true(evl_shape_is_known(&k));
}

static void shapes_broadcast_as_numpys_do(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_shape a = shape(2, 3, 1, 0), b = shape(3, 5, 1, 4), y;
    assert_int_equal(evl_shape_broadcast(ctx, &a, &b, &y), EVAL_OK);
    evl_shape expected = shape(3, 5, 3, 4);
    assert_true(evl_shape_equal(&y, &expected));
    evl_shape bad = shape(1, 3, 0, 0), other = shape(1, 4, 0, 0);
    assert_int_equal(evl_shape_broadcast(ctx, &bad, &other, &y), EVAL_ERR_SHAPE);
    assert_string_equal(ctx->error.text, "shapes [3] and [4] do not broadcast");
    evl_test_end(ctx);
}

static void an_unknown_size_gives_way_to_a_known_one(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_shape a = shape(2, -1, 1, 0), b = shape(2, 7, -1, 0), y;
    assert_int_equal(evl_shape_broadcast(ctx, &a, &b, &y), EVAL_OK);
    assert_int_equal(y.dim[0], 7);
    assert_int_equal(y.dim[1], -1);
    evl_test_end(ctx);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    evl_shape huge = shape(3, INT64_MAX, INT64_MAX, 2), negative = shape(1, -2, 0, 0);
    evl_shape hidden = shape(3, INT64_MAX, 0, INT64_MAX);
    assert_int_equal(evl_shape_check(ctx, &huge, 4), EVAL_ERR_LIMIT);
    assert_int_equal(evl_shape_check(ctx, &negative, 4), EVAL_ERR_SHAPE);
    assert_int_equal(evl_shape_check(ctx, &hidden, 4), EVAL_ERR_LIMIT);
    evl_test_end(ctx);
}

static void axes_count_from_both_ends(void **state)
{
    (void)state;
    evl_context *ctx = evl_test_begin();
    int32_t axis;
    assert_int_equal(evl_axis(ctx, "axis", -1, 3, &axis), EVAL_OK);
    assert_int_equal(axis, 2);
    assert_int_equal(evl_axis(ctx, "axis", 3, 3, &axis), EVAL_ERR_SHAPE);
    assert_int_equal(evl_axis(ctx, "axis", -4, 3, &axis), EVAL_ERR_SHAPE);
    assert_string_equal(ctx->error.text, "axis -4 is not in -3 .. 2");
    evl_test_end(ctx);
}

static void shapes_print_with_what_is_unknown(void **state)
{
    (void)state;
    char text[EVL_SHAPE_TEXT];
    evl_shape s = shape(3, 2, -1, 4), u = evl_shape_unknown(), scalar = evl_shape_scalar();
    evl_shape wide = { .rank = EVAL_MAX_RANK };
    assert_string_equal(evl_shape_text(&s, text), "[2,?,4]");
    assert_string_equal(evl_shape_text(&u, text), "[...]");
    assert_string_equal(evl_shape_text(&scalar, text), "[]");
    for (int32_t i = 0; i < EVAL_MAX_RANK; i++)
        wide.dim[i] = INT64_MAX;
    assert_true(strlen(evl_shape_text(&wide, text)) < EVL_SHAPE_TEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_shapes_count_their_elements),
        cmocka_unit_test(an_unknown_size_is_not_known),
        cmocka_unit_test(shapes_broadcast_as_numpys_do),
        cmocka_unit_test(an_unknown_size_gives_way_to_a_known_one),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(axes_count_from_both_ends),
        cmocka_unit_test(shapes_print_with_what_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
