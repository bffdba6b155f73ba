/* A copy of the part of a graph that some values need, for a plan to rewrite. */
#include "ir/graph.h"
#include "ir/op.h"
#include <string.h>

/* Old values to new ones, for one graph; bodies look in the levels around theirs. */
typedef struct level {
    const evl_graph *from;
    evl_graph *to;
    evl_value **copies; /* by index of the old value */
    struct level *around;
} level;

typedef struct copier {
    evl_context *ctx;
    evl_arena *arena;
    EvalType real;
    const evl_graph *around; /* of a body alone: the graph that it stands in; NULL: none */
} copier;

static EvalStatus copy_body(copier *c, const evl_graph *from, level *around, evl_graph **to);

static evl_value *find_copy(const level *l, const evl_value *v)
{
    for (; l; l = l->around)
        if (v->graph == l->from)
            return l->copies[v->index];
    return NULL;
}

static EvalStatus new_level(copier *c, const evl_graph *from, level *around, level *l)
{
    *l = (level){ .from = from, .around = around };
    l->to = evl_graph_new(c->arena, around ? around->to : from->outer);
    l->copies = evl_arena_take_many(c->arena, from->n_values + 1, sizeof *l->copies);
    if (!l->to || !l->copies)
        return evl_no_memory(c->ctx);
    l->to->real = c->real;
    l->to->n_states = from->n_states;
    return EVAL_OK;
}

/* Type, shape and constant data as far as the old one has them; the name is shared. */
static evl_value *copy_value(level *l, const evl_value *v)
{
    evl_value *copy = evl_graph_value(l->to, NULL);
    if (!copy)
        return NULL;
    copy->name = v->name;
    copy->t = v->t;
    copy->is_constant = v->is_constant;
    copy->has_frames = v->has_frames;
    copy->declared = v->declared;
    copy->dim_names = v->dim_names;
    return l->copies[v->index] = copy;
}

static bool is_outside(const level *l, const evl_value *v)
{
    for (; l; l = l->around)
        if (v->graph == l->from)
            return false;
    return true;
}

/* An operand: a copy made before, or a constant, which is copied when first used. */
static EvalStatus copy_operand(copier *c, level *l, evl_value *v, evl_value **copy)
{
    *copy = v ? find_copy(l, v) : NULL;
    if (!v || *copy)
        return EVAL_OK;
    for (level *home = l; home; home = home->around)
        if (v->graph == home->from && v->is_constant) {
            *copy = copy_value(home, v);
            return *copy ? EVAL_OK : evl_no_memory(c->ctx);
        }
    if (c->around && is_outside(l, v)) {
        *copy = v;
        return EVAL_OK;
    }
    return evl_fail(c->ctx, EVAL_ERR_ARGUMENT, "input '%s' is needed and was not given", v->name);
}

static EvalStatus copy_bodies(copier *c, level *l, const evl_attribute *from, evl_attribute *to)
{
    evl_graph **all = evl_arena_take_many(c->arena, from->n + 1, sizeof *all);
    EvalStatus st = all ? EVAL_OK : evl_no_memory(c->ctx);
    for (size_t i = 0; i < from->n && st == EVAL_OK; i++)
        st = copy_body(c, from->u.graphs[i], l, &all[i]);
    to->u.graphs = all;
    return st;
}

static EvalStatus copy_attributes(copier *c, level *l, const evl_node *node, evl_node *copy)
{
    evl_attribute *all = evl_arena_take_many(c->arena, node->n_attributes, sizeof *all);
    if (node->n_attributes && !all)
        return evl_no_memory(c->ctx);
    for (size_t i = 0; i < node->n_attributes; i++) {
        all[i] = node->attributes[i];
        EvalStatus st = EVAL_OK;
        if (all[i].kind == EVL_ATTRIBUTE_GRAPH)
            st = copy_body(c, node->attributes[i].u.graph, l, &all[i].u.graph);
        else if (all[i].kind == EVL_ATTRIBUTE_GRAPHS)
            st = copy_bodies(c, l, &node->attributes[i], &all[i]);
        if (st != EVAL_OK)
            return st;
    }
    copy->attributes = all;
    copy->n_attributes = node->n_attributes;
    return EVAL_OK;
}

static EvalStatus copy_outputs(copier *c, level *l, const evl_node *node, evl_node *copy)
{
    for (size_t i = 0; i < node->n_outputs; i++) {
        const evl_value *v = node->outputs[i];
        if (!v || l->copies[v->index]) /* not wanted, or given by the caller */
            continue;
        evl_value *output = copy_value(l, v);
        if (!output)
            return evl_no_memory(c->ctx);
        evl_node_output(copy, i, output);
    }
    return EVAL_OK;
}

static EvalStatus copy_node(copier *c, level *l, const evl_node *node)
{
    evl_node *copy = evl_graph_node(l->to, node->op, NULL, node->n_inputs, node->n_outputs);
    if (!copy)
        return evl_no_memory(c->ctx);
    copy->name = node->name;
    copy->version = node->version;
    copy->where = node->where;
    copy->state = node->state;
    copy->origin = c->around ? node->origin : node;
    for (size_t i = 0; i < node->n_inputs; i++) {
        EvalStatus st = copy_operand(c, l, node->inputs[i], &copy->inputs[i]);
        if (st != EVAL_OK)
            return evl_node_failed(c->ctx, node, st);
    }
    EvalStatus st = copy_attributes(c, l, node, copy);
    return st == EVAL_OK ? copy_outputs(c, l, node, copy) : st;
}

static EvalStatus copy_output(copier *c, level *l, evl_value *v)
{
    evl_value *copy;
    EvalStatus st = copy_operand(c, l, v, &copy);
    if (st == EVAL_OK && !evl_graph_add_output(l->to, copy))
        st = evl_no_memory(c->ctx);
    return st;
}

static EvalStatus copy_body(copier *c, const evl_graph *from, level *around, evl_graph **to)
{
    level l;
    EvalStatus st = new_level(c, from, around, &l);
    for (size_t i = 0; i < from->n_inputs && st == EVAL_OK; i++) {
        evl_value *input = copy_value(&l, from->inputs[i]);
        if (!input || !evl_graph_add_input(l.to, input))
            st = evl_no_memory(c->ctx);
    }
    for (size_t i = 0; i < from->n_nodes && st == EVAL_OK; i++)
        st = copy_node(c, &l, from->nodes[i]);
    for (size_t i = 0; i < from->n_outputs && st == EVAL_OK; i++)
        st = copy_output(c, &l, from->outputs[i]);
    *to = l.to;
    return st;
}

/* Marks, from the last node back, what the marked values need; given ones need nothing. */
static EvalStatus mark_needed(evl_context *ctx, evl_arena *arena, const evl_graph *g,
                              evl_value *const *given, uint8_t *value_needed, uint8_t *node_needed)
{
    for (size_t i = g->n_nodes; i-- > 0;) {
        const evl_node *node = g->nodes[i];
        evl_value **captured;
        size_t n_captured;
        for (size_t j = 0; j < node->n_outputs; j++) {
            const evl_value *v = node->outputs[j];
            node_needed[i] |= v && value_needed[v->index] && !(given && given[v->index]);
        }
        if (!node_needed[i])
            continue;
        for (size_t j = 0; j < node->n_inputs; j++)
            if (node->inputs[j])
                value_needed[node->inputs[j]->index] = 1;
        EvalStatus st = evl_node_captures(ctx, arena, node, &captured, &n_captured);
        if (st != EVAL_OK)
            return st;
        for (size_t j = 0; j < n_captured; j++)
            value_needed[captured[j]->index] = 1;
    }
    return EVAL_OK;
}

static EvalStatus check_given(copier *c, const level *l, const uint8_t *value_needed)
{
    size_t missing = 0;
    for (size_t i = 0; i < l->from->n_inputs; i++) {
        const evl_value *v = l->from->inputs[i];
        if (!value_needed[v->index] || l->copies[v->index] || v->is_constant)
            continue;
        if (missing++ == 0)
            evl_fail(c->ctx, EVAL_ERR_ARGUMENT, "inputs that are needed and were not given:");
        evl_fail_more(c->ctx, "\n%s", v->name);
    }
    return missing ? EVAL_ERR_ARGUMENT : EVAL_OK;
}

static EvalStatus copy_given(copier *c, level *l, const evl_selection *s)
{
    for (size_t i = 0; i < s->n_given; i++) {
        evl_value *input = copy_value(l, s->given[i]);
        if (!input || !evl_graph_add_input(l->to, input))
            return evl_no_memory(c->ctx);
        input->t = s->given_t[i];
        input->t.life = EVL_LIFE_RUN;
        input->is_constant = false;
    }
    return EVAL_OK;
}

static EvalStatus copy_selection(copier *c, level *l, const evl_selection *s)
{
    uint8_t *value_needed = evl_arena_take_many(c->arena, l->from->n_values + 1, 1);
    uint8_t *node_needed = evl_arena_take_many(c->arena, l->from->n_nodes + 1, 1);
    if (!value_needed || !node_needed)
        return evl_no_memory(c->ctx);
    for (size_t i = 0; i < s->n_asked; i++)
        value_needed[s->asked[i]->index] = 1;
    EvalStatus st = copy_given(c, l, s);
    if (st == EVAL_OK)
        st = mark_needed(c->ctx, c->arena, l->from, l->copies, value_needed, node_needed);
    if (st == EVAL_OK)
        st = check_given(c, l, value_needed);
    for (size_t i = 0; i < l->from->n_nodes && st == EVAL_OK; i++)
        if (node_needed[i])
            st = copy_node(c, l, l->from->nodes[i]);
    for (size_t i = 0; i < s->n_asked && st == EVAL_OK; i++)
        st = copy_output(c, l, s->asked[i]);
    return st;
}

EvalStatus evl_graph_copy(evl_context *ctx, evl_arena *arena, const evl_graph *from, EvalType real,
                          const evl_selection *selection, evl_graph **copy)
{
    copier c = { ctx, arena, real, NULL };
    level l;
    EvalStatus st = new_level(&c, from, NULL, &l);
    if (st == EVAL_OK)
        st = copy_selection(&c, &l, selection);
    if (st == EVAL_OK)
        *copy = l.to;
    return st;
}

EvalStatus evl_graph_copy_body(evl_context *ctx, const evl_graph *body, evl_graph **copy)
{
    copier c = { ctx, body->arena, body->real, body->outer };
    return copy_body(&c, body, NULL, copy);
}

EvalStatus evl_graph_inputs_of(evl_context *ctx, evl_arena *arena, const evl_graph *g,
                               evl_value *const *asked, size_t n_asked, evl_value ***inputs,
                               size_t *n)
{
    uint8_t *value_needed = evl_arena_take_many(arena, g->n_values + 1, 1);
    uint8_t *node_needed = evl_arena_take_many(arena, g->n_nodes + 1, 1);
    *inputs = evl_arena_take_many(arena, g->n_inputs + 1, sizeof **inputs);
    *n = 0;
    if (!value_needed || !node_needed || !*inputs)
        return evl_no_memory(ctx);
    for (size_t i = 0; i < n_asked; i++)
        value_needed[asked[i]->index] = 1;
    EvalStatus st = mark_needed(ctx, arena, g, NULL, value_needed, node_needed);
    for (size_t i = 0; i < g->n_inputs; i++)
        if (value_needed[g->inputs[i]->index])
            (*inputs)[(*n)++] = g->inputs[i];
    return st;
}
