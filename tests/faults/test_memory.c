/* Each allocation of a load and an evaluation fails once: a status, no crash, no leak,
** and an object that can be used afterwards. */
#include "faults/faults.h"

static const fault_case cases[] = {
    { EVL_TEST_SAMPLES "/digits/digits.onnx", "features", "ol.z", 784, 10 },
    { EVL_TEST_SAMPLES "/digits/digits.dnn", "features", "ol.z", 784, 10 },
    { EVL_TEST_SAMPLES "/sequence.dnn", "bit", "parity", 5, 5 },
    { EVL_TEST_DATA "/onnx/loops.onnx", "x", "y", 2, 6 },
};

/* True when the nth request was made, and so failed. */
static bool fail_nth(const fault_case *c, size_t nth, const float *expected)
{
    counting_heap heap = { 0, nth, 0 };
    IEvaluateModelF *m;
    float y[10];
    EvalStatus st = make_on(&heap, &m);
    if (st == EVAL_OK)
        st = load(m, c);
    if (st == EVAL_OK)
        st = evaluate(m, c, y);
    bool has_failed = heap.requests > nth;
    if (st != EVAL_OK && st != EVAL_ERR_MEMORY)
        fail_msg("request %zu: status %d, %s", nth, (int)st, m->vtbl->LastError(m));
    assert_true(has_failed || st == EVAL_OK); /* some failures are survived: fewer threads */
    if (has_failed && st != EVAL_OK) {        /* it works the second time */
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
        float expected[10];
        size_t nth = 0;
        evaluate_undisturbed(&cases[i], expected);
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
