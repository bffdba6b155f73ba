/* The doors and the table's slots with nothing behind `self`. */
#include "api/fixture.h"

static void the_library_says_what_it_is(void **state)
{
    (void)state;
    const EvalInfo *info = EvalLibraryInfo();
    assert_int_equal(info->size, sizeof *info);
    assert_ptr_equal(EvalLibraryInfo(), info);
    assert_true(info->version[0] && info->build[0] && info->kernels[0]);
}

static void every_slot_survives_no_object(void **state)
{
    (void)state;
    model *m = make();
    const void *table = m;
    size_t count = 0;
    output out = { "ol.z", NULL, 0, 0 };
    EvalTensor tensor = { .name = "ol.z" };
    assert_int_equal(m->vtbl->size, sizeof *m->vtbl);
    assert_int_equal(m->vtbl->CreateNetwork(NULL, "modelPath=x"), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->GetNodeDimensions(NULL, EVAL_NODE_INPUT, NULL, &count),
                     EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->StartEvaluateMinibatchLoop(NULL, "ol.z"), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Evaluate(NULL, NULL, 0, &out, 1), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->EvaluateOutputs(NULL, &out, 1), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->ResetState(NULL), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Run(NULL, NULL, 0, &tensor, 1, NULL), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Release(NULL, &tensor, 1), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->GetInterface(NULL, "control", 1, &table), EVAL_ERR_ARGUMENT);
    m->vtbl->Destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_says_what_it_is),
        cmocka_unit_test(every_slot_survives_no_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
