/* If: the branch that is taken. */
#include "exec/fixture.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
