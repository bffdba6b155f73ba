/* TensorScatter (ONNX 24): rows put into a cache, each sample at a place of its own. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

enum { CACHE, UPDATE, PLACES };

static EvalStatus axis_of(evl_context *ctx, const evl_use *use, int32_t *axis)
{
    EvalStatus st = evl_axis(ctx, "axis", evl_node_int(use->node, "axis", -2),
                             use->in[CACHE]->shape.rank, axis);
    if (st == EVAL_OK && *axis == 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "axis is 0, which is the samples'");
    return st;
}

static EvalStatus infer(evl_infer *x)
{
    const evl_shape *cache = &x->use.in[CACHE]->shape;
    int32_t axis;
    EvalStatus st = evl_infer_one_type(x, 2);
    if (st == EVAL_OK)
        st = evl_index_type_check(x->ctx, &x->use, PLACES);
    if (st != EVAL_OK || cache->rank == EVL_UNKNOWN_RANK)
        return st == EVAL_OK ? evl_infer_same(x) : st;
    st = axis_of(x->ctx, &x->use, &axis);
    if (st == EVAL_OK)
        st = evl_infer_rank(x, UPDATE, cache->rank, cache->rank);
    for (int32_t i = 0; i < cache->rank && st == EVAL_OK; i++) {
        int64_t dim = evl_infer_dim_of(x, UPDATE, i);
        if (i != axis)
            st = evl_infer_dim(x, "a dimension of update", cache->dim[i], &dim);
    }
    return st == EVAL_OK ? evl_infer_same(x) : st;
}

/* Where the first row of a sample goes. */
static EvalStatus place_of(const evl_call *call, size_t sample, int64_t rows, int64_t size, int64_t *place)
{
    const evl_tensor *places = call->n_in > PLACES ? call->in[PLACES] : NULL;
    bool is_circular = strcmp(evl_node_text(call->node, "mode", "linear"), "circular") == 0;
    *place = places ? evl_tensor_i64(places, sample) : 0;
    if (*place >= 0 && rows <= size && (is_circular || *place <= size - rows))
        return EVAL_OK;
    return evl_fail(call->ctx, EVAL_ERR_SHAPE,
                    "%lld rows from %lld on do not fit the cache of sample %zu, which has %lld",
                    (long long)rows, (long long)*place, sample, (long long)size);
}

static EvalStatus run(const evl_call *call)
{
    const evl_shape *cache = &call->in[CACHE]->shape;
    evl_use use = { call->node, call->in, call->n_in };
    const char *from = call->in[UPDATE]->data;
    int32_t axis;
    EvalStatus st = axis_of(call->ctx, &use, &axis);
    if (st != EVAL_OK)
        return st;
    size_t rows = (size_t)call->in[UPDATE]->shape.dim[axis], size = (size_t)cache->dim[axis];
    size_t row = evl_shape_count_part(cache, axis + 1, cache->rank) *
                 evl_type_size(call->in[CACHE]->type);
    size_t outer = evl_shape_count_part(cache, 0, axis), each = evl_shape_count_part(cache, 1, axis);
    const evl_tensor *places = evl_use_in(&use, PLACES);
    if (places && evl_shape_count(&places->shape) != (size_t)cache->dim[0])
        return evl_fail(call->ctx, EVAL_ERR_SHAPE, "write_indices has %zu elements, expected %lld",
                        evl_shape_count(&places->shape), (long long)cache->dim[0]);
    evl_move_all(call->machine, call->in[CACHE], call->out[0]);
    for (size_t i = 0; i < outer && rows && row && st == EVAL_OK; i++) {
        int64_t place;
        char *to = (char *)call->out[0]->data + i * size * row;
        st = place_of(call, i / each, (int64_t)rows, (int64_t)size, &place);
        for (size_t j = 0; j < rows && st == EVAL_OK; j++, from += row)
            memcpy(to + ((size_t)place + j) % size * row, from, row);
    }
    return st;
}

static const evl_impl impl = { .run = run };

static const evl_op op_tensor_scatter = { .name = "TensorScatter",
                                          .min_inputs = 2,
                                          .max_inputs = 3,
                                          .min_outputs = 1,
                                          .max_outputs = 1,
                                          .infer = infer,
                                          .any = &impl };

const evl_op *const evl_ops_tensor_scatter[] = { &op_tensor_scatter, NULL };
