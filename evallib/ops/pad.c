/* Pad: borders of a constant, or of the input's own elements; negative pads crop.
**
** The kept part of the input is copied to its place. Then each axis, from the last on,
** gets its two borders, which span all axes that are done and the kept part of the
** others: so every element is written once, and corners come out as the modes want. */
#include "ops/axes.h"
#include "ops/ops.h"
#include "ops/strided.h"
#include <inttypes.h>
#include <string.h>

enum { MOST_PADS = 2 * EVAL_MAX_RANK };

typedef enum mode { CONSTANT, EDGE, REFLECT, WRAP, N_MODES } mode;

static const char *const mode_names[N_MODES] = { "constant", "edge", "reflect", "wrap" };

typedef struct padding {
    int64_t before[EVAL_MAX_RANK], after[EVAL_MAX_RANK];
    evl_known known;
    mode mode;
} padding;

static EvalStatus read_mode(evl_context *ctx, const evl_node *node, mode *result)
{
    const char *name = evl_node_text(node, "mode", "constant");
    for (int m = 0; m < N_MODES; m++) {
        if (strcmp(name, mode_names[m]) == 0) {
            *result = (mode)m;
            return EVAL_OK;
        }
    }
    return evl_fail(ctx, EVAL_ERR_UNSUPPORTED, "mode '%s' is none of constant, edge, reflect, wrap",
                    name);
}

/* Opset 1 said "paddings"; opset 18 gave the axes. */
static EvalStatus read_padding(evl_context *ctx, const evl_use *use, padding *p)
{
    int32_t rank = use->in[0]->shape.rank;
    const char *name = use->node->version < 2 ? "paddings" : "pads";
    int64_t pads[MOST_PADS];
    size_t n = 0, n_axes;
    evl_axes axes;
    EvalStatus st;
    *p = (padding){ .known = EVL_UNKNOWN };
    if ((st = read_mode(ctx, use->node, &p->mode)) ||
        (st = evl_axes_of(ctx, use, "axes", 3, rank, &axes)) ||
        (st = evl_use_ints(ctx, use, name, 1, MOST_PADS, pads, &n, &p->known)))
        return st;
    if (p->known == EVL_ABSENT)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "pads is missing");
    if (axes.known == EVL_UNKNOWN)
        p->known = EVL_UNKNOWN;
    if (p->known == EVL_UNKNOWN)
        return EVAL_OK;
    n_axes = axes.known == EVL_KNOWN ? axes.n : (size_t)rank;
    if (n != 2 * n_axes)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "pads has %zu entries, it needs %zu", n, 2 * n_axes);
    for (size_t i = 0; i < n_axes; i++) {
        int32_t axis = axes.known == EVL_KNOWN ? axes.axis[i] : (int32_t)i;
        p->before[axis] = pads[i];
        p->after[axis] = pads[n_axes + i];
    }
    return EVAL_OK;
}

/* Elements of the input that stay, along an axis. */
static int64_t kept(const padding *p, const evl_shape *in, int32_t axis)
{
    int64_t n = in->dim[axis];
    n += p->before[axis] < 0 ? p->before[axis] : 0;
    n += p->after[axis] < 0 ? p->after[axis] : 0;
    return n < 0 ? 0 : n;
}

static EvalStatus padded_size(evl_context *ctx, const padding *p, const evl_shape *in, int32_t axis,
                              int64_t *size)
{
    const int64_t most = INT64_MAX / 4;
    int64_t before = p->before[axis], after = p->after[axis];
    if (before > most || before < -most || after > most || after < -most || in->dim[axis] > most)
        return evl_fail(ctx, EVAL_ERR_LIMIT, "the pads of axis %" PRId32 " are too large", axis);
    *size = EVL_UNKNOWN_DIM;
    if (in->dim[axis] < 0)
        return EVAL_OK;
    *size = in->dim[axis] + before + after;
    if (*size < 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE,
                        "the pads take more than axis %" PRId32 " has: %" PRId64, axis,
                        in->dim[axis]);
    if (*size > 0 && p->mode != CONSTANT && kept(p, in, axis) == 0)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "mode %s has no element to repeat along axis %" PRId32,
                        mode_names[p->mode], axis);
    return EVAL_OK;
}

static EvalStatus infer_pad(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0], *value = evl_use_in(&x->use, 2);
    padding p;
    EvalStatus st;
    if (value && value->type != in->type)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "the constant is %s, the input %s",
                        evl_type_name(value->type), evl_type_name(in->type));
    x->out[0].type = in->type;
    x->out[0].shape = evl_shape_of_rank(in->shape.rank);
    if (in->shape.rank < 0)
        return EVAL_OK;
    if ((st = read_padding(x->ctx, &x->use, &p)) || p.known != EVL_KNOWN)
        return st;
    for (int32_t d = 0; d < in->shape.rank && !st; d++)
        st = padded_size(x->ctx, &p, &in->shape, d, &x->out[0].shape.dim[d]);
    return st;
}

typedef struct job {
    const evl_call *call;
    const padding *padding;
    const void *value; /* of mode constant */
    size_t size;
    int64_t start[EVAL_MAX_RANK], n[EVAL_MAX_RANK];   /* the kept part in the output */
    ptrdiff_t from[EVAL_MAX_RANK], to[EVAL_MAX_RANK]; /* steps of input and output */
} job;

static void copy_kept(const job *j)
{
    const evl_tensor *in = j->call->in[0], *out = j->call->out[0];
    ptrdiff_t from = 0, to = 0;
    evl_strided box;
    evl_strided_begin(&box, j->size);
    for (int32_t d = 0; d < in->shape.rank; d++) {
        evl_strided_add(&box, (size_t)j->n[d], j->from[d], j->to[d]);
        to += (ptrdiff_t)j->start[d] * j->to[d];
        if (j->padding->before[d] < 0 && j->n[d] > 0)
            from -= (ptrdiff_t)j->padding->before[d] * j->from[d];
    }
    evl_strided_ready(&box);
    if (box.n_units > 0)
        evl_strided_copy(&box, j->call->machine->pool, (const char *)in->data + from,
                         (char *)out->data + to);
}

/* A part of a border: n positions along an axis, from `target` on, get the elements at
** source, source + step, ... of the output. */
typedef struct border {
    int64_t target, n, source, step;
} border;

static void fill_border(const job *j, int32_t axis, const border *b)
{
    const evl_tensor *out = j->call->out[0];
    bool is_constant = j->padding->mode == CONSTANT;
    ptrdiff_t corner = 0;
    evl_strided box;
    evl_strided_begin(&box, j->size);
    for (int32_t d = 0; d < out->shape.rank; d++) {
        int64_t n = d < axis ? j->n[d] : d == axis ? b->n : out->shape.dim[d];
        ptrdiff_t step = d == axis ? (ptrdiff_t)b->step * j->to[d] : j->to[d];
        evl_strided_add(&box, (size_t)n, is_constant ? 0 : step, j->to[d]);
        corner += d < axis ? (ptrdiff_t)j->start[d] * j->to[d] : 0;
    }
    evl_strided_ready(&box);
    if (box.n_units == 0)
        return;
    evl_strided_copy(&box, j->call->machine->pool,
                     is_constant ? j->value
                                 : (char *)out->data + corner + (ptrdiff_t)b->source * j->to[axis],
                     (char *)out->data + corner + (ptrdiff_t)b->target * j->to[axis]);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many positions one step can fill beside `extent` filled ones. What is filled keeps
** the period of the mode, so the steps double. */
static int64_t reach(mode m, int64_t extent, int64_t wanted)
{
    if (m == REFLECT)
        return least(wanted, extent - 1);
    return m == WRAP ? least(wanted, extent) : wanted;
}

static void fill_before(const job *j, int32_t axis, mode m)
{
    int64_t start = j->start[axis], extent = j->n[axis];
    while (start > 0) {
        int64_t n = reach(m, extent, start);
        const border of_mode[N_MODES] = { { start - n, n, 0, 0 },
                                          { start - n, n, start, 0 },
                                          { start - n, n, start + n, -1 },
                                          { start - n, n, start - n + extent, 1 } };
        fill_border(j, axis, &of_mode[m]);
        start -= n;
        extent += n;
    }
}

static void fill_after(const job *j, int32_t axis, mode m)
{
    int64_t size = j->call->out[0]->shape.dim[axis];
    int64_t extent = j->n[axis], end = j->start[axis] + extent;
    while (end < size) {
        int64_t n = reach(m, extent, size - end);
        const border of_mode[N_MODES] = { { end, n, 0, 0 },
                                          { end, n, end - 1, 0 },
                                          { end, n, end - 2, -1 },
                                          { end, n, end - extent, 1 } };
        fill_border(j, axis, &of_mode[m]);
        end += n;
        extent += n;
    }
}

static void pad(const job *j)
{
    copy_kept(j);
    for (int32_t axis = j->call->out[0]->shape.rank; axis-- > 0;) {
        mode m = j->padding->mode;
        if (m == REFLECT && j->n[axis] == 1)
            m = EDGE; /* a single element has no neighbour to show */
        fill_before(j, axis, m);
        fill_after(j, axis, m);
    }
}

static EvalStatus run_with(const evl_call *call, const padding *p)
{
    static const EvalString empty = { "", 0 };
    const evl_shape *in = &call->in[0]->shape, *out = &call->out[0]->shape;
    const evl_tensor *value = call->n_in > 2 ? call->in[2] : NULL;
    double attribute = evl_node_number(call->node, "value", 0);
    _Alignas(16) char bytes[16] = { 0 };
    job j = {
        .call = call, .padding = p, .value = bytes, .size = evl_type_size(call->in[0]->type)
    };
    if (evl_shape_count(out) == 0)
        return EVAL_OK;
    evl_convert(1, EVAL_FLOAT64, &attribute, call->in[0]->type, bytes);
    if (call->in[0]->type == EVAL_STRING)
        j.value = &empty;
    if (value && value->data)
        j.value = value->data;
    evl_strided_steps(in, j.size, j.from);
    evl_strided_steps(out, j.size, j.to);
    for (int32_t d = 0; d < in->rank; d++) {
        j.n[d] = kept(p, in, d);
        j.start[d] = p->before[d] < 0 ? 0 : least(p->before[d], out->dim[d]);
        if (in->dim[d] + p->before[d] + p->after[d] != out->dim[d])
            return evl_fail(call->ctx, EVAL_ERR_SHAPE,
                            "the pads of axis %" PRId32 " do not give the declared size %" PRId64,
                            d, out->dim[d]);
    }
    pad(&j);
    return EVAL_OK;
}

static EvalStatus run_prepared(const evl_call *call)
{
    return run_with(call, call->state);
}

/* A declared shape can be complete while the pads are not known yet. */
static EvalStatus run_unprepared(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    int64_t size;
    padding p;
    EvalStatus st = read_padding(call->ctx, &use, &p);
    for (int32_t d = 0; d < call->in[0]->shape.rank && !st; d++)
        st = padded_size(call->ctx, &p, &call->in[0]->shape, d, &size);
    return st ? st : run_with(call, &p);
}

static EvalStatus prepare_pad(evl_prepare *p)
{
    padding *state = evl_arena_take(p->arena, sizeof *state);
    EvalStatus st;
    if (!state)
        return evl_no_memory(p->ctx);
    if ((st = read_padding(p->ctx, &p->use, state)))
        return st;
    p->state = state;
    if (state->known == EVL_KNOWN)
        p->run = run_prepared;
    return EVAL_OK;
}

static const evl_impl pad_impl = { prepare_pad, run_unprepared };

const evl_op evl_op_pad = { .name = "Pad",
                            .min_inputs = 1,
                            .max_inputs = 4,
                            .min_outputs = 1,
                            .max_outputs = 1,
                            .infer = infer_pad,
                            .any = &pad_impl };

const evl_op *const evl_ops_pad[] = { &evl_op_pad, NULL };
