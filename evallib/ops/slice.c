/* Slice: a box of the input, perhaps thinned out or reversed. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>

typedef struct range {
    int64_t start, step;
    int64_t n; /* EVL_UNKNOWN_DIM: not known */
} range;

static int64_t clamp(int64_t i, int64_t least, int64_t most)
{
    return i < least ? least : i > most ? most : i;
}

/* ONNX 10: negative positions count from the end, and what lies outside is cut off; a
** negative step may end before element 0, so -1 is the least end there. */
static range make_range(int64_t start, int64_t end, int64_t step, int64_t size)
{
    range r = { 0, step, EVL_UNKNOWN_DIM };
    int64_t distance;
    if (size < 0)
        return r;
    start = start < 0 ? start + size : start;
    end = end < 0 ? end + size : end;
    if (step > 0) {
        r.start = clamp(start, 0, size);
        distance = clamp(end, 0, size) - r.start;
    } else {
        r.start = clamp(start, 0, size - 1);
        distance = r.start - clamp(end, -1, size - 1);
        step = step < -INT64_MAX ? INT64_MAX : -step;
    }
    r.n = distance <= 0 || size == 0 ? 0 : (distance - 1) / step + 1;
    if (r.n < 2)
        r.step = 1;
    return r;
}

/* The lists of the node; n entries each. */
typedef struct lists {
    int64_t starts[EVAL_MAX_RANK], ends[EVAL_MAX_RANK], steps[EVAL_MAX_RANK];
    size_t n;
    evl_axes axes;
    evl_known known;
} lists;

static EvalStatus read_list(evl_context *ctx, const evl_use *use, const char *name, size_t input,
                            int64_t *values, lists *l)
{
    size_t n = 0;
    evl_known known;
    EvalStatus st = evl_use_ints(ctx, use, name, input, EVAL_MAX_RANK, values, &n, &known);
    if (st)
        return st;
    if (known == EVL_UNKNOWN)
        l->known = EVL_UNKNOWN;
    if (known == EVL_ABSENT && input != 4)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "%s is missing", name);
    if (known != EVL_KNOWN)
        return EVAL_OK;
    if (input == 1)
        l->n = n;
    if (n == l->n || l->known != EVL_KNOWN)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "%s has %zu entries, starts has %zu", name, n, l->n);
}

static EvalStatus read_axes(evl_context *ctx, const evl_use *use, int32_t rank, lists *l)
{
    EvalStatus st = evl_axes_of(ctx, use, "axes", 3, rank, &l->axes);
    if (st)
        return st;
    if (l->axes.known == EVL_ABSENT) {
        if (l->n > (size_t)rank)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "%zu starts are given for rank %" PRId32, l->n,
                            rank);
        for (size_t i = 0; i < l->n; i++)
            l->axes.axis[i] = (int32_t)i;
        l->axes.n = l->n;
    }
    if (l->known == EVL_KNOWN && l->axes.known != EVL_UNKNOWN && l->axes.n != l->n)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "axes has %zu entries, starts has %zu", l->axes.n,
                        l->n);
    return EVAL_OK;
}

static EvalStatus read_lists(evl_context *ctx, const evl_use *use, int32_t rank, lists *l)
{
    EvalStatus st;
    l->n = 0;
    l->known = EVL_KNOWN;
    for (size_t i = 0; i < EVAL_MAX_RANK; i++)
        l->steps[i] = 1;
    if ((st = read_list(ctx, use, "starts", 1, l->starts, l)) ||
        (st = read_list(ctx, use, "ends", 2, l->ends, l)) ||
        (st = read_list(ctx, use, "steps", 4, l->steps, l)))
        return st;
    for (size_t i = 0; l->known == EVL_KNOWN && i < l->n; i++)
        if (l->steps[i] == 0)
            return evl_fail(ctx, EVAL_ERR_SHAPE, "step %zu is 0", i);
    return read_axes(ctx, use, rank, l);
}

/* What is taken of each axis of the input, which has a known rank. */
static EvalStatus read_ranges(evl_context *ctx, const evl_use *use, range ranges[EVAL_MAX_RANK])
{
    const evl_shape *in = &use->in[0]->shape;
    bool may_be_any;
    lists l;
    EvalStatus st = read_lists(ctx, use, in->rank, &l);
    if (st)
        return st;
    may_be_any =
        l.axes.known == EVL_UNKNOWN || (l.axes.known == EVL_ABSENT && l.known != EVL_KNOWN);
    for (int32_t d = 0; d < in->rank; d++)
        ranges[d] = (range){ 0, 1, may_be_any ? EVL_UNKNOWN_DIM : in->dim[d] };
    for (size_t i = 0; i < l.axes.n && !may_be_any; i++) {
        int32_t d = l.axes.axis[i];
        if (l.known == EVL_KNOWN)
            ranges[d] = make_range(l.starts[i], l.ends[i], l.steps[i], in->dim[d]);
        else
            ranges[d].n = EVL_UNKNOWN_DIM;
    }
    return EVAL_OK;
}

static EvalStatus infer_slice(evl_infer *x)
{
    range ranges[EVAL_MAX_RANK];
    int32_t rank = x->use.in[0]->shape.rank;
    EvalStatus st;
    x->out[0].type = x->use.in[0]->type;
    if (rank < 0)
        return EVAL_OK;
    if ((st = read_ranges(x->ctx, &x->use, ranges)))
        return st;
    x->out[0].shape = evl_shape_of_rank(rank);
    for (int32_t d = 0; d < rank; d++)
        x->out[0].shape.dim[d] = ranges[d].n;
    return EVAL_OK;
}

static EvalStatus make_slice(evl_context *ctx, const evl_use *use, const evl_tensor *out,
                             evl_move *move)
{
    ptrdiff_t from[EVAL_MAX_RANK], to[EVAL_MAX_RANK];
    size_t size = evl_type_size(out->type);
    range ranges[EVAL_MAX_RANK];
    EvalStatus st = read_ranges(ctx, use, ranges);
    if (st)
        return st;
    const int32_t rank = use->in[0]->shape.rank;
    evl_strided_steps(&use->in[0]->shape, size, from);
    evl_strided_steps(&out->shape, size, to);
    evl_strided_begin(&move->box, size);
    for (int32_t d = 0; d < rank; d++) {
        if (ranges[d].n != out->shape.dim[d])
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "axis %" PRId32 " of the result has size %" PRId64
                            ", the model declares %" PRId64,
                            d, ranges[d].n, out->shape.dim[d]);
        evl_strided_add(&move->box, (size_t)ranges[d].n, (ptrdiff_t)ranges[d].step * from[d],
                        to[d]);
        if (ranges[d].n > 0)
            move->from += (ptrdiff_t)ranges[d].start * from[d];
    }
    evl_strided_ready(&move->box);
    return EVAL_OK;
}

/* A declared shape can be complete while the positions are not known yet. */
static EvalStatus run_unprepared(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    evl_move move = { .from = 0 };
    EvalStatus st = make_slice(call->ctx, &use, call->out[0], &move);
    if (!st)
        evl_move_apply(&move, call->machine, call->in[0], call->out[0]);
    return st;
}

static EvalStatus prepare_slice(evl_prepare *p)
{
    lists l;
    EvalStatus st = read_lists(p->ctx, &p->use, p->use.in[0]->shape.rank, &l);
    if (st)
        return st;
    if (l.known == EVL_KNOWN && l.axes.known != EVL_UNKNOWN)
        return evl_move_prepare(p, make_slice);
    p->run = run_unprepared;
    return EVAL_OK;
}

static const evl_impl slice_impl = { prepare_slice, evl_move_run };

const evl_op evl_op_slice = { .name = "Slice",
                              .min_inputs = 1,
                              .max_inputs = 5,
                              .min_outputs = 1,
                              .max_outputs = 1,
                              .infer = infer_slice,
                              .any = &slice_impl };

const evl_op *const evl_ops_slice[] = { &evl_op_slice, NULL };
