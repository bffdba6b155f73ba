/* Loop: trips until their number or the condition ends them. */
#include "exec/fixture.h"

/* A body with its number of the trip, its condition, and one carried value. */
typedef struct body {
    evl_graph *g;
    evl_value *trip, *condition, *carried;
} body;

static evl_value *scalar(evl_graph *g, EvalType type)
{
    evl_value *v = toy_input(g, NULL, 1);
    v->t = (evl_tensor){ .type = type, .shape = evl_shape_scalar() };
    return v;
}

static body new_body(network *n, int64_t size)
{
    body b = { .g = branch(n) };
    b.trip = scalar(b.g, EVAL_INT64);
    b.condition = scalar(b.g, EVAL_BOOL);
    b.carried = toy_input(b.g, "carried", size);
    return b;
}

/* `most`, `condition`: NULL: not given. Its outputs: what is carried, what is gathered. */
static evl_node *loop(evl_graph *g, evl_value *most, evl_value *condition, evl_value *first,
                      evl_graph *b)
{
    evl_attribute a = evl_attribute_graph("body", b);
    evl_node *node = evl_graph_node(g, &evl_op_loop, "loop", 3, b->n_outputs - 1);
    assert_true(evl_node_attributes(node, &a, 1));
    node->inputs[0] = most;
    node->inputs[1] = condition;
    node->inputs[2] = first;
    for (size_t i = 0; i < node->n_outputs; i++)
        evl_node_output(node, i, evl_graph_value(g, NULL));
    return node;
}

/* carried + x in each trip, x captured; the sums are gathered. */
static evl_node *sums(network *n, evl_value *most, evl_value *x, int64_t size)
{
    body b = new_body(n, size);
    giving(b.g, b.condition);
    giving(b.g, toy_node(b.g, &toy_sum, "sum", b.carried, x));
    giving(b.g, b.g->outputs[1]);
    return loop(n->g, most, NULL, toy_input(n->g, "first", size), b.g);
}

static void plan_sums(fixture *f, size_t shown, int64_t size)
{
    network_begin(&f->n);
    evl_value *most = toy_input(f->n.g, "most", 1), *x = toy_input(f->n.g, "x", size);
    plan(f, sums(&f->n, most, x, size)->outputs[shown]);
}

static const int64_t three[] = { 3 }, zero[] = { 0 }, minus[] = { -1 }, x[] = { 10, 20 },
                     first[] = { 1, 2 };

static void what_is_carried_goes_from_trip_to_trip(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 0, 2);
    assert_int_equal(run(&f, three, x, first), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 31, 62 });
    assert_int_equal(run(&f, zero, x, first), EVAL_OK);
    expect(&f, 2, first);
    assert_int_equal(run(&f, minus, x, first), EVAL_OK);
    expect(&f, 2, first);
    end(&f);
}

static void what_is_gathered_grows(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 1, 2);
    assert_int_equal(run(&f, three, x, first), EVAL_OK);
    expect(&f, 6, (int64_t[]){ 11, 22, 21, 42, 31, 62 });
    assert_int_equal(evl_session_result(f.s, 0)->shape.dim[0], 3);
    assert_int_equal(run(&f, zero, x, first), EVAL_OK);
    expect(&f, 0, NULL);
    assert_int_equal(evl_session_result(f.s, 0)->shape.dim[0], 0);
    assert_int_equal(evl_session_result(f.s, 0)->shape.dim[1], 2);
    end(&f);
}

static void a_further_run_allocates_nothing(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, 1, 2);
    assert_int_equal(run(&f, three, x, first), EVAL_OK);
    size_t before = evl_test_requests(f.n.ctx->memory);
    assert_int_equal(run(&f, three, x, first), EVAL_OK);
    assert_int_equal(evl_test_requests(f.n.ctx->memory), before);
    end(&f);
}

/* carried := carried ++ x while the trip's number is less than the limit, captured. */
static void plan_growing(fixture *f, size_t shown)
{
    network_begin(&f->n);
    evl_value *limit = toy_input(f->n.g, "limit", 1), *tail = toy_input(f->n.g, "x", 2);
    evl_attribute axis = evl_attribute_int("axis", 0);
    limit->t.shape = evl_shape_scalar();
    body b = new_body(&f->n, 2);
    giving(b.g, toy_node(b.g, evl_op_find(NULL, "Less"), "again", b.trip, limit));
    evl_value *longer = toy_node(b.g, evl_op_find(NULL, "Concat"), "longer", b.carried, tail);
    assert_true(evl_node_attributes(longer->producer, &axis, 1));
    giving(b.g, longer);
    giving(b.g, b.trip);
    plan(f, loop(f->n.g, NULL, NULL, toy_input(f->n.g, "first", 2), b.g)->outputs[shown]);
}

static void the_condition_ends_it_and_a_carried_value_may_grow(void **state)
{
    (void)state;
    fixture f;
    for (size_t shown = 0; shown < 2; shown++) {
        plan_growing(&f, shown);
        assert_int_equal(run(&f, (int64_t[]){ 1 }, x, first), EVAL_OK);
        expect(&f, shown ? 2 : 6, shown ? (int64_t[]){ 0, 1 }
                                        : (int64_t[]){ 1, 2, 10, 20, 10, 20 });
        assert_int_equal(run(&f, minus, x, first), EVAL_OK);
        expect(&f, shown ? 1 : 4, shown ? zero : (int64_t[]){ 1, 2, 10, 20 });
        end(&f);
    }
}

static void frames_of_another_shape_are_refused(void **state)
{
    (void)state;
    fixture f;
    evl_attribute axis = evl_attribute_int("axis", 0);
    network_begin(&f.n);
    evl_value *most = toy_input(f.n.g, "most", 1), *tail = toy_input(f.n.g, "x", 2);
    body b = new_body(&f.n, 2);
    giving(b.g, b.condition);
    evl_value *longer = toy_node(b.g, evl_op_find(NULL, "Concat"), "longer", b.carried, tail);
    assert_true(evl_node_attributes(longer->producer, &axis, 1));
    giving(b.g, longer);
    giving(b.g, longer);
    plan(&f, loop(f.n.g, most, NULL, toy_input(f.n.g, "first", 2), b.g)->outputs[1]);
    assert_int_equal(run(&f, (int64_t[]){ 1 }, x, first), EVAL_OK);
    expect(&f, 4, (int64_t[]){ 1, 2, 10, 20 });
    assert_int_equal(run(&f, three, x, first), EVAL_ERR_SHAPE);
    assert_non_null(strstr(f.n.ctx->error.text, "node 'loop' (Loop)"));
    end(&f);
}

static int after_ten(void *user)
{
    return ++*(int *)user > 10;
}

static void an_endless_loop_ends_with_a_status(void **state)
{
    (void)state;
    fixture f;
    int asked = 0;
    evl_limits limits = evl_default_limits;
    limits.max_trips = 1000;
    network_begin(&f.n);
    body b = new_body(&f.n, 2);
    giving(b.g, b.condition);
    giving(b.g, b.carried);
    plan(&f, loop(f.n.g, NULL, NULL, toy_input(f.n.g, "first", 2), b.g)->outputs[0]);
    f.n.ctx->limits = &limits;
    assert_int_equal(run(&f, first, NULL, NULL), EVAL_ERR_LIMIT);
    assert_non_null(strstr(f.n.ctx->error.text, "maxTrips"));
    assert_int_equal(f.n.ctx->trips, 1001);
    f.n.ctx->trips = 0;
    f.s->stop = after_ten;
    f.s->user = &asked;
    assert_int_equal(run(&f, first, NULL, NULL), EVAL_ERR_CANCELLED);
    assert_int_equal(asked, 11);
    end(&f);
}

/* The inner loop adds the outer's carried value, and what is around both, `most` times. */
static void a_loop_in_a_loop_sees_all_that_is_around_it(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    evl_value *most = toy_input(f.n.g, "most", 1), *around = toy_input(f.n.g, "x", 2);
    body outer = new_body(&f.n, 2);
    body inner = new_body(&f.n, 2);
    inner.g->outer = outer.g;
    evl_value *sum = toy_node(inner.g, &toy_sum, NULL, inner.carried, outer.carried);
    giving(inner.g, inner.condition);
    giving(inner.g, toy_node(inner.g, &toy_sum, NULL, sum, around));
    giving(outer.g, outer.condition);
    giving(outer.g, loop(outer.g, most, NULL, around, inner.g)->outputs[0]);
    plan(&f, loop(f.n.g, most, NULL, toy_input(f.n.g, "first", 2), outer.g)->outputs[0]);
    assert_int_equal(run(&f, (int64_t[]){ 2 }, x, first), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 94, 188 }); /* c := x + 2 (c + x), twice */
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_carried_goes_from_trip_to_trip),
        cmocka_unit_test(what_is_gathered_grows),
        cmocka_unit_test(a_further_run_allocates_nothing),
        cmocka_unit_test(the_condition_ends_it_and_a_carried_value_may_grow),
        cmocka_unit_test(frames_of_another_shape_are_refused),
        cmocka_unit_test(an_endless_loop_ends_with_a_status),
        cmocka_unit_test(a_loop_in_a_loop_sees_all_that_is_around_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
