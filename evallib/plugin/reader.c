/* Readers of plug-ins: who claims a file, and whether what was built holds together. */
#include "plugin/plugin.h"

static bool claims(const EvalReader *table, const evl_source *source, EvalReader *reader)
{
    *reader = (EvalReader){ 0 };
    if (table)
        evl_plugin_copy(reader, sizeof *reader, table);
    return reader->Claims && reader->Read && reader->Claims(source->data, source->size);
}

static const evl_guest *find(const evl_plugins *plugins, const evl_source *source, EvalReader *reader)
{
    for (size_t i = plugins->n; i-- > 0;) {
        const EvalPlugin *table = &plugins->guests[i].plugin->table;
        for (size_t r = 0; r < table->nReaders; r++)
            if (claims(table->readers[r], source, reader))
                return &plugins->guests[i];
    }
    return NULL;
}

static EvalStatus check_values(const evl_plugin_call *c)
{
    for (size_t i = 0; i < c->graph->n_values; i++) {
        const evl_value *v = c->graph->values[i];
        if (!v->producer && !v->is_input && !v->is_constant)
            return evl_fail(c->ctx, EVAL_ERR_FORMAT,
                            "plug-in '%s': '%s' is used, and nothing defines it",
                            c->guest->plugin->table.name, v->name);
    }
    if (c->graph->n_outputs == 0)
        return evl_fail(c->ctx, EVAL_ERR_FORMAT, "plug-in '%s': the network has no output",
                        c->guest->plugin->table.name);
    return EVAL_OK;
}

EvalStatus evl_plugin_read(evl_context *ctx, const evl_guests *guests, const evl_source *source,
                           evl_graph *graph, bool *is_claimed)
{
    EvalReader reader;
    const evl_plugins *plugins = (const evl_plugins *)guests;
    const evl_guest *guest = find(plugins, source, &reader);
    *is_claimed = guest != NULL;
    if (!guest)
        return EVAL_OK;
    evl_plugin_call c = evl_plugin_call_of(ctx, guest);
    c.arena = graph->arena;
    c.graph = graph;
    c.registry = &guests->registry;
    c.source = source;
    EvalStatus st = evl_plugin_answer(&c, reader.Read(&c.call, source->data, source->size), "Read");
    if (st == EVAL_OK && !evl_graph_add_metadata(graph, "format", reader.name ? reader.name : ""))
        st = evl_no_memory(ctx);
    return st == EVAL_OK ? check_values(&c) : st;
}
