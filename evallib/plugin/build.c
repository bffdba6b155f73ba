/* build.c - the network that a plug-in's reader builds, value by value, and what passes build
** their nodes of. What they say is checked here, and once more as a whole at the end. */
#include "ops/registry.h"
#include "plugin/plugin.h"
#include <string.h>

static evl_plugin_call *full(EvalCall *call)
{
    return (evl_plugin_call *)call;
}

EvalStatus evl_plugin_refuse(evl_plugin_call *c, const char *what, const char *name, const char *why)
{
    c->has_failed = true;
    return evl_fail(c->ctx, EVAL_ERR_FORMAT, "plug-in '%s': %s '%s' %s", c->guest->plugin->table.name,
                    what, name ? name : "", why);
}

EvalStatus evl_plugin_no_memory(evl_plugin_call *c)
{
    c->has_failed = true;
    return evl_no_memory(c->ctx);
}

/* By name: there, or made now. */
static evl_value *value_of(evl_graph *g, const char *name)
{
    size_t index;
    if (evl_map_get(g->names, name, strlen(name), &index))
        return g->values[index];
    return evl_graph_value(g, name);
}

EvalStatus evl_plugin_define(evl_plugin_call *c, const char *what, const EvalTensor *like,
                             evl_tensor *t)
{
    if (evl_type_size(like->type) == 0 || like->rank < -1 || like->rank > EVAL_MAX_RANK)
        return evl_plugin_refuse(c, what, like->name,
                                 "has an element type or a rank that there is not");
    t->type = like->type;
    t->shape.rank = like->rank;
    for (int32_t i = 0; i < like->rank; i++) {
        if (like->dims[i] < -1)
            return evl_plugin_refuse(c, what, like->name, "has a negative size");
        t->shape.dim[i] = like->dims[i];
    }
    if (evl_shape_check(c->ctx, &t->shape, evl_type_size(like->type)) == EVAL_OK)
        return EVAL_OK;
    c->has_failed = true;
    return c->ctx->error.status;
}

/* A value that nothing defines yet, with its type and shape. */
static EvalStatus define(evl_plugin_call *c, const char *what, const EvalTensor *like, evl_value **v)
{
    if (!c->source)
        return evl_plugin_refuse(c, what, "", "can be made by readers only");
    if (!like || !like->name || !*like->name)
        return evl_plugin_refuse(c, what, "", "has no name");
    if (!(*v = value_of(c->graph, like->name)))
        return evl_plugin_no_memory(c);
    if ((*v)->producer || (*v)->is_input || (*v)->is_constant)
        return evl_plugin_refuse(c, what, like->name, "is defined twice");
    return evl_plugin_define(c, what, like, &(*v)->t);
}

EvalStatus evl_plugin_add_input(EvalCall *call, const EvalTensor *like, const char *const *symbols)
{
    evl_plugin_call *c = full(call);
    evl_value *v;
    EvalStatus st = define(c, "input", like, &v);
    if (st != EVAL_OK)
        return st;
    if (symbols && like->rank > 0) {
        const char **names = evl_arena_take_many(c->arena, EVAL_MAX_RANK, sizeof *names);
        for (int32_t i = 0; names && i < like->rank; i++)
            if (symbols[i] && !(names[i] = evl_arena_text(c->arena, symbols[i], strlen(symbols[i]))))
                return evl_plugin_no_memory(c);
        if (!names)
            return evl_plugin_no_memory(c);
        v->dim_names = names;
    }
    return evl_graph_add_input(c->graph, v) ? EVAL_OK : evl_plugin_no_memory(c);
}

/* In the bytes that are read, or a copy. */
static const void *lasting(evl_plugin_call *c, const void *data, size_t bytes)
{
    uintptr_t from = (uintptr_t)c->source->data, at = (uintptr_t)data;
    if (at >= from && at - from <= c->source->size && bytes <= c->source->size - (at - from))
        return data;
    void *copy = evl_arena_take(c->arena, bytes);
    return copy ? memcpy(copy, data, bytes) : NULL;
}

EvalStatus evl_plugin_add_constant(EvalCall *call, const EvalTensor *tensor)
{
    evl_plugin_call *c = full(call);
    evl_value *v;
    EvalStatus st = define(c, "constant", tensor, &v);
    if (st != EVAL_OK)
        return st;
    if (!evl_shape_is_known(&v->t.shape) || tensor->type == EVAL_STRING)
        return evl_plugin_refuse(c, "constant", tensor->name, "has no known size, or is of strings");
    size_t bytes = evl_shape_count(&v->t.shape) * evl_type_size(tensor->type);
    if (tensor->bytes != bytes || (bytes && !tensor->data))
        return evl_plugin_refuse(c, "constant", tensor->name, "has data of another size than its shape says");
    union {
        const void *given;
        void *stored; /* tensors are read and written through one type */
    } data = { bytes ? lasting(c, tensor->data, bytes) : NULL };
    if (bytes && !data.given)
        return evl_plugin_no_memory(c);
    v->t.data = data.stored;
    v->t.life = EVL_LIFE_MODEL;
    v->is_constant = true;
    return EVAL_OK;
}

/* Texts that end in a '\0' and stay. */
static bool copy_texts(evl_arena *arena, const EvalString *from, size_t n, EvalString *to)
{
    for (size_t i = 0; i < n; i++) {
        to[i].size = from[i].size;
        if (!(to[i].text = evl_arena_text(arena, from[i].text, from[i].size)))
            return false;
    }
    return true;
}

static void *copy_items(evl_arena *arena, const EvalAttribute *from)
{
    void *items = evl_arena_take_many(arena, from->count + 1, sizeof(EvalString));
    if (!items)
        return NULL;
    if (from->kind == EVAL_ATTRIBUTE_TEXT)
        return copy_texts(arena, from->data, from->count, items) ? items : NULL;
    return memcpy(items, from->data, from->count * sizeof(int64_t)); /* or double */
}

static EvalStatus copy_attribute(evl_plugin_call *c, const EvalAttribute *from, evl_attribute *to)
{
    static const evl_attribute_kind kinds[][2] = {
        [EVAL_ATTRIBUTE_INT] = { EVL_ATTRIBUTE_INT, EVL_ATTRIBUTE_INTS },
        [EVAL_ATTRIBUTE_NUMBER] = { EVL_ATTRIBUTE_NUMBER, EVL_ATTRIBUTE_NUMBERS },
        [EVAL_ATTRIBUTE_TEXT] = { EVL_ATTRIBUTE_TEXT, EVL_ATTRIBUTE_TEXTS },
    };
    bool is_list = from->isList != 0;
    if (!from->name || from->kind < EVAL_ATTRIBUTE_INT || from->kind > EVAL_ATTRIBUTE_TEXT ||
        (!is_list && from->count != 1) || (from->count && !from->data))
        return evl_plugin_refuse(c, "attribute", from->name, "is of a kind, or a count, that there is not");
    void *items = copy_items(c->arena, from);
    *to = (evl_attribute){ .name = evl_arena_text(c->arena, from->name, strlen(from->name)),
                           .kind = kinds[from->kind][is_list], .n = from->count };
    if (!items || !to->name)
        return evl_plugin_no_memory(c);
    if (is_list)
        to->u.ints = items; /* all are pointers to the first */
    else
        memcpy(&to->u, items, from->kind == EVAL_ATTRIBUTE_TEXT ? sizeof(EvalString) : sizeof(int64_t));
    return EVAL_OK;
}

static EvalStatus set_operands(evl_plugin_call *c, evl_node *node, const char *const *in,
                               const char *const *out)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (in[i] && *in[i] && !(node->inputs[i] = value_of(c->graph, in[i])))
            return evl_plugin_no_memory(c);
    for (size_t i = 0; i < node->n_outputs; i++) {
        evl_value *v = out[i] && *out[i] ? value_of(c->graph, out[i]) : NULL;
        if (!out[i] || !*out[i])
            continue;
        if (!v)
            return evl_plugin_no_memory(c);
        if (v->producer || v->is_input || v->is_constant)
            return evl_plugin_refuse(c, "output", out[i], "is defined twice");
        evl_node_output(node, i, v);
    }
    return EVAL_OK;
}

EvalStatus evl_plugin_find(evl_plugin_call *c, const char *domain, const char *name, const evl_op **op)
{
    bool is_ours = domain && strcmp(domain, "evl") == 0;
    *op = is_ours || !name ? NULL : evl_registry_find(c->registry, domain, name);
    if (!*op)
        return evl_plugin_refuse(c, "operator", name, "is not offered");
    if ((*op)->traits & (EVL_OP_CONTROL | EVL_OP_SEQUENCE))
        return evl_plugin_refuse(c, "operator", name, "has bodies, which a plug-in cannot give");
    return EVAL_OK;
}

EvalStatus evl_plugin_node(evl_plugin_call *c, const evl_op *op, const char *name, int32_t version,
                           size_t n_in, size_t n_out, const EvalAttribute *attributes, size_t n,
                           evl_node **node)
{
    if (c->graph->n_nodes >= c->ctx->limits->max_nodes)
        return evl_plugin_refuse(c, "node", name, "is one more than the setting maxNodes allows");
    evl_attribute *copies = evl_arena_take_many(c->arena, n + 1, sizeof *copies);
    *node = evl_graph_node(c->graph, op, name, n_in, n_out);
    if (!*node || !copies)
        return evl_plugin_no_memory(c);
    (*node)->version = version > 0 ? version : EVL_NEWEST;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < n && st == EVAL_OK; i++)
        st = copy_attribute(c, &attributes[i], &copies[i]);
    if (st == EVAL_OK && !evl_node_attributes(*node, copies, n))
        st = evl_plugin_no_memory(c);
    return st;
}

EvalStatus evl_plugin_add_node(EvalCall *call, const char *domain, const char *name_of_op,
                               int32_t version, const char *name, const char *const *in, size_t n_in,
                               const char *const *out, size_t n_out, const EvalAttribute *attributes,
                               size_t n)
{
    evl_plugin_call *c = full(call);
    const evl_op *op;
    evl_node *node;
    if (!c->source || (n_in && !in) || (n_out && !out) || (n && !attributes))
        return evl_plugin_refuse(c, "node", name, "has a list that is NULL, or is not a reader's");
    EvalStatus st = evl_plugin_find(c, domain, name_of_op, &op);
    if (st == EVAL_OK)
        st = evl_plugin_node(c, op, name, version, n_in, n_out, attributes, n, &node);
    return st == EVAL_OK ? set_operands(c, node, in, out) : st;
}

EvalStatus evl_plugin_add_output(EvalCall *call, const char *name)
{
    evl_plugin_call *c = full(call);
    if (!c->source || !name || !*name)
        return evl_plugin_refuse(c, "output", name, "has no name, or is not a reader's");
    evl_value *v = value_of(c->graph, name);
    return v && evl_graph_add_output(c->graph, v) ? EVAL_OK : evl_plugin_no_memory(c);
}

EvalStatus evl_plugin_add_metadata(EvalCall *call, const char *key, const char *value)
{
    evl_plugin_call *c = full(call);
    if (!c->source || !key || !value)
        return evl_plugin_refuse(c, "metadata", key, "is NULL, or not a reader's");
    return evl_graph_add_metadata(c->graph, key, value) ? EVAL_OK : evl_plugin_no_memory(c);
}
