/* What the library says of itself. */
#include "kernels/loops.h"
#include "os/os.h"
#include "support/support.h"
#include <stdlib.h>
#include <string.h>

static void it_is_one_constant(void **state)
{
    (void)state;
    const EvalInfo *info = EvalLibraryInfo();
    assert_int_equal(info->size, sizeof *info);
    assert_ptr_equal(EvalLibraryInfo(), info);
}

static void the_kernels_are_those_that_models_get(void **state)
{
    (void)state;
    unsigned cpu = evl_cpu_features();
    const char *kernels = EvalLibraryInfo()->kernels;
    assert_string_equal(kernels, evl_kernels_choose_f(cpu).name);
    assert_string_equal(kernels, evl_kernels_choose_d(cpu).name);
}

/* "1.2.3", whose first number is the binary interface's. */
static void the_version_begins_with_the_abi(void **state)
{
    (void)state;
    const EvalInfo *info = EvalLibraryInfo();
    char *end;
    assert_int_equal(strtoul(info->version, &end, 10), info->abi);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(*end, '.');
        strtoul(end + 1, &end, 10);
    }
    assert_int_equal(*end, '\0');
    assert_int_equal(strspn(info->version, "0123456789."), strlen(info->version));
    assert_true(*info->build);
}

static uint32_t types_of(const EvalOperatorInfo *infos, size_t n, const char *domain,
                         const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(infos[i].name, name) == 0 && strcmp(infos[i].domain, domain) == 0)
            return infos[i].types;
    fail_msg("%s.%s is not listed", domain, name);
    return 0;
}

static void the_operators_are_listed_with_their_types(void **state)
{
    enum { FLOATS = 1u << EVAL_FLOAT32 | 1u << EVAL_FLOAT64, STRING = 1u << EVAL_STRING };
    IEvaluateModelD *model;
    const void *found;
    size_t count = 0, room = 1;
    (void)state;
    GetEvalD(&model);
    assert_non_null(model);
    assert_int_equal(model->vtbl->GetInterface(model, "describe", 2, &found), EVAL_OK);
    const EvalDescribeD *table = found;
    assert_int_equal(table->Operators(model, NULL, NULL), EVAL_ERR_ARGUMENT);
    assert_int_equal(table->Operators(model, NULL, &count), EVAL_OK);
    assert_true(count > 150);
    EvalOperatorInfo *infos = calloc(count, sizeof *infos);
    assert_non_null(infos);
    infos[0].size = 1;
    assert_int_equal(table->Operators(model, infos, &room), EVAL_ERR_ARGUMENT);
    infos[0].size = sizeof *infos;
    room = 1;
    assert_int_equal(table->Operators(model, infos, &room), EVAL_ERR_LIMIT);
    assert_int_equal(room, count);
    assert_int_equal(table->Operators(model, infos, &count), EVAL_OK);
    assert_int_equal(types_of(infos, count, "", "Conv") & (FLOATS | STRING), FLOATS);
    assert_int_equal(types_of(infos, count, "", "StringConcat"), STRING);
    assert_int_equal(types_of(infos, count, "ai.onnx.ml", "LabelEncoder") & STRING, STRING);
    free(infos);
    model->vtbl->Destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_one_constant),
        cmocka_unit_test(the_kernels_are_those_that_models_get),
        cmocka_unit_test(the_version_begins_with_the_abi),
        cmocka_unit_test(the_operators_are_listed_with_their_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
