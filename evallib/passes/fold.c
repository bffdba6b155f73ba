/* Types, shapes and constants, in one sweep from operands to users, because each
** needs the others: a shape may be computed from a shape, and what is computed from
** constants alone is a constant, by the operator's own arithmetic. An If whose
** condition is then known gives way to its branch, and what gives on its input to that. The
** body of a loop is swept as if what it carries kept the shapes of the first trip, and again
** when it does not.
**
** What comes from the model's constants alone is kept by the model's store, so that
** further plans find it there; what comes from shapes belongs to the plan. */
#include "ir/constant.h"
#include "ops/loop.h"
#include "ops/ops.h"
#include "passes/passes.h"
#include <string.h>

enum {
    MOST_FOLDED_BYTES = 1 << 26, /* larger results are left to the run */
    MOST_GROWN_BYTES = 1 << 12,  /* of a file's, beyond what they are computed from */
    FEWEST_LOOSE = 1 << 14,      /* elements of a constant that may stay unaligned */
    MOST_TRIED = 1 << 16         /* nodes swept in vain: loops in loops multiply them */
};

typedef struct folder {
    evl_context *ctx;
    const evl_pass_env *env;
    size_t n_tried; /* nodes of loops' bodies swept so far */
} folder;

static EvalStatus sweep(folder *f, evl_graph *g);
static EvalStatus sweep_nodes(folder *f, evl_node *const *nodes, size_t n, evl_graph *target);

/* A constant as operators want it: of the plan's type, never at NULL, and aligned, but for
** what may be packed from where it lies: the plan looks at these again. */
static EvalStatus settle(folder *f, evl_graph *g, evl_value *v)
{
    EvalType to = evl_type_is_float(v->t.type) ? g->real : v->t.type;
    size_t n = evl_shape_count(&v->t.shape);
    if (n == 0 || !v->t.data) {
        v->t.data = v->t.data ? v->t.data : evl_arena_take(g->arena, EVL_ALIGNMENT);
        v->t.type = to;
        v->t.life = EVL_LIFE_PLAN;
        return v->t.data ? EVAL_OK : evl_no_memory(f->ctx);
    }
    if (to == v->t.type && to == g->real && n >= FEWEST_LOOSE)
        return EVAL_OK;
    return evl_constant_settle(f->ctx, f->env->store, to, &v->t);
}

static EvalStatus settle_constants(folder *f, evl_graph *g)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < g->n_values && st == EVAL_OK; i++)
        if (g->values[i]->is_constant)
            st = settle(f, g, g->values[i]);
    return st;
}

static bool are_constant(const evl_node *node)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && !node->inputs[i]->is_constant)
            return false;
    return true;
}

/* A file keeps quantized and repeated numbers as they are. */
static size_t most_bytes(const folder *f, const evl_node *node)
{
    size_t most = MOST_GROWN_BYTES;
    for (size_t i = 0; f->env->is_for_file && i < node->n_inputs && most < MOST_FOLDED_BYTES; i++)
        if (node->inputs[i] && node->inputs[i]->is_constant)
            most += evl_shape_count(&node->inputs[i]->t.shape) * evl_type_size(node->inputs[i]->t.type);
    return f->env->is_for_file && most < MOST_FOLDED_BYTES ? most : MOST_FOLDED_BYTES;
}

static bool can_fold(const folder *f, const evl_node *node)
{
    size_t bytes = 0;
    if (node->op->traits & (EVL_OP_CONTROL | EVL_OP_SEQUENCE | EVL_OP_NO_FOLD))
        return false;
    if (f->env->is_for_file && node->op == &evl_op_dequantize_linear) /* what is behind it may run in integers */
        return false;
    if (node->op->traits & EVL_OP_OF_SHAPE ? !evl_shape_is_known(&node->inputs[0]->t.shape)
                                           : !are_constant(node))
        return false;
    for (size_t i = 0; i < node->n_outputs; i++) {
        const evl_value *v = node->outputs[i];
        if (!v)
            continue;
        if (!evl_shape_is_known(&v->t.shape) || v->t.type == EVAL_UNDEFINED)
            return false;
        if (v->t.type == EVAL_STRING) /* its texts would not last */
            return false;
        bytes += evl_shape_count(&v->t.shape) * evl_type_size(v->t.type);
    }
    return bytes <= most_bytes(f, node);
}

static evl_life result_life(const evl_node *node)
{
    evl_life life =
        node->origin && !(node->op->traits & EVL_OP_OF_SHAPE) ? EVL_LIFE_MODEL : EVL_LIFE_PLAN;
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] && node->inputs[i]->t.life != EVL_LIFE_MODEL)
            life = EVL_LIFE_PLAN;
    return life;
}

typedef struct result {
    const void *data;
    size_t bytes;
} result;

static EvalStatus copy_result(evl_context *ctx, void *block, void *arg)
{
    const result *r = arg;
    (void)ctx;
    memcpy(block, r->data, r->bytes);
    return EVAL_OK;
}

static EvalStatus keep(folder *f, evl_node *node, size_t output, const evl_tensor *t, evl_life life)
{
    evl_value *v = node->outputs[output];
    result r = { t->data, evl_shape_count(&t->shape) * evl_type_size(t->type) };
    v->is_constant = true;
    v->t.life = life;
    if (life == EVL_LIFE_MODEL) {
        evl_store_key key = { node->origin, "folded", output };
        const void *data;
        EvalStatus st = evl_store_get(f->ctx, f->env->store, &key, r.bytes, copy_result, &r, &data);
        if (st == EVAL_OK)
            memcpy(&v->t.data, &data, sizeof data);
        return st;
    }
    v->t.data = evl_arena_take(node->graph->arena, r.bytes + 1);
    if (!v->t.data)
        return evl_no_memory(f->ctx);
    if (r.bytes)
        memcpy(v->t.data, r.data, r.bytes);
    return EVAL_OK;
}

/* All wanted outputs found among what earlier plans folded. */
static bool find_folded(folder *f, evl_node *node)
{
    for (size_t i = 0; i < node->n_outputs; i++) {
        evl_store_key key = { node->origin, "folded", i };
        const void *data = node->outputs[i] ? evl_store_find(f->env->store, &key) : NULL;
        if (node->outputs[i] && !data)
            return false;
        if (data)
            memcpy(&node->outputs[i]->t.data, &data, sizeof data);
    }
    for (size_t i = 0; i < node->n_outputs; i++)
        if (node->outputs[i]) {
            node->outputs[i]->is_constant = true;
            node->outputs[i]->t.life = EVL_LIFE_MODEL;
        }
    return true;
}

static EvalStatus evaluate(folder *f, evl_node *node, evl_arena *arena, evl_life life)
{
    const evl_tensor **in = evl_arena_take_many(arena, node->n_inputs + 1, sizeof *in);
    evl_tensor *out = evl_arena_take_many(arena, node->n_outputs, sizeof *out);
    if (!in || !out)
        return evl_no_memory(f->ctx);
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < node->n_inputs && st == EVAL_OK; i++) {
        evl_tensor *t = node->inputs[i] ? &node->inputs[i]->t : NULL;
        in[i] = t;
        if (t && t->data)
            st = evl_constant_settle(f->ctx, f->env->store, t->type, t);
    }
    evl_use use = { node, in, node->n_inputs };
    if (st == EVAL_OK)
        st = evl_infer_use(f->ctx, &use, node->graph->real, out, node->n_outputs);
    if (st == EVAL_OK)
        st = evl_evaluate_use(f->ctx, f->env->machine, f->env->store, arena, &use, out,
                              node->n_outputs);
    for (size_t i = 0; i < node->n_outputs && st == EVAL_OK; i++)
        if (node->outputs[i])
            st = keep(f, node, i, &out[i], life);
    return st;
}

static EvalStatus fold_node(folder *f, evl_node *node)
{
    evl_life life = result_life(node);
    if (life == EVL_LIFE_MODEL && find_folded(f, node))
        return EVAL_OK;
    evl_arena *arena = evl_arena_new(f->ctx->memory);
    if (!arena)
        return evl_no_memory(f->ctx);
    EvalStatus st = evaluate(f, node, arena, life);
    evl_arena_free(arena);
    return st;
}

/* The branch of an If whose condition is known; NULL: it is not known. */
static evl_graph *known_branch(const evl_node *node)
{
    if (node->op != &evl_op_if || !node->inputs[0] || !node->inputs[0]->is_constant ||
        evl_shape_count(&node->inputs[0]->t.shape) == 0)
        return NULL;
    return evl_node_graph(node,
                          evl_tensor_i64(&node->inputs[0]->t, 0) ? "then_branch" : "else_branch");
}

static EvalStatus inline_branch(folder *f, evl_node *node, evl_graph *branch, evl_graph *target)
{
    EvalStatus st = settle_constants(f, branch);
    if (st == EVAL_OK && !evl_graph_adopt(target, branch))
        st = evl_no_memory(f->ctx);
    if (st == EVAL_OK)
        st = sweep_nodes(f, branch->nodes, branch->n_nodes, target);
    if (st == EVAL_OK && branch->n_outputs != node->n_outputs)
        st = evl_fail(f->ctx, EVAL_ERR_FORMAT, "%zu outputs, and a branch with %zu",
                      node->n_outputs, branch->n_outputs);
    for (size_t i = 0; i < node->n_outputs && st == EVAL_OK; i++)
        if (node->outputs[i])
            node->outputs[i]->replaced_by = evl_value_final(branch->outputs[i]);
    return st;
}

/* One try: a copy of the body, swept for the shapes that its inputs have now. */
static EvalStatus try_body(folder *f, const evl_loop *loop, evl_graph **swept)
{
    f->n_tried += loop->body->n_nodes + 1;
    EvalStatus st = evl_graph_copy_body(f->ctx, loop->body, swept);
    return st == EVAL_OK ? sweep(f, *swept) : st;
}

static EvalStatus try_bodies(folder *f, const evl_loop *loop, evl_graph **swept)
{
    EvalStatus st;
    do {
        if (f->n_tried > MOST_TRIED)
            evl_loop_forget(loop);
        st = try_body(f, loop, swept);
    } while (st == EVAL_OK && !evl_loop_settle(loop, *swept));
    return st;
}

/* What fails for the shapes of the first trip is tried once more with none of them known:
** there may be no trip. */
static EvalStatus sweep_loop(folder *f, evl_node *node)
{
    evl_loop loop;
    evl_graph *swept = NULL;
    EvalStatus st = evl_loop_read(f->ctx, node, &loop);
    if (st == EVAL_OK)
        st = evl_loop_begin(f->ctx, node, loop.body);
    if (st != EVAL_OK)
        return evl_node_failed(f->ctx, node, st);
    st = try_bodies(f, &loop, &swept);
    if (st != EVAL_OK && st != EVAL_ERR_MEMORY) {
        evl_loop_forget(&loop);
        st = try_bodies(f, &loop, &swept);
    }
    if (st == EVAL_OK && !evl_node_set_body(node, "body", swept))
        st = evl_no_memory(f->ctx);
    return st == EVAL_OK ? evl_infer_node(f->ctx, node) : st;
}

/* A branch that the data at hand never takes may contradict their shapes. */
static EvalStatus sweep_body(folder *f, const evl_node *node, evl_graph *body)
{
    const evl_error *error = &f->ctx->error;
    EvalStatus st = sweep(f, body);
    if (st == EVAL_OK || st == EVAL_ERR_MEMORY || node->op != &evl_op_if)
        return st;
    body->failure = st;
    body->failure_text = evl_arena_text(body->arena, error->text, error->n);
    return body->failure_text ? EVAL_OK : evl_no_memory(f->ctx);
}

static EvalStatus sweep_bodies(folder *f, evl_node *node)
{
    EvalStatus st = EVAL_OK;
    for (size_t b = 0; evl_node_body(node, b) && st == EVAL_OK; b++)
        st = sweep_body(f, node, evl_node_body(node, b));
    return st == EVAL_OK ? evl_infer_node(f->ctx, node) : st;
}

/* Dropout, unless it trains or shows its mask. */
static bool drops_nothing(const evl_node *node)
{
    const evl_value *trains = node->n_inputs > 2 ? node->inputs[2] : NULL;
    for (size_t i = 1; i < node->n_outputs; i++)
        if (node->outputs[i])
            return false;
    return !trains || (trains->is_constant && evl_shape_count(&trains->t.shape) == 1 &&
                       !evl_tensor_i64(&trains->t, 0));
}

/* Whether input `input` holds no number below `least`, or is left out. */
static bool none_below(const evl_node *node, size_t input, int64_t least)
{
    const evl_value *v = node->n_inputs > input ? node->inputs[input] : NULL;
    for (size_t i = 0; v && v->is_constant && i < evl_shape_count(&v->t.shape); i++)
        if (evl_tensor_i64(&v->t, i) < least)
            return false;
    return !v || v->is_constant;
}

/* Where the output's shape is the input's: a Pad that crops nothing then adds nothing, and a
** Slice that goes forward takes all. */
static bool takes_all(const evl_node *node)
{
    if (node->op == &evl_op_pad)
        return !evl_node_attribute(node, node->version < 2 ? "paddings" : "pads") &&
               none_below(node, 1, 0);
    if (node->op == &evl_op_slice)
        return none_below(node, 4, 1);
    return node->op == &evl_op_expand || (node->op->traits & EVL_OP_ALIAS);
}

/* What gives its input on as it is. */
static bool gives_on(const evl_node *node)
{
    const evl_value *x = node->n_inputs ? node->inputs[0] : NULL, *y = node->outputs[0];
    if (node->op == &evl_op_identity)
        return true;
    if (!x || !y)
        return false;
    if (node->op == &evl_op_dropout)
        return drops_nothing(node);
    return x->t.type == y->t.type && x->has_frames == y->has_frames && evl_shape_is_known(&x->t.shape) &&
           evl_shape_equal(&x->t.shape, &y->t.shape) && takes_all(node);
}

static EvalStatus sweep_node(folder *f, evl_node *node, evl_graph *target)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        node->inputs[i] = evl_value_final(node->inputs[i]);
    evl_graph *branch = known_branch(node);
    if (branch)
        return inline_branch(f, node, branch, target);
    node->graph = target;
    bool is_loop = evl_op_is_loop(node->op);
    EvalStatus st = is_loop ? sweep_loop(f, node) : evl_infer_node(f->ctx, node);
    if (st == EVAL_OK && evl_node_body(node, 0) && !is_loop)
        st = sweep_bodies(f, node);
    if (st == EVAL_OK && can_fold(f, node))
        return fold_node(f, node);
    /* Not of a body: its outputs are to be values of its own, each another. */
    if (st == EVAL_OK && !target->outer && gives_on(node)) {
        node->outputs[0]->replaced_by = node->inputs[0];
        return EVAL_OK;
    }
    if (st == EVAL_OK && !evl_graph_append(target, node))
        st = evl_no_memory(f->ctx);
    return st;
}

static EvalStatus sweep_nodes(folder *f, evl_node *const *nodes, size_t n, evl_graph *target)
{
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < n && st == EVAL_OK; i++)
        st = sweep_node(f, nodes[i], target);
    return st;
}

static EvalStatus sweep(folder *f, evl_graph *g)
{
    evl_node **nodes = g->nodes;
    size_t n = g->n_nodes;
    EvalStatus st = settle_constants(f, g);
    g->nodes = NULL;
    g->n_nodes = g->node_capacity = 0;
    if (st == EVAL_OK)
        st = sweep_nodes(f, nodes, n, g);
    for (size_t i = 0; i < g->n_outputs; i++)
        g->outputs[i] = evl_value_final(g->outputs[i]);
    return st;
}

EvalStatus evl_pass_fold(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    folder f = { .ctx = ctx, .env = env };
    return sweep(&f, graph);
}
