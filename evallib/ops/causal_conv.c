/* CausalConvWithState (ONNX 27): a convolution along each channel, whose left end is what
** the call before gave out. */
#include "ops/operands.h"
#include "ops/ops.h"

enum { X, WEIGHT, BIAS, PAST };

static EvalStatus infer(evl_infer *x)
{
    EvalStatus st = evl_infer_one_type(x, x->use.n_in);
    for (size_t i = 0; i < x->use.n_in && st == EVAL_OK; i++)
        st = evl_infer_rank(x, i, i == BIAS ? 1 : 3, i == BIAS ? 1 : 3);
    int64_t channels = evl_infer_dim_of(x, WEIGHT, 0), one = evl_infer_dim_of(x, WEIGHT, 1);
    int64_t k = evl_infer_dim_of(x, WEIGHT, 2), samples = evl_infer_dim_of(x, X, 0);
    int64_t biases = evl_infer_dim_of(x, BIAS, 0), past[3];
    int64_t kept = k == EVL_UNKNOWN_DIM ? k : k - 1;
    if (st == EVAL_OK)
        st = evl_infer_dim(x, "the channels of weight", evl_infer_dim_of(x, X, 1), &channels);
    if (st == EVAL_OK)
        st = evl_infer_dim(x, "dimension 1 of weight", 1, &one);
    if (st == EVAL_OK)
        st = evl_infer_dim(x, "the channels of bias", channels, &biases);
    const int64_t wanted[3] = { samples, channels, kept };
    for (int32_t i = 0; i < 3 && st == EVAL_OK; i++) {
        past[i] = evl_infer_dim_of(x, PAST, i);
        st = evl_infer_dim(x, "a dimension of past_state", wanted[i], &past[i]);
    }
    if (st == EVAL_OK && k == 0)
        st = evl_fail(x->ctx, EVAL_ERR_SHAPE, "the kernel has no element");
    if (st == EVAL_OK)
        st = evl_infer_same(x);
    if (st != EVAL_OK || x->n_out < 2)
        return st;
    x->out[1].type = x->use.in[X]->type;
    x->out[1].shape = evl_shape_of(3, past);
    return EVAL_OK;
}

extern const evl_impl evl_causal_conv_f, evl_causal_conv_d;

static const evl_op op_causal_conv = {
    .name = "CausalConvWithState",
    .min_inputs = 2,
    .max_inputs = 4,
    .min_outputs = 1,
    .max_outputs = 2,
    .infer = infer,
    .real = { [EVL_FLOAT] = &evl_causal_conv_f, [EVL_DOUBLE] = &evl_causal_conv_d },
};

const evl_op *const evl_ops_causal_conv[] = { &op_causal_conv, NULL };
