/* What steps that run bodies have in common: giving, placing and taking values, rooms that grow,
** and an end to every loop. */
#include "exec/body.h"
#include "exec/fixture.h"

static const int64_t yes[] = { 1 }, no[] = { 0 }, pair[] = { 7, 9 };

/* if c: x + x, else as many numbers as k says. */
static void plan_choice(fixture *f)
{
    network_begin(&f->n);
    evl_value *c = toy_input(f->n.g, "c", 1), *x = toy_input(f->n.g, "x", 2),
              *k = toy_input(f->n.g, "k", 1);
    evl_graph *twice = branch(&f->n), *range = branch(&f->n);
    giving(twice, toy_node(twice, &toy_sum, NULL, x, x));
    giving(range, toy_node(range, &toy_range, NULL, k, NULL));
    evl_attribute bodies[] = { evl_attribute_int("axis", 0),
                               evl_attribute_graph("then_branch", twice),
                               evl_attribute_graph("else_branch", range) };
    evl_value *y = toy_node(f->n.g, &evl_op_if, "choice", c, NULL);
    assert_true(evl_node_attributes(y->producer, bodies, 3));
    plan(f, y);
    assert_int_equal(f->plan->n_steps, 1);
}

static evl_tensor ints(const int64_t *data, int64_t n)
{
    return evl_test_ints(data, 1, &n);
}

static void sizes_are_those_of_all_elements(void **state)
{
    (void)state;
    evl_tensor t = ints(pair, 2);
    assert_int_equal(evl_tensor_size(&t), 16);
    t.type = EVAL_BOOL;
    assert_int_equal(evl_tensor_size(&t), 2);
    t.shape.dim[0] = 0;
    assert_int_equal(evl_tensor_size(&t), 0);
    t.shape = evl_shape_scalar();
    assert_int_equal(evl_tensor_size(&t), 1);
}

static void a_body_is_found_by_its_attribute(void **state)
{
    (void)state;
    fixture f;
    plan_choice(&f);
    const evl_step *step = &f.plan->steps[0];
    assert_int_equal(step->n_bodies, 2);
    assert_int_equal(evl_step_body(step, "then_branch"), 0);
    assert_int_equal(evl_step_body(step, "else_branch"), 1);
    end(&f);
}

/* The first body captures x, of which two elements were planned. */
static void what_is_given_must_be_what_was_planned(void **state)
{
    (void)state;
    fixture f;
    plan_choice(&f);
    const evl_step *step = &f.plan->steps[0];
    evl_session *child = f.s->children[0][0];
    evl_context *ctx = f.n.ctx;
    assert_int_equal(step->bodies[0].n_own, 0);
    assert_int_equal(step->bodies[0].n_captured, 2); /* of both branches together: x, k */
    evl_tensor t = ints(pair, 2);
    assert_int_equal(evl_body_give(child, ctx, 0, &t), EVAL_OK);
    assert_ptr_equal(child->values[child->plan->inputs[0]].data, pair);
    t = ints(pair, 1);
    assert_int_equal(evl_body_give(child, ctx, 0, &t), EVAL_ERR_SHAPE);
    assert_string_equal(ctx->error.text, "input 0 of its body is int64[1], planned int64[2]");
    t = evl_test_ints(pair, 2, (int64_t[]){ 1, 2 });
    assert_int_equal(evl_body_give(child, ctx, 0, &t), EVAL_ERR_SHAPE);
    t = evl_test_tensor(EVAL_INT32, pair, 1, (int64_t[]){ 2 });
    assert_int_equal(evl_body_give(child, ctx, 0, &t), EVAL_ERR_SHAPE);
    assert_string_equal(ctx->error.text, "input 0 of its body is int32[2], planned int64[2]");
    assert_ptr_equal(child->values[child->plan->inputs[0]].data, pair);
    end(&f);
}

static int never(void *user)
{
    (void)user;
    return 0;
}

static void not_told(void *user, const EvalStep *step)
{
    (void)user;
    (void)step;
}

static void a_body_sees_what_it_captures_and_who_may_stop_it(void **state)
{
    (void)state;
    fixture f;
    plan_choice(&f);
    evl_session *child = f.s->children[0][0];
    assert_int_equal(run(&f, no, pair, (int64_t[]){ 3 }), EVAL_OK); /* binds the inputs */
    f.s->stop = never;
    f.s->step = not_told;
    f.s->depth = 3;
    f.s->user = &f;
    assert_int_equal(evl_body_begin(f.s, f.n.ctx, &f.plan->steps[0].bodies[0], child), EVAL_OK);
    assert_ptr_equal(child->values[child->plan->inputs[0]].data, pair);
    assert_true(child->stop == never && child->user == &f);
    assert_true(child->step == not_told && child->depth == 4);
    end(&f);
}

static void results_lie_where_their_slot_wants_them(void **state)
{
    (void)state;
    fixture f;
    plan_choice(&f);
    const evl_step *step = &f.plan->steps[0];
    evl_session *child = f.s->children[0][0];
    assert_int_equal(run(&f, yes, pair, yes), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 14, 18 });
    assert_int_equal(evl_body_place(child, f.n.ctx, 0), EVAL_OK); /* memory of its own */
    assert_int_equal(evl_session_run(child, f.n.ctx), EVAL_OK);
    const evl_tensor *result = evl_session_result(child, 0);
    assert_ptr_equal(result->data, child->own[child->plan->outputs[0]]);
    assert_memory_equal(result->data, ((int64_t[]){ 14, 18 }), 16);
    evl_slot_index slot = step->out[0];
    assert_int_equal(f.plan->slots[slot].place, EVL_PLACE_OWN); /* branches differ in size */
    evl_tensor three = ints((int64_t[]){ 1, 2, 3 }, 3);
    assert_int_equal(evl_body_take(f.s, f.n.ctx, slot, &three), EVAL_OK);
    assert_int_equal(f.s->values[slot].shape.dim[0], 3);
    assert_ptr_not_equal(f.s->values[slot].data, three.data); /* a copy */
    assert_memory_equal(f.s->values[slot].data, three.data, 24);
    evl_limits limits = evl_default_limits;
    limits.max_tensor_bytes = 23;
    f.n.ctx->limits = &limits;
    assert_int_equal(evl_body_take(f.s, f.n.ctx, slot, &three), EVAL_ERR_LIMIT);
    end(&f);
}

/* A slot that was planned takes what was planned. */
static void a_planned_slot_takes_its_own_shape(void **state)
{
    (void)state;
    fixture f;
    network_begin(&f.n);
    plan(&f, toy_node(f.n.g, &toy_sum, "y", toy_input(f.n.g, "x", 2), NULL));
    assert_int_equal(run(&f, pair, NULL, NULL), EVAL_OK);
    evl_slot_index slot = f.plan->outputs[0];
    evl_tensor t = ints((int64_t[]){ 5, 6 }, 2);
    assert_int_equal(evl_body_take(f.s, f.n.ctx, slot, &t), EVAL_OK);
    expect(&f, 2, (int64_t[]){ 5, 6 });
    t.data = f.y; /* there already */
    assert_int_equal(evl_body_take(f.s, f.n.ctx, slot, &t), EVAL_OK);
    t.shape.dim[0] = 1;
    assert_int_equal(evl_body_take(f.s, f.n.ctx, slot, &t), EVAL_ERR_INTERNAL);
    expect(&f, 2, (int64_t[]){ 5, 6 });
    end(&f);
}

static int at_once(void *user)
{
    ++*(int *)user;
    return 1;
}

static void trips_are_counted_over_all_loops_of_a_call(void **state)
{
    (void)state;
    fixture f;
    int asked = 0;
    plan_choice(&f);
    evl_limits limits = evl_default_limits;
    limits.max_trips = 2;
    evl_context *ctx = f.n.ctx;
    const evl_node *node = f.plan->steps[0].node;
    ctx->limits = &limits;
    assert_int_equal(evl_body_count_trip(f.s, ctx, node), EVAL_OK);
    assert_int_equal(evl_body_count_trip(f.s, ctx, node), EVAL_OK);
    assert_int_equal(evl_body_count_trip(f.s, ctx, node), EVAL_ERR_LIMIT);
    assert_string_equal(ctx->error.text, "node 'choice' (If): loops made 2 trips in this call; "
                                         "the setting maxTrips allows more");
    ctx->trips = 0;
    f.s->stop = at_once;
    f.s->user = &asked;
    assert_int_equal(evl_body_count_trip(f.s, ctx, node), EVAL_ERR_CANCELLED);
    assert_int_equal(asked, 1);
    end(&f);
}

static void a_room_grows_and_stays(void **state)
{
    (void)state;
    fixture f;
    plan_choice(&f);
    evl_room room = { .data = NULL };
    assert_int_equal(evl_room_reserve(f.s, f.n.ctx, &room, 0), EVAL_OK);
    assert_non_null(room.data); /* no bytes have an address too */
    assert_int_equal(evl_room_reserve(f.s, f.n.ctx, &room, 100), EVAL_OK);
    void *first = room.data;
    assert_true(room.capacity > 100);
    assert_int_equal(evl_room_reserve(f.s, f.n.ctx, &room, 50), EVAL_OK);
    assert_ptr_equal(room.data, first);
    size_t before = room.capacity, n = 0;
    for (size_t bytes = 100; bytes <= 10000; bytes += 100) {
        void *last = room.data;
        assert_int_equal(evl_room_reserve(f.s, f.n.ctx, &room, bytes), EVAL_OK);
        n += room.data != last;
    }
    assert_true(room.capacity > 10000 && before < room.capacity);
    assert_true(n < 20); /* by half at least, not by a hundred bytes */
    before = room.capacity;
    first = room.data;
    f.n.ctx->memory->cap = atomic_load(&f.n.ctx->memory->bytes);
    assert_int_equal(evl_room_reserve(f.s, f.n.ctx, &room, 1 << 20), EVAL_ERR_MEMORY);
    assert_true(room.data == first && room.capacity == before);
    f.n.ctx->memory->cap = 0;
    evl_release(f.plan->memory, room.data);
    end(&f);
}

static void a_slot_grows_and_keeps_what_is_in_it(void **state)
{
    (void)state;
    fixture f;
    plan_choice(&f);
    evl_slot_index slot = f.plan->steps[0].out[0];
    evl_limits limits = evl_default_limits;
    limits.max_tensor_bytes = 4096;
    f.n.ctx->limits = &limits;
    for (size_t used = 0; used + 8 <= 4096; used += 8) {
        assert_int_equal(evl_session_grow(f.s, f.n.ctx, slot, used, used + 8), EVAL_OK);
        assert_true(f.s->own_capacity[slot] >= used + 8);
        ((int64_t *)f.s->own[slot])[used / 8] = (int64_t)used;
    }
    for (size_t i = 0; i < 512; i++)
        assert_int_equal(((const int64_t *)f.s->own[slot])[i], 8 * i);
    void *own = f.s->own[slot];
    assert_int_equal(evl_session_grow(f.s, f.n.ctx, slot, 4096, 4097), EVAL_ERR_LIMIT);
    assert_string_equal(f.n.ctx->error.text,
                        "an output grows beyond what the setting maxTensorBytes allows, 4096");
    limits.max_tensor_bytes = SIZE_MAX;
    f.n.ctx->memory->cap = atomic_load(&f.n.ctx->memory->bytes);
    assert_int_equal(evl_session_grow(f.s, f.n.ctx, slot, 4096, 1 << 20), EVAL_ERR_MEMORY);
    assert_int_equal(evl_session_grow(f.s, f.n.ctx, slot, 4096, SIZE_MAX - 1), EVAL_ERR_MEMORY);
    f.n.ctx->memory->cap = 0;
    assert_ptr_equal(f.s->own[slot], own);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_all_elements),
        cmocka_unit_test(a_body_is_found_by_its_attribute),
        cmocka_unit_test(what_is_given_must_be_what_was_planned),
        cmocka_unit_test(a_body_sees_what_it_captures_and_who_may_stop_it),
        cmocka_unit_test(results_lie_where_their_slot_wants_them),
        cmocka_unit_test(a_planned_slot_takes_its_own_shape),
        cmocka_unit_test(trips_are_counted_over_all_loops_of_a_call),
        cmocka_unit_test(a_room_grows_and_stays),
        cmocka_unit_test(a_slot_grows_and_keeps_what_is_in_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
