/* What recurrences carry: listed, read and set from outside. */
#include "api/core.h"

enum { MOST = 8 };

static core c;
static double x[MOST], y[MOST];
static evl_state_info infos[3];

/* z is x two samples ago, of two elements each; `dropped` was left out of the network. */
static int setup(void **state)
{
    (void)state;
    core_begin(&c, EVL_DOUBLE);
    evl_attribute a[] = { evl_attribute_int("offset", 2), evl_attribute_int("state", 1),
                          evl_attribute_number("initial", 7) };
    evl_value *in = core_input(&c, "x", EVAL_FLOAT64, 2, (int64_t[]){ -1, 2 });
    in->has_frames = true;
    evl_value *z = evl_build(&c.b, &evl_op_delay, "z", &in, 1, a, 3);
    assert_true(z && evl_graph_add_output(c.g, z));
    z->t.shape = in->t.shape;
    z->has_frames = true;
    memset(infos, 0, sizeof infos);
    infos[1] = (evl_state_info){ .value = z, .n_frames = 2 };
    c.g->states = infos;
    c.g->n_states = 3;
    assert_int_equal(evl_states_new(c.ctx, 3, &c.e.states), EVAL_OK);
    for (size_t i = 0; i < MOST; i++)
        x[i] = (double)i + 1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    c.g->states = NULL;
    core_end(&c);
    return 0;
}

static void evaluate(size_t n, const double *expected)
{
    evl_flat in = { .name = "x", .in = x, .count = n };
    evl_flat out = { .name = "z", .out = y, .capacity = MOST };
    if (evl_evaluator_evaluate(c.ctx, &c.e, &in, 1, &out, 1) != EVAL_OK)
        fail_msg("%s", c.ctx->error.text);
    assert_memory_equal(y, expected, n * sizeof *y);
}

static void what_there_is_is_listed(void **state)
{
    EvalDimension d[2] = { { NULL, 0 } };
    size_t n = 2;
    (void)state;
    assert_int_equal(evl_carried_list(c.ctx, &c.e, d, &n), EVAL_OK);
    assert_int_equal(n, 1); /* not those that were left out */
    assert_string_equal(d[0].name, "z");
    assert_int_equal(d[0].size, 4);
    assert_null(d[1].name);
    n = 0;
    assert_int_equal(evl_carried_list(c.ctx, &c.e, NULL, &n), EVAL_OK);
    assert_int_equal(n, 1);
    n = 0;
    d[0].size = 9;
    assert_int_equal(evl_carried_list(c.ctx, &c.e, d, &n), EVAL_ERR_LIMIT);
    assert_string_equal(c.ctx->error.text, "room for 0 states, and there are 1");
    assert_int_equal(n, 1);
    assert_int_equal(d[0].size, 9);
    assert_int_equal(evl_carried_list(c.ctx, &c.e, d, NULL), EVAL_ERR_ARGUMENT);
    c.g->states = NULL; /* nobody told what they are */
    assert_int_equal(evl_carried_list(c.ctx, &c.e, d, &n), EVAL_OK);
    assert_int_equal(n, 0);
}

static void what_a_call_left_is_read(void **state)
{
    double kept[4] = { -1, -1, -1, -1 };
    size_t n = 4;
    (void)state;
    assert_int_equal(evl_carried_get(c.ctx, &c.e, "z", kept, &n), EVAL_OK);
    assert_int_equal(n, 0); /* a sequence begins */
    assert_true(kept[0] == -1);
    evaluate(6, (double[]){ 7, 7, 7, 7, 1, 2 });
    n = 0;
    assert_int_equal(evl_carried_get(c.ctx, &c.e, "z", NULL, &n), EVAL_OK);
    assert_int_equal(n, 4);
    n = 3;
    assert_int_equal(evl_carried_get(c.ctx, &c.e, "z", kept, &n), EVAL_ERR_LIMIT);
    assert_string_equal(c.ctx->error.text, "'z' keeps 4 elements, and there is room for 3");
    assert_true(n == 4 && kept[0] == -1);
    assert_int_equal(evl_carried_get(c.ctx, &c.e, "z", kept, &n), EVAL_OK);
    assert_memory_equal(kept, ((double[]){ 3, 4, 5, 6 }), sizeof kept);
    evaluate(2, (double[]){ 3, 4 }); /* reading took nothing away */
}

static void what_is_set_is_what_the_next_call_begins_with(void **state)
{
    static const double past[] = { 10, 20, 30, 40 };
    (void)state;
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", past, 4), EVAL_OK);
    assert_true(c.e.forward.has_sequence);
    evaluate(6, (double[]){ 10, 20, 30, 40, 1, 2 });
    size_t blocks = atomic_load(&c.ctx->memory->blocks);
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", past, 4), EVAL_OK);
    assert_int_equal(atomic_load(&c.ctx->memory->blocks), blocks); /* where the last one lay */
    evaluate(2, (double[]){ 10, 20 });
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", NULL, 0), EVAL_OK); /* begins anew */
    evaluate(4, (double[]){ 7, 7, 7, 7 });
}

static void what_does_not_fit_changes_nothing(void **state)
{
    static const double past[] = { 10, 20, 30, 40, 50 };
    size_t n = 4;
    (void)state;
    evaluate(4, (double[]){ 7, 7, 7, 7 });
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", past, 5), EVAL_ERR_SHAPE);
    assert_string_equal(c.ctx->error.text, "'z' keeps 4 elements, and 5 are given");
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", past, 3), EVAL_ERR_SHAPE);
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", NULL, 4), EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "x", past, 4), EVAL_ERR_NOT_FOUND);
    assert_string_equal(c.ctx->error.text, "'x' carries nothing from call to call");
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "zz", past, 4), EVAL_ERR_NOT_FOUND);
    assert_non_null(strstr(c.ctx->error.text, "zz"));
    assert_int_equal(evl_carried_get(c.ctx, &c.e, "x", y, &n), EVAL_ERR_NOT_FOUND);
    assert_int_equal(evl_carried_get(c.ctx, &c.e, NULL, y, &n), EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_carried_get(c.ctx, &c.e, "z", y, NULL), EVAL_ERR_ARGUMENT);
    evaluate(4, (double[]){ 1, 2, 3, 4 });
}

static void without_memory_the_state_stays(void **state)
{
    static const double past[] = { 10, 20, 30, 40 };
    (void)state;
    evl_state *before = c.e.states.before;
    c.e.states.before = (evl_state[3]){ { NULL, 0, 0 } };
    evl_memory none, *own = c.e.states.memory;
    evl_memory_init(&none, NULL, 1); /* may hold one byte */
    c.e.states.memory = &none;
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", past, 4), EVAL_ERR_MEMORY);
    assert_null(c.e.states.before[1].data);
    assert_int_equal(c.e.states.before[1].bytes, 0);
    c.e.states.memory = own;
    c.e.states.before = before;
    evaluate(4, (double[]){ 7, 7, 7, 7 });
}

static void without_a_network_nothing_is_carried(void **state)
{
    size_t n = 4;
    (void)state;
    c.e.model = NULL;
    assert_int_equal(evl_carried_list(c.ctx, &c.e, NULL, &n), EVAL_ERR_STATE);
    assert_int_equal(evl_carried_get(c.ctx, &c.e, "z", y, &n), EVAL_ERR_STATE);
    assert_int_equal(evl_carried_set(c.ctx, &c.e, "z", y, 4), EVAL_ERR_STATE);
    c.e.model = c.m;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_there_is_is_listed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_call_left_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_set_is_what_the_next_call_begins_with, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_the_state_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(without_a_network_nothing_is_carried, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
