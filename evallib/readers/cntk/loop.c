/* loop.c - delays, and what hangs together through them.
**
** A delay outside any cycle is a Delay over the whole sequence. Nodes on cycles become one
** Recurrence, whose body is their graph for a single frame: sequences from outside come in
** frame by frame, constants and what has no frames are used where they are, and each delay
** is an input that shows an earlier frame of its operand. Every node of the loop is an
** output, so that it can be asked for; what nobody asks for the planner drops. */
#include "readers/cntk/build.h"

enum { MOST_ATTEMPTS = 4 };

/* --- the members in order -------------------------------------------------------------------- */

static bool find_edges(const evl_cntk_network *net, const size_t *members, size_t n,
                       evl_cntk_edges *edges)
{
    size_t n_edges = 0, *at = net->places;
    for (size_t i = 0; i < n; i++) {
        n_edges += net->model->nodes[members[i]].n_inputs;
        at[members[i]] = i + 1;
    }
    size_t *start = evl_arena_take_many(net->graph->arena, n + 1, sizeof *start);
    size_t *to = evl_arena_take_many(net->graph->arena, n_edges + 1, sizeof *to);
    if (!start || !to)
        return false;
    n_edges = 0;
    for (size_t i = 0; i < n; i++) {
        const evl_cntk_node *node = &net->model->nodes[members[i]];
        for (size_t j = 0; j < node->n_inputs && !evl_cntk_is_delay(node); j++)
            if (at[node->inputs[j]->index] > 0)
                to[n_edges++] = at[node->inputs[j]->index] - 1;
        start[i + 1] = n_edges;
    }
    *edges = (evl_cntk_edges){ n, start, to };
    return true;
}

static EvalStatus cycle_without_delay(evl_context *ctx, const evl_cntk_network *net,
                                      const size_t *members, const evl_cntk_components *order,
                                      size_t component)
{
    evl_fail(ctx, EVAL_ERR_FORMAT, "a cycle without a delay, through:");
    for (size_t i = order->start[component]; i < order->start[component + 1]; i++)
        evl_fail_more(ctx, "\n%s", net->model->nodes[members[order->nodes[i]]].name);
    return EVAL_ERR_FORMAT;
}

static bool reads_itself(const evl_cntk_edges *edges, size_t node)
{
    for (size_t i = edges->start[node]; i < edges->start[node + 1]; i++)
        if (edges->to[i] == node)
            return true;
    return false;
}

/* One frame's order: without what delays read there must be no cycle. */
static EvalStatus order_members(evl_cntk_loop *loop, const size_t *members)
{
    const evl_cntk_network *net = loop->net;
    evl_cntk_edges edges;
    evl_cntk_components order;
    if (!find_edges(net, members, loop->n, &edges) ||
        !evl_cntk_find_components(net->graph->arena, &edges, &order))
        return evl_no_memory(net->ctx);
    for (size_t i = 0; i < order.n; i++)
        if (order.start[i + 1] - order.start[i] > 1 ||
            reads_itself(&edges, order.nodes[order.start[i]]))
            return cycle_without_delay(net->ctx, net, members, &order, i);
    for (size_t i = 0; i < loop->n; i++) {
        loop->nodes[i] = &net->model->nodes[members[order.nodes[i]]];
        net->places[loop->nodes[i]->index] = i + 1;
    }
    return EVAL_OK;
}

static EvalStatus check_delays(evl_cntk_loop *loop)
{
    const evl_cntk_node *first = NULL;
    evl_context *ctx = loop->net->ctx;
    for (size_t i = 0; i < loop->n; i++) {
        const evl_cntk_node *node = loop->nodes[i];
        if (!evl_cntk_is_delay(node))
            continue;
        EvalStatus st = evl_cntk_check_delay(ctx, node);
        if (st != EVAL_OK)
            return st;
        if (first && evl_cntk_looks_ahead(first) != evl_cntk_looks_ahead(node))
            return evl_fail(ctx, EVAL_ERR_UNSUPPORTED,
                            "'%s' looks back and '%s' ahead in one loop: it cannot be computed "
                            "frame by frame",
                            (evl_cntk_looks_ahead(first) ? node : first)->name,
                            (evl_cntk_looks_ahead(first) ? first : node)->name);
        first = node;
        loop->n_delays++;
    }
    return EVAL_OK;
}

/* --- the body --------------------------------------------------------------------------------- */

typedef struct body {
    evl_graph *graph;
    evl_value **sequences; /* outer values that come in frame by frame */
    size_t n_sequences, capacity;
    const evl_cntk_node **sources; /* the nodes they belong to, if any */
    size_t source_capacity;
    evl_value **flags; /* by place in the loop: of delays whose initial value is no number */
} body;

static evl_value *frame_value(evl_graph *graph, const char *name, EvalType type,
                              const evl_shape *sample_and_frame)
{
    evl_value *v = evl_graph_value(graph, name);
    if (!v)
        return NULL;
    v->t.type = type;
    v->t.shape = *sample_and_frame;
    v->t.shape.dim[0] = 1;
    v->has_frames = true;
    return v;
}

/* One frame of an outer value as an input of the body; NULL: no memory. */
static evl_value *add_sequence(const evl_cntk_loop *loop, body *b, evl_value *outer,
                               const evl_cntk_node *source)
{
    evl_arena *arena = loop->net->graph->arena;
    evl_value *inner = frame_value(b->graph, outer->name, outer->t.type, &outer->t.shape);
    evl_value **all =
        evl_arena_grow(arena, b->sequences, b->n_sequences, &b->capacity, sizeof *all);
    const evl_cntk_node **sources =
        evl_arena_grow(arena, b->sources, b->n_sequences, &b->source_capacity, sizeof *sources);
    if (!inner || !all || !sources || !evl_graph_add_input(b->graph, inner))
        return NULL;
    b->sequences = all;
    b->sources = sources;
    b->sequences[b->n_sequences] = outer;
    b->sources[b->n_sequences++] = source;
    if (source)
        loop->net->inner[source->index] = inner;
    return inner;
}

/* Operand 1 of a delay is looked at once, not frame by frame. */
static bool is_initial(const evl_cntk_node *node, size_t operand)
{
    return operand == 1 && evl_cntk_is_delay(node);
}

/* What members read from outside; a single frame is used where it is. */
static EvalStatus add_outside(const evl_cntk_loop *loop, body *b)
{
    const evl_cntk_network *net = loop->net;
    for (size_t i = 0; i < loop->n; i++)
        for (size_t j = 0; j < loop->nodes[i]->n_inputs; j++) {
            const evl_cntk_node *source = loop->nodes[i]->inputs[j];
            const evl_value *outer = net->values[source->index];
            if (outer && outer->has_frames && !net->is_single[source->index] &&
                !is_initial(loop->nodes[i], j) && !net->inner[source->index] &&
                !add_sequence(loop, b, net->values[source->index], source))
                return evl_no_memory(net->ctx);
        }
    if (b->n_sequences > 0)
        return EVAL_OK;
    return evl_fail(net->ctx, EVAL_ERR_UNSUPPORTED,
                    "the loop through '%s' reads no sequence, so its length is not known",
                    loop->nodes[0]->name);
}

/* Initial values that are no numbers: flags tell, frame by frame, where they stand. */
static EvalStatus add_flags(const evl_cntk_loop *loop, body *b)
{
    const evl_cntk_network *net = loop->net;
    double number;
    b->flags = evl_arena_take_many(net->graph->arena, loop->n, sizeof *b->flags);
    if (!b->flags)
        return evl_no_memory(net->ctx);
    for (size_t i = 0; i < loop->n; i++) {
        const evl_cntk_node *node = loop->nodes[i];
        if (!evl_cntk_is_delay(node) || evl_cntk_initial_number(net, node, &number))
            continue;
        evl_cntk_maker k = { .b = { net->ctx, net->graph, EVAL_OK },
                             .node = node,
                             .model = net->model,
                             .state = net->states[node->index] };
        evl_value *flags = evl_cntk_edge_flags(&k, b->sequences[0]);
        if (k.b.status != EVAL_OK)
            return k.b.status;
        if (!(b->flags[i] = add_sequence(loop, b, flags, NULL)))
            return evl_no_memory(net->ctx);
    }
    return EVAL_OK;
}

/* The delayed frame, or where its flag is set the initial sample, made outside the loop. */
static EvalStatus or_initial(const evl_cntk_loop *loop, body *b, size_t i, evl_value **delayed)
{
    const evl_cntk_network *net = loop->net;
    const evl_cntk_node *node = loop->nodes[i];
    evl_cntk_maker outside = { .b = { net->ctx, net->graph, EVAL_OK },
                               .node = node,
                               .model = net->model };
    evl_cntk_maker inside = { .b = { net->ctx, b->graph, EVAL_OK },
                              .node = node,
                              .model = net->model };
    if (!b->flags[i])
        return EVAL_OK;
    evl_value *initial = net->values[node->inputs[1]->index];
    if (!initial)
        return evl_fail(net->ctx, EVAL_ERR_UNSUPPORTED,
                        "node '%s' (%s): its initial value depends on its own loop", node->name,
                        node->op->name);
    evl_value *in[3] = { b->flags[i], evl_cntk_initial_sample(&outside, initial), *delayed };
    if (outside.b.status != EVAL_OK)
        return outside.b.status;
    in[0] = evl_cntk_with_rank(&inside, in[0], evl_cntk_rank(*delayed));
    evl_value *y = evl_cntk_call(&inside, "Where", in, 3, NULL, 0);
    if (y)
        *delayed = y;
    return inside.b.status;
}

static EvalStatus add_delay(const evl_cntk_loop *loop, body *b, size_t i)
{
    const evl_cntk_node *node = loop->nodes[i];
    const evl_cntk_list *dims = &loop->shapes[i];
    evl_shape shape = { .rank = (int32_t)dims->n + 1 };
    for (size_t j = 0; j < dims->n; j++)
        shape.dim[dims->n - j] = dims->at[j];
    evl_value *v = frame_value(b->graph, NULL, node->real, &shape);
    if (!v || !evl_graph_add_input(b->graph, v))
        return evl_no_memory(loop->net->ctx);
    EvalStatus st = evl_shape_check(loop->net->ctx, &v->t.shape, evl_type_size(v->t.type));
    if (st == EVAL_OK)
        st = or_initial(loop, b, i, &v);
    if (st != EVAL_OK)
        return st;
    evl_builder builder = { loop->net->ctx, b->graph, EVAL_OK };
    loop->net->inner[node->index] = evl_build_1(&builder, &evl_op_identity, node->name, v);
    return builder.status;
}

static EvalStatus add_delayed(const evl_cntk_loop *loop, body *b)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < loop->n && st == EVAL_OK; i++)
        if (evl_cntk_is_delay(loop->nodes[i]))
            st = add_delay(loop, b, i);
    return st;
}

static EvalStatus add_member(const evl_cntk_loop *loop, body *b, const evl_cntk_node *node)
{
    const evl_cntk_network *net = loop->net;
    evl_value **in = evl_arena_take_many(net->graph->arena, node->n_inputs, sizeof *in);
    if (!in && node->n_inputs > 0)
        return evl_no_memory(net->ctx);
    for (size_t i = 0; i < node->n_inputs; i++) {
        size_t source = node->inputs[i]->index;
        in[i] = net->inner[source] ? net->inner[source] : net->values[source];
    }
    return evl_cntk_build_node(net, b->graph, node, in, &net->inner[node->index]);
}

static EvalStatus fill_body(const evl_cntk_loop *loop, body *b)
{
    b->graph = evl_graph_new(loop->net->graph->arena, loop->net->graph);
    EvalStatus st = b->graph ? add_outside(loop, b) : evl_no_memory(loop->net->ctx);
    if (st == EVAL_OK)
        st = add_flags(loop, b);
    if (st == EVAL_OK)
        st = add_delayed(loop, b);
    for (size_t i = 0; i < loop->n && st == EVAL_OK; i++)
        if (!evl_cntk_is_delay(loop->nodes[i]))
            st = add_member(loop, b, loop->nodes[i]);
    for (size_t i = 0; i < loop->n && st == EVAL_OK; i++)
        if (!evl_graph_add_output(b->graph, loop->net->inner[loop->nodes[i]->index]))
            st = evl_no_memory(loop->net->ctx);
    return st;
}

/* Nothing of the attempt stays in what loops share. */
static void forget_inner(const evl_cntk_loop *loop, const body *b)
{
    for (size_t i = 0; i < loop->n; i++)
        loop->net->inner[loop->nodes[i]->index] = NULL;
    for (size_t i = 0; i < b->n_sequences; i++)
        if (b->sources[i])
            loop->net->inner[b->sources[i]->index] = NULL;
}

/* Delays whose operand came out in another shape take that one; whether any did. */
static EvalStatus correct_shapes(evl_cntk_loop *loop, bool *is_changed)
{
    *is_changed = false;
    for (size_t i = 0; i < loop->n; i++) {
        evl_cntk_list *dims = &loop->shapes[i];
        if (!evl_cntk_is_delay(loop->nodes[i]))
            continue;
        const evl_value *operand = loop->net->inner[loop->nodes[i]->inputs[0]->index];
        size_t n = evl_cntk_rank(operand);
        bool is_same = operand->has_frames && n == dims->n;
        for (size_t j = 0; is_same && j < n; j++)
            is_same = dims->at[j] == evl_cntk_dim(operand, j);
        if (is_same)
            continue;
        *is_changed = true;
        dims->n = n;
        dims->at = evl_arena_take_many(loop->net->graph->arena, n + 1, sizeof *dims->at);
        if (!dims->at)
            return evl_no_memory(loop->net->ctx);
        evl_cntk_dims(operand, n, dims->at);
    }
    return EVAL_OK;
}

static EvalStatus build_body(evl_cntk_loop *loop, body *b)
{
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
        bool is_changed = false;
        *b = (body){ 0 };
        EvalStatus st = fill_body(loop, b);
        if (st == EVAL_OK)
            st = correct_shapes(loop, &is_changed);
        forget_inner(loop, b);
        if (st != EVAL_OK || !is_changed)
            return st;
    }
    return evl_fail(loop->net->ctx, EVAL_ERR_SHAPE,
                    "the loop through '%s' changes the shape of what it delays",
                    loop->nodes[0]->name);
}

/* --- the node ----------------------------------------------------------------------------------
 */

typedef struct delays {
    int64_t *output, *offset, *state;
    double *initial;
} delays;

/* By delay, in the order of the body's inputs. */
static bool describe_delays(const evl_cntk_loop *loop, delays *d)
{
    evl_arena *arena = loop->net->graph->arena;
    size_t n = 0;
    d->output = evl_arena_take_many(arena, loop->n_delays, sizeof *d->output);
    d->offset = evl_arena_take_many(arena, loop->n_delays, sizeof *d->offset);
    d->state = evl_arena_take_many(arena, loop->n_delays, sizeof *d->state);
    d->initial = evl_arena_take_many(arena, loop->n_delays, sizeof *d->initial);
    if (!d->output || !d->offset || !d->state || !d->initial)
        return false;
    for (size_t i = 0; i < loop->n; i++) {
        const evl_cntk_node *node = loop->nodes[i];
        if (!evl_cntk_is_delay(node))
            continue;
        d->output[n] = (int64_t)loop->net->places[node->inputs[0]->index] - 1;
        d->offset[n] = node->f.step;
        d->state[n] = loop->net->states[node->index];
        evl_cntk_initial_number(loop->net, node, &d->initial[n++]);
    }
    return true;
}

static bool looks_ahead(const evl_cntk_loop *loop)
{
    for (size_t i = 0; i < loop->n; i++)
        if (evl_cntk_looks_ahead(loop->nodes[i]))
            return true;
    return false;
}

static bool set_attributes(const evl_cntk_loop *loop, const body *b, evl_node *node)
{
    delays d;
    if (!describe_delays(loop, &d))
        return false;
    size_t n = loop->n_delays;
    evl_attribute a[6] = { evl_attribute_graph("body", b->graph),
                           evl_attribute_int("backward", looks_ahead(loop)),
                           evl_attribute_ints("delay_output", d.output, n),
                           evl_attribute_ints("delay_offset", d.offset, n),
                           evl_attribute_numbers("delay_initial", d.initial, n),
                           evl_attribute_ints("delay_state", d.state, n) };
    return evl_node_attributes(node, a, 6);
}

static EvalStatus add_recurrence(const evl_cntk_loop *loop, const body *b)
{
    evl_graph *graph = loop->net->graph;
    evl_node *node = evl_graph_node(graph, &evl_op_recurrence, NULL, b->n_sequences, loop->n);
    if (!node || !set_attributes(loop, b, node))
        return evl_no_memory(loop->net->ctx);
    for (size_t i = 0; i < b->n_sequences; i++)
        node->inputs[i] = b->sequences[i];
    for (size_t i = 0; i < loop->n; i++) {
        evl_value *v = evl_graph_value(graph, loop->nodes[i]->name);
        if (!v)
            return evl_no_memory(loop->net->ctx);
        evl_node_output(node, i, v);
        v->has_frames = true;
        loop->net->values[loop->nodes[i]->index] = v;
    }
    node->where = loop->nodes[0]->where;
    return evl_infer_node(loop->net->ctx, node);
}

EvalStatus evl_cntk_build_loop(const evl_cntk_network *net, const size_t *members, size_t n)
{
    evl_arena *arena = net->graph->arena;
    evl_cntk_loop loop = { .net = net,
                           .n = n,
                           .nodes = evl_arena_take_many(arena, n, sizeof *loop.nodes),
                           .shapes = evl_arena_take_many(arena, n, sizeof *loop.shapes) };
    body b;
    if (!loop.nodes || !loop.shapes)
        return evl_no_memory(net->ctx);
    EvalStatus st = order_members(&loop, members);
    if (st == EVAL_OK)
        st = check_delays(&loop);
    if (st == EVAL_OK)
        st = evl_cntk_shape_delays(&loop);
    if (st == EVAL_OK)
        st = build_body(&loop, &b);
    if (st == EVAL_OK)
        st = add_recurrence(&loop, &b);
    for (size_t i = 0; i < n; i++)
        net->places[members[i]] = 0;
    return st;
}
