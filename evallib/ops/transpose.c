/* Transpose, and the two operators that are a transposition of an image cut into blocks. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <string.h>

/* Without the attribute, the dimensions in reverse. */
static EvalStatus read_order(evl_context *ctx, const evl_node *node, int32_t rank,
                             int32_t order[EVAL_MAX_RANK])
{
    size_t n;
    const int64_t *perm = evl_node_ints(node, "perm", &n);
    bool is_seen[EVAL_MAX_RANK] = { false };
    EvalStatus st;
    for (int32_t d = 0; d < rank; d++)
        order[d] = rank - 1 - d;
    if (!perm)
        return EVAL_OK;
    if (n != (size_t)rank)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "perm has %zu entries, the input has rank %" PRId32, n,
                        rank);
    for (int32_t d = 0; d < rank; d++) {
        if ((st = evl_axis(ctx, "perm", perm[d], rank, &order[d])))
            return st;
        if (is_seen[order[d]])
            return evl_fail(ctx, EVAL_ERR_SHAPE, "perm has axis %" PRId32 " twice", order[d]);
        is_seen[order[d]] = true;
    }
    return EVAL_OK;
}

static EvalStatus infer_transpose(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    int32_t order[EVAL_MAX_RANK];
    size_t n;
    EvalStatus st;
    x->out[0].type = x->use.in[0]->type;
    if (in->rank < 0) {
        if (evl_node_ints(x->use.node, "perm", &n))
            x->out[0].shape = evl_shape_of_rank((int64_t)n);
        return EVAL_OK;
    }
    if ((st = read_order(x->ctx, x->use.node, in->rank, order)))
        return st;
    x->out[0].shape = evl_shape_of_rank(in->rank);
    for (int32_t d = 0; d < in->rank; d++)
        x->out[0].shape.dim[d] = in->dim[order[d]];
    return EVAL_OK;
}

static EvalStatus make_transpose(evl_context *ctx, const evl_use *use, const evl_tensor *out,
                                 evl_move *move)
{
    ptrdiff_t from[EVAL_MAX_RANK], to[EVAL_MAX_RANK];
    size_t size = evl_type_size(out->type);
    int32_t order[EVAL_MAX_RANK];
    EvalStatus st = read_order(ctx, use->node, out->shape.rank, order);
    if (st)
        return st;
    evl_strided_steps(&use->in[0]->shape, size, from);
    evl_strided_steps(&out->shape, size, to);
    evl_strided_begin(&move->box, size);
    for (int32_t d = 0; d < out->shape.rank; d++)
        evl_strided_add(&move->box, (size_t)out->shape.dim[d], from[order[d]], to[d]);
    evl_strided_ready(&move->box);
    return EVAL_OK;
}

static EvalStatus prepare_transpose(evl_prepare *p)
{
    return evl_move_prepare(p, make_transpose);
}

static EvalStatus read_block(evl_context *ctx, const evl_use *use, int64_t *block)
{
    const char *mode = evl_node_text(use->node, "mode", "DCR");
    int32_t rank = use->in[0]->shape.rank;
    if (strcmp(mode, "DCR") != 0 && strcmp(mode, "CRD") != 0)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "mode is '%s', expected DCR or CRD", mode);
    *block = evl_node_int(use->node, "blocksize", 0);
    if (*block < 1 || *block > INT32_MAX)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "blocksize %" PRId64 " is not positive", *block);
    if (rank >= 0 && rank != 4)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "the input has rank %" PRId32 ", it must be 4", rank);
    return EVAL_OK;
}

static EvalStatus divide(evl_context *ctx, const evl_shape *in, int32_t axis, int64_t by,
                         int64_t *result)
{
    if (in->dim[axis] % by != 0 && in->dim[axis] >= 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "axis %" PRId32 " has size %" PRId64 ", not a multiple of %" PRId64, axis,
                        in->dim[axis], by);
    *result = in->dim[axis] < 0 ? EVL_UNKNOWN_DIM : in->dim[axis] / by;
    return EVAL_OK;
}

static EvalStatus multiply(evl_context *ctx, const evl_shape *in, int32_t axis, int64_t by,
                           int64_t *result)
{
    size_t product;
    *result = EVL_UNKNOWN_DIM;
    if (in->dim[axis] < 0)
        return EVAL_OK;
    if (!evl_size_multiply((size_t)in->dim[axis], (size_t)by, &product) || product > INT64_MAX)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "blocksize %" PRId64 " makes the result too large",
                        by);
    *result = (int64_t)product;
    return EVAL_OK;
}

typedef EvalStatus change(evl_context *, const evl_shape *in, int32_t axis, int64_t by,
                          int64_t *result);

/* The result is as many images; what their channels lose, their rows and columns gain. */
static EvalStatus infer_images(evl_infer *x, change *channels, change *sides)
{
    const evl_tensor *in = x->use.in[0];
    evl_shape *out = &x->out[0].shape;
    int64_t b = 1;
    EvalStatus st = read_block(x->ctx, &x->use, &b);
    if (st)
        return st;
    x->out[0].type = in->type;
    *out = evl_shape_of_rank(4);
    if (in->shape.rank < 0)
        return EVAL_OK;
    out->dim[0] = in->shape.dim[0];
    if ((st = channels(x->ctx, &in->shape, 1, b * b, &out->dim[1])) ||
        (st = sides(x->ctx, &in->shape, 2, b, &out->dim[2])))
        return st;
    return sides(x->ctx, &in->shape, 3, b, &out->dim[3]);
}

static EvalStatus infer_depth_to_space(evl_infer *x)
{
    return infer_images(x, divide, multiply);
}

static EvalStatus infer_space_to_depth(evl_infer *x)
{
    return infer_images(x, multiply, divide);
}

/* The six dimensions that both operators move: the target's are contiguous. */
static void make_blocks(const size_t n[6], const ptrdiff_t from[6], size_t size, evl_move *move)
{
    size_t to[6], step = size;
    for (size_t d = 6; d-- > 0;) {
        to[d] = step;
        step *= n[d];
    }
    evl_strided_begin(&move->box, size);
    for (size_t d = 0; d < 6; d++)
        evl_strided_add(&move->box, n[d], from[d], (ptrdiff_t)to[d]);
    evl_strided_ready(&move->box);
}

/* The deep channels are (row in block, column in block, channel) in mode DCR and (channel, row
** in block, column in block) in mode CRD. */
static bool is_crd(const evl_use *use)
{
    return strcmp(evl_node_text(use->node, "mode", "DCR"), "CRD") == 0;
}

static EvalStatus make_depth_to_space(evl_context *ctx, const evl_use *use, const evl_tensor *out,
                                      evl_move *move)
{
    const evl_shape *in = &use->in[0]->shape;
    size_t b = (size_t)evl_node_int(use->node, "blocksize", 1);
    size_t channels = (size_t)out->shape.dim[1], size = evl_type_size(out->type);
    const size_t n[6] = {
        (size_t)in->dim[0], channels, (size_t)in->dim[2], b, (size_t)in->dim[3], b
    };
    ptrdiff_t s[EVAL_MAX_RANK];
    ptrdiff_t column, row, channel;
    (void)ctx;
    evl_strided_steps(in, size, s);
    column = is_crd(use) ? s[1] : (ptrdiff_t)channels * s[1];
    row = column * (ptrdiff_t)b;
    channel = is_crd(use) ? row * (ptrdiff_t)b : s[1];
    make_blocks(n, (const ptrdiff_t[6]){ s[0], channel, s[2], row, s[3], column }, size, move);
    return EVAL_OK;
}

static EvalStatus make_space_to_depth(evl_context *ctx, const evl_use *use, const evl_tensor *out,
                                      evl_move *move)
{
    const evl_shape *in = &use->in[0]->shape;
    ptrdiff_t s[EVAL_MAX_RANK], b = (ptrdiff_t)evl_node_int(use->node, "blocksize", 1);
    size_t size = evl_type_size(out->type);
    size_t samples = (size_t)in->dim[0], channels = (size_t)in->dim[1], block = (size_t)b;
    size_t rows = (size_t)out->shape.dim[2], columns = (size_t)out->shape.dim[3];
    (void)ctx;
    evl_strided_steps(in, size, s);
    if (is_crd(use))
        make_blocks((const size_t[6]){ samples, channels, block, block, rows, columns },
                    (const ptrdiff_t[6]){ s[0], s[1], s[2], s[3], b * s[2], b * s[3] }, size, move);
    else
        make_blocks((const size_t[6]){ samples, block, block, channels, rows, columns },
                    (const ptrdiff_t[6]){ s[0], s[2], s[3], s[1], b * s[2], b * s[3] }, size, move);
    return EVAL_OK;
}

static EvalStatus prepare_depth_to_space(evl_prepare *p)
{
    return evl_move_prepare(p, make_depth_to_space);
}

static EvalStatus prepare_space_to_depth(evl_prepare *p)
{
    return evl_move_prepare(p, make_space_to_depth);
}

static const evl_impl transpose_impl = { prepare_transpose, evl_move_run };
static const evl_impl depth_to_space_impl = { prepare_depth_to_space, evl_move_run };
static const evl_impl space_to_depth_impl = { prepare_space_to_depth, evl_move_run };

const evl_op evl_op_transpose = { .name = "Transpose",
                                  .min_inputs = 1,
                                  .max_inputs = 1,
                                  .min_outputs = 1,
                                  .max_outputs = 1,
                                  .infer = infer_transpose,
                                  .any = &transpose_impl };
static const evl_op depth_to_space = { .name = "DepthToSpace",
                                       .min_inputs = 1,
                                       .max_inputs = 1,
                                       .min_outputs = 1,
                                       .max_outputs = 1,
                                       .infer = infer_depth_to_space,
                                       .any = &depth_to_space_impl };
static const evl_op space_to_depth = { .name = "SpaceToDepth",
                                       .min_inputs = 1,
                                       .max_inputs = 1,
                                       .min_outputs = 1,
                                       .max_outputs = 1,
                                       .infer = infer_space_to_depth,
                                       .any = &space_to_depth_impl };

const evl_op *const evl_ops_transpose[] = { &evl_op_transpose, &depth_to_space, &space_to_depth,
                                            NULL };
