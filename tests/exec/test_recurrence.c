/* Recurrences: frames one after the other. */
#include "exec/fixture.h"

/* y[t] = x[t] + y[t - offset] + k, k captured; then y[t - offset] */

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
        cmocka_unit_test(frames_follow_each_other),
        cmocka_unit_test(backward_begins_with_the_last_frame),
        cmocka_unit_test(a_delay_of_two_steps_looks_over_one),
        cmocka_unit_test(the_state_goes_on_until_it_is_reset),
        cmocka_unit_test(a_delayed_frame_may_be_asked_for),
        cmocka_unit_test(no_frame_leaves_the_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
