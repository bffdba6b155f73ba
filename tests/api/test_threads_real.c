/* Many threads on one object, and on clones of it: every one gets the numbers of one. */
#include "fixture.h"
#include <pthread.h>

enum { PIXELS = 784, SCORES = 10, THREADS = 8, ROUNDS = 20 };

typedef struct worker {
    model *m;
    pthread_t thread;
    size_t n_samples; /* another shape, another plan */
    bool is_evaluating; /* with Evaluate, on an object of its own */
    real image[3 * PIXELS], expected[3 * SCORES];
    size_t wrong;
} worker;

static EvalStatus run(model *m, const real *image, size_t n, real *scores)
{
    EvalTensor in = { .name = "features", .type = REAL_TYPE, .rank = 2,
                      .dims = { (int64_t)n, PIXELS }, .bytes = n * PIXELS * sizeof(real) };
    EvalTensor out = { .name = "ol.z", .data = scores, .bytes = n * SCORES * sizeof(real) };
    char message[256];
    EvalRunOptions options = { .size = sizeof options, .message = message,
                               .messageBytes = sizeof message };
    memcpy(&in.data, &image, sizeof image);
    return m->vtbl->Run(m, &in, 1, &out, 1, &options);
}

static EvalStatus evaluate(model *m, const real *image, size_t n, real *scores)
{
    input in = { "features", image, n * PIXELS };
    output out = { "ol.z", scores, n * SCORES, 0 };
    return m->vtbl->Evaluate(m, &in, 1, &out, 1);
}

static void *work(void *arg)
{
    worker *w = arg;
    real scores[3 * SCORES];
    for (size_t i = 0; i < ROUNDS; i++) {
        EvalStatus st = w->is_evaluating ? evaluate(w->m, w->image, w->n_samples, scores)
                                         : run(w->m, w->image, w->n_samples, scores);
        w->wrong += st != EVAL_OK ||
                    memcmp(scores, w->expected, w->n_samples * SCORES * sizeof(real)) != 0;
    }
    return NULL;
}

static void prepare(model *m, worker *all)
{
    for (size_t i = 0; i < THREADS; i++) {
        worker *w = &all[i];
        w->m = m;
        w->n_samples = 1 + i % 3;
        for (size_t j = 0; j < 3 * PIXELS; j++)
            w->image[j] = (real)((j * 31 + i * 17) % 256);
        assert_int_equal(run(m, w->image, w->n_samples, w->expected), EVAL_OK);
    }
}

static void work_together(worker *all)
{
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&all[i].thread, NULL, work, &all[i]), 0);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(all[i].thread, NULL);
        assert_int_equal(all[i].wrong, 0);
    }
}

static const char *const files[] = { "digits/digits.onnx", "digits/digits.dnn" };

static void eight_threads_share_one_object(void **state)
{
    (void)state;
    static worker all[THREADS];
    for (size_t f = 0; f < 2; f++) {
        model *m = load(files[f], "blas=off\nnumCPUThreads=2\nplanCacheSize=2");
        prepare(m, all);
        work_together(all);
        m->vtbl->Destroy(m);
    }
}

static void eight_threads_have_clones(void **state)
{
    (void)state;
    static worker all[THREADS];
    model *m = load(files[1], "blas=off");
    prepare(m, all);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(control(m)->Clone(m, &all[i].m), EVAL_OK);
        all[i].is_evaluating = true;
    }
    work_together(all);
    for (size_t i = 0; i < THREADS; i++)
        all[i].m->vtbl->Destroy(all[i].m);
    m->vtbl->Destroy(m);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    static real image[3 * PIXELS], one[3 * SCORES], many[3 * SCORES];
    fill_image(3 * PIXELS, image);
    const char *const settings[] = { "numCPUThreads=2", "numCPUThreads=3", "numCPUThreads=8" };
    model *m = load(files[0], "numCPUThreads=1");
    assert_int_equal(run(m, image, 3, one), EVAL_OK);
    m->vtbl->Destroy(m);
    for (size_t i = 0; i < 3; i++) {
        m = load(files[0], settings[i]);
        assert_int_equal(run(m, image, 3, many), EVAL_OK);
        assert_memory_equal(one, many, sizeof one);
        m->vtbl->Destroy(m);
    }
}

/* A log that calls back: what it asks for runs while CreateNetwork does. */
typedef struct nested {
    model *m;
    EvalStatus status;
} nested;

static void call_again(void *user, EvalLogLevel level, const char *text)
{
    nested *n = user;
    (void)level;
    (void)text;
    n->status = n->m->vtbl->ResetState(n->m);
}

static void a_second_call_while_one_runs_is_refused(void **state)
{
    (void)state;
    nested n = { make(), EVAL_OK };
    assert_int_equal(control(n.m)->SetLog(n.m, call_again, &n), EVAL_OK);
    assert_int_equal(n.m->vtbl->CreateNetwork(n.m, description("sequence.dnn", "foo=1")), EVAL_OK);
    assert_int_equal(n.status, EVAL_ERR_STATE);
    assert_string_equal(n.m->vtbl->LastError(n.m), "");
    n.m->vtbl->Destroy(n.m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_share_one_object),
        cmocka_unit_test(eight_threads_have_clones),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(a_second_call_while_one_runs_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
