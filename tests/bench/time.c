/* Times one library on one model, commanded over a pipe so that two of these take turns.
**
**     time PEER LIBRARY MODEL VALUES THREADS SPINS [PROFILE [SETTINGS]]
**
** VALUES is a text file with a line for each input, "in TYPE RANK DIMS... FILE NAME", and each
** output, "out NAME"; FILE holds the bytes. First says "ready OPEN LOAD FIRST", in seconds, or
** "failed TEXT". Then answers commands: "time SECONDS" with "took MEDIAN BEST RUNS", "save PREFIX"
** with a line "out TYPE RANK DIMS..." for each output and then "saved", "memory" with
** "memory PEAK_KB". "busy SECONDS" is "time" by the processor time of the calling thread, which other
** programs hardly change. Ends with its input. */
#include "peer.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_VALUES = 64, MAX_LINE = 4096, MAX_SAMPLES = 100000, LEAST_SAMPLES = 3 };

/* Runs shorter than this are timed several at once, so that reading the clock does not count. */
static const double LEAST_SECONDS = 20e-6;

typedef struct program {
    const peer *peer;
    peer_state *state;
    peer_values values;
    EvalTensor in[MAX_VALUES], out[MAX_VALUES];
    double seconds[MAX_SAMPLES];
} program;

static program the_program; /* its size is no matter for a stack */

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Says why nothing comes any more, in one line. */
static void give_up(const char *text)
{
    printf("failed ");
    for (; *text; text++)
        putchar(*text == '\n' ? ';' : *text);
    putchar('\n');
    exit(1);
}

static void demand(const char *failure)
{
    if (failure)
        give_up(failure);
}

/* --- values ---------------------------------------------------------------------------- */

static size_t element_bytes(EvalType type)
{
    static const unsigned char bytes[] = {
        [EVAL_FLOAT32] = 4, [EVAL_UINT8] = 1,   [EVAL_INT8] = 1,    [EVAL_UINT16] = 2,
        [EVAL_INT16] = 2,   [EVAL_INT32] = 4,   [EVAL_INT64] = 8,   [EVAL_BOOL] = 1,
        [EVAL_FLOAT16] = 2, [EVAL_FLOAT64] = 8, [EVAL_UINT32] = 4,  [EVAL_UINT64] = 8,
        [EVAL_BFLOAT16] = 2,
    };
    return (size_t)type < sizeof bytes ? bytes[type] : 0;
}

static size_t tensor_bytes(const EvalTensor *t)
{
    size_t n_bytes = element_bytes(t->type);
    for (int i = 0; i < t->rank; i++)
        n_bytes *= (size_t)t->dims[i];
    return n_bytes;
}

/* Cache lines are where every library likes its values to begin. */
static void read_data(EvalTensor *t, const char *path)
{
    t->bytes = tensor_bytes(t);
    t->data = aligned_alloc(64, (t->bytes / 64 + 1) * 64);
    FILE *file = fopen(path, "rb");
    if (!t->data || !file || fread(t->data, 1, t->bytes, file) != t->bytes)
        give_up(path);
    fclose(file);
}

static char *word(char **rest)
{
    char *begin = *rest, *end = begin + strcspn(begin, " \n");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

static char *keep(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    if (!copy)
        give_up("out of memory");
    return strcpy(copy, text);
}

static void read_input(char *rest, EvalTensor *t)
{
    t->type = (EvalType)atoi(word(&rest));
    t->rank = atoi(word(&rest));
    for (int i = 0; i < t->rank && i < EVAL_MAX_RANK; i++)
        t->dims[i] = atoll(word(&rest));
    read_data(t, word(&rest));
    t->name = keep(rest);
}

static void read_values(const char *path, program *p)
{
    char line[MAX_LINE];
    FILE *file = fopen(path, "r");
    if (!file)
        give_up(path);
    p->values = (peer_values){ .in = p->in, .out = p->out };
    while (fgets(line, sizeof line, file)) {
        char *rest = line;
        line[strcspn(line, "\n")] = '\0';
        bool is_input = strcmp(word(&rest), "in") == 0;
        if (p->values.n_in == MAX_VALUES || p->values.n_out == MAX_VALUES)
            give_up("too many inputs or outputs");
        if (is_input)
            read_input(rest, &p->in[p->values.n_in++]);
        else
            p->out[p->values.n_out++].name = keep(rest);
    }
    fclose(file);
}

/* --- commands -------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds of one run, the mean of n. */
static double sample(program *p, clockid_t clock, int n)
{
    double begin = now(clock);
    for (int i = 0; i < n; i++)
        demand(p->peer->run(p->state, &p->values));
    return (now(clock) - begin) / n;
}

static void take_time(program *p, clockid_t clock, double seconds)
{
    sample(p, clock, 1); /* its data left the caches while the other ran */
    double once = sample(p, clock, 1);
    int n = 0, n_runs = once < LEAST_SECONDS ? (int)(LEAST_SECONDS / (once + 1e-9)) + 1 : 1;
    for (double total = 0; n < MAX_SAMPLES && (total < seconds || n < LEAST_SAMPLES); n++) {
        p->seconds[n] = sample(p, clock, n_runs);
        total += p->seconds[n] * n_runs;
    }
    qsort(p->seconds, (size_t)n, sizeof(double), ascending);
    printf("took %.9f %.9f %d\n", p->seconds[n / 2], p->seconds[0], n * n_runs);
}

static void save(const program *p, const char *prefix)
{
    for (size_t i = 0; i < p->values.n_out; i++) {
        const EvalTensor *t = &p->out[i];
        char path[MAX_LINE];
        snprintf(path, sizeof path, "%s_%zu.bin", prefix, i);
        FILE *file = fopen(path, "wb");
        size_t n_bytes = tensor_bytes(t);
        if (!file || fwrite(t->data, 1, n_bytes, file) != n_bytes || fclose(file))
            give_up(path);
        printf("out %d %d", (int)t->type, (int)t->rank);
        for (int k = 0; k < t->rank; k++)
            printf(" %lld", (long long)t->dims[k]);
        printf("\n");
    }
    printf("saved\n");
}

/* Not getrusage's figure, which begins with that of the process that started this one. */
static void tell_memory(void)
{
    char line[MAX_LINE];
    long peak = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = atol(line + 6);
    if (file)
        fclose(file);
    printf("memory %ld\n", peak);
}

static void obey(program *p, char *line)
{
    char *rest = line;
    const char *command = word(&rest);
    if (strcmp(command, "time") == 0)
        take_time(p, CLOCK_MONOTONIC, atof(rest));
    else if (strcmp(command, "busy") == 0)
        take_time(p, CLOCK_THREAD_CPUTIME_ID, atof(rest));
    else if (strcmp(command, "save") == 0)
        save(p, rest);
    else if (strcmp(command, "memory") == 0)
        tell_memory();
    else
        give_up("no such command");
}

static const peer *find_peer(const char *name)
{
    static const peer *const peers[] = { &bench_ours_f, &bench_ours_d, &bench_ort };
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++)
        if (strcmp(peers[i]->name, name) == 0)
            return peers[i];
    return NULL;
}

static void start(program *p, const peer_options *options)
{
    p->state = p->peer->make();
    if (!p->state)
        give_up("out of memory");
    double begin = now(CLOCK_MONOTONIC);
    demand(p->peer->open(p->state, options));
    double opened = now(CLOCK_MONOTONIC);
    demand(p->peer->load(p->state, options));
    double loaded = now(CLOCK_MONOTONIC);
    demand(p->peer->first(p->state, &p->values));
    double ran = now(CLOCK_MONOTONIC);
    printf("ready %.6f %.6f %.6f\n", opened - begin, loaded - opened, ran - loaded);
}

int main(int argc, char **argv)
{
    program *p = &the_program;
    char line[MAX_LINE];
    if (argc < 7 || !(p->peer = find_peer(argv[1]))) {
        fprintf(stderr, "usage: time ours_f|ours_d|ort LIBRARY MODEL VALUES THREADS SPINS [PROFILE [SETTINGS]]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    read_values(argv[4], p);
    start(p, &(peer_options){ .library = argv[2], .model = argv[3], .threads = atoi(argv[5]),
                              .spins = atoi(argv[6]) != 0, .profile = argc > 7 ? argv[7] : "",
                              .settings = argc > 8 ? argv[8] : "" });
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        obey(p, line);
    }
    p->peer->close(p->state);
    return 0;
}
