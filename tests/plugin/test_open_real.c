/* Plug-ins from files: good ones, and odd.c, which does what it should not. */
#include "lines.h"
#include <stdlib.h>
#include <unistd.h>

enum { LONGEST = 512 };

static const char *path_of(const char *name)
{
    static char path[LONGEST];
    snprintf(path, sizeof path, EVL_TEST_PLUGINS "/%s", name);
    return path;
}

static const char *odd(int number)
{
    char name[32];
    snprintf(name, sizeof name, "odd%d.so", number);
    return path_of(name);
}

static const char network[] = "lines\nin x 3\nnode the_odd odd.domain Odd 1 x > y\n"
                              "node n - Neg 13 x > z\nout y\nout z\n";

static EvalStatus create(model *m)
{
    return control(m)->LoadMemory(m, network, sizeof network - 1, NULL);
}

static EvalStatus compute(model *m, const char *name, const real *x, real *y)
{
    input in = { "x", x, 3 };
    output out = { name, y, 3, 0 };
    return m->vtbl->Evaluate(m, &in, 1, &out, 1);
}

static void expect_text(model *m, const char *text)
{
    if (!strstr(m->vtbl->LastError(m), text))
        fail_msg("'%s' is not in: %s", text, m->vtbl->LastError(m));
}

static void a_good_one_computes_and_an_older_one_too(void **state)
{
    (void)state;
    for (int number = 0; number <= 17; number += 17) { /* odd17's table ends after its operators */
        real x[] = { 1, -2, 3 }, y[3];
        model *m = make();
        assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
        assert_int_equal(plugins(m)->Load(m, odd(number)), EVAL_OK);
        assert_int_equal(create(m), EVAL_OK);
        assert_int_equal(compute(m, "y", x, y), EVAL_OK);
        assert_true(y[0] == 2 && y[1] == -4 && y[2] == 6);
        m->vtbl->Destroy(m);
    }
}

static void it_is_found_by_name_in_the_folders_of_the_path(void **state)
{
    (void)state;
    model *m = make();
    assert_int_equal(m->vtbl->Init(m, "pluginPath=/nowhere:\"" EVL_TEST_PLUGINS "\""), EVAL_OK);
    assert_int_equal(plugins(m)->Load(m, "swish"), EVAL_OK);
    assert_int_equal(plugins(m)->Load(m, "swish.so"), EVAL_OK);
    assert_int_equal(plugins(m)->Load(m, "wish"), EVAL_ERR_IO);
    expect_text(m, "/nowhere\n" EVL_TEST_PLUGINS);
    m->vtbl->Destroy(m);
    m = make();
    assert_int_equal(plugins(m)->Load(m, "swish"), EVAL_ERR_IO);
    expect_text(m, "pluginPath");
    m->vtbl->Destroy(m);
}

typedef struct fault {
    int odd;
    EvalStatus status;
    const char *text;
} fault;

static const fault of_loading[] = {
    { 1, EVAL_ERR_PLUGIN, "gives no table" },
    { 2, EVAL_ERR_PLUGIN, "interface 7, and this library has 1" },
    { 3, EVAL_ERR_PLUGIN, "needs a newer library" },
};
static const fault of_creating[] = {
    { 4, EVAL_ERR_STATE, "the moon is not full, day 12" },
    { 14, EVAL_ERR_PLUGIN, "no Run" },
    { 15, EVAL_ERR_PLUGIN, "without a name" },
};

static void one_that_cannot_be_loaded_is_told_and_the_next_can(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        real x[] = { 1, 2, 3 }, y[3];
        model *m = make();
        assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
        assert_int_equal(plugins(m)->Load(m, odd(of_loading[i].odd)), of_loading[i].status);
        expect_text(m, of_loading[i].text);
        assert_int_equal(plugins(m)->Load(m, odd(of_creating[i].odd)), EVAL_OK);
        assert_int_equal(create(m), of_creating[i].status);
        expect_text(m, of_creating[i].text);
        assert_int_equal(plugins(m)->Unload(m, "odd"), EVAL_OK);
        assert_int_equal(plugins(m)->Load(m, odd(0)), EVAL_OK);
        assert_int_equal(create(m), EVAL_OK);
        assert_int_equal(compute(m, "y", x, y), EVAL_OK);
        m->vtbl->Destroy(m);
    }
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void a_file_that_is_no_plugin_is_told(void **state)
{
    (void)state;
    char path[] = "/tmp/evallib_no_plugin_XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    model *m = make();
    assert_int_equal(plugins(m)->Load(m, path), EVAL_ERR_PLUGIN); /* empty */
    write_file(path, "I am no library, but long enough to hold a header of one, and then some.");
    assert_int_equal(plugins(m)->Load(m, path), EVAL_ERR_PLUGIN);
    expect_text(m, "cannot be opened");
    assert_int_equal(plugins(m)->Load(m, "/tmp/"), EVAL_ERR_PLUGIN);
    assert_int_equal(plugins(m)->Load(m, "/there/is/none.so"), EVAL_ERR_IO);
    assert_int_equal(plugins(m)->Load(m, path_of("none.so")), EVAL_ERR_IO);
    expect_text(m, "no such file");
    m->vtbl->Destroy(m);
    close(descriptor);
    remove(path);
}

/* Rules of shape are asked when the model is loaded, the rest in the run. */
static const fault of_running[] = {
    { 5, EVAL_ERR_PLUGIN, "Infer gives output 0 the rank 99" },
    { 6, EVAL_ERR_PLUGIN, "dimension of -5" },
    { 7, EVAL_ERR_PLUGIN, "element type that there is not, 77" },
    { 8, EVAL_ERR_PLUGIN, "leaves the shape of output 0 open" },
    { 10, EVAL_ERR_PLUGIN, "it broke" },
    { 11, EVAL_ERR_SHAPE, "gives no reason" },
    { 12, EVAL_ERR_SHAPE, "only on Sundays" },
    { 13, EVAL_ERR_LIMIT, "scratch" },
    { 16, EVAL_ERR_PLUGIN, "4711" },
};

static void what_fails_names_the_node_and_the_rest_goes_on(void **state)
{
    (void)state;
    real x[] = { 1, -2, 3 }, y[3];
    for (size_t i = 0; i < sizeof of_running / sizeof of_running[0]; i++) {
        const fault *f = &of_running[i];
        model *m = make();
        assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
        assert_int_equal(plugins(m)->Load(m, odd(f->odd)), EVAL_OK);
        EvalStatus st = create(m);
        for (int again = 0; st == EVAL_OK && again < 2; again++) {
            assert_int_equal(compute(m, "y", x, y), f->status);
            expect_text(m, f->text);
            expect_text(m, "'the_odd' (Odd)");
            assert_int_equal(compute(m, "z", x, y), EVAL_OK);
            assert_true(y[0] == -1 && y[1] == 2 && y[2] == -3);
        }
        if (st != EVAL_OK) {
            assert_int_equal(st, f->status);
            expect_text(m, f->text);
            expect_text(m, "'the_odd' (Odd)");
        }
        m->vtbl->Destroy(m);
    }
}

static void what_is_not_written_is_zero(void **state)
{
    (void)state;
    real x[] = { 1, -2, 3 }, y[] = { 7, 7, 7 };
    model *m = make();
    assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
    assert_int_equal(plugins(m)->Load(m, odd(9)), EVAL_OK);
    assert_int_equal(create(m), EVAL_OK);
    for (int again = 0; again < 2; again++) {
        assert_int_equal(compute(m, "y", x, y), EVAL_OK);
        assert_true(y[0] == 0 && y[1] == 0 && y[2] == 0);
        y[0] = y[1] = y[2] = 7;
    }
    m->vtbl->Destroy(m);
}

static void copy_file(const char *from, int to)
{
    char block[4096];
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    for (size_t n; (n = fread(block, 1, sizeof block, f)) > 0;)
        assert_int_equal(write(to, block, n), n);
    fclose(f);
}

static void one_that_is_unlinked_while_in_use_works_on(void **state)
{
    (void)state;
    char path[] = "/tmp/evallib_plugin_XXXXXX";
    real x[] = { 1, -2, 3 }, y[3];
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    copy_file(odd(0), descriptor);
    close(descriptor);
    model *m = make();
    assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
    assert_int_equal(plugins(m)->Load(m, path), EVAL_OK);
    assert_int_equal(remove(path), 0);
    assert_int_equal(create(m), EVAL_OK);
    assert_int_equal(compute(m, "y", x, y), EVAL_OK);
    assert_true(y[0] == 2 && y[1] == -4 && y[2] == 6);
    m->vtbl->Destroy(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_one_computes_and_an_older_one_too),
        cmocka_unit_test(it_is_found_by_name_in_the_folders_of_the_path),
        cmocka_unit_test(one_that_cannot_be_loaded_is_told_and_the_next_can),
        cmocka_unit_test(a_file_that_is_no_plugin_is_told),
        cmocka_unit_test(what_fails_names_the_node_and_the_rest_goes_on),
        cmocka_unit_test(what_is_not_written_is_zero),
        cmocka_unit_test(one_that_is_unlinked_while_in_use_works_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
