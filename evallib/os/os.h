/* os.h - all that the library asks of an operating system, and the processor. */
#ifndef EVL_OS_OS_H
#define EVL_OS_OS_H
#include "base/context.h"
#include <fenv.h>

/* Files, whole. A mapped file's pages are shared; one that cannot be mapped, or
** need not be, is read into memory. */
typedef struct evl_file {
    const void *data;
    size_t size;
    bool is_mapped;
    evl_memory *memory;
} evl_file;

/* EVAL_ERR_IO: missing, unreadable, a directory, no regular file; FORMAT: empty. */
EVL_MUST_USE EvalStatus evl_file_open(evl_context *, const char *path, bool may_map, evl_file *);
void evl_file_close(evl_file *); /* a zeroed one is allowed */
/* Bytes that are not read soon again need no memory till then: of a mapped file, as far as
** they lie in it; they can be read as before. */
void evl_file_forget(const evl_file *, const void *data, size_t size);

/* A hint, before a block is filled: its pages are taken at once, large ones where there are any,
** instead of one by one when they are written. What is not filled costs its memory all the same. */
void evl_expect_fill(void *block, size_t bytes);

/* Part of a file beside a model, for external data: `name` is kept inside the
** folder of `model`: no absolute path, no "..", no symbolic link out, no hard
** link, regular files only (EVAL_ERR_FORMAT). */
EVL_MUST_USE EvalStatus evl_file_open_beside(evl_context *, const char *model, const char *name,
                                             bool may_map, evl_file *);

/* What the processor and its operating system offer. HALVES: it computes vectors of 512 bits
** half by half, so that those of 256 bits are as fast. */
enum { EVL_CPU_AVX2 = 1, EVL_CPU_AVX512 = 2, EVL_CPU_VNNI = 4, EVL_CPU_HALVES = 8 };
unsigned evl_cpu_features(void);

/* Nanoseconds since some moment. */
uint64_t evl_clock(void);

/* The floating-point environment of this thread: as arithmetic here needs it, and back as
** it was found. */
typedef struct evl_float_state {
    fenv_t environment;
    unsigned control;
    bool is_set;
} evl_float_state;
void evl_float_enter(evl_float_state *found);
void evl_float_leave(const evl_float_state *found);

/* A lock. */
typedef struct evl_mutex evl_mutex;
evl_mutex *evl_mutex_new(evl_memory *); /* NULL: no memory */
void evl_mutex_lock(evl_mutex *);
void evl_mutex_unlock(evl_mutex *);
void evl_mutex_free(evl_mutex *);

/* Threads. A pool of n does work on n threads, the caller among them; n = 1 starts
** none. Workers spin `spin_us` after their last work, then sleep. A pool that is
** busy with another caller's work, or that a fork left behind, does nothing: that
** caller's work runs on its own thread. NULL is a pool of one. */
typedef struct evl_pool evl_pool;
EVL_MUST_USE EvalStatus evl_pool_new(evl_context *, size_t n_threads, unsigned spin_us, evl_pool **);
size_t evl_pool_threads(const evl_pool *);
void evl_pool_free(evl_pool *); /* joins the workers; NULL is allowed */

/* Calls work(arg, tile, lane) for each tile in 0 .. n_tiles-1, in any order, on any
** thread; returns when all are done. lane < evl_pool_threads: one at a time each,
** for scratch memory. Tiles must not depend on the number of threads. */
typedef void evl_tile_work(void *arg, size_t tile, size_t lane);
void evl_parallel_for(evl_pool *, size_t n_tiles, evl_tile_work *work, void *arg);

/* OpenBLAS, opened when first asked for. `which`: "auto" (the serial build found
** when the library was configured), "off", or a path. Row-major, as cblas_?gemm and
** cblas_?gemv; NULL pointers when there is none. */
typedef struct evl_blas {
    void *handle;
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                  const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                  const double *a, int lda, const double *b, int ldb, double beta, double *c,
                  int ldc);
    void (*sgemv)(int order, int trans, int m, int n, float alpha, const float *a, int lda,
                  const float *x, int inc_x, float beta, float *y, int inc_y);
    void (*dgemv)(int order, int trans, int m, int n, double alpha, const double *a, int lda,
                  const double *x, int inc_x, double beta, double *y, int inc_y);
} evl_blas;
enum { EVL_BLAS_ROW_MAJOR = 101, EVL_BLAS_AS_IS = 111, EVL_BLAS_TRANSPOSED = 112 };

void evl_blas_open(evl_context *, const char *which, evl_blas *); /* never fails: none is an answer,
                                                                     a path that fails is logged */
void evl_blas_close(evl_blas *);

size_t evl_processor_count(void);

/* A shared library, opened for itself alone: its symbols serve nobody else. */
typedef struct evl_library {
    void *handle;
} evl_library;
EVL_MUST_USE EvalStatus evl_library_open(evl_context *, const char *path, evl_library *); /* PLUGIN,
                                                            with the system's reason; IO: no file */
bool evl_library_symbol(const evl_library *, const char *name, void *function); /* false: none */
void evl_library_close(evl_library *); /* a zeroed one is allowed */
bool evl_file_exists(const char *path);

/* A file in place of one that is there, which whoever has mapped it keeps. EVAL_ERR_IO. */
typedef struct evl_output {
    const char *path;
    int file;
    bool is_open;
} evl_output;
EVL_MUST_USE EvalStatus evl_output_begin(evl_context *, const char *path, evl_output *); /* path stays */
EVL_MUST_USE EvalStatus evl_output_put(evl_context *, const evl_output *, const void *data, size_t);
EVL_MUST_USE EvalStatus evl_output_end(evl_context *, evl_output *); /* one that is not open is allowed */

/* A file of these bytes, likewise. */
EVL_MUST_USE EvalStatus evl_file_write(evl_context *, const char *path, const void *data, size_t);
#endif
