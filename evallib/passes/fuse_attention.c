/* Attention written out, softmax(scale * Q K' + mask) V, becomes one operator, which never
** writes the scores: FusedAttention (ops/attention.h). Transpositions of Q, K and V before
** it and of the result are read and written where they lie.
**
** Without a key to see, softmax gives no number, and so does it. */
#include "ops/attention.h"
#include "ops/ops.h"
#include "passes/match.h"
#include "passes/passes.h"
#include <math.h>

enum { Q, K, V, MASK, INPUTS };

typedef struct attention {
    evl_value *in[INPUTS]; /* MASK: perhaps NULL */
    const int64_t *perm[MASK];
    int64_t of_k[4];
    double scale, excluded;
    size_t rank;
} attention;

/* What a node of one input passes on as it is. */
static evl_value *behind(evl_value *v)
{
    const evl_node *node = evl_match_made(v, &evl_op_identity);
    return node && v->slot == 1 ? behind(node->inputs[0]) : v;
}

/* Through multiplications and divisions by numbers, which *scale takes over. */
static evl_value *scaled(evl_value *v, double *scale)
{
    double number;
    size_t at;
    const evl_node *mul = evl_match_made(v, &evl_op_mul), *div = evl_match_made(v, &evl_op_div);
    evl_value *x = evl_match_beside(mul ? mul : div, &number, &at);
    if (!x || v->slot != 1 || x->t.shape.rank != v->t.shape.rank ||
        (div && (at == 0 || number == 0)))
        return v;
    *scale *= div ? 1 / number : number;
    return scaled(x, scale);
}

static bool is_over_rows(const evl_node *softmax)
{
    int32_t rank = softmax->inputs[0]->t.shape.rank;
    int64_t axis = evl_node_int(softmax, "axis", softmax->version < 13 ? 1 : -1);
    return axis == -1 || axis == rank - 1;
}

static const evl_node *product_of(attention *a, evl_value *v)
{
    v = scaled(behind(v), &a->scale);
    return v->slot == 1 ? evl_match_made(v, &evl_op_matmul) : NULL;
}

/* Q K' scaled, then perhaps a bias, or a score for what a condition excludes. */
static const evl_node *scores_of(attention *a, evl_value *v)
{
    v = behind(v);
    const evl_node *add = evl_match_made(v, &evl_op_add), *where = evl_match_made(v, &evl_op_where);
    const evl_node *product = product_of(a, v);
    if (product || v->slot != 1)
        return v->slot == 1 ? product : NULL;
    for (size_t i = 0; add && i < 2; i++)
        if ((a->scale = 1, product = product_of(a, add->inputs[i]))) {
            a->in[MASK] = add->inputs[1 - i];
            return product;
        }
    if (!where || !evl_match_number(where->inputs[2], &a->excluded))
        return NULL;
    a->scale = 1;
    a->in[MASK] = where->inputs[0];
    return product_of(a, where->inputs[1]);
}

static evl_value *source_of(evl_value *v, double *scale)
{
    v = behind(v);
    return scale ? scaled(v, scale) : v;
}

/* What an operand is a transposition of, and which; scaled before or after. */
static void look_behind(attention *a, size_t operand)
{
    double *scale = operand == V ? NULL : &a->scale;
    evl_value *v = a->in[operand] = source_of(a->in[operand], scale);
    const evl_node *node = evl_match_made(v, &evl_op_transpose);
    size_t n = 0;
    const int64_t *perm = node ? evl_node_ints(node, "perm", &n) : NULL;
    if (!perm || n != a->rank)
        return;
    a->perm[operand] = perm;
    a->in[operand] = source_of(node->inputs[0], scale);
}

/* K as it is, of what the product has transposed. */
static void turn_keys(attention *a)
{
    for (size_t i = 0; i < a->rank; i++) {
        size_t from = i + 2 < a->rank ? i : 2 * a->rank - 3 - i;
        a->of_k[i] = a->perm[K] ? a->perm[K][from] : (int64_t)from;
    }
    a->perm[K] = a->of_k;
}

static bool is_like(const evl_shape *a, const evl_shape *b, int32_t dims)
{
    for (int32_t i = 0; i < dims; i++)
        if (a->dim[i] != b->dim[i])
            return false;
    return a->rank == b->rank;
}

/* Heads of Q, K' and V one by one, nothing broadcast. */
static bool shapes_fit(const evl_node *scores, const evl_node *node, const evl_value *masked)
{
    const evl_shape *q = &scores->inputs[0]->t.shape, *k = &scores->inputs[1]->t.shape,
                    *s = &scores->outputs[0]->t.shape, *v = &node->inputs[1]->t.shape;
    if (!evl_shape_is_known(q) || !evl_shape_is_known(k) || !evl_shape_is_known(v) ||
        q->rank < 2 || q->rank > 4)
        return false;
    return is_like(q, k, q->rank - 2) && is_like(q, v, q->rank - 2) &&
           evl_shape_equal(s, &masked->t.shape);
}

static bool mask_fits(const attention *a, EvalType real)
{
    const evl_value *m = a->in[MASK];
    return !m || (m->t.shape.rank >= 1 && m->t.shape.rank <= 4 &&
                  (m->t.type == EVAL_BOOL || m->t.type == real));
}

static bool match(const evl_node *node, attention *a)
{
    *a = (attention){ .scale = 1, .excluded = -INFINITY };
    const evl_value *weights = behind(node->inputs[0]);
    const evl_node *softmax = evl_match_made(weights, &evl_op_softmax);
    if (!softmax || weights->slot != 1 || node->inputs[0]->slot != 1 ||
        node->outputs[0]->t.type != node->graph->real || !is_over_rows(softmax))
        return false;
    const evl_node *scores = scores_of(a, softmax->inputs[0]);
    if (!scores || !shapes_fit(scores, node, softmax->inputs[0]) || !mask_fits(a, node->graph->real))
        return false;
    a->in[Q] = scores->inputs[0];
    a->in[K] = scores->inputs[1];
    a->in[V] = node->inputs[1];
    a->rank = (size_t)a->in[Q]->t.shape.rank;
    for (size_t i = Q; i <= V; i++)
        look_behind(a, i);
    turn_keys(a);
    return true;
}

/* Arrays of attributes live as long as the graph. */
static const int64_t *kept(const evl_node *node, const int64_t *perm, size_t n)
{
    int64_t *copy = evl_arena_take_many(node->graph->arena, n, sizeof *copy);
    for (size_t i = 0; copy && i < n; i++)
        copy[i] = perm[i];
    return copy;
}

static EvalStatus fuse_product(evl_context *ctx, evl_node *node)
{
    static const char *const names[] = { "perm_q", "perm_k", "perm_v" };
    attention a;
    if (!match(node, &a))
        return EVAL_OK;
    evl_attribute all[5] = { evl_attribute_number("scale", a.scale),
                             evl_attribute_number("excluded", a.excluded) };
    size_t n = 2;
    for (size_t i = Q; i <= V; i++) {
        const int64_t *perm = a.perm[i] ? kept(node, a.perm[i], a.rank) : NULL;
        if (a.perm[i] && !perm)
            return evl_no_memory(ctx);
        if (perm)
            all[n++] = evl_attribute_ints(names[i], perm, a.rank);
    }
    return evl_match_become(node, &evl_op_fused_attention, a.in, a.in[MASK] ? INPUTS : MASK, all, n)
               ? EVAL_OK
               : evl_no_memory(ctx);
}

/* Columns must stay side by side. */
static EvalStatus fuse_transpose(evl_context *ctx, evl_node *node)
{
    const evl_node *from = evl_match_made(node->inputs[0], &evl_op_fused_attention);
    evl_attribute all[6];
    size_t n;
    const int64_t *perm = evl_node_ints(node, "perm", &n);
    if (!from || node->inputs[0]->slot != 1 || evl_node_attribute(from, "perm_y") || !perm ||
        n != (size_t)node->inputs[0]->t.shape.rank || perm[n - 1] != (int64_t)n - 1)
        return EVAL_OK;
    for (size_t i = 0; i < from->n_attributes; i++)
        all[i] = from->attributes[i];
    all[from->n_attributes] = evl_attribute_ints("perm_y", perm, n);
    return evl_match_become(node, from->op, from->inputs, from->n_inputs, all,
                            from->n_attributes + 1)
               ? EVAL_OK
               : evl_no_memory(ctx);
}

static EvalStatus fuse(void *ctx, evl_node *node)
{
    if (node->op == &evl_op_matmul)
        return fuse_product(ctx, node);
    return node->op == &evl_op_transpose ? fuse_transpose(ctx, node) : EVAL_OK;
}

EvalStatus evl_pass_fuse_attention(evl_context *ctx, const evl_pass_env *env, evl_graph *graph)
{
    (void)env;
    evl_match_count(graph);
    return evl_match_each(graph, fuse, ctx);
}
