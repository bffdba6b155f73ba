/* Scan: a trip for each slice, along any axis, in either direction, and opset 8's batches. */
#include "exec/fixture.h"

/* sum := sum + slice; the sums are gathered. */
static evl_node *sums(network *n, const evl_attribute *more, size_t n_more, evl_value *lengths)
{
    evl_graph *b = branch(n), *g = n->g;
    evl_value *sum = toy_input(b, "sum", -1), *slice = toy_input(b, "slice", -1);
    giving(b, toy_node(b, &toy_sum, NULL, sum, slice));
    giving(b, b->outputs[0]);
    evl_attribute a[8] = { evl_attribute_graph("body", b), evl_attribute_int("num_scan_inputs", 1) };
    for (size_t i = 0; i < n_more; i++)
        a[2 + i] = more[i];
    size_t first = lengths ? 1 : 0;
    evl_node *node = evl_graph_node(g, &evl_op_scan, "scan", first + 2, 2);
    assert_true(evl_node_attributes(node, a, 2 + n_more));
    node->version = lengths ? 8 : 16;
    if (lengths)
        node->inputs[0] = lengths;
    node->inputs[first] = toy_input(g, "first", 2);
    node->inputs[first + 1] = toy_input(g, "x", 1);
    for (size_t i = 0; i < 2; i++)
        evl_node_output(node, i, evl_graph_value(g, NULL));
    return node;
}

static void plan_sums(fixture *f, const evl_attribute *more, size_t n_more, int64_t rows,
                      int64_t columns, size_t shown)
{
    network_begin(&f->n);
    evl_node *node = sums(&f->n, more, n_more, NULL);
    node->inputs[1]->t.shape = evl_shape_of(2, (int64_t[]){ rows, columns });
    plan(f, node->outputs[shown]);
}

static const int64_t first[] = { 100, 200 }, x[] = { 1, 2, 3, 4, 5, 6 };

static void slices_of_the_first_axis_are_rows(void **state)
{
    (void)state;
    fixture f;
    plan_sums(&f, NULL, 0, 3, 2, 0);
    assert_int_equal(run(&f, first, x, NULL), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 109, 212 });
    end(&f);
    plan_sums(&f, NULL, 0, 3, 2, 1);
    assert_int_equal(run(&f, first, x, NULL), EVAL_OK);
    expect(&f, 6, (int64_t[]){ 101, 202, 104, 206, 109, 212 });
    end(&f);
}

static void axes_and_directions_hold_for_what_goes_in_and_what_comes_out(void **state)
{
    (void)state;
    static const int64_t last[] = { -1 }, one[] = { 1 };
    const evl_attribute more[] = { evl_attribute_ints("scan_input_axes", last, 1),
                                   evl_attribute_ints("scan_output_axes", one, 1),
                                   evl_attribute_ints("scan_input_directions", one, 1),
                                   evl_attribute_ints("scan_output_directions", one, 1) };
    fixture f;
    plan_sums(&f, more, 2, 2, 3, 1); /* columns in, columns out */
    assert_int_equal(run(&f, first, x, NULL), EVAL_OK);
    expect(&f, 6, (int64_t[]){ 101, 103, 106, 204, 209, 215 });
    end(&f);
    plan_sums(&f, more, 4, 2, 3, 1); /* the last column first, and its sum last */
    assert_int_equal(run(&f, first, x, NULL), EVAL_OK);
    expect(&f, 6, (int64_t[]){ 106, 105, 103, 215, 211, 206 });
    end(&f);
}

static void no_slice_leaves_what_is_carried(void **state)
{
    (void)state;
    fixture f;
    for (size_t shown = 0; shown < 2; shown++) {
        plan_sums(&f, NULL, 0, 0, 2, shown);
        assert_int_equal(run(&f, first, x, NULL), EVAL_OK);
        expect(&f, shown ? 0 : 2, first);
        end(&f);
    }
}

/* Two batches of two slices; of the second only one counts, and what it leaves is 0. */
static void batches_have_lengths_of_their_own(void **state)
{
    (void)state;
    static const int64_t both[] = { 2, 1 }, batches[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static const int64_t firsts[] = { 10, 20, 30, 40 }, beyond[] = { 3, 1 };
    for (size_t shown = 0; shown < 2; shown++) {
        fixture f;
        network_begin(&f.n);
        evl_node *node = sums(&f.n, NULL, 0, toy_input(f.n.g, "lengths", 2));
        node->inputs[1]->t.shape = evl_shape_of(2, (int64_t[]){ 2, 2 });
        node->inputs[2]->t.shape = evl_shape_of(3, (int64_t[]){ 2, 2, 2 });
        plan(&f, node->outputs[shown]);
        assert_int_equal(run(&f, both, firsts, batches), EVAL_OK);
        if (shown)
            expect(&f, 8, (int64_t[]){ 11, 22, 14, 26, 35, 46, 0, 0 });
        else
            expect(&f, 4, (int64_t[]){ 14, 26, 35, 46 });
        assert_int_equal(run(&f, beyond, firsts, batches), EVAL_ERR_SHAPE);
        end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_of_the_first_axis_are_rows),
        cmocka_unit_test(axes_and_directions_hold_for_what_goes_in_and_what_comes_out),
        cmocka_unit_test(no_slice_leaves_what_is_carried),
        cmocka_unit_test(batches_have_lengths_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
