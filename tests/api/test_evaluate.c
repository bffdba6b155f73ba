/* Flat vectors: how many samples they hold, which are run at once and which one by one, and
** what is carried from call to call. */
#include "api/core.h"
#include "support/toy.h"

enum { MOST = 12 };

static core c;
static double x[MOST], y[MOST];

static int setup(void **state)
{
    (void)state;
    core_begin(&c, EVL_DOUBLE);
    for (size_t i = 0; i < MOST; i++) {
        x[i] = (double)i + 1;
        y[i] = -1;
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_end(&c);
    return 0;
}

static evl_value *given(const char *name, size_t rank, const int64_t *dims)
{
    return core_input(&c, name, EVAL_FLOAT64, rank, dims);
}

static evl_flat vector(const char *name, const double *data, size_t count)
{
    return (evl_flat){ .name = name, .in = data, .count = count };
}

static evl_flat room(const char *name, size_t capacity)
{
    return (evl_flat){ .name = name, .out = y, .capacity = capacity };
}

static EvalStatus evaluate(const evl_flat *in, size_t n_in, evl_flat *out)
{
    return evl_evaluator_evaluate(c.ctx, &c.e, in, n_in, out, 1);
}

static void expect(const evl_flat *out, size_t n, const double *expected)
{
    const double *data = out->out;
    assert_int_equal(out->count, n);
    for (size_t i = 0; i < n; i++)
        assert_true(data[i] == expected[i]);
}

static void the_open_axis_counts_samples(void **state)
{
    (void)state;
    evl_value *in = given("x", 2, (int64_t[]){ -1, 3 });
    core_output(&c, &evl_op_add, "y", in, in);
    for (size_t n = 0; n <= 6; n += 3) {
        evl_flat v = vector("x", x, n), out = room("y", MOST);
        assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
        expect(&out, n, (double[]){ 2, 4, 6, 8, 10, 12 });
    }
    evl_flat v = vector("x", x, 4), out = room("y", MOST);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_ERR_SHAPE);
    assert_string_equal(c.ctx->error.text,
                        "'x': 4 values are no multiple of the node's size, 3");
    assert_int_equal(c.m->plans.newest->key.given_t[0].shape.dim[0], 2); /* at once */
}

/* [3] knows nothing of samples: three of them are three runs. */
static void without_an_open_axis_samples_run_one_by_one(void **state)
{
    (void)state;
    evl_value *in = given("x", 1, (int64_t[]){ 3 });
    core_output(&c, &evl_op_reduce_sum, "y", in, NULL);
    evl_flat v = vector("x", x, 9), out = room("y", 3);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
    expect(&out, 3, (double[]){ 6, 15, 24 });
    out = room("y", 2);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_ERR_LIMIT);
    assert_int_equal(out.count, 3);
    v.count = 0;
    assert_int_equal(evaluate(&v, 1, &out), EVAL_ERR_SHAPE);
    v.count = 8;
    assert_int_equal(evaluate(&v, 1, &out), EVAL_ERR_SHAPE);
}

static void inputs_agree_on_the_number_of_samples(void **state)
{
    (void)state;
    evl_value *a = given("a", 1, (int64_t[]){ 2 }), *b = given("b", 1, (int64_t[]){ 1 });
    evl_value *open = given("open", 2, (int64_t[]){ -1, 2 });
    core_output(&c, &evl_op_add, "sum", a, b);
    core_output(&c, &evl_op_add, "y", open, a);
    evl_flat in[] = { vector("a", x, 4), vector("b", x, 2) }, out = room("sum", MOST);
    assert_int_equal(evaluate(in, 2, &out), EVAL_OK);
    expect(&out, 4, (double[]){ 2, 3, 5, 6 });
    in[1].count = 3;
    assert_int_equal(evaluate(in, 2, &out), EVAL_ERR_SHAPE);
    assert_string_equal(c.ctx->error.text, "'b': 3 samples, and another input 2");
    in[1] = vector("open", x, 8); /* four rows: two for each run of a */
    out = room("y", MOST);
    assert_int_equal(evaluate(in, 2, &out), EVAL_OK);
    expect(&out, 8, (double[]){ 2, 4, 4, 6, 8, 10, 10, 12 });
    in[1].count = 6;
    assert_int_equal(evaluate(in, 2, &out), EVAL_ERR_SHAPE);
    assert_string_equal(c.ctx->error.text, "'open': 3 samples do not divide over 2 runs");
}

static void frames_agree_between_inputs(void **state)
{
    (void)state;
    evl_value *a = given("a", 2, (int64_t[]){ -1, 1 }), *b = given("b", 2, (int64_t[]){ -1, 1 });
    a->has_frames = b->has_frames = true;
    core_output(&c, &evl_op_add, "y", a, b);
    evl_flat in[] = { vector("a", x, 4), vector("b", x, 3) }, out = room("y", MOST);
    assert_int_equal(evaluate(in, 2, &out), EVAL_ERR_SHAPE);
    assert_string_equal(c.ctx->error.text, "'b': 3 samples, and 'a' 4");
    in[1] = in[0];
    assert_int_equal(evaluate(in, 2, &out), EVAL_ERR_ARGUMENT);
    assert_string_equal(c.ctx->error.text, "'a' is given twice");
}

static void what_flat_vectors_cannot_say_is_sent_to_run(void **state)
{
    (void)state;
    evl_value *two = given("two", 2, (int64_t[]){ -1, -1 });
    evl_value *words = core_input(&c, "words", EVAL_STRING, 1, (int64_t[]){ 1 });
    core_output(&c, &evl_op_identity, "text", words, NULL);
    core_output(&c, &evl_op_abs, "y", two, NULL);
    evl_flat in = vector("two", x, 4), out = room("y", MOST);
    assert_int_equal(evaluate(&in, 1, &out), EVAL_ERR_SHAPE);
    assert_non_null(strstr(c.ctx->error.text, "[?,?] has several unknown sizes: use Run"));
    in = vector("words", x, 1);
    out = room("text", MOST);
    assert_int_equal(evaluate(&in, 1, &out), EVAL_ERR_TYPE);
    in = vector("two", NULL, 1);
    assert_int_equal(evaluate(&in, 1, &out), EVAL_ERR_ARGUMENT);
    assert_string_equal(c.ctx->error.text, "'two': its data is NULL");
}

/* Integers come and go as numbers. */
static void a_size_that_depends_on_data_needs_runs_of_its_own(void **state)
{
    (void)state;
    evl_value *in = core_input(&c, "n", EVAL_INT64, 1, (int64_t[]){ 1 });
    toy_node(c.g, &toy_range, "y", in, NULL);
    evl_flat v = vector("n", x + 2, 1), out = room("y", MOST);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
    expect(&out, 3, (double[]){ 0, 1, 2 });
    out = room("y", 2);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_ERR_LIMIT);
    assert_int_equal(out.count, 3);
    v.count = 2;
    assert_int_equal(evaluate(&v, 1, &out), EVAL_ERR_SHAPE);
    assert_non_null(strstr(c.ctx->error.text, "give one sample at a time"));
}

static void what_is_made_lasts_until_the_next_call(void **state)
{
    (void)state;
    evl_value *in = given("x", 1, (int64_t[]){ 2 });
    core_output(&c, &evl_op_add, "y", in, in);
    for (size_t n = 2; n <= 4; n += 2) { /* at once, one by one */
        evl_flat v = vector("x", x, n), out = { .name = "y" };
        assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
        expect(&out, n, (double[]){ 2, 4, 6, 8 });
        size_t held = atomic_load(&c.ctx->memory->blocks);
        out = (evl_flat){ .name = "y" };
        assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
        assert_int_equal(atomic_load(&c.ctx->memory->blocks), held);
    }
}

/* A delay by one sample. */
static evl_value *delayed(evl_value *of)
{
    evl_attribute a[] = { evl_attribute_int("offset", 1), evl_attribute_int("state", 0),
                          evl_attribute_number("initial", 7) };
    of->has_frames = true;
    evl_value *z = evl_build(&c.b, &evl_op_delay, "z", &of, 1, a, 3);
    assert_non_null(z);
    c.g->n_states = 1;
    assert_int_equal(evl_states_new(c.ctx, 1, &c.e.states), EVAL_OK);
    return z;
}

static void the_state_is_kept_when_a_call_succeeds(void **state)
{
    (void)state;
    delayed(given("x", 2, (int64_t[]){ -1, 1 }));
    evl_flat v = vector("x", x, 3), out = room("z", 3);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
    expect(&out, 3, (double[]){ 7, 1, 2 });
    out = room("z", 2);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_ERR_LIMIT);
    out = room("z", 3);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
    expect(&out, 3, (double[]){ 3, 1, 2 });
    assert_int_equal(evl_evaluator_reset(c.ctx, &c.e), EVAL_OK);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
    expect(&out, 3, (double[]){ 7, 1, 2 });
}

/* The delay has run and has written what it would keep; what comes after it fails. The next
** call does not reach the delay. */
static void a_run_that_fails_in_its_middle_keeps_nothing(void **state)
{
    (void)state;
    evl_value *in = given("x", 2, (int64_t[]){ -1, 1 });
    toy_node(c.g, &toy_fail, "bad", delayed(in), NULL);
    core_output(&c, &evl_op_abs, "same", in, NULL);
    evl_flat v = vector("x", x, 3), out = room("z", 3), bad = room("bad", 3);
    evl_flat same = room("same", 3);
    assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
    v.in = x + 5;
    assert_int_equal(evaluate(&v, 1, &bad), EVAL_ERR_SHAPE);
    assert_int_equal(evaluate(&v, 1, &same), EVAL_OK);
    v.in = x;
    assert_int_equal(evaluate(&v, 1, &out), EVAL_OK);
    expect(&out, 3, (double[]){ 3, 1, 2 });
}

static void without_a_network_there_is_nothing_to_do(void **state)
{
    (void)state;
    evl_flat out = room("y", MOST);
    c.e.model = NULL;
    assert_int_equal(evaluate(NULL, 0, &out), EVAL_ERR_STATE);
    assert_int_equal(evl_evaluator_reset(c.ctx, &c.e), EVAL_ERR_STATE);
    c.e.model = c.m;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_open_axis_counts_samples, setup, teardown),
        cmocka_unit_test_setup_teardown(without_an_open_axis_samples_run_one_by_one, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(inputs_agree_on_the_number_of_samples, setup, teardown),
        cmocka_unit_test_setup_teardown(frames_agree_between_inputs, setup, teardown),
        cmocka_unit_test_setup_teardown(what_flat_vectors_cannot_say_is_sent_to_run, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_size_that_depends_on_data_needs_runs_of_its_own, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_made_lasts_until_the_next_call, setup, teardown),
        cmocka_unit_test_setup_teardown(the_state_is_kept_when_a_call_succeeds, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_that_fails_in_its_middle_keeps_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_a_network_there_is_nothing_to_do, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
