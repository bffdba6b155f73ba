/* Convolutions, and what lies between them, over blocked channels.
**
** A Conv that can be blocked becomes a BlockedConv, which takes along what follows it and
** is used nowhere else: BatchNormalizations, Adds and Muls of a number a channel, an Add of
** another branch, a Relu or Clip.
** Its output then has a blocked twin only. Operators that work element by element, pooling
** and Concat of whole blocks go on with the twins; whatever else needs the plain value
** makes an Unblock, once. */
#include "ops/blocked.h"
#include "ops/conv.h"
#include "ops/ops.h"
#include "passes/block_width.h"
#include "passes/match.h"
#include "passes/passes.h"
#include <math.h>
#include <string.h>

typedef struct value_note {
    size_t n_uses;
    evl_node *user;     /* one of this graph; the only one, when n_uses is 1 */
    evl_value *blocked; /* the twin */
    bool is_plain;      /* the value itself is made */
} value_note;

typedef struct blocker {
    evl_context *ctx;
    const evl_pass_env *env;
    evl_graph *graph;
    value_note *notes;  /* of the values there were: by index */
    size_t n_notes;
    bool *is_done;      /* nodes that another took along */
    size_t lanes;
} blocker;

static value_note *note_of(const blocker *b, const evl_value *v)
{
    return v && v->graph == b->graph && v->index < b->n_notes ? &b->notes[v->index] : NULL;
}

static void take_notes(blocker *b)
{
    evl_graph *g = b->graph;
    evl_match_count(g);
    for (size_t i = 0; i < g->n_values; i++) {
        const evl_value *v = g->values[i];
        b->notes[i] = (value_note){ .n_uses = v->slot, .is_plain = !v->producer || v->is_constant };
    }
    for (size_t i = 0; i < g->n_nodes; i++) {
        g->nodes[i]->index = i;
        for (size_t j = 0; j < g->nodes[i]->n_inputs; j++) {
            value_note *note = note_of(b, g->nodes[i]->inputs[j]);
            if (note)
                note->user = g->nodes[i];
        }
    }
}

/* --- making nodes --- */

typedef struct making {
    const evl_op *op;
    const evl_node *from;       /* whose name, version and attributes it takes */
    evl_value *const *inputs;
    size_t n_inputs;
    const evl_attribute *more;  /* in front of those of `from` */
    size_t n_more;
} making;

static bool set_attributes(const blocker *b, evl_node *node, const making *m)
{
    size_t own = m->from ? m->from->n_attributes : 0, n = m->n_more + own;
    evl_attribute *all = evl_arena_take_many(b->graph->arena, n, sizeof *all);
    if (n && !all)
        return false;
    for (size_t i = 0; i < n; i++)
        all[i] = i < m->n_more ? m->more[i] : m->from->attributes[i - m->n_more];
    node->attributes = all;
    node->n_attributes = n;
    return true;
}

/* A node at the end of the graph that makes `output`, a new value when that is NULL. */
static EvalStatus make(blocker *b, const making *m, evl_value **output)
{
    evl_node *node = evl_graph_node(b->graph, m->op, NULL, m->n_inputs, 1);
    evl_value *v = *output ? *output : evl_graph_value(b->graph, NULL);
    if (!node || !v || !set_attributes(b, node, m))
        return evl_no_memory(b->ctx);
    if (m->from) {
        node->name = evl_node_name(m->from);
        node->version = m->from->version;
        node->where = m->from->where;
        node->origin = m->from->origin;
    }
    for (size_t i = 0; i < m->n_inputs; i++)
        node->inputs[i] = m->inputs[i];
    evl_node_output(node, 0, v);
    v->t.life = EVL_LIFE_RUN;
    *output = v;
    return evl_infer_node(b->ctx, node);
}

/* The value itself, for whoever knows nothing of blocks. */
static EvalStatus need_plain(blocker *b, evl_value *v)
{
    value_note *note = note_of(b, v);
    if (!note || note->is_plain)
        return EVAL_OK;
    note->is_plain = true;
    evl_attribute more[] = { evl_attribute_int("channels", v->t.shape.dim[1]),
                             evl_attribute_int("lanes", (int64_t)b->lanes) };
    making m = { &evl_op_unblock, NULL, &note->blocked, 1, more, 2 };
    return make(b, &m, &v);
}

static EvalStatus need_blocked(blocker *b, evl_value *v, evl_value **blocked)
{
    value_note *note = note_of(b, v);
    if (note && note->blocked) {
        *blocked = note->blocked;
        return EVAL_OK;
    }
    evl_attribute more[] = { evl_attribute_int("lanes", (int64_t)b->lanes) };
    making m = { &evl_op_block, NULL, &v, 1, more, 1 };
    *blocked = NULL;
    EvalStatus st = make(b, &m, blocked);
    if (note)
        note->blocked = *blocked;
    return st;
}

static evl_value *blocked_of(const blocker *b, const evl_value *v)
{
    const value_note *note = note_of(b, v);
    return note ? note->blocked : NULL;
}

/* --- a convolution and what follows it --- */

typedef struct conv {
    evl_node *node;
    evl_value *inputs[EVL_CONV_INPUTS];
    evl_value *output;  /* what the last node taken along makes */
    double least, most;
} conv;

static evl_node *only_user(const blocker *b, const evl_value *v)
{
    const value_note *note = note_of(b, v);
    return note && note->n_uses == 1 && note->user && note->user->n_outputs >= 1 ? note->user : NULL;
}

static void take_along(blocker *b, conv *c, const evl_node *node)
{
    b->is_done[node->index] = true;
    c->output = node->outputs[0];
}

static bool is_of_model(const evl_value *v)
{
    return v && v->is_constant && v->t.life == EVL_LIFE_MODEL && v->t.data;
}

/* A node that scales and shifts each channel, after what did so before it. */
typedef struct affine {
    const evl_node *node;
    const evl_value *scale, *bias; /* so far; NULL: 1, 0 */
    EvalType real;
    size_t n;
} affine;

/* The operand of an Add or Mul that is a number a channel of `whole`; NULL: none is. */
static const evl_value *channel_numbers(const evl_node *node, const evl_value *whole)
{
    const evl_shape *all = &whole->t.shape;
    for (size_t i = 0; i < 2; i++) {
        const evl_shape *s = &node->inputs[i]->t.shape;
        int32_t axis = s->rank - all->rank + 1;
        if (is_of_model(node->inputs[i]) && node->inputs[!i] == whole && s->rank <= all->rank && axis >= 0 &&
            s->dim[axis] == all->dim[1] && evl_shape_count(s) == (size_t)all->dim[1])
            return node->inputs[i];
    }
    return NULL;
}

static EvalStatus make_affine(evl_context *ctx, void *block, void *arg)
{
    const affine *how = arg;
    const evl_node *node = how->node;
    size_t size = evl_type_size(how->real);
    const evl_value *numbers = node->n_inputs == 2 ? node->inputs[is_of_model(node->inputs[1])] : NULL;
    (void)ctx;
    for (size_t i = 0; i < how->n; i++) {
        double scale = 1, bias = 0;
        if (!numbers)
            evl_match_batch_at(node, i, &scale, &bias);
        else
            *(node->op == &evl_op_add ? &bias : &scale) = evl_tensor_f64(&numbers->t, i);
        bias += how->bias ? scale * evl_tensor_f64(&how->bias->t, i) : 0;
        scale *= how->scale ? evl_tensor_f64(&how->scale->t, i) : 1;
        evl_convert(1, EVAL_FLOAT64, &scale, how->real, (char *)block + i * size);
        evl_convert(1, EVAL_FLOAT64, &bias, how->real, (char *)block + (how->n + i) * size);
    }
    return EVAL_OK;
}

static bool is_batch(const conv *c, const evl_node *node)
{
    bool is = evl_match_batch(node, (size_t)c->output->t.shape.dim[1]);
    for (size_t i = 1; i < node->n_inputs && is; i++)
        is = is_of_model(node->inputs[i]);
    return is;
}

static bool can_take_affine(const conv *c, const evl_node *node)
{
    const evl_value *bias = c->inputs[EVL_CONV_BIAS];
    bool is_one = node->op == &evl_op_add || node->op == &evl_op_mul;
    return node->origin && (!bias || is_of_model(bias)) &&
           (is_one ? channel_numbers(node, c->output) != NULL : is_batch(c, node));
}

static evl_value *channel_constant(blocker *b, const char *data, size_t n)
{
    evl_shape shape = evl_shape_of(1, &(int64_t){ (int64_t)n });
    evl_value *v = evl_graph_constant(b->graph, NULL, b->graph->real, &shape, NULL);
    if (!v)
        return NULL;
    memcpy(&v->t.data, &data, sizeof data); /* constants are read through void * too */
    v->t.life = EVL_LIFE_MODEL;
    return v;
}

static EvalStatus take_affine(blocker *b, conv *c, const evl_node *node)
{
    affine how = { node, c->inputs[EVL_CONV_SCALE], c->inputs[EVL_CONV_BIAS], b->graph->real,
                   (size_t)c->output->t.shape.dim[1] };
    size_t bytes = how.n * evl_type_size(how.real);
    evl_store_key key = { node->origin, "affine", 0 };
    const void *block;
    EvalStatus st = evl_store_get(b->ctx, b->env->store, &key, 2 * bytes, make_affine, &how, &block);
    if (st != EVAL_OK)
        return st;
    c->inputs[EVL_CONV_SCALE] = channel_constant(b, block, how.n);
    c->inputs[EVL_CONV_BIAS] = channel_constant(b, (const char *)block + bytes, how.n);
    if (!c->inputs[EVL_CONV_SCALE] || !c->inputs[EVL_CONV_BIAS])
        return evl_no_memory(b->ctx);
    take_along(b, c, node);
    return EVAL_OK;
}

static EvalStatus take_affines(blocker *b, conv *c)
{
    EvalStatus st = EVAL_OK;
    for (const evl_node *node; st == EVAL_OK && (node = only_user(b, c->output)) && can_take_affine(c, node);)
        st = take_affine(b, c, node);
    return st;
}

/* Another branch that is there already, of the same shape. */
static EvalStatus take_residual(blocker *b, conv *c)
{
    const evl_node *node = only_user(b, c->output);
    bool is_grouped = evl_node_int(c->node, "group", 1) > 1 && c->inputs[1]->t.shape.dim[1] < (int64_t)b->lanes;
    if (!node || node->op != &evl_op_add || is_grouped)
        return EVAL_OK;
    evl_value *other = node->inputs[node->inputs[0] == c->output];
    bool is_there = other && (!other->producer || other->producer->graph != b->graph ||
                              other->producer->index < c->node->index || blocked_of(b, other));
    if (!is_there || !evl_shape_equal(&other->t.shape, &c->output->t.shape) ||
        other->t.type != c->output->t.type)
        return EVAL_OK;
    take_along(b, c, node);
    return need_blocked(b, other, &c->inputs[EVL_CONV_RESIDUAL]);
}

static bool known_number(const evl_node *node, const char *name, size_t input, double *number)
{
    const evl_tensor *in[3] = { NULL };
    for (size_t i = 0; i < node->n_inputs && i < 3; i++)
        in[i] = node->inputs[i] ? &node->inputs[i]->t : NULL;
    evl_use use = { node, in, node->n_inputs };
    return evl_use_number(&use, name, input, number) != EVL_UNKNOWN;
}

static void take_clip(blocker *b, conv *c)
{
    const evl_node *node = only_user(b, c->output);
    double least = -INFINITY, most = INFINITY;
    if (!node || (node->op != &evl_op_relu && node->op != &evl_op_clip))
        return;
    if (node->op == &evl_op_relu)
        least = 0;
    else if (!known_number(node, "min", 1, &least) || !known_number(node, "max", 2, &most))
        return;
    c->least = least;
    c->most = most;
    take_along(b, c, node);
}

static EvalStatus block_conv(blocker *b, evl_node *node)
{
    conv c = { .node = node, .output = node->outputs[0], .least = -INFINITY, .most = INFINITY };
    const evl_shape *w = &node->inputs[1]->t.shape;
    bool is_thin = w->dim[1] < (int64_t)b->lanes && evl_node_int(node, "group", 1) == 1 &&
                   !blocked_of(b, node->inputs[0]);
    for (size_t i = 0; i < node->n_inputs; i++)
        c.inputs[i] = node->inputs[i];
    EvalStatus st = is_thin ? need_plain(b, c.inputs[0]) : need_blocked(b, c.inputs[0], &c.inputs[0]);
    if (st == EVAL_OK)
        st = take_affines(b, &c);
    if (st == EVAL_OK)
        st = take_residual(b, &c);
    if (st != EVAL_OK)
        return st;
    take_clip(b, &c);
    evl_attribute more[] = { evl_attribute_int("lanes", (int64_t)b->lanes),
                             evl_attribute_number("least", c.least),
                             evl_attribute_number("most", c.most) };
    making m = { &evl_op_blocked_conv, node, c.inputs, EVL_CONV_INPUTS, more, 3 };
    return make(b, &m, &note_of(b, c.output)->blocked);
}

/* --- what goes on with blocks --- */

static EvalStatus block_pool(blocker *b, evl_node *node)
{
    bool is_max = node->op == &evl_op_max_pool;
    evl_attribute more[] = { evl_attribute_int("lanes", (int64_t)b->lanes) };
    evl_value *x = blocked_of(b, node->inputs[0]);
    making m = { is_max ? &evl_op_blocked_max_pool : &evl_op_blocked_average_pool, node, &x, 1, more,
                 1 };
    return make(b, &m, &note_of(b, node->outputs[0])->blocked);
}

/* The window is the whole input. */
static EvalStatus block_global_pool(blocker *b, evl_node *node)
{
    bool is_max = node->op == &evl_op_global_max_pool;
    const evl_shape *shape = &node->inputs[0]->t.shape;
    evl_attribute more[] = {
        evl_attribute_int("lanes", (int64_t)b->lanes),
        evl_attribute_ints("kernel_shape", shape->dim + 2, (size_t)shape->rank - 2)
    };
    evl_value *x = blocked_of(b, node->inputs[0]);
    making m = { is_max ? &evl_op_blocked_max_pool : &evl_op_blocked_average_pool, node, &x, 1, more,
                 2 };
    return make(b, &m, &note_of(b, node->outputs[0])->blocked);
}

/* The same operator with twins for its inputs, where they have one. */
static EvalStatus go_on(blocker *b, evl_node *node)
{
    evl_value **inputs = evl_arena_take_many(b->graph->arena, node->n_inputs + 1, sizeof *inputs);
    if (!inputs)
        return evl_no_memory(b->ctx);
    for (size_t i = 0; i < node->n_inputs; i++)
        inputs[i] = blocked_of(b, node->inputs[i]) ? blocked_of(b, node->inputs[i]) : node->inputs[i];
    making m = { node->op, node, inputs, node->n_inputs, NULL, 0 };
    return make(b, &m, &note_of(b, node->outputs[0])->blocked);
}

/* Of the zeros that fill up the last block, each of these makes a number. */
static bool is_pointwise(const evl_op *op)
{
    static const evl_op *const ops[] = {
        &evl_op_relu, &evl_op_clip, &evl_op_sigmoid, &evl_op_tanh, &evl_op_hard_swish,
        &evl_op_hard_sigmoid, &evl_op_leaky_relu, &evl_op_elu, &evl_op_abs, &evl_op_neg, NULL
    };
    for (size_t i = 0; ops[i]; i++)
        if (ops[i] == op)
            return true;
    return op == &evl_op_add || op == &evl_op_mul || op == &evl_op_sub || op == &evl_op_max ||
           op == &evl_op_min;
}

/* Every input has a twin or is one constant number, and twins are alike, or broadcast one
** number a channel. */
static bool can_go_on(const blocker *b, const evl_node *node)
{
    const evl_shape *all = &node->outputs[0]->t.shape;
    bool has_twin = false;
    for (size_t i = 0; i < node->n_inputs; i++) {
        const evl_value *v = node->inputs[i];
        if (v && !blocked_of(b, v) && (!v->is_constant || evl_shape_count(&v->t.shape) != 1 ||
                                       v->t.shape.rank > 1))
            return false;
        if (!v || !blocked_of(b, v))
            continue;
        has_twin = true;
        if (v->t.shape.rank != all->rank || v->t.shape.dim[1] != all->dim[1])
            return false;
    }
    return has_twin;
}

static bool can_join(const blocker *b, const evl_node *node)
{
    int64_t axis = evl_node_int(node, "axis", 1);
    if (axis != 1 && axis != 1 - node->outputs[0]->t.shape.rank)
        return false;
    for (size_t i = 0; i < node->n_inputs; i++)
        if (!blocked_of(b, node->inputs[i]) ||
            (i + 1 < node->n_inputs && node->inputs[i]->t.shape.dim[1] % (int64_t)b->lanes != 0))
            return false;
    return true;
}

/* --- the sweep --- */

static EvalStatus keep(blocker *b, evl_node *node)
{
    evl_value **captured = NULL;
    size_t n = 0;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < node->n_inputs && st == EVAL_OK; i++)
        st = need_plain(b, node->inputs[i]);
    if (st == EVAL_OK && evl_node_body(node, 0))
        st = evl_node_captures(b->ctx, b->graph->arena, node, &captured, &n);
    for (size_t i = 0; i < n && st == EVAL_OK; i++)
        st = need_plain(b, captured[i]);
    for (size_t i = 0; i < node->n_outputs; i++)
        if (note_of(b, node->outputs[i]))
            note_of(b, node->outputs[i])->is_plain = true;
    if (st == EVAL_OK && !evl_graph_append(b->graph, node))
        st = evl_no_memory(b->ctx);
    return st;
}

/* A plug-in's kernel is for the plain form. */
static bool can_block_conv(const blocker *b, const evl_use *use)
{
    evl_conv c;
    return evl_can_block_conv(b->ctx, use, b->lanes) &&
           !(b->env->machine->foreign_conv && evl_conv_of(b->ctx, use, &c) == EVAL_OK &&
             evl_conv_is_foreign(b->env->machine, &c));
}

static EvalStatus sweep_node(blocker *b, evl_node *node)
{
    const evl_tensor *in[4] = { NULL };
    evl_use use = { node, in, node->n_inputs };
    if (node->n_inputs == 0 || !node->inputs[0] || node->n_outputs == 0 || !node->outputs[0] ||
        !note_of(b, node->outputs[0]))
        return keep(b, node);
    for (size_t i = 0; i < node->n_inputs && i < 4; i++)
        in[i] = node->inputs[i] ? &node->inputs[i]->t : NULL;
    if (node->op == &evl_op_conv)
        return can_block_conv(b, &use) ? block_conv(b, node) : keep(b, node);
    if (!blocked_of(b, node->inputs[0]) && !is_pointwise(node->op))
        return keep(b, node);
    if ((node->op == &evl_op_max_pool && node->n_outputs == 1) || node->op == &evl_op_average_pool)
        return evl_can_block_pool(b->ctx, &use) ? block_pool(b, node) : keep(b, node);
    if (node->op == &evl_op_global_max_pool || node->op == &evl_op_global_average_pool)
        return block_global_pool(b, node);
    if (node->op == &evl_op_concat ? can_join(b, node)
                                   : is_pointwise(node->op) && can_go_on(b, node))
        return go_on(b, node);
    return keep(b, node);
}

static EvalStatus sweep(blocker *b)
{
    evl_graph *g = b->graph;
    evl_node **nodes = g->nodes;
    size_t n = g->n_nodes;
    EvalStatus st = EVAL_OK;
    take_notes(b);
    g->nodes = NULL;
    g->n_nodes = g->node_capacity = 0;
    for (size_t i = 0; i < n && st == EVAL_OK; i++)
        if (!b->is_done[i])
            st = sweep_node(b, nodes[i]);
    for (size_t i = 0; i < g->n_outputs && st == EVAL_OK; i++)
        st = need_plain(b, g->outputs[i]);
    return st;
}

EvalStatus evl_pass_block(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    blocker b = { .ctx = ctx, .env = env, .graph = graph, .n_notes = graph->n_values,
                  .lanes = evl_block_width(ctx, env->machine, graph) };
    b.notes = evl_arena_take_many(graph->arena, graph->n_values + 1, sizeof *b.notes);
    b.is_done = evl_arena_take_many(graph->arena, graph->n_nodes + 1, sizeof *b.is_done);
    return b.notes && b.is_done ? sweep(&b) : evl_no_memory(ctx);
}
