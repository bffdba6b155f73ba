/* Operators over the frames of a sequence: what CNTK's delays become (the contract
** stands in ops.h). Shape rules only; exec/sequence.c runs them. */
#include "ops/ops.h"

static EvalStatus infer_delay(evl_infer *infer)
{
    if (evl_node_int(infer->use.node, "offset", 0) == 0)
        return evl_fail(infer->ctx, EVAL_ERR_FORMAT, "a delay of 0 steps");
    if (infer->use.in[0]->shape.rank == 0)
        return evl_fail(infer->ctx, EVAL_ERR_SHAPE, "a delay of a value without frames");
    return evl_infer_same(infer);
}

/* The same with one frame. */
static evl_tensor one_frame(const evl_tensor *sequence)
{
    evl_tensor frame = { .type = sequence->type, .shape = sequence->shape };
    if (frame.shape.rank > 0)
        frame.shape.dim[0] = 1;
    return frame;
}

/* A delayed input looks like the output that it shows; a loop's first look knows nothing,
** so the reader declares the delayed inputs' shapes. */
static EvalStatus give_body_inputs(evl_infer *infer, evl_graph *body)
{
    size_t n_delays, n_sequences = infer->use.n_in;
    evl_node_ints(infer->use.node, "delay_output", &n_delays);
    if (body->n_inputs != n_sequences + n_delays)
        return evl_fail(infer->ctx, EVAL_ERR_FORMAT, "%zu inputs of the body, expected %zu",
                        body->n_inputs, n_sequences + n_delays);
    for (size_t i = 0; i < n_sequences; i++)
        body->inputs[i]->t = one_frame(infer->use.in[i]);
    for (size_t i = n_sequences; i < body->n_inputs; i++)
        if (body->real != EVAL_UNDEFINED && evl_type_is_float(body->inputs[i]->t.type))
            body->inputs[i]->t.type = body->real;
    return EVAL_OK;
}

static EvalStatus infer_recurrence(evl_infer *infer)
{
    evl_graph *body = evl_node_graph(infer->use.node, "body");
    if (!body || body->n_outputs != infer->n_out)
        return evl_fail(infer->ctx, EVAL_ERR_FORMAT, "a body with %zu outputs, expected %zu",
                        body ? body->n_outputs : 0, infer->n_out);
    EvalStatus st = give_body_inputs(infer, body);
    const evl_shape *first = &infer->use.in[0]->shape;
    for (size_t i = 0; i < infer->n_out; i++) {
        infer->out[i] = one_frame(&evl_value_final(body->outputs[i])->t);
        if (infer->out[i].shape.rank > 0)
            infer->out[i].shape.dim[0] = first->rank > 0 ? first->dim[0] : EVL_UNKNOWN_DIM;
    }
    return st;
}

const evl_op evl_op_delay = {
    .name = "Delay",
    .domain = "evl",
    .min_inputs = 1,
    .max_inputs = 1,
    .min_outputs = 1,
    .max_outputs = 1,
    .traits = EVL_OP_SEQUENCE,
    .infer = infer_delay,
};

const evl_op evl_op_recurrence = {
    .name = "Recurrence",
    .domain = "evl",
    .min_inputs = 1,
    .max_inputs = EVL_ANY_NUMBER,
    .min_outputs = 1,
    .max_outputs = EVL_ANY_NUMBER,
    .traits = EVL_OP_CONTROL,
    .infer = infer_recurrence,
};

const evl_op *const evl_ops_sequence[] = { &evl_op_delay, &evl_op_recurrence, NULL };
