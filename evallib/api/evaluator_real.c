/* The tables of IEvaluateModelF and IEvaluateModelD: each slot enters, calls what the
** two have in common (evaluator.h), and leaves. */
#include "api/evaluator.h"
#include "base/text.h"
#include "real.h"
#include <stdlib.h>
#include <string.h>

typedef PUBLIC(IEvaluateModel) interface;
typedef PUBLIC(EvalInput) input;
typedef PUBLIC(EvalOutput) output;
typedef PUBLIC(EvalBuffer) buffer;

typedef struct object {
    interface super; /* first: an interface * is an object * */
    evl_evaluator core;
} object;

static evl_evaluator *core_of(interface *self)
{
    return &((object *)self)->core;
}

/* self NULL has no text to set: the status is all there is. */
static EvalStatus enter(evl_entry *entry, interface *self, bool is_exclusive)
{
    return self ? evl_enter(entry, core_of(self), is_exclusive) : EVAL_ERR_ARGUMENT;
}

static EvalStatus init(interface *self, const char *config)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_init(&entry.ctx, entry.e, config)) : st;
}

static void destroy(interface *self)
{
    if (!self)
        return;
    evl_evaluator_end(core_of(self));
    free(self);
}

static EvalStatus create_network(interface *self, const char *description)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK
               ? evl_leave(&entry, evl_evaluator_create(&entry.ctx, entry.e, description, NULL))
               : st;
}

static EvalStatus get_node_dimensions(interface *self, EvalNodeGroup group, EvalDimension *dims,
                                      size_t *count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_dimensions(&entry.ctx, entry.e, group,
                                                                      dims, count))
                         : st;
}

static EvalStatus start_evaluate_minibatch_loop(interface *self, const char *name)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_find(&entry.ctx, entry.e, name)) : st;
}

/* Vectors of this twin's type as those that the two have in common. */
static EvalStatus evaluate_flat(evl_entry *entry, const input *in, size_t n_in, output *out,
                                size_t n_out, evl_flat *flat_in, evl_flat *flat_out)
{
    for (size_t i = 0; i < n_in; i++)
        flat_in[i] = (evl_flat){ .name = in[i].name, .in = in[i].data, .count = in[i].count };
    for (size_t i = 0; i < n_out; i++)
        flat_out[i] = (evl_flat){ .name = out[i].name, .out = out[i].data,
                                  .capacity = out[i].capacity };
    EvalStatus st =
        evl_evaluator_evaluate(&entry->ctx, entry->e, flat_in, n_in, flat_out, n_out);
    for (size_t i = 0; i < n_out && (st == EVAL_OK || st == EVAL_ERR_LIMIT); i++) {
        out[i].count = flat_out[i].count;
        if (st == EVAL_OK)
            out[i].data = flat_out[i].out;
    }
    return st;
}

enum { FEW = 64 };

static EvalStatus evaluate_many(evl_entry *entry, const input *in, size_t n_in, output *out,
                                size_t n_out)
{
    evl_flat few_in[FEW], few_out[FEW];
    if ((n_in && !in) || !out || n_out == 0)
        return evl_fail(&entry->ctx, EVAL_ERR_ARGUMENT,
                        "no outputs are asked for, or an array is NULL");
    if (n_in <= FEW && n_out <= FEW)
        return evaluate_flat(entry, in, n_in, out, n_out, few_in, few_out);
    evl_arena *arena = evl_arena_new(entry->ctx.memory);
    if (!arena)
        return evl_no_memory(&entry->ctx);
    evl_flat *many_in = evl_arena_take_many(arena, n_in + 1, sizeof *many_in);
    evl_flat *many_out = evl_arena_take_many(arena, n_out, sizeof *many_out);
    EvalStatus st = many_in && many_out
                        ? evaluate_flat(entry, in, n_in, out, n_out, many_in, many_out)
                        : evl_no_memory(&entry->ctx);
    evl_arena_free(arena);
    return st;
}

static EvalStatus evaluate(interface *self, const input *in, size_t n_in, output *out, size_t n_out)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evaluate_many(&entry, in, n_in, out, n_out)) : st;
}

static EvalStatus evaluate_outputs(interface *self, output *out, size_t n_out)
{
    return evaluate(self, NULL, 0, out, n_out);
}

static EvalStatus reset_state(interface *self)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_reset(&entry.ctx, entry.e)) : st;
}

static const char *last_error(interface *self)
{
    return self ? evl_evaluator_last_error(core_of(self)) : "the object is NULL";
}

/* The text of a failure into the caller's buffer, cut between two characters. */
static void give_message(evl_entry *entry, const EvalRunOptions *options)
{
    evl_error *error = &entry->ctx.error;
    size_t room = options->messageBytes - 1;
    size_t n = evl_utf8_cut(error->text, error->n < room ? error->n : room);
    memcpy(options->message, error->text, n);
    options->message[n] = '\0';
    error->n = 0; /* LastError keeps what it had */
}

static EvalStatus run(interface *self, const EvalTensor *in, size_t n_in, EvalTensor *out,
                      size_t n_out, const EvalRunOptions *options)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, false);
    if (st != EVAL_OK)
        return st;
    st = evl_evaluator_run(&entry.ctx, entry.e, in, n_in, out, n_out, options);
    if (st != EVAL_OK && options && options->size >= EVL_RUN_OPTIONS_LEAST && options->message &&
        options->messageBytes)
        give_message(&entry, options);
    return evl_leave(&entry, st);
}

static EvalStatus release(interface *self, EvalTensor *out, size_t n_out)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, false);
    return st == EVAL_OK
               ? evl_leave(&entry, evl_evaluator_release(&entry.ctx, entry.e, out, n_out))
               : st;
}

static EvalStatus set_allocator(interface *self, const EvalAllocator *allocator)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_set_allocator(&entry.ctx, entry.e,
                                                                         allocator))
                         : st;
}

static EvalStatus set_log(interface *self, void (*log)(void *, EvalLogLevel, const char *),
                          void *user)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    if (st != EVAL_OK)
        return st;
    entry.e->log = (evl_log){ log, user };
    return evl_leave(&entry, EVAL_OK);
}

static EvalStatus make_clone(evl_entry *entry, const interface *self, interface **clone)
{
    if (!clone)
        return evl_fail(&entry->ctx, EVAL_ERR_ARGUMENT, "clone is NULL");
    *clone = NULL;
    object *copy = calloc(1, sizeof *copy);
    if (!copy)
        return evl_no_memory(&entry->ctx);
    EvalStatus st = evl_evaluator_clone(&entry->ctx, entry->e, &copy->core);
    if (st != EVAL_OK) {
        free(copy);
        return st;
    }
    copy->super.vtbl = self->vtbl;
    *clone = &copy->super;
    return EVAL_OK;
}

static EvalStatus clone_object(interface *self, interface **clone)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, make_clone(&entry, self, clone)) : st;
}

static EvalStatus memory_use(interface *self, EvalMemoryUse *use)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, false);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_memory_use(&entry.ctx, entry.e, use))
                         : st;
}

static EvalStatus create_from(evl_entry *entry, const evl_source *source, const char *description)
{
    return evl_evaluator_create(&entry->ctx, entry->e, description ? description : "", source);
}

static EvalStatus load_memory(interface *self, const void *data, size_t bytes,
                              const char *description)
{
    evl_entry entry;
    evl_source source = { .data = data, .size = bytes };
    EvalStatus st = enter(&entry, self, true);
    if (st != EVAL_OK)
        return st;
    if (!data)
        return evl_leave(&entry, evl_fail(&entry.ctx, EVAL_ERR_ARGUMENT, "data is NULL"));
    if (bytes == 0)
        return evl_leave(&entry, evl_fail(&entry.ctx, EVAL_ERR_FORMAT, "the model is empty"));
    return evl_leave(&entry, create_from(&entry, &source, description));
}

static EvalStatus load_callback(interface *self, const EvalFiles *files, const char *description)
{
    evl_entry entry;
    evl_source source = { .files = files };
    EvalStatus st = enter(&entry, self, true);
    if (st != EVAL_OK)
        return st;
    if (!files || files->size < sizeof *files || !files->length || !files->read)
        return evl_leave(&entry, evl_fail(&entry.ctx, EVAL_ERR_ARGUMENT,
                                          "files needs size (%zu), length and read",
                                          sizeof *files));
    return evl_leave(&entry, create_from(&entry, &source, description));
}

static EvalStatus save(interface *self, const char *path)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_save(&entry.ctx, entry.e, path)) : st;
}

static EvalStatus describe(interface *self, evl_listing which, EvalNodeInfo *infos, size_t *count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_describe(&entry.ctx, entry.e, which,
                                                                    infos, count))
                         : st;
}

static EvalStatus inputs(interface *self, EvalNodeInfo *infos, size_t *count)
{
    return describe(self, EVL_LIST_INPUTS, infos, count);
}

static EvalStatus outputs(interface *self, EvalNodeInfo *infos, size_t *count)
{
    return describe(self, EVL_LIST_OUTPUTS, infos, count);
}

static EvalStatus nodes(interface *self, EvalNodeInfo *infos, size_t *count)
{
    return describe(self, EVL_LIST_NODES, infos, count);
}

static EvalStatus metadata(interface *self, size_t index, const char **key, const char **value)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_metadata(&entry.ctx, entry.e, index,
                                                                    key, value))
                         : st;
}

static EvalStatus operators(interface *self, EvalOperatorInfo *infos, size_t *count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_describe_operators(&entry.ctx, REAL_PRECISION,
                                                                    infos, count))
                         : st;
}

static EvalStatus schema(interface *self, bool of_outputs, EvalVariable *variables, size_t *count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_forward_schema(&entry.ctx, entry.e, of_outputs,
                                                                variables, count))
                         : st;
}

static EvalStatus input_schema(interface *self, EvalVariable *variables, size_t *count)
{
    return schema(self, false, variables, count);
}

static EvalStatus output_schema(interface *self, EvalVariable *variables, size_t *count)
{
    return schema(self, true, variables, count);
}

static EvalStatus start_forward(interface *self, const char *const *outputs, size_t n_out)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK
               ? evl_leave(&entry, evl_forward_start(&entry.ctx, entry.e, outputs, n_out))
               : st;
}

/* This twin's buffers as those that the two have in common; too many or NULL ones are told
** apart there. */
typedef struct buffers {
    evl_buffer few[2 * FEW], *in, *out;
    size_t n_in, n_out;
} buffers;

static evl_buffer buffer_of(const buffer *b)
{
    return (evl_buffer){ b->data, b->count, b->capacity, b->rows, b->columns, b->nRows,
                         b->nColumns };
}

static EvalStatus take_buffers(evl_context *ctx, buffers *all, const buffer *in, const buffer *out)
{
    bool are_few = all->n_in <= FEW && all->n_out <= FEW;
    all->in = are_few ? all->few
                      : evl_allocate_zeroed(ctx->memory, (all->n_in + all->n_out) * sizeof *all->in);
    if (!all->in)
        return evl_no_memory(ctx);
    all->out = all->in + all->n_in;
    for (size_t i = 0; i < all->n_in; i++)
        all->in[i] = buffer_of(&in[i]);
    for (size_t i = 0; i < all->n_out; i++)
        all->out[i] = buffer_of(&out[i]);
    return EVAL_OK;
}

static void give_buffers(evl_context *ctx, const buffers *all, buffer *out)
{
    for (size_t i = 0; i < all->n_out; i++) {
        out[i].data = all->out[i].data;
        out[i].count = all->out[i].count;
    }
    if (all->in != all->few)
        evl_release(ctx->memory, all->in);
}

/* sequences NULL: one. */
static EvalStatus forward(evl_entry *entry, const buffer *in, size_t n_in, buffer *out,
                          size_t n_out, const evl_sequences *sequences, bool reset)
{
    buffers all = { .n_in = in ? n_in : 0, .n_out = out ? n_out : 0 };
    evl_context *ctx = &entry->ctx;
    if ((n_in && !in) || (n_out && !out))
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "an array of buffers is NULL");
    EvalStatus st = take_buffers(ctx, &all, in, out);
    if (st != EVAL_OK)
        return st;
    st = sequences ? evl_forward_sequences(ctx, entry->e, all.in, n_in, all.out, n_out, sequences)
                   : evl_forward_pass(ctx, entry->e, all.in, n_in, all.out, n_out, reset);
    give_buffers(ctx, &all, out);
    return st;
}

static EvalStatus forward_pass(interface *self, const buffer *in, size_t n_in, buffer *out,
                               size_t n_out, int32_t reset)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, forward(&entry, in, n_in, out, n_out, NULL, reset != 0))
                         : st;
}

static EvalStatus forward_sequences(interface *self, const buffer *in, size_t n_in, buffer *out,
                                    size_t n_out, const size_t *lengths, const uint8_t *begins,
                                    size_t n_sequences)
{
    evl_entry entry;
    evl_sequences all = { lengths, begins, n_sequences };
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, forward(&entry, in, n_in, out, n_out, &all, false))
                         : st;
}

static EvalStatus get_states(interface *self, EvalDimension *states, size_t *count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK
               ? evl_leave(&entry, evl_carried_list(&entry.ctx, entry.e, states, count))
               : st;
}

static EvalStatus get_state(interface *self, const char *name, real *data, size_t *count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK
               ? evl_leave(&entry, evl_carried_get(&entry.ctx, entry.e, name, data, count))
               : st;
}

static EvalStatus set_state(interface *self, const char *name, const real *data, size_t count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK
               ? evl_leave(&entry, evl_carried_set(&entry.ctx, entry.e, name, data, count))
               : st;
}

static const PUBLIC(EvalControl) control_table = {
    sizeof control_table, set_allocator, set_log,       clone_object,
    memory_use,           load_memory,   load_callback, save,
};

static EvalStatus load_plugin(interface *self, const char *path)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_load_plugin(&entry.ctx, entry.e, path)) : st;
}

static EvalStatus load_static(interface *self, const EvalPlugin *plugin)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_add_plugin(&entry.ctx, entry.e, plugin))
                         : st;
}

static EvalStatus list_plugins(interface *self, EvalPluginInfo *infos, size_t *count)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_plugins(&entry.ctx, entry.e, infos, count))
                         : st;
}

static EvalStatus unload_plugin(interface *self, const char *name)
{
    evl_entry entry;
    EvalStatus st = enter(&entry, self, true);
    return st == EVAL_OK ? evl_leave(&entry, evl_evaluator_unload_plugin(&entry.ctx, entry.e, name))
                         : st;
}

static const PUBLIC(EvalPlugins) plugins_table = {
    sizeof plugins_table, load_plugin, load_static, list_plugins, unload_plugin,
};

static const PUBLIC(EvalDescribe) describe_table = {
    sizeof describe_table, inputs, outputs, nodes, metadata, operators,
};

static const PUBLIC(EvalExtended) extended_table = {
    sizeof extended_table, input_schema, output_schema, start_forward, forward_pass,
    forward_sequences,     get_states,   get_state,     set_state,
};

static const struct {
    const char *name;
    uint32_t version;
    const void *table;
} interfaces[] = {
    { "control", 3, &control_table },
    { "describe", 2, &describe_table },
    { "extended", 1, &extended_table },
    { "plugins", 1, &plugins_table },
};

static EvalStatus find_interface(evl_context *ctx, const char *name, uint32_t version,
                                 const void **table)
{
    if (!name || !table)
        return evl_fail(ctx, EVAL_ERR_ARGUMENT, "name or table is NULL");
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++) {
        if (strcmp(interfaces[i].name, name) != 0)
            continue;
        if (version > interfaces[i].version)
            return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "interface '%s' has version %u, not yet %u",
                            name, (unsigned)interfaces[i].version, (unsigned)version);
        *table = interfaces[i].table;
        return EVAL_OK;
    }
    evl_fail(ctx, EVAL_ERR_NOT_FOUND, "no interface '%s'; there are:", name);
    for (size_t i = 0; i < sizeof interfaces / sizeof interfaces[0]; i++)
        evl_fail_more(ctx, "\n%s", interfaces[i].name);
    return EVAL_ERR_NOT_FOUND;
}

static EvalStatus get_interface(interface *self, const char *name, uint32_t version,
                                const void **table)
{
    evl_entry entry;
    if (table)
        *table = NULL;
    EvalStatus st = enter(&entry, self, false);
    return st == EVAL_OK ? evl_leave(&entry, find_interface(&entry.ctx, name, version, table)) : st;
}

void PUBLIC(GetEval)(interface **model)
{
    static const PUBLIC(IEvaluateModelVtbl) table = {
        sizeof table,     init,         destroy,     create_network, get_node_dimensions,
        start_evaluate_minibatch_loop,  evaluate,    evaluate_outputs, reset_state,
        last_error,       run,          release,     get_interface,
    };
    if (!model)
        return;
    *model = NULL;
    object *o = calloc(1, sizeof *o);
    if (!o)
        return;
    if (!evl_evaluator_start(&o->core, REAL_PRECISION)) {
        free(o);
        return;
    }
    o->super.vtbl = &table;
    *model = &o->super;
}
