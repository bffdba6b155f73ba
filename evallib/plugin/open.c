/* Opening plug-ins: everything that can be told of one before it is started. */
#include "plugin/plugin.h"
#include <stdio.h>
#include <string.h>

void evl_plugin_copy(void *to, size_t size, const void *from)
{
    size_t given;
    memcpy(&given, from, sizeof given); /* every table begins with its size */
    memcpy(to, from, given < size ? given : size);
}

static EvalStatus check(evl_context *ctx, const EvalPlugin *table, const char *who)
{
    enum { LEAST = offsetof(EvalPlugin, reserved) };
    if (!table || table->size < LEAST)
        return evl_fail(ctx, EVAL_ERR_PLUGIN, "plug-in '%s': EvalPluginEntry gives no table", who);
    if (table->abi != EVAL_PLUGIN_ABI)
        return evl_fail(ctx, EVAL_ERR_PLUGIN,
                        "plug-in '%s' was made for plug-in interface %u, and this library has %u", who,
                        (unsigned)table->abi, (unsigned)EVAL_PLUGIN_ABI);
    if (table->size >= offsetof(EvalPlugin, name) && table->hostSize > sizeof(EvalHost))
        return evl_fail(ctx, EVAL_ERR_PLUGIN,
                        "plug-in '%s' needs a newer library: one with a table of %zu bytes for "
                        "plug-ins, not %zu as this one (%s)",
                        who, table->hostSize, sizeof(EvalHost), EVL_VERSION);
    return EVAL_OK;
}

static EvalStatus check_parts(evl_context *ctx, const EvalPlugin *p, const char *who)
{
    const struct {
        const void *array;
        size_t n;
        const char *what;
    } parts[] = { { p->operators, p->nOperators, "operators" },
                  { p->readers, p->nReaders, "readers" },
                  { p->kernels, p->nKernels, "kernels" },
                  { p->passes, p->nPasses, "passes" } };
    if (!p->name || !*p->name)
        return evl_fail(ctx, EVAL_ERR_PLUGIN, "plug-in '%s' has no name", who);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].n && !parts[i].array)
            return evl_fail(ctx, EVAL_ERR_PLUGIN, "plug-in '%s' counts %zu %s and lists none", p->name,
                            parts[i].n, parts[i].what);
    return EVAL_OK;
}

/* Takes the library over, also on failure. */
static EvalStatus make(evl_context *ctx, const EvalPlugin *table, const char *path,
                       evl_library library, evl_plugin **plugin)
{
    size_t n = strlen(path) + 1;
    evl_plugin *p = NULL;
    EvalStatus st = check(ctx, table, *path ? path : "(a table)");
    if (st == EVAL_OK && !(p = evl_allocate(ctx->memory, sizeof *p + n)))
        st = evl_no_memory(ctx);
    if (st == EVAL_OK) {
        *p = (evl_plugin){ .memory = ctx->memory, .library = library };
        atomic_init(&p->users, 1);
        evl_plugin_copy(&p->table, sizeof p->table, table);
        p->path = memcpy(p + 1, path, n);
        st = check_parts(ctx, &p->table, *path ? path : "(a table)");
    }
    if (st == EVAL_OK) {
        *plugin = p;
        return EVAL_OK;
    }
    evl_release(ctx->memory, p);
    evl_library_close(&library);
    return st;
}

EvalStatus evl_plugin_of(evl_context *ctx, const EvalPlugin *table, evl_plugin **plugin)
{
    return make(ctx, table, "", (evl_library){ 0 }, plugin);
}

static EvalStatus open_path(evl_context *ctx, const char *path, evl_plugin **plugin)
{
    const EvalPlugin *(*entry)(void);
    evl_library library;
    EvalStatus st = evl_library_open(ctx, path, &library);
    if (st != EVAL_OK)
        return st;
    if (evl_library_symbol(&library, "EvalPluginEntry", &entry))
        return make(ctx, entry(), path, library, plugin);
    evl_library_close(&library);
    return evl_fail(ctx, EVAL_ERR_PLUGIN,
                    "plug-in '%s': it is a shared library, but has no function EvalPluginEntry", path);
}

enum { LONGEST_PATH = 4096 };

static bool look_in(const char *folder, const char *name, char path[LONGEST_PATH])
{
    static const struct {
        const char *before, *after;
    } forms[] = { { "", "" }, { "", ".so" }, { "lib", ".so" } };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int n = snprintf(path, LONGEST_PATH, "%s/%s%s%s", folder, forms[i].before, name,
                         forms[i].after);
        if (n > 0 && n < LONGEST_PATH && evl_file_exists(path))
            return true;
    }
    return false;
}

EvalStatus evl_plugin_open(evl_context *ctx, const evl_plugin_place *place, evl_plugin **plugin)
{
    char path[LONGEST_PATH];
    if (!place->name || !*place->name)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the name of a plug-in is empty");
    if (strchr(place->name, '/'))
        return open_path(ctx, place->name, plugin);
    for (size_t i = 0; i < place->n_folders; i++)
        if (look_in(place->folders[i], place->name, path))
            return open_path(ctx, path, plugin);
    if (place->n_folders == 0)
        return evl_fail(ctx, EVAL_ERR_IO,
                        "plug-in '%s': no path, and pluginPath names no folder to look in; the one "
                        "here is './%s'",
                        place->name, place->name);
    evl_fail(ctx, EVAL_ERR_IO, "plug-in '%s' is not in any folder of pluginPath:", place->name);
    for (size_t i = 0; i < place->n_folders; i++)
        evl_fail_more(ctx, "\n%s", place->folders[i]);
    return EVAL_ERR_IO;
}

evl_plugin *evl_plugin_use(evl_plugin *p)
{
    atomic_fetch_add(&p->users, 1);
    return p;
}

void evl_plugin_release(evl_plugin *p)
{
    if (!p || atomic_fetch_sub(&p->users, 1) != 1)
        return;
    evl_library library = p->library;
    evl_release(p->memory, p);
    evl_library_close(&library);
}
