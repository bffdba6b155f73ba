/* Products with what stands around them, fused and node by node. */
#include "ops/matmul.h"
#include "passes/network.h"

static void dense_layer(network *n)
{
    const int64_t x[] = { 7, 33 }, w[] = { 19, 33 }, b[] = { 19 };
    evl_attribute trans = evl_attribute_int("transB", 1);
    evl_value *y = node(n, &evl_op_gemm, input(n, 2, x), constant(n, 2, w), constant(n, 1, b),
                        &trans, 1);
    node(n, &evl_op_relu, y, NULL, NULL, NULL, 0);
}

static void scaled_layer(network *n)
{
    const int64_t x[] = { 2, 3, 4, 20 }, w[] = { 20, 35 }, b[] = { 35 };
    evl_value *y = node(n, &evl_op_matmul, input(n, 4, x), constant(n, 2, w), NULL, NULL, 0);
    y = node(n, &evl_op_mul, number(n, 0.25), y, NULL, NULL, 0);
    y = node(n, &evl_op_add, constant(n, 1, b), y, NULL, NULL, 0);
    node(n, &evl_op_clip, y, number(n, -0.5), number(n, 0.75), NULL, 0);
}

static void residual_layer(network *n)
{
    const int64_t x[] = { 1, 5, 16 }, w[] = { 16, 16 }, b[] = { 1, 1, 16 };
    evl_value *in = input(n, 3, x);
    evl_value *y = node(n, &evl_op_matmul, in, constant(n, 2, w), NULL, NULL, 0);
    y = node(n, &evl_op_add, y, constant(n, 3, b), NULL, NULL, 0);
    y = node(n, &evl_op_add, in, y, NULL, NULL, 0);
    node(n, &evl_op_sigmoid, y, NULL, NULL, NULL, 0);
}

/* Queries by keys, scaled and masked; heads are an axis between rows and columns. */
static void attention_scores(network *n)
{
    const int64_t q[] = { 2, 9, 3, 8 }, k[] = { 2, 11, 3, 8 }, mask[] = { 2, 1, 1, 11 };
    static const int64_t heads[] = { 0, 2, 1, 3 }, keys[] = { 0, 2, 3, 1 };
    evl_value *a = transposed(n, input(n, 4, q), heads, 4);
    evl_value *b = transposed(n, input(n, 4, k), keys, 4);
    evl_value *y = node(n, &evl_op_matmul, a, b, NULL, NULL, 0);
    y = node(n, &evl_op_div, y, number(n, 2.5), NULL, NULL, 0);
    node(n, &evl_op_add, y, input(n, 4, mask), NULL, NULL, 0);
}

static void attention_values(network *n)
{
    static const int64_t heads[] = { 0, 2, 1, 3 };
    const int64_t p[] = { 2, 3, 9, 11 }, v[] = { 2, 11, 3, 8 };
    evl_value *b = transposed(n, input(n, 4, v), heads, 4);
    evl_value *y = node(n, &evl_op_matmul, input(n, 4, p), b, NULL, NULL, 0);
    y = transposed(n, y, heads, 4);
    node(n, &evl_op_tanh, y, NULL, NULL, NULL, 0);
}

/* Gelu as exporters write it: the half is the last factor, or stands before x or the bell. */
static void gelu_layer(network *n, int half)
{
    const int64_t x[] = { 5, 9 }, w[] = { 9, 21 }, b[] = { 21 };
    const evl_op *mul = &evl_op_mul;
    evl_value *y = node(n, &evl_op_matmul, input(n, 2, x), constant(n, 2, w), NULL, NULL, 0);
    y = node(n, &evl_op_add, y, constant(n, 1, b), NULL, NULL, 0);
    evl_value *bell = half ? node(n, &evl_op_div, y, number(n, sqrt(2)), NULL, NULL, 0)
                           : node(n, mul, number(n, sqrt(0.5)), y, NULL, NULL, 0);
    bell = node(n, &evl_op_erf, bell, NULL, NULL, NULL, 0);
    bell = node(n, &evl_op_add, bell, number(n, 1), NULL, NULL, 0);
    if (half == 1)
        y = node(n, mul, y, number(n, 0.5), NULL, NULL, 0);
    if (half == 2)
        bell = node(n, mul, number(n, 0.5), bell, NULL, NULL, 0);
    y = node(n, mul, bell, y, NULL, NULL, 0);
    if (half == 0)
        node(n, mul, y, number(n, 0.5), NULL, NULL, 0);
}

static void gelu_halved(network *n)
{
    gelu_layer(n, 0);
}

static void gelu_of_half_x(network *n)
{
    gelu_layer(n, 1);
}

static void gelu_of_half_the_bell(network *n)
{
    gelu_layer(n, 2);
}

/* A constant that float32 rounded is kept in double: only float takes it for sqrt 2. */
static void gelu_of_a_rounded_root(network *n)
{
    const int64_t x[] = { 3, 7 };
    evl_value *y = input(n, 2, x);
    evl_value *bell = node(n, &evl_op_div, y, number(n, (double)1.4142135f), NULL, NULL, 0);
    bell = node(n, &evl_op_erf, bell, NULL, NULL, NULL, 0);
    bell = node(n, &evl_op_add, bell, number(n, 1), NULL, NULL, 0);
    y = node(n, &evl_op_mul, y, bell, NULL, NULL, 0);
    node(n, &evl_op_mul, y, number(n, 0.5), NULL, NULL, 0);
}

/* What two nodes use stays a value of its own. */
static void shared_product(network *n)
{
    const int64_t x[] = { 4, 6 }, w[] = { 6, 17 };
    evl_value *y = node(n, &evl_op_matmul, input(n, 2, x), constant(n, 2, w), NULL, NULL, 0);
    evl_value *a = node(n, &evl_op_relu, y, NULL, NULL, NULL, 0);
    evl_value *b = node(n, &evl_op_tanh, y, NULL, NULL, NULL, 0);
    node(n, &evl_op_sub, a, b, NULL, NULL, 0);
}

static void a_fused_network_gives_what_its_nodes_give(void **state)
{
    (void)state;
    static void (*const networks[])(network *) = { dense_layer, scaled_layer, residual_layer,
                                                   attention_scores, attention_values,
                                                   gelu_halved,      gelu_of_half_x,
                                                   gelu_of_half_the_bell };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        for (int way = 0; way < 4; way++)
            check(networks[i], way & 1 ? EVL_DOUBLE : EVL_FLOAT, way & 2 ? 3 : 1, 1);
}

static void a_rounded_root_is_exact_enough_for_float_alone(void **state)
{
    (void)state;
    check(gelu_of_a_rounded_root, EVL_FLOAT, 1, 1);
    check(gelu_of_a_rounded_root, EVL_DOUBLE, 1, 5);
}

static void what_two_nodes_use_is_not_fused(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++)
        check(shared_product, way & 1 ? EVL_DOUBLE : EVL_FLOAT, way & 2 ? 3 : 1, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fused_network_gives_what_its_nodes_give),
        cmocka_unit_test(a_rounded_root_is_exact_enough_for_float_alone),
        cmocka_unit_test(what_two_nodes_use_is_not_fused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
