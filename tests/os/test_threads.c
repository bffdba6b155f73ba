#include "support/support.h"
#include "os/os.h"
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 8, MOST_TILES = 2000 };

/* What the tiles of one call leave behind. */
typedef struct trace {
    evl_pool *pool;
    atomic_int done[MOST_TILES];
    atomic_int busy[MOST_THREADS]; /* lanes at work */
    atomic_int clashes;
} trace;

static void visit(void *arg, size_t tile, size_t lane)
{
    trace *t = arg;
    if (lane >= evl_pool_threads(t->pool) || atomic_fetch_add(&t->busy[lane], 1) != 0)
        atomic_fetch_add(&t->clashes, 1);
    atomic_fetch_add(&t->done[tile], 1);
    atomic_fetch_sub(&t->busy[lane], 1);
}

static void check_call(evl_pool *pool, size_t n_tiles)
{
    static trace t;
    memset(&t, 0, sizeof t);
    t.pool = pool;
    evl_parallel_for(pool, n_tiles, visit, &t);
    for (size_t i = 0; i < MOST_TILES; i++)
        assert_int_equal(t.done[i], i < n_tiles);
    assert_int_equal(t.clashes, 0);
}

static void every_tile_is_done_once_on_any_number_of_threads(void **state)
{
    static const size_t counts[] = { 0, 1, 2, 3, 7, 100, MOST_TILES };
    evl_context *ctx = evl_test_begin();
    (void)state;
    for (size_t n = 0; n <= MOST_THREADS; n++) {
        evl_pool *pool = NULL;
        assert_int_equal(evl_pool_new(ctx, n, n % 2 ? 20 : 0, &pool), EVAL_OK);
        assert_int_equal(evl_pool_threads(pool), n ? n : 1);
        for (int repeat = 0; repeat < 20; repeat++)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                check_call(pool, counts[i]);
        evl_pool_free(pool);
    }
    evl_test_end(ctx);
}

static void no_pool_is_a_pool_of_one(void **state)
{
    (void)state;
    assert_int_equal(evl_pool_threads(NULL), 1);
    check_call(NULL, 50);
    evl_pool_free(NULL);
}

static void workers_that_fell_asleep_wake_up(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_pool *pool;
    (void)state;
    assert_int_equal(evl_pool_new(ctx, 4, 1, &pool), EVAL_OK);
    for (int i = 0; i < 20; i++) {
        nanosleep(&(struct timespec){ 0, 2000000 }, NULL);
        check_call(pool, 500);
    }
    evl_pool_free(pool);
    evl_test_end(ctx);
}

/* Two tiles that wait for each other need two threads. */
static void meet(void *arg, size_t tile, size_t lane)
{
    atomic_int *here = arg;
    (void)tile;
    (void)lane;
    atomic_fetch_add(here, 1);
    for (int i = 0; i < 5000 && atomic_load(here) < 2; i++)
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    if (atomic_load(here) < 2)
        atomic_store(here, -100);
}

static void tiles_run_at_the_same_time(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_pool *pool;
    (void)state;
    assert_int_equal(evl_pool_new(ctx, 2, 0, &pool), EVAL_OK);
    for (int i = 0; i < 50; i++) {
        atomic_int here = 0;
        evl_parallel_for(pool, 2, meet, &here);
        assert_int_equal(here, 2);
    }
    evl_pool_free(pool);
    evl_test_end(ctx);
}

static void count(void *arg, size_t tile, size_t lane)
{
    (void)tile;
    (void)lane;
    atomic_fetch_add((atomic_int *)arg, 1);
}

typedef struct outer {
    evl_pool *pool;
    atomic_int n;
} outer;

static void call_again(void *arg, size_t tile, size_t lane)
{
    outer *o = arg;
    (void)tile;
    (void)lane;
    evl_parallel_for(o->pool, 5, count, &o->n);
}

static void a_call_inside_a_tile_runs_on_its_own_thread(void **state)
{
    evl_context *ctx = evl_test_begin();
    outer o = { 0 };
    (void)state;
    assert_int_equal(evl_pool_new(ctx, 4, 20, &o.pool), EVAL_OK);
    evl_parallel_for(o.pool, 200, call_again, &o);
    assert_int_equal(o.n, 1000);
    evl_pool_free(o.pool);
    evl_test_end(ctx);
}

static void *call_many(void *arg)
{
    outer *o = arg;
    for (int i = 0; i < 300; i++)
        evl_parallel_for(o->pool, 20, count, &o->n);
    return NULL;
}

static void several_callers_share_a_pool(void **state)
{
    evl_context *ctx = evl_test_begin();
    outer o = { 0 };
    pthread_t callers[4];
    (void)state;
    assert_int_equal(evl_pool_new(ctx, 3, 20, &o.pool), EVAL_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_many, &o), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(callers[i], NULL);
    assert_int_equal(o.n, 4 * 300 * 20);
    evl_pool_free(o.pool);
    evl_test_end(ctx);
}

/* Has the tile's thread the signal blocked? All threads wait until each has one tile. */
static void look_at_signals(void *arg, size_t tile, size_t lane)
{
    atomic_int *n_open = arg;
    sigset_t blocked;
    (void)tile;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    if (lane && !(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGUSR1)))
        atomic_fetch_add(n_open, 1);
    if (!lane && sigismember(&blocked, SIGUSR1))
        atomic_fetch_add(n_open, 1);
    nanosleep(&(struct timespec){ 0, 100000 }, NULL);
}

static void signals_are_not_for_workers(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_pool *pool;
    atomic_int n_open = 0;
    (void)state;
    assert_int_equal(evl_pool_new(ctx, 3, 20, &pool), EVAL_OK);
    evl_parallel_for(pool, 60, look_at_signals, &n_open);
    assert_int_equal(n_open, 0);
    evl_pool_free(pool);
    evl_test_end(ctx);
}

static void a_forked_child_works_alone(void **state)
{
    evl_context *ctx = evl_test_begin();
    evl_pool *pool;
    int status;
    (void)state;
    assert_int_equal(evl_pool_new(ctx, 4, 20, &pool), EVAL_OK);
    check_call(pool, 100);
    pid_t child = fork();
    if (child == 0) {
        atomic_int n = 0;
        evl_parallel_for(pool, 100, count, &n);
        evl_pool_free(pool);
        _exit(n == 100 ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_call(pool, 100);
    evl_pool_free(pool);
    evl_test_end(ctx);
}

static void a_pool_without_work_ends_at_once(void **state)
{
    evl_context *ctx = evl_test_begin();
    (void)state;
    for (int i = 0; i < 50; i++) {
        evl_pool *pool;
        assert_int_equal(evl_pool_new(ctx, 1 + (size_t)i % 5, (unsigned)i, &pool), EVAL_OK);
        evl_pool_free(pool);
    }
    evl_test_end(ctx);
}

static void without_memory_there_is_no_pool_and_no_lock(void **state)
{
    evl_memory memory;
    evl_context ctx;
    evl_pool *pool = NULL;
    (void)state;
    evl_test_memory(&memory, 0);
    evl_context_init(&ctx, &memory, &evl_default_limits);
    assert_int_equal(evl_pool_new(&ctx, 4, 20, &pool), EVAL_ERR_MEMORY);
    assert_null(pool);
    evl_test_memory(&memory, 0);
    assert_null(evl_mutex_new(&memory));
    evl_context_end(&ctx);
}

typedef struct counter {
    evl_mutex *mutex;
    int n;
} counter;

static void *add_under_lock(void *arg)
{
    counter *c = arg;
    for (int i = 0; i < 20000; i++) {
        evl_mutex_lock(c->mutex);
        c->n++;
        evl_mutex_unlock(c->mutex);
    }
    return NULL;
}

static void a_lock_keeps_others_out(void **state)
{
    evl_context *ctx = evl_test_begin();
    counter c = { evl_mutex_new(ctx->memory), 0 };
    pthread_t threads[3];
    (void)state;
    assert_non_null(c.mutex);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_under_lock, &c), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.n, 60000);
    evl_mutex_free(c.mutex);
    evl_mutex_free(NULL);
    evl_test_end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tile_is_done_once_on_any_number_of_threads),
        cmocka_unit_test(no_pool_is_a_pool_of_one),
        cmocka_unit_test(workers_that_fell_asleep_wake_up),
        cmocka_unit_test(tiles_run_at_the_same_time),
        cmocka_unit_test(a_call_inside_a_tile_runs_on_its_own_thread),
        cmocka_unit_test(several_callers_share_a_pool),
        cmocka_unit_test(signals_are_not_for_workers),
        cmocka_unit_test(a_forked_child_works_alone),
        cmocka_unit_test(a_pool_without_work_ends_at_once),
        cmocka_unit_test(without_memory_there_is_no_pool_and_no_lock),
        cmocka_unit_test(a_lock_keeps_others_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
