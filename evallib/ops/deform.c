/* DeformConv, whose windows' elements lie where offsets say, and Col2Im, which adds windows up:
** their shapes. */
#include "ops/deform.h"
#include "ops/operands.h"
#include "ops/ops.h"

enum { DIMS = EVL_STENCIL_DIMS };

/* Input `input` is [N, channels, output's sizes ...]. */
static EvalStatus check_map(const evl_infer *x, size_t input, int64_t channels, const evl_shape *y)
{
    int64_t dims[4];
    EvalStatus st = evl_infer_rank(x, input, 4, 4);
    for (int32_t d = 0; d < 4 && !st; d++) {
        int64_t expected = d == 0 ? evl_infer_dim_of(x, 0, 0) : d == 1 ? channels : y->dim[d];
        dims[d] = evl_infer_dim_of(x, input, d);
        st = evl_infer_dim(x, "a dimension of the offsets or of the mask", expected, &dims[d]);
    }
    return st;
}

static EvalStatus check_channels(const evl_infer *x, int64_t groups, int64_t offset_groups)
{
    int64_t in = evl_infer_dim_of(x, 0, 1), each = evl_infer_dim_of(x, 1, 1);
    int64_t out = evl_infer_dim_of(x, 1, 0), bias = evl_infer_dim_of(x, 3, 0);
    if (groups < 1 || offset_groups < 1 || groups > INT32_MAX || offset_groups > INT32_MAX ||
        (in >= 0 && in % offset_groups) || (out >= 0 && out % groups))
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the channels do not divide into groups");
    if (each >= 0 && each > INT32_MAX)
        return evl_fail(x->ctx, EVAL_ERR_LIMIT, "the weights have too many channels");
    EvalStatus st = evl_infer_dim(x, "the input's number of channels",
                                  each < 0 ? EVL_UNKNOWN_DIM : each * groups, &in);
    return st ? st : evl_infer_dim(x, "the bias's length", out, &bias);
}

/* Kernel positions of all groups of offsets; EVL_UNKNOWN_DIM when they are not known, or more
** than any channels. */
static int64_t taps(const evl_stencil *w, int64_t groups)
{
    int64_t n = groups;
    for (int d = 0; d < DIMS; d++) {
        if (w->kernel[d] < 0 || w->kernel[d] > INT32_MAX / n)
            return EVL_UNKNOWN_DIM;
        n *= w->kernel[d];
    }
    return n;
}

static EvalStatus infer_deform(evl_infer *x)
{
    int64_t groups = evl_node_int(x->use.node, "group", 1), kernel[DIMS];
    int64_t offset_groups = evl_node_int(x->use.node, "offset_group", 1);
    const evl_shape *in = &x->use.in[0]->shape;
    evl_stencil w;
    EvalStatus st = evl_infer_one_type(x, 5);
    if (st || (st = evl_infer_rank(x, 0, 4, 4)) || (st = evl_infer_rank(x, 1, 4, 4)) ||
        (st = evl_infer_rank(x, 3, 1, 1)) || (st = check_channels(x, groups, offset_groups)))
        return st;
    x->out[0].type = x->use.in[0]->type;
    for (int32_t d = 0; d < DIMS; d++)
        kernel[d] = evl_infer_dim_of(x, 1, d + 2);
    if (in->rank < 0 || (st = evl_stencil_of(x->ctx, &x->use, in, kernel, EVL_STENCIL_FLOOR, &w)))
        return st;
    x->out[0].shape = evl_stencil_shape(&w, in->dim[0], evl_infer_dim_of(x, 1, 0));
    int64_t size = taps(&w, offset_groups);
    st = check_map(x, 2, size < 0 ? size : 2 * size, &x->out[0].shape);
    return st || !evl_use_in(&x->use, 4) ? st : check_map(x, 4, size, &x->out[0].shape);
}

/* --- Col2Im: [N, C * block, windows] to [N, C, image ...] --- */

/* The image's shape and where blocks lie in it. *known is false while an input is not. */
static EvalStatus image_of(evl_context *ctx, const evl_use *use, evl_shape *image, evl_stencil *w,
                           bool *known)
{
    int64_t block[EVAL_MAX_RANK];
    size_t n = 0, n_block = 0, elements = 1;
    evl_known a, b;
    *image = evl_shape_of(2, (const int64_t[2]){ use->in[0]->shape.dim[0], EVL_UNKNOWN_DIM });
    EvalStatus st =
        evl_use_ints(ctx, use, "image_shape", 1, EVAL_MAX_RANK - 2, image->dim + 2, &n, &a);
    if (!st)
        st = evl_use_ints(ctx, use, "block_shape", 2, EVAL_MAX_RANK, block, &n_block, &b);
    *known = !st && a == EVL_KNOWN && b == EVL_KNOWN;
    if (!*known)
        return st;
    if (n != n_block)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "image_shape has %zu values, block_shape %zu", n,
                        n_block);
    image->rank = (int32_t)n + 2;
    if ((st = evl_stencil_of(ctx, use, image, block, EVL_STENCIL_FLOOR, w)))
        return st;
    for (size_t i = 0; i < n; i++)
        if (block[i] < 1 || !evl_size_multiply(elements, (size_t)block[i], &elements))
            return evl_fail(ctx, EVAL_ERR_SHAPE, "block_shape is no shape");
    int64_t channels = use->in[0]->shape.dim[1];
    if (channels >= 0 && (size_t)channels % elements)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "%lld channels, expected a multiple of %zu",
                        (long long)channels, elements);
    image->dim[1] = channels < 0 ? channels : channels / (int64_t)elements;
    return EVAL_OK;
}

static EvalStatus infer_col2im(evl_infer *x)
{
    int64_t windows = evl_infer_dim_of(x, 0, 2);
    evl_stencil w;
    evl_shape image;
    bool is_known;
    x->out[0].type = x->use.in[0]->type;
    EvalStatus st = evl_infer_rank(x, 0, 3, 3);
    if (st || x->use.in[0]->shape.rank < 0)
        return st;
    st = image_of(x->ctx, &x->use, &image, &w, &is_known);
    if (st || !is_known)
        return st;
    x->out[0].shape = image;
    size_t n = 0;
    if (!evl_size_multiply((size_t)w.out[0], (size_t)w.out[1], &n) ||
        !evl_size_multiply(n, (size_t)w.out[2], &n) || n > INT64_MAX)
        return evl_fail(x->ctx, EVAL_ERR_LIMIT, "the image has too many windows");
    return evl_infer_dim(x, "the number of windows", (int64_t)n, &windows);
}

EvalStatus evl_col2im_of(const evl_prepare *p, evl_stencil *w)
{
    evl_shape image;
    bool is_known;
    return image_of(p->ctx, &p->use, &image, w, &is_known);
}

extern const evl_impl evl_deform_conv_f, evl_deform_conv_d, evl_col2im_f, evl_col2im_d;

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_col2im = {
    "Col2Im", NULL, 3, 3, 1, 1, 0, 0, infer_col2im,
    { &evl_col2im_f, &evl_col2im_d }, NULL, NULL, 0
};
static const evl_op op_deform_conv = {
    "DeformConv", NULL, 3, 5, 1, 1, 0, 0, infer_deform,
    { &evl_deform_conv_f, &evl_deform_conv_d }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_deform[] = { &op_col2im, &op_deform_conv, NULL };
