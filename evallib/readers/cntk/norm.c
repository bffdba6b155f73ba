/* norm.c - batch normalisation as it is at inference, and the softmax family. */
#include "readers/cntk/maker.h"

/* Before version 13 the file holds 1 / sqrt(variance + epsilon); CNTK turns it back when it
** loads, and adds the epsilon once more. */
static evl_value *variance(evl_cntk_maker *k, evl_value *stored)
{
    if (!k->model->has_old_variances)
        return stored;
    evl_value *squared = evl_cntk_call_2(k, "Mul", stored, stored);
    return evl_cntk_call_number(k, "Add", evl_cntk_call_1(k, "Reciprocal", squared),
                                k->node->f.epsilon);
}

/* Operands: x, scale, bias, mean, variance. Spatial: one of each for a channel, the last
** axis of CNTK, which is the one after the frames; else one for an element. */
evl_value *evl_cntk_batch_normalization(evl_cntk_maker *k)
{
    evl_value *x = k->in[0], *in[5];
    bool is_flat = !k->node->f.is_spatial;
    if (!is_flat && k->node->f.layout != EVL_CNTK_CHW)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "spatial with the old layout HWC");
    in[0] = evl_cntk_batched(k, is_flat ? evl_cntk_flatten(k, x) : x);
    for (size_t i = 1; i < 5; i++)
        in[i] = evl_cntk_flatten(k, k->in[i]);
    in[4] = variance(k, in[4]);
    evl_attribute epsilon = evl_attribute_number("epsilon", k->node->f.epsilon);
    evl_value *y = evl_cntk_call(k, "BatchNormalization", in, 5, &epsilon, 1);
    y = evl_cntk_unbatched(k, y, x);
    return is_flat ? evl_cntk_like(k, y, x) : y;
}

/* Over the whole sample, whatever its shape. */
evl_value *evl_cntk_softmax(evl_cntk_maker *k)
{
    evl_value *flat = evl_cntk_flatten(k, k->in[0]);
    evl_attribute axis = evl_attribute_int("axis", -1);
    evl_value *y = evl_cntk_call(k, k->node->op->operator, & flat, 1, &axis, 1);
    return evl_cntk_like(k, y, k->in[0]);
}
