/* fixture.h - a network with bodies, planned and run. */
#ifndef EVL_TESTS_EXEC_FIXTURE_H
#define EVL_TESTS_EXEC_FIXTURE_H
#include "exec/network.h"

enum { MOST = 16 };

/* A delay of a recurrence. */
typedef struct delay {
    int64_t offset, backward, state, shown; /* shown: the output that is asked for */
    double initial;
} delay;

/* A network planned for its inputs' shapes, run as often as a test likes. */
typedef struct fixture {
    network n;
    delay d; /* its node's attributes point here */
    evl_plan *plan;
    evl_session *s;
    evl_states states;
    int64_t y[MOST];
} fixture;

static inline void plan(fixture *f, evl_value *asked)
{
    evl_tensor given_t[MOST];
    evl_selection key = network_asking(&f->n, &asked, given_t);
    if (evl_compile(f->n.ctx, f->n.g, &f->n.env, &key, &f->plan) != EVAL_OK ||
        evl_session_take(f->n.ctx, f->plan, &f->s) != EVAL_OK)
        fail_msg("%s", f->n.ctx->error.text);
    assert_int_equal(evl_states_new(f->n.ctx, f->n.g->n_states, &f->states), EVAL_OK);
    f->s->states = &f->states;
}

static inline void end(fixture *f)
{
    evl_states_free(&f->states);
    evl_session_give(f->plan, f->s);
    evl_session_drop_idle(f->plan);
    evl_plan_free(f->plan);
    network_end(&f->n);
}

/* The inputs in their order; the result comes to f->y. */
static inline EvalStatus run(fixture *f, const int64_t *a, const int64_t *b, const int64_t *c)
{
    const int64_t *data[] = { a, b, c };
    for (size_t i = 0; i < f->plan->n_inputs; i++)
        evl_session_input(f->s, i, data[i]);
    memset(f->y, 0x55, sizeof f->y);
    if (evl_session_has_place(f->plan, 0))
        evl_session_output(f->s, 0, f->y);
    evl_states_begin(&f->states);
    EvalStatus st = evl_session_run(f->s, f->n.ctx);
    if (st != EVAL_OK)
        return st;
    evl_states_swap(&f->states);
    const evl_tensor *result = evl_session_result(f->s, 0);
    if (result->data != f->y)
        memcpy(f->y, result->data, evl_shape_count(&result->shape) * sizeof *f->y);
    return EVAL_OK;
}

static inline void expect(fixture *f, size_t n, const int64_t *expected)
{
    assert_int_equal(evl_shape_count(&evl_session_result(f->s, 0)->shape), n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(f->y[i], expected[i]);
}

static inline evl_graph *branch(network *n)
{
    evl_graph *g = evl_graph_new(n->g->arena, n->g);
    assert_non_null(g);
    return g;
}

/* The value becomes what a branch gives. */
static inline evl_graph *giving(evl_graph *g, evl_value *v)
{
    assert_true(evl_graph_add_output(g, v));
    return g;
}
#endif
