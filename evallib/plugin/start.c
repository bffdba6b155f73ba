/* Plug-ins of one model: started in order, stopped in reverse. */
#include "plugin/plugin.h"
#include <string.h>

static EvalStatus start(evl_context *ctx, evl_guest *guest)
{
    const EvalPlugin *table = &guest->plugin->table;
    if (!table->Start)
        return EVAL_OK;
    evl_plugin_call call = evl_plugin_call_of(ctx, guest);
    call.arena = guest->arena;
    EvalStatus st = table->Start(&call.call);
    if (st == EVAL_OK)
        guest->context = call.call.context;
    return evl_plugin_answer(&call, st, "Start");
}

static EvalStatus wrap_operators(evl_context *ctx, const evl_guest *guest, evl_plugins *plugins)
{
    const EvalPlugin *table = &guest->plugin->table;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < table->nOperators && st == EVAL_OK; i++) {
        size_t *n = &plugins->for_readers.registry.n;
        st = evl_plugin_operator(ctx, guest, &plugins->for_readers.registry, table->operators[i],
                                 &plugins->ops[*n]);
        *n += st == EVAL_OK;
    }
    return st;
}

/* Of each function the set with the highest score, the later one of equals. */
static void choose(const EvalKernelSet *set, bool has_function, const EvalKernelSet **best)
{
    if (has_function && (!*best || set->score >= (*best)->score))
        *best = set;
}

static EvalStatus choose_kernels(evl_context *ctx, const evl_guest *guest, evl_plugins *plugins)
{
    const EvalPlugin *table = &guest->plugin->table;
    for (size_t i = 0; i < table->nKernels; i++) {
        EvalKernelSet *set = evl_arena_take(guest->arena, sizeof *set);
        if (!set)
            return evl_no_memory(ctx);
        if (table->kernels[i])
            evl_plugin_copy(set, sizeof *set, table->kernels[i]);
        if (!set->name || set->score <= 0)
            continue;
        choose(set, set->GemmF != NULL, &plugins->gemm[EVL_FLOAT]);
        choose(set, set->GemmD != NULL, &plugins->gemm[EVL_DOUBLE]);
        choose(set, set->ConvolveF != NULL, &plugins->conv[EVL_FLOAT]);
        choose(set, set->ConvolveD != NULL, &plugins->conv[EVL_DOUBLE]);
    }
    return EVAL_OK;
}

static EvalStatus start_all(evl_context *ctx, evl_arena *arena, evl_plugin *const *opened, size_t n,
                            evl_plugins *plugins)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < n && st == EVAL_OK; i++) {
        evl_guest *guest = &plugins->guests[i];
        *guest = (evl_guest){ .plugin = opened[i], .context = opened[i]->table.user,
                              .arena = arena };
        st = start(ctx, guest);
        if (st != EVAL_OK)
            break;
        evl_plugin_use(guest->plugin);
        plugins->n++;
        st = wrap_operators(ctx, guest, plugins);
        if (st == EVAL_OK)
            st = choose_kernels(ctx, guest, plugins);
    }
    return st;
}

EvalStatus evl_plugins_start(evl_context *ctx, evl_arena *arena, evl_plugin *const *opened, size_t n,
                             evl_plugins *plugins)
{
    size_t n_ops = 0;
    *plugins = (evl_plugins){ .for_readers = { .read = evl_plugin_read } };
    for (size_t i = 0; i < n; i++) {
        n_ops += opened[i]->table.nOperators;
        plugins->n_passes += opened[i]->table.nPasses;
    }
    plugins->guests = evl_arena_take_many(arena, n + 1, sizeof *plugins->guests);
    plugins->ops = evl_arena_take_many(arena, n_ops + 1, sizeof *plugins->ops);
    if (!plugins->guests || !plugins->ops)
        return evl_no_memory(ctx);
    plugins->for_readers.registry.ops = plugins->ops;
    return start_all(ctx, arena, opened, n, plugins);
}

void evl_plugins_stop(evl_plugins *plugins)
{
    for (size_t i = plugins->n; i-- > 0;) {
        evl_guest *guest = &plugins->guests[i];
        if (guest->plugin->table.Stop)
            guest->plugin->table.Stop(guest->context);
    }
    for (size_t i = plugins->n; i-- > 0;)
        evl_plugin_release(plugins->guests[i].plugin);
    *plugins = (evl_plugins){ 0 };
}
