/* pass.c - a plan's network as a plug-in's pass sees it, and what the pass may do to it.
**
** A value's number is how many networks outward it lies, and its place there: whatever a pass
** says can be looked up and checked. */
#include "ir/constant.h"
#include "passes/match.h"
#include "plugin/plugin.h"
#include <string.h>

enum { PLACE_BITS = 40 };

static evl_plugin_call *full(EvalCall *call)
{
    return (evl_plugin_call *)call;
}

static EvalValue number_of(const evl_plugin_call *c, const evl_value *v)
{
    uint64_t outward = 0;
    for (const evl_graph *g = c->graph; v && g; g = g->outer, outward++)
        if (v->graph == g)
            return outward << PLACE_BITS | (v->index + 1);
    return 0;
}

static evl_value *value_of(const evl_plugin_call *c, EvalValue number)
{
    uint64_t outward = number >> PLACE_BITS, place = number & (((uint64_t)1 << PLACE_BITS) - 1);
    const evl_graph *g = c->is_pass ? c->graph : NULL;
    for (; g && outward; outward--)
        g = g->outer;
    return g && place && place <= g->n_values ? evl_value_final(g->values[place - 1]) : NULL;
}

/* NULL: there is none, or it has nothing to compute any more. */
static evl_node *node_of(const evl_plugin_call *c, size_t index)
{
    evl_node *node = c->is_pass && index < c->graph->n_nodes ? c->graph->nodes[index] : NULL;
    for (size_t i = 0; node && i < node->n_outputs; i++)
        if (node->outputs[i])
            return node;
    return NULL;
}

/* As much as the plug-in knows of it. */
static void show(void *to, void *from, size_t size)
{
    size_t given;
    memcpy(&given, to, sizeof given);
    memcpy(from, &given, sizeof given);
    memcpy(to, from, given < size ? given : size);
}

size_t evl_plugin_nodes(EvalCall *call)
{
    return full(call)->is_pass ? full(call)->graph->n_nodes : 0;
}

int evl_plugin_view_node(EvalCall *call, size_t index, EvalNode *view)
{
    evl_plugin_call *c = full(call);
    const evl_node *node = node_of(c, index);
    if (!node || !view)
        return 0;
    EvalNode all = { .domain = node->op->domain ? node->op->domain : "", .op = node->op->name,
                     .name = node->name, .version = node->version, .nIn = node->n_inputs,
                     .nOut = node->n_outputs };
    show(view, &all, sizeof all);
    c->node = node;
    return 1;
}

EvalValue evl_plugin_node_input(EvalCall *call, size_t index, size_t i)
{
    const evl_node *node = node_of(full(call), index);
    return node && i < node->n_inputs ? number_of(full(call), evl_value_final(node->inputs[i])) : 0;
}

EvalValue evl_plugin_node_output(EvalCall *call, size_t index, size_t i)
{
    const evl_node *node = node_of(full(call), index);
    return node && i < node->n_outputs ? number_of(full(call), node->outputs[i]) : 0;
}

static bool is_listed(const evl_graph *g, const evl_node *node)
{
    return node && node->index < g->n_nodes && g->nodes[node->index] == node;
}

static bool is_output(const evl_graph *g, const evl_value *v)
{
    for (size_t i = 0; i < g->n_outputs; i++)
        if (evl_value_final(g->outputs[i]) == v)
            return true;
    return false;
}

int evl_plugin_view_value(EvalCall *call, EvalValue number, EvalValueView *view)
{
    evl_plugin_call *c = full(call);
    const evl_value *v = value_of(c, number);
    if (!v || !view)
        return 0;
    bool is_outside = v->graph != c->graph;
    if (!c->is_counted)
        evl_match_count(c->graph);
    c->is_counted = true;
    EvalValueView all = { .tensor = evl_plugin_tensor(&v->t, v->name), .producer = -1,
                          .readers = is_outside ? 0 : v->slot, .isOutside = is_outside,
                          .isOutput = is_output(c->graph, v) };
    if (!v->is_constant || !evl_constant_is_aligned(&v->t))
        all.tensor.data = NULL;
    if (!is_outside && !v->is_constant && is_listed(c->graph, v->producer))
        all.producer = (int64_t)v->producer->index;
    show(view, &all, sizeof all);
    return 1;
}

/* --- what it changes ------------------------------------------------------------------------- */

static EvalValue new_value(evl_plugin_call *c, const char *name, evl_value **v)
{
    const char *kept = evl_arena_text(c->arena, name ? name : "", name ? strlen(name) : 0);
    *v = kept ? evl_graph_value(c->graph, NULL) : NULL;
    if (!*v) {
        (void)evl_plugin_no_memory(c);
        return 0;
    }
    (*v)->name = kept;
    return number_of(c, *v);
}

EvalValue evl_plugin_new_value(EvalCall *call, const char *name)
{
    evl_plugin_call *c = full(call);
    evl_value *v;
    if (c->is_pass)
        return new_value(c, name, &v);
    (void)evl_plugin_refuse(c, "value", name, "can be made by passes only");
    return 0;
}

/* Floating-point numbers become those of the object. */
static EvalStatus copy_data(evl_plugin_call *c, const EvalTensor *from, evl_tensor *t)
{
    EvalType to = evl_type_is_float(t->type) ? c->graph->real : t->type;
    size_t n = evl_shape_is_known(&t->shape) ? evl_shape_count(&t->shape) : 0;
    if (!evl_shape_is_known(&t->shape) || t->type == EVAL_STRING ||
        from->bytes != n * evl_type_size(t->type) || (n && !from->data))
        return evl_plugin_refuse(c, "constant", from->name,
                                 "has data of another size than its shape says, or is of strings");
    if (!(t->data = evl_arena_take(c->arena, n * evl_type_size(to) + 1)))
        return evl_plugin_no_memory(c);
    if (n && !evl_convert(n, t->type, from->data, to, t->data))
        return evl_plugin_refuse(c, "constant", from->name, "is of a type that cannot be used");
    t->type = to;
    t->life = EVL_LIFE_PLAN;
    return EVAL_OK;
}

EvalValue evl_plugin_new_constant(EvalCall *call, const EvalTensor *tensor)
{
    evl_plugin_call *c = full(call);
    evl_tensor t = { 0 };
    evl_value *v;
    if (!c->is_pass || !tensor) {
        (void)evl_plugin_refuse(c, "constant", "", "is NULL, or not a pass's");
        return 0;
    }
    EvalStatus st = evl_plugin_define(c, "constant", tensor, &t);
    if (st == EVAL_OK)
        st = copy_data(c, tensor, &t);
    EvalValue number = st == EVAL_OK ? new_value(c, tensor->name, &v) : 0;
    if (number) {
        v->t = t;
        v->is_constant = true;
    }
    return number;
}

static EvalStatus take_inputs(evl_plugin_call *c, evl_node *node, const EvalValue *in)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (in[i] && !(node->inputs[i] = value_of(c, in[i])))
            return evl_plugin_refuse(c, "node", node->name, "reads a value that there is not");
    return EVAL_OK;
}

static EvalStatus take_outputs(evl_plugin_call *c, evl_node *node, const EvalValue *out)
{
    for (size_t i = 0; i < node->n_outputs; i++) {
        evl_value *v = value_of(c, out[i]);
        if (!out[i])
            continue;
        if (!v || v->graph != c->graph || v->is_input || v->is_constant || v->producer == node)
            return evl_plugin_refuse(c, "node", node->name,
                                     "computes a value that there is not, or that is given");
        if (v->producer && v->producer->outputs[v->output] == v)
            v->producer->outputs[v->output] = NULL;
        evl_node_output(node, i, v);
    }
    return EVAL_OK;
}

EvalStatus evl_plugin_put_node(EvalCall *call, const char *domain, const char *name_of_op,
                               int32_t version, const char *name, const EvalValue *in, size_t n_in,
                               const EvalValue *out, size_t n_out, const EvalAttribute *attributes,
                               size_t n)
{
    evl_plugin_call *c = full(call);
    const evl_op *op;
    evl_node *node;
    if (!c->is_pass || (n_in && !in) || (n_out && !out) || (n && !attributes))
        return evl_plugin_refuse(c, "node", name, "has a list that is NULL, or is not a pass's");
    EvalStatus st = evl_plugin_find(c, domain, name_of_op, &op);
    if (st == EVAL_OK)
        st = evl_plugin_node(c, op, name, version, n_in, n_out, attributes, n, &node);
    if (st == EVAL_OK)
        st = take_inputs(c, node, in);
    if (st == EVAL_OK)
        st = take_outputs(c, node, out);
    c->is_counted = false;
    c->has_changed = true;
    return st;
}

EvalStatus evl_plugin_rename_node(EvalCall *call, size_t index, const char *domain, const char *name,
                                  int32_t version)
{
    evl_plugin_call *c = full(call);
    evl_node *node = node_of(c, index);
    const evl_op *op;
    if (!node || evl_node_body(node, 0))
        return evl_plugin_refuse(c, "node", node ? node->name : "",
                                 "has bodies, or is none: it cannot be renamed");
    EvalStatus st = evl_plugin_find(c, domain, name, &op);
    if (st != EVAL_OK)
        return st;
    node->op = op;
    node->version = version > 0 ? version : EVL_NEWEST;
    c->has_changed = true;
    node->origin = NULL; /* what was folded of that one is not this one's */
    return EVAL_OK;
}

/* --- running them ------------------------------------------------------------------------------ */

typedef struct runner {
    evl_context *ctx;
    const evl_plugins *plugins;
    const evl_guest *guest;
    EvalPass pass;
    bool has_changed;
} runner;

static EvalStatus check_values(evl_plugin_call *c)
{
    for (size_t i = 0; i < c->graph->n_nodes; i++) {
        const evl_node *node = c->graph->nodes[i];
        for (size_t j = 0; j < node->n_inputs; j++) {
            const evl_value *v = evl_value_final(node->inputs[j]);
            if (v && !v->producer && !v->is_input && !v->is_constant)
                return evl_plugin_refuse(c, "value", v->name, "is read, and nothing computes it");
        }
    }
    return EVAL_OK;
}

static EvalStatus run_pass(runner *r, evl_graph *g)
{
    evl_plugin_call c = evl_plugin_call_of(r->ctx, r->guest);
    c.call.op = r->pass.name;
    c.call.real = g->real;
    c.arena = g->arena;
    c.graph = g;
    c.registry = &r->plugins->for_readers.registry;
    c.is_pass = true;
    EvalStatus st = evl_plugin_answer(&c, r->pass.Run(&c.call), "Run");
    r->has_changed |= c.has_changed;
    return st == EVAL_OK && c.has_changed ? check_values(&c) : st;
}

/* Bodies first. A branch that contradicts itself is not looked at: it fails when it is taken. */
static EvalStatus run_over(runner *r, evl_graph *g)
{
    EvalStatus st = EVAL_OK;
    if (g->failure != EVAL_OK)
        return EVAL_OK;
    for (size_t i = 0; i < g->n_nodes && st == EVAL_OK; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b) && st == EVAL_OK; b++)
            st = run_over(r, evl_node_body(g->nodes[i], b));
    return st == EVAL_OK ? run_pass(r, g) : st;
}

/* What it leaves is in no order, and its types and shapes are not known. */
static EvalStatus settle(evl_context *ctx, const evl_pass_env *env, evl_graph *g)
{
    EvalStatus st = evl_graph_sort(ctx, g);
    if (st == EVAL_OK)
        st = evl_pass_dead(ctx, env, g);
    return st == EVAL_OK ? evl_pass_fold(ctx, env, g) : st;
}

static EvalStatus run_one(runner *r, const evl_pass_env *env, const EvalPass *table, evl_graph *g)
{
    const char *plugin = r->guest->plugin->table.name;
    r->pass = (EvalPass){ 0 };
    r->has_changed = false;
    if (table)
        evl_plugin_copy(&r->pass, sizeof r->pass, table);
    if (!r->pass.Run || !r->pass.name)
        return evl_fail(r->ctx, EVAL_ERR_PLUGIN, "plug-in '%s' has a pass without a name or a Run", plugin);
    EvalStatus st = run_over(r, g);
    if (st == EVAL_OK && r->has_changed)
        st = settle(r->ctx, env, g);
    if (st != EVAL_OK)
        evl_fail_at(r->ctx, "pass '%s' of plug-in '%s': ", r->pass.name, plugin);
    return st;
}

EvalStatus evl_plugins_rewrite(evl_context *ctx, const evl_pass_env *env, evl_graph *g)
{
    runner r = { .ctx = ctx, .plugins = env->guests };
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < r.plugins->n; i++) {
        r.guest = &r.plugins->guests[i];
        const EvalPlugin *table = &r.guest->plugin->table;
        for (size_t p = 0; p < table->nPasses && st == EVAL_OK; p++)
            st = run_one(&r, env, table->passes[p], g);
    }
    return st;
}
