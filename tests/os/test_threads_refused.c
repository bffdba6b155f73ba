/* Starting a thread is made to fail, by a pthread_create of this program's own. */
#define _GNU_SOURCE
#include "support/support.h"
#include "os/os.h"
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

/* clang's thread sanitizer has a pthread_create in this program already, and needs it. */
enum {
    IS_WATCHED = 0
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
                 + 1
#endif
#endif
};

static int threads_left = 1000;

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                   void *arg)
{
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *symbol = dlsym(RTLD_NEXT, "pthread_create");
    if (threads_left-- <= 0)
        return EAGAIN;
    memcpy(&real, &symbol, sizeof real);
    return real(thread, attributes, start, arg);
}

static void count(void *arg, size_t tile, size_t lane)
{
    (void)tile;
    (void)lane;
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void take_note(void *user, EvalLogLevel level, const char *text)
{
    char *last = user;
    assert_int_equal(level, EVAL_LOG_WARNING);
    strncpy(last, text, 199);
}

static void a_pool_goes_on_with_the_threads_it_got(void **state)
{
    (void)state;
    if (IS_WATCHED)
        skip();
    for (int started = 0; started < 4; started++) {
        evl_context *ctx = evl_test_begin();
        evl_pool *pool;
        atomic_int n = 0;
        char note[200] = "";
        ctx->log = (evl_log){ take_note, note };
        threads_left = started;
        assert_int_equal(evl_pool_new(ctx, 4, 20, &pool), EVAL_OK);
        assert_int_equal(evl_pool_threads(pool), started + 1);
        assert_true((strstr(note, "4 threads were asked for") != NULL) == (started < 3));
        evl_parallel_for(pool, 100, count, &n);
        assert_int_equal(n, 100);
        evl_pool_free(pool);
        evl_test_end(ctx);
    }
}

static void a_pool_has_a_thousand_threads_at_most(void **state)
{
    evl_context *ctx;
    evl_pool *pool;
    (void)state;
    if (IS_WATCHED)
        skip();
    ctx = evl_test_begin();
    threads_left = 2;
    assert_int_equal(evl_pool_new(ctx, SIZE_MAX, 0, &pool), EVAL_OK);
    assert_int_equal(evl_pool_threads(pool), 3);
    evl_pool_free(pool);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_goes_on_with_the_threads_it_got),
        cmocka_unit_test(a_pool_has_a_thousand_threads_at_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
