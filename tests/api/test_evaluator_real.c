/* CNTK's calls, in both precisions: right ones, wrong ones, and their order. */
#include "fixture.h"
#include <errno.h>
#include <fenv.h>
#include <locale.h>

enum { PIXELS = 784, SCORES = 10 };

static void evaluate(model *m, size_t n, const real *images, real *scores)
{
    input in = { "features", images, n * PIXELS };
    output out = { "ol.z", scores, n * SCORES, 0 };
    if (m->vtbl->Evaluate(m, &in, 1, &out, 1) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_int_equal(out.count, n * SCORES);
}

static void null_is_harmless(void **state)
{
    (void)state;
    PUBLIC(GetEval)(NULL);
    model *m = make();
    m->vtbl->Destroy(NULL);
    assert_int_equal(m->vtbl->Init(NULL, "a=b"), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Init(m, NULL), EVAL_OK);
    assert_int_equal(m->vtbl->CreateNetwork(m, NULL), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_INPUT, NULL, NULL),
                     EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Evaluate(m, NULL, 1, NULL, 0), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->EvaluateOutputs(m, NULL, 0), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Run(m, NULL, 0, NULL, 0, NULL), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Release(m, NULL, 1), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->GetInterface(m, NULL, 1, NULL), EVAL_ERR_ARGUMENT);
    assert_non_null(m->vtbl->LastError(NULL));
    m->vtbl->Destroy(m);
}

static void without_a_network_every_call_says_so(void **state)
{
    (void)state;
    model *m = make();
    size_t count = 0;
    output out = { "ol.z", NULL, 0, 0 };
    assert_string_equal(m->vtbl->LastError(m), "");
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_INPUT, NULL, &count), EVAL_ERR_STATE);
    assert_int_equal(m->vtbl->StartEvaluateMinibatchLoop(m, "ol.z"), EVAL_ERR_STATE);
    assert_int_equal(m->vtbl->Evaluate(m, NULL, 0, &out, 1), EVAL_ERR_STATE);
    assert_int_equal(m->vtbl->ResetState(m), EVAL_ERR_STATE);
    assert_non_null(strstr(m->vtbl->LastError(m), "CreateNetwork"));
    m->vtbl->Destroy(m);
}

static void a_path_given_to_init_does_nothing(void **state)
{
    (void)state;
    model *m = make();
    assert_int_equal(m->vtbl->Init(m, "C:\\Users\\x\\01_OneHidden.cntk"), EVAL_OK);
    assert_int_equal(m->vtbl->Init(m, ""), EVAL_OK);
    m->vtbl->Destroy(m);
}

static void files_that_are_no_models_have_their_status(void **state)
{
    (void)state;
    const struct {
        const char *path;
        EvalStatus status;
    } cases[] = {
        { "missing.onnx", EVAL_ERR_IO },
        { "digits", EVAL_ERR_IO },           /* a directory */
        { "sequence.py", EVAL_ERR_FORMAT },
    };
    model *m = make();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(m->vtbl->CreateNetwork(m, description(cases[i].path, "")), cases[i].status);
        assert_non_null(strstr(m->vtbl->LastError(m), cases[i].path));
    }
    m->vtbl->Destroy(m);
}

static void bad_settings_are_refused(void **state)
{
    (void)state;
    model *m = make();
    assert_int_equal(m->vtbl->CreateNetwork(m, "deviceId=-1"), EVAL_ERR_ARGUMENT);
    assert_non_null(strstr(m->vtbl->LastError(m), "modelPath"));
    assert_int_equal(m->vtbl->CreateNetwork(m, "a=[b"), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("digits/digits.dnn", "numCPUThreads=x")),
                     EVAL_ERR_ARGUMENT);
    assert_int_equal(
        m->vtbl->CreateNetwork(m, description("digits/digits.dnn", "strict=true\nfoo=1")),
        EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("digits/digits.dnn", "foo=1")), EVAL_OK);
    assert_int_equal(
        m->vtbl->CreateNetwork(m, description("digits/digits.dnn", "outputNodeNames=ol.x")),
        EVAL_ERR_NOT_FOUND);
    assert_non_null(strstr(m->vtbl->LastError(m), "ol.z")); /* a near name */
    assert_int_equal(m->vtbl->CreateNetwork(m, "SimpleNetworkBuilder=[layerSizes=1:2]"),
                     EVAL_ERR_UNSUPPORTED);
    m->vtbl->Destroy(m);
}

static void a_failing_load_keeps_the_network(void **state)
{
    (void)state;
    model *m = load("digits/digits.dnn", "");
    real image[PIXELS], before[SCORES], after[SCORES];
    static const struct {
        const char *path, *settings;
        EvalStatus status;
    } bad[] = {
        { "missing.onnx", "", EVAL_ERR_IO },
        { "digits", "", EVAL_ERR_IO }, /* a directory */
        { "sequence.py", "", EVAL_ERR_FORMAT },
        { "../tests/data/onnx/unsupported.onnx", "", EVAL_ERR_UNSUPPORTED },
        { "../tests/data/cntk1/bad_cycle.model", "", EVAL_ERR_FORMAT },
        { "digits/digits.dnn", "numCPUThreads=many", EVAL_ERR_ARGUMENT },
        { "digits/digits.dnn", "strict=true\nfoo=1", EVAL_ERR_ARGUMENT },
        { "digits/digits.dnn", "outputNodeNames=ol.x", EVAL_ERR_NOT_FOUND },
        { "digits/digits.dnn", "maxMemory=1", EVAL_ERR_MEMORY },
        { "digits/digits.onnx", "maxNodes=1", EVAL_ERR_LIMIT },
        { "digits/digits.dnn", "a=[b", EVAL_ERR_ARGUMENT },
    };
    fill_image(PIXELS, image);
    evaluate(m, 1, image, before);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        EvalStatus st = m->vtbl->CreateNetwork(m, description(bad[i].path, bad[i].settings));
        if (st != bad[i].status)
            fail_msg("%s: %d, %s", bad[i].path, (int)st, m->vtbl->LastError(m));
        evaluate(m, 1, image, after);
        assert_memory_equal(before, after, sizeof before);
    }
    m->vtbl->Destroy(m);
}

static void nodes_have_sizes(void **state)
{
    (void)state;
    model *m = load("digits/digits.dnn", "");
    EvalDimension dims[4];
    size_t count = 0;
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_OUTPUT, NULL, &count), EVAL_OK);
    assert_int_equal(count, 1);
    count = 0;
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_OUTPUT, dims, &count), EVAL_ERR_LIMIT);
    assert_int_equal(count, 1);
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_OUTPUT, dims, &count), EVAL_OK);
    assert_string_equal(dims[0].name, "ol.z");
    assert_int_equal(dims[0].size, SCORES);
    count = 4;
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_INPUT, dims, &count), EVAL_OK);
    assert_int_equal(count, 1);
    assert_string_equal(dims[0].name, "features");
    assert_int_equal(dims[0].size, PIXELS);
    dims[0].name = "ol.z";
    dims[1].name = "nothing";
    count = 2;
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_SPECIFIED, dims, &count),
                     EVAL_ERR_NOT_FOUND);
    count = 1;
    assert_int_equal(m->vtbl->GetNodeDimensions(m, EVAL_NODE_SPECIFIED, dims, &count), EVAL_OK);
    assert_int_equal(dims[0].size, SCORES);
    assert_int_equal(m->vtbl->GetNodeDimensions(m, (EvalNodeGroup)7, dims, &count),
                     EVAL_ERR_ARGUMENT);
    m->vtbl->Destroy(m);
}

static void a_loop_starts_for_nodes_that_are_there(void **state)
{
    (void)state;
    model *m = load("digits/digits.dnn", "");
    assert_int_equal(m->vtbl->StartEvaluateMinibatchLoop(m, "ol.z"), EVAL_OK);
    assert_int_equal(m->vtbl->StartEvaluateMinibatchLoop(m, "ol.zz"), EVAL_ERR_NOT_FOUND);
    assert_non_null(strstr(m->vtbl->LastError(m), "ol.z"));
    assert_int_equal(m->vtbl->StartEvaluateMinibatchLoop(m, NULL), EVAL_ERR_ARGUMENT);
    m->vtbl->Destroy(m);
}

static void both_formats_of_a_network_agree(void **state)
{
    (void)state;
    model *a = load("digits/digits.dnn", ""), *b = load("digits/digits.onnx", "");
    real image[PIXELS], x[SCORES], y[SCORES], most = 0;
    fill_image(PIXELS, image);
    evaluate(a, 1, image, x);
    evaluate(b, 1, image, y);
    for (size_t i = 0; i < SCORES; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    for (size_t i = 0; i < SCORES; i++)
        assert_true(fabs(x[i] - y[i]) <= 100 * REAL_EPSILON * most);
    a->vtbl->Destroy(a);
    b->vtbl->Destroy(b);
}

static void many_samples_give_what_each_gives(void **state)
{
    (void)state;
    enum { MANY = 5 };
    const char *files[] = { "digits/digits.dnn", "digits/digits.onnx" };
    static real images[MANY * PIXELS], all[MANY * SCORES], one[SCORES];
    fill_image(MANY * PIXELS, images);
    for (size_t f = 0; f < 2; f++) {
        model *m = load(files[f], "");
        evaluate(m, MANY, images, all);
        for (size_t i = 0; i < MANY; i++) {
            evaluate(m, 1, images + i * PIXELS, one);
            for (size_t j = 0; j < SCORES; j++)
                assert_true(fabs(one[j] - all[i * SCORES + j]) <=
                            1000 * REAL_EPSILON * (1 + fabs(one[j])));
        }
        m->vtbl->Destroy(m);
    }
}

static void bad_lengths_and_names_are_refused(void **state)
{
    (void)state;
    model *m = load("digits/digits.dnn", "");
    real image[PIXELS], scores[SCORES];
    fill_image(PIXELS, image);
    input in = { "features", image, 3 }, twice[2];
    output out = { "ol.z", scores, SCORES, 0 };
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_ERR_SHAPE);
    in.count = PIXELS;
    in.name = "feature";
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_ERR_NOT_FOUND);
    assert_non_null(strstr(m->vtbl->LastError(m), "features"));
    assert_int_equal(m->vtbl->Evaluate(m, &in, 0, &out, 1), EVAL_ERR_ARGUMENT);
    assert_non_null(strstr(m->vtbl->LastError(m), "features")); /* needed, not given */
    in.name = "features";
    out.name = "ol";
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_ERR_NOT_FOUND);
    out.name = "ol.z";
    out.capacity = SCORES - 1;
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_ERR_LIMIT);
    assert_int_equal(out.count, SCORES);
    in.data = NULL;
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_ERR_ARGUMENT);
    in.data = image;
    twice[0] = twice[1] = in;
    out.capacity = SCORES;
    assert_int_equal(m->vtbl->Evaluate(m, twice, 2, &out, 1), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_OK);
    m->vtbl->Destroy(m);
}

static void outputs_without_memory_get_the_objects(void **state)
{
    (void)state;
    model *m = load("digits/digits.dnn", "");
    real image[PIXELS], scores[SCORES];
    fill_image(PIXELS, image);
    evaluate(m, 1, image, scores);
    input in = { "features", image, PIXELS };
    output out = { "ol.z", NULL, 0, 0 };
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_OK);
    assert_int_equal(out.count, SCORES);
    assert_memory_equal(out.data, scores, sizeof scores);
    m->vtbl->Destroy(m);
}

static void a_parameter_needs_no_input(void **state)
{
    (void)state;
    model *m = load("sequence.dnn", "");
    real b[1];
    output out = { "parity.b", b, 1, 0 };
    if (m->vtbl->EvaluateOutputs(m, &out, 1) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_true(b[0] == -10);
    out.name = "parity";
    assert_int_equal(m->vtbl->EvaluateOutputs(m, &out, 1), EVAL_ERR_ARGUMENT);
    m->vtbl->Destroy(m);
}

static void inner_nodes_may_be_asked_for_and_given(void **state)
{
    (void)state;
    model *m = load("digits/digits.onnx", "");
    real image[PIXELS], hidden[64], scores[SCORES], again[SCORES];
    fill_image(PIXELS, image);
    input in = { "features", image, PIXELS };
    output out[] = { { "h1.a", hidden, 64, 0 }, { "ol.z", scores, SCORES, 0 } };
    if (m->vtbl->Evaluate(m, &in, 1, out, 2) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    input inner = { "h1.a", hidden, 64 };
    output last = { "ol.z", again, SCORES, 0 };
    assert_int_equal(m->vtbl->Evaluate(m, &inner, 1, &last, 1), EVAL_OK);
    assert_memory_equal(scores, again, sizeof scores);
    m->vtbl->Destroy(m);
}

static void parity(model *m, size_t first, size_t n, real *y)
{
    static const real bits[] = { 1, 0, 1, 1, 0, 0, 1, 1 };
    input in = { "bit", bits + first, n };
    output out = { "parity", y + first, n, 0 };
    if (m->vtbl->Evaluate(m, &in, 1, &out, 1) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
}

static void a_sequence_goes_on_until_it_is_reset(void **state)
{
    (void)state;
    static const bool odd[] = { 1, 1, 0, 1, 1, 1, 0, 1 };
    model *m = load("sequence.dnn", "");
    real whole[8], steps[8], on[8];
    parity(m, 0, 8, whole);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(whole[i] > (real)1 / 2, odd[i]);
    parity(m, 0, 8, on); /* goes on: the parity of 5 bits that are set is carried */
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(on[i] > (real)1 / 2, !odd[i]);
    assert_int_equal(m->vtbl->ResetState(m), EVAL_OK);
    assert_int_equal(m->vtbl->ResetState(m), EVAL_OK); /* twice is once */
    parity(m, 0, 3, steps);
    parity(m, 3, 1, steps);
    parity(m, 4, 4, steps);
    assert_memory_equal(whole, steps, sizeof whole);
    m->vtbl->Destroy(m);
}

static void a_failing_call_leaves_the_state(void **state)
{
    (void)state;
    model *m = load("sequence.dnn", "");
    real expected[8], y[8], bit = 1;
    parity(m, 0, 8, expected);
    assert_int_equal(m->vtbl->ResetState(m), EVAL_OK);
    parity(m, 0, 4, y);
    input in = { "bit", &bit, 1 };
    output out = { "parity", y + 4, 0, 0 };
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_ERR_LIMIT);
    in.name = "bits";
    assert_int_equal(m->vtbl->Evaluate(m, &in, 1, &out, 1), EVAL_ERR_NOT_FOUND);
    assert_int_equal(m->vtbl->StartEvaluateMinibatchLoop(m, "bits"), EVAL_ERR_NOT_FOUND);
    assert_int_equal(m->vtbl->Init(m, "a=[b"), EVAL_ERR_ARGUMENT);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("missing.dnn", "")), EVAL_ERR_IO);
    parity(m, 4, 4, y);
    assert_memory_equal(expected, y, sizeof y);
    m->vtbl->Destroy(m);
}

static void a_clone_has_a_sequence_of_its_own(void **state)
{
    (void)state;
    model *m = load("sequence.dnn", ""), *clone;
    real a[8], b[8];
    parity(m, 0, 4, a);
    assert_int_equal(control(m)->Clone(m, &clone), EVAL_OK);
    parity(clone, 0, 8, b);
    parity(m, 4, 4, a);
    m->vtbl->Destroy(m); /* the clone keeps the network */
    assert_memory_equal(a, b, sizeof a);
    parity(clone, 0, 8, a);
    clone->vtbl->Destroy(clone);
}

static void further_tables_are_found_by_name_and_version(void **state)
{
    (void)state;
    model *m = make();
    const void *table = m;
    assert_int_equal(m->vtbl->GetInterface(m, "control", 4, &table), EVAL_ERR_UNSUPPORTED);
    assert_null(table);
    table = m;
    assert_int_equal(m->vtbl->GetInterface(m, "controls", 1, &table), EVAL_ERR_NOT_FOUND);
    assert_null(table);
    assert_non_null(strstr(m->vtbl->LastError(m), "control"));
    assert_int_equal(m->vtbl->GetInterface(m, "describe", 1, &table), EVAL_OK);
    assert_int_equal(((const PUBLIC(EvalDescribe) *)table)->size, sizeof(PUBLIC(EvalDescribe)));
    m->vtbl->Destroy(m);
}

static void a_network_describes_itself(void **state)
{
    (void)state;
    model *m = load("digits/digits.onnx", "");
    const void *found;
    assert_int_equal(m->vtbl->GetInterface(m, "describe", 1, &found), EVAL_OK);
    const PUBLIC(EvalDescribe) *table = found;
    EvalNodeInfo infos[64] = { { .size = sizeof(EvalNodeInfo) } };
    size_t count = 64;
    assert_int_equal(table->Inputs(m, infos, &count), EVAL_OK);
    assert_int_equal(count, 1);
    assert_string_equal(infos[0].name, "features");
    assert_int_equal(infos[0].type, EVAL_FLOAT32);
    assert_int_equal(infos[0].rank, 2);
    assert_int_equal(infos[0].dims[0], -1);
    assert_string_equal(infos[0].dimNames[0], "N");
    assert_int_equal(infos[0].dims[1], PIXELS);
    count = 1;
    assert_int_equal(table->Nodes(m, infos, &count), EVAL_ERR_LIMIT);
    assert_true(count > 10);
    assert_int_equal(table->Nodes(m, infos, &count), EVAL_OK);
    count = 64;
    assert_int_equal(table->Outputs(m, infos, &count), EVAL_OK);
    assert_string_equal(infos[0].op, "Gemm");
    const char *key, *value;
    assert_int_equal(table->Metadata(m, 0, &key, &value), EVAL_OK);
    assert_int_equal(table->Metadata(m, 10000, &key, &value), EVAL_ERR_NOT_FOUND);
    m->vtbl->Destroy(m);
}

static void count_log(void *user, EvalLogLevel level, const char *text)
{
    (void)level;
    *(size_t *)user += strstr(text, "no setting") != NULL;
}

static void notes_go_to_the_log(void **state)
{
    (void)state;
    size_t notes = 0;
    model *m = make();
    assert_int_equal(control(m)->SetLog(m, count_log, &notes), EVAL_OK);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("sequence.dnn", "foo=1")), EVAL_OK);
    assert_int_equal(notes, 1);
    m->vtbl->Destroy(m);
}

static void memory_comes_from_the_callers_allocator_and_goes_back(void **state)
{
    (void)state;
    evl_memory memory;
    evl_test_memory(&memory, SIZE_MAX);
    model *m = make();
    EvalMemoryUse use = { .size = sizeof use };
    assert_int_equal(control(m)->SetAllocator(m, &memory.from), EVAL_OK);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("sequence.dnn", "")), EVAL_OK);
    assert_true(evl_test_requests(&memory) > 0);
    assert_int_equal(control(m)->SetAllocator(m, NULL), EVAL_ERR_STATE);
    assert_int_equal(control(m)->MemoryUse(m, &use), EVAL_OK);
    assert_true(use.bytes > 0 && use.peakBytes >= use.bytes && use.blocks > 0);
    assert_int_equal(use.mappedBytes, 2050); /* the size of the file */
    m->vtbl->Destroy(m);
}

/* R13: nothing is allocated once the shapes are known and the outputs are the caller's. */
static void a_second_evaluation_allocates_nothing(void **state)
{
    (void)state;
    const char *files[] = { "digits/digits.dnn", "digits/digits.onnx" };
    real image[PIXELS], scores[SCORES];
    fill_image(PIXELS, image);
    for (size_t f = 0; f < 2; f++) {
        evl_memory memory;
        evl_test_memory(&memory, SIZE_MAX);
        model *m = make();
        assert_int_equal(control(m)->SetAllocator(m, &memory.from), EVAL_OK);
        assert_int_equal(m->vtbl->CreateNetwork(m, description(files[f], "")), EVAL_OK);
        evaluate(m, 1, image, scores);
        size_t before = evl_test_requests(&memory);
        evaluate(m, 1, image, scores);
        assert_int_equal(evl_test_requests(&memory), before);
        m->vtbl->Destroy(m);
    }
}

static void a_sequence_allocates_nothing_once_it_goes_on(void **state)
{
    (void)state;
    evl_memory memory;
    real y[8];
    evl_test_memory(&memory, SIZE_MAX);
    model *m = make();
    assert_int_equal(control(m)->SetAllocator(m, &memory.from), EVAL_OK);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("sequence.dnn", "")), EVAL_OK);
    parity(m, 0, 4, y);
    parity(m, 0, 4, y);
    size_t before = evl_test_requests(&memory);
    parity(m, 0, 4, y);
    assert_int_equal(evl_test_requests(&memory), before);
    m->vtbl->Destroy(m);
}

static void errno_and_the_rounding_mode_are_left_as_found(void **state)
{
    (void)state;
    real image[PIXELS], x[SCORES], y[SCORES];
    fill_image(PIXELS, image);
    model *m = load("digits/digits.dnn", "");
    evaluate(m, 1, image, x);
    fesetround(FE_UPWARD);
    errno = 1234;
    evaluate(m, 1, image, y);
    assert_int_equal(fegetround(), FE_UPWARD);
    assert_int_equal(errno, 1234);
    m->vtbl->CreateNetwork(m, description("missing", ""));
    assert_int_equal(errno, 1234);
    m->vtbl->Destroy(m);
    assert_memory_equal(x, y, sizeof x);
    m = load("digits/digits.dnn", "numCPUThreads=3"); /* threads begin with their maker's mode */
    evaluate(m, 1, image, y);
    m->vtbl->Destroy(m);
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    assert_memory_equal(x, y, sizeof x);
}

static void a_german_locale_changes_nothing(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip(); /* the machine has no such locale */
    model *m = load("sequence.dnn", "numCPUThreads=1");
    real y[8];
    parity(m, 0, 8, y);
    assert_true(y[0] > (real)1 / 2);
    m->vtbl->Destroy(m);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_harmless),
        cmocka_unit_test(without_a_network_every_call_says_so),
        cmocka_unit_test(a_path_given_to_init_does_nothing),
        cmocka_unit_test(files_that_are_no_models_have_their_status),
        cmocka_unit_test(bad_settings_are_refused),
        cmocka_unit_test(a_failing_load_keeps_the_network),
        cmocka_unit_test(nodes_have_sizes),
        cmocka_unit_test(a_loop_starts_for_nodes_that_are_there),
        cmocka_unit_test(both_formats_of_a_network_agree),
        cmocka_unit_test(many_samples_give_what_each_gives),
        cmocka_unit_test(bad_lengths_and_names_are_refused),
        cmocka_unit_test(outputs_without_memory_get_the_objects),
        cmocka_unit_test(a_parameter_needs_no_input),
        cmocka_unit_test(inner_nodes_may_be_asked_for_and_given),
        cmocka_unit_test(a_sequence_goes_on_until_it_is_reset),
        cmocka_unit_test(a_failing_call_leaves_the_state),
        cmocka_unit_test(a_clone_has_a_sequence_of_its_own),
        cmocka_unit_test(further_tables_are_found_by_name_and_version),
        cmocka_unit_test(a_network_describes_itself),
        cmocka_unit_test(notes_go_to_the_log),
        cmocka_unit_test(memory_comes_from_the_callers_allocator_and_goes_back),
        cmocka_unit_test(a_second_evaluation_allocates_nothing),
        cmocka_unit_test(a_sequence_allocates_nothing_once_it_goes_on),
        cmocka_unit_test(errno_and_the_rounding_mode_are_left_as_found),
        cmocka_unit_test(a_german_locale_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
