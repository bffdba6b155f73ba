/* Networks between DequantizeLinear and QuantizeLinear, whose integers are computed with, and
** with accuracy=exact are not: both must give the same codes but for ties. */
#include "exec/exec.h"
#include "ops/build.h"
#include "support/run_op.h"
#include <string.h>

enum { MOST = 4096 };

typedef struct network {
    evl_builder b;
    evl_value *x; /* bytes */
    uint64_t seed;
} network;

static evl_value *constant(network *n, EvalType type, size_t rank, const int64_t *dims, double least,
                           double most)
{
    evl_shape shape = evl_shape_of(rank, dims);
    size_t count = evl_shape_count(&shape), size = evl_type_size(type);
    char *data = evl_arena_take(n->b.graph->arena, count * size + 1);
    for (size_t i = 0; i < count; i++) {
        double x = evl_test_random(&n->seed, least, most);
        assert_true(evl_convert(1, EVAL_FLOAT64, &x, type, data + i * size));
    }
    return evl_graph_constant(n->b.graph, NULL, type, &shape, data);
}

static evl_value *code(network *n, EvalType type, double x)
{
    return evl_build_number(&n->b, type, x);
}

static evl_value *scale(network *n, double x)
{
    return code(n, EVAL_FLOAT32, x);
}

static evl_value *node(network *n, const evl_op *op, evl_value *a, evl_value *b, evl_value *c,
                       const evl_attribute *attributes, size_t n_attributes)
{
    evl_value *in[] = { a, b, c };
    evl_value *y = evl_build(&n->b, op, NULL, in, c ? 3 : b ? 2 : 1, attributes, n_attributes);
    assert_int_equal(n->b.status, EVAL_OK);
    return y;
}

static evl_value *real(network *n, evl_value *q, evl_value *scales, evl_value *zero, int64_t axis)
{
    evl_attribute a = evl_attribute_int("axis", axis);
    return node(n, &evl_op_dequantize_linear, q, scales, zero, &a, 1);
}

static evl_value *codes(network *n, evl_value *x, double step, double zero)
{
    return node(n, &evl_op_quantize_linear, x, scale(n, step), code(n, EVAL_UINT8, zero), NULL, 0);
}

static evl_value *input(network *n, size_t rank, const int64_t *dims)
{
    n->x = evl_graph_value(n->b.graph, NULL);
    n->x->t.type = EVAL_UINT8;
    n->x->t.shape = evl_shape_of(rank, dims);
    assert_true(evl_graph_add_input(n->b.graph, n->x));
    return real(n, n->x, scale(n, 0.02), code(n, EVAL_UINT8, 120), 1);
}

/* --- networks, each with its number of steps when it is fused --- */

/* Weights by channel, a real bias, an activation that clips; then a second one without. */
static evl_value *convolutions(network *n)
{
    const int64_t x[] = { 2, 3, 9, 8 }, w[] = { 5, 3, 3, 3 }, m[] = { 5 }, w2[] = { 4, 5, 1, 1 };
    evl_value *y = input(n, 4, x);
    evl_value *k = real(n, constant(n, EVAL_INT8, 4, w, -128, 128),
                        constant(n, EVAL_FLOAT32, 1, m, 0.004, 0.01), NULL, 0);
    y = node(n, &evl_op_conv, y, k, constant(n, EVAL_FLOAT32, 1, m, -2, 2), NULL, 0);
    y = node(n, &evl_op_clip, y, scale(n, -0.5), scale(n, 3), NULL, 0);
    y = real(n, codes(n, y, 0.05, 30), scale(n, 0.05), code(n, EVAL_UINT8, 30), 1);
    k = real(n, constant(n, EVAL_UINT8, 4, w2, 0, 256), scale(n, 0.01), code(n, EVAL_UINT8, 130), 1);
    y = node(n, &evl_op_conv, y, k, NULL, NULL, 0);
    return codes(n, node(n, &evl_op_relu, y, NULL, NULL, NULL, 0), 0.1, 0);
}

/* A bias that is sums already; the result of the last product stays real till it is asked. */
static evl_value *dense_layers(network *n)
{
    const int64_t x[] = { 40, 20 }, w[] = { 11, 20 }, c[] = { 11 }, w2[] = { 11, 4 };
    evl_attribute trans = evl_attribute_int("transB", 1);
    evl_value *y = input(n, 2, x);
    evl_value *k = real(n, constant(n, EVAL_INT8, 2, w, -128, 128), scale(n, 0.01), NULL, 0);
    evl_value *b = real(n, constant(n, EVAL_INT32, 1, c, -5000, 5000), scale(n, 0.02f * 0.01f), NULL, 0);
    y = node(n, &evl_op_gemm, y, k, b, &trans, 1);
    y = real(n, codes(n, y, 0.05, 100), scale(n, 0.05), code(n, EVAL_UINT8, 100), 1);
    k = real(n, constant(n, EVAL_INT8, 2, w2, -128, 128), scale(n, 0.01), code(n, EVAL_INT8, 3), 1);
    y = node(n, &evl_op_matmul, y, k, NULL, NULL, 0);
    return codes(n, y, 0.1, 77);
}

/* The same integers on two ways, one of which only moves them. */
static evl_value *residual(network *n)
{
    static const int64_t perm[] = { 1, 0 };
    const int64_t x[] = { 6, 6 };
    evl_attribute a = evl_attribute_ints("perm", perm, 2);
    evl_value *y = input(n, 2, x);
    evl_value *t = codes(n, node(n, &evl_op_transpose, y, NULL, NULL, &a, 1), 0.02, 120);
    t = real(n, t, scale(n, 0.02), code(n, EVAL_UINT8, 120), 1);
    y = codes(n, node(n, &evl_op_add, y, t, NULL, NULL, 0), 0.05, 128);
    y = real(n, y, scale(n, 0.05), code(n, EVAL_UINT8, 128), 1);
    return codes(n, node(n, &evl_op_mul, y, y, NULL, NULL, 0), 0.213, 0);
}

/* Written out as tools do for operands that are quantized in the run. */
static evl_value *scaled_products(network *n)
{
    const int64_t x[] = { 3, 5, 20 }, w[] = { 20, 7 }, c[] = { 7 };
    evl_attribute to = evl_attribute_int("to", EVAL_FLOAT32);
    (void)input(n, 3, x);
    evl_value *in[] = { n->x, constant(n, EVAL_INT8, 2, w, -128, 128), code(n, EVAL_UINT8, 99), code(n, EVAL_INT8, 3) };
    evl_value *y = evl_build(&n->b, evl_op_find("", "MatMulInteger"), NULL, in, 4, NULL, 0);
    y = node(n, evl_op_find("", "Cast"), y, NULL, NULL, &to, 1);
    y = node(n, &evl_op_mul, constant(n, EVAL_FLOAT32, 1, c, 0.001, 0.002), y, NULL, NULL, 0);
    y = node(n, &evl_op_add, y, constant(n, EVAL_FLOAT32, 1, c, -3, 3), NULL, NULL, 0);
    return codes(n, y, 0.1, 128);
}

/* --- running --- */

static size_t run(network *n, evl_machine *machine, evl_value *y, uint8_t *result)
{
    evl_context *ctx = n->b.ctx;
    evl_store *store = evl_store_new(ctx->memory);
    evl_pass_env env = { .machine = machine, .store = store };
    static uint8_t bytes[MOST];
    evl_selection selection = { &n->x, &n->x->t, 1, &y, 1 };
    evl_plan *plan;
    evl_session *s;
    uint64_t seed = 21;
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)evl_test_random(&seed, 0, 256);
    assert_int_equal(evl_compile(ctx, n->b.graph, &env, &selection, &plan), EVAL_OK);
    assert_int_equal(evl_session_take(ctx, plan, &s), EVAL_OK);
    evl_session_input(s, 0, bytes);
    if (evl_session_has_place(plan, 0))
        evl_session_output(s, 0, evl_arena_take(n->b.graph->arena, MOST));
    assert_int_equal(evl_session_run(s, ctx), EVAL_OK);
    const evl_tensor *got = evl_session_result(s, 0);
    memcpy(result, got->data, evl_shape_count(&got->shape));
    size_t n_steps = plan->n_steps;
    evl_session_give(plan, s);
    evl_session_drop_idle(plan);
    evl_plan_free(plan);
    evl_store_free(store);
    return n_steps;
}

static void check(evl_value *(*make)(network *), evl_precision precision, size_t n_steps)
{
    static uint8_t fused[MOST], plain[MOST];
    evl_context *ctx = evl_test_begin();
    evl_machine machine;
    evl_test_machine(&machine, precision, evl_cpu_features());
    network n = { .b = { ctx, evl_graph_new(evl_arena_new(ctx->memory), NULL), EVAL_OK }, .seed = 9 };
    evl_value *y = make(&n);
    size_t count = evl_shape_count(&y->t.shape), n_off = 0;
    machine.accuracy = EVL_NORMAL;
    assert_int_equal(run(&n, &machine, y, fused), n_steps);
    machine.accuracy = EVL_EXACT;
    assert_true(run(&n, &machine, y, plain) > n_steps);
    for (size_t i = 0; i < count; i++) {
        assert_in_range(fused[i] - plain[i] + 1, 0, 2);
        n_off += fused[i] != plain[i];
    }
    assert_true(n_off <= count / 50);
    evl_arena_free(n.b.graph->arena);
    evl_test_end(ctx);
}

static void integers_give_the_codes_that_real_numbers_give(void **state)
{
    (void)state;
    for (int precision = EVL_FLOAT; precision <= EVL_DOUBLE; precision++) {
        check(convolutions, (evl_precision)precision, 2);
        check(dense_layers, (evl_precision)precision, 2);
        check(residual, (evl_precision)precision, 3);
        check(scaled_products, (evl_precision)precision, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_give_the_codes_that_real_numbers_give),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
