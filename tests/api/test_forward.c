/* Forward passes: what is given is checked, columns are written out, sequences go on, and a pass
** that fails leaves them where they were. */
#include "api/core.h"

enum { MOST = 16 };

static core c;
static double x[MOST], y[MOST];

/* y is x and the sample before it, of two elements each; there was 7 before the first. */
static int setup(void **state)
{
    (void)state;
    core_begin(&c, EVL_DOUBLE);
    evl_attribute a[] = { evl_attribute_int("offset", 1), evl_attribute_int("state", 0),
                          evl_attribute_number("initial", 7) };
    evl_value *in = core_input(&c, "x", EVAL_FLOAT64, 2, (int64_t[]){ -1, 2 });
    in->has_frames = true;
    evl_value *before = evl_build(&c.b, &evl_op_delay, "before", &in, 1, a, 3);
    core_output(&c, &evl_op_add, "y", in, before);
    c.g->n_states = 1;
    assert_int_equal(evl_states_new(c.ctx, 1, &c.e.states), EVAL_OK);
    for (size_t i = 0; i < MOST; i++)
        x[i] = (double)i + 1;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    evl_forward_end(&c.e);
    core_end(&c);
    return 0;
}

static void start(void)
{
    if (evl_forward_start(c.ctx, &c.e, NULL, 0) != EVAL_OK)
        fail_msg("%s", c.ctx->error.text);
}

static evl_buffer from(double *data, size_t count)
{
    return (evl_buffer){ .data = data, .count = count };
}

static evl_buffer room(size_t capacity)
{
    memset(y, 0, sizeof y);
    return (evl_buffer){ .data = y, .capacity = capacity };
}

static void expect(const evl_buffer *out, size_t n, const double *expected)
{
    assert_int_equal(out->count, n);
    for (size_t i = 0; i < n; i++)
        assert_true(((const double *)out->data)[i] == expected[i]);
}

static void passes(double *data, size_t n, bool reset, const double *expected)
{
    evl_buffer in = from(data, n), out = room(MOST);
    if (evl_forward_pass(c.ctx, &c.e, &in, 1, &out, 1, reset) != EVAL_OK)
        fail_msg("%s", c.ctx->error.text);
    expect(&out, n, expected);
}

static void fails(evl_buffer in, evl_buffer out, bool reset, EvalStatus status, const char *text)
{
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, &in, 1, &out, 1, reset), status);
    if (!strstr(c.ctx->error.text, text))
        fail_msg("'%s' is not in: %s", text, c.ctx->error.text);
}

static void a_sequence_goes_on_or_begins(void **state)
{
    (void)state;
    evl_buffer in = from(x, 2), out = room(MOST);
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, &in, 1, &out, 1, true), EVAL_ERR_STATE);
    start();
    fails(in, out, false, EVAL_ERR_STATE, "no matching previous sequence");
    passes(x, 4, true, (double[]){ 8, 9, 4, 6 });
    passes(x + 4, 2, false, (double[]){ 8, 10 });
    passes(x, 2, true, (double[]){ 8, 9 });
}

static void a_pass_that_fails_moves_no_sequence(void **state)
{
    (void)state;
    start();
    passes(x, 4, true, (double[]){ 8, 9, 4, 6 });
    for (int reset = 0; reset < 2; reset++) {
        fails(from(x, 3), room(MOST), reset, EVAL_ERR_SHAPE, "multiple of 2, but it is 3");
        fails(from(x, 0), room(MOST), reset, EVAL_ERR_SHAPE, "at least one element");
        fails(from(NULL, 2), room(MOST), reset, EVAL_ERR_ARGUMENT, "Buffer is not allocated");
        fails(from(x + 8, 4), room(3), reset, EVAL_ERR_LIMIT, "Not enough space");
    }
    assert_false(c.e.states.is_anew); /* for Evaluate */
    passes(x + 4, 2, false, (double[]){ 8, 10 });
}

static void counts_are_checked(void **state)
{
    (void)state;
    start();
    evl_buffer in[2] = { from(x, 2), from(x, 2) }, out[2] = { room(MOST), room(MOST) };
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, in, 2, out, 1, true), EVAL_ERR_ARGUMENT);
    assert_string_equal(c.ctx->error.text, "Expected 1 inputs, but got 2.");
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, in, 1, out, 2, true), EVAL_ERR_ARGUMENT);
    assert_string_equal(c.ctx->error.text, "Expected 1 outputs, but got 2.");
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, NULL, 1, out, 1, true), EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, in, 1, NULL, 1, true), EVAL_ERR_ARGUMENT);
}

/* Outputs without a buffer of the caller's last until the next pass. */
static void an_output_can_be_made(void **state)
{
    (void)state;
    start();
    size_t held = 0;
    for (int again = 0; again < 3; again++) {
        evl_buffer in = from(x, 4), out = { .data = NULL };
        assert_int_equal(evl_forward_pass(c.ctx, &c.e, &in, 1, &out, 1, true), EVAL_OK);
        expect(&out, 4, (double[]){ 8, 9, 4, 6 });
        if (again == 2)
            assert_int_equal(atomic_load(&c.ctx->memory->blocks), held);
        held = atomic_load(&c.ctx->memory->blocks);
    }
}

static evl_buffer columns(double *data, size_t n, const int32_t *rows, const int32_t *ends,
                          size_t n_ends)
{
    return (evl_buffer){ .data = data, .count = n, .rows = rows, .n_rows = n, .columns = ends,
                         .n_columns = n_ends };
}

static void columns_are_written_out(void **state)
{
    static const int32_t rows[] = { 1, 0, 0 }, ends[] = { 0, 1, 1, 3 };
    (void)state;
    c.g->inputs[0]->is_sparse = true;
    start();
    evl_buffer in = columns(x, 3, rows, ends, 4), out = room(MOST);
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, &in, 1, &out, 1, true), EVAL_OK);
    expect(&out, 6, (double[]){ 7, 8, 0, 1, 5, 0 }); /* a row told twice counts twice */
    void *dense = c.e.forward.dense[0];
    in = columns(x, 1, rows, (int32_t[]){ 0, 1 }, 2), out = room(MOST);
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, &in, 1, &out, 1, true), EVAL_OK);
    expect(&out, 2, (double[]){ 7, 8 });
    assert_ptr_equal(c.e.forward.dense[0], dense);
}

static void columns_are_checked(void **state)
{
    static const int32_t rows[] = { 1, 0 }, ends[] = { 0, 1, 2 }, late[] = { 1, 2 };
    static const int32_t back[] = { 0, 2, 1, 2 }, less[] = { 0, 1 }, below[] = { 0, -1 };
    static const int32_t outside[] = { 1, 2 }, negative[] = { -1, 0 };
    (void)state;
    c.g->inputs[0]->is_sparse = true;
    start();
    struct {
        evl_buffer in;
        EvalStatus status;
        const char *text;
    } wrong[] = {
        { columns(x, 2, rows, NULL, 3), EVAL_ERR_ARGUMENT, "Column indices are nullptr" },
        { columns(x, 2, rows, NULL, 0), EVAL_ERR_SHAPE, "at least one element" },
        { columns(x, 2, rows, ends, 1), EVAL_ERR_SHAPE, "at least one element" },
        { columns(x, 2, NULL, ends, 3), EVAL_ERR_ARGUMENT, "Indices or values are nullptr" },
        { columns(NULL, 2, rows, ends, 3), EVAL_ERR_ARGUMENT, "Indices or values are nullptr" },
        { columns(x, 2, rows, late, 2), EVAL_ERR_SHAPE, "must be 0, and is 1" },
        { columns(x, 2, rows, less, 2), EVAL_ERR_SHAPE, "but was 1" },
        { columns(x, 2, rows, below, 2), EVAL_ERR_SHAPE, "but was -1" },
        { columns(x, 2, rows, back, 4), EVAL_ERR_SHAPE, "column 1 ends before it begins" },
        { columns(x, 2, outside, ends, 3), EVAL_ERR_SHAPE, "index 2 is no row of 2" },
        { columns(x, 2, negative, ends, 3), EVAL_ERR_SHAPE, "index -1 is no row of 2" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        fails(wrong[i].in, room(MOST), true, wrong[i].status, wrong[i].text);
    evl_buffer uneven = columns(x, 2, rows, ends, 3);
    uneven.count = 1;
    fails(uneven, room(MOST), true, EVAL_ERR_SHAPE, "of values (1)");
}

static EvalStatus run_all(double *data, size_t n, size_t capacity, const evl_sequences *s)
{
    evl_buffer in = from(data, n), out = room(capacity);
    EvalStatus st = evl_forward_sequences(c.ctx, &c.e, &in, 1, &out, 1, s);
    if (st == EVAL_OK)
        assert_int_equal(out.count, n);
    return st;
}

static void sequences_go_on_each_for_itself(void **state)
{
    (void)state;
    start();
    evl_sequences s = { (size_t[]){ 1, 2 }, NULL, 2 };
    assert_int_equal(run_all(x, 6, 6, &s), EVAL_OK);
    assert_memory_equal(y, ((double[]){ 8, 9, 10, 11, 8, 10 }), 6 * sizeof *y);
    s = (evl_sequences){ (size_t[]){ 1, 1 }, (uint8_t[]){ 0, 1 }, 2 };
    assert_int_equal(run_all(x, 4, 4, &s), EVAL_OK);
    assert_memory_equal(y, ((double[]){ 2, 4, 10, 11 }), 4 * sizeof *y);
    s = (evl_sequences){ (size_t[]){ 1, 1, 1 }, (uint8_t[]){ 0, 0, 0 }, 3 };
    assert_int_equal(run_all(x, 6, 6, &s), EVAL_ERR_STATE);
    assert_string_equal(c.ctx->error.text, "sequence 2 cannot go on: the call before had 2");
}

/* The first sequence begins and runs before the second fails; both stay where they were. */
static void a_call_that_fails_moves_no_sequence(void **state)
{
    (void)state;
    start();
    evl_sequences s = { (size_t[]){ 1, 1 }, NULL, 2 };
    assert_int_equal(run_all(x, 4, 4, &s), EVAL_OK);
    for (uint8_t begins = 0; begins < 2; begins++) {
        s.begins = (uint8_t[]){ begins, begins };
        assert_int_equal(run_all(x + 8, 4, 3, &s), EVAL_ERR_LIMIT);
        assert_string_equal(c.ctx->error.text, "Not enough space in output buffer for output 'y'.");
        assert_int_equal(run_all(x + 8, 2, 4, &s), EVAL_ERR_SHAPE);
    }
    s.begins = (uint8_t[]){ 0, 0 };
    assert_int_equal(run_all(x + 4, 4, 4, &s), EVAL_OK);
    assert_memory_equal(y, ((double[]){ 6, 8, 10, 12 }), 4 * sizeof *y);
}

static void sequences_are_checked(void **state)
{
    (void)state;
    start();
    evl_sequences s = { (size_t[]){ 1, 2 }, NULL, 2 };
    assert_int_equal(run_all(x, 8, 8, &s), EVAL_ERR_SHAPE); /* more than their lengths */
    assert_string_equal(c.ctx->error.text,
                        "Input x: 8 elements are no 2 sequences of the given lengths");
    assert_int_equal(run_all(x, 4, 8, &s), EVAL_ERR_SHAPE);
    s.lengths = (size_t[]){ 1, SIZE_MAX };
    assert_int_equal(run_all(x, 4, 8, &s), EVAL_ERR_SHAPE);
    s.lengths = NULL;
    assert_int_equal(run_all(x, 4, 8, &s), EVAL_ERR_ARGUMENT);
    s = (evl_sequences){ (size_t[]){ 1 }, NULL, 0 };
    assert_int_equal(run_all(x, 4, 8, &s), EVAL_ERR_ARGUMENT);
    evl_buffer in = from(x, 2), out = { .data = NULL };
    s.n = 1;
    assert_int_equal(evl_forward_sequences(c.ctx, &c.e, &in, 1, &out, 1, &s), EVAL_ERR_ARGUMENT);
    assert_string_equal(c.ctx->error.text, "Output y: Buffer is not allocated.");
}

/* More operands than there is room for on the stack. */
static void many_outputs_take_memory(void **state)
{
    enum { MANY = EVL_FEW + 1 };
    static evl_buffer out[MANY];
    static double each[MANY][2];
    static const char *names[MANY];
    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        names[i] = i % 2 ? "y" : "x";
        out[i] = (evl_buffer){ .data = each[i], .capacity = 2 };
    }
    assert_int_equal(evl_forward_start(c.ctx, &c.e, names, MANY), EVAL_OK);
    evl_buffer in = from(x, 2);
    assert_int_equal(evl_forward_pass(c.ctx, &c.e, &in, 1, out, MANY, true), EVAL_OK);
    for (size_t i = 0; i < MANY; i++)
        expect(&out[i], 2, i % 2 ? (double[]){ 8, 9 } : (double[]){ 1, 2 });
}

/* Wherever in a call memory ends. */
static void each_lack_of_memory_leaves_sequences_as_they_were(void **state)
{
    (void)state;
    evl_sequences s = { (size_t[]){ 1, 1, 1 }, (uint8_t[]){ 0, 0, 1 }, 3 };
    EvalStatus st = EVAL_ERR_MEMORY;
    for (size_t cap = 0; st == EVAL_ERR_MEMORY; cap += 64) {
        c.ctx->memory->cap = 0;
        start();
        evl_sequences two = { (size_t[]){ 1, 1 }, NULL, 2 };
        assert_int_equal(run_all(x, 4, 4, &two), EVAL_OK);
        c.ctx->memory->cap = atomic_load(&c.ctx->memory->bytes) + cap + 1;
        st = run_all(x + 2, 6, 6, &s);
        if (st == EVAL_OK)
            break;
        assert_int_equal(st, EVAL_ERR_MEMORY);
        c.ctx->memory->cap = 0;
        assert_int_equal(run_all(x + 2, 6, 6, &s), EVAL_OK);
        assert_memory_equal(y, ((double[]){ 4, 6, 8, 10, 14, 15 }), 6 * sizeof *y);
    }
    assert_int_equal(st, EVAL_OK);
    c.ctx->memory->cap = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sequence_goes_on_or_begins, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pass_that_fails_moves_no_sequence, setup, teardown),
        cmocka_unit_test_setup_teardown(counts_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(an_output_can_be_made, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_are_written_out, setup, teardown),
        cmocka_unit_test_setup_teardown(columns_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(sequences_go_on_each_for_itself, setup, teardown),
        cmocka_unit_test_setup_teardown(a_call_that_fails_moves_no_sequence, setup, teardown),
        cmocka_unit_test_setup_teardown(sequences_are_checked, setup, teardown),
        cmocka_unit_test_setup_teardown(many_outputs_take_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(each_lack_of_memory_leaves_sequences_as_they_were, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
