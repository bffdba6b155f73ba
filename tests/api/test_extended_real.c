/* The extended interface: schemas, forward passes, sequences, and what is carried on. */
#include "fixture.h"

typedef PUBLIC(EvalBuffer) buffer;
typedef PUBLIC(EvalExtended) table;

typedef struct fixture {
    model *m;
    const table *t;
} fixture;

static fixture open_text(const char *text)
{
    const void *found;
    fixture f = { .m = make() };
    if (f.m->vtbl->CreateNetwork(f.m, text) != EVAL_OK)
        fail_msg("%s", f.m->vtbl->LastError(f.m));
    assert_int_equal(f.m->vtbl->GetInterface(f.m, "extended", 1, &found), EVAL_OK);
    f.t = found;
    assert_true(f.t->size == sizeof(table));
    return f;
}

static fixture open_in(const char *folder, const char *file)
{
    char text[512];
    snprintf(text, sizeof text, "modelPath=\"" EVL_TEST_DATA "/%s/%s.model\"", folder, file);
    return open_text(text);
}

static fixture open_model(const char *file)
{
    return open_in("cntk1", file);
}

static void start(const fixture *f)
{
    assert_int_equal(f->t->StartForwardEvaluation(f->m, NULL, 0), EVAL_OK);
}

static void close_model(const fixture *f)
{
    f->m->vtbl->Destroy(f->m);
}

static buffer dense(const real *values, size_t n)
{
    static real room[64];
    for (size_t i = 0; values && i < n; i++)
        room[i] = values[i];
    return (buffer){ .data = values ? room : NULL, .count = n };
}

static buffer to(real *values, size_t n)
{
    return (buffer){ .data = values, .capacity = n };
}

static void fails(const fixture *f, buffer in, size_t n_in, buffer out, size_t n_out, int reset,
                  EvalStatus status, const char *text)
{
    EvalStatus st = f->t->ForwardPass(f->m, &in, n_in, &out, n_out, reset);
    assert_int_equal(st, status);
    if (!strstr(f->m->vtbl->LastError(f->m), text))
        fail_msg("'%s' is not in: %s", text, f->m->vtbl->LastError(f->m));
}

static const real frames[8] = { 1, 0, (real)0.5, -1, 0, 2, (real)-0.25, 1 };

static void schemas_tell_what_goes_in_and_out(void **state)
{
    EvalVariable v[2];
    size_t n = 2;
    (void)state;
    fixture f = open_model("sparse_v14");
    assert_int_equal(f.t->GetInputSchema(f.m, v, &n), EVAL_OK);
    assert_int_equal(n, 1);
    assert_string_equal(v[0].name, "x");
    assert_int_equal(v[0].storage, EVAL_STORAGE_SPARSE);
    assert_int_equal(v[0].type, sizeof(real) == 8 ? EVAL_FLOAT64 : EVAL_FLOAT32);
    assert_int_equal(v[0].elements, 3);
    n = 2;
    assert_int_equal(f.t->GetOutputSchema(f.m, v, &n), EVAL_OK);
    assert_int_equal(v[0].storage, EVAL_STORAGE_DENSE);
    assert_string_equal(v[0].name, "z");
    n = 0;
    assert_int_equal(f.t->GetOutputSchema(f.m, v, &n), EVAL_ERR_LIMIT);
    assert_int_equal(n, 1);
    close_model(&f);
}

static void inputs_are_in_the_order_of_their_names(void **state)
{
    EvalVariable v[3];
    size_t n = 3;
    (void)state;
    fixture f = open_text("run=NDLNetworkBuilder\nNDLNetworkBuilder=[\nwPrevious = Input(2)\n"
                          "wCurrent = Input(2)\nwNext = Input(2)\n"
                          "z = Plus(Plus(wPrevious, wCurrent), wNext, tag=output)\n]\n");
    start(&f);
    assert_int_equal(f.t->GetInputSchema(f.m, v, &n), EVAL_OK);
    assert_int_equal(n, 3);
    assert_string_equal(v[0].name, "wCurrent");
    assert_string_equal(v[1].name, "wNext");
    assert_string_equal(v[2].name, "wPrevious");
    close_model(&f);
}

static void an_inner_node_can_be_chosen(void **state)
{
    static const char *const names[] = { "wx" };
    EvalVariable v[2];
    size_t n = 2;
    real y[12];
    (void)state;
    fixture f = open_model("recurrent_v14");
    assert_int_equal(f.t->StartForwardEvaluation(f.m, names, 1), EVAL_OK);
    assert_int_equal(f.t->GetOutputSchema(f.m, v, &n), EVAL_OK);
    assert_string_equal(v[0].name, "wx");
    buffer in = dense(frames, 8), out = to(y, 12);
    assert_int_equal(f.t->ForwardPass(f.m, &in, 1, &out, 1, 1), EVAL_OK);
    assert_int_equal(out.count, 12);
    static const char *const nobody[] = { "nobody" };
    assert_int_equal(f.t->StartForwardEvaluation(f.m, nobody, 1), EVAL_ERR_NOT_FOUND);
    close_model(&f);
}

static void sparse_columns_are_what_they_stand_for(void **state)
{
    static const int32_t rows[] = { 0, 2, 2, 1, 2 }, columns[] = { 0, 2, 2, 5 };
    real values[] = { 1, 2, 3, 5, 6 }, y[3];
    (void)state;
    fixture f = open_model("sparse_v14");
    start(&f);
    buffer in = { values, 5, 0, rows, columns, 5, 4 }, out = to(y, 3);
    assert_int_equal(f.t->ForwardPass(f.m, &in, 1, &out, 1, 1), EVAL_OK);
    assert_int_equal(out.count, 3);
    assert_true(y[0] == 6 && y[1] == 0 && y[2] == 28);
    close_model(&f);
}

static void sparse_columns_are_checked(void **state)
{
    static const int32_t rows[] = { 0, 2, 2, 1, 2 }, bad_rows[] = { 0, 3, 2, 1, 2 };
    static const int32_t columns[] = { 0, 2, 2, 5 }, late[] = { 1, 0 }, short_[] = { 0, 2, 2, 4 };
    static const int32_t back[] = { 0, 4, 2, 5 };
    real values[] = { 1, 2, 3, 5, 6 }, y[3];
    (void)state;
    fixture f = open_model("sparse_v14");
    start(&f);
    buffer good = { values, 5, 0, rows, columns, 5, 4 }, in = good, out = to(y, 3);
    in.columns = NULL;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_ARGUMENT, "nullptr");
    in = good, in.rows = NULL;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_ARGUMENT, "nullptr");
    in = good, in.nColumns = 0;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_SHAPE, "2 entries in colIndices");
    in.nColumns = 1;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_SHAPE, "2 entries in colIndices");
    in = good, in.columns = late, in.nColumns = 2;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_SHAPE, "First element of column indices must be 0");
    in = good, in.columns = short_;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_SHAPE, "must be equal to the size of indices");
    in = good, in.columns = back;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_SHAPE, "ends before it begins");
    in = good, in.rows = bad_rows;
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_SHAPE, "index 3 is no row of 3");
    close_model(&f);
}

static void calls_are_checked(void **state)
{
    real y[12];
    (void)state;
    fixture f = open_model("recurrent_v14");
    buffer in = dense(frames, 8), out = to(y, 12);
    fails(&f, in, 1, out, 1, 1, EVAL_ERR_STATE, "called before StartForwardEvaluation()");
    start(&f);
    fails(&f, in, 0, out, 1, 1, EVAL_ERR_ARGUMENT, "Expected 1 inputs, but got 0.");
    fails(&f, in, 1, out, 0, 1, EVAL_ERR_ARGUMENT, "Expected 1 outputs, but got 0.");
    fails(&f, dense(NULL, 0), 1, out, 1, 1, EVAL_ERR_ARGUMENT, "Buffer is not allocated.");
    fails(&f, dense(frames, 3), 1, out, 1, 1, EVAL_ERR_SHAPE, "to be a multiple of 2");
    fails(&f, dense(frames, 0), 1, out, 1, 1, EVAL_ERR_SHAPE, "at least one element");
    fails(&f, in, 1, to(y, 11), 1, 1, EVAL_ERR_LIMIT, "Not enough space in output buffer");
    fails(&f, in, 1, out, 1, 0, EVAL_ERR_STATE, "no matching previous sequence");
    close_model(&f);
}

/* All frames at once. */
static void whole(const fixture *f, const real *x, size_t n, real *y)
{
    buffer in = dense(x, 2 * n), out = to(y, 3 * n);
    assert_int_equal(f->t->ForwardPass(f->m, &in, 1, &out, 1, 1), EVAL_OK);
    assert_int_equal(out.count, 3 * n);
}

static void a_sequence_goes_on_or_begins_anew(void **state)
{
    real y[12], part[12];
    (void)state;
    fixture f = open_model("recurrent_v14");
    start(&f);
    whole(&f, frames, 4, y);
    for (size_t i = 0; i < 4; i++) {
        buffer in = dense(frames + 2 * i, 2), out = to(part + 3 * i, 3);
        assert_int_equal(f.t->ForwardPass(f.m, &in, 1, &out, 1, i == 0), EVAL_OK);
    }
    assert_memory_equal(y, part, sizeof y);
    whole(&f, frames, 4, part);
    assert_memory_equal(y, part, sizeof y);
    close_model(&f);
}

static void a_failing_pass_leaves_the_sequence_where_it_was(void **state)
{
    real y[12], part[12];
    (void)state;
    fixture f = open_model("recurrent_v14");
    start(&f);
    whole(&f, frames, 4, y);
    whole(&f, frames, 2, part);
    fails(&f, dense(frames, 4), 1, to(part, 1), 1, 1, EVAL_ERR_LIMIT, "Not enough space");
    buffer in = dense(frames + 4, 4), out = to(part + 6, 6);
    assert_int_equal(f.t->ForwardPass(f.m, &in, 1, &out, 1, 0), EVAL_OK);
    assert_memory_equal(y + 6, part + 6, 6 * sizeof *y);
    close_model(&f);
}

static void sequences_in_one_call_are_what_each_is_alone(void **state)
{
    static const size_t lengths[] = { 3, 1 }, later[] = { 1, 2 };
    static const uint8_t go_on[] = { 0, 1 };
    real first[12], second[6], both[12], last[9];
    (void)state;
    fixture f = open_model("recurrent_v14");
    start(&f);
    whole(&f, frames, 4, first);
    whole(&f, frames + 2, 2, second);
    real x[8] = { frames[0], frames[1], frames[2], frames[3], frames[4], frames[5], 9, 9 };
    buffer in = dense(x, 8), out = to(both, 12);
    assert_int_equal(f.t->ForwardSequences(f.m, &in, 1, &out, 1, lengths, NULL, 2), EVAL_OK);
    assert_memory_equal(first, both, 9 * sizeof *both);
    real more[6] = { frames[6], frames[7], frames[2], frames[3], frames[4], frames[5] };
    in = dense(more, 6), out = to(last, 9);
    assert_int_equal(f.t->ForwardSequences(f.m, &in, 1, &out, 1, later, go_on, 2), EVAL_OK);
    assert_int_equal(out.count, 9);
    assert_memory_equal(first + 9, last, 3 * sizeof *last);
    assert_memory_equal(second, last + 3, 6 * sizeof *last);
    in = dense(more, 4), out = to(last, 9);
    assert_int_equal(f.t->ForwardSequences(f.m, &in, 1, &out, 1, later, go_on, 2), EVAL_ERR_SHAPE);
    static const uint8_t none[] = { 0, 0, 0 };
    static const size_t three[] = { 1, 1, 1 };
    in = dense(more, 6), out = to(last, 9);
    assert_int_equal(f.t->ForwardSequences(f.m, &in, 1, &out, 1, three, none, 3), EVAL_ERR_STATE);
    close_model(&f);
}

static void states_can_be_read_and_set(void **state)
{
    EvalDimension states[4];
    real y[12], part[6], h[3], before[6];
    size_t n = 4, n_h = 3, n_before = 6;
    (void)state;
    fixture f = open_model("recurrent_v14");
    start(&f);
    assert_int_equal(f.t->GetStates(f.m, states, &n), EVAL_OK);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(states[i].size, strcmp(states[i].name, "h1") == 0 ? 3 : 6);
    assert_int_equal(f.t->GetState(f.m, "h1", NULL, &n_h), EVAL_OK);
    assert_int_equal(n_h, 0);
    whole(&f, frames, 4, y);
    whole(&f, frames, 2, part);
    n_h = 3;
    assert_int_equal(f.t->GetState(f.m, "h1", h, &n_h), EVAL_OK);
    assert_int_equal(f.t->GetState(f.m, "before", before, &n_before), EVAL_OK);
    assert_int_equal(n_h, 3);
    assert_int_equal(n_before, 6);
    assert_memory_equal(h, before + 3, sizeof h); /* both keep h, one of them a frame more */
    whole(&f, frames, 4, y);
    assert_int_equal(f.t->SetState(f.m, "h1", h, 3), EVAL_OK);
    assert_int_equal(f.t->SetState(f.m, "before", before, 6), EVAL_OK);
    buffer in = dense(frames + 4, 4), out = to(part, 6);
    assert_int_equal(f.t->ForwardPass(f.m, &in, 1, &out, 1, 0), EVAL_OK);
    assert_memory_equal(y + 6, part, sizeof part);
    assert_int_equal(f.t->SetState(f.m, "h1", h, 2), EVAL_ERR_SHAPE);
    assert_int_equal(f.t->SetState(f.m, "z", h, 3), EVAL_ERR_NOT_FOUND);
    close_model(&f);
}

/* Of CNTK v2, where a vector stands before the first frame. */
static const char *const hidden[] = { "h" };

static void a_state_that_is_set_stands_within_the_sequence(void **state)
{
    EvalDimension states[4];
    real y[12], part[6], kept[3];
    size_t n = 4, n_kept = 3;
    (void)state;
    fixture f = open_in("cntk2", "recurrent_vector");
    assert_int_equal(f.t->StartForwardEvaluation(f.m, hidden, 1), EVAL_OK);
    assert_int_equal(f.t->GetStates(f.m, states, &n), EVAL_OK);
    assert_int_equal(n, 1);
    whole(&f, frames, 4, y);
    whole(&f, frames, 2, part);
    assert_int_equal(f.t->GetState(f.m, states[0].name, kept, &n_kept), EVAL_OK);
    assert_int_equal(n_kept, 3);
    for (int is_set = 0; is_set < 2; is_set++) {
        buffer in = dense(frames + 4 * (size_t)is_set, 4), out = to(part, 6);
        assert_int_equal(f.t->SetState(f.m, states[0].name, kept, is_set ? 3 : 0), EVAL_OK);
        assert_int_equal(f.t->ForwardPass(f.m, &in, 1, &out, 1, 0), EVAL_OK);
        assert_memory_equal(y + 6 * (size_t)is_set, part, sizeof part);
    }
    close_model(&f);
}

static void evaluate(const fixture *f, const char *node, size_t first, size_t n, real *y)
{
    PUBLIC(EvalInput) in = { "x", frames + 2 * first, 2 * n };
    PUBLIC(EvalOutput) out = { node, y, 3 * n, 0 };
    EvalStatus st = f->m->vtbl->Evaluate(f->m, &in, 1, &out, 1);
    if (st != EVAL_OK)
        fail_msg("%s", f->m->vtbl->LastError(f->m));
    assert_int_equal(out.count, 3 * n);
}

static void evaluate_in_steps_gives_what_one_call_gives(void **state)
{
    static const char *const models[][3] = { { "cntk1", "recurrent_v14", "h" },
                                             { "cntk2", "recurrent", "h" },
                                             { "cntk2", "recurrent_vector", "h" } };
    real y[12], part[12];
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        fixture f = open_in(models[i][0], models[i][1]);
        evaluate(&f, models[i][2], 0, 4, y);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(f.m->vtbl->ResetState(f.m), EVAL_OK);
            evaluate(&f, models[i][2], 0, 1, part);
            evaluate(&f, models[i][2], 1, 2, part + 3);
            evaluate(&f, models[i][2], 3, 1, part + 9);
            assert_memory_equal(y, part, sizeof y);
        }
        close_model(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_tell_what_goes_in_and_out),
        cmocka_unit_test(inputs_are_in_the_order_of_their_names),
        cmocka_unit_test(an_inner_node_can_be_chosen),
        cmocka_unit_test(sparse_columns_are_what_they_stand_for),
        cmocka_unit_test(sparse_columns_are_checked),
        cmocka_unit_test(calls_are_checked),
        cmocka_unit_test(a_sequence_goes_on_or_begins_anew),
        cmocka_unit_test(a_failing_pass_leaves_the_sequence_where_it_was),
        cmocka_unit_test(sequences_in_one_call_are_what_each_is_alone),
        cmocka_unit_test(states_can_be_read_and_set),
        cmocka_unit_test(a_state_that_is_set_stands_within_the_sequence),
        cmocka_unit_test(evaluate_in_steps_gives_what_one_call_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
