/* Products take over what stands around them: a transposition before or after is read or
** written where it would lie, a factor, up to two addends and an activation are applied to
** sums that are still in registers. MatMul and Gemm then become Product (ops/matmul.h).
**
** What follows is taken as long as the value between has that one user and nobody asks
** for it; the product then stands where the last of them stood. */
#include "ops/elementwise.h"
#include "ops/matmul.h"
#include "ops/ops.h"
#include "passes/match.h"
#include "passes/passes.h"

enum { MOST_ATTRIBUTES = 6 };

static const char *const perm_names[] = { "perm_a", "perm_b", "perm_y" };
enum { PERM_A, PERM_B, PERM_Y, N_PERMS };

typedef struct fusion {
    evl_context *ctx;
    const evl_machine *machine;
    evl_graph *graph;
} fusion;

/* A product and what it has taken over so far. */
typedef struct chain {
    evl_node *product;
    evl_value *in[4];
    size_t n_added;
    evl_value *y;
    evl_shape shape; /* of y before PERM_Y */
    size_t place;    /* of the node that makes y */
    evl_attribute perm[N_PERMS]; /* name NULL: none */
    double alpha;
    evl_unary_kind activation; /* EVL_N_UNARY: none yet */
    evl_number parameters[3];
    bool is_changed;
} chain;

/* --- who uses what --- */

static bool is_input_of(const evl_node *node, const evl_value *v)
{
    for (size_t i = 0; i < node->n_inputs; i++)
        if (node->inputs[i] == v)
            return true;
    return false;
}

/* Where the only user of y stands; SIZE_MAX: there are others, or it is in a body. */
static size_t only_user(const fusion *f, const chain *c)
{
    const evl_graph *g = f->graph;
    if (c->y->slot != 1)
        return SIZE_MAX;
    for (size_t i = c->place + 1; i < g->n_nodes; i++)
        if (g->nodes[i] && is_input_of(g->nodes[i], c->y))
            return i;
    return SIZE_MAX;
}

/* --- what can be taken over --- */

static evl_value *other_input(const evl_node *node, const evl_value *y)
{
    return node->inputs[node->inputs[0] == y];
}

static bool take_factor(fusion *f, chain *c, const evl_node *node)
{
    (void)f;
    bool divides = node->op == &evl_op_div;
    if ((node->op != &evl_op_mul && !divides) || c->n_added || c->activation != EVL_N_UNARY)
        return false;
    const evl_value *by = other_input(node, c->y);
    double factor;
    if (!evl_match_number(by, &factor) || by->t.shape.rank > c->shape.rank ||
        (divides && (node->inputs[0] != c->y || factor == 0)))
        return false;
    c->alpha = divides ? c->alpha / factor : c->alpha * factor;
    return true;
}

static bool take_addend(fusion *f, chain *c, const evl_node *node)
{
    (void)f;
    if (node->op != &evl_op_add || c->n_added == 2 || c->activation != EVL_N_UNARY ||
        c->perm[PERM_Y].name)
        return false;
    evl_value *other = other_input(node, c->y);
    if (!evl_matmul_can_add(&c->shape, &other->t.shape))
        return false;
    c->in[EVL_MATMUL_C + c->n_added++] = other;
    return true;
}

static bool take_activation(fusion *f, chain *c, const evl_node *node)
{
    return c->activation == EVL_N_UNARY && node->inputs[0] == c->y &&
           evl_unary_of(f->ctx, f->machine, node, &c->activation, c->parameters);
}

/* Columns must stay side by side. */
static bool take_transposition(fusion *f, chain *c, const evl_node *node)
{
    (void)f;
    size_t n;
    if (node->op != &evl_op_transpose || c->perm[PERM_Y].name || c->shape.rank < 2)
        return false;
    const int64_t *perm = evl_node_ints(node, "perm", &n);
    if (!perm || n != (size_t)c->shape.rank || perm[n - 1] != (int64_t)n - 1)
        return false;
    c->perm[PERM_Y] = evl_attribute_ints(perm_names[PERM_Y], perm, n);
    return true;
}

static bool (*const takers[])(fusion *, chain *, const evl_node *) = {
    take_factor,
    take_addend,
    take_activation,
    take_transposition,
};

/* True: the node's output is the product's now. */
static bool take(fusion *f, chain *c, size_t place)
{
    const evl_node *node = f->graph->nodes[place];
    for (size_t i = 0; i < sizeof takers / sizeof takers[0]; i++)
        if (takers[i](f, c, node)) {
            f->graph->nodes[c->place] = NULL;
            c->place = place;
            c->y = node->outputs[0];
            return c->is_changed = true;
        }
    return false;
}

/* --- before the product --- */

static void read_transposed(chain *c, size_t input)
{
    static const int64_t swapped[] = { 1, 0 };
    const evl_node *node = c->product, *before = c->in[input]->producer;
    const char *trans = input ? "transB" : "transA";
    size_t n = 0;
    if (node->op == &evl_op_gemm) {
        if (evl_node_int(node, trans, 0))
            c->perm[input] = evl_attribute_ints(perm_names[input], swapped, 2);
        return;
    }
    if (!before || before->op != &evl_op_transpose || c->in[input]->slot != 1 ||
        c->in[input]->t.shape.rank < 2)
        return;
    const int64_t *perm = evl_node_ints(before, "perm", &n);
    if (!perm || n != (size_t)c->in[input]->t.shape.rank)
        return;
    c->perm[input] = evl_attribute_ints(perm_names[input], perm, n);
    c->in[input] = before->inputs[0];
    c->is_changed = true;
}

static bool start(const fusion *f, size_t place, chain *c)
{
    evl_node *node = f->graph->nodes[place];
    bool is_gemm = node->op == &evl_op_gemm;
    if (!is_gemm && node->op != &evl_op_matmul)
        return false;
    *c = (chain){ .product = node, .y = node->outputs[0], .place = place, .alpha = 1,
                  .activation = EVL_N_UNARY };
    for (size_t i = 0; i < node->n_inputs; i++)
        c->in[i] = node->inputs[i];
    if (c->y->t.type != f->machine->real || !evl_shape_is_known(&c->y->t.shape) ||
        c->in[0]->t.shape.rank < 2 || c->in[1]->t.shape.rank < 2)
        return false;
    c->shape = c->y->t.shape;
    if (is_gemm) {
        c->alpha = evl_node_number(node, "alpha", 1);
        c->n_added = c->in[EVL_MATMUL_C] != NULL;
    }
    if (c->n_added && evl_node_number(node, "beta", 1) != 1)
        return false;
    read_transposed(c, 0);
    read_transposed(c, 1);
    return true;
}

/* --- the product that comes of it --- */

static EvalStatus finish(const fusion *f, chain *c)
{
    evl_node *node = c->product;
    evl_attribute all[MOST_ATTRIBUTES];
    size_t n = 0;
    for (size_t i = 0; i < N_PERMS; i++)
        if (c->perm[i].name)
            all[n++] = c->perm[i];
    all[n++] = evl_attribute_number("alpha", c->alpha);
    if (c->activation != EVL_N_UNARY) {
        evl_number *kept = evl_arena_take_many(f->graph->arena, 3, sizeof *kept);
        if (!kept)
            return evl_no_memory(f->ctx);
        for (size_t i = 0; i < 3; i++)
            kept[i] = c->parameters[i];
        all[n++] = evl_attribute_int("activation", c->activation);
        all[n++] = evl_attribute_numbers("activation_parameters", kept, 3);
    }
    node->n_inputs = 2 + c->n_added;
    node->inputs = evl_arena_take_many(f->graph->arena, node->n_inputs, sizeof *node->inputs);
    if (!node->inputs || !evl_node_attributes(node, all, n))
        return evl_no_memory(f->ctx);
    for (size_t i = 0; i < node->n_inputs; i++)
        node->inputs[i] = c->in[i];
    node->op = &evl_op_product;
    node->version = EVL_NEWEST;
    evl_node_output(node, 0, c->y);
    f->graph->nodes[c->place] = node;
    return EVAL_OK;
}

static EvalStatus fuse(fusion *f, size_t place)
{
    chain c;
    size_t user;
    if (!start(f, place, &c))
        return EVAL_OK;
    while ((user = only_user(f, &c)) != SIZE_MAX && take(f, &c, user))
        continue;
    return c.is_changed ? finish(f, &c) : EVAL_OK;
}

static EvalStatus fuse_graph(evl_context *ctx, const evl_machine *machine, evl_graph *g)
{
    fusion f = { ctx, machine, g };
    EvalStatus st = EVAL_OK;
    size_t kept = 0;
    for (size_t i = 0; i < g->n_nodes && st == EVAL_OK; i++) {
        for (size_t b = 0; g->nodes[i] && evl_node_body(g->nodes[i], b) && st == EVAL_OK; b++)
            st = fuse_graph(ctx, machine, evl_node_body(g->nodes[i], b));
        if (g->nodes[i] && st == EVAL_OK)
            st = fuse(&f, i);
    }
    for (size_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i]) {
            g->nodes[kept] = g->nodes[i];
            g->nodes[kept]->index = kept;
            kept++;
        }
    g->n_nodes = kept;
    return st;
}

EvalStatus evl_pass_fuse_product(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    evl_match_count(graph);
    return fuse_graph(ctx, env->machine, graph);
}
