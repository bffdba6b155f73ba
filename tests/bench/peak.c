/* Measures the peak of this machine: "peak THREADS" prints operations a second in float and in
** double, the best of a few tries. By each thread's own processor time, so that other programs do
** not lower it. */
#include "peak.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_THREADS = 64, N_TRIES = 15, N_TURNS = 4000000 };

typedef struct job {
    pthread_t thread;
    const peak_loop *loop;
    double seconds, result;
} job;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *work(void *argument)
{
    job *j = argument;
    j->result = j->loop->turn(N_TURNS / 20);
    double begin = now();
    j->result += j->loop->turn(N_TURNS);
    j->seconds = now() - begin;
    return NULL;
}

/* The sum over threads of each one's own rate. */
static double rate(const peak_loop *loop, int n_threads)
{
    job jobs[MAX_THREADS];
    double sum = 0;
    for (int i = 0; i < n_threads; i++) {
        jobs[i] = (job){ .loop = loop };
        if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]))
            return 0;
    }
    for (int i = 0; i < n_threads; i++) {
        pthread_join(jobs[i].thread, NULL);
        sum += loop->operations * N_TURNS / jobs[i].seconds;
    }
    return sum;
}

static double best(const peak_loop *loop, int n_threads)
{
    double most = 0;
    for (int i = 0; i < N_TRIES; i++) {
        double r = rate(loop, n_threads);
        most = r > most ? r : most;
    }
    return most;
}

int main(int argc, char **argv)
{
    int n_threads = argc > 1 ? atoi(argv[1]) : 1;
    if (n_threads < 1 || n_threads > MAX_THREADS)
        return 2;
    printf("%.4g %.4g\n", best(&bench_peak_f, n_threads), best(&bench_peak_d, n_threads));
    return 0;
}
