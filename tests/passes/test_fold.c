#include "ops/ops.h"
#include "passes/passes.h"
#include "support/run_op.h"
#include "support/toy.h"
#include <string.h>

typedef struct fixture {
    evl_context *ctx;
    evl_machine machine;
    evl_store *store;
    evl_graph *g, *copy;
} fixture;

static fixture begin(void)
{
    fixture f = { .ctx = evl_test_begin() };
    evl_test_machine(&f.machine, EVL_FLOAT, 0);
    f.store = evl_store_new(f.ctx->memory);
    f.g = evl_graph_new(evl_arena_new(f.ctx->memory), NULL);
    return f;
}

static EvalStatus passes(fixture *f, evl_value *asked)
{
    evl_pass_env env = { .machine = &f->machine, .store = f->store };
    evl_tensor given_t[8];
    for (size_t i = 0; i < f->g->n_inputs; i++)
        given_t[i] = f->g->inputs[i]->t;
    evl_selection s = { f->g->inputs, given_t, f->g->n_inputs, &asked, 1 };
    EvalStatus st = evl_graph_copy(f->ctx, f->g->arena, f->g, f->machine.real, &s, &f->copy);
    return st == EVAL_OK ? evl_passes_run(f->ctx, &env, f->copy) : st;
}

static void end(fixture *f)
{
    evl_store_free(f->store);
    evl_arena_free(f->g->arena);
    evl_test_end(f->ctx);
}

static void what_constants_make_is_a_constant(void **state)
{
    (void)state;
    fixture f = begin();
    const int64_t two[] = { 2, 3 };
    evl_value *c = toy_constant(f.g, "c", two, 2);
    evl_value *sum = toy_node(f.g, &toy_sum, "sum", c, c);
    assert_int_equal(passes(&f, sum), EVAL_OK);
    assert_int_equal(f.copy->n_nodes, 0);
    assert_true(f.copy->outputs[0]->is_constant);
    assert_int_equal(f.copy->outputs[0]->t.life, EVL_LIFE_MODEL);
    assert_int_equal(((int64_t *)f.copy->outputs[0]->t.data)[1], 6);
    end(&f);
}

static void a_second_plan_finds_what_the_first_folded(void **state)
{
    (void)state;
    fixture f = begin();
    const int64_t two[] = { 2, 3 };
    evl_value *c = toy_constant(f.g, "c", two, 2), *sum = toy_node(f.g, &toy_sum, "sum", c, c);
    toy_runs = 0;
    assert_int_equal(passes(&f, sum), EVAL_OK);
    const void *data = f.copy->outputs[0]->t.data;
    assert_int_equal(passes(&f, sum), EVAL_OK);
    assert_ptr_equal(f.copy->outputs[0]->t.data, data);
    assert_int_equal(toy_runs, 1);
    end(&f);
}

static void what_depends_on_an_input_is_left(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", 2), *y = toy_node(f.g, &toy_sum, "y", x, NULL);
    assert_int_equal(passes(&f, y), EVAL_OK);
    assert_int_equal(f.copy->n_nodes, 1);
    assert_true(evl_shape_is_known(&f.copy->outputs[0]->t.shape));
    end(&f);
}

static void what_gives_on_its_input_gives_way_to_it(void **state)
{
    (void)state;
    for (int trains = -1; trains <= 1; trains++) {
        fixture f = begin();
        static uint8_t flag;
        evl_shape scalar = evl_shape_of(0, NULL);
        evl_value *x = toy_input(f.g, "x", 2),
                  *same = toy_node(f.g, &evl_op_identity, "same", x, NULL);
        evl_value *dropped = evl_graph_value(f.g, "dropped"), *y;
        evl_node *dropout = evl_graph_node(f.g, &evl_op_dropout, "", 3, 1);
        dropout->inputs[0] = same;
        flag = trains > 0;
        if (trains >= 0)
            dropout->inputs[2] = evl_graph_constant(f.g, "", EVAL_BOOL, &scalar, &flag);
        evl_node_output(dropout, 0, dropped);
        y = toy_node(f.g, &toy_sum, "y", dropped, NULL);
        assert_int_equal(passes(&f, y), EVAL_OK);
        assert_int_equal(f.copy->n_nodes, trains > 0 ? 2 : 1);
        assert_ptr_equal(f.copy->nodes[0]->inputs[0], f.copy->inputs[0]);
        assert_int_equal(passes(&f, same), EVAL_OK); /* an output, too */
        assert_ptr_equal(f.copy->outputs[0], f.copy->inputs[0]);
        end(&f);
    }
}

/* Nodes left of y = op(x of 2 elements, numbers) + nothing. */
static size_t left_of(const evl_op *op, size_t input, const int64_t *numbers, size_t n)
{
    fixture f = begin();
    const int64_t none[] = { 0 }, all[] = { 2 }, past[] = { -9 };
    evl_node *node = evl_graph_node(f.g, op, "", input + 1, 1);
    evl_value *made = evl_graph_value(f.g, "made");
    node->inputs[0] = toy_input(f.g, "x", 2);
    if (op == &evl_op_slice) {
        node->inputs[1] = toy_constant(f.g, "starts", numbers[0] < 0 ? all : none, 1);
        node->inputs[2] = toy_constant(f.g, "ends", numbers[0] < 0 ? past : all, 1);
    }
    node->inputs[input] = toy_constant(f.g, "numbers", numbers, n);
    evl_node_output(node, 0, made);
    evl_value *y = toy_node(f.g, &toy_sum, "y", made, NULL);
    assert_int_equal(passes(&f, y), EVAL_OK);
    size_t left = f.copy->n_nodes;
    end(&f);
    return left;
}

static void what_changes_nothing_gives_way_and_what_moves_does_not(void **state)
{
    (void)state;
    const int64_t nothing[] = { 0, 0 }, moved[] = { -1, 1 }, more[] = { 1, 0 };
    const int64_t two[] = { 2 }, row[] = { 1, 2 }, forward[] = { 1 }, back[] = { -1 };
    assert_int_equal(left_of(&evl_op_pad, 1, nothing, 2), 1);
    assert_int_equal(left_of(&evl_op_pad, 1, moved, 2), 2);
    assert_int_equal(left_of(&evl_op_pad, 1, more, 2), 2);
    assert_int_equal(left_of(&evl_op_reshape, 1, two, 1), 1);
    assert_int_equal(left_of(&evl_op_reshape, 1, row, 2), 2);
    assert_int_equal(left_of(&evl_op_expand, 1, two, 1), 1);
    assert_int_equal(left_of(&evl_op_slice, 4, forward, 1), 1);
    assert_int_equal(left_of(&evl_op_slice, 4, back, 1), 2);
}

static void a_failure_of_folding_names_its_node(void **state)
{
    (void)state;
    fixture f = begin();
    const int64_t one[] = { 1 };
    evl_value *bad = toy_node(f.g, &toy_fail, "bad", toy_constant(f.g, "c", one, 1), NULL);
    assert_int_equal(passes(&f, bad), EVAL_ERR_SHAPE);
    assert_string_equal(f.ctx->error.text, "node 'bad' (Fail): as it was told to");
    end(&f);
}

/* If(condition) of x + x or of x as it is. */
static evl_value *choice(evl_graph *g, evl_value *condition, evl_value *x)
{
    evl_graph *yes = evl_graph_new(g->arena, g), *no = evl_graph_new(g->arena, g);
    assert_true(evl_graph_add_output(yes, toy_node(yes, &toy_sum, "twice", x, x)));
    assert_true(evl_graph_add_output(no, toy_node(no, &toy_sum, "same", x, NULL)));
    evl_attribute bodies[] = { evl_attribute_graph("then_branch", yes),
                               evl_attribute_graph("else_branch", no) };
    evl_value *y = toy_node(g, &evl_op_if, "y", condition, NULL);
    assert_true(evl_node_attributes(y->producer, bodies, 2));
    return y;
}

static void a_known_condition_leaves_its_branch_alone(void **state)
{
    (void)state;
    fixture f = begin();
    const int64_t one[] = { 1 };
    evl_value *x = toy_input(f.g, "x", 2);
    evl_value *y = choice(f.g, toy_constant(f.g, "c", one, 1), x);
    assert_int_equal(passes(&f, y), EVAL_OK);
    assert_int_equal(f.copy->n_nodes, 1);
    assert_string_equal(f.copy->nodes[0]->name, "twice");
    assert_ptr_equal(f.copy->outputs[0], f.copy->nodes[0]->outputs[0]);
    end(&f);
}

static void an_unknown_condition_keeps_both(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *c = toy_input(f.g, "c", 1), *x = toy_input(f.g, "x", 2);
    assert_int_equal(passes(&f, choice(f.g, c, x)), EVAL_OK);
    assert_int_equal(f.copy->n_nodes, 1);
    assert_ptr_equal(f.copy->nodes[0]->op, &evl_op_if);
    assert_true(evl_shape_is_known(&f.copy->outputs[0]->t.shape));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_constants_make_is_a_constant),
        cmocka_unit_test(a_second_plan_finds_what_the_first_folded),
        cmocka_unit_test(what_depends_on_an_input_is_left),
        cmocka_unit_test(what_gives_on_its_input_gives_way_to_it),
        cmocka_unit_test(what_changes_nothing_gives_way_and_what_moves_does_not),
        cmocka_unit_test(a_failure_of_folding_names_its_node),
        cmocka_unit_test(a_known_condition_leaves_its_branch_alone),
        cmocka_unit_test(an_unknown_condition_keeps_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
