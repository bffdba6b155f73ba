/* Where values in values end: after what reads them, or texts that were taken out of them. */
#include "exec/exec.h"
#include "ops/build.h"
#include "support/run_op.h"

typedef struct fixture {
    evl_context *ctx;
    evl_machine machine;
    evl_store *store;
    evl_builder b;
    evl_value *x;
    evl_plan *plan;
} fixture;

static void begin(fixture *f, EvalType type)
{
    *f = (fixture){ .ctx = evl_test_begin() };
    evl_test_machine(&f->machine, EVL_FLOAT, 0);
    f->store = evl_store_new(f->ctx->memory);
    f->b = (evl_builder){ f->ctx, evl_graph_new(evl_arena_new(f->ctx->memory), NULL), EVAL_OK };
    f->x = evl_graph_value(f->b.graph, "x");
    f->x->t.type = type;
    f->x->t.shape = evl_shape_of(1, (int64_t[]){ 2 });
    assert_true(evl_graph_add_input(f->b.graph, f->x));
}

static evl_value *add(fixture *f, const char *op, evl_value *x)
{
    evl_value *y = evl_build(&f->b, evl_op_find("", op), NULL, &x, 1, NULL, 0);
    assert_non_null(y);
    return y;
}

/* x in an optional, out again, and flattened; its sizes alone may be asked for. */
static void plan(fixture *f, EvalType type, bool asks_sizes)
{
    begin(f, type);
    evl_value *asked = add(f, "Flatten", add(f, "OptionalGetElement", add(f, "Optional", f->x)));
    if (asks_sizes)
        asked = add(f, "NonZero", add(f, "Shape", asked));
    evl_pass_env env = { .machine = &f->machine, .store = f->store };
    evl_selection all = { &f->x, &f->x->t, 1, &asked, 1 };
    assert_int_equal(evl_compile(f->ctx, f->b.graph, &env, &all, &f->plan), EVAL_OK);
    assert_int_equal(f->plan->n_steps, asks_sizes ? 5 : 3);
}

static void end(fixture *f)
{
    evl_plan_free(f->plan);
    evl_store_free(f->store);
    evl_arena_free(f->b.graph->arena);
    evl_test_end(f->ctx);
}

/* The step that the optional, which the first one makes, ends with; SIZE_MAX: none. */
static size_t end_of_optional(const fixture *f)
{
    const evl_step *steps = f->plan->steps;
    for (size_t i = 0; i < f->plan->n_steps; i++)
        if (steps[i].ended != EVL_NO_SLOT) {
            assert_int_equal(steps[i].ended, steps[0].out[0]);
            assert_int_equal(f->plan->slots[steps[i].ended].next_ended, EVL_NO_SLOT);
            return i;
        }
    return SIZE_MAX;
}

static void a_value_ends_with_the_step_that_reads_it_last(void **state)
{
    (void)state;
    fixture f;
    plan(&f, EVAL_FLOAT32, false);
    assert_int_equal(end_of_optional(&f), 1);
    end(&f);
}

static void texts_keep_what_they_were_taken_from(void **state)
{
    (void)state;
    fixture f;
    plan(&f, EVAL_STRING, false); /* they are asked for */
    assert_int_equal(end_of_optional(&f), SIZE_MAX);
    end(&f);
    plan(&f, EVAL_STRING, true); /* up to Shape, which reads them last */
    assert_int_equal(end_of_optional(&f), 3);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_ends_with_the_step_that_reads_it_last),
        cmocka_unit_test(texts_keep_what_they_were_taken_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
