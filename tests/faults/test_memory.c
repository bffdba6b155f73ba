/* Each allocation of a load and an evaluation fails once: a status, no crash, no leak,
** and an object that can be used afterwards. */
#include "evallib/eval.h"
#include "support/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counting_heap {
    size_t requests, failing, live;
} counting_heap;

static void *allocate(void *user, size_t bytes, size_t alignment)
{
    counting_heap *h = user;
    if (h->requests++ == h->failing)
        return NULL;
    h->live++;
    return aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *block, size_t bytes)
{
    counting_heap *h = user;
    (void)bytes;
    h->live--;
    free(block);
}

typedef struct fault_case {
    const char *file, *input, *output;
    size_t n_in, n_out;
} fault_case;

static const fault_case cases[] = {
    { "digits/digits.onnx", "features", "ol.z", 784, 10 },
    { "digits/digits.dnn", "features", "ol.z", 784, 10 },
    { "sequence.dnn", "bit", "parity", 5, 5 },
};

static EvalStatus load(IEvaluateModelF *m, const fault_case *c)
{
    char text[4096];
    snprintf(text, sizeof text, "modelPath=\"" EVL_TEST_SAMPLES "/%s\"\nnumCPUThreads=2", c->file);
    return m->vtbl->CreateNetwork(m, text);
}

static EvalStatus evaluate(IEvaluateModelF *m, const fault_case *c, float *y)
{
    static const float x[784] = { 1 };
    EvalInputF in = { c->input, x, c->n_in };
    EvalOutputF out = { c->output, NULL, 0, 0 };
    EvalStatus st = m->vtbl->Evaluate(m, &in, 1, &out, 1);
    if (st == EVAL_OK)
        memcpy(y, out.data, c->n_out * sizeof *y);
    return st;
}

/* True when the nth request was made, and so failed. */
static bool fail_nth(const fault_case *c, size_t nth, const float *expected)
{
    counting_heap heap = { 0, nth, 0 };
    EvalAllocator allocator = { sizeof allocator, allocate, release, &heap };
    IEvaluateModelF *m;
    const void *table;
    float y[10];
    GetEvalF(&m);
    assert_non_null(m);
    assert_int_equal(m->vtbl->GetInterface(m, "control", 1, &table), EVAL_OK);
    EvalStatus st = ((const EvalControlF *)table)->SetAllocator(m, &allocator);
    if (st == EVAL_OK)
        st = load(m, c);
    if (st == EVAL_OK)
        st = evaluate(m, c, y);
    bool has_failed = heap.requests > nth;
    if (st != EVAL_OK && st != EVAL_ERR_MEMORY)
        fail_msg("request %zu: status %d, %s", nth, (int)st, m->vtbl->LastError(m));
    assert_true(has_failed || st == EVAL_OK); /* some failures are survived: fewer threads */
    if (has_failed && st != EVAL_OK) {         /* it works the second time */
        assert_int_equal(load(m, c), EVAL_OK);
        assert_int_equal(evaluate(m, c, y), EVAL_OK);
    }
    assert_memory_equal(y, expected, c->n_out * sizeof *y);
    m->vtbl->Destroy(m);
    assert_int_equal(heap.live, 0);
    return has_failed;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        IEvaluateModelF *m;
        float expected[10];
        size_t nth = 0;
        GetEvalF(&m);
        assert_int_equal(load(m, &cases[i]), EVAL_OK);
        assert_int_equal(evaluate(m, &cases[i], expected), EVAL_OK);
        m->vtbl->Destroy(m);
        while (fail_nth(&cases[i], nth, expected))
            nth++;
        assert_true(nth > 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
