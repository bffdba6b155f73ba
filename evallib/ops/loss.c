/* NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: [N, C, ...] against labels [N, ...],
** each class weighed by an optional [C]. */
#include "ops/loss.h"
#include "ops/axes.h"
#include "ops/elementwise.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

static EvalStatus reduction_of(evl_context *ctx, const evl_node *node, evl_loss_reduction *how)
{
    static const char *const names[] = { "none", "sum", "mean" };
    const char *text = evl_node_text(node, "reduction", "mean");
    for (int i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *how = (evl_loss_reduction)i;
            return EVAL_OK;
        }
    return evl_fail(ctx, EVAL_ERR_FORMAT, "reduction is '%s', expected none, sum or mean", text);
}

/* Labels have every dimension of the input but the classes; each fills what the other leaves open.
 */
static EvalStatus infer_labels(const evl_infer *x, evl_shape *labels)
{
    const evl_shape *in = &x->use.in[0]->shape;
    EvalStatus st = evl_infer_rank(x, 0, 2, EVAL_MAX_RANK);
    *labels = x->use.in[1]->shape;
    if (st || in->rank < 0)
        return st;
    if (labels->rank < 0)
        *labels = evl_shape_of_rank(in->rank - 1);
    if ((st = evl_infer_rank(x, 1, in->rank - 1, in->rank - 1)))
        return st;
    for (int32_t d = 0; d < labels->rank && !st; d++)
        st = evl_infer_dim(x, "a dimension of the labels", in->dim[d ? d + 1 : 0], &labels->dim[d]);
    return st;
}

static EvalStatus infer(evl_infer *x)
{
    int64_t weights = evl_infer_dim_of(x, 2, 0);
    evl_loss_reduction reduction;
    evl_shape labels;
    EvalStatus st = reduction_of(x->ctx, x->use.node, &reduction);
    if (st || (st = evl_index_type_check(x->ctx, &x->use, 1)) || (st = infer_labels(x, &labels)) ||
        (st = evl_infer_rank(x, 2, 1, 1)) ||
        (st = evl_infer_dim(x, "the number of weights", evl_infer_dim_of(x, 0, 1), &weights)))
        return st;
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = reduction == EVL_LOSS_EACH ? labels : evl_shape_scalar();
    if (x->n_out > 1) {
        x->out[1].type = x->use.in[0]->type;
        x->out[1].shape = x->use.in[0]->shape;
    }
    return EVAL_OK;
}

static const evl_op op_softmax_cross_entropy;

EvalStatus evl_loss_prepare(evl_prepare *p)
{
    const evl_node *node = p->use.node;
    const evl_shape *shape = &p->use.in[0]->shape;
    evl_loss *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    *s = (evl_loss){ .lines = evl_lines_along(shape, 1),
                     .has_ignored = evl_node_attribute(node, "ignore_index") != NULL,
                     .ignored = evl_node_int(node, "ignore_index", 0) };
    p->state = s;
    if (node->op == &op_softmax_cross_entropy) {
        s->log_softmax = evl_loops_of(p, 0)->axis[EVL_LOG_SOFTMAX];
        if (p->n_out < 2 || !p->out[1])
            p->scratch_bytes = evl_shape_count(shape) * evl_type_size(p->use.in[0]->type);
    }
    return reduction_of(p->ctx, node, &s->reduction);
}

extern const evl_impl evl_loss_f, evl_loss_d;

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_negative_log_likelihood = {
    "NegativeLogLikelihoodLoss", NULL, 2, 3, 1, 1, 0, 0, infer,
    { &evl_loss_f, &evl_loss_d }, NULL, NULL, 0
};
static const evl_op op_softmax_cross_entropy = {
    "SoftmaxCrossEntropyLoss", NULL, 2, 3, 1, 2, 0, 0, infer,
    { &evl_loss_f, &evl_loss_d }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_loss[] = { &op_negative_log_likelihood, &op_softmax_cross_entropy,
                                       NULL };
