/* Normalizations as exporters write them, fused and node by node. */
#include "passes/network.h"

static evl_value *mean(network *n, evl_value *x)
{
    const int64_t axis[] = { -1 };
    return node(n, &evl_op_reduce_mean, x, evl_build_ints(&n->b, axis, 1), NULL, NULL, 0);
}

static evl_value *two(network *n, const evl_op *op, evl_value *a, evl_value *b)
{
    return node(n, op, a, b, NULL, NULL, 0);
}

static evl_value *one(network *n, const evl_op *op, evl_value *x)
{
    return node(n, op, x, NULL, NULL, NULL, 0);
}

static evl_value *variance(network *n, evl_value *square)
{
    return two(n, &evl_op_add, mean(n, square), number(n, 1e-5));
}

static const int64_t shape[] = { 2, 3, 19 }, row[] = { 19 }, long_row[] = { 1, 1, 19 };

/* As PyTorch writes it. */
static void layer(network *n)
{
    evl_value *x = input(n, 3, shape);
    evl_value *d = two(n, &evl_op_sub, x, mean(n, x));
    evl_value *root = one(n, &evl_op_sqrt, variance(n, two(n, &evl_op_pow, d, number(n, 2))));
    evl_value *y = two(n, &evl_op_div, d, root);
    two(n, &evl_op_add, two(n, &evl_op_mul, y, constant(n, 1, row)), constant(n, 3, long_row));
}

/* The difference twice, a product for the power, operands the other way round. */
static void layer_of_two_differences(network *n)
{
    evl_value *x = input(n, 3, shape);
    evl_value *d = two(n, &evl_op_sub, x, mean(n, x));
    evl_value *again = two(n, &evl_op_sub, x, mean(n, x));
    evl_value *root = one(n, &evl_op_sqrt, variance(n, two(n, &evl_op_mul, d, d)));
    evl_value *y = two(n, &evl_op_mul, one(n, &evl_op_reciprocal, root), again);
    two(n, &evl_op_add, constant(n, 1, row), two(n, &evl_op_mul, constant(n, 1, row), y));
}

static void layer_without_shift(network *n)
{
    evl_value *x = input(n, 3, shape);
    evl_value *d = two(n, &evl_op_sub, x, mean(n, x));
    evl_value *by = two(n, &evl_op_pow, variance(n, two(n, &evl_op_mul, d, d)), number(n, -0.5));
    two(n, &evl_op_mul, two(n, &evl_op_mul, d, by), constant(n, 1, row));
}

static void rms(network *n)
{
    evl_value *x = input(n, 3, shape);
    evl_value *root = one(n, &evl_op_sqrt, variance(n, two(n, &evl_op_pow, x, number(n, 2))));
    evl_value *by = two(n, &evl_op_div, number(n, 1), root);
    two(n, &evl_op_mul, constant(n, 1, row), two(n, &evl_op_mul, x, by));
}

/* One scale for each row, not for each element of one: left as it is. */
static void square_scale(network *n)
{
    const int64_t square[] = { 5, 5 }, column[] = { 5, 1 };
    evl_value *x = input(n, 2, square);
    evl_value *root = one(n, &evl_op_sqrt, variance(n, two(n, &evl_op_mul, x, x)));
    two(n, &evl_op_mul, two(n, &evl_op_div, x, root), constant(n, 2, column));
}

/* The square of another value than the one that is divided. */
static void square_of_another(network *n)
{
    evl_value *x = input(n, 3, shape), *other = input(n, 3, shape);
    evl_value *root = one(n, &evl_op_sqrt, variance(n, two(n, &evl_op_mul, other, other)));
    two(n, &evl_op_mul, two(n, &evl_op_div, x, root), constant(n, 1, row));
}

static void in_both(void (*make)(network *), size_t n_steps)
{
    for (int way = 0; way < 4; way++)
        check(make, way & 1 ? EVL_DOUBLE : EVL_FLOAT, way & 2 ? 3 : 1, n_steps);
}

static void each_way_to_write_it_is_one_step(void **state)
{
    (void)state;
    in_both(layer, 1);
    in_both(layer_of_two_differences, 1);
    in_both(layer_without_shift, 1);
    in_both(rms, 1);
}

static void what_only_looks_like_it_is_left(void **state)
{
    (void)state;
    in_both(square_scale, 6);
    in_both(square_of_another, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_to_write_it_is_one_step),
        cmocka_unit_test(what_only_looks_like_it_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
