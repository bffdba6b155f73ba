/* blas.c - OpenBLAS, opened when a plan first wants it.
**
** Only its serial build: it starts no thread at load and lets any number of threads call
** it. A threaded one is used when the user names it, and it answers for its threads. */
#include "os/os.h"
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

/* A pointer to a function fits in one to data on every system with dlsym, but C has no cast. */
static bool look_up(void *handle, const char *name, void *function)
{
    void *symbol = dlsym(handle, name);
    if (!symbol)
        return false;
    memcpy(function, &symbol, sizeof symbol);
    return true;
}

static bool look_up_all(evl_blas *blas)
{
    return look_up(blas->handle, "cblas_sgemm", &blas->sgemm) &&
           look_up(blas->handle, "cblas_dgemm", &blas->dgemm) &&
           look_up(blas->handle, "cblas_sgemv", &blas->sgemv) &&
           look_up(blas->handle, "cblas_dgemv", &blas->dgemv);
}

static bool is_threaded(void *handle)
{
    int (*parallel)(void);
    return look_up(handle, "openblas_get_parallel", &parallel) && parallel() != 0;
}

/* A build whose sizes are 64 bits wide has the same names and would read ours as garbage. */
static bool has_wide_sizes(void *handle)
{
    char *(*config)(void);
    return look_up(handle, "openblas_get_config", &config) && strstr(config(), "USE64BITINT");
}

/* A program that is linked with an OpenBLAS lends its names to any that is opened later, which
** then calls half of the program's functions, and crashed in dlclose. RTLD_DEEPBIND keeps them
** apart; sanitizers end a program that asks for it. NULL, or why it cannot be opened at all. */
static const char *choose_flags(int *flags)
{
    void *program = dlopen(NULL, RTLD_LAZY);
    bool clashes = program && dlsym(program, "cblas_sgemm");
    bool is_watched = program && dlsym(program, "__sanitizer_print_stack_trace");
    if (program)
        dlclose(program);
    *flags = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
    if (clashes && !is_watched) {
        *flags |= RTLD_DEEPBIND;
        return NULL;
    }
#endif
    (void)is_watched;
    return clashes ? "the program has an OpenBLAS of its own" : NULL;
}

/* NULL when it can be used, else why not. */
static const char *open_library(const char *path, bool is_named, evl_blas *blas)
{
    int flags;
    const char *why_not = choose_flags(&flags);
    if (why_not)
        return why_not;
    blas->handle = dlopen(path, flags);
    if (!blas->handle)
        return "it cannot be opened";
    if (!look_up_all(blas))
        return "it has no cblas_sgemm, cblas_dgemm, cblas_sgemv and cblas_dgemv";
    if (has_wide_sizes(blas->handle))
        return "it takes 64-bit sizes";
    if (!is_named && is_threaded(blas->handle))
        return "it starts threads of its own; name its path in blas= to use it";
    return NULL;
}

void evl_blas_open(evl_context *ctx, const char *which, evl_blas *blas)
{
    int found = errno;
    bool is_auto = strcmp(which, "auto") == 0;
    const char *path = is_auto ? EVL_BLAS_PATH : which;
    *blas = (evl_blas){ 0 };
    if (!*path || strcmp(which, "off") == 0)
        return;
    const char *why_not = open_library(path, !is_auto, blas);
    if (why_not) {
        evl_note(ctx, EVAL_LOG_WARNING, "blas: '%s' is not used: %s", path, why_not);
        evl_blas_close(blas);
    }
    errno = found;
}

void evl_blas_close(evl_blas *blas)
{
    int found = errno;
    if (blas->handle)
        dlclose(blas->handle);
    *blas = (evl_blas){ 0 };
    errno = found;
}
