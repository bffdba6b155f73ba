/* Run: typed tensors, in both precisions. */
#include "fixture.h"
#include "os/os.h"

enum { PIXELS = 784, SCORES = 10 };

static real image[4 * PIXELS], scores[4 * SCORES];

static EvalTensor images(int64_t n)
{
    return (EvalTensor){ .name = "features", .type = REAL_TYPE, .rank = 2, .dims = { n, PIXELS },
                         .data = image, .bytes = (size_t)n * PIXELS * sizeof(real) };
}

static EvalTensor into_scores(size_t n)
{
    return (EvalTensor){ .name = "ol.z", .data = scores, .bytes = n * SCORES * sizeof(real) };
}

static model *m;

static int setup(void **state)
{
    (void)state;
    fill_image(4 * PIXELS, image);
    m = load("digits/digits.onnx", "");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    m->vtbl->Destroy(m);
    return 0;
}

static EvalStatus run(const EvalTensor *in, EvalTensor *out)
{
    return m->vtbl->Run(m, in, 1, out, 1, NULL);
}

static void an_output_tells_its_type_and_shape(void **state)
{
    (void)state;
    EvalTensor in = images(2), out = into_scores(2);
    assert_int_equal(run(&in, &out), EVAL_OK);
    assert_int_equal(out.type, REAL_TYPE);
    assert_int_equal(out.rank, 2);
    assert_int_equal(out.dims[0], 2);
    assert_int_equal(out.dims[1], SCORES);
    assert_int_equal(out.bytes, 2 * SCORES * sizeof(real));
}

static void an_output_without_memory_gets_some_until_it_is_released(void **state)
{
    (void)state;
    EvalTensor in = images(1), out = { .name = "ol.z" }, mine = into_scores(1);
    assert_int_equal(run(&in, &mine), EVAL_OK);
    assert_int_equal(run(&in, &out), EVAL_OK);
    assert_memory_equal(out.data, scores, SCORES * sizeof(real));
    assert_int_equal(m->vtbl->Release(m, &out, 1), EVAL_OK);
    assert_null(out.data);
    assert_int_equal(m->vtbl->Release(m, &mine, 1), EVAL_ERR_ARGUMENT); /* not the library's */
    assert_ptr_equal(mine.data, scores);
}

static void a_buffer_too_small_is_told_what_it_needs(void **state)
{
    (void)state;
    EvalTensor in = images(2), out = into_scores(1);
    assert_int_equal(run(&in, &out), EVAL_ERR_LIMIT);
    assert_int_equal(out.bytes, 2 * SCORES * sizeof(real));
    assert_int_equal(out.dims[0], 2);
}

static void other_floating_types_come_in_and_go_out(void **state)
{
    (void)state;
    static double wide_in[PIXELS], wide[SCORES];
    static float narrow_in[PIXELS], narrow[SCORES];
    static uint16_t half[SCORES];
    EvalTensor in = images(1), out = into_scores(1);
    assert_int_equal(run(&in, &out), EVAL_OK);
    for (size_t i = 0; i < PIXELS; i++) {
        wide_in[i] = (double)image[i];
        narrow_in[i] = (float)image[i];
    }
    in.type = EVAL_FLOAT64;
    in.data = wide_in;
    in.bytes = sizeof wide_in;
    out = (EvalTensor){ .name = "ol.z", .type = EVAL_FLOAT32, .data = narrow,
                        .bytes = sizeof narrow };
    assert_int_equal(run(&in, &out), EVAL_OK);
    in.type = EVAL_FLOAT32;
    in.data = narrow_in;
    in.bytes = sizeof narrow_in;
    out = (EvalTensor){ .name = "ol.z", .type = EVAL_FLOAT64, .data = wide, .bytes = sizeof wide };
    assert_int_equal(run(&in, &out), EVAL_OK);
    out = (EvalTensor){ .name = "ol.z", .type = EVAL_FLOAT16, .data = half, .bytes = sizeof half };
    assert_int_equal(run(&in, &out), EVAL_OK);
    for (size_t i = 0; i < SCORES; i++) {
        assert_true((float)scores[i] == narrow[i]);
        assert_true((double)scores[i] == wide[i]);
    }
}

static void wrong_tensors_have_their_status(void **state)
{
    (void)state;
    const struct {
        EvalTensor in;
        EvalStatus status;
    } cases[] = {
        { { .name = NULL, .type = REAL_TYPE }, EVAL_ERR_ARGUMENT },
        { { .name = "feature", .type = REAL_TYPE, .rank = 1, .dims = { 0 } }, EVAL_ERR_NOT_FOUND },
        { { .name = "features", .type = EVAL_INT64, .rank = 2, .dims = { 1, PIXELS } }, EVAL_ERR_TYPE },
        { { .name = "features", .type = (EvalType)99, .rank = 2 }, EVAL_ERR_TYPE },
        { { .name = "features", .type = REAL_TYPE, .rank = 17 }, EVAL_ERR_ARGUMENT },
        { { .name = "features", .type = REAL_TYPE, .rank = -1 }, EVAL_ERR_ARGUMENT },
        { { .name = "features", .type = REAL_TYPE, .rank = 1, .dims = { PIXELS } }, EVAL_ERR_SHAPE },
        { { .name = "features", .type = REAL_TYPE, .rank = 2, .dims = { 1, 783 } }, EVAL_ERR_SHAPE },
        { { .name = "features", .type = REAL_TYPE, .rank = 2, .dims = { -1, PIXELS } }, EVAL_ERR_SHAPE },
        { { .name = "features", .type = REAL_TYPE, .rank = 2, .dims = { 1, PIXELS }, .bytes = 3 },
          EVAL_ERR_SHAPE },
        { { .name = "features", .type = REAL_TYPE, .rank = 2, .dims = { INT64_MAX / 8, PIXELS } },
          EVAL_ERR_LIMIT },
        { { .name = "features", .type = REAL_TYPE, .rank = 2, .dims = { 1, PIXELS },
            .bytes = PIXELS * sizeof(real) }, EVAL_ERR_ARGUMENT }, /* data NULL */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        EvalTensor out = into_scores(1);
        assert_int_equal(run(&cases[i].in, &out), cases[i].status);
        assert_true(*m->vtbl->LastError(m));
    }
}

static void wrong_outputs_have_their_status(void **state)
{
    (void)state;
    EvalTensor in = images(1), out = into_scores(1);
    out.type = EVAL_INT32;
    assert_int_equal(run(&in, &out), EVAL_ERR_TYPE);
    out = (EvalTensor){ .name = "ol.zz" };
    assert_int_equal(run(&in, &out), EVAL_ERR_NOT_FOUND);
    EvalTensor twice[] = { images(1), images(1) };
    out = into_scores(1);
    assert_int_equal(m->vtbl->Run(m, twice, 2, &out, 1, NULL), EVAL_ERR_ARGUMENT);
}

static void a_message_leaves_last_error_alone(void **state)
{
    (void)state;
    char message[16];
    EvalRunOptions options = { .size = sizeof options, .message = message,
                               .messageBytes = sizeof message };
    EvalTensor in = images(1), out = { .name = "nothing of that name" };
    assert_int_equal(m->vtbl->Run(m, &in, 1, &out, 1, &options), EVAL_ERR_NOT_FOUND);
    assert_int_equal(strlen(message), sizeof message - 1);
    assert_string_equal(m->vtbl->LastError(m), "");
}

static int stop_at_third(void *user)
{
    return ++*(int *)user == 3;
}

static void a_run_can_be_stopped_between_steps(void **state)
{
    (void)state;
    int asked = 0;
    EvalRunOptions options = { .size = sizeof options, .stop = stop_at_third, .user = &asked };
    EvalTensor in = images(1), out = { .name = "ol.z" };
    assert_int_equal(m->vtbl->Run(m, &in, 1, &out, 1, &options), EVAL_ERR_CANCELLED);
    assert_int_equal(asked, 3);
    assert_null(out.data);
    assert_int_equal(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_OK);
}

typedef struct noted {
    size_t n, n_named;
    uint64_t nanoseconds;
} noted;

static void note(void *user, const EvalStep *step)
{
    noted *all = user;
    assert_int_equal(step->size, sizeof *step);
    assert_int_equal(step->depth, 0);
    assert_true(step->domain && step->method);
    all->n++;
    all->n_named += *step->name && *step->op;
    all->nanoseconds += step->nanoseconds;
}

static void a_profile_tells_of_each_step(void **state)
{
    (void)state;
    noted all = { .n = 0 };
    EvalRunOptions options = { .size = sizeof options, .user = &all, .step = note };
    EvalTensor in = images(1), out = into_scores(1), again = into_scores(1);
    real kept[SCORES];
    assert_int_equal(run(&in, &again), EVAL_OK);
    memcpy(kept, again.data, sizeof kept);
    const uint64_t begin = evl_clock();
    assert_int_equal(m->vtbl->Run(m, &in, 1, &out, 1, &options), EVAL_OK);
    assert_true(all.nanoseconds > 0 && all.nanoseconds <= evl_clock() - begin);
    assert_true(all.n > 1 && all.n == all.n_named);
    assert_memory_equal(out.data, kept, sizeof kept);
}

static void inputs_outputs_and_constants_may_be_asked_for(void **state)
{
    (void)state;
    static real again[PIXELS], bias[SCORES], same[2][SCORES];
    EvalTensor in = images(1);
    EvalTensor out[] = {
        { .name = "features", .data = again, .bytes = sizeof again },
        { .name = "ol.b", .data = bias, .bytes = sizeof bias },
        { .name = "ol.z", .data = same[0], .bytes = sizeof same[0] },
        { .name = "ol.z", .data = same[1], .bytes = sizeof same[1] },
    };
    assert_int_equal(m->vtbl->Run(m, &in, 1, out, 4, NULL), EVAL_OK);
    assert_memory_equal(again, image, sizeof again);
    assert_memory_equal(same[0], same[1], sizeof same[0]);
    assert_int_equal(out[1].rank, 1);
}

static void an_empty_batch_is_a_batch(void **state)
{
    (void)state;
    EvalTensor in = images(0), out = { .name = "ol.z" };
    if (run(&in, &out) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_int_equal(out.dims[0], 0);
    assert_int_equal(out.bytes, 0);
}

static void sequences_of_a_recurrent_network_each_begin_anew(void **state)
{
    (void)state;
    model *r = load("sequence.dnn", "");
    real bits[] = { 1, 0, 1, 1, 1, 0 }, one[3], both[6];
    EvalTensor in = { .name = "bit", .type = REAL_TYPE, .rank = 2, .dims = { 3, 1 }, .data = bits + 3,
                      .bytes = sizeof one };
    EvalTensor out = { .name = "parity", .data = one, .bytes = sizeof one };
    assert_int_equal(r->vtbl->Run(r, &in, 1, &out, 1, NULL), EVAL_OK);
    in.rank = 3;
    in.dims[0] = 2;
    in.dims[1] = 3;
    in.dims[2] = 1;
    in.data = bits;
    in.bytes = sizeof bits;
    out.data = both;
    out.bytes = sizeof both - 1;
    assert_int_equal(r->vtbl->Run(r, &in, 1, &out, 1, NULL), EVAL_ERR_LIMIT);
    assert_int_equal(out.bytes, sizeof both);
    if (r->vtbl->Run(r, &in, 1, &out, 1, NULL) != EVAL_OK)
        fail_msg("%s", r->vtbl->LastError(r));
    assert_int_equal(out.rank, 3);
    assert_int_equal(out.dims[0], 2);
    assert_memory_equal(both + 3, one, sizeof one);
    r->vtbl->Destroy(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_output_tells_its_type_and_shape, setup, teardown),
        cmocka_unit_test_setup_teardown(an_output_without_memory_gets_some_until_it_is_released,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_buffer_too_small_is_told_what_it_needs, setup, teardown),
        cmocka_unit_test_setup_teardown(other_floating_types_come_in_and_go_out, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_tensors_have_their_status, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_outputs_have_their_status, setup, teardown),
        cmocka_unit_test_setup_teardown(a_message_leaves_last_error_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(a_profile_tells_of_each_step, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_can_be_stopped_between_steps, setup, teardown),
        cmocka_unit_test_setup_teardown(inputs_outputs_and_constants_may_be_asked_for, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_empty_batch_is_a_batch, setup, teardown),
        cmocka_unit_test_setup_teardown(sequences_of_a_recurrent_network_each_begin_anew, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
