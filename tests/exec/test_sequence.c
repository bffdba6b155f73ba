/* What sequences carry on, and the delay of a whole one. */
#include "exec/fixture.h"

enum { LAST = 3 };

static evl_past past_of(int64_t state, size_t n)
{
    return (evl_past){ .state = state, .initial = -5, .type = EVAL_INT64,
                       .bytes = n * sizeof(int64_t) };
}

static void reads(const evl_states *states, const evl_past *past, size_t n, const int64_t *expected)
{
    int64_t found[8] = { 0 };
    assert_true(past->bytes <= sizeof found);
    evl_past_read(states, past, 0, past->bytes, found);
    assert_memory_equal(found, expected, n * sizeof *expected);
}

/* As a call does it that went well. */
static void carry(evl_context *ctx, evl_states *states, const evl_past *past, const int64_t *data,
                  size_t n)
{
    evl_states_begin(states);
    assert_int_equal(evl_past_keep(ctx, states, past, data, n * sizeof *data), EVAL_OK);
    evl_states_swap(states);
}

static void the_initial_value_stands_before_a_sequence(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_states states;
    float found[3] = { 1, 1, 1 };
    (void)state;
    assert_int_equal(evl_states_new(ctx, 2, &states), EVAL_OK);
    evl_past past = past_of(1, 3);
    reads(&states, &past, 3, (int64_t[]){ -5, -5, -5 });
    reads(NULL, &past, 3, (int64_t[]){ -5, -5, -5 });
    past.state = -1;
    reads(&states, &past, 3, (int64_t[]){ -5, -5, -5 });
    past.state = 2; /* there is none */
    reads(&states, &past, 3, (int64_t[]){ -5, -5, -5 });
    evl_past real = { .state = 0, .initial = 0.1, .type = EVAL_FLOAT32, .bytes = sizeof found };
    evl_past_read(&states, &real, 4, 8, found + 1);
    assert_true(found[0] == 1 && found[1] == 0.1F && found[2] == 0.1F);
    evl_states_free(&states);
    evl_test_end(ctx);
}

static void the_last_frames_are_kept(void **state)
{
    static const int64_t data[] = { 1, 2, 3, 4, 5 };
    evl_context *ctx = evl_test_begin();
    evl_states states;
    int64_t part[2];
    (void)state;
    assert_int_equal(evl_states_new(ctx, 1, &states), EVAL_OK);
    evl_past past = past_of(0, LAST);
    carry(ctx, &states, &past, data, 1); /* less than are kept: the initial value before them */
    reads(&states, &past, LAST, (int64_t[]){ -5, -5, 1 });
    carry(ctx, &states, &past, data + 1, 1);
    reads(&states, &past, LAST, (int64_t[]){ -5, 1, 2 });
    carry(ctx, &states, &past, data, 0);
    reads(&states, &past, LAST, (int64_t[]){ -5, 1, 2 });
    carry(ctx, &states, &past, data, 5);
    reads(&states, &past, LAST, (int64_t[]){ 3, 4, 5 });
    evl_past_read(&states, &past, sizeof *data, sizeof part, part);
    assert_true(part[0] == 4 && part[1] == 5);
    size_t blocks = atomic_load(&ctx->memory->blocks);
    carry(ctx, &states, &past, data, LAST);
    reads(&states, &past, LAST, (int64_t[]){ 1, 2, 3 });
    assert_int_equal(atomic_load(&ctx->memory->blocks), blocks); /* two rooms change places */
    past.bytes = 2 * sizeof *data; /* of another size than was carried */
    reads(&states, &past, 2, (int64_t[]){ -5, -5 });
    evl_states_free(&states);
    evl_test_end(ctx);
}

static void what_is_never_carried_takes_no_room(void **state)
{
    static const int64_t data[] = { 1 };
    evl_context *ctx = evl_test_begin();
    evl_states states;
    (void)state;
    assert_int_equal(evl_states_new(ctx, 1, &states), EVAL_OK);
    size_t blocks = atomic_load(&ctx->memory->blocks);
    evl_past none[] = { past_of(-1, 1), past_of(1, 1), past_of(0, 0) };
    for (size_t i = 0; i < 3; i++)
        carry(ctx, &states, &none[i], data, 1);
    evl_past past = past_of(0, 1);
    assert_int_equal(evl_past_keep(ctx, NULL, &past, data, sizeof data), EVAL_OK);
    assert_int_equal(atomic_load(&ctx->memory->blocks), blocks);
    evl_states_free(&states);
    evl_test_end(ctx);
}

static void a_call_that_fails_changes_nothing(void **state)
{
    static const int64_t good[] = { 1 }, bad[] = { 2 };
    evl_context *ctx = evl_test_begin();
    evl_states states;
    (void)state;
    assert_int_equal(evl_states_new(ctx, 2, &states), EVAL_OK);
    evl_past past = past_of(0, 1), other = past_of(1, 1);
    carry(ctx, &states, &past, good, 1);
    evl_states_begin(&states); /* fails after it wrote, so that nothing is swapped */
    assert_int_equal(evl_past_keep(ctx, &states, &past, bad, sizeof bad), EVAL_OK);
    reads(&states, &past, 1, good);
    carry(ctx, &states, &other, good, 1); /* does not reach the first */
    reads(&states, &past, 1, good);
    evl_states_free(&states);
    evl_test_end(ctx);
}

/* Until the swap, what was carried is there for a call that fails. */
static void a_sequence_that_begins_reads_nothing_and_leaves_nothing(void **state)
{
    static const int64_t old[] = { 1 }, fresh[] = { 2 };
    evl_context *ctx = evl_test_begin();
    evl_states states;
    (void)state;
    assert_int_equal(evl_states_new(ctx, 2, &states), EVAL_OK);
    evl_past past[] = { past_of(0, 1), past_of(1, 1) };
    for (size_t i = 0; i < 2; i++)
        carry(ctx, &states, &past[i], old, 1);
    states.is_anew = true;
    reads(&states, &past[0], 1, (int64_t[]){ -5 });
    states.is_anew = false; /* it failed */
    reads(&states, &past[0], 1, old);
    states.is_anew = true;
    carry(ctx, &states, &past[0], fresh, 1);
    assert_false(states.is_anew);
    reads(&states, &past[0], 1, fresh);
    reads(&states, &past[1], 1, (int64_t[]){ -5 }); /* not reached: of the old sequence */
    evl_states_reset(&states);
    reads(&states, &past[0], 1, (int64_t[]){ -5 });
    evl_states_free(&states);
    evl_test_end(ctx);
}

static void each_lack_of_memory_is_told(void **state)
{
    static const int64_t data[] = { 1 };
    (void)state;
    for (size_t failing = 0; failing < 4; failing++) {
        evl_memory memory;
        evl_context ctx;
        evl_states states;
        evl_test_memory(&memory, failing);
        evl_context_init(&ctx, &memory, &evl_default_limits);
        evl_past past = past_of(0, 1);
        EvalStatus st = evl_states_new(&ctx, 1, &states);
        assert_int_equal(st, failing < 2 ? EVAL_ERR_MEMORY : EVAL_OK);
        if (st == EVAL_OK)
            assert_int_equal(evl_past_keep(&ctx, &states, &past, data, sizeof data),
                             failing == 2 ? EVAL_ERR_MEMORY : EVAL_OK);
        evl_states_free(&states);
        assert_null(states.before);
        evl_states_free(&states); /* of nothing */
        evl_context_end(&ctx);
        assert_int_equal(atomic_load(&memory.blocks), 0);
    }
}

/* z[t] = x[t - offset] of two elements each. */
static void plan_delay(fixture *f, int64_t n_frames, int64_t offset, int64_t state)
{
    network_begin(&f->n);
    evl_attribute a[] = { evl_attribute_int("offset", offset), evl_attribute_int("state", state),
                          evl_attribute_number("initial", -5) };
    evl_value *x = toy_input(f->n.g, "x", 1);
    x->t.shape = evl_shape_of(2, (int64_t[]){ n_frames, 2 });
    evl_value *z = toy_node(f->n.g, &evl_op_delay, "z", x, NULL);
    assert_true(evl_node_attributes(z->producer, a, 3));
    f->n.g->n_states = 1;
    plan(f, z);
}

static const int64_t frames[] = { 1, 10, 2, 20, 3, 30 };

static void a_delay_looks_back_into_the_call_before(void **state)
{
    fixture f;
    (void)state;
    plan_delay(&f, 3, 2, 0);
    assert_int_equal(run(&f, frames, NULL, NULL), EVAL_OK);
    expect(&f, 6, (int64_t[]){ -5, -5, -5, -5, 1, 10 });
    assert_int_equal(run(&f, frames, NULL, NULL), EVAL_OK);
    expect(&f, 6, (int64_t[]){ 2, 20, 3, 30, 1, 10 });
    end(&f);
    plan_delay(&f, 3, 2, -1); /* carries nothing */
    for (int again = 0; again < 2; again++) {
        assert_int_equal(run(&f, frames, NULL, NULL), EVAL_OK);
        expect(&f, 6, (int64_t[]){ -5, -5, -5, -5, 1, 10 });
    }
    end(&f);
}

static void a_delay_may_be_longer_than_a_call(void **state)
{
    fixture f;
    (void)state;
    plan_delay(&f, 1, 2, 0);
    static const int64_t expected[] = { -5, -5, -5, -5, 1, 10 };
    for (size_t t = 0; t < 3; t++) {
        assert_int_equal(run(&f, frames + 2 * t, NULL, NULL), EVAL_OK);
        expect(&f, 2, expected + 2 * t);
    }
    end(&f);
}

static void a_look_ahead_ends_with_the_call(void **state)
{
    fixture f;
    (void)state;
    plan_delay(&f, 3, -1, 0);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(run(&f, frames, NULL, NULL), EVAL_OK);
        expect(&f, 6, (int64_t[]){ 2, 20, 3, 30, -5, -5 });
    }
    end(&f);
    plan_delay(&f, 3, -4, 0);
    assert_int_equal(run(&f, frames, NULL, NULL), EVAL_OK);
    expect(&f, 6, (int64_t[]){ -5, -5, -5, -5, -5, -5 });
    end(&f);
}

static void no_frame_is_delayed_to_none(void **state)
{
    fixture f;
    (void)state;
    plan_delay(&f, 0, 1, 0);
    assert_int_equal(run(&f, frames, NULL, NULL), EVAL_OK);
    expect(&f, 0, NULL);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_initial_value_stands_before_a_sequence),
        cmocka_unit_test(the_last_frames_are_kept),
        cmocka_unit_test(what_is_never_carried_takes_no_room),
        cmocka_unit_test(a_call_that_fails_changes_nothing),
        cmocka_unit_test(a_sequence_that_begins_reads_nothing_and_leaves_nothing),
        cmocka_unit_test(each_lack_of_memory_is_told),
        cmocka_unit_test(a_delay_looks_back_into_the_call_before),
        cmocka_unit_test(a_delay_may_be_longer_than_a_call),
        cmocka_unit_test(a_look_ahead_ends_with_the_call),
        cmocka_unit_test(no_frame_is_delayed_to_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
