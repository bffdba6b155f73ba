/* The library as somebody's plug-in: opened and closed again and again, beside an OpenBLAS of the
** host's, in a forked child, by threads that end. EVL_CYCLES says how often. */
#include "lines.h"
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FEW_CYCLES = 100, WARM = 20, SIDE = 96 };

static const char network[] = "lines\nin x -1 3\nconstant w 3 2 = 1 2 3 4 5 6\nnode s my.domain Swish 1 x > p\n"
                              "node m - MatMul 13 p w > y\nout y\n";

typedef int32_t get_eval(model **);

static model *open_model(void **library)
{
    union {
        void *address;
        get_eval *get;
    } entry;
    model *m;
    *library = dlopen(EVL_TEST_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!*library)
        fail_msg("%s", dlerror());
    entry.address = dlsym(*library, REAL_TYPE == EVAL_FLOAT64 ? "GetEvalD" : "GetEvalF");
    assert_non_null(entry.address);
    (void)entry.get(&m);
    assert_non_null(m);
    assert_int_equal(plugins(m)->LoadStatic(m, &lines), EVAL_OK);
    assert_int_equal(plugins(m)->Load(m, EVL_TEST_PLUGINS "/swish.so"), EVAL_OK);
    if (control(m)->LoadMemory(m, network, sizeof network - 1, "numCPUThreads=2") != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    return m;
}

static bool is_right(model *m)
{
    static real x[3 * 20000]; /* zeros: enough for two threads */
    static real y[2 * 20000];
    size_t n = sizeof y / sizeof *y;
    y[0] = y[n - 1] = 1;
    return run_lines(m, x, sizeof x / sizeof *x, 3, y, &n) == EVAL_OK && y[0] == 0 && y[n - 1] == 0;
}

static size_t count_in(const char *folder)
{
    size_t n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static size_t resident(void)
{
    unsigned long size, pages;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu %lu", &size, &pages), 2);
    fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static bool is_mapped(const char *name)
{
    char line[1024];
    bool found = false;
    FILE *f = fopen("/proc/self/maps", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        found |= strstr(line, name) != NULL;
    fclose(f);
    return found;
}

static void cycle(void)
{
    void *library;
    model *m = open_model(&library);
    assert_true(is_right(m));
    m->vtbl->Destroy(m);
    assert_int_equal(dlclose(library), 0);
}

/* A sanitizer keeps a library that it has seen; nothing else does. */
static bool has_sanitizer(void)
{
    return is_mapped("libasan") || is_mapped("libtsan") || dlsym(RTLD_DEFAULT, "__asan_init") ||
           dlsym(RTLD_DEFAULT, "__tsan_init");
}

static void it_comes_and_goes_without_a_trace(void **state)
{
    (void)state;
    const char *asked = getenv("EVL_CYCLES");
    long n = asked ? strtol(asked, NULL, 10) : FEW_CYCLES;
    for (int i = 0; i < WARM; i++)
        cycle();
    size_t files = count_in("/proc/self/fd"), threads = count_in("/proc/self/task"), bytes = resident();
    for (long i = 0; i < n; i++)
        cycle();
    size_t now = resident(), grown = now > bytes ? now - bytes : 0;
    print_message("%ld cycles: %zu bytes more\n", n, grown);
    assert_int_equal(count_in("/proc/self/fd"), files);
    assert_int_equal(count_in("/proc/self/task"), threads);
    if (has_sanitizer())
        return;
    assert_false(is_mapped("libevallib.so"));
    assert_false(is_mapped("swish.so"));
    assert_in_range(grown, 0, 1 << 19);
}

static void *run_in_thread(void *m)
{
    return is_right(m) ? m : NULL;
}

static void *make_in_thread(void *library)
{
    model *m = open_model(library);
    return is_right(m) ? m : NULL;
}

static void *in_thread(void *(*work)(void *), void *arg)
{
    pthread_t thread;
    void *result;
    assert_int_equal(pthread_create(&thread, NULL, work, arg), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    return result;
}

static void threads_may_end_while_objects_live(void **state)
{
    (void)state;
    void *library;
    model *m = in_thread(make_in_thread, &library), *clone;
    assert_non_null(m);
    for (int i = 0; i < 5; i++)
        assert_ptr_equal(in_thread(run_in_thread, m), m);
    assert_true(is_right(m));
    assert_int_equal(control(m)->Clone(m, &clone), EVAL_OK);
    m->vtbl->Destroy(m);
    assert_ptr_equal(in_thread(run_in_thread, clone), clone);
    clone->vtbl->Destroy(clone);
    assert_int_equal(dlclose(library), 0);
}

static void a_forked_child_runs_what_its_parent_loaded(void **state)
{
    (void)state;
    void *library;
    int status;
    model *m = open_model(&library);
    assert_true(is_right(m));
    pid_t child = fork();
    if (child == 0)
        _exit(is_right(m) ? 0 : 1);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_true(is_right(m));
    m->vtbl->Destroy(m);
    assert_int_equal(dlclose(library), 0);
}

#if EVL_HAS_OPENBLAS
/* As cblas.h has it. */
void cblas_dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a,
                 int lda, const double *b, int ldb, double beta, double *c, int ldc);

static void multiply(const double *a, double *c)
{
    cblas_dgemm(101, 111, 111, SIDE, SIDE, SIDE, 1, a, SIDE, a, SIDE, 0, c, SIDE);
}

static void the_hosts_own_openblas_is_its_own(void **state)
{
    (void)state;
    static double a[SIDE * SIDE], before[SIDE * SIDE], after[SIDE * SIDE];
    void *library;
    for (size_t i = 0; i < SIDE * SIDE; i++)
        a[i] = (double)(i * 37 % 101) / 50 - 1;
    multiply(a, before);
    model *m = open_model(&library);
    assert_true(is_right(m));
    multiply(a, after);
    assert_memory_equal(before, after, sizeof before);
    m->vtbl->Destroy(m);
    assert_int_equal(dlclose(library), 0);
    multiply(a, after);
    assert_memory_equal(before, after, sizeof before);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_and_goes_without_a_trace),
        cmocka_unit_test(threads_may_end_while_objects_live),
        cmocka_unit_test(a_forked_child_runs_what_its_parent_loaded),
#if EVL_HAS_OPENBLAS
        cmocka_unit_test(the_hosts_own_openblas_is_its_own),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
