/* Every slot of every table called as it must not be: a status, a text that says why, and an
** object that works as before. */
#include "api/fixture.h"

enum { PIXELS = 784, SCORES = 10 };

static model *m;
static const PUBLIC(EvalControl) *controls;
static const PUBLIC(EvalDescribe) *describes;
static real image[PIXELS], expected[SCORES], scores[SCORES];

static EvalStatus evaluate(void)
{
    input in = { "features", image, PIXELS };
    output out = { "ol.z", scores, SCORES, 0 };
    return m->vtbl->Evaluate(m, &in, 1, &out, 1);
}

static void make_bare(void)
{
    const void *table;
    m = make();
    controls = control(m);
    assert_int_equal(m->vtbl->GetInterface(m, "describe", 1, &table), EVAL_OK);
    describes = table;
}

static int setup(void **state)
{
    (void)state;
    make_bare();
    fill_image(PIXELS, image);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("digits/digits.onnx", "")), EVAL_OK);
    assert_int_equal(evaluate(), EVAL_OK);
    memcpy(expected, scores, sizeof scores);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    m->vtbl->Destroy(m);
    return 0;
}

static void says(EvalStatus got, EvalStatus wanted, const char *words)
{
    const char *text = m->vtbl->LastError(m);
    if (got != wanted || !strstr(text, words))
        fail_msg("status %d, not %d, and '%s', not '%s'", (int)got, (int)wanted, text, words);
}

/* And the network gives what it gave before. */
static void refused(EvalStatus got, EvalStatus wanted, const char *words)
{
    says(got, wanted, words);
    memset(scores, 0, sizeof scores);
    assert_int_equal(evaluate(), EVAL_OK);
    assert_memory_equal(scores, expected, sizeof scores);
}

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
    const void *table = m;
    const char *key, *value;
    model *clone;
    size_t count = 0;
    output out = { "ol.z", NULL, 0, 0 };
    EvalTensor tensor = { .name = "ol.z" };
    EvalMemoryUse use = { .size = sizeof use };
    const EvalStatus got[] = {
        m->vtbl->Init(NULL, "a=b"),
        m->vtbl->CreateNetwork(NULL, "modelPath=x"),
        m->vtbl->GetNodeDimensions(NULL, EVAL_NODE_INPUT, NULL, &count),
        m->vtbl->StartEvaluateMinibatchLoop(NULL, "ol.z"),
        m->vtbl->Evaluate(NULL, NULL, 0, &out, 1),
        m->vtbl->EvaluateOutputs(NULL, &out, 1),
        m->vtbl->ResetState(NULL),
        m->vtbl->Run(NULL, NULL, 0, &tensor, 1, NULL),
        m->vtbl->Release(NULL, &tensor, 1),
        m->vtbl->GetInterface(NULL, "control", 1, &table),
        controls->SetAllocator(NULL, NULL),
        controls->SetLog(NULL, NULL, NULL),
        controls->Clone(NULL, &clone),
        controls->MemoryUse(NULL, &use),
        describes->Inputs(NULL, NULL, &count),
        describes->Outputs(NULL, NULL, &count),
        describes->Nodes(NULL, NULL, &count),
        describes->Metadata(NULL, 0, &key, &value),
    };
    for (size_t i = 0; i < sizeof got / sizeof got[0]; i++)
        assert_int_equal(got[i], EVAL_ERR_ARGUMENT);
    assert_null(table);
    assert_string_equal(m->vtbl->LastError(NULL), "the object is NULL");
    m->vtbl->Destroy(NULL);
    PUBLIC(GetEval)(NULL);
    assert_int_equal(m->vtbl->size, sizeof *m->vtbl);
    assert_int_equal(controls->size, sizeof *controls);
    assert_int_equal(describes->size, sizeof *describes);
}

static void settings_that_make_no_sense(void **state)
{
    (void)state;
    assert_int_equal(m->vtbl->Init(m, NULL), EVAL_OK);
    assert_int_equal(m->vtbl->Init(m, "no setting"), EVAL_OK);
    refused(m->vtbl->Init(m, "a=[b"), EVAL_ERR_ARGUMENT, "no closing ]");
    refused(m->vtbl->Init(m, "numCPUThreads=many"), EVAL_ERR_ARGUMENT, "numCPUThreads");
    refused(m->vtbl->Init(m, "numCPUThreads=100000"), EVAL_ERR_ARGUMENT, "1024");
    refused(m->vtbl->Init(m, "strict=true\nfoo=1"), EVAL_ERR_ARGUMENT, "foo");
    refused(m->vtbl->CreateNetwork(m, NULL), EVAL_ERR_ARGUMENT, "the description is NULL");
    refused(m->vtbl->CreateNetwork(m, ""), EVAL_ERR_ARGUMENT, "modelPath");
    refused(m->vtbl->CreateNetwork(m, "modelPath="), EVAL_ERR_ARGUMENT, "modelPath");
    refused(m->vtbl->CreateNetwork(m, "modelPath=\"\""), EVAL_ERR_ARGUMENT, "modelPath");
    refused(m->vtbl->CreateNetwork(m, "modelPath=\"a"), EVAL_ERR_ARGUMENT, "no closing \"");
    refused(m->vtbl->CreateNetwork(m, "modelPath=$x$"), EVAL_ERR_ARGUMENT, "x");
    refused(m->vtbl->CreateNetwork(m, description("none.onnx", "")), EVAL_ERR_IO, "none.onnx");
    refused(m->vtbl->CreateNetwork(m, description("digits", "")), EVAL_ERR_IO, "digits");
    refused(m->vtbl->CreateNetwork(m, description("hello.c", "")), EVAL_ERR_FORMAT, "hello.c");
    refused(m->vtbl->CreateNetwork(m, description("digits/digits.dnn", "outputNodeNames=q")),
            EVAL_ERR_NOT_FOUND, "'q'");
    refused(m->vtbl->CreateNetwork(m, description("digits/digits.dnn", "maxNodes=1")),
            EVAL_ERR_LIMIT, "1");
    refused(m->vtbl->CreateNetwork(m, description("digits/digits.dnn", "accuracy=perfect")),
            EVAL_ERR_ARGUMENT, "perfect");
}

static void nodes_and_groups_that_are_not_there(void **state)
{
    (void)state;
    EvalDimension dims[2] = { { NULL, 0 } };
    size_t none = 0, one = 1, two = 2;
    const EvalNodeGroup given = EVAL_NODE_SPECIFIED;
    refused(m->vtbl->GetNodeDimensions(m, EVAL_NODE_INPUT, dims, NULL), EVAL_ERR_ARGUMENT, "count");
    refused(m->vtbl->GetNodeDimensions(m, (EvalNodeGroup)3, dims, &one), EVAL_ERR_ARGUMENT, "3 is");
    refused(m->vtbl->GetNodeDimensions(m, (EvalNodeGroup)-1, NULL, &one), EVAL_ERR_ARGUMENT, "-1 is");
    refused(m->vtbl->GetNodeDimensions(m, EVAL_NODE_INPUT, dims, &none), EVAL_ERR_LIMIT, "are 1");
    assert_int_equal(none, 1);
    refused(m->vtbl->GetNodeDimensions(m, given, NULL, &one), EVAL_ERR_ARGUMENT, "names is NULL");
    refused(m->vtbl->GetNodeDimensions(m, given, dims, &one), EVAL_ERR_ARGUMENT, "name is NULL");
    dims[0].name = "ol.z";
    dims[1].name = "";
    refused(m->vtbl->GetNodeDimensions(m, given, dims, &two), EVAL_ERR_NOT_FOUND, "node ''");
    refused(m->vtbl->StartEvaluateMinibatchLoop(m, ""), EVAL_ERR_NOT_FOUND, "node ''");
    refused(m->vtbl->StartEvaluateMinibatchLoop(m, NULL), EVAL_ERR_ARGUMENT, "name is NULL");
    refused(m->vtbl->StartEvaluateMinibatchLoop(m, "ol.zz"), EVAL_ERR_NOT_FOUND, "ol.z");
}

static void vectors_that_do_not_fit(void **state)
{
    (void)state;
    static real big[2 * SCORES];
    input in = { "features", image, PIXELS };
    output out = { "ol.z", big, SCORES, 0 };
    const input inputs[] = { { NULL, image, PIXELS }, { "f", image, PIXELS },
                             { "features", NULL, PIXELS }, { "features", image, PIXELS - 1 } };
    const output outputs[] = { { NULL, big, SCORES, 0 }, { "ol", big, SCORES, 0 },
                               { "ol.z", big, SCORES - 1, 0 } };
    const struct {
        EvalStatus status;
        const char *words;
    } of_inputs[] = { { EVAL_ERR_ARGUMENT, "name is NULL" }, { EVAL_ERR_NOT_FOUND, "'f'" },
                      { EVAL_ERR_ARGUMENT, "data is NULL" }, { EVAL_ERR_SHAPE, "784" } },
      of_outputs[] = { { EVAL_ERR_ARGUMENT, "name is NULL" }, { EVAL_ERR_NOT_FOUND, "'ol'" },
                       { EVAL_ERR_LIMIT, "ol.z: " } };
    refused(m->vtbl->Evaluate(m, NULL, 1, &out, 1), EVAL_ERR_ARGUMENT, "array is NULL");
    refused(m->vtbl->Evaluate(m, &in, 1, NULL, 1), EVAL_ERR_ARGUMENT, "array is NULL");
    refused(m->vtbl->Evaluate(m, &in, 1, &out, 0), EVAL_ERR_ARGUMENT, "no outputs");
    refused(m->vtbl->Evaluate(m, &in, 0, &out, 1), EVAL_ERR_ARGUMENT, "features");
    refused(m->vtbl->EvaluateOutputs(m, NULL, 1), EVAL_ERR_ARGUMENT, "array is NULL");
    refused(m->vtbl->EvaluateOutputs(m, &out, 0), EVAL_ERR_ARGUMENT, "no outputs");
    refused(m->vtbl->EvaluateOutputs(m, &out, 1), EVAL_ERR_ARGUMENT, "features");
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++)
        refused(m->vtbl->Evaluate(m, &inputs[i], 1, &out, 1), of_inputs[i].status,
                of_inputs[i].words);
    for (size_t i = 0; i < sizeof outputs / sizeof outputs[0]; i++) {
        output bad = outputs[i];
        refused(m->vtbl->Evaluate(m, &in, 1, &bad, 1), of_outputs[i].status, of_outputs[i].words);
    }
}

static EvalTensor good_tensor(void)
{
    return (EvalTensor){ .name = "features", .type = REAL_TYPE, .rank = 2, .dims = { 1, PIXELS },
                         .data = image, .bytes = sizeof image };
}

static void tensors_that_do_not_fit(void **state)
{
    (void)state;
    static const EvalType types[] = { EVAL_UNDEFINED, EVAL_INT64, EVAL_STRING, EVAL_BOOL,
                                      EVAL_COMPLEX64, EVAL_SEQUENCE, (EvalType)-1, (EvalType)999 };
    static const int32_t ranks[] = { -1, 0, 1, 3, EVAL_MAX_RANK + 1 };
    EvalTensor in = good_tensor(), out = { .name = "ol.z" };
    refused(m->vtbl->Run(m, NULL, 1, &out, 1, NULL), EVAL_ERR_ARGUMENT, "array is NULL");
    refused(m->vtbl->Run(m, &in, 1, NULL, 1, NULL), EVAL_ERR_ARGUMENT, "array is NULL");
    refused(m->vtbl->Run(m, &in, 1, &out, 0, NULL), EVAL_ERR_ARGUMENT, "no outputs");
    refused(m->vtbl->Run(m, &in, 0, &out, 1, NULL), EVAL_ERR_ARGUMENT, "features");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        in.type = types[i];
        refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_TYPE, "'features'");
    }
    in = good_tensor();
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        bool is_none = ranks[i] < 0 || ranks[i] > EVAL_MAX_RANK;
        in.rank = ranks[i];
        refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL),
                is_none ? EVAL_ERR_ARGUMENT : EVAL_ERR_SHAPE, "'features'");
    }
    in = good_tensor();
    in.bytes--;
    refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_SHAPE, "bytes, expected");
    in = good_tensor();
    in.data = NULL;
    refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_ARGUMENT, "data is NULL");
    in = good_tensor();
    in.name = NULL;
    refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_ARGUMENT, "name is NULL");
    assert_null(out.data);
}

static void outputs_and_options_that_cannot_be(void **state)
{
    (void)state;
    EvalTensor in = good_tensor(), out = { .name = NULL };
    refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_ARGUMENT, "name is NULL");
    out.name = "ol.zz";
    refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_NOT_FOUND, "ol.z");
    out = (EvalTensor){ .name = "ol.z", .type = EVAL_INT32 };
    refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_TYPE, "'ol.z'");
    out = (EvalTensor){ .name = "ol.z", .data = scores, .bytes = sizeof scores - 1 };
    refused(m->vtbl->Run(m, &in, 1, &out, 1, NULL), EVAL_ERR_LIMIT, "ol.z: ");
    assert_int_equal(out.bytes, sizeof scores);
    out = (EvalTensor){ .name = "ol.z" };
    const size_t least = offsetof(EvalRunOptions, step);
    for (size_t size = 0; size < least; size += sizeof(size_t)) {
        EvalRunOptions options = { .size = size };
        refused(m->vtbl->Run(m, &in, 1, &out, 1, &options), EVAL_ERR_ARGUMENT, "options->size");
    }
    EvalRunOptions older = { .size = least }; /* from before there was a profile */
    assert_int_equal(m->vtbl->Run(m, &in, 1, &out, 1, &older), EVAL_OK);
    EvalRunOptions longer = { .size = 2 * sizeof longer }; /* of a newer header */
    assert_int_equal(m->vtbl->Run(m, &in, 1, &out, 1, &longer), EVAL_OK);
    EvalTensor twice[] = { out, out };
    refused(m->vtbl->Release(m, NULL, 1), EVAL_ERR_ARGUMENT, "NULL");
    refused(m->vtbl->Release(m, twice, 2), EVAL_ERR_ARGUMENT, "not made by Run");
    assert_null(twice[0].data);
    in.data = image;
    refused(m->vtbl->Release(m, &in, 1), EVAL_ERR_ARGUMENT, "not made by Run");
    assert_ptr_equal(in.data, image);
    assert_int_equal(m->vtbl->Release(m, twice, 1), EVAL_OK); /* given back already */
    assert_int_equal(m->vtbl->Release(m, NULL, 0), EVAL_OK);
}

static void tables_that_are_not_there(void **state)
{
    (void)state;
    const void *table = m;
    refused(m->vtbl->GetInterface(m, NULL, 1, &table), EVAL_ERR_ARGUMENT, "name or table");
    refused(m->vtbl->GetInterface(m, "control", 1, NULL), EVAL_ERR_ARGUMENT, "name or table");
    refused(m->vtbl->GetInterface(m, "", 1, &table), EVAL_ERR_NOT_FOUND, "control\ndescribe");
    refused(m->vtbl->GetInterface(m, "control", 99, &table), EVAL_ERR_UNSUPPORTED, "not yet 99");
    assert_null(table);
}

static void *no_room(void *user, size_t bytes, size_t alignment)
{
    (void)user, (void)bytes, (void)alignment;
    return NULL;
}

static void give_up(void *user, void *block, size_t bytes)
{
    (void)user, (void)block, (void)bytes;
}

static void controls_that_make_no_sense(void **state)
{
    (void)state;
    EvalAllocator none = { sizeof none, no_room, give_up, NULL };
    EvalMemoryUse use = { .size = sizeof use - 1 };
    refused(controls->SetAllocator(m, &none), EVAL_ERR_STATE, "before CreateNetwork");
    refused(controls->SetAllocator(m, NULL), EVAL_ERR_STATE, "before CreateNetwork");
    refused(controls->Clone(m, NULL), EVAL_ERR_ARGUMENT, "clone is NULL");
    refused(controls->MemoryUse(m, NULL), EVAL_ERR_ARGUMENT, "use->size");
    refused(controls->MemoryUse(m, &use), EVAL_ERR_ARGUMENT, "use->size");
    assert_int_equal(controls->SetLog(m, NULL, NULL), EVAL_OK);
}

static void lists_that_have_no_room(void **state)
{
    (void)state;
    EvalStatus (*const lists[])(model *, EvalNodeInfo *, size_t *) = {
        describes->Inputs, describes->Outputs, describes->Nodes,
    };
    EvalNodeInfo info = { .size = sizeof info };
    const char *text;
    for (size_t i = 0; i < 3; i++) {
        size_t count = 0, one = 1;
        refused(lists[i](m, &info, NULL), EVAL_ERR_ARGUMENT, "count is NULL");
        refused(lists[i](m, &info, &count), EVAL_ERR_LIMIT, "room for 0 nodes");
        assert_true(count > 0);
        info.size = 0;
        refused(lists[i](m, &info, &one), EVAL_ERR_ARGUMENT, "infos[0].size");
        info.size = sizeof info;
    }
    refused(describes->Metadata(m, 0, NULL, &text), EVAL_ERR_ARGUMENT, "key or value");
    refused(describes->Metadata(m, 0, &text, NULL), EVAL_ERR_ARGUMENT, "key or value");
    refused(describes->Metadata(m, SIZE_MAX, &text, &text), EVAL_ERR_NOT_FOUND, "metadata");
}

static void ask_without_a_network(void)
{
    const char *key;
    size_t count = 0;
    EvalDimension dim = { "ol.z", 0 };
    EvalTensor in = good_tensor(), out = { .name = "ol.z" };
    output flat = { "ol.z", NULL, 0, 0 };
    const EvalStatus no = EVAL_ERR_STATE;
    for (int group = 0; group < 3; group++) {
        count = 1;
        says(m->vtbl->GetNodeDimensions(m, (EvalNodeGroup)group, &dim, &count), no, "CreateNetwork");
    }
    says(m->vtbl->StartEvaluateMinibatchLoop(m, "ol.z"), no, "CreateNetwork");
    says(evaluate(), no, "CreateNetwork");
    says(m->vtbl->EvaluateOutputs(m, &flat, 1), no, "CreateNetwork");
    says(m->vtbl->ResetState(m), no, "CreateNetwork");
    says(m->vtbl->Run(m, &in, 1, &out, 1, NULL), no, "CreateNetwork");
    says(describes->Inputs(m, NULL, &count), no, "CreateNetwork");
    says(describes->Outputs(m, NULL, &count), no, "CreateNetwork");
    says(describes->Nodes(m, NULL, &count), no, "CreateNetwork");
    says(describes->Metadata(m, 0, &key, &key), no, "CreateNetwork");
}

/* Before CreateNetwork, after one that failed, and of a clone of such an object. */
static void calls_that_come_too_early(void **state)
{
    (void)state;
    model *whole = m, *bare;
    make_bare();
    EvalAllocator small = { sizeof small - 1, no_room, give_up, NULL };
    EvalAllocator half[] = { { sizeof small, NULL, give_up, NULL },
                             { sizeof small, no_room, NULL, NULL } };
    assert_string_equal(m->vtbl->LastError(m), "");
    ask_without_a_network();
    says(m->vtbl->CreateNetwork(m, description("none.onnx", "")), EVAL_ERR_IO, "none.onnx");
    ask_without_a_network();
    says(controls->SetAllocator(m, &small), EVAL_ERR_ARGUMENT, "size");
    for (size_t i = 0; i < 2; i++)
        says(controls->SetAllocator(m, &half[i]), EVAL_ERR_ARGUMENT, "allocate and release");
    small.size++;
    says(controls->SetAllocator(m, &small), EVAL_ERR_MEMORY, "memory");
    bare = m;
    assert_int_equal(controls->Clone(bare, &m), EVAL_OK);
    ask_without_a_network();
    bare->vtbl->Destroy(bare);
    assert_int_equal(m->vtbl->CreateNetwork(m, description("digits/digits.onnx", "")), EVAL_OK);
    refused(EVAL_OK, EVAL_OK, "");
    m->vtbl->Destroy(m);
    m = whole;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_library_says_what_it_is),
        cmocka_unit_test(every_slot_survives_no_object),
        cmocka_unit_test(settings_that_make_no_sense),
        cmocka_unit_test(nodes_and_groups_that_are_not_there),
        cmocka_unit_test(vectors_that_do_not_fit),
        cmocka_unit_test(tensors_that_do_not_fit),
        cmocka_unit_test(outputs_and_options_that_cannot_be),
        cmocka_unit_test(tables_that_are_not_there),
        cmocka_unit_test(controls_that_make_no_sense),
        cmocka_unit_test(lists_that_have_no_room),
        cmocka_unit_test(calls_that_come_too_early),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
