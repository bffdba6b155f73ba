/* Plug-ins of an object, and of the settings: opened here, started when a model is loaded. */
#include "api/evaluator.h"
#include <string.h>

/* Takes the plug-in over, also on failure. */
static EvalStatus append(evl_context *ctx, evl_memory *memory, evl_plugin_list *list, evl_plugin *p)
{
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 4;
        evl_plugin **items = evl_allocate(memory, capacity * sizeof *items);
        if (!items) {
            evl_plugin_release(p);
            return evl_no_memory(ctx);
        }
        if (list->n)
            memcpy(items, list->items, list->n * sizeof *items);
        evl_release(memory, list->items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = p;
    return EVAL_OK;
}

void evl_plugin_list_free(evl_memory *memory, evl_plugin_list *list)
{
    while (list->n > 0)
        evl_plugin_release(list->items[--list->n]);
    evl_release(memory, list->items);
    *list = (evl_plugin_list){ 0 };
}

EvalStatus evl_plugin_list_copy(evl_context *ctx, evl_memory *memory, const evl_plugin_list *from,
                                evl_plugin_list *to)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < from->n && st == EVAL_OK; i++)
        st = append(ctx, memory, to, evl_plugin_use(from->items[i]));
    return st;
}

static EvalStatus open_into(evl_context *ctx, const char *name, const evl_texts *folders,
                            evl_plugin_list *list)
{
    evl_plugin_place place = { name, folders->items, folders->n };
    evl_plugin *plugin;
    EvalStatus st = evl_plugin_open(ctx, &place, &plugin);
    return st == EVAL_OK ? append(ctx, ctx->memory, list, plugin) : st;
}

EvalStatus evl_plugin_list_all(evl_context *ctx, const evl_evaluator *e, const evl_settings *settings,
                               evl_plugin_list *list)
{
    EvalStatus st = evl_plugin_list_copy(ctx, ctx->memory, &e->plugins, list);
    for (size_t i = 0; i < settings->plugins.n && st == EVAL_OK; i++)
        st = open_into(ctx, settings->plugins.items[i], &settings->plugin_folders, list);
    return st;
}

/* Init's text has been read before: only its pluginPath is wanted. */
static EvalStatus load(evl_context *ctx, evl_arena *arena, evl_evaluator *e, const char *path)
{
    evl_settings settings = { 0 };
    evl_config *config;
    EvalStatus st = EVAL_OK;
    if (e->init) {
        st = evl_config_parse(ctx, arena, e->init, NULL, &config);
        if (st == EVAL_OK)
            st = evl_settings_read(ctx, config, &settings);
    }
    return st == EVAL_OK ? open_into(ctx, path, &settings.plugin_folders, &e->plugins) : st;
}

EvalStatus evl_evaluator_load_plugin(evl_context *ctx, evl_evaluator *e, const char *path)
{
    if (!path)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the path of the plug-in is NULL");
    evl_arena *arena = evl_arena_new(ctx->memory);
    if (!arena)
        return evl_no_memory(ctx);
    EvalStatus st = load(ctx, arena, e, path);
    evl_arena_free(arena);
    return st;
}

EvalStatus evl_evaluator_add_plugin(evl_context *ctx, evl_evaluator *e, const EvalPlugin *table)
{
    evl_plugin *plugin;
    if (!table)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "the table of the plug-in is NULL");
    EvalStatus st = evl_plugin_of(ctx, table, &plugin);
    return st == EVAL_OK ? append(ctx, ctx->memory, &e->plugins, plugin) : st;
}

EvalStatus evl_evaluator_unload_plugin(evl_context *ctx, evl_evaluator *e, const char *name)
{
    evl_plugin_list *list = &e->plugins;
    for (size_t i = list->n; name && i-- > 0;)
        if (strcmp(list->items[i]->table.name, name) == 0) {
            evl_plugin_release(list->items[i]);
            list->n--;
            memmove(&list->items[i], &list->items[i + 1], (list->n - i) * sizeof *list->items);
            return EVAL_OK;
        }
    evl_fail(ctx, EVAL_ERR_NOT_FOUND, "no plug-in '%s' is loaded; there are:", name ? name : "");
    for (size_t i = 0; i < list->n; i++)
        evl_fail_more(ctx, "\n%s", list->items[i]->table.name);
    return EVAL_ERR_NOT_FOUND;
}

EvalStatus evl_evaluator_plugins(evl_context *ctx, evl_evaluator *e, EvalPluginInfo *infos,
                                 size_t *count)
{
    if (!count)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "count is NULL");
    size_t capacity = *count;
    *count = e->plugins.n;
    if (!infos)
        return EVAL_OK;
    if (capacity && infos[0].size != sizeof *infos)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "infos[0].size is to be sizeof(EvalPluginInfo), %zu",
                        sizeof *infos);
    if (capacity < e->plugins.n)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "room for %zu plug-ins, and there are %zu", capacity,
                        e->plugins.n);
    for (size_t i = 0; i < e->plugins.n; i++) {
        const evl_plugin *p = e->plugins.items[i];
        infos[i] = (EvalPluginInfo){ sizeof *infos, p->table.name,
                                     p->table.version ? p->table.version : "", p->path,
                                     p->table.nOperators, p->table.nReaders, p->table.nKernels };
    }
    return EVAL_OK;
}
