/* library.c - dlopen and dlsym. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>
#include "library.h"

static const char *const system_names[] = { EVL_LIBRARY_SONAME, "libevallib.so" };
enum { N_SYSTEM_NAMES = sizeof system_names / sizeof system_names[0] };

int evl_library_create(evl_library *library, PyObject *file)
{
    PyObject *path = PyUnicode_EncodeFSDefault(file);
    if (!path)
        return -1;
    const char *text = PyBytes_AS_STRING(path);
    const char *slash = strrchr(text, '/');
    library->beside = PyBytes_FromStringAndSize(text, slash ? slash + 1 - text : 0);
    PyBytes_ConcatAndDel(&library->beside, PyBytes_FromString("libevallib.so"));
    Py_DECREF(path);
    return library->beside ? 0 : -1;
}

void evl_library_close(evl_library *library)
{
    if (library->handle)
        dlclose(library->handle);
    library->handle = NULL;
    Py_CLEAR(library->beside);
}

/* RTLD_LOCAL keeps the library's names, and those of a BLAS it opens, out of the
** way of other extensions. */
static void *open_one(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* A path that was chosen, by installation or by the user, and does not open is an
** error: falling back would hide it. */
static const char *chosen_path(const evl_library *library)
{
    const char *beside = PyBytes_AS_STRING(library->beside);
    if (access(beside, F_OK) == 0)
        return beside;
    const char *wanted = getenv("EVALLIB_LIBRARY");
    return wanted && *wanted ? wanted : NULL;
}

static int open_library(evl_library *library, const evl_errors *errors)
{
    const char *chosen = chosen_path(library);
    if (chosen)
        library->handle = open_one(chosen);
    for (int i = 0; !chosen && !library->handle && i < N_SYSTEM_NAMES; i++)
        library->handle = open_one(system_names[i]);
    if (library->handle)
        return 0;
    const char *reason = dlerror();
    evl_raise_format(errors, EVL_ERR_LIBRARY,
                     "Cannot find library: %s\n%s\nLooked beside the extension (%s), then in the "
                     "environment variable EVALLIB_LIBRARY, then on the system.",
                     chosen ? chosen : system_names[0], reason ? reason : "no reason was given",
                     PyBytes_AS_STRING(library->beside));
    return -1;
}

void *evl_library_symbol(evl_library *library, const evl_errors *errors, const char *name)
{
    if (!library->handle && open_library(library, errors) < 0)
        return NULL;
    void *symbol = dlsym(library->handle, name);
    if (!symbol)
        evl_raise_format(errors, EVL_ERR_LIBRARY,
                         "Cannot get IEvaluateModel.\nThe library has no function %s.", name);
    return symbol;
}
