/* LinearAttention (ONNX 27): shapes and rules. */
#include "ops/linear_attention.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <math.h>
#include <string.h>

static EvalStatus check_heads(evl_context *ctx, const evl_node *node, int64_t *q, int64_t *kv)
{
    *q = evl_node_int(node, "q_num_heads", 0);
    *kv = evl_node_int(node, "kv_num_heads", 0);
    if (*q > 0 && *kv > 0 && *q % *kv == 0)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "%lld heads of query do not divide among %lld",
                    (long long)*q, (long long)*kv);
}

static int64_t divided(int64_t n, int64_t by)
{
    return n == EVL_UNKNOWN_DIM || n % by != 0 ? EVL_UNKNOWN_DIM : n / by;
}

static EvalStatus infer(evl_infer *x)
{
    int64_t q, kv;
    EvalStatus st = evl_infer_one_type(x, x->use.n_in);
    for (size_t i = 0; i < x->use.n_in && st == EVAL_OK; i++)
        st = evl_infer_rank(x, i, i == EVL_LINEAR_PAST ? 4 : 3, i == EVL_LINEAR_PAST ? 4 : 3);
    if (st == EVAL_OK)
        st = check_heads(x->ctx, x->use.node, &q, &kv);
    if (st != EVAL_OK)
        return st;
    int64_t size = divided(evl_infer_dim_of(x, EVL_LINEAR_Q, 2), q);
    int64_t size_v = divided(evl_infer_dim_of(x, EVL_LINEAR_V, 2), kv);
    const int64_t samples = evl_infer_dim_of(x, EVL_LINEAR_Q, 0);
    const int64_t y[] = { samples, evl_infer_dim_of(x, EVL_LINEAR_Q, 1),
                          size_v == EVL_UNKNOWN_DIM ? size_v : q * size_v };
    const int64_t state[] = { samples, kv, size, size_v };
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = evl_shape_of(3, y);
    if (x->n_out < 2)
        return EVAL_OK;
    x->out[1].type = x->use.in[0]->type;
    x->out[1].shape = evl_shape_of(4, state);
    return EVAL_OK;
}

static EvalStatus check_dims(evl_context *ctx, const evl_use *use, size_t input,
                             const int64_t *dims)
{
    const evl_tensor *t = evl_use_in(use, input);
    char text[EVL_SHAPE_TEXT], wanted[EVL_SHAPE_TEXT];
    if (!t)
        return EVAL_OK;
    evl_shape right = evl_shape_of((size_t)t->shape.rank, dims);
    if (evl_shape_equal(&t->shape, &right))
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "input %zu has shape %s, expected %s", input,
                    evl_shape_text(&t->shape, text), evl_shape_text(&right, wanted));
}

/* Which rule it is says which inputs there are. */
static EvalStatus check_rule(evl_context *ctx, const evl_use *use)
{
    static const char *const rules[] = { "linear", "gated", "delta", "gated_delta" };
    const char *rule = evl_node_text(use->node, "update_rule", "gated_delta");
    for (size_t i = 0; i < 4; i++)
        if (strcmp(rule, rules[i]) == 0) {
            bool has_decay = evl_use_in(use, EVL_LINEAR_DECAY);
            bool has_beta = evl_use_in(use, EVL_LINEAR_BETA);
            if (has_decay == (i % 2 == 1) && has_beta == (i >= 2))
                return EVAL_OK;
            return evl_fail(ctx, EVAL_ERR_FORMAT, "decay or beta does not belong to update_rule '%s'",
                            rule);
        }
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "update_rule is '%.40s'", rule);
}

static size_t width_of(const evl_use *use, size_t input)
{
    const evl_tensor *t = evl_use_in(use, input);
    return t ? (size_t)t->shape.dim[2] : 0;
}

EvalStatus evl_linear_attention_of(evl_context *ctx, const evl_use *use, evl_linear_attention *x)
{
    const evl_shape *s = &use->in[EVL_LINEAR_Q]->shape, *v = &use->in[EVL_LINEAR_V]->shape;
    int64_t q, kv;
    EvalStatus st = check_heads(ctx, use->node, &q, &kv);
    if (st == EVAL_OK)
        st = check_rule(ctx, use);
    if (st == EVAL_OK && (s->dim[2] % q || v->dim[2] % kv))
        st = evl_fail(ctx, EVAL_ERR_SHAPE, "rows do not divide into heads");
    if (st != EVAL_OK)
        return st;
    const int64_t size = s->dim[2] / q, size_v = v->dim[2] / kv;
    *x = (evl_linear_attention){ (size_t)s->dim[0], (size_t)kv, (size_t)(q / kv), (size_t)s->dim[1],
                                 (size_t)size, (size_t)size_v, width_of(use, EVL_LINEAR_DECAY),
                                 width_of(use, EVL_LINEAR_BETA),
                                 evl_node_number(use->node, "scale", 0) };
    if (x->scale == 0)
        x->scale = size ? 1 / sqrt((double)size) : 1;
    bool each = x->decays != x->heads, one = x->betas == 1;
    st = check_dims(ctx, use, EVL_LINEAR_K, (const int64_t[]){ s->dim[0], s->dim[1], kv * size });
    if (st == EVAL_OK)
        st = check_dims(ctx, use, EVL_LINEAR_V,
                        (const int64_t[]){ s->dim[0], s->dim[1], kv * size_v });
    if (st == EVAL_OK)
        st = check_dims(ctx, use, EVL_LINEAR_PAST, (const int64_t[]){ s->dim[0], kv, size, size_v });
    if (st == EVAL_OK)
        st = check_dims(ctx, use, EVL_LINEAR_DECAY,
                        (const int64_t[]){ s->dim[0], s->dim[1], each ? kv * size : kv });
    return st == EVAL_OK ? check_dims(ctx, use, EVL_LINEAR_BETA,
                                      (const int64_t[]){ s->dim[0], s->dim[1], one ? 1 : kv })
                         : st;
}

extern const evl_impl evl_linear_attention_f, evl_linear_attention_d;

static const evl_op op_linear_attention = {
    .name = "LinearAttention",
    .min_inputs = 3,
    .max_inputs = 6,
    .min_outputs = 1,
    .max_outputs = 2,
    .infer = infer,
    .real = { [EVL_FLOAT] = &evl_linear_attention_f, [EVL_DOUBLE] = &evl_linear_attention_d },
};

const evl_op *const evl_ops_linear_attention[] = { &op_linear_attention, NULL };
