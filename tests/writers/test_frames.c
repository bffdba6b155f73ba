/* A network with a loop and one without are saved while each allocation fails once: a status, no
** crash, no leak, and the next time it works. What is in the files, test_save_cntk.py looks at. */
#include "faults/faults.h"
#include <unistd.h>

static EvalStatus save(IEvaluateModelF *m, const char *path)
{
    const void *table;
    assert_int_equal(m->vtbl->GetInterface(m, "control", 3, &table), EVAL_OK);
    return ((const EvalControlF *)table)->Save(m, path);
}

/* True when the nth request of saving was made, and so failed. */
static bool fail_nth(const fault_case *c, const char *path, size_t nth)
{
    counting_heap heap = { 0, SIZE_MAX, 0 };
    IEvaluateModelF *m;
    assert_int_equal(make_on(&heap, &m), EVAL_OK);
    assert_int_equal(load(m, c), EVAL_OK);
    heap.failing = heap.requests + nth;
    EvalStatus st = save(m, path);
    bool has_failed = heap.requests > heap.failing;
    assert_int_equal(st, has_failed ? EVAL_ERR_MEMORY : EVAL_OK);
    heap.failing = SIZE_MAX;
    assert_int_equal(save(m, path), EVAL_OK);
    m->vtbl->Destroy(m);
    assert_int_equal(heap.live, 0);
    return has_failed;
}

static void every_allocation_of_saving_may_fail(void **state)
{
    static const fault_case cases[] = {
        { EVL_TEST_SAMPLES "/sequence.dnn", "bit", "parity", 5, 5 },
        { EVL_TEST_SAMPLES "/digits/digits.dnn", "features", "ol.z", 784, 10 },
        { EVL_TEST_DATA "/onnx/loops.onnx", "x", "y", 2, 6 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[] = "/tmp/evallib-saved-XXXXXX";
        size_t nth = 0;
        close(mkstemp(path));
        while (fail_nth(&cases[i], path, nth))
            nth++;
        assert_true(nth > 1);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_of_saving_may_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
