/* Element-wise steps that run a part at a time: which do, and that nothing shows it. */
#include "exec/exec.h"
#include "ops/ops.h"
#include "support/run_op.h"
#include "support/toy.h"
#include <stdlib.h>
#include <string.h>

enum { ROWS = 97, COLUMNS = 101, N = ROWS * COLUMNS, MOST = 16 }; /* some parts */

/* A graph of real operators on int64, and what each of its values is, stretched to all rows
** and columns. */
typedef struct fixture {
    evl_context *ctx;
    evl_machine machine;
    evl_pass_env env;
    evl_graph *g;
    evl_plan *plan;
    evl_value *value[MOST];
    int64_t *expected[MOST];
    size_t n;
} fixture;

static fixture begin(void)
{
    fixture f = { .ctx = evl_test_begin() };
    evl_test_machine(&f.machine, EVL_FLOAT, 0);
    f.g = evl_graph_new(evl_arena_new(f.ctx->memory), NULL);
    return f;
}

static void end(fixture *f)
{
    evl_session_drop_idle(f->plan);
    evl_plan_free(f->plan);
    evl_store_free(f->env.store);
    evl_arena_free(f->g->arena);
    evl_test_end(f->ctx);
    for (size_t i = 0; i < f->n; i++)
        free(f->expected[i]);
}

static int64_t *add_value(fixture *f, evl_value *v)
{
    int64_t *room = calloc(N, sizeof *room);
    assert_non_null(room);
    assert_true(f->n < MOST);
    f->value[f->n] = v;
    f->expected[f->n++] = room;
    return room;
}

/* An input of that shape; *data holds what a run is given. */
static void add_input(fixture *f, const char *name, int64_t rows, int64_t columns, int64_t *data)
{
    evl_value *v = toy_input(f->g, name, 1);
    v->t.shape = evl_shape_of(2, (int64_t[]){ rows, columns });
    int64_t *all = add_value(f, v);
    for (int64_t i = 0; i < N; i++)
        all[i] = data[(rows > 1 ? i / COLUMNS : 0) * columns + (columns > 1 ? i % COLUMNS : 0)];
}

static void add_node(fixture *f, const evl_op *op, size_t a, size_t b)
{
    evl_value *v = toy_node(f->g, op, "node", f->value[a], f->value[b]);
    int64_t *all = add_value(f, v);
    for (size_t i = 0; i < N; i++) {
        uint64_t x = (uint64_t)f->expected[a][i], y = (uint64_t)f->expected[b][i];
        all[i] = (int64_t)(op == &evl_op_add ? x + y : op == &evl_op_sub ? x - y : x * y);
    }
}

static void plan(fixture *f)
{
    evl_tensor given_t[MOST];
    assert_int_equal(evl_infer_graph(f->ctx, f->g), EVAL_OK);
    for (size_t i = 0; i < f->g->n_inputs; i++)
        given_t[i] = f->g->inputs[i]->t;
    f->env = (evl_pass_env){ .machine = &f->machine, .store = evl_store_new(f->ctx->memory) };
    evl_selection s = { f->g->inputs, given_t, f->g->n_inputs, &f->value[f->n - 1], 1 };
    assert_int_equal(evl_compile(f->ctx, f->g, &f->env, &s, &f->plan), EVAL_OK);
}

static int64_t whole[N], row[COLUMNS], column[ROWS], one[1];

static void add_inputs(fixture *f, uint64_t *seed)
{
    for (size_t i = 0; i < N; i++) {
        whole[i] = (int64_t)evl_test_random(seed, -9, 9);
        row[i % COLUMNS] = whole[i] + 1;
        column[i % ROWS] = whole[i] - 1;
    }
    one[0] = 3;
    add_input(f, "whole", ROWS, COLUMNS, whole);
    add_input(f, "row", 1, COLUMNS, row);
    add_input(f, "column", ROWS, 1, column);
    add_input(f, "one", 1, 1, one);
}

/* The last value of any network of sums, differences and products is as it would be one step
** at a time, whatever shares whose memory. */
static void networks_give_what_steps_would(void **state)
{
    static const evl_op *const ops[] = { &evl_op_add, &evl_op_sub, &evl_op_mul };
    const int64_t *const data[] = { whole, row, column, one };
    uint64_t seed = 11;
    size_t n_joined = 0;
    (void)state;
    for (int round = 0; round < 200; round++) {
        fixture f = begin();
        evl_session *s;
        add_inputs(&f, &seed);
        for (size_t n = 4; n < MOST; n++)
            add_node(&f, ops[(size_t)evl_test_random(&seed, 0, 2.999)],
                     (size_t)evl_test_random(&seed, n > 7 ? (double)n - 4 : 0, (double)n - 0.001),
                     (size_t)evl_test_random(&seed, 0, (double)n - 0.001));
        plan(&f);
        for (size_t i = 0; i < f.plan->n_steps; i += f.plan->steps[i].together)
            n_joined += f.plan->steps[i].together > 1;
        assert_int_equal(evl_session_take(f.ctx, f.plan, &s), EVAL_OK);
        for (size_t i = 0; i < 4; i++)
            evl_session_input(s, i, data[i]);
        int64_t *y = calloc(N, sizeof *y);
        assert_non_null(y);
        if (evl_session_has_place(f.plan, 0))
            evl_session_output(s, 0, y);
        assert_int_equal(evl_session_run(s, f.ctx), EVAL_OK);
        const evl_tensor *result = evl_session_result(s, 0);
        const int64_t *got = result->data, *expected = f.expected[f.n - 1];
        size_t columns = (size_t)result->shape.dim[1], n = evl_shape_count(&result->shape);
        for (size_t i = 0; i < n; i++)
            if (got[i] != expected[i / columns * COLUMNS + i % columns])
                fail_msg("network %d: element %zu is %lld", round, i, (long long)got[i]);
        free(y);
        evl_session_give(f.plan, s);
        end(&f);
    }
    assert_true(n_joined > 100);
}

static size_t steps_together(fixture *f)
{
    plan(f);
    return f->plan->steps[0].together;
}

static void a_chain_runs_together(void **state)
{
    (void)state;
    fixture f = begin();
    uint64_t seed = 3;
    add_inputs(&f, &seed);
    add_node(&f, &evl_op_add, 0, 1);
    add_node(&f, &evl_op_mul, 4, 2);
    add_node(&f, &evl_op_sub, 5, 0);
    assert_int_equal(steps_together(&f), 3);
    end(&f);
}

/* A row of the first step's result would be read before all of it is there. */
static void what_is_stretched_ends_a_chain(void **state)
{
    (void)state;
    fixture f = begin();
    uint64_t seed = 3;
    add_inputs(&f, &seed);
    add_node(&f, &evl_op_add, 1, 1);
    add_node(&f, &evl_op_mul, 4, 0);
    add_node(&f, &evl_op_sub, 5, 0);
    assert_int_equal(steps_together(&f), 1);
    assert_int_equal(f.plan->steps[1].together, 2);
    end(&f);
}

/* Steps that cannot be cut, as toys, are alone. */
static void other_steps_are_alone(void **state)
{
    (void)state;
    fixture f = begin();
    uint64_t seed = 3;
    add_inputs(&f, &seed);
    evl_value *v = toy_node(f.g, &toy_sum, "a", f.value[0], f.value[0]);
    f.value[f.n - 1] = toy_node(f.g, &toy_sum, "b", v, v);
    assert_int_equal(steps_together(&f), 1);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_give_what_steps_would),
        cmocka_unit_test(a_chain_runs_together),
        cmocka_unit_test(what_is_stretched_ends_a_chain),
        cmocka_unit_test(other_steps_are_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
