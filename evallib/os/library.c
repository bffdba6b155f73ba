/* library.c - shared libraries opened at run time. */
#include "os/os.h"
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

bool evl_file_exists(const char *path)
{
    int found = errno;
    bool is_there = access(path, F_OK) == 0;
    errno = found;
    return is_there;
}

EvalStatus evl_library_open(evl_context *ctx, const char *path, evl_library *library)
{
    int found = errno;
    *library = (evl_library){ 0 };
    if (!evl_file_exists(path))
        return evl_fail(ctx, EVAL_ERR_IO, "plug-in '%s': there is no such file", path);
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *why = library->handle ? NULL : dlerror();
    errno = found;
    if (library->handle)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_PLUGIN, "plug-in '%s' cannot be opened: %s", path,
                    why ? why : "the system gives no reason");
}

/* A pointer to a function fits in one to data on every system with dlsym, but C has no cast. */
bool evl_library_symbol(const evl_library *library, const char *name, void *function)
{
    void *symbol = dlsym(library->handle, name);
    if (!symbol)
        return false;
    memcpy(function, &symbol, sizeof symbol);
    return true;
}

void evl_library_close(evl_library *library)
{
    int found = errno;
    if (library->handle)
        dlclose(library->handle);
    *library = (evl_library){ 0 };
    errno = found;
}
