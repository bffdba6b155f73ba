/* Concat and Split: the same copies in the two directions, a box for each part. */
#include "ops/axes.h"
#include "ops/move.h"
#include "ops/ops.h"
#include <inttypes.h>

static EvalStatus merge_part(evl_infer *x, size_t i, int32_t axis, evl_shape *out)
{
    const evl_shape *part = &x->use.in[i]->shape;
    char a[EVL_SHAPE_TEXT], b[EVL_SHAPE_TEXT];
    bool fits = part->rank == out->rank;
    for (int32_t d = 0; fits && d < out->rank; d++) {
        if (d == axis) {
            bool is_known = out->dim[d] >= 0 && part->dim[d] >= 0;
            if (is_known && part->dim[d] > INT64_MAX - out->dim[d])
                return evl_fail(x->ctx, EVAL_ERR_LIMIT, "the result is too large");
            out->dim[d] = is_known ? out->dim[d] + part->dim[d] : EVL_UNKNOWN_DIM;
        } else if (out->dim[d] < 0) {
            out->dim[d] = part->dim[d];
        } else {
            fits = part->dim[d] < 0 || part->dim[d] == out->dim[d];
        }
    }
    if (fits)
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                    "input %zu has shape %s, which cannot be joined to %s along axis %" PRId32, i,
                    evl_shape_text(part, a), evl_shape_text(out, b), axis);
}

static EvalStatus check_parts(evl_infer *x)
{
    EvalStatus st;
    for (size_t i = 0; i < x->use.n_in; i++) {
        if ((st = evl_input_check(x->ctx, &x->use, i)))
            return st;
        if (x->use.in[i]->type != x->use.in[0]->type)
            return evl_fail(x->ctx, EVAL_ERR_TYPE, "input %zu is %s, input 0 is %s", i,
                            evl_type_name(x->use.in[i]->type), evl_type_name(x->use.in[0]->type));
    }
    return EVAL_OK;
}

/* The axis could be left out before opset 4. */
static EvalStatus infer_concat(evl_infer *x)
{
    int64_t given = evl_node_int(x->use.node, "axis", 1);
    size_t first = 0;
    evl_shape out;
    int32_t axis;
    EvalStatus st = check_parts(x);
    if (st)
        return st;
    x->out[0].type = x->use.in[0]->type;
    while (first < x->use.n_in && x->use.in[first]->shape.rank < 0)
        first++;
    if (first == x->use.n_in)
        return EVAL_OK;
    out = x->use.in[first]->shape;
    if ((st = evl_axis(x->ctx, "axis", given, out.rank, &axis)))
        return st;
    if (first > 0)
        out.dim[axis] = EVL_UNKNOWN_DIM;
    for (size_t i = first + 1; i < x->use.n_in; i++) {
        if (x->use.in[i]->shape.rank < 0)
            out.dim[axis] = EVL_UNKNOWN_DIM;
        else if ((st = merge_part(x, i, axis, &out)))
            return st;
    }
    x->out[0].shape = out;
    return EVAL_OK;
}

/* The copy of a part that has the elements at .. of the whole along an axis. */
static void make_part(const evl_tensor *part, const evl_tensor *whole, int32_t axis, int64_t at,
                      bool is_split, evl_move *move)
{
    ptrdiff_t small[EVAL_MAX_RANK], large[EVAL_MAX_RANK];
    size_t size = evl_type_size(whole->type);
    evl_strided_steps(&part->shape, size, small);
    evl_strided_steps(&whole->shape, size, large);
    evl_strided_begin(&move->box, size);
    for (int32_t d = 0; d < whole->shape.rank; d++)
        evl_strided_add(&move->box, (size_t)part->shape.dim[d], is_split ? large[d] : small[d],
                        is_split ? small[d] : large[d]);
    evl_strided_ready(&move->box);
    if (move->box.n_units > 0)
        *(is_split ? &move->from : &move->to) = (ptrdiff_t)at * large[axis];
}

static EvalStatus take_moves(evl_prepare *p, size_t n, evl_move **moves)
{
    p->state = *moves = evl_arena_take_many(p->arena, n, sizeof **moves);
    return *moves ? EVAL_OK : evl_no_memory(p->ctx);
}

static EvalStatus prepare_concat(evl_prepare *p)
{
    int64_t given = evl_node_int(p->use.node, "axis", 1), at = 0;
    evl_move *moves;
    int32_t axis;
    EvalStatus st = evl_axis(p->ctx, "axis", given, p->out[0]->shape.rank, &axis);
    if (st || (st = take_moves(p, p->use.n_in, &moves)))
        return st;
    for (size_t i = 0; i < p->use.n_in; i++) {
        make_part(p->use.in[i], p->out[0], axis, at, false, &moves[i]);
        at += p->use.in[i]->shape.dim[axis];
    }
    return EVAL_OK;
}

static EvalStatus run_concat(const evl_call *call)
{
    const evl_move *moves = call->state;
    for (size_t i = 0; i < call->n_in; i++)
        if ((char *)call->in[i]->data != (char *)call->out[0]->data + moves[i].to) /* made there */
            evl_move_apply(&moves[i], call->machine, call->in[i], call->out[0]);
    return EVAL_OK;
}

/* The sizes of the parts, from wherever they come; there may be very many. */
typedef struct sizes {
    evl_known known;
    const int64_t *ints;      /* an attribute; or */
    const evl_tensor *tensor; /* an input */
    size_t n;
} sizes;

static sizes find_sizes(const evl_use *use)
{
    sizes s = { .known = EVL_ABSENT };
    s.ints = evl_node_ints(use->node, "split", &s.n);
    s.tensor = s.ints ? NULL : evl_use_in(use, 1);
    if (s.ints)
        s.known = EVL_KNOWN;
    if (s.tensor) {
        int64_t n = evl_list_length(s.tensor);
        s.known = s.tensor->data && n >= 0 ? EVL_KNOWN : EVL_UNKNOWN;
        s.n = n < 0 ? 0 : (size_t)n;
    }
    return s;
}

/* The size of part i of n when nothing names it: since opset 18 the last may be smaller. */
static EvalStatus equal_part(evl_infer *x, int64_t size, size_t i, int64_t *part)
{
    int64_t n = (int64_t)x->n_out, most = size / n + (size % n != 0), at = most * (int64_t)i;
    if (size % n != 0 && !evl_node_attribute(x->use.node, "num_outputs"))
        return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                        "size %" PRId64 " does not split into %" PRId64 " equal parts", size, n);
    *part = size - at < most ? size - at : most;
    if (*part < 0)
        *part = 0;
    return EVAL_OK;
}

static EvalStatus named_part(evl_infer *x, const sizes *s, size_t i, int64_t *left, int64_t *part)
{
    *part = s->ints ? s->ints[i] : evl_tensor_i64(s->tensor, i);
    if (*part < 0)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "part %zu has the negative size %" PRId64, i,
                        *part);
    if (*left >= 0 && *part > *left)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                        "part %zu needs %" PRId64 " elements, %" PRId64 " are left", i, *part,
                        *left);
    if (*left >= 0)
        *left -= *part;
    return EVAL_OK;
}

static EvalStatus split_sizes(evl_infer *x, const sizes *s, int32_t axis)
{
    int64_t size = x->use.in[0]->shape.dim[axis], left = size;
    EvalStatus st = EVAL_OK;
    if (s->known == EVL_KNOWN && s->n != x->n_out)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "%zu sizes are given for %zu outputs", s->n,
                        x->n_out);
    for (size_t i = 0; i < x->n_out && !st; i++) {
        int64_t *part = &x->out[i].shape.dim[axis];
        if (s->known == EVL_KNOWN)
            st = named_part(x, s, i, &left, part);
        else if (s->known == EVL_ABSENT && size >= 0)
            st = equal_part(x, size, i, part);
    }
    if (!st && s->known == EVL_KNOWN && left > 0)
        st = evl_fail(x->ctx, EVAL_ERR_SHAPE, "the parts leave %" PRId64 " elements over", left);
    return st;
}

static EvalStatus infer_split(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    sizes s = find_sizes(&x->use);
    int64_t wanted = evl_node_int(x->use.node, "num_outputs", (int64_t)x->n_out);
    int32_t axis;
    EvalStatus st;
    if (wanted != (int64_t)x->n_out)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "num_outputs is %" PRId64 ", there are %zu outputs",
                        wanted, x->n_out);
    for (size_t i = 0; i < x->n_out; i++)
        x->out[i].type = x->use.in[0]->type;
    if (in->rank < 0)
        return EVAL_OK;
    if ((st = evl_axis(x->ctx, "axis", evl_node_int(x->use.node, "axis", 0), in->rank, &axis)))
        return st;
    for (size_t i = 0; i < x->n_out; i++) {
        x->out[i].shape = *in;
        x->out[i].shape.dim[axis] = EVL_UNKNOWN_DIM;
    }
    return split_sizes(x, &s, axis);
}

/* The size of an output that nobody wants is not kept, so the parts are inferred again. */
static EvalStatus part_size(const evl_prepare *p, const sizes *s, size_t i, int32_t axis,
                            int64_t *size)
{
    evl_infer again = { .ctx = p->ctx, .use = p->use, .n_out = p->n_out };
    int64_t left = -1;
    if (p->out[i]) {
        *size = p->out[i]->shape.dim[axis];
        return EVAL_OK;
    }
    if (s->known == EVL_KNOWN)
        return named_part(&again, s, i, &left, size);
    return equal_part(&again, p->use.in[0]->shape.dim[axis], i, size);
}

static EvalStatus prepare_split(evl_prepare *p)
{
    int64_t given = evl_node_int(p->use.node, "axis", 0), at = 0, size;
    sizes s = find_sizes(&p->use);
    evl_move *moves;
    int32_t axis;
    EvalStatus st = evl_axis(p->ctx, "axis", given, p->use.in[0]->shape.rank, &axis);
    if (st || (st = take_moves(p, p->n_out, &moves)))
        return st;
    for (size_t i = 0; i < p->n_out; i++) {
        if (p->out[i])
            make_part(p->out[i], p->use.in[0], axis, at, true, &moves[i]);
        if ((st = part_size(p, &s, i, axis, &size)))
            return st;
        at += size;
    }
    return EVAL_OK;
}

static EvalStatus run_split(const evl_call *call)
{
    const evl_move *moves = call->state;
    for (size_t i = 0; i < call->n_out; i++)
        if (call->out[i])
            evl_move_apply(&moves[i], call->machine, call->in[0], call->out[i]);
    return EVAL_OK;
}

static const evl_impl concat_impl = { prepare_concat, run_concat };
static const evl_impl split_impl = { prepare_split, run_split };

const evl_op evl_op_concat = { .name = "Concat",
                               .min_inputs = 1,
                               .max_inputs = EVL_ANY_NUMBER,
                               .min_outputs = 1,
                               .max_outputs = 1,
                               .infer = infer_concat,
                               .any = &concat_impl };
const evl_op evl_op_split = { .name = "Split",
                              .min_inputs = 1,
                              .max_inputs = 2,
                              .min_outputs = 1,
                              .max_outputs = EVL_ANY_NUMBER,
                              .infer = infer_split,
                              .any = &split_impl };

const evl_op *const evl_ops_join[] = { &evl_op_concat, &evl_op_split, NULL };
