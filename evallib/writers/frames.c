/* frames.c - delays and loops of frames as ONNX says them.
**
** A Delay is a Pad along the axis of frames and a Slice. A Recurrence is a Scan: each delay becomes
** a state, which holds as many earlier frames as it looks back, the oldest first. A frame keeps an
** axis of 1 in the body, so sequences get one more axis on their way in and lose it on their way
** out. Of the loop's values those come out that are read. */
#include "writers/frames.h"
#include "ops/build.h"
#include "passes/match.h"
#include "passes/passes.h"

/* --- delays ---------------------------------------------------------------------------------- */

/* Frames start .. end-1. */
static evl_value *part(evl_builder *b, evl_value *x, int64_t start, int64_t end)
{
    static const int64_t first = 0;
    evl_value *in[] = { x, evl_build_ints(b, &start, 1), evl_build_ints(b, &end, 1),
                        evl_build_ints(b, &first, 1) };
    return evl_build(b, &evl_op_slice, NULL, in, 4, NULL, 0);
}

/* The last node's value goes by that one's name from here on. */
static void give(const evl_builder *b, evl_value *y, evl_value *as)
{
    if (b->status == EVAL_OK)
        evl_node_output(y->producer, y->output, as);
}

/* Frames of the initial value on one side, and as many cut on the other. */
static void write_delay(evl_builder *b, const evl_node *node)
{
    evl_value *x = node->inputs[0];
    int64_t offset = evl_node_int(node, "offset", 1), pads[2 * EVAL_MAX_RANK] = { 0 };
    size_t rank = (size_t)x->t.shape.rank;
    pads[offset > 0 ? 0 : rank] = offset > 0 ? offset : -offset;
    evl_value *in[] = { x, evl_build_ints(b, pads, 2 * rank),
                        evl_build_number(b, x->t.type, evl_node_number(node, "initial", 0)) };
    evl_value *y = evl_build(b, &evl_op_pad, NULL, in, 3, NULL, 0);
    give(b, offset > 0 ? part(b, y, 0, -offset) : part(b, y, -offset, INT64_MAX), node->outputs[0]);
}

/* --- loops ------------------------------------------------------------------------------------- */

typedef struct loop {
    evl_builder out, in; /* around the loop, and in it */
    const evl_node *node;
    evl_graph *body;
    size_t n_sequences, n_delays;
    const int64_t *output, *offset;
    const double *initial;
    evl_value **operands; /* of the Scan */
} loop;

static bool is_read(const evl_value *v)
{
    return v && v->slot > 0;
}

static void fail(evl_builder *b, EvalStatus st)
{
    if (b->status == EVAL_OK)
        b->status = st;
}

/* The state of a delay as an input of the body, and what it is before the first frame. */
static void add_state(loop *l, size_t i, evl_value *shown)
{
    evl_value *state = l->offset[i] > 1 ? evl_graph_value(l->body, NULL) : shown;
    if (!state || !evl_graph_add_input(l->body, state)) {
        fail(&l->out, evl_no_memory(l->in.ctx));
        return;
    }
    state->t = shown->t;
    state->t.shape.dim[0] = l->offset[i];
    if (l->out.status == EVAL_OK && !evl_shape_is_known(&state->t.shape))
        fail(&l->out, evl_fail(l->in.ctx, EVAL_ERR_UNSUPPORTED,
                               "'%s' is a loop over samples whose size is open, and a Scan has to begin "
                               "with some", l->node->outputs[0]->name));
    if (state != shown)
        give(&l->in, part(&l->in, state, 0, 1), shown);
    evl_value *in[] = { evl_build_number(&l->out, state->t.type, l->initial[i]),
                        evl_build_ints(&l->out, state->t.shape.dim, (size_t)state->t.shape.rank) };
    l->operands[i] = evl_build(&l->out, &evl_op_expand, NULL, in, 2, NULL, 0);
}

/* The state for the next frame: without its oldest, and with the newest. */
static evl_value *next_state(loop *l, size_t i, evl_value *newest)
{
    evl_attribute axis = evl_attribute_int("axis", 0);
    if (l->offset[i] == 1)
        return evl_build_1(&l->in, &evl_op_identity, NULL, newest);
    evl_value *in[] = { part(&l->in, l->body->inputs[i], 1, INT64_MAX), newest };
    return evl_build(&l->in, &evl_op_concat, NULL, in, 2, &axis, 1);
}

/* Inputs: states, then sequences. */
static void turn_inputs(loop *l)
{
    static const int64_t second = 1;
    evl_graph *body = l->body;
    evl_value **inputs = body->inputs;
    body->inputs = NULL;
    body->n_inputs = body->input_capacity = 0;
    for (size_t i = 0; i < l->n_delays; i++)
        add_state(l, i, inputs[l->n_sequences + i]);
    for (size_t i = 0; i < l->n_sequences; i++) {
        evl_value *in[] = { l->node->inputs[i], evl_build_ints(&l->out, &second, 1) };
        l->operands[l->n_delays + i] = evl_build(&l->out, &evl_op_unsqueeze, NULL, in, 2, NULL, 0);
        if (!evl_graph_add_input(body, inputs[i]))
            fail(&l->in, evl_no_memory(l->in.ctx));
    }
}

/* Outputs: states, then what is read; nothing that comes in comes out as it is. */
static void turn_outputs(loop *l)
{
    evl_graph *body = l->body;
    evl_value **outputs = body->outputs;
    body->outputs = NULL;
    body->n_outputs = body->output_capacity = 0;
    for (size_t i = 0; i < l->n_delays && l->in.status == EVAL_OK; i++) {
        evl_value *next = next_state(l, i, outputs[l->output[i]]);
        if (next && !evl_graph_add_output(body, next))
            fail(&l->in, evl_no_memory(l->in.ctx));
    }
    for (size_t i = 0; i < l->node->n_outputs && l->in.status == EVAL_OK; i++) {
        evl_value *y = outputs[i];
        if (!is_read(l->node->outputs[i]))
            continue;
        y = y->producer ? y : evl_build_1(&l->in, &evl_op_identity, NULL, y);
        if (y && !evl_graph_add_output(body, y))
            fail(&l->in, evl_no_memory(l->in.ctx));
    }
}

/* Values of a body have the names of those outside, which ONNX forbids. */
static void forget_names(evl_graph *body)
{
    for (size_t i = 0; i < body->n_values; i++)
        body->values[i]->name = "";
}

static bool turn_body(loop *l)
{
    evl_graph *body = l->body;
    evl_node **nodes = body->nodes;
    size_t n = body->n_nodes;
    body->nodes = NULL;
    body->n_nodes = body->node_capacity = 0;
    forget_names(body);
    turn_inputs(l);
    for (size_t i = 0; i < n; i++)
        if (!evl_graph_append(body, nodes[i]))
            fail(&l->in, evl_no_memory(l->in.ctx));
    fail(&l->in, l->out.status);
    turn_outputs(l);
    fail(&l->out, l->in.status);
    return l->out.status == EVAL_OK;
}

static bool set_attributes(const loop *l, evl_node *scan)
{
    size_t n_out = l->body->n_outputs - l->n_delays, n = l->n_sequences > n_out ? l->n_sequences : n_out;
    bool is_backward = evl_node_int(l->node, "backward", 0);
    int64_t *ones = evl_arena_take_many(l->body->arena, n + 1, sizeof *ones);
    for (size_t i = 0; ones && i < n; i++)
        ones[i] = 1;
    evl_attribute a[] = { evl_attribute_graph("body", l->body),
                          evl_attribute_int("num_scan_inputs", (int64_t)l->n_sequences),
                          evl_attribute_ints("scan_input_directions", ones, l->n_sequences),
                          evl_attribute_ints("scan_output_directions", ones, n_out) };
    return ones && evl_node_attributes(scan, a, is_backward ? 4 : 2);
}

static evl_node *add_scan(loop *l)
{
    size_t n_inputs = l->n_delays + l->n_sequences;
    evl_graph *g = l->out.graph;
    evl_node *scan = evl_graph_node(g, &evl_op_scan, l->node->name, n_inputs, l->body->n_outputs);
    if (!scan || !set_attributes(l, scan))
        return NULL;
    for (size_t i = 0; i < n_inputs; i++)
        scan->inputs[i] = l->operands[i];
    for (size_t i = 0; i < l->body->n_outputs; i++) {
        evl_value *y = evl_graph_value(g, NULL);
        if (!y)
            return NULL;
        evl_node_output(scan, i, y);
    }
    return scan;
}

/* What is read of the loop goes by its name. */
static void show_outputs(loop *l, evl_node *scan)
{
    static const int64_t second = 1;
    size_t shown = l->n_delays;
    fail(&l->out, evl_infer_node(l->in.ctx, scan));
    for (size_t i = 0; i < l->node->n_outputs && l->out.status == EVAL_OK; i++)
        if (is_read(l->node->outputs[i])) {
            evl_value *in[] = { scan->outputs[shown++], evl_build_ints(&l->out, &second, 1) };
            give(&l->out, evl_build(&l->out, &evl_op_squeeze, NULL, in, 2, NULL, 0), l->node->outputs[i]);
        }
}

static void write_loop(evl_builder *b, const evl_node *node)
{
    size_t n;
    loop l = { .out = *b, .node = node, .body = evl_node_graph(node, "body"), .n_sequences = node->n_inputs };
    l.in = (evl_builder){ b->ctx, l.body, EVAL_OK };
    l.output = evl_node_ints(node, "delay_output", &l.n_delays);
    l.offset = evl_node_ints(node, "delay_offset", &n);
    l.initial = evl_node_numbers(node, "delay_initial", &n);
    l.operands = evl_arena_take_many(b->graph->arena, l.n_delays + l.n_sequences, sizeof *l.operands);
    evl_node *scan = l.operands && turn_body(&l) ? add_scan(&l) : NULL;
    if (scan)
        show_outputs(&l, scan);
    else if (l.out.status == EVAL_OK)
        l.out.status = evl_no_memory(b->ctx);
    b->status = l.out.status;
}

/* --- the network ------------------------------------------------------------------------------- */

/* What is computed is of one type. */
static void make_real(evl_graph *g)
{
    for (size_t i = 0; i < g->n_values; i++)
        if (!g->values[i]->is_constant && evl_type_is_float(g->values[i]->t.type))
            g->values[i]->t.type = g->real;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t b = 0; evl_node_body(g->nodes[i], b); b++)
            make_real(evl_node_body(g->nodes[i], b));
}

static EvalStatus rewrite(evl_context *ctx, evl_graph *g)
{
    evl_builder b = { ctx, g, EVAL_OK };
    evl_node **nodes = g->nodes;
    size_t n = g->n_nodes;
    g->nodes = NULL;
    g->n_nodes = g->node_capacity = 0;
    for (size_t i = 0; i < n && b.status == EVAL_OK; i++) {
        if (nodes[i]->op == &evl_op_delay)
            write_delay(&b, nodes[i]);
        else if (nodes[i]->op == &evl_op_recurrence)
            write_loop(&b, nodes[i]);
        else if (!evl_graph_append(g, nodes[i]))
            fail(&b, evl_no_memory(ctx));
    }
    return b.status;
}

EvalStatus evl_frames_to_onnx(evl_context *ctx, evl_arena *arena, const evl_graph *g, EvalType real,
                              evl_graph **copy)
{
    evl_selection s = { .asked = g->outputs, .n_asked = g->n_outputs };
    evl_value **given;
    EvalStatus st = evl_graph_inputs_of(ctx, arena, g, g->outputs, g->n_outputs, &given, &s.n_given);
    evl_tensor *tensors = evl_arena_take_many(arena, s.n_given + 1, sizeof *tensors);
    for (size_t i = 0; tensors && i < s.n_given; i++)
        tensors[i] = given[i]->t;
    s.given = given;
    s.given_t = tensors;
    if (!tensors)
        return evl_no_memory(ctx);
    if (st == EVAL_OK)
        st = evl_graph_copy(ctx, arena, g, real, &s, copy);
    if (st != EVAL_OK)
        return st;
    make_real(*copy);
    evl_match_count(*copy);
    st = rewrite(ctx, *copy);
    return st == EVAL_OK ? evl_pass_dead(ctx, NULL, *copy) : st;
}
