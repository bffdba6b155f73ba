/* Plug-ins that are part of the program: they replace what is built in, are held by networks
** and clones, and stop in reverse order. */
#include "evallib/plugin.h"
#include "fixture.h"

static char events[64]; /* "+a": a started, "-a": a stopped */

static void note(char what, const void *who)
{
    size_t n = strlen(events);
    events[n] = what;
    events[n + 1] = *(const char *)who;
    events[n + 2] = '\0';
}

static EvalStatus start_a(EvalCall *call)
{
    char *mine = call->host->Allocate(call, 1);
    assert_non_null(mine);
    *mine = 'a';
    call->context = mine;
    note('+', mine);
    return EVAL_OK;
}

static EvalStatus start_b(EvalCall *call)
{
    EvalStatus st = start_a(call);
    *(char *)call->context = 'b';
    events[strlen(events) - 1] = 'b';
    return st;
}

static void stop(void *context)
{
    note('-', context);
}

/* Relu that answers 0.5 whatever it is asked. */
static EvalStatus half(EvalCall *call)
{
    for (size_t i = 0; i < call->out[0].bytes / sizeof(real); i++)
        ((real *)call->out[0].data)[i] = (real)0.5;
    return *(const char *)call->context == 'a' ? EVAL_OK : EVAL_ERR_INTERNAL;
}

static const EvalImplementation halves = { sizeof halves, REAL_TYPE, NULL, half };
static const EvalImplementation *const implementations[] = { &halves };
static const EvalOperator relu = { .size = sizeof relu, .name = "Relu", .minInputs = 1,
                                      .maxInputs = 1, .minOutputs = 1, .maxOutputs = 1,
                                      .implementations = implementations, .nImplementations = 1 };
static const EvalOperator *const operators[] = { &relu };
static const EvalPlugin a = { .size = sizeof a, .abi = EVAL_PLUGIN_ABI, .name = "a", .version = "1",
                              .Start = start_a, .Stop = stop, .operators = operators,
                              .nOperators = 1 };
static const EvalPlugin b = { .size = sizeof b, .abi = EVAL_PLUGIN_ABI, .name = "b",
                              .Start = start_b, .Stop = stop };

static const PUBLIC(EvalPlugins) *plugins(model *m)
{
    const void *table;
    assert_int_equal(m->vtbl->GetInterface(m, "plugins", 1, &table), EVAL_OK);
    return table;
}

static void create(model *m)
{
    if (m->vtbl->CreateNetwork(m, description("digits/digits.onnx", "")) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
}

static void scores(model *m, real out[10])
{
    static real image[784];
    fill_image(784, image);
    input in = { "features", image, 784 };
    output z = { "ol.z", out, 10, 0 };
    if (m->vtbl->Evaluate(m, &in, 1, &z, 1) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
}

static void a_plugin_of_the_program_serves_the_networks_made_after_it(void **state)
{
    (void)state;
    real without[10], with[10];
    model *m = make();
    create(m);
    scores(m, without);
    assert_int_equal(plugins(m)->LoadStatic(m, &a), EVAL_OK);
    scores(m, with);
    assert_memory_equal(with, without, sizeof with);
    create(m);
    scores(m, with);
    assert_memory_not_equal(with, without, sizeof with);
    assert_int_equal(plugins(m)->Unload(m, "a"), EVAL_OK);
    create(m);
    scores(m, with);
    assert_memory_equal(with, without, sizeof with);
    m->vtbl->Destroy(m);
}

static void they_stop_with_the_last_clone_in_reverse_order(void **state)
{
    (void)state;
    real first[10], second[10];
    model *m = make(), *clone;
    events[0] = '\0';
    assert_int_equal(plugins(m)->LoadStatic(m, &a), EVAL_OK);
    assert_int_equal(plugins(m)->LoadStatic(m, &b), EVAL_OK);
    create(m);
    assert_string_equal(events, "+a+b");
    scores(m, first);
    assert_int_equal(control(m)->Clone(m, &clone), EVAL_OK);
    m->vtbl->Destroy(m);
    assert_string_equal(events, "+a+b");
    scores(clone, second);
    assert_memory_equal(first, second, sizeof first);
    clone->vtbl->Destroy(clone);
    assert_string_equal(events, "+a+b-b-a");
}

static void they_are_listed_and_unloaded_by_name(void **state)
{
    (void)state;
    EvalPluginInfo infos[2] = { { .size = sizeof infos[0] } };
    size_t n = 0;
    model *m = make();
    assert_int_equal(plugins(m)->LoadStatic(m, &a), EVAL_OK);
    assert_int_equal(plugins(m)->LoadStatic(m, &b), EVAL_OK);
    assert_int_equal(plugins(m)->List(m, NULL, &n), EVAL_OK);
    assert_int_equal(n, 2);
    assert_int_equal(plugins(m)->List(m, infos, &n), EVAL_OK);
    assert_string_equal(infos[0].name, "a");
    assert_string_equal(infos[0].version, "1");
    assert_string_equal(infos[0].path, "");
    assert_int_equal(infos[0].operators, 1);
    assert_string_equal(infos[1].version, "");
    n = 1;
    assert_int_equal(plugins(m)->List(m, infos, &n), EVAL_ERR_LIMIT);
    assert_int_equal(plugins(m)->Unload(m, "c"), EVAL_ERR_NOT_FOUND);
    assert_non_null(strstr(m->vtbl->LastError(m), "\na\nb"));
    m->vtbl->Destroy(m);
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    EvalPlugin bad = a;
    model *m = make();
    bad.operators = NULL;
    assert_int_equal(plugins(m)->LoadStatic(m, NULL), EVAL_ERR_ARGUMENT);
    assert_int_equal(plugins(m)->Load(m, NULL), EVAL_ERR_ARGUMENT);
    assert_int_equal(plugins(m)->Load(m, ""), EVAL_ERR_ARGUMENT);
    assert_int_equal(plugins(m)->Load(m, "/there/is/none.so"), EVAL_ERR_IO);
    assert_int_equal(plugins(m)->LoadStatic(m, &bad), EVAL_ERR_PLUGIN);
    assert_non_null(strstr(m->vtbl->LastError(m), "counts 1 operators and lists none"));
    assert_int_equal(plugins(m)->List(m, NULL, NULL), EVAL_ERR_ARGUMENT);
    m->vtbl->Destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plugin_of_the_program_serves_the_networks_made_after_it),
        cmocka_unit_test(they_stop_with_the_last_clone_in_reverse_order),
        cmocka_unit_test(they_are_listed_and_unloaded_by_name),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
