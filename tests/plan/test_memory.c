#include "plan/plan.h"
#include "exec/exec.h"
#include "ops/ops.h"
#include "support/run_op.h"
#include "support/toy.h"
#include <stdlib.h>
#include <string.h>

/* A graph of toy operators, planned. */
typedef struct fixture {
    evl_context *ctx;
    evl_machine machine;
    evl_store *store;
    evl_graph *g;
    evl_plan *plan;
} fixture;

static fixture begin(void)
{
    fixture f = { .ctx = evl_test_begin() };
    evl_test_machine(&f.machine, EVL_FLOAT, 0);
    f.store = evl_store_new(f.ctx->memory);
    f.g = evl_graph_new(evl_arena_new(f.ctx->memory), NULL);
    return f;
}

static void plan(fixture *f, evl_value **asked, size_t n_asked)
{
    evl_pass_env env = { .machine = &f->machine, .store = f->store };
    evl_tensor given_t[8];
    for (size_t i = 0; i < f->g->n_inputs; i++)
        given_t[i] = f->g->inputs[i]->t;
    evl_selection s = { f->g->inputs, given_t, f->g->n_inputs, asked, n_asked };
    assert_int_equal(evl_compile(f->ctx, f->g, &env, &s, &f->plan), EVAL_OK);
}

static void end(fixture *f)
{
    evl_session_drop_idle(f->plan);
    evl_plan_free(f->plan);
    evl_store_free(f->store);
    evl_arena_free(f->g->arena);
    evl_test_end(f->ctx);
}

enum { N = 1000, BYTES = N * 8 }; /* a multiple of the alignment */

static void a_chain_works_in_place_in_one_value(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *v = toy_input(f.g, "x", N);
    for (int i = 0; i < 20; i++)
        v = toy_node(f.g, &toy_sum, NULL, v, v);
    plan(&f, &v, 1);
    /* the first result cannot overwrite the caller's input, the last goes to the caller */
    assert_int_equal(f.plan->block_bytes, BYTES);
    end(&f);
}

static void values_that_are_never_alive_at_once_share_memory(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N), *v = x;
    for (int i = 0; i < 20; i++)
        v = toy_node(f.g, &toy_fail, NULL, v, NULL); /* not in place */
    plan(&f, &v, 1);
    assert_int_equal(f.plan->block_bytes, 2 * BYTES);
    end(&f);
}

static void an_operand_that_is_needed_later_is_not_overwritten(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N);
    evl_value *a = toy_node(f.g, &toy_sum, "a", x, x), *b = toy_node(f.g, &toy_sum, "b", a, x);
    evl_value *c = toy_node(f.g, &toy_sum, "c", a, b);
    plan(&f, &c, 1);
    assert_int_equal(f.plan->block_bytes, 2 * BYTES);
    end(&f);
}

static void an_alias_is_no_step(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N);
    evl_value *a = toy_node(f.g, &toy_sum, "a", x, NULL), *v = toy_node(f.g, &toy_view, "v", a, NULL);
    evl_value *y = toy_node(f.g, &toy_sum, "y", v, NULL);
    plan(&f, &y, 1);
    assert_int_equal(f.plan->n_steps, 2);
    end(&f);
}

static void an_alias_that_is_asked_for_takes_its_operand_to_the_caller(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N);
    evl_value *a = toy_node(f.g, &toy_sum, "a", x, NULL), *v = toy_node(f.g, &toy_view, "v", a, NULL);
    plan(&f, &v, 1);
    assert_int_equal(f.plan->n_steps, 1);
    assert_int_equal(f.plan->block_bytes, 0);
    assert_true(evl_session_has_place(f.plan, 0));
    end(&f);
}

static void a_value_asked_twice_has_one_place(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N), *y = toy_node(f.g, &toy_sum, "y", x, NULL);
    evl_value *asked[] = { y, y, x };
    plan(&f, asked, 3);
    assert_true(evl_session_has_place(f.plan, 0));
    assert_false(evl_session_has_place(f.plan, 1));
    assert_false(evl_session_has_place(f.plan, 2));
    end(&f);
}

static void a_size_that_depends_on_data_has_memory_of_its_own(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", 1), *r = toy_node(f.g, &toy_range, "r", x, NULL);
    evl_value *y = toy_node(f.g, &toy_sum, "y", r, NULL);
    plan(&f, &y, 1);
    evl_session *s;
    assert_int_equal(evl_session_take(f.ctx, f.plan, &s), EVAL_OK);
    for (int64_t n = 0; n < 5; n++) {
        evl_session_input(s, 0, &n);
        assert_int_equal(evl_session_run(s, f.ctx), EVAL_OK);
        const evl_tensor *result = evl_session_result(s, 0);
        assert_int_equal(result->shape.dim[0], n);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(((int64_t *)result->data)[i], i);
    }
    evl_session_give(f.plan, s);
    end(&f);
}

static evl_value *concat(evl_graph *g, evl_value *a, evl_value *b)
{
    evl_value *v = toy_node(g, &evl_op_concat, NULL, a, b);
    evl_attribute *axis = evl_arena_take(g->arena, sizeof *axis);
    assert_non_null(axis);
    *axis = evl_attribute_int("axis", 0);
    v->producer->attributes = axis;
    v->producer->n_attributes = 1;
    return v;
}

/* Runs the plan on `size` numbers x = 1, 2, 3 ... and looks at the first output. */
static void expect_of(fixture *f, size_t size, const int64_t *times, size_t n)
{
    int64_t x[N];
    for (int64_t i = 0; i < N; i++)
        x[i] = i + 1;
    evl_session *s;
    assert_int_equal(evl_session_take(f->ctx, f->plan, &s), EVAL_OK);
    int64_t *y = calloc(n * size, sizeof *y);
    assert_non_null(y);
    evl_session_input(s, 0, x);
    evl_session_output(s, 0, y);
    assert_int_equal(evl_session_run(s, f->ctx), EVAL_OK);
    for (size_t i = 0; i < n * size; i++)
        assert_int_equal(y[i], times[i / size] * x[i % size]);
    free(y);
    evl_session_give(f->plan, s);
}

static void expect(fixture *f, const int64_t *times, size_t n)
{
    expect_of(f, N, times, n);
}

static void parts_are_made_where_they_are_joined(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N);
    evl_value *a = toy_node(f.g, &toy_sum, "a", x, x), *b = toy_node(f.g, &toy_sum, "b", x, a);
    evl_value *b2 = toy_node(f.g, &toy_sum, "b2", b, b), *all = concat(f.g, a, b2);
    evl_value *y = toy_node(f.g, &toy_sum, "y", all, all);
    plan(&f, &y, 1);
    assert_int_equal(f.plan->block_bytes, 2 * BYTES); /* b2 is made over b, where Concat has it */
    expect(&f, (const int64_t[]){ 4, 12 }, 2);
    end(&f);
}

static void a_part_that_is_used_again_is_not_overwritten(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N);
    evl_value *a = toy_node(f.g, &toy_sum, "a", x, x), *b = toy_node(f.g, &toy_sum, "b", a, x);
    evl_value *all = concat(f.g, a, b), *twice = toy_node(f.g, &toy_sum, "twice", all, all);
    evl_value *more = concat(f.g, a, twice), *y = toy_node(f.g, &toy_sum, "y", more, more);
    plan(&f, &y, 1);
    expect(&f, (const int64_t[]){ 4, 8, 12 }, 3);
    end(&f);
}

static void a_joined_value_may_be_a_part_itself(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N);
    evl_value *a = toy_node(f.g, &toy_sum, "a", x, x), *b = toy_node(f.g, &toy_sum, "b", a, x);
    evl_value *c = toy_node(f.g, &toy_sum, "c", b, x), *inner = concat(f.g, b, c);
    evl_value *all = concat(f.g, a, inner), *y = toy_node(f.g, &toy_sum, "y", all, all);
    plan(&f, &y, 1);
    assert_int_equal(f.plan->block_bytes, 3 * BYTES);
    expect(&f, (const int64_t[]){ 4, 6, 8 }, 3);
    end(&f);
}

static void a_value_joined_to_itself_is_there_twice(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N), *a = toy_node(f.g, &toy_sum, "a", x, x);
    evl_value *all = concat(f.g, a, a), *y = toy_node(f.g, &toy_sum, "y", all, all);
    plan(&f, &y, 1);
    expect(&f, (const int64_t[]){ 4, 4 }, 2);
    end(&f);
}

/* Parts and wholes that take one line of the cache each. */
static void small_parts_of_two_wholes_are_told_from_them(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", 2), *a = toy_node(f.g, &toy_sum, "a", x, x);
    evl_value *b = toy_node(f.g, &toy_sum, "b", a, x), *c = toy_node(f.g, &toy_sum, "c", b, x);
    evl_value *first = concat(f.g, a, b), *second = concat(f.g, a, c);
    evl_value *both = toy_node(f.g, &toy_sum, "both", first, second);
    evl_value *y = toy_node(f.g, &toy_sum, "y", both, first);
    plan(&f, &y, 1);
    expect_of(&f, 2, (const int64_t[]){ 6, 10 }, 2);
    end(&f);
}

static void a_plan_prints_its_steps(void **state)
{
    (void)state;
    fixture f = begin();
    evl_value *x = toy_input(f.g, "x", N), *y = toy_node(f.g, &toy_sum, "y", x, NULL);
    plan(&f, &y, 1);
    const char *text = evl_plan_text(f.plan, f.g->arena);
    assert_string_equal(text, "Sum 'y' -> [1000] at 0\n");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_works_in_place_in_one_value),
        cmocka_unit_test(values_that_are_never_alive_at_once_share_memory),
        cmocka_unit_test(an_operand_that_is_needed_later_is_not_overwritten),
        cmocka_unit_test(an_alias_is_no_step),
        cmocka_unit_test(an_alias_that_is_asked_for_takes_its_operand_to_the_caller),
        cmocka_unit_test(a_value_asked_twice_has_one_place),
        cmocka_unit_test(a_size_that_depends_on_data_has_memory_of_its_own),
        cmocka_unit_test(parts_are_made_where_they_are_joined),
        cmocka_unit_test(a_part_that_is_used_again_is_not_overwritten),
        cmocka_unit_test(a_joined_value_may_be_a_part_itself),
        cmocka_unit_test(a_value_joined_to_itself_is_there_twice),
        cmocka_unit_test(small_parts_of_two_wholes_are_told_from_them),
        cmocka_unit_test(a_plan_prints_its_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
