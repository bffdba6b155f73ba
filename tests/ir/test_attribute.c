/* Attributes are found by name and kind, and bodies in the order in which they stand. */
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

static evl_node *node_with(const evl_attribute *attributes, size_t n)
{
    evl_node *node = evl_graph_node(g, &toy_sum, "node", 0, 0);
    assert_true(node && evl_node_attributes(node, attributes, n));
    return node;
}

static void each_kind_comes_back_as_it_was_made(void **state)
{
    static const int64_t ints[] = { 1, -2, 3 };
    static const double numbers[] = { 0.5, -0.5 };
    (void)state;
    evl_attribute a[] = { evl_attribute_int("int", INT64_MIN), evl_attribute_number("number", 2.5),
                          evl_attribute_text("text", "what it says"),
                          evl_attribute_ints("ints", ints, 3),
                          evl_attribute_numbers("numbers", numbers, 2),
                          evl_attribute_graph("graph", g) };
    const evl_node *node = node_with(a, 6);
    size_t n;
    assert_true(evl_node_int(node, "int", 0) == INT64_MIN);
    assert_true(evl_node_number(node, "number", 0) == 2.5);
    assert_string_equal(evl_node_text(node, "text", ""), "what it says");
    assert_int_equal(evl_node_attribute(node, "text")->u.text.size, 12);
    assert_ptr_equal(evl_node_ints(node, "ints", &n), ints);
    assert_int_equal(n, 3);
    assert_ptr_equal(evl_node_numbers(node, "numbers", &n), numbers);
    assert_int_equal(n, 2);
    assert_ptr_equal(evl_node_graph(node, "graph"), g);
    assert_int_equal(evl_node_attribute(node, "graph")->kind, EVL_ATTRIBUTE_GRAPH);
}

static void the_array_is_copied(void **state)
{
    (void)state;
    evl_attribute a[] = { evl_attribute_int("axis", 1) };
    const evl_node *node = node_with(a, 1);
    a[0] = evl_attribute_int("other", 2);
    assert_int_equal(evl_node_int(node, "axis", 0), 1);
    assert_null(evl_node_attribute(node, "other"));
}

/* Of no attribute and of one of another kind. */
static void fallback(const evl_node *node, const char *name)
{
    size_t n = 7;
    assert_int_equal(evl_node_int(node, name, -3), -3);
    assert_true(evl_node_number(node, name, 1.5) == 1.5);
    assert_null(evl_node_text(node, name, NULL));
    assert_null(evl_node_graph(node, name));
    assert_null(evl_node_ints(node, name, &n));
    assert_int_equal(n, 0);
    n = 7;
    assert_null(evl_node_numbers(node, name, &n));
    assert_int_equal(n, 0);
}

static void what_is_not_there_is_its_fallback(void **state)
{
    (void)state;
    evl_tensor t = { .type = EVAL_INT64 };
    evl_attribute a[] = { { .name = "value", .kind = EVL_ATTRIBUTE_TENSOR, .u.tensor = &t } };
    const evl_node *node = node_with(a, 1);
    fallback(node, "value");
    fallback(node, "valu");
    fallback(node, "");
    fallback(evl_graph_node(g, &toy_sum, "none", 0, 0), "value");
}

/* The file may say one twice. */
static void the_first_of_a_name_counts(void **state)
{
    (void)state;
    evl_attribute a[] = { evl_attribute_int("axis", 1), evl_attribute_int("axis", 2) };
    assert_int_equal(evl_node_int(node_with(a, 2), "axis", 0), 1);
}

static void bodies_are_counted_over_all_attributes(void **state)
{
    (void)state;
    evl_graph *one = evl_graph_new(g->arena, g), *two = evl_graph_new(g->arena, g);
    evl_graph *const many[] = { two, one, two };
    evl_attribute a[] = { evl_attribute_graph("then_branch", one), evl_attribute_int("axis", 0),
                          { .name = "none", .kind = EVL_ATTRIBUTE_GRAPHS },
                          { .name = "many", .kind = EVL_ATTRIBUTE_GRAPHS, .n = 3, .u.graphs = many },
                          evl_attribute_graph("else_branch", two) };
    const evl_node *node = node_with(a, 5);
    evl_graph *const expected[] = { one, two, one, two, two };
    for (size_t i = 0; i < 5; i++)
        assert_ptr_equal(evl_node_body(node, i), expected[i]);
    assert_null(evl_node_body(node, 5));
    assert_null(evl_node_body(node, SIZE_MAX));
}

/* A copied node shares its attributes with the one it comes from. */
static void another_body_is_that_nodes_alone(void **state)
{
    (void)state;
    evl_graph *one = evl_graph_new(g->arena, g), *two = evl_graph_new(g->arena, g);
    evl_attribute a[] = { evl_attribute_graph("body", one), evl_attribute_int("axis", 4),
                          evl_attribute_graph("other", one) };
    const evl_node *node = node_with(a, 3);
    evl_node copy = *node;
    assert_true(evl_node_set_body(&copy, "body", two));
    assert_ptr_equal(evl_node_graph(&copy, "body"), two);
    assert_ptr_equal(evl_node_graph(&copy, "other"), one);
    assert_int_equal(evl_node_int(&copy, "axis", 0), 4);
    assert_ptr_equal(evl_node_graph(node, "body"), one);
    assert_true(evl_node_set_body(&copy, "axis", one)); /* no body */
    assert_int_equal(evl_node_int(&copy, "axis", 0), 4);
    assert_true(evl_node_set_body(evl_graph_node(g, &toy_sum, "none", 0, 0), "body", one));
}

static void without_memory_a_node_stays_as_it_was(void **state)
{
    (void)state;
    evl_attribute a[] = { evl_attribute_graph("body", g), evl_attribute_int("axis", 4) };
    evl_memory memory;
    evl_arena *arena = evl_test_tight_arena(&memory, 0);
    evl_graph full = { .arena = arena };
    evl_node node = { .graph = &full, .attributes = a, .n_attributes = 2 };
    assert_false(evl_node_set_body(&node, "body", NULL));
    assert_ptr_equal(node.attributes, a);
    evl_arena_free(arena);
    arena = evl_test_tight_arena(&memory, 0);
    full.arena = arena;
    assert_false(evl_node_attributes(&node, a, 2));
    assert_ptr_equal(node.attributes, a);
    evl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_kind_comes_back_as_it_was_made, setup, teardown),
        cmocka_unit_test_setup_teardown(the_array_is_copied, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_its_fallback, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_of_a_name_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(bodies_are_counted_over_all_attributes, setup, teardown),
        cmocka_unit_test_setup_teardown(another_body_is_that_nodes_alone, setup, teardown),
        cmocka_unit_test(without_memory_a_node_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
