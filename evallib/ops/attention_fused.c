/* FusedAttention: shapes, and where each operand's heads lie. */
#include "ops/attention.h"
#include <math.h>

enum { Q, K, V, MASK, Y, OPERANDS };

/* Dimensions and steps as seen: samples, heads, rows, columns; fewer are missing in front. */
typedef struct view {
    int64_t dim[4];
    size_t step[4];
} view;

static const int64_t *perm_of(const evl_node *node, int operand, size_t rank)
{
    static const char *const names[OPERANDS] = { "perm_q", "perm_k", "perm_v", NULL, "perm_y" };
    size_t n;
    const int64_t *perm = evl_node_ints(node, names[operand], &n);
    return n == rank ? perm : NULL;
}

static view view_of(const evl_node *node, int operand, const evl_shape *s)
{
    view v = { { 1, 1, 1, 1 }, { 0 } };
    size_t rank = (size_t)s->rank, steps[4] = { 0 }, step = 1;
    const int64_t *perm = perm_of(node, operand, rank);
    for (size_t i = rank; i-- > 0;) {
        steps[i] = step;
        step *= (size_t)s->dim[i];
    }
    for (size_t i = 0; i < rank; i++) {
        size_t from = perm ? (size_t)perm[i] : i;
        v.dim[4 - rank + i] = s->dim[from];
        v.step[4 - rank + i] = steps[from];
    }
    return v;
}

/* Y's own steps are those of what it is transposed to. */
static view view_of_result(const evl_node *node, const int64_t *dims, size_t rank)
{
    const int64_t *perm = perm_of(node, Y, rank);
    view v = { { 1, 1, 1, 1 }, { 0 } };
    size_t step = 1;
    for (size_t i = rank; i-- > 0;) {
        size_t at = 4 - rank + (perm ? (size_t)perm[i] : i);
        v.step[at] = step;
        step *= (size_t)dims[at];
    }
    return v;
}

/* As the pass left them, which let no other shapes pass. */
static EvalStatus infer(evl_infer *x)
{
    const evl_shape *q = &x->use.in[Q]->shape, *v = &x->use.in[V]->shape;
    const evl_node *node = x->use.node;
    evl_shape seen = *q;
    x->out->type = x->use.in[Q]->type;
    if (q->rank < 2 || q->rank > 4 || v->rank != q->rank || x->use.in[K]->shape.rank != q->rank)
        return evl_fail(x->ctx, EVAL_ERR_INTERNAL, "operands of unlike ranks");
    size_t rank = (size_t)q->rank;
    const int64_t *of_q = perm_of(node, Q, rank), *of_v = perm_of(node, V, rank),
                  *of_y = perm_of(node, Y, rank);
    for (size_t i = 0; i < rank; i++)
        seen.dim[i] = q->dim[of_q ? (size_t)of_q[i] : i];
    seen.dim[rank - 1] = v->dim[of_v ? (size_t)of_v[rank - 1] : rank - 1];
    x->out->shape = seen;
    for (size_t i = 0; i < rank && of_y; i++)
        x->out->shape.dim[i] = seen.dim[of_y[i]];
    return EVAL_OK;
}

static evl_attention_steps steps_of(const view *v)
{
    return (evl_attention_steps){ 0, v->step[0], v->step[1], v->step[2], v->step[3] };
}

EvalStatus evl_attention_of_fused(evl_context *ctx, const evl_use *use, evl_attention *x)
{
    const evl_node *node = use->node;
    view q = view_of(node, Q, &use->in[Q]->shape), k = view_of(node, K, &use->in[K]->shape),
         v = view_of(node, V, &use->in[V]->shape);
    int64_t dims[4] = { q.dim[0], q.dim[1], q.dim[2], v.dim[3] };
    view y = view_of_result(node, dims, (size_t)use->in[Q]->shape.rank);
    *x = (evl_attention){ .in = { Q, K, V, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX },
                          .samples = (size_t)q.dim[0], .heads = (size_t)q.dim[1], .group = 1,
                          .n_q = (size_t)q.dim[2], .n_k = (size_t)k.dim[2],
                          .size = (size_t)q.dim[3], .size_v = (size_t)v.dim[3],
                          .q = steps_of(&q), .k = steps_of(&k), .v = steps_of(&v),
                          .y = steps_of(&y),
                          .scale = evl_node_number(node, "scale", 1),
                          .excluded = evl_node_number(node, "excluded", -INFINITY),
                          .left = -1, .right = -1,
                          .of_none = NAN };
    return evl_attention_mask(ctx, use, MASK, false, x);
}

extern const evl_impl evl_attention_f, evl_attention_d;

/* Only passes make it, so readers do not find it. */
const evl_op evl_op_fused_attention = {
    .name = "FusedAttention",
    .domain = "evl",
    .min_inputs = 3,
    .max_inputs = 4,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .real = { [EVL_FLOAT] = &evl_attention_f, [EVL_DOUBLE] = &evl_attention_d },
};
