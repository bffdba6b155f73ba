/* Trips by hand: what is carried changes rooms, what is gathered becomes frames. */
#include "exec/fixture.h"
#include "exec/trips.h"
#include <stdio.h>

typedef struct walk {
    fixture f;
    evl_trips t;
} walk;

static evl_value *own(evl_graph *g, EvalType type, const evl_shape *shape)
{
    evl_value *v = toy_input(g, NULL, 1);
    v->t = (evl_tensor){ .type = type, .shape = *shape };
    return v;
}

/* A loop whose body makes a + b of the carried a, and keeps b, which is captured; a + b and b are
** gathered, and the last of the outputs is asked for. */
static void begin(walk *w, EvalType type)
{
    fixture *f = &w->f;
    network_begin(&f->n);
    evl_graph *g = f->n.g, *body = branch(&f->n);
    evl_shape scalar = evl_shape_scalar(), two = evl_shape_of(1, (int64_t[]){ 2 });
    evl_value *most = toy_input(g, "most", 1), *b = own(g, type, &two), *first = own(g, type, &two);
    own(body, EVAL_INT64, &scalar);
    evl_value *condition = own(body, EVAL_BOOL, &scalar), *a = own(body, type, &two);
    giving(body, condition);
    giving(body, toy_node(body, &toy_sum, NULL, a, b));
    giving(body, body->outputs[1]);
    evl_attribute attribute = evl_attribute_graph("body", body);
    evl_node *node = evl_graph_node(g, &evl_op_loop, "loop", 3, 2);
    assert_true(evl_node_attributes(node, &attribute, 1));
    node->inputs[0] = most;
    node->inputs[2] = first;
    for (size_t i = 0; i < 2; i++)
        evl_node_output(node, i, evl_graph_value(g, NULL));
    plan(f, node->outputs[1]);
}

static const int64_t most[] = { 3 }, b[] = { 10, 20 }, first[] = { 1, 2 };
static uint8_t yes = 1;

/* Up to where the first trip begins. */
static void start(walk *w)
{
    begin(w, EVAL_INT64);
    assert_int_equal(run(&w->f, most, b, first), EVAL_OK); /* binds the inputs */
    assert_int_equal(evl_trips_begin(w->f.s, w->f.n.ctx, 0, &w->t), EVAL_OK);
    w->t.in[1].value =
        (evl_tensor){ .type = EVAL_BOOL, .shape = evl_shape_scalar(), .data = &yes };
    w->t.in[2].value = evl_test_ints(first, 1, (int64_t[]){ 2 });
}

static void trip(walk *w)
{
    evl_context *ctx = w->f.n.ctx;
    int64_t number = 0;
    evl_tensor t = { .type = EVAL_INT64, .shape = evl_shape_scalar(), .data = &number };
    assert_int_equal(evl_body_give(w->t.child, ctx, 0, &t), EVAL_OK);
    assert_int_equal(evl_carry_in(&w->t, ctx), EVAL_OK);
    assert_int_equal(evl_body_place(w->t.child, ctx, 2), EVAL_OK);
    assert_int_equal(evl_session_run(w->t.child, ctx), EVAL_OK);
}

static void the_layout_of_a_loop_is_known(void **state)
{
    (void)state;
    walk w;
    start(&w);
    assert_ptr_equal(w.t.child, w.f.s->children[0][0]);
    assert_ptr_equal(w.t.body, &w.f.plan->steps[0].bodies[0]);
    assert_int_equal(w.t.loop.n_carried, 2); /* the condition, a */
    assert_int_equal(w.t.loop.n_gathered, 1);
    assert_ptr_equal(w.t.out, w.t.in + 3);
    assert_int_equal(evl_trips_slot(&w.t, 0), EVL_NO_SLOT); /* nobody is shown the condition */
    assert_int_equal(evl_trips_slot(&w.t, 1), w.t.step->out[0]);
    assert_int_equal(evl_trips_slot(&w.t, 2), w.t.step->out[1]);
    assert_int_equal(evl_trips_slot(&w.t, 3), EVL_NO_SLOT);
    end(&w.f);
}

/* What a trip reads and what it writes are two rooms, and no third is taken. */
static void what_is_carried_changes_rooms(void **state)
{
    (void)state;
    walk w;
    start(&w);
    evl_context *ctx = w.f.n.ctx;
    void *rooms[2];
    size_t requests = 0;
    for (int64_t n = 1; n <= 6; n++) {
        trip(&w);
        assert_int_equal(evl_carry_out(&w.t, ctx), EVAL_OK);
        const evl_tensor *carried = &w.t.in[2].value;
        assert_memory_equal(carried->data, ((int64_t[]){ 1 + 10 * n, 2 + 20 * n }), 16);
        assert_ptr_equal(carried->data, w.t.in[2].data);
        if (n > 2) {
            assert_ptr_equal(carried->data, rooms[n % 2]);
            assert_int_equal(evl_test_requests(ctx->memory), requests);
        }
        rooms[n % 2] = carried->data;
        requests = evl_test_requests(ctx->memory);
        assert_ptr_equal(w.t.in[1].value.data, &yes); /* as it was */
    }
    end(&w.f);
}

static void what_is_carried_in_must_be_what_was_planned(void **state)
{
    (void)state;
    walk w;
    start(&w);
    w.t.in[2].value.shape.dim[0] = 1;
    assert_int_equal(evl_carry_in(&w.t, w.f.n.ctx), EVAL_ERR_SHAPE);
    assert_string_equal(w.f.n.ctx->error.text, "node 'loop' (Loop): input 2 of its body is "
                                               "int64[1], planned int64[2]");
    end(&w.f);
}

static void without_memory_a_trip_fails(void **state)
{
    (void)state;
    walk w;
    begin(&w, EVAL_INT64);
    evl_context *ctx = w.f.n.ctx;
    evl_session_input(w.f.s, 1, b);
    assert_int_equal(evl_trips_begin(w.f.s, ctx, 0, &w.t), EVAL_OK);
    w.t.in[1].value =
        (evl_tensor){ .type = EVAL_BOOL, .shape = evl_shape_scalar(), .data = &yes };
    w.t.in[2].value = evl_test_ints(first, 1, (int64_t[]){ 2 });
    ctx->memory->cap = atomic_load(&ctx->memory->bytes);
    assert_int_equal(evl_carry_in(&w.t, ctx), EVAL_ERR_MEMORY);
    assert_int_equal(ctx->error.status, EVAL_ERR_MEMORY);
    ctx->memory->cap = 0;
    assert_int_equal(evl_carry_in(&w.t, ctx), EVAL_OK);
    end(&w.f);
}

static void frames_are_all_like_the_first(void **state)
{
    (void)state;
    walk w;
    start(&w);
    trip(&w);
    evl_context *ctx = w.f.n.ctx;
    assert_int_equal(w.t.out[2].value.type, EVAL_UNDEFINED); /* there was none yet */
    assert_int_equal(evl_frame_check(&w.t, ctx, 2), EVAL_OK);
    assert_int_equal(w.t.out[2].value.type, EVAL_INT64);
    assert_int_equal(evl_frame_check(&w.t, ctx, 2), EVAL_OK);
    w.t.out[2].value.shape.dim[0] = 3;
    assert_int_equal(evl_frame_check(&w.t, ctx, 2), EVAL_ERR_SHAPE);
    assert_string_equal(ctx->error.text,
                        "its output 1 has shape [2] in this trip, [3] in the first");
    w.t.out[2].value.type = EVAL_UNDEFINED; /* an array of frames has a rank more */
    evl_tensor *result = &w.t.child->values[w.t.child->plan->outputs[2]];
    evl_shape shape = result->shape;
    result->shape.rank = EVAL_MAX_RANK;
    for (size_t i = 0; i < EVAL_MAX_RANK; i++)
        result->shape.dim[i] = 1;
    assert_int_equal(evl_frame_check(&w.t, ctx, 2), EVAL_ERR_SHAPE);
    result->shape = shape;
    end(&w.f);
}

static void frames_go_side_by_side_or_one_after_the_other(void **state)
{
    (void)state;
    walk w;
    start(&w);
    trip(&w); /* gives 11, 22 */
    int64_t all[6] = { 0 };
    evl_frames rows = { (char *)all, 1, 16, 3 }, columns = { (char *)all, 2, 8, 3 };
    assert_int_equal(evl_frame_put(&w.t, w.f.n.ctx, 2, &rows, 1), EVAL_OK);
    assert_memory_equal(all, ((int64_t[]){ 0, 0, 11, 22, 0, 0 }), sizeof all);
    memset(all, 0, sizeof all);
    assert_int_equal(evl_frame_put(&w.t, w.f.n.ctx, 2, &columns, 2), EVAL_OK);
    assert_memory_equal(all, ((int64_t[]){ 0, 0, 11, 0, 0, 22 }), sizeof all);
    evl_frames nothing = { NULL, 2, 0, 3 };
    assert_int_equal(evl_frame_put(&w.t, w.f.n.ctx, 2, &nothing, 2), EVAL_OK);
    end(&w.f);
}

static void without_a_trip_a_frame_is_as_planned(void **state)
{
    (void)state;
    walk w;
    start(&w);
    evl_tensor frame = evl_frame_planned(&w.t, 2);
    assert_int_equal(frame.type, EVAL_INT64);
    assert_int_equal(frame.shape.rank, 1);
    assert_int_equal(frame.shape.dim[0], 2);
    evl_shape *planned = &w.t.child->plan->slots[w.t.child->plan->outputs[2]].t.shape;
    const evl_shape found = *planned;
    planned->dim[0] = EVL_UNKNOWN_DIM;
    assert_int_equal(evl_frame_planned(&w.t, 2).shape.dim[0], 0);
    *planned = evl_shape_unknown();
    assert_int_equal(evl_frame_planned(&w.t, 2).shape.rank, 0);
    *planned = found;
    end(&w.f);
}

/* A text lasts as long as the body's run; the frame's copy as long as the loop's room. */
static void texts_of_frames_are_copied(void **state)
{
    (void)state;
    enum { TRIPS = 40 };
    walk w;
    start(&w);
    evl_context *ctx = w.f.n.ctx;
    evl_tensor *result = &w.t.child->values[w.t.child->plan->outputs[2]], kept = *result;
    EvalString all[2 * TRIPS] = { { NULL, 0 } };
    evl_frames f = { (char *)all, 1, 2 * sizeof *all, 0 };
    for (size_t i = 0; i < TRIPS; i++) {
        char text[16];
        size_t n = (size_t)snprintf(text, sizeof text, "trip %zu", i);
        EvalString two[] = { { text, n }, { NULL, 0 } };
        *result = evl_test_tensor(EVAL_STRING, two, 1, (int64_t[]){ 2 });
        assert_int_equal(evl_frame_check(&w.t, ctx, 2), EVAL_OK);
        f.n_frames = i;
        assert_int_equal(evl_frame_put(&w.t, ctx, 2, &f, i), EVAL_OK);
        memset(text, '?', sizeof text);
    }
    for (size_t i = 0; i < TRIPS; i++) {
        char text[16];
        size_t n = (size_t)snprintf(text, sizeof text, "trip %zu", i);
        assert_int_equal(all[2 * i].size, n);
        assert_memory_equal(all[2 * i].text, text, n);
        assert_int_equal(all[2 * i + 1].size, 0);
    }
    *result = kept;
    end(&w.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_of_a_loop_is_known),
        cmocka_unit_test(what_is_carried_changes_rooms),
        cmocka_unit_test(what_is_carried_in_must_be_what_was_planned),
        cmocka_unit_test(without_memory_a_trip_fails),
        cmocka_unit_test(frames_are_all_like_the_first),
        cmocka_unit_test(frames_go_side_by_side_or_one_after_the_other),
        cmocka_unit_test(without_a_trip_a_frame_is_as_planned),
        cmocka_unit_test(texts_of_frames_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
