#include "ir/graph.h"
#include "support/support.h"
#include "support/toy.h"
#include <string.h>

static evl_context *ctx;
static evl_graph *g;

static int setup(void **state)
{
    (void)state;
    ctx = evl_test_begin();
    g = evl_graph_new(evl_arena_new(ctx->memory), NULL);
    return g == NULL;
}

static int teardown(void **state)
{
    (void)state;
    evl_arena_free(g->arena);
    evl_test_end(ctx);
    return 0;
}

static size_t place_of(const char *name)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        if (strcmp(g->nodes[i]->name, name) == 0)
            return i;
    fail();
    return 0;
}

static void sorting_puts_operands_before_users(void **state)
{
    (void)state;
    evl_value *x = toy_input(g, "x", 2), *b = evl_graph_value(g, "b");
    evl_value *c = toy_node(g, &toy_sum, "c", b, x);
    evl_node *late = evl_graph_node(g, &toy_sum, "b", 1, 1);
    late->inputs[0] = x;
    evl_node_output(late, 0, b);
    assert_true(evl_graph_add_output(g, c));
    assert_int_equal(evl_graph_sort(ctx, g), EVAL_OK);
    assert_true(place_of("b") < place_of("c"));
    assert_int_equal(g->nodes[0]->index, 0);
}

static void a_cycle_is_named(void **state)
{
    (void)state;
    evl_value *a = evl_graph_value(g, "a");
    evl_value *b = toy_node(g, &toy_sum, "b", a, NULL);
    evl_node *back = evl_graph_node(g, &toy_sum, "a", 1, 1);
    back->inputs[0] = b;
    evl_node_output(back, 0, a);
    assert_int_equal(evl_graph_sort(ctx, g), EVAL_ERR_FORMAT);
    assert_non_null(strstr(ctx->error.text, "a cycle"));
    assert_non_null(strstr(ctx->error.text, "'b'"));
}

static void a_chain_of_a_hundred_thousand_sorts_without_recursion(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    evl_value *next = evl_graph_value(g, NULL);
    assert_true(evl_graph_add_output(g, next));
    for (size_t i = 0; i < MANY; i++) { /* users first */
        evl_node *node = evl_graph_node(g, &toy_sum, NULL, 1, 1);
        evl_node_output(node, 0, next);
        node->inputs[0] = next = evl_graph_value(g, NULL);
    }
    assert_int_equal(evl_graph_sort(ctx, g), EVAL_OK);
    for (size_t i = 1; i < MANY; i++)
        assert_ptr_equal(g->nodes[i]->inputs[0], g->nodes[i - 1]->outputs[0]);
}

static void names_are_found_here_and_in_outer_graphs(void **state)
{
    (void)state;
    evl_value *x = toy_input(g, "x", 2);
    evl_graph *body = evl_graph_new(g->arena, g);
    evl_value *inner = evl_graph_value(body, "y");
    assert_ptr_equal(evl_graph_find(body, "x", 1), x);
    assert_ptr_equal(evl_graph_find(body, "y", 1), inner);
    assert_null(evl_graph_find(g, "y", 1));
}

static void a_node_is_found_by_its_value_and_then_by_its_own_name(void **state)
{
    (void)state;
    evl_value *x = toy_input(g, "x", 2), *y = evl_graph_value(g, "y");
    evl_node *node = evl_graph_node(g, &toy_sum, "adds", 1, 1);
    evl_node_output(node, 0, y);
    toy_node(g, &toy_sum, NULL, x, x); /* neither has a name, and "" is none */
    assert_ptr_equal(evl_graph_find_node(g, "y"), y);
    assert_ptr_equal(evl_graph_find_node(g, "adds"), y);
    assert_ptr_equal(evl_graph_find_node(g, "x"), x);
    assert_null(evl_graph_find_node(g, ""));
    assert_null(evl_graph_find_node(g, "z"));
}

static void near_names_are_listed(void **state)
{
    (void)state;
    toy_input(g, "features", 2);
    toy_input(g, "labels", 2);
    assert_int_equal(evl_graph_not_found(ctx, g, "feature"), EVAL_ERR_NOT_FOUND);
    assert_non_null(strstr(ctx->error.text, "near names:\nfeatures"));
    assert_null(strstr(ctx->error.text, "labels"));
}

static void without_a_near_name_what_goes_in_and_out_is_listed(void **state)
{
    (void)state;
    assert_int_equal(evl_graph_not_found(ctx, g, "nobody"), EVAL_ERR_NOT_FOUND);
    assert_string_equal(ctx->error.text, "the network has no node 'nobody'");
    evl_value *x = toy_input(g, "features", 2);
    toy_input(g, "labels", 2);
    assert_true(evl_graph_add_output(g, toy_node(g, &toy_sum, "scores", x, NULL)));
    assert_int_equal(evl_graph_not_found(ctx, g, "nobody"), EVAL_ERR_NOT_FOUND);
    assert_string_equal(ctx->error.text, "the network has no node 'nobody'\n"
                                         "its inputs:\nfeatures\nlabels\nits outputs:\nscores");
}

static void a_copy_holds_what_is_asked_and_no_more(void **state)
{
    (void)state;
    evl_value *x = toy_input(g, "x", 2), *unneeded = toy_input(g, "unneeded", 2);
    evl_value *y = toy_node(g, &toy_sum, "y", x, NULL);
    toy_node(g, &toy_sum, "z", y, unneeded);
    evl_selection s = { &x, &x->t, 1, &y, 1 };
    evl_graph *copy;
    assert_int_equal(evl_graph_copy(ctx, g->arena, g, EVAL_FLOAT32, &s, &copy), EVAL_OK);
    assert_int_equal(copy->n_nodes, 1);
    assert_ptr_equal(copy->nodes[0]->origin, g->nodes[0]);
    assert_ptr_equal(copy->nodes[0]->inputs[0], copy->inputs[0]);
    assert_ptr_not_equal(copy->outputs[0], y);
}

static void a_needed_input_that_is_not_given_is_listed(void **state)
{
    (void)state;
    evl_value *x = toy_input(g, "x", 2);
    evl_value *y = toy_node(g, &toy_sum, "y", x, NULL);
    evl_selection s = { NULL, NULL, 0, &y, 1 };
    evl_graph *copy;
    assert_int_equal(evl_graph_copy(ctx, g->arena, g, EVAL_FLOAT32, &s, &copy),
                     EVAL_ERR_ARGUMENT);
    assert_string_equal(ctx->error.text, "inputs that are needed and were not given:\nx");
}

static void a_given_value_replaces_its_node_and_what_only_it_needed(void **state)
{
    (void)state;
    evl_value *x = toy_input(g, "x", 2);
    evl_value *y = toy_node(g, &toy_sum, "y", x, NULL), *z = toy_node(g, &toy_sum, "z", y, NULL);
    evl_tensor t = { .type = EVAL_INT64, .shape = evl_shape_of(1, (int64_t[]){ 2 }) };
    evl_selection s = { &y, &t, 1, &z, 1 };
    evl_graph *copy;
    assert_int_equal(evl_graph_copy(ctx, g->arena, g, EVAL_FLOAT32, &s, &copy), EVAL_OK);
    assert_int_equal(copy->n_nodes, 1);
    assert_string_equal(copy->nodes[0]->name, "z");
}

static void the_inputs_of_a_value_are_those_it_needs(void **state)
{
    (void)state;
    evl_value *x = toy_input(g, "x", 2), *other = toy_input(g, "other", 2), **inputs;
    evl_value *y = toy_node(g, &toy_sum, "y", x, NULL);
    toy_node(g, &toy_sum, "z", y, other);
    size_t n;
    assert_int_equal(evl_graph_inputs_of(ctx, g->arena, g, &y, 1, &inputs, &n), EVAL_OK);
    assert_int_equal(n, 1);
    assert_ptr_equal(inputs[0], x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sorting_puts_operands_before_users, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cycle_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_chain_of_a_hundred_thousand_sorts_without_recursion,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_found_here_and_in_outer_graphs, setup, teardown),
        cmocka_unit_test_setup_teardown(a_node_is_found_by_its_value_and_then_by_its_own_name,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(near_names_are_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_near_name_what_goes_in_and_out_is_listed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_copy_holds_what_is_asked_and_no_more, setup, teardown),
        cmocka_unit_test_setup_teardown(a_needed_input_that_is_not_given_is_listed, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_given_value_replaces_its_node_and_what_only_it_needed,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(the_inputs_of_a_value_are_those_it_needs, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
