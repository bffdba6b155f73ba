/* A channel of all samples at a time: its mean and variance, then its elements; the running
** statistics go on towards them. */
#include "ops/lines.h"
#include "real.h"

extern evl_run TWIN(evl_norm_train);

typedef struct batch {
    const evl_call *call;
    size_t samples, channels, inner;
    evl_number epsilon, momentum;
} batch;

typedef struct statistics {
    evl_number mean, variance; /* of the elements that there are, not of those they stand for */
} statistics;

static const real *plane_of(const batch *b, const void *data, size_t sample, size_t channel)
{
    return (const real *)data + (sample * b->channels + channel) * b->inner;
}

static statistics statistics_of(const batch *b, size_t channel)
{
    const void *x = b->call->in[0]->data;
    evl_number n = (evl_number)(b->samples * b->inner);
    statistics s = { 0, 0 };
    for (size_t i = 0; i < b->samples; i++)
        for (size_t j = 0; j < b->inner; j++)
            s.mean += (evl_number)plane_of(b, x, i, channel)[j];
    s.mean /= n;
    for (size_t i = 0; i < b->samples; i++)
        for (size_t j = 0; j < b->inner; j++) {
            evl_number off = (evl_number)plane_of(b, x, i, channel)[j] - s.mean;
            s.variance += off * off;
        }
    s.variance /= n;
    return s;
}

static real operand(const batch *b, size_t input, size_t channel)
{
    return ((const real *)b->call->in[input]->data)[channel];
}

/* Input 3 or 4, moved towards what was found. */
static void move_on(const batch *b, size_t output, size_t channel, evl_number found)
{
    const evl_call *call = b->call;
    evl_number before = (evl_number)operand(b, output + 2, channel);
    if (output < call->n_out && call->out[output])
        ((real *)call->out[output]->data)[channel] =
            (real)(before * b->momentum + found * (1 - b->momentum));
}

static void do_channel(void *arg, size_t channel)
{
    const batch *b = arg;
    const evl_call *call = b->call;
    statistics s = statistics_of(b, channel);
    real mean = (real)s.mean, bias = operand(b, 2, channel);
    real scale = operand(b, 1, channel) * (real)(1 / sqrt(s.variance + b->epsilon));
    for (size_t i = 0; i < b->samples; i++) {
        const real *x = plane_of(b, call->in[0]->data, i, channel);
        real *y = (real *)call->out[0]->data + (x - (const real *)call->in[0]->data);
        for (size_t j = 0; j < b->inner; j++)
            y[j] = (x[j] - mean) * scale + bias;
    }
    move_on(b, 1, channel, s.mean);
    move_on(b, 2, channel, s.variance);
}

EvalStatus TWIN(evl_norm_train)(const evl_call *call)
{
    const evl_shape *shape = &call->in[0]->shape;
    int32_t end = shape->rank < 2 ? shape->rank : 2;
    batch b = { .call = call,
                .samples = (size_t)shape->dim[0],
                .channels = evl_shape_count_part(shape, 1, end),
                .inner = evl_shape_count_part(shape, end, shape->rank),
                .epsilon = evl_node_number(call->node, "epsilon", (evl_number)1e-5f),
                .momentum = evl_node_number(call->node, "momentum", (evl_number)0.9f) };
    evl_each_for(b.channels, 2 * b.samples * b.inner, call->machine->pool, do_channel, &b);
    return EVAL_OK;
}
