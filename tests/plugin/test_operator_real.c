/* Operators of plug-ins that keep state along a sequence, such as leave some of their work to the
** operator in whose place they stand, and such as make texts. */
#include "lines.h"
#include <math.h>

/* Total: y = what has been summed up so far, frame by frame where there are frames. It fails
** when it meets a negative number, after it has added it. */
static EvalStatus prepare_total(EvalCall *call)
{
    call->carriedBytes = sizeof(double);
    return EVAL_OK;
}

static int was_with_frames;

static EvalStatus run_total(EvalCall *call)
{
    double *sum = call->carried;
    const real *x = call->in[0].data;
    real *y = call->out[0].data;
    assert_int_equal(call->carriedBytes, sizeof *sum);
    was_with_frames = call->hasFrames;
    for (size_t i = 0; i < call->in[0].bytes / sizeof *x; i++) {
        *sum += (double)x[i];
        y[i] = (real)*sum;
        if (x[i] < 0)
            return call->host->Fail(call, EVAL_ERR_PLUGIN, "less than nothing");
    }
    return EVAL_OK;
}

static const EvalImplementation any = { sizeof any, EVAL_UNDEFINED, prepare_total, run_total };
static const EvalImplementation *const implementations[] = { &any };
static const EvalOperator ops[] = {
    { .size = sizeof ops[0], .domain = "test", .name = "Total", .minInputs = 1, .maxInputs = 1,
      .minOutputs = 1, .maxOutputs = 1, .flags = EVAL_OPERATOR_CARRIES,
      .implementations = implementations, .nImplementations = 1 },
    { .size = sizeof ops[0], .name = "Relu", .minInputs = 1, .maxInputs = 1, .minOutputs = 1,
      .maxOutputs = 1, .flags = EVAL_OPERATOR_CARRIES, .implementations = implementations,
      .nImplementations = 1 },
};
static const EvalOperator *const operators[] = { &ops[0], &ops[1] };
static const EvalPlugin mine = { .size = sizeof mine, .abi = EVAL_PLUGIN_ABI, .name = "mine",
                                 .operators = operators, .nOperators = 2 };

static const char totals[] = "lines\nin x -1\nnode t test Total 1 x > y\nout y\n";

static EvalStatus evaluate(model *m, size_t n, const real *x, real *y)
{
    input in = { "x", x, n };
    output out = { "y", y, n, 0 };
    return m->vtbl->Evaluate(m, &in, 1, &out, 1);
}

static void expect(model *m, size_t n, const real *x, const real *wanted)
{
    real y[8];
    if (evaluate(m, n, x, y) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    for (size_t i = 0; i < n; i++)
        assert_true(y[i] == wanted[i]);
}

static const real one_two_three[] = { 1, 2, 3 };

static void state_goes_on_from_call_to_call_until_it_is_reset(void **state)
{
    (void)state;
    model *m = load_lines(&mine, totals, NULL);
    expect(m, 3, one_two_three, (real[]){ 1, 3, 6 });
    expect(m, 3, one_two_three, (real[]){ 7, 9, 12 });
    expect(m, 1, one_two_three, (real[]){ 13 }); /* another plan */
    assert_int_equal(m->vtbl->ResetState(m), EVAL_OK);
    expect(m, 3, one_two_three, (real[]){ 1, 3, 6 });
    m->vtbl->Destroy(m);
}

static void an_object_and_its_clone_each_have_their_own(void **state)
{
    (void)state;
    model *m = load_lines(&mine, totals, NULL), *clone;
    expect(m, 3, one_two_three, (real[]){ 1, 3, 6 });
    assert_int_equal(control(m)->Clone(m, &clone), EVAL_OK);
    expect(clone, 2, one_two_three, (real[]){ 1, 3 });
    expect(m, 1, one_two_three, (real[]){ 7 });
    expect(clone, 1, one_two_three, (real[]){ 4 });
    m->vtbl->Destroy(m);
    expect(clone, 1, one_two_three, (real[]){ 5 });
    clone->vtbl->Destroy(clone);
}

static void a_call_that_fails_changes_nothing(void **state)
{
    (void)state;
    real y[2];
    model *m = load_lines(&mine, totals, NULL);
    expect(m, 3, one_two_three, (real[]){ 1, 3, 6 });
    assert_int_equal(evaluate(m, 2, (real[]){ 100, -1 }, y), EVAL_ERR_PLUGIN);
    assert_non_null(strstr(m->vtbl->LastError(m), "less than nothing"));
    assert_non_null(strstr(m->vtbl->LastError(m), "'t'"));
    expect(m, 1, one_two_three, (real[]){ 7 });
    m->vtbl->Destroy(m);
}

static void run_begins_anew_each_time(void **state)
{
    (void)state;
    real y[3];
    model *m = load_lines(&mine, totals, NULL);
    expect(m, 3, one_two_three, (real[]){ 1, 3, 6 });
    for (int again = 0; again < 2; again++) {
        size_t n = 3;
        assert_int_equal(run_lines(m, one_two_three, 3, 0, y, &n), EVAL_OK);
        assert_true(y[0] == 1 && y[2] == 6);
    }
    expect(m, 1, one_two_three, (real[]){ 7 }); /* Run touched nothing */
    m->vtbl->Destroy(m);
}

static void two_nodes_keep_apart(void **state)
{
    (void)state;
    model *m = load_lines(&mine, "lines\nin x -1\nnode a test Total 1 x > p\n"
                                 "node b test Total 1 p > y\nout y\n", NULL);
    expect(m, 3, one_two_three, (real[]){ 1, 4, 10 });
    expect(m, 1, one_two_three, (real[]){ 17 });
    m->vtbl->Destroy(m);
}

/* A node whose shapes are known in the run only: what NonZero finds. */
static void a_node_that_is_planned_in_the_run_keeps_its_own_too(void **state)
{
    (void)state;
    model *m = load_lines(&mine,
                          "lines\nin x -1\nnode n - NonZero 13 x > i\nnode c - Cast 13 i > f to="
#if EVL_REAL_IS_DOUBLE
                          "11"
#else
                          "1"
#endif
                          "\nnode t test Total 1 f > t\nnode s - ReduceMax 13 t > y keepdims=0\nout y\n",
                          NULL);
    real x[] = { 0, 1, 1, 0, 1 }, y;
    input in = { "x", x, 5 };
    output out = { "y", &y, 1, 0 };
    for (int again = 1; again < 4; again++) { /* 1 + 2 + 4 */
        if (m->vtbl->Evaluate(m, &in, 1, &out, 1) != EVAL_OK)
            fail_msg("%s", m->vtbl->LastError(m));
        assert_true(y == (real)(7 * again));
    }
    m->vtbl->Destroy(m);
}

/* h = Total(x + h of the frame before, 0.1 at first): both the network and the operator keep state. */
static const char recurrent[] = "run=NDLNetworkBuilder\n"
                                "NDLNetworkBuilder=[\n"
                                "    x = Input(1)\n"
                                "    before = PastValue(1, 1, h, timeStep=1)\n"
                                "    h = RectifiedLinear(Plus(x, before), tag=\"output\")\n"
                                "]\n";

static void in_a_recurrence_it_sees_one_frame_at_a_time(void **state)
{
    (void)state;
    real x[] = { 1, 1, 1, 2 }, h[4], sum = 0, before = (real)0.1, wanted[4];
    for (size_t i = 0; i < 4; i++) {
        sum += x[i] + before;
        wanted[i] = before = sum;
    }
    model *m = make(), *clone;
    assert_int_equal(plugins(m)->LoadStatic(m, &mine), EVAL_OK);
    if (m->vtbl->CreateNetwork(m, recurrent) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_int_equal(control(m)->Clone(m, &clone), EVAL_OK);
    for (size_t cut = 0; cut <= 4; cut++) { /* in one call or two, it is one sequence */
        model *one = cut % 2 ? clone : m;
        assert_int_equal(one->vtbl->ResetState(one), EVAL_OK);
        for (size_t part = 0; part < 2; part++) {
            size_t from = part ? cut : 0, n = part ? 4 - cut : cut;
            input in = { "x", x + from, n };
            output out = { "h", h + from, n, 0 };
            was_with_frames = 0;
            if (n && one->vtbl->Evaluate(one, &in, 1, &out, 1) != EVAL_OK)
                fail_msg("%s", one->vtbl->LastError(one));
            assert_int_equal(was_with_frames, n > 0);
        }
        for (size_t i = 0; i < 4; i++)
            assert_true(fabs((double)(h[i] - wanted[i])) < 1e-5);
    }
    m->vtbl->Destroy(m);
    clone->vtbl->Destroy(clone);
}

/* --- in the place of another ----------------------------------------------------------------- */

static EvalStatus replaced(EvalCall *call)
{
    return call->host->Replaced(call);
}

static EvalStatus prepare_twice(EvalCall *call)
{
    call->scratchBytes = 100;
    return call->host->Replaced(call);
}

/* Twice what the replaced one gives; the plug-in's memory and that one's lie apart. */
static EvalStatus run_twice(EvalCall *call)
{
    real *y = call->out[0].data;
    memset(call->scratch, 77, call->scratchBytes);
    EvalStatus st = call->host->Replaced(call);
    for (size_t i = 0; st == EVAL_OK && i < call->out[0].bytes / sizeof *y; i++)
        y[i] *= 2;
    for (size_t i = 0; i < call->scratchBytes; i++)
        assert_int_equal(((char *)call->scratch)[i], 77);
    return st;
}

static const EvalImplementation twice = { sizeof twice, EVAL_UNDEFINED, prepare_twice, run_twice };
static const EvalImplementation unprepared = { sizeof unprepared, EVAL_UNDEFINED, NULL, replaced };
static const EvalImplementation *const twices[] = { &twice };
static const EvalImplementation *const unprepareds[] = { &unprepared };
static const EvalOperator matmul = { .size = sizeof matmul, .name = "MatMul", .minInputs = 2,
                                     .maxInputs = 2, .minOutputs = 1, .maxOutputs = 1,
                                     .Infer = replaced, .implementations = twices,
                                     .nImplementations = 1 };
static const EvalOperator tanh_op = { .size = sizeof tanh_op, .name = "Tanh", .minInputs = 1,
                                      .maxInputs = 1, .minOutputs = 1, .maxOutputs = 1,
                                      .Infer = replaced, .implementations = twices,
                                      .nImplementations = 1 };
static const EvalOperator neg = { .size = sizeof neg, .name = "Neg", .minInputs = 1, .maxInputs = 1,
                                  .minOutputs = 1, .maxOutputs = 1, .Infer = replaced,
                                  .implementations = unprepareds, .nImplementations = 1 };
static const EvalOperator nobody = { .size = sizeof nobody, .domain = "test", .name = "Nobody",
                                     .minInputs = 1, .maxInputs = 1, .minOutputs = 1, .maxOutputs = 1,
                                     .Infer = replaced, .implementations = twices,
                                     .nImplementations = 1 };
static const EvalOperator *const replacers[] = { &matmul, &tanh_op, &neg, &nobody };
static const EvalPlugin replacing = { .size = sizeof replacing, .abi = EVAL_PLUGIN_ABI, .name = "again",
                                      .operators = replacers, .nOperators = 4 };

static void what_is_replaced_can_be_asked_to_do_it(void **state)
{
    (void)state;
    static const char network[] = "lines\nin x -1 2\nconstant w 2 2 = 1 2 3 4\n"
                                  "node m - MatMul 13 x w > p\nnode t - Tanh 13 p > y\nout y\n";
    real x[] = { 0.5, 0.25, -1, 0 }, y[4];
    size_t n = 4;
    model *m = load_lines(&replacing, network, NULL);
    if (run_lines(m, x, 4, 2, y, &n) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_int_equal(n, 4);
    const double products[] = { 2.5, 4, -2, -4 };
    for (size_t i = 0; i < 4; i++)
        assert_true(fabs((double)y[i] - 2 * tanh(products[i])) < 1e-6);
    m->vtbl->Destroy(m);
}

typedef struct told {
    char methods[256];
    size_t n;
} told;

static void tell_method(void *user, const EvalStep *step)
{
    told *t = user;
    t->n++;
    if (*step->domain == '\0' && *step->method)
        snprintf(t->methods + strlen(t->methods), sizeof t->methods - strlen(t->methods), "%s %s;",
                 step->name, step->method);
}

/* Node s is planned in the run. */
static void a_profile_names_the_plugin(void **state)
{
    (void)state;
    static const char network[] = "lines\nin x -1 2\nconstant w 2 2 = 1 2 3 4\nconstant a 2 = 0 0\n"
                                  "node m - MatMul 13 x w > p\nnode t - Tanh 13 p > y\n"
                                  "node n - NonZero 13 y > i\nnode g - GatherND 13 y i > g\n"
                                  "node s - Tanh 13 g > z\nout z\n";
    model *m = load_lines(&replacing, network, NULL);
    real x[] = { 0, 0 };
    EvalTensor in = { .name = "x", .type = REAL_TYPE, .rank = 2, .dims = { 1, 2 }, .data = x,
                      .bytes = sizeof x };
    EvalTensor out = { .name = "z" };
    told t = { .n = 0 };
    EvalRunOptions options = { .size = sizeof options, .user = &t, .step = tell_method };
    if (m->vtbl->Run(m, &in, 1, &out, 1, &options) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_int_equal(t.n, 5);
    assert_string_equal(t.methods, "m again;t again;s again;");
    m->vtbl->Destroy(m);
}

/* A second one of the name stands in the place of the first: four times. */
static void a_replaced_one_may_be_a_plugins_too(void **state)
{
    (void)state;
    static const char network[] = "lines\nin x -1\nnode t - Tanh 13 x > y\nout y\n";
    real x = 1, y;
    size_t n = 1;
    model *m = load_lines(&replacing, network, NULL);
    assert_int_equal(plugins(m)->LoadStatic(m, &replacing), EVAL_OK);
    assert_int_equal(control(m)->LoadMemory(m, network, sizeof network - 1, NULL), EVAL_OK);
    assert_int_equal(run_lines(m, &x, 1, 0, &y, &n), EVAL_OK);
    assert_true(fabs((double)y - 4 * tanh(1.0)) < 1e-6);
    m->vtbl->Destroy(m);
}

static void what_was_not_prepared_or_is_not_there_is_told(void **state)
{
    (void)state;
    real x = 1, y;
    size_t n = 1;
    EvalStatus st;
    model *m = load_lines(&replacing, "lines\nin x -1\nnode t - Neg 13 x > y\nout y\n", NULL);
    assert_int_equal(run_lines(m, &x, 1, 0, &y, &n), EVAL_ERR_PLUGIN);
    assert_non_null(strstr(m->vtbl->LastError(m), "no operator's place"));
    m->vtbl->Destroy(m);
    m = load_lines(&replacing, "lines\nin x -1\nnode t test Nobody 1 x > y\nout y\n", &st);
    assert_int_equal(st, EVAL_ERR_PLUGIN);
    assert_non_null(strstr(m->vtbl->LastError(m), "no operator's place"));
    m->vtbl->Destroy(m);
}

/* Spell: a text for each number that is not negative, in the call's memory; one that cannot. */
static EvalStatus infer_text(EvalCall *call)
{
    call->out[0].type = EVAL_STRING;
    call->out[0].rank = call->in[0].rank;
    memcpy(call->out[0].dims, call->in[0].dims, sizeof call->in[0].dims);
    return EVAL_OK;
}

static EvalStatus run_spell(EvalCall *call)
{
    enum { LONGEST = 40 };
    const real *x = call->in[0].data;
    EvalString *y = call->out[0].data;
    for (size_t i = 0; i < call->in[0].bytes / sizeof *x; i++) {
        char *text = x[i] < 0 ? NULL : call->host->Allocate(call, LONGEST);
        if (text)
            y[i] = (EvalString){ text, (size_t)snprintf(text, LONGEST, "%g and so on", (double)x[i]) };
    }
    return EVAL_OK;
}

static EvalStatus run_without_texts(EvalCall *call)
{
    assert_null(call->host->Allocate(call, 8));
    memcpy(call->out[0].data, call->in[0].data, call->out[0].bytes);
    return EVAL_OK;
}

static const EvalImplementation spelling = { sizeof spelling, EVAL_UNDEFINED, NULL, run_spell };
static const EvalImplementation passing = { sizeof passing, EVAL_UNDEFINED, NULL, run_without_texts };
static const EvalImplementation *const spellings[] = { &spelling }, *const passings[] = { &passing };
static const EvalOperator spell = { .size = sizeof spell, .domain = "test", .name = "Spell", .minInputs = 1,
                                    .maxInputs = 1, .minOutputs = 1, .maxOutputs = 1, .Infer = infer_text,
                                    .implementations = spellings, .nImplementations = 1 };
static const EvalOperator pass = { .size = sizeof pass, .domain = "test", .name = "Pass", .minInputs = 1,
                                   .maxInputs = 1, .minOutputs = 1, .maxOutputs = 1,
                                   .implementations = passings, .nImplementations = 1 };
static const EvalOperator *const texts[] = { &spell, &pass };
static const EvalPlugin of_texts = { .size = sizeof of_texts, .abi = EVAL_PLUGIN_ABI, .name = "texts",
                                     .operators = texts, .nOperators = 2 };

static void expect_texts(model *m, real *x, int64_t n, const char *const *wanted)
{
    EvalTensor in = { .name = "x", .type = REAL_TYPE, .rank = 1, .dims = { n }, .data = x,
                      .bytes = (size_t)n * sizeof *x };
    EvalTensor out = { .name = "y" };
    if (m->vtbl->Run(m, &in, 1, &out, 1, NULL) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_int_equal(out.type, EVAL_STRING);
    assert_int_equal(out.dims[0], n);
    const EvalString *y = out.data;
    for (int64_t i = 0; i < n; i++) {
        assert_int_equal(y[i].size, strlen(wanted[i]));
        assert_memory_equal(y[i].text, wanted[i], y[i].size);
    }
    assert_int_equal(m->vtbl->Release(m, &out, 1), EVAL_OK);
}

static void it_makes_texts_and_those_it_does_not_are_empty(void **state)
{
    (void)state;
    static const char network[] = "lines\nin x -1\nnode s test Spell 1 x > t\n"
                                  "node j - StringConcat 20 t t > y\nout y\n";
    real x[] = { 1.5, -1, 20 };
    const char *const wanted[] = { "1.5 and so on1.5 and so on", "", "20 and so on20 and so on" };
    model *m = load_lines(&of_texts, network, NULL);
    for (int again = 0; again < 3; again++)
        expect_texts(m, x, 3 - again, wanted);
    m->vtbl->Destroy(m);
}

static void where_there_are_no_strings_there_is_no_memory_in_the_run(void **state)
{
    (void)state;
    real x[] = { 1, 2 }, y[2];
    size_t n = 2;
    model *m = load_lines(&of_texts, "lines\nin x 2\nnode p test Pass 1 x > y\nout y\n", NULL);
    assert_int_equal(run_lines(m, x, 2, 0, y, &n), EVAL_OK);
    assert_true(y[0] == 1 && y[1] == 2);
    m->vtbl->Destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_goes_on_from_call_to_call_until_it_is_reset),
        cmocka_unit_test(an_object_and_its_clone_each_have_their_own),
        cmocka_unit_test(a_call_that_fails_changes_nothing),
        cmocka_unit_test(run_begins_anew_each_time),
        cmocka_unit_test(two_nodes_keep_apart),
        cmocka_unit_test(a_node_that_is_planned_in_the_run_keeps_its_own_too),
        cmocka_unit_test(in_a_recurrence_it_sees_one_frame_at_a_time),
        cmocka_unit_test(what_is_replaced_can_be_asked_to_do_it),
        cmocka_unit_test(a_profile_names_the_plugin),
        cmocka_unit_test(a_replaced_one_may_be_a_plugins_too),
        cmocka_unit_test(what_was_not_prepared_or_is_not_there_is_told),
        cmocka_unit_test(it_makes_texts_and_those_it_does_not_are_empty),
        cmocka_unit_test(where_there_are_no_strings_there_is_no_memory_in_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
