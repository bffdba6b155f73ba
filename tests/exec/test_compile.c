/* From a graph to a plan: the graph stays as it was read, and a failure leaves nothing behind. */
#include "exec/fixture.h"

static const int64_t pair[] = { 7, 9 };

/* y = (x + c) + (c + c), z = x + x. */
static evl_value *two_sums(network *n, evl_value **z)
{
    network_begin(n);
    evl_value *x = toy_input(n->g, "x", 2), *c = toy_constant(n->g, "c", pair, 2);
    evl_value *constant = toy_node(n->g, &toy_sum, "constant", c, c);
    *z = toy_node(n->g, &toy_sum, "z", x, x);
    return toy_node(n->g, &toy_sum, "y", toy_node(n->g, &toy_sum, "sum", x, c), constant);
}

static void the_graph_is_not_rewritten(void **state)
{
    (void)state;
    fixture f;
    evl_value *z, *y = two_sums(&f.n, &z);
    size_t n_nodes = f.n.g->n_nodes, n_values = f.n.g->n_values;
    plan(&f, y);
    assert_int_equal(f.n.g->n_nodes, n_nodes);
    assert_int_equal(f.n.g->n_values, n_values);
    for (size_t i = 0; i < n_values; i++) {
        assert_null(f.n.g->values[i]->replaced_by);
        assert_true(f.n.g->values[i]->is_constant == (strcmp(f.n.g->values[i]->name, "c") == 0));
    }
    assert_int_equal(f.n.g->n_outputs, 0);
    end(&f);
}

/* What is asked for, and of that only what is not known before the run. */
static void a_plan_has_the_steps_it_needs(void **state)
{
    (void)state;
    fixture f;
    evl_value *z, *y = two_sums(&f.n, &z);
    plan(&f, y);
    assert_int_equal(f.plan->n_steps, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(f.plan->steps[i].kind, EVL_STEP_STATIC);
    assert_int_equal(run(&f, pair, NULL, NULL), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 28, 36 });
    end(&f);
    y = two_sums(&f.n, &z);
    plan(&f, z);
    assert_int_equal(f.plan->n_steps, 1);
    assert_int_equal(run(&f, pair, NULL, NULL), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 14, 18 });
    end(&f);
}

static void outputs_come_in_the_order_they_are_asked_for(void **state)
{
    (void)state;
    network n;
    evl_value *z, *y = two_sums(&n, &z), *asked[] = { z, y, z };
    evl_tensor given_t[MOST];
    evl_plan *made;
    evl_selection key = network_asking(&n, asked, given_t);
    key.n_asked = 3;
    assert_int_equal(evl_compile(n.ctx, n.g, &n.env, &key, &made), EVAL_OK);
    assert_int_equal(made->n_inputs, 1);
    assert_int_equal(made->n_outputs, 3);
    assert_int_equal(made->outputs[0], made->outputs[2]);
    assert_int_not_equal(made->outputs[0], made->outputs[1]);
    evl_plan_free(made);
    network_end(&n);
}

static void fails(network *n, const evl_selection *key, EvalStatus status, const char *text)
{
    evl_plan *made = NULL;
    size_t held = atomic_load(&n->ctx->memory->blocks);
    assert_int_equal(evl_compile(n->ctx, n->g, &n->env, key, &made), status);
    if (!strstr(n->ctx->error.text, text))
        fail_msg("'%s' is not in: %s", text, n->ctx->error.text);
    assert_null(made);
    assert_int_equal(atomic_load(&n->ctx->memory->blocks), held);
}

static void a_failure_leaves_nothing_behind(void **state)
{
    (void)state;
    network n;
    evl_value *z, *y = two_sums(&n, &z);
    evl_tensor given_t[MOST];
    evl_selection key = network_asking(&n, &y, given_t);
    key.n_given = 0; /* in the copy */
    fails(&n, &key, EVAL_ERR_ARGUMENT, "x");
    evl_value *w = toy_input(n.g, "w", 3);
    evl_value *bad = toy_node(n.g, &evl_op_add, "bad", w, toy_constant(n.g, NULL, pair, 2));
    key = network_asking(&n, &bad, given_t); /* in the passes */
    fails(&n, &key, EVAL_ERR_SHAPE, "node 'bad' (Add)");
    static const evl_op empty = { .name = "Empty", .min_inputs = 1, .max_inputs = 1,
                                  .min_outputs = 1, .max_outputs = 1, .infer = evl_infer_same };
    evl_value *nobody = toy_node(n.g, &empty, "nobody", w, NULL);
    key = network_asking(&n, &nobody, given_t); /* in the plan: nothing runs it */
    fails(&n, &key, EVAL_ERR_TYPE, "node 'nobody' (Empty)");
    network_end(&n);
}

/* A plan with a body, a step whose size the run decides, and a folded constant. */
static evl_value *everything(network *n)
{
    evl_value *x = toy_input(n->g, "x", 2), *most = toy_input(n->g, "most", 1);
    evl_value *c = toy_constant(n->g, "c", pair, 2), *yes = toy_input(n->g, "yes", 1);
    evl_graph *sum = branch(n), *same = branch(n);
    giving(sum, toy_node(sum, &toy_sum, NULL, x, toy_node(n->g, &toy_sum, NULL, c, c)));
    giving(same, toy_node(same, &toy_range, NULL, most, NULL));
    evl_attribute bodies[] = { evl_attribute_graph("then_branch", sum),
                               evl_attribute_graph("else_branch", same) };
    evl_value *y = toy_node(n->g, &evl_op_if, "choice", yes, NULL);
    assert_true(evl_node_attributes(y->producer, bodies, 2));
    return y;
}

static void each_lack_of_memory_is_told(void **state)
{
    (void)state;
    EvalStatus st = EVAL_ERR_MEMORY;
    size_t failing = 0;
    network n;
    network_begin(&n);
    evl_value *y = everything(&n);
    evl_tensor given_t[MOST];
    evl_selection key = network_asking(&n, &y, given_t);
    for (; st == EVAL_ERR_MEMORY; failing++) {
        evl_memory memory;
        evl_context ctx;
        evl_plan *made = NULL;
        evl_test_memory(&memory, failing);
        evl_context_init(&ctx, &memory, &evl_default_limits);
        evl_pass_env env = { .machine = &n.machine, .store = evl_store_new(&memory) };
        st = env.store ? evl_compile(&ctx, n.g, &env, &key, &made) : EVAL_ERR_MEMORY;
        assert_true((st == EVAL_OK) == (made != NULL));
        evl_plan_free(made);
        evl_store_free(env.store);
        evl_context_end(&ctx);
        assert_int_equal(atomic_load(&memory.blocks), 0);
    }
    assert_int_equal(st, EVAL_OK);
    assert_true(failing > 5);
    network_end(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_graph_is_not_rewritten),
        cmocka_unit_test(a_plan_has_the_steps_it_needs),
        cmocka_unit_test(outputs_come_in_the_order_they_are_asked_for),
        cmocka_unit_test(a_failure_leaves_nothing_behind),
        cmocka_unit_test(each_lack_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
