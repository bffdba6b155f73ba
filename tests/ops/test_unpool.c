/* MaxUnpool puts back what MaxPool took. */
#include "ops/op_case.h"

static void values_go_where_the_indices_say(void **state)
{
    const double x[] = { 5, 6, 7, 8 }, y[] = { 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 7, 0, 8 };
    const int64_t indices[] = { 5, 7, 13, 15 }, two[] = { 2, 2 }, in[] = { 1, 1, 2, 2 };
    const int64_t out[] = { 1, 1, 4, 4 }, larger[] = { 1, 1, 5, 5 }, beyond[] = { 6, 8, 18, 24 };
    double larger_y[25] = { 0 }, beyond_y[25] = { 0 };
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        larger_y[indices[i] / 4 * 5 + indices[i] % 4] = x[i];
        beyond_y[beyond[i]] = x[i];
    }
    op_case c = { .op = "MaxUnpool",
                  .attributes = { evl_attribute_ints("kernel_shape", two, 2),
                                  evl_attribute_ints("strides", two, 2) },
                  .in = { evl_test_reals(x, 4, in), evl_test_ints(indices, 4, in) },
                  .out = { evl_test_reals(y, 4, out) } };
    check_case(&c);
    c.in[2] = vector(EVAL_INT64, larger, 4); /* as ONNX's own example has it */
    c.out[0] = evl_test_reals(larger_y, 4, larger);
    check_case(&c);
    c.in[1] = evl_test_ints(beyond, 4, in); /* as its text has it */
    c.out[0] = evl_test_reals(beyond_y, 4, larger);
    check_case(&c);
}

static void what_does_not_fit_is_refused(void **state)
{
    const double x[] = { 5, 6 };
    const int64_t outside[] = { 0, 6 }, two[] = { 2 }, in[] = { 1, 1, 2 }, small[] = { 1, 1, 3 };
    const int64_t padding[] = { 0, 1 }, inside[] = { 0, 2 };
    const double y[] = { 5, 0, 6 };
    op_case c = { .op = "MaxUnpool",
                  .attributes = { evl_attribute_ints("kernel_shape", two, 1),
                                  evl_attribute_ints("strides", two, 1) },
                  .in = { evl_test_reals(x, 3, in), evl_test_ints(outside, 3, in) },
                  .out = { evl_test_reals(y, 3, small) },
                  .status = EVAL_ERR_SHAPE };
    (void)state;
    check_case(&c);
    c.in[1] = evl_test_ints(inside, 3, in);
    c.in[2] = vector(EVAL_INT64, small, 3);
    check_case(&c);
    c.in[2] = (evl_tensor){ 0 };
    c.attributes[2] = evl_attribute_ints("pads", padding, 2);
    c.status = EVAL_OK;
    check_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_go_where_the_indices_say),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
