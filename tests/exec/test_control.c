/* Bodies inside a run: the branch that is taken, frames one after the other. */
#include "exec/network.h"

enum { MOST = 16 };

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

static void plan(fixture *f, evl_value *asked)
{
    evl_tensor given_t[MOST];
    evl_selection key = network_asking(&f->n, &asked, given_t);
    if (evl_compile(f->n.ctx, f->n.g, &f->n.env, &key, &f->plan) != EVAL_OK ||
        evl_session_take(f->n.ctx, f->plan, &f->s) != EVAL_OK)
        fail_msg("%s", f->n.ctx->error.text);
    assert_int_equal(evl_states_new(f->n.ctx, f->n.g->n_states, &f->states), EVAL_OK);
    f->s->states = &f->states;
}

static void end(fixture *f)
{
    evl_states_free(&f->states);
    evl_session_give(f->plan, f->s);
    evl_session_drop_idle(f->plan);
    evl_plan_free(f->plan);
    network_end(&f->n);
}

/* The inputs in their order; the result comes to f->y. */
static EvalStatus run(fixture *f, const int64_t *a, const int64_t *b, const int64_t *c)
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

static void expect(fixture *f, size_t n, const int64_t *expected)
{
    assert_int_equal(evl_shape_count(&evl_session_result(f->s, 0)->shape), n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(f->y[i], expected[i]);
}

/* --- If --- */

static evl_graph *branch(network *n)
{
    evl_graph *g = evl_graph_new(n->g->arena, n->g);
    assert_non_null(g);
    return g;
}

/* The value becomes what a branch gives. */
static evl_graph *giving(evl_graph *g, evl_value *v)
{
    assert_true(evl_graph_add_output(g, v));
    return g;
}

static evl_value *choice(evl_graph *g, evl_value *condition, evl_graph *yes, evl_graph *no)
{
    evl_attribute bodies[] = { evl_attribute_graph("then_branch", yes),
                               evl_attribute_graph("else_branch", no) };
    evl_value *y = toy_node(g, &evl_op_if, "choice", condition, NULL);
    assert_true(evl_node_attributes(y->producer, bodies, 2));
    return y;
}

static const int64_t yes[] = { 1 }, no[] = { 0 }, pair[] = { 7, 9 }, other[] = { 20, 30 };

static void the_condition_takes_a_branch_in_each_run_anew(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 1), *x = toy_input(f.n.g, "x", 2);
    evl_graph *twice = branch(&f.n), *thrice = branch(&f.n);
    giving(twice, toy_node(twice, &toy_sum, NULL, x, x));
    giving(thrice, toy_node(thrice, &toy_sum, NULL, toy_node(thrice, &toy_sum, NULL, x, x), x));
    plan(&f, choice(f.n.g, c, twice, thrice));
    for (int again = 0; again < 2; again++) {
        assert_int_equal(run(&f, yes, pair, NULL), EVAL_OK);
        expect(&f, 2, (int64_t[]){ 14, 18 });
        assert_int_equal(run(&f, no, other, NULL), EVAL_OK);
        expect(&f, 2, (int64_t[]){ 60, 90 });
        assert_int_equal(run(&f, (int64_t[]){ -3 }, other, NULL), EVAL_OK);
        expect(&f, 2, (int64_t[]){ 40, 60 });
    }
    end(&f);
}

static void a_branch_may_give_what_it_did_not_make(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 1), *x = toy_input(f.n.g, "x", 2);
    evl_graph *captured = branch(&f.n), *constant = branch(&f.n);
    giving(captured, x);
    giving(constant, toy_constant(constant, NULL, other, 2));
    plan(&f, choice(f.n.g, c, captured, constant));
    assert_int_equal(run(&f, yes, pair, NULL), EVAL_OK);
    expect(&f, 2, pair);
    assert_int_equal(run(&f, no, pair, NULL), EVAL_OK);
    expect(&f, 2, other);
    end(&f);
}

/* What follows needs to be told of the size. */
static void branches_may_differ_in_size(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 1), *x = toy_input(f.n.g, "x", 2);
    evl_graph *counted = branch(&f.n), *same = branch(&f.n);
    giving(counted, toy_node(counted, &toy_range, NULL, c, NULL));
    giving(same, toy_node(same, &toy_sum, NULL, x, NULL));
    evl_value *y = choice(f.n.g, c, counted, same);
    plan(&f, toy_node(f.n.g, &toy_sum, "twice", y, y));
    assert_int_equal(run(&f, (int64_t[]){ 4 }, pair, NULL), EVAL_OK);
    expect(&f, 4, (int64_t[]){ 0, 2, 4, 6 });
    assert_int_equal(run(&f, no, pair, NULL), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 14, 18 });
    assert_int_equal(run(&f, (int64_t[]){ 5 }, pair, NULL), EVAL_OK);
    expect(&f, 5, (int64_t[]){ 0, 2, 4, 6, 8 });
    end(&f);
}

static void what_a_branch_uses_may_have_any_size(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 1), *x = toy_input(f.n.g, "x", 2);
    evl_value *r = toy_node(f.n.g, &toy_range, NULL, c, NULL);
    evl_graph *sum = branch(&f.n), *same = branch(&f.n);
    giving(sum, toy_node(sum, &toy_sum, NULL, r, r));
    giving(same, toy_node(same, &toy_sum, NULL, x, NULL));
    plan(&f, choice(f.n.g, c, sum, same));
    for (int64_t n = 1; n < 5; n++) {
        assert_int_equal(run(&f, &n, pair, NULL), EVAL_OK);
        expect(&f, (size_t)n, (int64_t[]){ 0, 2, 4, 6 });
    }
    end(&f);
}

static void a_branch_in_a_branch_sees_all_that_is_around_it(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 1), *x = toy_input(f.n.g, "x", 2),
              *d = toy_input(f.n.g, "d", 1);
    evl_graph *outer = branch(&f.n), *plain = branch(&f.n);
    evl_graph *sum = evl_graph_new(f.n.g->arena, outer), *same = evl_graph_new(f.n.g->arena, outer);
    evl_value *t = toy_node(outer, &toy_sum, NULL, x, x);
    giving(sum, toy_node(sum, &toy_sum, NULL, t, x));
    giving(same, toy_node(same, &toy_sum, NULL, t, NULL));
    giving(outer, choice(outer, d, sum, same));
    giving(plain, toy_node(plain, &toy_sum, NULL, x, NULL));
    plan(&f, choice(f.n.g, c, outer, plain));
    assert_int_equal(run(&f, yes, pair, yes), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 21, 27 });
    assert_int_equal(run(&f, yes, pair, no), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 14, 18 });
    assert_int_equal(run(&f, no, pair, yes), EVAL_OK);
    expect(&f, 2, pair);
    end(&f);
}

static void a_condition_without_an_element_is_refused(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 0), *x = toy_input(f.n.g, "x", 2);
    evl_graph *a = branch(&f.n), *b = branch(&f.n);
    giving(a, toy_node(a, &toy_sum, NULL, x, NULL));
    giving(b, toy_node(b, &toy_sum, NULL, x, x));
    plan(&f, choice(f.n.g, c, a, b));
    assert_int_equal(run(&f, yes, pair, NULL), EVAL_ERR_SHAPE);
    assert_string_equal(f.n.ctx->error.text, "node 'choice' (If): its condition has no element");
    end(&f);
}

static void a_branch_that_cannot_be_fails_when_it_is_taken(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 1), *x = toy_input(f.n.g, "x", 2),
              *z = toy_input(f.n.g, "z", 3);
    evl_graph *bad = branch(&f.n), *good = branch(&f.n);
    giving(bad, toy_node(bad, &evl_op_add, "bad", x, z));
    giving(good, toy_node(good, &toy_sum, NULL, x, x));
    plan(&f, choice(f.n.g, c, bad, good));
    assert_int_equal(run(&f, yes, pair, other), EVAL_ERR_SHAPE);
    assert_non_null(strstr(f.n.ctx->error.text, "node 'bad' (Add)"));
    assert_int_equal(run(&f, no, pair, other), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 14, 18 });
    end(&f);
}

static int count_asked(void *user)
{
    ++*(int *)user;
    return 0;
}

static int stop_at_third(void *user)
{
    return ++*(int *)user == 3;
}

static void a_body_fails_and_stops_as_the_run_does(void **state)
{
    (void)state;
    fixture f;
    int asked = 0;
    network_begin(&f.n);
    evl_value *c = toy_input(f.n.g, "c", 1), *x = toy_input(f.n.g, "x", 2);
    evl_graph *bad = branch(&f.n), *good = branch(&f.n);
    giving(bad, toy_node(bad, &toy_fail, "bad", x, NULL));
    giving(good, toy_node(good, &toy_sum, NULL, toy_node(good, &toy_sum, NULL, x, x), x));
    plan(&f, choice(f.n.g, c, bad, good));
    assert_int_equal(run(&f, yes, pair, NULL), EVAL_ERR_SHAPE);
    assert_non_null(strstr(f.n.ctx->error.text, "node 'bad' (Fail): as it was told to"));
    f.s->stop = count_asked;
    f.s->user = &asked;
    assert_int_equal(run(&f, no, pair, NULL), EVAL_OK);
    assert_int_equal(asked, 3); /* the If and the two steps in it */
    f.s->stop = stop_at_third;
    asked = 0;
    assert_int_equal(run(&f, no, pair, NULL), EVAL_ERR_CANCELLED);
    end(&f);
}

/* --- Recurrence: y[t] = x[t] + y[t - offset] + k, k captured; then y[t - offset] --- */

static evl_value *one_frame(evl_graph *g, int64_t size)
{
    evl_value *v = toy_input(g, NULL, 1);
    v->t.shape = evl_shape_of(2, (int64_t[]){ 1, size });
    return v;
}

static void plan_sums(fixture *f, int64_t n_frames, delay d)
{
    enum { SIZE = 2 };
    static const int64_t output[] = { 0 };
    network_begin(&f->n);
    f->d = d;
    evl_graph *g = f->n.g, *body = branch(&f->n);
    evl_value *x = toy_input(g, "x", 1), *k = one_frame(g, SIZE);
    x->t.shape = evl_shape_of(2, (int64_t[]){ n_frames, SIZE });
    evl_value *now = one_frame(body, SIZE), *before = one_frame(body, SIZE);
    evl_value *sum = toy_node(body, &toy_sum, NULL, now, before);
    giving(body, toy_node(body, &toy_sum, NULL, sum, k));
    giving(body, before);
    evl_attribute a[] = { evl_attribute_graph("body", body),
                          evl_attribute_int("backward", d.backward),
                          evl_attribute_ints("delay_output", output, 1),
                          evl_attribute_ints("delay_offset", &f->d.offset, 1),
                          evl_attribute_numbers("delay_initial", &f->d.initial, 1),
                          evl_attribute_ints("delay_state", &f->d.state, 1) };
    evl_node *node = evl_graph_node(g, &evl_op_recurrence, "y", 1, 2);
    assert_true(evl_node_attributes(node, a, 6));
    node->inputs[0] = x;
    for (size_t i = 0; i < 2; i++)
        evl_node_output(node, i, evl_graph_value(g, NULL));
    g->n_states = d.state >= 0 ? 1 : 0;
    plan(f, node->outputs[d.shown]);
}

static const int64_t frames[] = { 1, 10, 2, 20, 3, 30, 4, 40 }, none[] = { 0, 0 };

static void frames_follow_each_other(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 4, (delay){ .offset = 1, .initial = 5, .state = -1 });
    for (int again = 0; again < 2; again++) { /* nothing is carried */
        assert_int_equal(run(&f, frames, none, NULL), EVAL_OK);
        expect(&f, 8, (int64_t[]){ 6, 15, 8, 35, 11, 65, 15, 105 });
    }
    assert_int_equal(run(&f, frames, (int64_t[]){ 100, 0 }, NULL), EVAL_OK);
    expect(&f, 8, (int64_t[]){ 106, 15, 208, 35, 311, 65, 415, 105 });
    end(&f);
}

static void backward_begins_with_the_last_frame(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 4, (delay){ .offset = 1, .initial = 5, .state = -1, .backward = 1 });
    assert_int_equal(run(&f, frames, none, NULL), EVAL_OK);
    expect(&f, 8, (int64_t[]){ 15, 105, 14, 95, 12, 75, 9, 45 });
    end(&f);
}

static void a_delay_of_two_steps_looks_over_one(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 4, (delay){ .offset = 2, .initial = 1, .state = -1 });
    assert_int_equal(run(&f, frames, none, NULL), EVAL_OK);
    expect(&f, 8, (int64_t[]){ 2, 11, 3, 21, 5, 41, 7, 61 });
    end(&f);
    plan_sums(&f, 4, (delay){ .offset = 2, .initial = 1, .state = -1, .backward = 1 });
    assert_int_equal(run(&f, frames, none, NULL), EVAL_OK);
    expect(&f, 8, (int64_t[]){ 5, 41, 7, 61, 4, 31, 5, 41 });
    end(&f);
}

/* Also when a run is shorter than the delay. */
static void the_state_goes_on_until_it_is_reset(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 1, (delay){ .offset = 2, .initial = 1, .state = 0 });
    static const int64_t expected[] = { 2, 11, 3, 21, 5, 41, 7, 61 };
    for (int again = 0; again < 2; again++) {
        for (size_t t = 0; t < 4; t++) {
            assert_int_equal(run(&f, frames + 2 * t, none, NULL), EVAL_OK);
            expect(&f, 2, expected + 2 * t);
        }
        evl_states_reset(&f.states);
    }
    end(&f);
    plan_sums(&f, 2, (delay){ .offset = 2, .initial = 1, .state = 0 });
    for (size_t t = 0; t < 4; t += 2) {
        assert_int_equal(run(&f, frames + 2 * t, none, NULL), EVAL_OK);
        expect(&f, 4, expected + 2 * t);
    }
    end(&f);
}

/* What a body did not make is copied to its frame. */
static void a_delayed_frame_may_be_asked_for(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 4, (delay){ .offset = 1, .initial = 5, .state = -1, .shown = 1 });
    assert_int_equal(run(&f, frames, none, NULL), EVAL_OK);
    expect(&f, 8, (int64_t[]){ 5, 5, 6, 15, 8, 35, 11, 65 });
    end(&f);
}

static void no_frame_leaves_the_state(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 0, (delay){ .offset = 1, .initial = 5, .state = 0 });
    assert_int_equal(run(&f, frames, none, NULL), EVAL_OK);
    expect(&f, 0, NULL);
    assert_memory_equal(f.states.before[0].data, ((int64_t[]){ 5, 5 }), 16);
    ((int64_t *)f.states.before[0].data)[1] = 8;
    assert_int_equal(run(&f, frames, none, NULL), EVAL_OK);
    assert_memory_equal(f.states.before[0].data, ((int64_t[]){ 5, 8 }), 16);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_condition_takes_a_branch_in_each_run_anew),
        cmocka_unit_test(a_branch_may_give_what_it_did_not_make),
        cmocka_unit_test(branches_may_differ_in_size),
        cmocka_unit_test(what_a_branch_uses_may_have_any_size),
        cmocka_unit_test(a_branch_in_a_branch_sees_all_that_is_around_it),
        cmocka_unit_test(a_condition_without_an_element_is_refused),
        cmocka_unit_test(a_branch_that_cannot_be_fails_when_it_is_taken),
        cmocka_unit_test(a_body_fails_and_stops_as_the_run_does),
        cmocka_unit_test(frames_follow_each_other),
        cmocka_unit_test(backward_begins_with_the_last_frame),
        cmocka_unit_test(a_delay_of_two_steps_looks_over_one),
        cmocka_unit_test(the_state_goes_on_until_it_is_reset),
        cmocka_unit_test(a_delayed_frame_may_be_asked_for),
        cmocka_unit_test(no_frame_leaves_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
