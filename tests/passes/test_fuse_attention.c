/* Attention as exporters write it, fused and node by node. */
#include "passes/network.h"

static evl_value *two(network *n, const evl_op *op, evl_value *a, evl_value *b)
{
    return node(n, op, a, b, NULL, NULL, 0);
}

static evl_value *softmax(network *n, evl_value *x)
{
    evl_attribute axis = evl_attribute_int("axis", -1);
    return node(n, &evl_op_softmax, x, NULL, NULL, &axis, 1);
}

static const int64_t side_by_side[] = { 2, 7, 3, 5 }, more[] = { 2, 9, 3, 5 },
                     to_heads[] = { 0, 2, 1, 3 }, to_columns[] = { 0, 2, 3, 1 };

/* Heads side by side in rows, as in a BERT: four transpositions, a factor, a bias. */
static void heads(network *n)
{
    const int64_t of_mask[] = { 2, 1, 1, 9 };
    evl_value *q = transposed(n, input(n, 4, side_by_side), to_heads, 4);
    evl_value *k = transposed(n, input(n, 4, more), to_columns, 4);
    evl_value *v = transposed(n, input(n, 4, more), to_heads, 4);
    evl_value *s = two(n, &evl_op_div, two(n, &evl_op_matmul, q, k), number(n, sqrt(5)));
    s = softmax(n, two(n, &evl_op_add, s, input(n, 4, of_mask)));
    transposed(n, two(n, &evl_op_matmul, s, v), to_heads, 4);
}

/* The root of the scale on either operand, after it is transposed and before. */
static void scaled_operands(network *n)
{
    evl_value *q = transposed(n, input(n, 4, side_by_side), to_heads, 4);
    evl_value *k = two(n, &evl_op_mul, input(n, 4, more), number(n, 0.7));
    k = transposed(n, k, to_columns, 4);
    evl_value *v = transposed(n, input(n, 4, more), to_heads, 4);
    q = two(n, &evl_op_mul, number(n, 0.7), q);
    two(n, &evl_op_matmul, softmax(n, two(n, &evl_op_matmul, q, k)), v);
}

static const int64_t q_of_batch[] = { 4, 7, 6 }, k_of_batch[] = { 4, 6, 9 },
                     v_of_batch[] = { 4, 9, 3 };

static void without_heads(network *n)
{
    evl_value *s = two(n, &evl_op_matmul, input(n, 3, q_of_batch), input(n, 3, k_of_batch));
    two(n, &evl_op_matmul, softmax(n, s), input(n, 3, v_of_batch));
}

static void matrices(network *n)
{
    const int64_t q[] = { 7, 6 }, k[] = { 9, 6 }, v[] = { 9, 4 };
    static const int64_t turned[] = { 1, 0 };
    evl_value *s = two(n, &evl_op_matmul, input(n, 2, q),
                       transposed(n, input(n, 2, k), turned, 2));
    two(n, &evl_op_matmul, softmax(n, s), input(n, 2, v));
}

/* A condition over rows and keys, whose first row excludes all. */
static void conditional(network *n)
{
    const int64_t dims[] = { 7, 9 };
    evl_shape shape = evl_shape_of(2, dims);
    uint8_t *allows = evl_arena_take(n->b.graph->arena, 63);
    for (size_t i = 0; i < 63; i++)
        allows[i] = i % 9 < i / 9;
    evl_value *mask = evl_graph_constant(n->b.graph, NULL, EVAL_BOOL, &shape, allows);
    mask->t.life = EVL_LIFE_MODEL;
    evl_value *s = two(n, &evl_op_matmul, input(n, 3, q_of_batch), input(n, 3, k_of_batch));
    s = node(n, &evl_op_where, mask, s, number(n, -1e9), NULL, 0);
    two(n, &evl_op_matmul, softmax(n, s), input(n, 3, v_of_batch));
}

/* Weights along another axis. */
static void along_rows(network *n)
{
    evl_attribute axis = evl_attribute_int("axis", 1);
    evl_value *s = two(n, &evl_op_matmul, input(n, 3, q_of_batch), input(n, 3, k_of_batch));
    s = node(n, &evl_op_softmax, s, NULL, NULL, &axis, 1);
    two(n, &evl_op_matmul, s, input(n, 3, v_of_batch));
}

/* The bias makes more samples than the product has. */
static void widened(network *n)
{
    const int64_t q[] = { 1, 7, 6 }, k[] = { 1, 6, 9 }, bias[] = { 4, 7, 9 };
    evl_value *s = two(n, &evl_op_matmul, input(n, 3, q), input(n, 3, k));
    s = softmax(n, two(n, &evl_op_add, s, input(n, 3, bias)));
    two(n, &evl_op_matmul, s, input(n, 3, v_of_batch));
}

static void in_both(void (*make)(network *), size_t n_steps)
{
    for (int way = 0; way < 4; way++)
        check(make, way & 1 ? EVL_DOUBLE : EVL_FLOAT, way & 2 ? 3 : 1, n_steps);
}

static void each_way_to_write_it_is_one_step(void **state)
{
    (void)state;
    in_both(heads, 1);
    in_both(scaled_operands, 1);
    in_both(without_heads, 1);
    in_both(matrices, 1);
    in_both(conditional, 1);
}

static void what_only_looks_like_it_is_left(void **state)
{
    (void)state;
    in_both(along_rows, 3);
    in_both(widened, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_to_write_it_is_one_step),
        cmocka_unit_test(what_only_looks_like_it_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
