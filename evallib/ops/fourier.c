/* DFT and STFT: their shapes. */
#include "ops/fourier.h"
#include "ops/axes.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <inttypes.h>

static bool is_true(const evl_node *node, const char *name, int64_t fallback)
{
    return evl_node_int(node, name, fallback) != 0;
}

/* The last dimension holds the parts of a number. */
static EvalStatus check_parts(evl_context *ctx, const evl_shape *x)
{
    int64_t parts = x->dim[x->rank - 1];
    if (parts == 1 || parts == 2 || parts == EVL_UNKNOWN_DIM)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE,
                    "the last dimension is %" PRId64 ", expected 1 (real) or 2 (complex)", parts);
}

/* Opset 20 has the axis as an input, counted from the end by default. EVL_UNKNOWN: not yet. */
static EvalStatus axis_of(evl_context *ctx, const evl_use *use, int32_t *axis, evl_known *known)
{
    bool is_input = use->node->version >= 20;
    int32_t rank = use->in[0]->shape.rank;
    int64_t given = is_input ? -2 : 1;
    *known =
        is_input ? evl_use_int(use, "", 2, &given) : evl_use_int(use, "axis", SIZE_MAX, &given);
    if (*known == EVL_UNKNOWN)
        return EVAL_OK;
    EvalStatus st = evl_axis(ctx, "axis", given, rank, axis);
    if (st || *axis < rank - 1)
        return st;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "axis %" PRId64 " is that of the parts of a number",
                    given);
}

/* The length of the transform: by default that of the axis, which may have no element, or what
** gives a spectrum that is one half. */
static EvalStatus length_of(evl_context *ctx, const evl_use *use, int32_t axis, int64_t *n)
{
    int64_t size = use->in[0]->shape.dim[axis];
    bool is_onesided = is_true(use->node, "onesided", 0);
    bool is_half = is_onesided && is_true(use->node, "inverse", 0);
    *n = size < 0 ? EVL_UNKNOWN_DIM : is_half ? 2 * (size - 1) : size;
    evl_known known = evl_use_int(use, "", 1, n);
    if (known == EVL_UNKNOWN)
        *n = EVL_UNKNOWN_DIM;
    bool is_empty = size == 0 && known == EVL_ABSENT && !is_onesided;
    if (*n > 0 || *n == EVL_UNKNOWN_DIM || is_empty)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "the length of the transform is %" PRId64, *n);
}

static EvalStatus infer_dft(evl_infer *x)
{
    const evl_node *node = x->use.node;
    bool is_inverse = is_true(node, "inverse", 0), is_half = is_true(node, "onesided", 0);
    const evl_shape *in = &x->use.in[0]->shape;
    evl_shape *y = &x->out[0].shape;
    evl_known known;
    int32_t axis;
    int64_t n;
    x->out[0].type = x->use.in[0]->type;
    EvalStatus st = evl_infer_rank(x, 0, 2, EVAL_MAX_RANK);
    if (st || in->rank < 0)
        return st;
    *y = evl_shape_of_rank(in->rank);
    if ((st = check_parts(x->ctx, in)) || (st = axis_of(x->ctx, &x->use, &axis, &known)))
        return st;
    y->dim[in->rank - 1] = is_inverse && is_half ? 1 : 2;
    if (known == EVL_UNKNOWN)
        return EVAL_OK;
    for (int32_t d = 0; d < in->rank - 1; d++)
        y->dim[d] = in->dim[d];
    st = length_of(x->ctx, &x->use, axis, &n);
    y->dim[axis] = n >= 0 && is_half && !is_inverse ? n / 2 + 1 : n;
    return st;
}

EvalStatus evl_fourier_dft_of(const evl_prepare *p, evl_fourier *f)
{
    const evl_shape *x = &p->use.in[0]->shape, *y = &p->out[0]->shape;
    evl_known known;
    int32_t axis = 0;
    int64_t n = 0;
    EvalStatus st = axis_of(p->ctx, &p->use, &axis, &known);
    if (!st)
        st = length_of(p->ctx, &p->use, axis, &n);
    *f = (evl_fourier){ .n = (size_t)n,
                        .is_inverse = is_true(p->use.node, "inverse", 0),
                        .is_onesided = is_true(p->use.node, "onesided", 0),
                        .outer = evl_shape_count_part(x, 0, axis),
                        .n_in = (size_t)x->dim[axis],
                        .n_out = (size_t)y->dim[axis],
                        .inner = evl_shape_count_part(x, axis + 1, x->rank - 1),
                        .in_parts = (size_t)x->dim[x->rank - 1],
                        .out_parts = (size_t)y->dim[y->rank - 1] };
    return st;
}

/* --- STFT: signal [batch, n, parts], frame_step, window, frame_length --- */

typedef struct frames {
    int64_t length, step, n; /* EVL_UNKNOWN_DIM: not known yet */
} frames;

static EvalStatus frames_of(evl_context *ctx, const evl_use *use, frames *f)
{
    const evl_tensor *window = evl_use_in(use, 2);
    int64_t size = use->in[0]->shape.dim[1];
    *f = (frames){ .step = EVL_UNKNOWN_DIM, .n = EVL_UNKNOWN_DIM };
    if (evl_use_int(use, "", 1, &f->step) == EVL_KNOWN && f->step < 1)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "frame_step is %" PRId64 ", expected 1 or more",
                        f->step);
    evl_known known = evl_use_int(use, "", 3, &f->length);
    if (known != EVL_KNOWN)
        f->length = known == EVL_UNKNOWN ? EVL_UNKNOWN_DIM
                    : window             ? evl_list_length(window)
                                         : size;
    if (f->length == 0 || f->length < EVL_UNKNOWN_DIM ||
        (size >= 0 && f->length > size && f->length >= 0))
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "frames have %" PRId64 " elements, expected 1 to %" PRId64, f->length,
                        size);
    if (size >= 0 && f->length >= 0 && f->step > 0)
        f->n = 1 + (size - f->length) / f->step;
    return EVAL_OK;
}

static EvalStatus infer_stft(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    frames f;
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = evl_shape_of_rank(4);
    x->out[0].shape.dim[3] = 2;
    EvalStatus st = evl_infer_rank(x, 0, 3, 3);
    if (!st)
        st = evl_infer_rank(x, 2, 1, 1);
    if (st || in->rank < 0)
        return st;
    if ((st = check_parts(x->ctx, in)) || (st = frames_of(x->ctx, &x->use, &f)))
        return st;
    x->out[0].shape.dim[0] = in->dim[0];
    x->out[0].shape.dim[1] = f.n;
    x->out[0].shape.dim[2] =
        f.length >= 0 && is_true(x->use.node, "onesided", 1) ? f.length / 2 + 1 : f.length;
    return EVAL_OK;
}

EvalStatus evl_fourier_stft_of(const evl_prepare *p, evl_fourier *f)
{
    const evl_shape *x = &p->use.in[0]->shape, *y = &p->out[0]->shape;
    const evl_tensor *window = evl_use_in(&p->use, 2);
    frames how;
    EvalStatus st = frames_of(p->ctx, &p->use, &how);
    if (st)
        return st;
    *f = (evl_fourier){ .n = (size_t)how.length,
                        .is_onesided = is_true(p->use.node, "onesided", 1),
                        .outer = evl_shape_count_part(y, 0, 2),
                        .n_in = (size_t)x->dim[1],
                        .n_out = (size_t)y->dim[2],
                        .inner = 1,
                        .in_parts = (size_t)x->dim[2],
                        .out_parts = 2,
                        .frames = (size_t)how.n,
                        .step = (size_t)how.step,
                        .n_window = window ? (size_t)window->shape.dim[0] : (size_t)how.length };
    return EVAL_OK;
}

bool evl_fourier_factors(size_t n, evl_fourier_split *s)
{
    static const uint8_t radices[] = { 4, 2, 3, 5, 7, 11, EVL_FOURIER_RADIX };
    *s = (evl_fourier_split){ .n = n };
    for (size_t i = 0; i < sizeof radices; i++)
        for (; n % radices[i] == 0; n /= radices[i])
            s->factor[s->n_factors++] = radices[i];
    return n == 1;
}

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_dft = {
    "DFT", NULL, 1, 3, 1, 1, 0, 0, infer_dft,
    { &evl_fourier_dft, &evl_fourier_dft }, NULL, NULL, 0
};
static const evl_op op_stft = {
    "STFT", NULL, 2, 4, 1, 1, 0, 0, infer_stft,
    { &evl_fourier_stft, &evl_fourier_stft }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_fourier[] = { &op_dft, &op_stft, NULL };
