/* Conv and ConvTranspose: their shapes. */
#include "ops/conv.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

enum { DIMS = EVL_STENCIL_DIMS };

static const int64_t most_channels = (int64_t)1 << 31;

static EvalStatus groups_of(evl_context *ctx, const evl_use *use, int64_t *groups)
{
    *groups = evl_node_int(use->node, "group", 1);
    if (*groups >= 1 && *groups <= most_channels)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "group is %lld, expected at least 1", (long long)*groups);
}

/* The weights' spatial sizes, -1 where they are not known. */
static void kernel_of(const evl_use *use, int64_t *kernel)
{
    const evl_shape *w = &use->in[1]->shape;
    for (int i = 0; i < DIMS; i++)
        kernel[i] = i + 2 < w->rank ? w->dim[i + 2] : EVL_UNKNOWN_DIM;
}

/* Ranks, types, channels: input C, weights [M, C / group, ...], or [C, M / group, ...] of
** a transposed one. `across`: the dimension of the weights that goes with C. */
static EvalStatus check_channels(evl_infer *infer, int32_t across, int64_t groups, int64_t *out)
{
    int64_t channels = evl_infer_dim_of(infer, 0, 1), in = evl_infer_dim_of(infer, 1, across);
    int64_t bias = evl_infer_dim_of(infer, 2, 0), each = across == 1 ? groups : 1;
    *out = evl_infer_dim_of(infer, 1, 1 - across);
    if (in > most_channels || *out > most_channels)
        return evl_fail(infer->ctx, EVAL_ERR_LIMIT, "the weights have more than %lld channels",
                        (long long)most_channels);
    int64_t expected = in == EVL_UNKNOWN_DIM ? EVL_UNKNOWN_DIM : in * each;
    EvalStatus st = evl_infer_dim(infer, "the input's number of channels", expected, &channels);
    int64_t divided = across == 1 ? *out : channels;
    if (st == EVAL_OK && divided != EVL_UNKNOWN_DIM && divided % groups != 0)
        st =
            evl_fail(infer->ctx, EVAL_ERR_SHAPE, "%lld channels, expected a multiple of group %lld",
                     (long long)divided, (long long)groups);
    if (st == EVAL_OK && across == 0 && *out != EVL_UNKNOWN_DIM)
        *out *= groups;
    return st == EVAL_OK ? evl_infer_dim(infer, "the bias's length", *out, &bias) : st;
}

static EvalStatus check_operands(evl_infer *infer, int32_t across, int64_t *out)
{
    int64_t groups = 1;
    EvalStatus st = groups_of(infer->ctx, &infer->use, &groups);
    const evl_shape *x = &infer->use.in[0]->shape;
    if (st == EVAL_OK)
        st = evl_infer_rank(infer, 0, 3, EVAL_MAX_RANK);
    if (st == EVAL_OK)
        st = x->rank == EVL_UNKNOWN_RANK ? evl_infer_rank(infer, 1, 3, EVAL_MAX_RANK)
                                         : evl_infer_rank(infer, 1, x->rank, x->rank);
    if (st == EVAL_OK)
        st = evl_infer_rank(infer, 2, 1, 1);
    return st == EVAL_OK ? check_channels(infer, across, groups, out) : st;
}

EvalStatus evl_infer_conv(evl_infer *infer)
{
    int64_t channels, kernel[DIMS];
    const evl_shape *x = &infer->use.in[0]->shape;
    evl_stencil stencil;
    EvalStatus st = check_operands(infer, 1, &channels);
    if (st != EVAL_OK || x->rank == EVL_UNKNOWN_RANK)
        return st;
    kernel_of(&infer->use, kernel);
    st = evl_stencil_of(infer->ctx, &infer->use, x, kernel, EVL_STENCIL_FLOOR, &stencil);
    if (st == EVAL_OK)
        infer->out[0].shape = evl_stencil_shape(&stencil, x->dim[0], channels);
    return st;
}

static EvalStatus infer_conv(evl_infer *infer)
{
    EvalStatus st = evl_infer_one_type(infer, 3);
    infer->out[0].type = infer->use.in[0]->type;
    return st == EVAL_OK ? evl_infer_conv(infer) : st;
}

static void take_sizes(const evl_use *use, evl_conv *c, bool is_transposed)
{
    const evl_shape *x = &use->in[0]->shape, *w = &use->in[1]->shape;
    size_t first = (size_t)w->dim[0] / c->groups, second = (size_t)w->dim[1];
    c->batch = (size_t)x->dim[0];
    c->in_channels = is_transposed ? first : second;
    c->out_channels = is_transposed ? second : first;
    c->kernel = evl_stencil_kernel(&c->stencil);
    c->in_plane = is_transposed ? evl_stencil_out(&c->stencil) : evl_stencil_in(&c->stencil);
    c->out_plane = is_transposed ? evl_stencil_in(&c->stencil) : evl_stencil_out(&c->stencil);
}

EvalStatus evl_conv_of(evl_context *ctx, const evl_use *use, evl_conv *c)
{
    int64_t kernel[DIMS];
    kernel_of(use, kernel);
    *c = (evl_conv){ .groups = (size_t)evl_node_int(use->node, "group", 1) };
    EvalStatus st =
        evl_stencil_of(ctx, use, &use->in[0]->shape, kernel, EVL_STENCIL_FLOOR, &c->stencil);
    if (st == EVAL_OK)
        take_sizes(use, c, false);
    return st;
}

EvalConvolution evl_conv_shown(const evl_conv *c)
{
    const evl_stencil *s = &c->stencil;
    int32_t first = DIMS - s->n;
    return (EvalConvolution){ .size = sizeof(EvalConvolution),
                              .axes = (size_t)s->n,
                              .channels = c->in_channels,
                              .outputs = c->out_channels,
                              .in = s->in + first,
                              .out = s->out + first,
                              .kernel = s->kernel + first,
                              .strides = s->stride + first,
                              .dilations = s->dilation + first,
                              .pads = s->begin + first };
}

bool evl_conv_is_foreign(const evl_machine *m, const evl_conv *c)
{
    EvalConvolution shown = evl_conv_shown(c);
    return m->foreign_conv && c->out_plane && c->out_channels && c->in_channels &&
           (!m->foreign_conv->Convolves || m->foreign_conv->Convolves(&shown));
}

/* --- transposed --- */

/* n values of a list that may be missing, from the last dimension backwards. */
static EvalStatus take_list(evl_context *ctx, const evl_use *use, const char *name, int32_t n,
                            int64_t *to, bool *is_there)
{
    size_t count;
    const int64_t *values = evl_node_ints(use->node, name, &count);
    *is_there = values && count > 0;
    if (!*is_there)
        return EVAL_OK;
    if (count != (size_t)n && !(count == (size_t)n + 2 && strcmp(name, "output_shape") == 0))
        return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has %zu values, expected %d", name, count, (int)n);
    for (int32_t i = 0; i < n; i++) {
        int64_t value = values[count - (size_t)n + (size_t)i];
        if (value < 0 || value > most_channels)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has %lld, expected 0 to %lld", name,
                            (long long)value, (long long)most_channels);
        to[DIMS - n + i] = value;
    }
    return EVAL_OK;
}

/* One dimension: `in` of the node's input becomes `size` of its output. ONNX: what
** output_shape asks for (SAME: in * stride) is reached by padding, half on each side;
** SAME_UPPER puts the odd one behind, and so the odd one is cut in front otherwise. */
static EvalStatus turn(evl_context *ctx, evl_stencil *s, int d, int64_t extra, int64_t wanted,
                       bool is_upper)
{
    int64_t in = s->in[d];
    s->out[d] = in;
    s->in[d] = EVL_UNKNOWN_DIM;
    if (in == EVL_UNKNOWN_DIM || s->kernel[d] == EVL_UNKNOWN_DIM) {
        s->in[d] = wanted;
        return EVAL_OK;
    }
    int64_t full = (in - 1) * s->stride[d] + evl_stencil_reach(s, d) + extra;
    if (wanted != EVL_UNKNOWN_DIM) {
        int64_t total = full > wanted ? full - wanted : 0;
        s->begin[d] = is_upper ? total / 2 : total - total / 2;
        s->end[d] = total - s->begin[d];
        s->in[d] = wanted;
        return EVAL_OK;
    }
    s->in[d] = full - s->begin[d] - s->end[d];
    if (s->in[d] >= 0)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "padding %lld and %lld, expected at most %lld together",
                    (long long)s->begin[d], (long long)s->end[d], (long long)full);
}

static EvalStatus transposed_stencil(evl_context *ctx, const evl_use *use, const int64_t *kernel,
                                     evl_stencil *s)
{
    const char *pad = evl_node_text(use->node, "auto_pad", "NOTSET");
    bool has_extra, has_shape, is_same = strncmp(pad, "SAME_", 5) == 0;
    int64_t extra[DIMS] = { 0 }, wanted[DIMS] = { -1, -1, -1 };
    EvalStatus st = evl_stencil_attributes(ctx, use, &use->in[0]->shape, kernel, s);
    if (st == EVAL_OK)
        st = take_list(ctx, use, "output_padding", s->n, extra, &has_extra);
    if (st == EVAL_OK)
        st = take_list(ctx, use, "output_shape", s->n, wanted, &has_shape);
    if (st != EVAL_OK)
        return st;
    for (int d = DIMS - s->n; d < DIMS && st == EVAL_OK; d++) {
        if (!has_shape && is_same && s->in[d] != EVL_UNKNOWN_DIM)
            wanted[d] = s->in[d] * s->stride[d];
        if (strcmp(pad, "VALID") == 0)
            s->begin[d] = s->end[d] = 0;
        st = turn(ctx, s, d, extra[d], wanted[d], strcmp(pad, "SAME_UPPER") == 0);
    }
    return st;
}

static EvalStatus infer_conv_transpose(evl_infer *infer)
{
    int64_t channels, kernel[DIMS];
    const evl_shape *x = &infer->use.in[0]->shape;
    evl_stencil stencil;
    EvalStatus st = evl_infer_one_type(infer, 3);
    if (st == EVAL_OK)
        st = check_operands(infer, 0, &channels);
    if (st != EVAL_OK)
        return st;
    infer->out[0].type = infer->use.in[0]->type;
    if (x->rank == EVL_UNKNOWN_RANK)
        return EVAL_OK;
    kernel_of(&infer->use, kernel);
    st = transposed_stencil(infer->ctx, &infer->use, kernel, &stencil);
    if (st != EVAL_OK)
        return st;
    memcpy(stencil.out, stencil.in, sizeof stencil.out);
    infer->out[0].shape = evl_stencil_shape(&stencil, x->dim[0], channels);
    return EVAL_OK;
}

EvalStatus evl_conv_transpose_of(evl_context *ctx, const evl_use *use, evl_conv *c)
{
    int64_t kernel[DIMS];
    kernel_of(use, kernel);
    *c = (evl_conv){ .groups = (size_t)evl_node_int(use->node, "group", 1) };
    EvalStatus st = transposed_stencil(ctx, use, kernel, &c->stencil);
    if (st == EVAL_OK)
        take_sizes(use, c, true);
    return st;
}

extern const evl_impl evl_conv_f, evl_conv_d, evl_conv_transpose_f, evl_conv_transpose_d;

const evl_op evl_op_conv = {
    .name = "Conv",
    .min_inputs = 2,
    .max_inputs = 3,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer_conv,
    .real = { [EVL_FLOAT] = &evl_conv_f, [EVL_DOUBLE] = &evl_conv_d },
};

const evl_op evl_op_conv_transpose = {
    .name = "ConvTranspose",
    .min_inputs = 2,
    .max_inputs = 3,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer_conv_transpose,
    .real = { [EVL_FLOAT] = &evl_conv_transpose_f, [EVL_DOUBLE] = &evl_conv_transpose_d },
};

const evl_op *const evl_ops_conv[] = { &evl_op_conv, &evl_op_conv_transpose, NULL };
