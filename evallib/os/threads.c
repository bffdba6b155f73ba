/* threads.c - locks, and a pool that hands out tiles.
**
** One caller at a time has the pool (`is_taken`). It writes the job, opens it, takes tiles
** like everybody, closes it, and waits for those who are inside. A worker counts itself as
** inside before it looks whether the job is open; so, both being sequentially consistent,
** either the worker sees that the job is closed, or the caller sees the worker. Nobody waits
** for workers that never came. */
#include "os/os.h"
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 1024, TURNS_PER_LOOK = 64 };

struct evl_mutex {
    pthread_mutex_t lock;
    evl_memory *memory;
};

evl_mutex *evl_mutex_new(evl_memory *memory)
{
    evl_mutex *mutex = evl_allocate(memory, sizeof *mutex);
    if (!mutex)
        return NULL;
    mutex->memory = memory;
    if (pthread_mutex_init(&mutex->lock, NULL) == 0)
        return mutex;
    evl_release(memory, mutex);
    return NULL;
}

void evl_mutex_lock(evl_mutex *mutex)
{
    pthread_mutex_lock(&mutex->lock);
}

void evl_mutex_unlock(evl_mutex *mutex)
{
    pthread_mutex_unlock(&mutex->lock);
}

void evl_mutex_free(evl_mutex *mutex)
{
    if (!mutex)
        return;
    pthread_mutex_destroy(&mutex->lock);
    evl_release(mutex->memory, mutex);
}

typedef struct worker {
    evl_pool *pool;
    pthread_t thread;
    size_t lane;
} worker;

typedef struct job {
    evl_tile_work *work;
    void *arg;
    size_t n_tiles;
} job;

struct evl_pool {
    evl_memory *memory;
    pid_t owner; /* a forked child has the pool, but not its threads */
    unsigned spin_us;
    size_t n_workers;
    pthread_mutex_t lock; /* for going to sleep, and for nothing else */
    pthread_cond_t work_came, workers_left;
    job job; /* written while closed and nobody is inside */
    atomic_bool is_taken, is_open, is_ending, caller_sleeps;
    atomic_size_t n_jobs, n_asleep;
    _Alignas(EVL_ALIGNMENT)
        atomic_size_t next_tile; /* lines of their own: all threads write them */
    _Alignas(EVL_ALIGNMENT) atomic_size_t n_inside;
    _Alignas(EVL_ALIGNMENT) worker workers[];
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause");
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

uint64_t evl_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Waits awake, spin_us at most, until *value == than is what is wanted. The clock is not asked
** when a moment is enough. */
static bool spin(const evl_pool *pool, atomic_size_t *value, size_t than, bool wanted)
{
    for (uint64_t end = 0;;) {
        for (int turn = 0; turn < TURNS_PER_LOOK; turn++, relax())
            if ((atomic_load(value) == than) == wanted)
                return true;
        uint64_t now = evl_clock();
        end = end ? end : now + pool->spin_us * (uint64_t)1000;
        if (now >= end)
            return false;
    }
}

static void take_tiles(evl_pool *pool, size_t lane)
{
    const job now = pool->job;
    for (;;) {
        size_t tile = atomic_fetch_add_explicit(&pool->next_tile, 1, memory_order_relaxed);
        if (tile >= now.n_tiles)
            return;
        now.work(now.arg, tile, lane);
    }
}

static void sleep_until_job(evl_pool *pool, size_t seen)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->n_asleep, 1);
    while (atomic_load(&pool->n_jobs) == seen)
        pthread_cond_wait(&pool->work_came, &pool->lock);
    atomic_fetch_sub(&pool->n_asleep, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void leave(evl_pool *pool)
{
    if (atomic_fetch_sub(&pool->n_inside, 1) > 1 || !atomic_load(&pool->caller_sleeps))
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->workers_left);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *arg)
{
    const worker *self = arg;
    evl_pool *pool = self->pool;
    size_t seen = 0;
    while (!atomic_load(&pool->is_ending)) {
        if (!spin(pool, &pool->n_jobs, seen, false))
            sleep_until_job(pool, seen);
        seen = atomic_load(&pool->n_jobs);
        atomic_fetch_add(&pool->n_inside, 1);
        if (atomic_load(&pool->is_open))
            take_tiles(pool, self->lane);
        leave(pool);
    }
    return NULL;
}

static void announce(evl_pool *pool, size_t n_wanted)
{
    atomic_fetch_add(&pool->n_jobs, 1);
    if (!atomic_load(&pool->n_asleep))
        return;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < n_wanted && i < pool->n_workers; i++)
        pthread_cond_signal(&pool->work_came);
    pthread_mutex_unlock(&pool->lock);
}

static void await_workers(evl_pool *pool)
{
    if (spin(pool, &pool->n_inside, 0, true))
        return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->n_inside))
        pthread_cond_wait(&pool->workers_left, &pool->lock);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->lock);
}

static bool take_pool(evl_pool *pool)
{
    return pool && pool->n_workers && pool->owner == getpid() &&
           !atomic_exchange(&pool->is_taken, true);
}

void evl_parallel_for(evl_pool *pool, size_t n_tiles, evl_tile_work *tile_work, void *arg)
{
    if (n_tiles < 2 || !take_pool(pool)) {
        for (size_t tile = 0; tile < n_tiles; tile++)
            tile_work(arg, tile, 0);
        return;
    }
    pool->job = (job){ tile_work, arg, n_tiles };
    atomic_store(&pool->next_tile, 0);
    atomic_store(&pool->is_open, true);
    announce(pool, n_tiles - 1);
    take_tiles(pool, 0);
    atomic_store(&pool->is_open, false);
    await_workers(pool);
    atomic_store(&pool->is_taken, false);
}

size_t evl_pool_threads(const evl_pool *pool)
{
    return pool ? pool->n_workers + 1 : 1;
}

/* The host's signals are for the host's threads: workers are born with all of them blocked. */
static void start_workers(evl_pool *pool, size_t n)
{
    sigset_t all, found;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &found);
    for (size_t i = 0; i < n; i++) {
        worker *w = &pool->workers[i];
        *w = (worker){ .pool = pool, .lane = i + 1 };
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
        pool->n_workers++;
    }
    pthread_sigmask(SIG_SETMASK, &found, NULL);
}

static bool init_locks(evl_pool *pool)
{
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&pool->work_came, NULL) == 0) {
        if (pthread_cond_init(&pool->workers_left, NULL) == 0)
            return true;
        pthread_cond_destroy(&pool->work_came);
    }
    pthread_mutex_destroy(&pool->lock);
    return false;
}

EvalStatus evl_pool_new(evl_context *ctx, size_t n_threads, unsigned spin_us, evl_pool **pool)
{
    size_t n_wanted = n_threads > MOST_THREADS ? MOST_THREADS - 1 : n_threads ? n_threads - 1 : 0;
    evl_pool *new = evl_allocate_zeroed(ctx->memory, sizeof *new + n_wanted * sizeof(worker));
    if (!new)
        return evl_no_memory(ctx);
    new->memory = ctx->memory;
    new->owner = getpid();
    new->spin_us = spin_us;
    if (n_wanted && !init_locks(new)) {
        evl_release(ctx->memory, new);
        return evl_no_memory(ctx);
    }
    start_workers(new, n_wanted);
    if (new->n_workers + 1 < n_threads)
        evl_note(ctx, EVAL_LOG_WARNING, "%zu threads were asked for, and %zu could be started",
                 n_threads, new->n_workers + 1);
    *pool = new;
    return EVAL_OK;
}

static void end_workers(evl_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->is_ending, true);
    atomic_fetch_add(&pool->n_jobs, 1);
    pthread_cond_broadcast(&pool->work_came);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_workers; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->workers_left);
    pthread_cond_destroy(&pool->work_came);
    pthread_mutex_destroy(&pool->lock);
}

/* In a forked child there is nobody to join, and the locks may be held for ever. */
void evl_pool_free(evl_pool *pool)
{
    if (!pool)
        return;
    if (pool->n_workers && pool->owner == getpid())
        end_workers(pool);
    evl_release(pool->memory, pool);
}
