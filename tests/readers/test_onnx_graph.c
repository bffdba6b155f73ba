/* Graphs, attributes, bodies, functions. */
#include "reading.h"

static const evl_node *node_named(const evl_graph *g, const char *name)
{
    for (size_t i = 0; i < g->n_nodes; i++)
        if (strcmp(g->nodes[i]->name, name) == 0)
            return g->nodes[i];
    fail_msg("no node '%s'", name);
    return NULL;
}

static const char *fact(const evl_graph *g, const char *key)
{
    for (size_t i = 0; i < g->n_metadata; i++)
        if (strcmp(g->metadata[i].key, key) == 0)
            return g->metadata[i].value;
    return "";
}

static void initialisers_that_are_inputs_are_constants(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("old_inputs", &r);
    assert_int_equal(r.graph->n_inputs, 1);
    assert_string_equal(r.graph->inputs[0]->name, "x");
    assert_true(r.graph->inputs[0]->is_input);
    assert_true(evl_test_value(r.graph, "w")->is_constant);
    assert_int_equal(r.graph->nodes[0]->version, 8);
    assert_string_equal(fact(r.graph, "ir_version"), "3");
    evl_test_close(&r);
}

static void nodes_may_stand_in_any_order(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("reversed", &r);
    assert_int_equal(r.graph->n_nodes, 3);
    assert_string_equal(r.graph->nodes[0]->name, "first");
    assert_string_equal(r.graph->nodes[2]->name, "last");
    assert_ptr_equal(r.graph->nodes[2]->inputs[0]->producer, r.graph->nodes[1]);
    assert_ptr_equal(r.graph->nodes[2]->outputs[0], r.graph->outputs[0]);
    evl_test_close(&r);
}

static void declared_types_shapes_and_names_are_kept(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("reversed", &r);
    const evl_value *x = r.graph->inputs[0], *a = evl_test_value(r.graph, "a");
    assert_int_equal(x->t.type, EVAL_FLOAT32);
    assert_int_equal(x->t.shape.rank, 3);
    assert_int_equal(x->t.shape.dim[0], EVL_UNKNOWN_DIM);
    assert_int_equal(x->t.shape.dim[1], EVL_UNKNOWN_DIM);
    assert_int_equal(x->t.shape.dim[2], 3);
    assert_string_equal(x->dim_names[0], "batch");
    assert_null(x->dim_names[1]);
    assert_int_equal(a->t.shape.rank, 2); /* from value_info */
    assert_int_equal(r.graph->outputs[0]->t.type, EVAL_FLOAT32);
    assert_int_equal(r.graph->outputs[0]->t.shape.rank, EVL_UNKNOWN_RANK);
    evl_test_close(&r);
}

static void facts_about_the_model_are_metadata(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("reversed", &r);
    assert_string_equal(fact(r.graph, "format"), "ONNX");
    assert_string_equal(fact(r.graph, "producer"), "make_onnx.py");
    assert_string_equal(fact(r.graph, "model_version"), "7");
    assert_string_equal(fact(r.graph, "opset"), "13");
    assert_string_equal(fact(r.graph, "author"), "nobody");
    assert_string_equal(fact(r.graph, "task"), "test");
    evl_test_close(&r);
}

static void bodies_see_what_outer_graphs_define_later(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("nested_if", &r);
    const evl_node *outer = node_named(r.graph, "outer");
    const evl_value *late = evl_test_value(r.graph, "late");
    const evl_graph *then = evl_node_graph(outer, "then_branch");
    assert_ptr_equal(then->outer, r.graph);
    const evl_node *inner = node_named(then, "inner");
    const evl_graph *inner_then = evl_node_graph(inner, "then_branch");
    assert_ptr_equal(inner_then->outer, then);
    assert_ptr_equal(inner_then->nodes[0]->inputs[0], late);
    assert_ptr_equal(r.graph->nodes[1], outer); /* sorted: `late` first */
    evl_test_close(&r);
}

static void a_body_that_gives_out_an_outer_value_copies_it(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("nested_if", &r);
    const evl_graph *then = evl_node_graph(node_named(r.graph, "outer"), "then_branch");
    const evl_graph *inner_else = evl_node_graph(node_named(then, "inner"), "else_branch");
    const evl_value *out = inner_else->outputs[0];
    assert_ptr_equal(out->graph, inner_else);
    assert_string_equal(out->producer->op->name, "Identity");
    assert_ptr_equal(out->producer->inputs[0], evl_test_value(r.graph, "late"));
    evl_test_close(&r);
}

static void constant_nodes_become_constants(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("constants", &r);
    const evl_graph *g = r.graph;
    assert_int_equal(g->n_nodes, 0);
    for (size_t i = 0; i < g->n_outputs; i++)
        assert_true(g->outputs[i]->is_constant);
    assert_true(evl_tensor_f64(&evl_test_value(g, "value")->t, 1) == 2);
    const evl_tensor *one = &evl_test_value(g, "value_float")->t;
    assert_int_equal(one->type, EVAL_FLOAT32);
    assert_int_equal(one->shape.rank, 0);
    assert_true(evl_tensor_f64(one, 0) == (double)0.1f);
    assert_true(evl_tensor_f64(&evl_test_value(g, "value_floats")->t, 1) == 0.25);
    assert_int_equal(evl_tensor_i64(&evl_test_value(g, "value_int")->t, 0), -3);
    assert_int_equal(evl_test_value(g, "value_ints")->t.shape.dim[0], 3);
    assert_int_equal(evl_tensor_i64(&evl_test_value(g, "value_ints")->t, 1), -5);
    const EvalString *text = evl_test_value(g, "value_string")->t.data;
    assert_int_equal(text->size, 4);
    assert_memory_equal(text->text, "text", 4);
    assert_int_equal(evl_test_value(g, "value_strings")->t.shape.dim[0], 2);
    assert_true(evl_tensor_f64(&evl_test_value(g, "sparse_value")->t, 1) == 3);
    evl_test_close(&r);
}

static void check_lists(const evl_node *node)
{
    size_t n;
    const int64_t *ints = evl_node_ints(node, "ints", &n);
    assert_int_equal(n, 2);
    assert_int_equal(ints[1], -2);
    const double *numbers = evl_node_numbers(node, "floats", &n);
    assert_int_equal(n, 2);
    assert_true(numbers[1] == 1.5);
    const evl_attribute *texts = evl_node_attribute(node, "strings");
    assert_int_equal(texts->n, 2);
    assert_string_equal(texts->u.texts[1].text, "bc");
    const evl_attribute *tensors = evl_node_attribute(node, "tensors");
    assert_int_equal(tensors->n, 2);
    assert_true(evl_tensor_f64(tensors->u.tensors[1], 0) == 3);
    const evl_attribute *graphs = evl_node_attribute(node, "graphs");
    assert_int_equal(graphs->n, 2);
    assert_int_equal(graphs->u.graphs[1]->n_outputs, 1);
    assert_int_equal(evl_node_ints(node, "untyped", &n)[0], 8);
}

static void attributes_of_all_kinds_are_read(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("attributes", &r);
    const evl_node *node = node_named(r.graph, "all");
    assert_int_equal(node->n_inputs, 1); /* one left out at the end does not count */
    assert_int_equal(evl_node_int(node, "i", 0), -7);
    assert_true(evl_node_number(node, "f", 0) == 0.5);
    assert_string_equal(evl_node_text(node, "s", ""), "text");
    assert_true(evl_tensor_f64(evl_node_attribute(node, "t")->u.tensor, 0) == 1);
    assert_non_null(evl_node_graph(node, "g"));
    assert_int_equal(evl_node_attribute(node, "tp")->kind, EVL_ATTRIBUTE_TYPE);
    assert_int_equal(evl_node_attribute(node, "tp")->u.tensor->type, EVAL_FLOAT32);
    check_lists(node);
    evl_test_close(&r);
}

static void all_that_is_not_offered_is_listed(void **state)
{
    (void)state;
    evl_reading r;
    assert_int_equal(evl_test_open("unsupported", &r), EVAL_ERR_UNSUPPORTED);
    assert_string_equal(r.ctx->error.text,
                        "onnx: the model needs what this library does not offer:\n"
                        "node 'one': operator UnknownOp (ai.onnx, opset 13)\n"
                        "node 'b': operator Relu (not.ours, no opset)\n"
                        "node 'deep': operator Qux (com.example, opset 1)");
    evl_test_close(&r);
}

static void functions_are_put_in_where_they_are_called(void **state)
{
    (void)state;
    evl_reading r;
    evl_test_open_good("functions", &r);
    const evl_graph *g = r.graph;
    const evl_node *first = node_named(g, "call/first/sum");
    assert_ptr_equal(first->inputs[0], g->inputs[0]);
    assert_true(evl_tensor_f64(&first->inputs[1]->t, 0) ==
                1); /* b of the call, passed on as bias */
    assert_string_equal(first->outputs[0]->name, "call/m");
    const evl_node *second = evl_test_value(g, "m")->producer;
    assert_string_equal(second->op->name, "Add");
    assert_ptr_equal(second->inputs[0], first->outputs[0]);
    assert_true(evl_tensor_f64(&second->inputs[1]->t, 0) == 10); /* the default */
    const evl_node *copy = g->outputs[0]->producer;
    assert_string_equal(copy->op->name, "Identity");
    assert_ptr_equal(copy->inputs[0], evl_test_value(g, "m"));
    evl_test_close(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialisers_that_are_inputs_are_constants),
        cmocka_unit_test(nodes_may_stand_in_any_order),
        cmocka_unit_test(declared_types_shapes_and_names_are_kept),
        cmocka_unit_test(facts_about_the_model_are_metadata),
        cmocka_unit_test(bodies_see_what_outer_graphs_define_later),
        cmocka_unit_test(a_body_that_gives_out_an_outer_value_copies_it),
        cmocka_unit_test(constant_nodes_become_constants),
        cmocka_unit_test(attributes_of_all_kinds_are_read),
        cmocka_unit_test(all_that_is_not_offered_is_listed),
        cmocka_unit_test(functions_are_put_in_where_they_are_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
