/* host.c - what a plug-in may ask of the library. */
#include "plugin/plugin.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static evl_plugin_call *full(EvalCall *call)
{
    return (evl_plugin_call *)call;
}

static void *allocate(EvalCall *call, size_t bytes)
{
    evl_arena *arena = full(call)->arena;
    return arena ? evl_arena_take(arena, bytes) : NULL;
}

static void write_log(EvalCall *call, EvalLogLevel level, const char *text)
{
    const evl_plugin_call *c = full(call);
    evl_note(c->ctx, level, "plug-in '%s': %s", c->guest->plugin->table.name, text ? text : "");
}

enum { LONGEST_TEXT = 2000 };

static bool is_failure(EvalStatus st)
{
    return st > EVAL_OK && st <= EVAL_ERR_INTERNAL;
}

static EvalStatus fail(EvalCall *call, EvalStatus st, const char *format, ...)
{
    evl_plugin_call *c = full(call);
    char text[LONGEST_TEXT];
    va_list values;
    va_start(values, format);
    int n = vsnprintf(text, sizeof text, format ? format : "", values);
    va_end(values);
    c->has_failed = n > 0;
    st = is_failure(st) ? st : EVAL_ERR_PLUGIN;
    return n > 0 ? evl_fail(c->ctx, st, "plug-in '%s': %s", c->guest->plugin->table.name, text) : st;
}

EvalStatus evl_plugin_answer(evl_plugin_call *c, EvalStatus st, const char *what)
{
    if (st == EVAL_OK && !(c->graph && c->has_failed)) /* half a network is none */
        return EVAL_OK;
    if (st == EVAL_OK)
        st = c->ctx->error.status;
    if (!c->has_failed)
        evl_fail(c->ctx, EVAL_ERR_PLUGIN, "plug-in '%s': %s failed with status %d, and gives no reason",
                 c->guest->plugin->table.name, what, (int)st);
    st = is_failure(st) ? st : EVAL_ERR_PLUGIN;
    c->ctx->error.status = st;
    return st;
}

evl_plugin_call evl_plugin_call_of(evl_context *ctx, const evl_guest *guest)
{
    return (evl_plugin_call){ .call = { .size = sizeof(EvalCall), .host = &evl_plugin_host,
                                        .context = guest->context, .node = "", .op = "" },
                              .ctx = ctx, .guest = guest };
}

typedef struct tiles {
    void (*work)(void *arg, size_t i);
    void *arg;
} tiles;

static void do_tile(void *arg, size_t tile, size_t lane)
{
    const tiles *t = arg;
    (void)lane;
    t->work(t->arg, tile);
}

static void parallel_for(EvalCall *call, size_t n, void (*work)(void *arg, size_t i), void *arg)
{
    tiles t = { work, arg };
    evl_parallel_for(full(call)->pool, n, do_tile, &t);
}

static int64_t give_int(EvalCall *call, const char *name, int64_t fallback)
{
    const evl_node *node = full(call)->node;
    return node ? evl_node_int(node, name, fallback) : fallback;
}

static double give_number(EvalCall *call, const char *name, double fallback)
{
    const evl_node *node = full(call)->node;
    return node ? evl_node_number(node, name, fallback) : fallback;
}

static const char *give_text(EvalCall *call, const char *name, const char *fallback)
{
    const evl_node *node = full(call)->node;
    return node ? evl_node_text(node, name, fallback) : fallback;
}

static const int64_t *give_ints(EvalCall *call, const char *name, size_t *count)
{
    const evl_node *node = full(call)->node;
    *count = 0;
    return node ? evl_node_ints(node, name, count) : NULL;
}

static const double *give_numbers(EvalCall *call, const char *name, size_t *count)
{
    const evl_node *node = full(call)->node;
    *count = 0;
    return node ? evl_node_numbers(node, name, count) : NULL;
}

EvalTensor evl_plugin_tensor(const evl_tensor *t, const char *name)
{
    EvalTensor public = { .name = name ? name : "" };
    if (!t)
        return public;
    public.type = t->type;
    public.rank = t->shape.rank;
    for (int32_t i = 0; i < t->shape.rank; i++)
        public.dims[i] = t->shape.dim[i];
    public.data = t->data;
    if (evl_shape_is_known(&t->shape))
        public.bytes = evl_shape_count(&t->shape) * evl_type_size(t->type);
    return public;
}

/* Graphs stay inside: a plug-in's operator runs no bodies. Tensors in lists neither. */
static bool to_public(evl_plugin_call *c, const evl_attribute *a, EvalAttribute *out)
{
    static const EvalAttributeKind kinds[] = {
        [EVL_ATTRIBUTE_INT] = EVAL_ATTRIBUTE_INT,       [EVL_ATTRIBUTE_INTS] = EVAL_ATTRIBUTE_INT,
        [EVL_ATTRIBUTE_NUMBER] = EVAL_ATTRIBUTE_NUMBER, [EVL_ATTRIBUTE_NUMBERS] = EVAL_ATTRIBUTE_NUMBER,
        [EVL_ATTRIBUTE_TEXT] = EVAL_ATTRIBUTE_TEXT,     [EVL_ATTRIBUTE_TEXTS] = EVAL_ATTRIBUTE_TEXT,
        [EVL_ATTRIBUTE_TENSOR] = EVAL_ATTRIBUTE_TENSOR, [EVL_ATTRIBUTE_GRAPHS] = 0,
    };
    *out = (EvalAttribute){ .name = a->name, .kind = kinds[a->kind], .count = 1, .data = &a->u };
    switch (a->kind) {
    case EVL_ATTRIBUTE_INT:
    case EVL_ATTRIBUTE_NUMBER:
    case EVL_ATTRIBUTE_TEXT: return true;
    case EVL_ATTRIBUTE_INTS:
    case EVL_ATTRIBUTE_NUMBERS:
    case EVL_ATTRIBUTE_TEXTS:
        out->isList = 1;
        out->count = a->n;
        out->data = a->u.ints; /* all are pointers to the first */
        return true;
    case EVL_ATTRIBUTE_TENSOR:
        c->tensor = evl_plugin_tensor(a->u.tensor, a->name);
        out->data = &c->tensor;
        return true;
    default: return false;
    }
}

static int give_attribute(EvalCall *call, size_t index, EvalAttribute *attribute)
{
    evl_plugin_call *c = full(call);
    for (size_t i = 0; c->node && i < c->node->n_attributes; i++)
        if (to_public(c, &c->node->attributes[i], attribute) && index-- == 0)
            return 1;
    return 0;
}

static EvalStatus do_replaced(EvalCall *call)
{
    evl_plugin_call *c = full(call);
    EvalStatus st = c->replaced
                        ? c->replaced(c)
                        : evl_fail(c->ctx, EVAL_ERR_PLUGIN,
                                   "plug-in '%s': it stands in no operator's place, or that one was "
                                   "not prepared",
                                   c->guest->plugin->table.name);
    c->has_failed |= st != EVAL_OK;
    return st;
}

const EvalHost evl_plugin_host = {
    sizeof evl_plugin_host, EVAL_PLUGIN_ABI, EVL_VERSION, allocate, write_log, fail, parallel_for,
    give_int, give_number, give_text, give_ints, give_numbers, give_attribute,
    evl_plugin_add_input, evl_plugin_add_constant, evl_plugin_add_node, evl_plugin_add_output,
    evl_plugin_add_metadata, evl_plugin_nodes, evl_plugin_view_node, evl_plugin_node_input,
    evl_plugin_node_output, evl_plugin_view_value, evl_plugin_new_value, evl_plugin_new_constant,
    evl_plugin_put_node, evl_plugin_rename_node, do_replaced,
};
