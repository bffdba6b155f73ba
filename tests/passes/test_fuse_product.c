/* A network whose values between are asked for is computed node by node; one whose last
** value alone is asked for is fused. Both must give the same numbers. */
#include "exec/exec.h"
#include "ops/build.h"
#include "ops/matmul.h"
#include "support/run_op.h"
#include <math.h>

enum { MOST_VALUES = 16, MOST_ELEMENTS = 4096 };

typedef struct network {
    evl_builder b;
    evl_precision precision;
    evl_value *values[MOST_VALUES]; /* what was built, the result last */
    size_t n_values;
    uint64_t seed;
} network;

static evl_value *input(network *n, size_t rank, const int64_t *dims)
{
    evl_value *v = evl_graph_value(n->b.graph, NULL);
    v->t.type = n->precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32;
    v->t.shape = evl_shape_of(rank, dims);
    assert_true(evl_graph_add_input(n->b.graph, v));
    return v;
}

static void *random_data(network *n, size_t count)
{
    void *data = evl_arena_take(n->b.graph->arena, count * sizeof(double) + 1);
    for (size_t i = 0; i < count; i++) {
        double x = evl_test_random(&n->seed, -1, 1);
        if (n->precision == EVL_DOUBLE)
            ((double *)data)[i] = x;
        else
            ((float *)data)[i] = (float)x;
    }
    return data;
}

static evl_value *constant(network *n, size_t rank, const int64_t *dims)
{
    evl_shape shape = evl_shape_of(rank, dims);
    evl_value *v = evl_graph_constant(
        n->b.graph, NULL, n->precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32, &shape,
        random_data(n, evl_shape_count(&shape)));
    v->t.life = EVL_LIFE_MODEL;
    return v;
}

static evl_value *node(network *n, const evl_op *op, evl_value *a, evl_value *b, evl_value *c,
                       const evl_attribute *attributes, size_t n_attributes)
{
    evl_value *in[] = { a, b, c };
    evl_value *y = evl_build(&n->b, op, NULL, in, c ? 3 : b ? 2 : 1, attributes, n_attributes);
    assert_int_equal(n->b.status, EVAL_OK);
    return n->values[n->n_values++] = y;
}

static evl_value *transposed(network *n, evl_value *x, const int64_t *perm, size_t rank)
{
    evl_attribute a = evl_attribute_ints("perm", perm, rank);
    return node(n, &evl_op_transpose, x, NULL, NULL, &a, 1);
}

static evl_value *number(network *n, double x)
{
    return evl_build_number(&n->b, n->precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32, x);
}

/* --- networks --- */

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

/* --- running --- */

/* The inputs' data follows from their sizes. */
static void give_inputs(network *n, evl_session *s)
{
    for (size_t i = 0; i < n->b.graph->n_inputs; i++) {
        n->seed = i + 1;
        evl_session_input(s, i, random_data(n, evl_shape_count(&n->b.graph->inputs[i]->t.shape)));
    }
}

static size_t run(network *n, evl_machine *machine, evl_value *const *asked, size_t n_asked,
                  double *y)
{
    evl_context *ctx = n->b.ctx;
    evl_store *store = evl_store_new(ctx->memory);
    evl_pass_env env = { machine, store };
    evl_graph *g = n->b.graph;
    evl_tensor given_t[4];
    evl_plan *plan;
    evl_session *s;
    for (size_t i = 0; i < g->n_inputs; i++)
        given_t[i] = g->inputs[i]->t;
    evl_selection selection = { g->inputs, given_t, g->n_inputs, asked, n_asked };
    assert_int_equal(evl_compile(ctx, g, &env, &selection, &plan), EVAL_OK);
    assert_int_equal(evl_session_take(ctx, plan, &s), EVAL_OK);
    give_inputs(n, s);
    for (size_t i = 0; i < n_asked; i++)
        if (evl_session_has_place(plan, i))
            evl_session_output(s, i, evl_arena_take(g->arena, MOST_ELEMENTS * sizeof(double)));
    assert_int_equal(evl_session_run(s, ctx), EVAL_OK);
    const evl_tensor *result = evl_session_result(s, 0);
    for (size_t i = 0; i < evl_shape_count(&result->shape); i++)
        y[i] = evl_tensor_f64(result, i);
    size_t n_steps = plan->n_steps;
    evl_session_give(plan, s);
    evl_session_drop_idle(plan);
    evl_plan_free(plan);
    evl_store_free(store);
    return n_steps;
}

static void check(void (*make)(network *), evl_precision precision, size_t threads,
                  size_t n_steps)
{
    static double fused[MOST_ELEMENTS], single[MOST_ELEMENTS];
    evl_context *ctx = evl_test_begin();
    evl_machine machine;
    evl_test_machine(&machine, precision, evl_cpu_features());
    assert_int_equal(evl_pool_new(ctx, threads, 20, &machine.pool), EVAL_OK);
    network n = { .b = { ctx, evl_graph_new(evl_arena_new(ctx->memory), NULL), EVAL_OK },
                  .precision = precision,
                  .seed = 9 };
    make(&n);
    evl_value *last = n.values[n.n_values - 1], *all[MOST_VALUES];
    for (size_t i = 0; i < n.n_values; i++)
        all[i] = n.values[n.n_values - 1 - i];
    assert_int_equal(run(&n, &machine, &last, 1, fused), n_steps);
    assert_int_equal(run(&n, &machine, all, n.n_values, single), n.n_values);
    double most = precision == EVL_DOUBLE ? 1e-14 : 4e-6;
    for (size_t i = 0; i < evl_shape_count(&last->t.shape); i++)
        if (!(fabs(fused[i] - single[i]) <= most * (1 + fabs(single[i]))))
            fail_msg("element %zu: %g fused, %g node by node", i, fused[i], single[i]);
    evl_arena_free(n.b.graph->arena);
    evl_pool_free(machine.pool);
    evl_test_end(ctx);
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
