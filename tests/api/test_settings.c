/* Which keys there are, what each may be, and where its value goes. */
#include "api/settings.h"
#include "config/fixture.h"

static EvalStatus read(fixture *f, evl_settings *s)
{
    return evl_settings_read(f->ctx, f->config, s);
}

static evl_settings good(fixture *f)
{
    evl_settings s;
    if (read(f, &s) != EVAL_OK)
        fail_msg("%s", f->ctx->error.text);
    return s;
}

static void an_empty_text_gives_what_holds_by_default(void **state)
{
    (void)state;
    fixture f = begin("");
    evl_settings s = good(&f);
    assert_null(s.model_path);
    assert_int_equal(s.outputs.n, 0);
    assert_int_equal(s.threads, 1);
    assert_int_equal(s.spin_us, 20);
    assert_int_equal(s.plans, 8);
    assert_true(s.may_map);
    assert_false(s.is_strict);
    assert_string_equal(s.blas, "auto");
    assert_int_equal(s.accuracy, 1);
    assert_int_equal(s.kernels, EVL_KERNELS_AUTO);
    assert_int_equal(s.most_memory, 0);
    assert_memory_equal(&s.limits, &evl_default_limits, sizeof s.limits);
    end(&f);
}

static void each_key_has_its_place(void **state)
{
    (void)state;
    fixture f = begin("modelPath=\"a b.onnx\"\noutputNodeNames=z:y\nnumCPUThreads=-2\n"
                      "spinMicroseconds=5\nplanCacheSize=3\nmapFile=false\nstrict=true\n"
                      "accuracy=fast\nblas=off\nmaxMemory=1000\nmaxTensorBytes=2000\n"
                      "maxNodes=30\nmaxDepth=4\n");
    evl_settings s = good(&f);
    assert_string_equal(s.model_path, "a b.onnx");
    assert_int_equal(s.outputs.n, 2);
    assert_string_equal(s.outputs.items[0], "z");
    assert_string_equal(s.outputs.items[1], "y");
    assert_int_equal(s.threads, -2);
    assert_int_equal(s.spin_us, 5);
    assert_int_equal(s.plans, 3);
    assert_false(s.may_map);
    assert_true(s.is_strict);
    assert_int_equal(s.accuracy, 2);
    assert_string_equal(s.blas, "off");
    assert_int_equal(s.most_memory, 1000);
    assert_int_equal(s.limits.max_tensor_bytes, 2000);
    assert_int_equal(s.limits.max_nodes, 30);
    assert_int_equal(s.limits.max_depth, 4);
    assert_int_equal(s.limits.max_text, evl_default_limits.max_text);
    end(&f);
}

static void every_accuracy_has_its_number(void **state)
{
    (void)state;
    static const char *const texts[] = { "accuracy=exact", "accuracy=normal", "accuracy=fast" };
    for (int64_t i = 0; i < 3; i++) {
        fixture f = begin(texts[i]);
        assert_int_equal(good(&f).accuracy, i);
        end(&f);
    }
}

static void every_kernel_set_has_its_number(void **state)
{
    (void)state;
    static const char *const texts[] = {
        [EVL_KERNELS_BASE] = "kernels=base",
        [EVL_KERNELS_AVX2] = "kernels=avx2",
        [EVL_KERNELS_AVX512] = "kernels=avx512",
        [EVL_KERNELS_AUTO] = "kernels=auto",
    };
    for (int64_t i = EVL_KERNELS_BASE; i <= EVL_KERNELS_AUTO; i++) {
        fixture f = begin(texts[i]);
        assert_int_equal(good(&f).kernels, i);
        end(&f);
    }
}

static void the_ends_of_a_range_belong_to_it(void **state)
{
    (void)state;
    fixture f = begin("numCPUThreads=1024\nspinMicroseconds=1000000\nplanCacheSize=100000\n"
                      "maxDepth=256\nmaxTensorBytes=1\nmaxNodes=1");
    good(&f);
    end(&f);
    f = begin("numCPUThreads=-1024\nspinMicroseconds=0\nplanCacheSize=1\nmaxDepth=1");
    good(&f);
    end(&f);
}

static void what_a_key_cannot_be_is_refused_by_name(void **state)
{
    (void)state;
    static const bad_case cases[] = {
        { "numCPUThreads=1025", "numCPUThreads=1025 is not in -1024 .. 1024", EVAL_ERR_ARGUMENT },
        { "numCPUThreads=-1025", "numCPUThreads", EVAL_ERR_ARGUMENT },
        { "spinMicroseconds=-1", "spinMicroseconds", EVAL_ERR_ARGUMENT },
        { "planCacheSize=0", "planCacheSize=0", EVAL_ERR_ARGUMENT },
        { "maxMemory=-1", "maxMemory", EVAL_ERR_ARGUMENT },
        { "maxTensorBytes=0", "maxTensorBytes", EVAL_ERR_ARGUMENT },
        { "maxNodes=0", "maxNodes", EVAL_ERR_ARGUMENT },
        { "maxDepth=257", "maxDepth", EVAL_ERR_ARGUMENT },
        { "mapFile=perhaps", "mapFile", EVAL_ERR_ARGUMENT },
        { "strict=2", "strict", EVAL_ERR_ARGUMENT },
        { "accuracy=best", "expected exact, normal or fast", EVAL_ERR_ARGUMENT },
        { "kernels=sse", "kernels=sse, expected base, avx2, avx512 or auto", EVAL_ERR_ARGUMENT },
        { "strict=true\nfoo=1", "line 2: no setting is called 'foo'", EVAL_ERR_ARGUMENT },
        { "createNetwork=[a=1]", "createNetwork", EVAL_ERR_UNSUPPORTED },
        { "SimpleNetworkBuilder=[a=1]", "SimpleNetworkBuilder", EVAL_ERR_UNSUPPORTED },
        { "SimpleNetworkBuilder=[a=1]", "SimpleNetworkBuilder", EVAL_ERR_UNSUPPORTED },
        { "BrainScriptNetworkBuilder=[a=1]", "give its modelPath", EVAL_ERR_UNSUPPORTED },
        { "BrainScriptNetworkBuilder=[]", "give its modelPath", EVAL_ERR_UNSUPPORTED },
        { "BrainScriptNetworkBuilder=[modelPath=a\n x=Input(1)]", "still to fill",
          EVAL_ERR_UNSUPPORTED },
        { "BrainScriptNetworkBuilder=[BS.Network.Load(a:b)]", "still to fill", EVAL_ERR_UNSUPPORTED },
        { "ExperimentalNetworkBuilder=[a=1]", "Experimental", EVAL_ERR_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture f = begin(cases[i].text);
        evl_settings s;
        assert_int_equal(read(&f, &s), cases[i].status);
        if (!strstr(f.ctx->error.text, cases[i].words))
            fail_msg("'%s': %s", cases[i].text, f.ctx->error.text);
        end(&f);
    }
}

static void a_description_that_only_names_a_model_is_its_path(void **state)
{
    static const char *const texts[] = {
        "BrainScriptNetworkBuilder = (BS.Network.Load (\"a/b.dnn\"))",
        "root=a\nBrainScriptNetworkBuilder=( BS.Network.Load(\"$root$/b.dnn\") )",
        "BrainScriptNetworkBuilder=(new ComputationNetworkFromFile [ pathName='a/b.dnn' ; precision='float' ])",
        "SimpleNetworkBuilder=[ modelPath=a/b.dnn\n deviceId=-1; traceLevel=1 ]",
        "modelPath=other\ncreateNetwork=[ modelPath=\"a/b.dnn\" ]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fixture f = begin(texts[i]);
        evl_settings s;
        if (read(&f, &s) != EVAL_OK)
            fail_msg("'%s': %s", texts[i], f.ctx->error.text);
        assert_string_equal(s.model_path, "a/b.dnn");
        end(&f);
    }
}

static void note(void *user, EvalLogLevel level, const char *text)
{
    assert_int_equal(level, EVAL_LOG_WARNING);
    strncat(user, text, 1000);
    strncat(user, "\n", 2);
}

static void check_notes(const char *text, const char *expected)
{
    char notes[4096] = "";
    fixture f = begin(text);
    f.ctx->log = (evl_log){ note, notes };
    good(&f);
    assert_string_equal(notes, expected);
    end(&f);
}

static void what_means_nothing_here_is_noted_or_ignored(void **state)
{
    (void)state;
    check_notes("foo=1\nmodelpath=x", "line 1: no setting is called 'foo'\n");
    check_notes("deviceId=0", "deviceId=0: the processor is used\n");
    check_notes("deviceId=-1", "");
    check_notes("deviceId=cpu", "");
    check_notes("deviceId=auto", "");
    check_notes("strict=true\ntraceLevel=1\nexcludedDevices=2\nlockGPU=true\nminibatchSize=4\n"
                "shareNodeValueMatrices=true\nrightSplice=1\nevaluator=[a=b]\nprecision=float", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_text_gives_what_holds_by_default),
        cmocka_unit_test(each_key_has_its_place),
        cmocka_unit_test(every_accuracy_has_its_number),
        cmocka_unit_test(every_kernel_set_has_its_number),
        cmocka_unit_test(the_ends_of_a_range_belong_to_it),
        cmocka_unit_test(what_a_key_cannot_be_is_refused_by_name),
        cmocka_unit_test(a_description_that_only_names_a_model_is_its_path),
        cmocka_unit_test(what_means_nothing_here_is_noted_or_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
