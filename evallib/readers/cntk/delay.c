/* delay.c - delays outside loops, and what stands before the first frame: a number in v1; in
** v2 a constant, a parameter, or what another sequence gives. */
#include "readers/cntk/build.h"

enum { MOST_STEPS = 1 << 16 };

EvalStatus evl_cntk_check_delay(evl_context *ctx, const evl_cntk_node *node)
{
    if (node->f.step >= 1 && node->f.step <= MOST_STEPS)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED,
                    "node '%s' (%s): a delay of %lld frames, possible "
                    "are 1 to %d",
                    node->name, node->op->name, (long long)node->f.step, (int)MOST_STEPS);
}

/* A constant whose elements are all the same is a number too. */
static bool number_of(const evl_cntk_node *node, const evl_value *initial, double *number)
{
    *number = node->f.initial;
    if (node->n_inputs < 2)
        return true;
    size_t n = initial && initial->is_constant ? evl_shape_count(&initial->t.shape) : 0;
    if (n > 0)
        *number = evl_tensor_f64(&initial->t, 0);
    for (size_t i = 1; i < n; i++)
        if (evl_tensor_f64(&initial->t, i) != *number)
            return false;
    return n > 0;
}

bool evl_cntk_initial_number(const evl_cntk_network *net, const evl_cntk_node *node, double *number)
{
    const evl_value *initial = node->n_inputs > 1 ? net->values[node->inputs[1]->index] : NULL;
    return number_of(node, initial, number);
}

evl_value *evl_cntk_initial_sample(evl_cntk_maker *k, evl_value *x)
{
    bool is_ahead = evl_cntk_looks_ahead(k->node);
    const int64_t start = is_ahead ? -1 : 0, end = is_ahead ? INT64_MAX : 1, axis = 0;
    if (!x || !x->has_frames)
        return x;
    evl_attribute a[3] = { evl_cntk_ints(k, "starts", &start, 1), evl_cntk_ints(k, "ends", &end, 1),
                           evl_cntk_ints(k, "axes", &axis, 1) };
    evl_attribute axes = evl_cntk_ints(k, "axes", &axis, 1);
    evl_value *y = evl_cntk_call(k, "Slice", &x, 1, a, 3);
    y = evl_cntk_call(k, "Squeeze", &y, 1, &axes, 1);
    if (y)
        y->has_frames = false;
    return y;
}

static evl_value *delay_by(evl_cntk_maker *k, evl_value *x, double initial, int64_t state)
{
    int64_t step = k->node->f.step;
    evl_attribute a[3] = {
        evl_attribute_int("offset", evl_cntk_looks_ahead(k->node) ? -step : step),
        evl_attribute_number("initial", initial), evl_attribute_int("state", state)
    };
    return evl_build(&k->b, &evl_op_delay, NULL, &x, 1, a, 3);
}

/* Flags of a delay that is carried on are carried on too: no edge is where a sequence goes on. */
evl_value *evl_cntk_edge_flags(evl_cntk_maker *k, evl_value *sequence)
{
    static const int64_t column[2] = { -1, 1 };
    evl_value *in[] = { evl_build_number(&k->b, k->node->real, 0), evl_cntk_frame_count(k, sequence) };
    evl_value *zeros = evl_cntk_call(k, "Expand", in, 2, NULL, 0);
    zeros = zeros ? evl_build_reshape(&k->b, NULL, zeros, column, 2) : NULL;
    if (zeros)
        zeros->has_frames = true;
    return evl_cntk_call_number(k, "Greater", delay_by(k, zeros, 1, k->state < 0 ? -1 : k->state + 1), 0.5);
}

/* The initial sample where a flag is set, else the delayed frame. */
static evl_value *delay_from(evl_cntk_maker *k, evl_value *x, evl_value *initial)
{
    evl_value *flags = evl_cntk_edge_flags(k, x);
    evl_value *sample = evl_cntk_initial_sample(k, initial);
    evl_value *delayed = delay_by(k, x, 0, k->state);
    return evl_cntk_call_3(k, "Where", flags, sample, delayed);
}

evl_value *evl_cntk_delay(evl_cntk_maker *k)
{
    evl_value *initial = k->node->n_inputs > 1 ? k->in[1] : NULL;
    double number;
    k->b.status = evl_cntk_check_delay(k->b.ctx, k->node);
    if (k->b.status == EVAL_OK && !k->in[0]->has_frames)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "a delay of what has no frames");
    if (k->b.status != EVAL_OK)
        return NULL;
    return number_of(k->node, initial, &number) ? delay_by(k, k->in[0], number, k->state)
                                                : delay_from(k, k->in[0], initial);
}
