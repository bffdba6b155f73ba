/* ReverseSequence: of each entry of a batch, the first elements along time, reversed. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>

static EvalStatus read_two_axes(evl_context *ctx, const evl_use *use, int32_t *batch, int32_t *time)
{
    int32_t rank = use->in[0]->shape.rank;
    EvalStatus st;
    if ((st = evl_axis(ctx, "batch_axis", evl_node_int(use->node, "batch_axis", 1), rank, batch)) ||
        (st = evl_axis(ctx, "time_axis", evl_node_int(use->node, "time_axis", 0), rank, time)))
        return st;
    if (*batch == *time)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "batch_axis and time_axis are the same");
    return EVAL_OK;
}

static EvalStatus infer_reverse(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    int64_t n_lengths = evl_list_length(x->use.in[1]);
    int32_t batch, time;
    EvalStatus st = evl_index_type_check(x->ctx, &x->use, 1);
    if (st || (st = evl_infer_same(x)) || in->rank < 0)
        return st;
    if ((st = read_two_axes(x->ctx, &x->use, &batch, &time)))
        return st;
    if (n_lengths >= 0 && in->dim[batch] >= 0 && n_lengths != in->dim[batch])
        return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                        "%" PRId64 " lengths are given for a batch of %" PRId64, n_lengths,
                        in->dim[batch]);
    return EVAL_OK;
}

/* Copies elements at .. at+n-1 of one entry, reversed when `is_reversed`. */
static void copy_part(const evl_call *call, const int32_t axes[2], int64_t entry,
                      const int64_t part[2], bool is_reversed)
{
    const evl_shape *shape = &call->in[0]->shape;
    ptrdiff_t steps[EVAL_MAX_RANK], start;
    size_t size = evl_type_size(call->in[0]->type);
    int32_t batch = axes[0], time = axes[1];
    evl_move move = { .from = 0 };
    evl_strided_steps(shape, size, steps);
    start = (ptrdiff_t)entry * steps[batch];
    move.to = start + (ptrdiff_t)part[0] * steps[time];
    move.from = is_reversed ? start + (ptrdiff_t)(part[0] + part[1] - 1) * steps[time] : move.to;
    evl_strided_begin(&move.box, size);
    for (int32_t d = 0; d < shape->rank; d++) {
        int64_t n = d == batch ? 1 : d == time ? part[1] : shape->dim[d];
        evl_strided_add(&move.box, (size_t)n, d == time && is_reversed ? -steps[d] : steps[d],
                        steps[d]);
    }
    evl_strided_ready(&move.box);
    evl_move_apply(&move, call->machine, call->in[0], call->out[0]);
}

static EvalStatus run_reverse(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    const evl_shape *shape = &call->in[0]->shape;
    int32_t axes[2];
    EvalStatus st = read_two_axes(call->ctx, &use, &axes[0], &axes[1]);
    if (st)
        return st;
    for (int64_t entry = 0; entry < shape->dim[axes[0]]; entry++) {
        int64_t size = shape->dim[axes[1]], n = evl_tensor_i64(call->in[1], (size_t)entry);
        if (n < 0 || n > size)
            return evl_fail(call->ctx, EVAL_ERR_SHAPE,
                            "length %" PRId64 " of entry %" PRId64 " is outside 0 .. %" PRId64, n,
                            entry, size);
        copy_part(call, axes, entry, (const int64_t[2]){ 0, n }, true);
        copy_part(call, axes, entry, (const int64_t[2]){ n, size - n }, false);
    }
    return EVAL_OK;
}

static const evl_impl reverse_impl = { NULL, run_reverse };

static const evl_op reverse_sequence = { .name = "ReverseSequence",
                                         .min_inputs = 2,
                                         .max_inputs = 2,
                                         .min_outputs = 1,
                                         .max_outputs = 1,
                                         .infer = infer_reverse,
                                         .any = &reverse_impl };

const evl_op *const evl_ops_reverse[] = { &reverse_sequence, NULL };
