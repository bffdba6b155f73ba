/* build.c - the model becomes a graph: operands before users, cycles as loops, then inputs,
** outputs and further names.
**
** A network holds nodes that only training needs. What the outputs do not need and cannot
** be built is left out with a note; what they do need is an error, all of it at once. */
#include "readers/cntk/build.h"
#include <stdio.h>
#include <string.h>

typedef struct plan {
    evl_cntk_network net;
    evl_cntk_group outputs;
    bool *is_needed; /* by node: for the outputs */
    evl_cntk_components order;
    size_t *component; /* by node: its place in the order */
} plan;

bool evl_cntk_is_delay(const evl_cntk_node *node)
{
    return node->op->rule == EVL_CNTK_PAST || node->op->rule == EVL_CNTK_FUTURE;
}

bool evl_cntk_looks_ahead(const evl_cntk_node *node)
{
    return node->op->rule == EVL_CNTK_FUTURE;
}

/* --- one node ---------------------------------------------------------------------------- */

/* An operand handed through needs a node of its own to have a name of its own. */
static evl_value *named(evl_cntk_maker *k, evl_value *y)
{
    bool is_operand = false;
    if (k->b.status != EVAL_OK || strcmp(y->name, k->node->name) == 0)
        return y;
    for (size_t i = 0; i < k->node->n_inputs; i++)
        is_operand = is_operand || y == k->in[i];
    if (is_operand || *y->name || !y->producer)
        return evl_build_1(&k->b, &evl_op_identity, k->node->name, y);
    y->name = k->node->name;
    y->producer->name = k->node->name;
    if (!evl_map_set(y->graph->names, y->name, strlen(y->name), y->index))
        k->b.status = evl_no_memory(k->b.ctx);
    return y;
}

static void check_sample(evl_cntk_maker *k, const evl_value *y, bool may_be_open)
{
    for (size_t i = 0; k->b.status == EVAL_OK && i < evl_cntk_rank(y); i++)
        if (evl_cntk_dim(y, i) < 1 && !(may_be_open && evl_cntk_dim(y, i) < 0))
            evl_cntk_fail(k, EVAL_ERR_SHAPE, "the shape of its samples cannot be told");
}

static const bool *singles_of(const evl_cntk_network *net, const evl_cntk_node *node)
{
    bool *single = evl_arena_take_many(net->graph->arena, node->n_inputs + 1, sizeof *single);
    for (size_t i = 0; single && i < node->n_inputs; i++)
        single[i] = net->is_single[node->inputs[i]->index];
    return single;
}

static bool follow_operands(const evl_cntk_network *net, const evl_cntk_node *node)
{
    bool is_single = false;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const evl_value *v = net->values[node->inputs[i]->index];
        if (v && v->has_frames && !net->is_single[node->inputs[i]->index])
            return false;
        is_single = is_single || (v && v->has_frames);
    }
    return is_single;
}

static bool is_single(const evl_cntk_network *net, const evl_cntk_node *node)
{
    switch (node->frames) {
    case EVL_CNTK_SINGLE: return true;
    case EVL_CNTK_SEQUENCE: return false;
    case EVL_CNTK_AS_TOLD: return node->f.is_single;
    case EVL_CNTK_AS_FIRST: return node->n_inputs > 0 && net->is_single[node->inputs[0]->index];
    case EVL_CNTK_AS_SECOND: return node->n_inputs > 1 && net->is_single[node->inputs[1]->index];
    default: return follow_operands(net, node);
    }
}

EvalStatus evl_cntk_build_node(const evl_cntk_network *net, evl_graph *graph,
                               const evl_cntk_node *node, evl_value *const *in, evl_value **value)
{
    evl_cntk_maker k = { .b = { net->ctx, graph, EVAL_OK },
                         .node = node,
                         .in = in,
                         .is_single = singles_of(net, node),
                         .model = net->model,
                         .state = net->states[node->index] };
    if (!k.is_single)
        return evl_no_memory(net->ctx);
    size_t n_before = graph->n_nodes;
    evl_value *y = node->op->build(&k);
    y = named(&k, y);
    check_sample(&k, y, net->model->has_free_dims);
    for (size_t i = n_before; i < graph->n_nodes; i++)
        graph->nodes[i]->where = node->where;
    if (k.b.status == EVAL_OK)
        *value = y;
    else
        evl_fail_at(net->ctx, "node '%s' (%s) at byte %zu: ", node->name, node->op->name,
                    node->where);
    return k.b.status;
}

static const char *const *name_further(const evl_cntk_network *net, const char *prefix,
                                       const char *which)
{
    const char **names = evl_arena_take_many(net->graph->arena, EVAL_MAX_RANK, sizeof *names);
    size_t room = strlen(prefix) + strlen(which) + 1;
    char *text = evl_arena_take(net->graph->arena, room);
    if (!names || !text)
        return NULL;
    snprintf(text, room, "%s%s", prefix, which);
    names[0] = text;
    return names;
}

/* "sequence", "sequence_1", ...: that axis, and whatever has as many frames as it. */
static const char *const *name_axis(const evl_cntk_network *net, unsigned axis)
{
    static const char *const steps[EVAL_MAX_RANK] = { "sequence" };
    char further[16];
    if (axis == 0)
        return steps;
    snprintf(further, sizeof further, "%u", axis);
    return name_further(net, "sequence_", further);
}

/* Whose frames a node's are; NULL: it chooses them, or there is none. */
static const evl_value *framed_operand(const evl_cntk_network *net, const evl_cntk_node *node)
{
    size_t first = node->frames == EVL_CNTK_AS_SECOND;
    bool chooses = node->frames == EVL_CNTK_SEQUENCE || node->frames == EVL_CNTK_AS_TOLD;
    size_t n = chooses ? 0 : node->frames == EVL_CNTK_AS_OPERANDS ? node->n_inputs : first + 1;
    for (size_t i = first; i < n && i < node->n_inputs; i++) {
        const evl_value *v = net->values[node->inputs[i]->index];
        if (v && v->has_frames && !net->is_single[node->inputs[i]->index])
            return v;
    }
    return NULL;
}

/* What the axis of frames is called: those that have as many have one name, and a node that
** chooses frames gives its own, "sequence:" and what it is called. */
static void name_frames(const evl_cntk_network *net, const evl_cntk_node *node)
{
    static const char *const samples[EVAL_MAX_RANK] = { "batch" };
    evl_value *v = net->values[node->index];
    const evl_value *like = framed_operand(net, node);
    if (!v || !v->has_frames)
        return;
    if (net->is_single[node->index])
        v->dim_names = samples;
    else if (node->op->rule == EVL_CNTK_INPUT)
        v->dim_names = name_axis(net, v->frames_axis);
    else
        v->dim_names = like ? like->dim_names : name_further(net, "sequence:", node->name);
}

static EvalStatus build_single(const evl_cntk_network *net, const evl_cntk_node *node)
{
    evl_value **in = evl_arena_take_many(net->graph->arena, node->n_inputs + 1, sizeof *in);
    if (!in)
        return evl_no_memory(net->ctx);
    for (size_t i = 0; i < node->n_inputs; i++)
        in[i] = net->values[node->inputs[i]->index];
    net->is_single[node->index] = is_single(net, node);
    EvalStatus st = evl_cntk_build_node(net, net->graph, node, in, &net->values[node->index]);
    name_frames(net, node);
    return st;
}

/* --- all nodes ----------------------------------------------------------------------------- */

static bool points_to_itself(const evl_cntk_node *node)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == node)
            return true;
    return false;
}

/* Whether a node's operands have values; those of its own loop will have. */
static bool has_operands(const plan *p, const evl_cntk_node *node)
{
    for (size_t i = 0; i < node->op->n_inputs; i++) {
        size_t operand = node->inputs[i]->index;
        if (p->component[operand] != p->component[node->index] && !p->net.values[operand])
            return false;
    }
    return true;
}

static EvalStatus check_operands(evl_context *ctx, const evl_cntk_node *node)
{
    if (node->n_inputs >= node->op->n_inputs || !node->op->build)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_FORMAT, "node '%s' (%s) at byte %zu: %zu operands, expected %d",
                    node->name, node->op->name, node->where, node->n_inputs,
                    (int)node->op->n_inputs);
}

static bool can_build(const plan *p, const size_t *members, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const evl_cntk_node *node = &p->net.model->nodes[members[i]];
        if (!node->op->build || !has_operands(p, node))
            return false;
    }
    return true;
}

static EvalStatus build_component(const plan *p, const size_t *members, size_t n)
{
    const evl_cntk_node *first = &p->net.model->nodes[members[0]];
    bool is_needed = false;
    for (size_t i = 0; i < n; i++)
        is_needed = is_needed || p->is_needed[members[i]];
    if (!can_build(p, members, n))
        return EVAL_OK; /* needed ones have been reported */
    EvalStatus st = n > 1 || points_to_itself(first) ? evl_cntk_build_loop(&p->net, members, n)
                                                     : build_single(&p->net, first);
    for (size_t i = 0; n > 1 && st == EVAL_OK && i < n; i++) {
        evl_value *v = p->net.values[members[i]];
        v->dim_names = v->producer->inputs[0]->dim_names;
    }
    if (st == EVAL_OK || is_needed || st == EVAL_ERR_MEMORY)
        return st;
    evl_note(p->net.ctx, EVAL_LOG_WARNING, "left out, no output needs it: %s",
             p->net.ctx->error.text);
    return EVAL_OK;
}

static EvalStatus build_all(const plan *p)
{
    const evl_cntk_components *order = &p->order;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < p->net.model->n_nodes && st == EVAL_OK; i++)
        st = check_operands(p->net.ctx, &p->net.model->nodes[i]);
    for (size_t i = 0; i < order->n && st == EVAL_OK; i++)
        st = build_component(p, order->nodes + order->start[i],
                             order->start[i + 1] - order->start[i]);
    return st;
}

/* --- order ----------------------------------------------------------------------------------- */

static EvalStatus find_order(plan *p)
{
    const evl_cntk_model *m = p->net.model;
    evl_arena *arena = p->net.graph->arena;
    size_t n_edges = 0, *start = evl_arena_take_many(arena, m->n_nodes + 1, sizeof *start);
    for (size_t i = 0; i < m->n_nodes; i++)
        n_edges += m->nodes[i].n_inputs;
    size_t *to = evl_arena_take_many(arena, n_edges + 1, sizeof *to);
    if (!start || !to)
        return evl_no_memory(p->net.ctx);
    for (size_t i = 0, at = 0; i < m->n_nodes; i++) {
        for (size_t j = 0; j < m->nodes[i].n_inputs; j++)
            to[at++] = m->nodes[i].inputs[j]->index;
        start[i + 1] = at;
    }
    evl_cntk_edges edges = { m->n_nodes, start, to };
    if (!evl_cntk_find_components(arena, &edges, &p->order))
        return evl_no_memory(p->net.ctx);
    for (size_t c = 0; c < p->order.n; c++)
        for (size_t i = p->order.start[c]; i < p->order.start[c + 1]; i++)
            p->component[p->order.nodes[i]] = c;
    return EVAL_OK;
}

/* --- outputs --------------------------------------------------------------------------------- */

static bool has_value(const evl_cntk_node *node)
{
    return node->op->build && node->op->n_inputs > 0;
}

static bool counts(const evl_cntk_node *node, bool with_criteria)
{
    return with_criteria || node->op->rule != EVL_CNTK_CRITERION;
}

static void take_unread(plan *p, bool *is_read, bool with_criteria)
{
    const evl_cntk_model *m = p->net.model;
    for (size_t i = 0; i < m->n_nodes; i++)
        for (size_t j = 0; j < m->nodes[i].n_inputs; j++)
            if (counts(&m->nodes[i], with_criteria))
                is_read[m->nodes[i].inputs[j]->index] = true;
    for (size_t i = 0; i < m->n_nodes; i++)
        if (!is_read[i] && has_value(&m->nodes[i]) && counts(&m->nodes[i], with_criteria))
            p->outputs.nodes[p->outputs.n++] = &m->nodes[i];
}

/* Without a group of outputs: nodes that nobody reads, but for criteria where there are others. */
static EvalStatus find_outputs(plan *p)
{
    size_t n = p->net.model->n_nodes + 1;
    p->outputs = p->net.model->groups[EVL_CNTK_OUTPUTS];
    if (p->outputs.n > 0)
        return EVAL_OK;
    bool *is_read = evl_arena_take_many(p->net.graph->arena, n, sizeof *is_read);
    p->outputs.nodes = evl_arena_take_many(p->net.graph->arena, n, sizeof(evl_cntk_node *));
    if (!is_read || !p->outputs.nodes)
        return evl_no_memory(p->net.ctx);
    take_unread(p, is_read, false);
    if (p->outputs.n == 0)
        take_unread(p, is_read, true);
    return EVAL_OK;
}

/* Marks what the outputs need: components come after what they read, so one sweep from the
** last to the first does, and within a component all is needed together. */
static void mark_needed(plan *p)
{
    const evl_cntk_model *m = p->net.model;
    for (size_t i = 0; i < p->outputs.n; i++)
        p->is_needed[p->outputs.nodes[i]->index] = true;
    for (size_t c = p->order.n; c-- > 0;) {
        bool is_needed = false;
        for (size_t i = p->order.start[c]; i < p->order.start[c + 1]; i++)
            is_needed = is_needed || p->is_needed[p->order.nodes[i]];
        for (size_t i = p->order.start[c]; is_needed && i < p->order.start[c + 1]; i++) {
            const evl_cntk_node *node = &m->nodes[p->order.nodes[i]];
            p->is_needed[node->index] = true;
            for (size_t j = 0; node->op->n_inputs > 0 && j < node->n_inputs; j++)
                p->is_needed[node->inputs[j]->index] = true;
        }
    }
}

/* All needed nodes that cannot be built, a line each. */
static EvalStatus check_offered(const plan *p)
{
    const evl_cntk_model *m = p->net.model;
    size_t n = 0;
    for (size_t i = 0; i < m->n_nodes; i++) {
        const evl_cntk_node *node = &m->nodes[i];
        if (!p->is_needed[i] || node->op->build)
            continue;
        if (n++ == 0)
            evl_fail(p->net.ctx, EVAL_ERR_UNSUPPORTED, "CNTK operators that are not offered:");
        evl_fail_more(p->net.ctx, "\nnode '%s' (%s) at byte %zu", node->name, node->op->name,
                      node->where);
    }
    return n > 0 ? EVAL_ERR_UNSUPPORTED : EVAL_OK;
}

static EvalStatus add_outputs(const plan *p)
{
    for (size_t i = 0; i < p->outputs.n; i++) {
        evl_value *v = p->net.values[p->outputs.nodes[i]->index];
        if (!v)
            return evl_fail(p->net.ctx, EVAL_ERR_FORMAT, "the output '%s' has no value",
                            p->outputs.nodes[i]->name);
        if (!evl_graph_add_output(p->net.graph, v))
            return evl_no_memory(p->net.ctx);
    }
    return EVAL_OK;
}

/* --- inputs and names --------------------------------------------------------------------------
 */

static EvalStatus add_input(const plan *p, const evl_cntk_node *node)
{
    evl_value *v = p->net.values[node->index];
    if (!v || v->is_input || node->op->rule != EVL_CNTK_INPUT)
        return EVAL_OK;
    return evl_graph_add_input(p->net.graph, v) ? EVAL_OK : evl_no_memory(p->net.ctx);
}

/* Features first, then labels, then whatever else there is. */
static EvalStatus add_inputs(const plan *p)
{
    const evl_cntk_model *m = p->net.model;
    EvalStatus st = EVAL_OK;
    for (int g = EVL_CNTK_FEATURES; g <= EVL_CNTK_LABELS; g++)
        for (size_t i = 0; i < m->groups[g].n && st == EVAL_OK; i++)
            st = add_input(p, m->groups[g].nodes[i]);
    for (size_t i = 0; i < m->n_nodes && st == EVAL_OK; i++)
        st = add_input(p, &m->nodes[i]);
    return st;
}

/* A further name is good when no node and no other further name is the same. */
static EvalStatus count_aliases(const plan *p, evl_map *counts)
{
    for (size_t i = 0; i < p->net.model->n_aliases; i++) {
        const evl_cntk_alias *a = &p->net.model->aliases[i];
        size_t n = 0, other;
        evl_map_get(counts, a->text, a->n, &n);
        if (evl_map_get(p->net.graph->names, a->text, a->n, &other))
            n++;
        if (!evl_map_set(counts, a->text, a->n, n + 1))
            return evl_no_memory(p->net.ctx);
    }
    return EVAL_OK;
}

static EvalStatus add_aliases(const plan *p)
{
    evl_map *counts = evl_map_new(p->net.graph->arena);
    EvalStatus st = counts ? count_aliases(p, counts) : evl_no_memory(p->net.ctx);
    for (size_t i = 0; i < p->net.model->n_aliases && st == EVAL_OK; i++) {
        const evl_cntk_alias *a = &p->net.model->aliases[i];
        const evl_value *v = p->net.values[a->node->index];
        size_t n = 0;
        evl_map_get(counts, a->text, a->n, &n);
        if (v && n == 1 && !evl_map_set(p->net.graph->names, a->text, a->n, v->index))
            st = evl_no_memory(p->net.ctx);
    }
    return st;
}

static EvalStatus add_metadata(const plan *p)
{
    char version[24] = { 0 };
    size_t at = sizeof version - 1;
    uint64_t v = p->net.model->version;
    do
        version[--at] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    return evl_graph_add_metadata(p->net.graph, "format", p->net.model->format) &&
                   evl_graph_add_metadata(p->net.graph, "version", version + at)
               ? EVAL_OK
               : evl_no_memory(p->net.ctx);
}

/* --- the whole -----------------------------------------------------------------------------------
 */

static EvalStatus begin(plan *p)
{
    size_t n = p->net.model->n_nodes + 1;
    evl_arena *arena = p->net.graph->arena;
    p->net.values = evl_arena_take_many(arena, n, sizeof *p->net.values);
    p->net.inner = evl_arena_take_many(arena, n, sizeof *p->net.inner);
    p->net.places = evl_arena_take_many(arena, n, sizeof *p->net.places);
    p->net.states = evl_arena_take_many(arena, n, sizeof *p->net.states);
    p->net.is_single = evl_arena_take_many(arena, n, sizeof *p->net.is_single);
    p->is_needed = evl_arena_take_many(arena, n, sizeof *p->is_needed);
    p->component = evl_arena_take_many(arena, n, sizeof *p->component);
    if (!p->net.values || !p->net.inner || !p->net.places || !p->net.states || !p->net.is_single ||
        !p->is_needed || !p->component)
        return evl_no_memory(p->net.ctx);
    for (size_t i = 0; i < p->net.model->n_nodes; i++) {
        const evl_cntk_node *node = &p->net.model->nodes[i];
        bool is_carried = evl_cntk_is_delay(node) && !evl_cntk_looks_ahead(node);
        p->net.states[i] = is_carried ? (int64_t)p->net.graph->n_states : -1;
        p->net.graph->n_states += is_carried ? 1 + (node->n_inputs > 1) : 0;
    }
    return find_order(p);
}

static EvalStatus add_states(const plan *p)
{
    evl_graph *g = p->net.graph;
    g->states = evl_arena_take_many(g->arena, g->n_states + 1, sizeof *g->states);
    for (size_t i = 0; g->states && i < p->net.model->n_nodes; i++) {
        const evl_cntk_node *node = &p->net.model->nodes[i];
        if (p->net.states[i] >= 0)
            g->states[p->net.states[i]] =
                (evl_state_info){ p->net.values[i], node->f.step, node->n_inputs > 1 };
    }
    return g->states ? EVAL_OK : evl_no_memory(p->net.ctx);
}

static EvalStatus end(const plan *p)
{
    EvalStatus st = add_inputs(p);
    if (st == EVAL_OK)
        st = add_states(p);
    if (st == EVAL_OK)
        st = add_outputs(p);
    if (st == EVAL_OK)
        st = add_aliases(p);
    return st == EVAL_OK ? add_metadata(p) : st;
}

EvalStatus evl_cntk_build(evl_context *ctx, const evl_cntk_model *model, evl_graph *graph)
{
    plan p = { .net = { .ctx = ctx, .model = model, .graph = graph } };
    EvalStatus st = begin(&p);
    if (st == EVAL_OK)
        st = find_outputs(&p);
    if (st != EVAL_OK)
        return st;
    mark_needed(&p);
    st = check_offered(&p);
    if (st == EVAL_OK)
        st = build_all(&p);
    return st == EVAL_OK ? end(&p) : st;
}
