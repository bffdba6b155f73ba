#include "ops/ops.h"
#include "support/run_op.h"
#include <math.h>

/* Values of the ONNX reference implementation for one image. */
static const struct {
    const char *mode, *coordinates;
    double scales[2];
    int antialias, exclude_outside;
    int64_t dims[2];
    double wanted[48];
} cases[] = {
    { "linear",
      "half_pixel",
      { 2, 2 },
      0,
      0,
      { 6, 8 },
      { 1,    1.25,    1.75,    2.25,  2.75, 3.25,   3.75,   4,     2,     2.25, 2.75, 3.25,
        3.75, 4.25,    4.75,    5,     4,    4.25,   4.75,   5.25,  5.75,  6.25, 6.75, 7,
        6,    6.25,    6.75,    7.25,  7.75, 8.3125, 8.9375, 9.25,  8,     8.25, 8.75, 9.25,
        9.75, 10.4375, 11.3125, 11.75, 9,    9.25,   9.75,   10.25, 10.75, 11.5, 12.5, 13 } },
    { "linear", "align_corners", { 2, 1.5 }, 0, 0, { 6, 6 }, { 1,   1.6, 2.2,  2.8,  3.4,   4,
                                                               2.6, 3.2, 3.8,  4.4,  5,     5.6,
                                                               4.2, 4.8, 5.4,  6,    6.6,   7.2,
                                                               5.8, 6.4, 7,    7.6,  8.28,  9,
                                                               7.4, 8,   8.6,  9.2,  10.04, 11,
                                                               9,   9.6, 10.2, 10.8, 11.8,  13 } },
    { "linear",
      "align_corners",
      { 1, 0.6 },
      0,
      0,
      { 3, 2 },
      { 1, 3.142857, 5, 7.142857, 9, 11.28571 } },
    { "cubic",
      "half_pixel",
      { 2, 2 },
      0,
      0,
      { 6, 8 },
      { 0.4726562, 0.7695312, 1.246094, 1.875,    2.28125,  2.910156, 3.386719, 3.683594,
        1.660156,  1.957031,  2.433594, 3.063736, 3.472458, 4.089691, 4.547028, 4.83223,
        3.566406,  3.863281,  4.339844, 4.972458, 5.386124, 5.980011, 6.398895, 6.660751,
        6.222656,  6.519531,  6.996094, 7.617035, 8.007355, 8.711487, 9.311951, 9.684052,
        8.128906,  8.425781,  8.902344, 9.504059, 9.855927, 10.74164, 11.64117, 12.19485,
        9.316406,  9.613281,  10.08984, 10.67989, 11.00841, 12.00436, 13.08548, 13.7494 } },
    { "cubic", "asymmetric", { 0.7, 0.5 }, 0, 1, { 2, 2 }, { 1, 3, 7.237837, 9.237837 } },
    { "linear",
      "half_pixel",
      { 0.7, 0.6 },
      1,
      0,
      { 2, 2 },
      { 2.616379, 4.241379, 7.74537, 9.502058 } },
    { "cubic",
      "half_pixel",
      { 0.7, 0.6 },
      1,
      0,
      { 2, 2 },
      { 2.180614, 3.930027, 7.964531, 9.880927 } },
    { "nearest",
      "half_pixel",
      { 2, 0.75 },
      0,
      0,
      { 6, 3 },
      { 1, 2, 4, 1, 2, 4, 5, 6, 8, 5, 6, 8, 9, 10, 13, 9, 10, 13 } },
    { "linear",
      "pytorch_half_pixel",
      { 0.7, 2 },
      0,
      0,
      { 2, 8 },
      { 1.857143, 2.107143, 2.607143, 3.107143, 3.607143, 4.107143, 4.607143, 4.857143, 7.571429,
        7.821429, 8.321428, 8.821428, 9.321428, 9.982143, 10.80357, 11.21429 } },
    { "linear",
      "half_pixel_symmetric",
      { 1.2, 1.4 },
      0,
      0,
      { 3, 5 },
      { 1.738095, 2.452381, 3.166667, 3.880953, 4.595238, 5.071429, 5.785714, 6.5, 7.214286,
        7.928571, 8.404761, 9.119047, 9.833333, 10.72619, 12.03571 } },
    { "linear", "asymmetric", { 1, 2 }, 0, 0, { 3, 8 }, { 1, 1.5, 2,  2.5,  3,  3.5, 4,  4,
                                                          5, 5.5, 6,  6.5,  7,  7.5, 8,  8,
                                                          9, 9.5, 10, 10.5, 11, 12,  13, 13 } },
};

static const double image[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13 };
static const int64_t dims[] = { 3, 4 }, two = 2;

static void every_mode_is_as_in_the_reference(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        size_t c = i / 2;
        const evl_attribute a[] = {
            evl_attribute_text("mode", cases[c].mode),
            evl_attribute_text("coordinate_transformation_mode", cases[c].coordinates),
            evl_attribute_int("antialias", cases[c].antialias),
            evl_attribute_int("exclude_outside", cases[c].exclude_outside)
        };
        evl_context *ctx = evl_test_begin();
        evl_op_run r = {
            .op = &evl_op_resize, .attributes = a, .n_attributes = 4, .n_in = 3, .hide_data = i % 2
        };
        r.in[0] = evl_test_reals(image, 2, dims);
        r.in[2] = evl_test_reals(cases[c].scales, 1, &two);
        assert_int_equal(evl_run_op(ctx, &r, i % 2 ? EVL_DOUBLE : EVL_FLOAT, 0), EVAL_OK);
        assert_int_equal(r.out[0].shape.dim[0], cases[c].dims[0]);
        assert_int_equal(r.out[0].shape.dim[1], cases[c].dims[1]);
        for (size_t j = 0; j < evl_shape_count(&r.out[0].shape); j++)
            assert_true(fabs(evl_tensor_f64(&r.out[0], j) - cases[c].wanted[j]) < 1e-4);
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

static void upsample_repeats_elements(void **unused)
{
    const double scales[] = { 1, 2 };
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = evl_op_find("", "Upsample"), .version = 9, .n_in = 2 };
    (void)unused;
    r.in[0] = evl_test_reals(image, 2, dims);
    r.in[1] = evl_test_reals(scales, 1, &two);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    for (size_t j = 0; j < 24; j++)
        assert_true(evl_tensor_f64(&r.out[0], j) == image[j / 2]);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

/* What the sums of whole numbers are is cut to a whole one. */
static void integers_are_weighed_too(void **unused)
{
    const evl_attribute mode = evl_attribute_text("mode", "linear");
    (void)unused;
    for (int way = 0; way < 4; way++) {
        evl_context *ctx = evl_test_begin();
        evl_op_run r = { .op = &evl_op_resize, .attributes = &mode, .n_attributes = 1, .n_in = 3,
                         .hide_data = way & 1 };
        int64_t wide[12];
        uint8_t narrow[12];
        for (size_t i = 0; i < 12; i++) {
            wide[i] = -(int64_t)image[i];
            narrow[i] = (uint8_t)image[i];
        }
        r.in[0] = way & 2 ? evl_test_tensor(EVAL_UINT8, narrow, 2, dims) : evl_test_ints(wide, 2, dims);
        r.in[2] = evl_test_reals(cases[0].scales, 1, &two);
        assert_int_equal(evl_run_op(ctx, &r, way & 1 ? EVL_DOUBLE : EVL_FLOAT, 0), EVAL_OK);
        for (size_t j = 0; j < 48; j++) {
            int right = (int)cases[0].wanted[j];
            assert_int_equal(evl_tensor_i64(&r.out[0], j), way & 2 ? right : -right);
        }
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

/* The middle half of a line, which a run brings: its ends and what lies evenly between. */
static void a_region_may_come_in_the_run(void **unused)
{
    static const double line[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 }, roi[] = { 0.25, 0.75 };
    static const int64_t nine = 9, one = 1, five = 5;
    const evl_attribute a[] = {
        evl_attribute_text("mode", "linear"),
        evl_attribute_text("coordinate_transformation_mode", "tf_crop_and_resize"),
    };
    (void)unused;
    for (int hidden = 0; hidden < 2; hidden++) {
        evl_context *ctx = evl_test_begin();
        evl_op_run r = { .op = &evl_op_resize, .attributes = a, .n_attributes = 2, .n_in = 4,
                         .hide_data = hidden };
        r.in[0] = evl_test_reals(line, 1, &nine);
        r.in[1] = evl_test_reals(roi, 1, &two);
        r.in[3] = evl_test_ints(&five, 1, &one);
        assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
        for (size_t j = 0; j < 5; j++)
            assert_true(fabs(evl_tensor_f64(&r.out[0], j) - 2 - (double)j) < 1e-5);
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

/* ONNX's own case of opset 10. */
static void what_shrinks_in_opset_10_rounds_up(void **unused)
{
    static const double x[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, scales[] = { 0.6, 0.6 };
    static const int64_t of[] = { 2, 4 };
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = &evl_op_resize, .version = 10, .n_in = 2 };
    (void)unused;
    r.in[0] = evl_test_reals(x, 2, of);
    r.in[1] = evl_test_reals(scales, 1, &two);
    assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0), EVAL_OK);
    assert_int_equal(evl_shape_count(&r.out[0].shape), 2);
    assert_true(evl_tensor_f64(&r.out[0], 0) == 1 && evl_tensor_f64(&r.out[0], 1) == 3);
    evl_run_op_end(&r);
    evl_test_end(ctx);
}

static void bad_scales_and_modes_are_refused(void **unused)
{
    static const double bad[] = { -1, 1, 0, 1, NAN, 1 };
    const evl_attribute mode = evl_attribute_text("mode", "lanczos");
    evl_op_run r = { .op = &evl_op_resize, .n_in = 3 };
    (void)unused;
    r.in[0] = evl_test_reals(image, 2, dims);
    for (size_t i = 0; i < 4; i++) {
        evl_context *ctx = evl_test_begin();
        r.in[2] = evl_test_reals(i < 3 ? bad + 2 * i : image, 1, &two);
        r.attributes = &mode;
        r.n_attributes = i == 3;
        assert_int_equal(evl_run_op(ctx, &r, EVL_FLOAT, 0),
                         i < 3 ? EVAL_ERR_SHAPE : EVAL_ERR_UNSUPPORTED);
        evl_run_op_end(&r);
        evl_test_end(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_is_as_in_the_reference),
        cmocka_unit_test(upsample_repeats_elements),
        cmocka_unit_test(integers_are_weighed_too),
        cmocka_unit_test(a_region_may_come_in_the_run),
        cmocka_unit_test(what_shrinks_in_opset_10_rounds_up),
        cmocka_unit_test(bad_scales_and_modes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
