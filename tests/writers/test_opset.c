/* Which opset a graph is written in, and what its nodes of older ones are there. */
#include "writers/opset.h"
#include "ir/op.h"
#include "ops/ops.h"
#include "support/support.h"

typedef struct wanted {
    const char *op;
    int version;
    size_t n_inputs;
    evl_attribute attribute; /* name NULL: none */
    int opset, result;
} wanted;

typedef struct making {
    evl_context *ctx;
    evl_arena *arena;
    evl_graph *graph;
} making;

static making begin(void)
{
    making m = { .ctx = evl_test_begin() };
    m.arena = evl_arena_new(m.ctx->memory);
    m.graph = evl_graph_new(m.arena, NULL);
    assert_non_null(m.graph);
    return m;
}

static void end(making *m)
{
    evl_arena_free(m->arena);
    evl_test_end(m->ctx);
}

/* Its inputs are float32[2,3,4]. */
static evl_node *make(making *m, const wanted *w)
{
    evl_node *node = evl_graph_node(m->graph, evl_op_find(NULL, w->op), "", w->n_inputs, 1);
    assert_non_null(node);
    for (size_t i = 0; i < w->n_inputs; i++) {
        node->inputs[i] = evl_graph_value(m->graph, NULL);
        node->inputs[i]->t = (evl_tensor){ .type = EVAL_FLOAT32, .shape = { 3, { 2, 3, 4 } } };
    }
    evl_node_output(node, 0, evl_graph_value(m->graph, NULL));
    assert_true(evl_node_attributes(node, &w->attribute, w->attribute.name ? 1 : 0));
    node->version = w->version;
    return node;
}

static const int64_t axes[] = { 1 };

static void attributes_become_inputs_or_go_where_they_have_to(void **state)
{
    (void)state;
    const evl_attribute ints = evl_attribute_ints("axes", axes, 1), axis = evl_attribute_int("axis", 1),
                        is_test = evl_attribute_int("is_test", 1),
                        ratio = { .name = "ratio", .kind = EVL_ATTRIBUTE_NUMBER, .u.number = 0.5 };
    const wanted cases[] = {
        { "Squeeze", 11, 1, ints, 11, EVL_STAYS },
        { "Squeeze", 11, 1, ints, 13, 1 },
        { "Squeeze", EVL_NEWEST, 1, ints, 13, 1 },
        { "ReduceSum", 11, 1, ints, 13, 1 },
        { "ReduceMean", 11, 1, ints, 17, EVL_STAYS },
        { "ReduceMean", 11, 1, ints, 18, 1 },
        { "Slice", 9, 1, ints, 10, 3 },
        { "Softmax", 11, 1, axis, 13, EVL_STAYS },
        { "Dropout", 10, 1, ratio, 12, EVL_GOES },
        { "Dropout", 10, 1, ratio, 11, EVL_STAYS },
        { "Dropout", 6, 1, is_test, 7, EVL_GOES },
        { "Softmax", EVL_NEWEST, 1, evl_attribute_int("opset", 13), 13, EVL_GOES },
        { "Softmax", 11, 1, evl_attribute_int("opset", 13), 13, EVL_STAYS },
    };
    making m = begin();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        evl_node *node = make(&m, &cases[i]);
        assert_int_equal(evl_opset_attribute(node, &node->attributes[0], cases[i].opset), cases[i].result);
    }
    end(&m);
}

static void what_means_something_else_is_known(void **state)
{
    (void)state;
    const evl_attribute none = { .name = NULL }, first = evl_attribute_int("axis", 1),
                        third = evl_attribute_int("axis", 2), last = evl_attribute_int("axis", -1), count = evl_attribute_int("num_outputs", 1),
                        spatial = evl_attribute_int("spatial", 1), apart = evl_attribute_int("spatial", 0),
                        mode = evl_attribute_text("mode", "bilinear");
    const wanted cases[] = {
        { "Softmax", 11, 1, none, 13, EVL_FLATTENS },
        { "Softmax", 11, 1, first, 12, EVL_SAME },
        { "Softmax", 11, 1, third, 13, EVL_SAME },
        { "LogSoftmax", 11, 1, last, 13, EVL_SAME },
        { "Hardmax", 13, 1, first, 18, EVL_SAME },
        { "Softmax", EVL_NEWEST, 1, first, 13, EVL_SAME },
        { "Split", 13, 1, first, 17, EVL_SAME },
        { "Split", 13, 1, first, 18, EVL_COUNTS_OUTPUTS },
        { "Split", EVL_NEWEST, 1, first, 18, EVL_COUNTS_OUTPUTS },
        { "Split", 13, 2, first, 18, EVL_SAME },
        { "Split", 18, 1, count, 18, EVL_SAME },
        { "Add", 6, 2, none, 13, EVL_SAME },
        { "Add", 6, 2, first, 13, EVL_CHANGED },
        { "Add", 6, 2, last, 13, EVL_SAME },
        { "PRelu", 6, 2, none, 7, EVL_CHANGED },
        { "BatchNormalization", 7, 5, spatial, 9, EVL_SAME },
        { "BatchNormalization", 7, 5, apart, 9, EVL_CHANGED },
        { "GridSample", 16, 2, none, 20, EVL_SAME },
        { "GridSample", 16, 2, mode, 20, EVL_CHANGED },
        { "RoiAlign", 10, 3, none, 16, EVL_CHANGED },
        { "RoiAlign", 16, 3, none, 20, EVL_SAME },
    };
    making m = begin();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if ((int)evl_opset_change_of(make(&m, &cases[i]), cases[i].opset) != cases[i].result)
            fail_msg("%s %d in opset %d, case %zu", cases[i].op, cases[i].version, cases[i].opset, i);
    end(&m);
}

/* What `first`, and `second` beside it, need. */
static int opset_of(const wanted *first, const wanted *second, EvalType type)
{
    making m = begin();
    evl_node *node = make(&m, first);
    node->inputs[0]->t.type = type;
    if (second)
        make(&m, second);
    int opset = evl_opset_of_graph(m.graph, 0);
    end(&m);
    return opset;
}

static void the_opset_is_the_lowest_that_holds_all(void **state)
{
    (void)state;
    const evl_attribute none = { .name = NULL };
    const wanted old = { "Relu", 9, 1, none, 0, 0 }, newer = { "Add", 17, 2, none, 0, 0 },
                 gelu = { "Gelu", EVL_NEWEST, 1, none, 0, 0 }, add = { "Add", EVL_NEWEST, 2, none, 0, 0 },
                 by_input = { "ReduceMean", EVL_NEWEST, 2, none, 0, 0 },
                 cast = { "Cast", EVL_NEWEST, 1, none, 0, 0 }, attention = { "Attention", EVL_NEWEST, 6, none, 0, 0 },
                 longer = { "Attention", EVL_NEWEST, 7, none, 0, 0 },
                 near = { "Attention", EVL_NEWEST, 3, evl_attribute_int("left_window_size", 2), 0, 0 };
    assert_int_equal(opset_of(&old, NULL, EVAL_FLOAT32), 9);
    assert_int_equal(opset_of(&old, &newer, EVAL_FLOAT32), 17);
    assert_int_equal(opset_of(&old, &add, EVAL_FLOAT32), 13);
    assert_int_equal(opset_of(&gelu, &old, EVAL_FLOAT32), 20);
    assert_int_equal(opset_of(&by_input, &old, EVAL_FLOAT32), 18);
    assert_int_equal(opset_of(&cast, NULL, EVAL_INT4), 21);
    assert_int_equal(opset_of(&attention, NULL, EVAL_FLOAT32), 23);
    assert_int_equal(opset_of(&longer, NULL, EVAL_FLOAT32), 24);
    assert_int_equal(opset_of(&near, NULL, EVAL_FLOAT32), 25);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_become_inputs_or_go_where_they_have_to),
        cmocka_unit_test(what_means_something_else_is_known),
        cmocka_unit_test(the_opset_is_the_lowest_that_holds_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
