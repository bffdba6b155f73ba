/* The same plug-in files with a library whose tables have grown, beside this one in one process;
** and a plug-in that was made for that library. */
#include "lines.h"
#include <dlfcn.h>
#include <math.h>

static void *library;

static model *make_grown(void)
{
    union {
        void *address;
        int32_t (*make)(model **);
    } get = { dlsym(library, REAL_TYPE == EVAL_FLOAT64 ? "GetEvalD" : "GetEvalF") };
    model *m;
    assert_non_null(get.address);
    (void)get.make(&m);
    assert_non_null(m);
    assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
    return m;
}

static int open_library(void **state)
{
    (void)state;
    library = dlopen(EVL_TEST_PLUGINS "/../libevallib_grown.so", RTLD_NOW | RTLD_LOCAL);
    return library == NULL;
}

static int close_library(void **state)
{
    (void)state;
    return dlclose(library);
}

static void expect(model *m, const real wanted[3])
{
    real x[] = { 1, -2, 3 }, y[3];
    input in = { "x", x, 3 };
    output out = { "y", y, 3, 0 };
    if (m->vtbl->Evaluate(m, &in, 1, &out, 1) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs((double)(y[i] - wanted[i])) < 1e-6);
}

static void expect_odd(const char *path)
{
    static const char network[] = "lines\nin x 3\nnode n odd.domain Odd 1 x > y\nout y\n";
    model *m = make_grown();
    assert_int_equal(plugins(m)->Load(m, path), EVAL_OK);
    if (control(m)->LoadMemory(m, network, sizeof network - 1, NULL) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    expect(m, (real[]){ 2, -4, 6 });
    m->vtbl->Destroy(m);
}

static void operators_of_older_plugins_compute(void **state)
{
    (void)state;
    static const char network[] = "lines\nin x 3\nnode n my.domain Swish 1 x > y beta=0.5\nout y\n";
    real wanted[3];
    for (int i = 0; i < 3; i++) {
        double x = i == 1 ? -2 : i + 1;
        wanted[i] = (real)(x / (1 + exp(-0.5 * x)));
    }
    expect_odd(EVL_TEST_PLUGINS "/odd0.so");
    expect_odd(EVL_TEST_PLUGINS "/odd17.so");
    model *m = make_grown();
    assert_int_equal(plugins(m)->Load(m, EVL_TEST_PLUGINS "/swish.so"), EVAL_OK);
    assert_int_equal(control(m)->LoadMemory(m, network, sizeof network - 1, NULL), EVAL_OK);
    expect(m, wanted);
    m->vtbl->Destroy(m);
}

static void readers_and_kernels_of_older_plugins_serve(void **state)
{
    (void)state;
    static const char csv[] = "linear-csv,3,3\n2,0,0\n0,3,0\n0,0,4\n1,1,1\n";
    for (int with_kernel = 0; with_kernel < 2; with_kernel++) {
        model *m = make_grown();
        assert_int_equal(plugins(m)->Load(m, EVL_TEST_PLUGINS "/linear.so"), EVAL_OK);
        if (with_kernel)
            assert_int_equal(plugins(m)->Load(m, EVL_TEST_PLUGINS "/gemm.so"), EVAL_OK);
        if (control(m)->LoadMemory(m, csv, sizeof csv - 1, NULL) != EVAL_OK)
            fail_msg("%s", m->vtbl->LastError(m));
        expect(m, (real[]){ 3, -5, 13 });
        m->vtbl->Destroy(m);
    }
}

static void a_newer_plugin_computes_there_and_is_told_here_what_is_missing(void **state)
{
    (void)state;
    char wanted[64];
    expect_odd(EVL_TEST_PLUGINS "/newer.so");
    model *m = make();
    assert_int_equal(plugins(m)->Load(m, EVL_TEST_PLUGINS "/newer.so"), EVAL_ERR_PLUGIN);
    snprintf(wanted, sizeof wanted, "a table of %zu bytes for plug-ins, not %zu",
             sizeof(EvalHost) + 3 * sizeof(void *), sizeof(EvalHost));
    if (!strstr(m->vtbl->LastError(m), wanted) || !strstr(m->vtbl->LastError(m), "newer library"))
        fail_msg("%s", m->vtbl->LastError(m));
    m->vtbl->Destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_of_older_plugins_compute),
        cmocka_unit_test(readers_and_kernels_of_older_plugins_serve),
        cmocka_unit_test(a_newer_plugin_computes_there_and_is_told_here_what_is_missing),
    };
    return cmocka_run_group_tests(tests, open_library, close_library);
}
