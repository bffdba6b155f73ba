/* network.h - a network whose values between are asked for is computed node by node; one whose
** last value alone is asked for is fused. Both must give the same numbers. */
#ifndef EVL_TESTS_NETWORK_H
#define EVL_TESTS_NETWORK_H
#include "exec/exec.h"
#include "ops/build.h"
#include "support/run_op.h"
#include <math.h>

enum { MOST_VALUES = 24, MOST_ELEMENTS = 4096 };

typedef struct network {
    evl_builder b;
    evl_precision precision;
    evl_value *values[MOST_VALUES]; /* what was built, the result last */
    size_t n_values;
    uint64_t seed;
} network;

static inline evl_value *input(network *n, size_t rank, const int64_t *dims)
{
    evl_value *v = evl_graph_value(n->b.graph, NULL);
    v->t.type = n->precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32;
    v->t.shape = evl_shape_of(rank, dims);
    assert_true(evl_graph_add_input(n->b.graph, v));
    return v;
}

static inline void *random_data(network *n, size_t count)
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

static inline evl_value *constant(network *n, size_t rank, const int64_t *dims)
{
    evl_shape shape = evl_shape_of(rank, dims);
    evl_value *v = evl_graph_constant(
        n->b.graph, NULL, n->precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32, &shape,
        random_data(n, evl_shape_count(&shape)));
    v->t.life = EVL_LIFE_MODEL;
    return v;
}

static inline evl_value *node(network *n, const evl_op *op, evl_value *a, evl_value *b, evl_value *c,
                       const evl_attribute *attributes, size_t n_attributes)
{
    evl_value *in[] = { a, b, c };
    evl_value *y = evl_build(&n->b, op, NULL, in, c ? 3 : b ? 2 : 1, attributes, n_attributes);
    assert_int_equal(n->b.status, EVAL_OK);
    return n->values[n->n_values++] = y;
}

static inline evl_value *transposed(network *n, evl_value *x, const int64_t *perm, size_t rank)
{
    evl_attribute a = evl_attribute_ints("perm", perm, rank);
    return node(n, &evl_op_transpose, x, NULL, NULL, &a, 1);
}

static inline evl_value *number(network *n, double x)
{
    return evl_build_number(&n->b, n->precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32, x);
}

/* --- running --- */

/* The inputs' data follows from their sizes. */
static inline void give_inputs(network *n, evl_session *s)
{
    for (size_t i = 0; i < n->b.graph->n_inputs; i++) {
        n->seed = i + 1;
        evl_session_input(s, i, random_data(n, evl_shape_count(&n->b.graph->inputs[i]->t.shape)));
    }
}

static inline size_t run(network *n, evl_machine *machine, evl_value *const *asked, size_t n_asked,
                  double *y)
{
    evl_context *ctx = n->b.ctx;
    evl_store *store = evl_store_new(ctx->memory);
    evl_pass_env env = { .machine = machine, .store = store };
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

static inline void check(void (*make)(network *), evl_precision precision, size_t threads,
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
#endif
