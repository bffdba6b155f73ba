/* SplitToSequence and ConcatFromSequence: a tensor cut along an axis into a sequence, and a
** sequence joined along one. Rows of a part are runs of bytes in the whole. */
#include "ir/nested.h"
#include "ops/nested.h"
#include "ops/ops.h"
#include <inttypes.h>
#include <string.h>

/* Copies between a part and its place in the whole, which has `outer` rows of `row` bytes;
** of each the part has `bytes`, from `at` on. */
typedef struct strip {
    size_t outer, row, bytes, at;
} strip;

static void copy_strip(const strip *s, const char *from, size_t from_row, char *to, size_t to_row)
{
    for (size_t i = 0; i < s->outer && s->bytes; i++)
        memcpy(to + i * to_row, from + i * from_row, s->bytes);
}

/* Where SplitToSequence cuts. */
typedef struct cuts {
    int32_t axis;
    const evl_tensor *sizes; /* NULL: `each` */
    int64_t each, n;
    bool keeps_axis;
} cuts;

static EvalStatus check_sizes(evl_context *ctx, const cuts *c, int64_t size)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < c->n; i++) {
        int64_t part = evl_tensor_i64(c->sizes, (size_t)i);
        if (part < 0 || part > size - sum)
            return evl_fail(ctx, EVAL_ERR_SHAPE,
                            "part %" PRId64 " has size %" PRId64 ", and %" PRId64 " are left", i,
                            part, size - sum);
        sum += part;
    }
    if (sum == size)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "the parts have %" PRId64 " in all, the axis %" PRId64,
                    sum, size);
}

/* With the shapes known, and the data of the sizes. */
static EvalStatus find_cuts(evl_context *ctx, const evl_use *use, cuts *c)
{
    const evl_tensor *in = use->in[0], *split = evl_use_in(use, 1);
    *c = (cuts){ .each = 1, .keeps_axis = split || evl_node_int(use->node, "keepdims", 1) != 0 };
    EvalStatus st =
        evl_axis(ctx, "axis", evl_node_int(use->node, "axis", 0), in->shape.rank, &c->axis);
    if (st != EVAL_OK)
        return st;
    int64_t size = in->shape.dim[c->axis];
    if (split && split->shape.rank == 1) {
        c->sizes = split;
        c->n = split->shape.dim[0];
        return check_sizes(ctx, c, size);
    }
    if (split)
        c->each = evl_tensor_i64(split, 0);
    if (c->each < 1)
        return evl_fail(ctx, EVAL_ERR_SHAPE, "parts of size %" PRId64, c->each);
    c->n = size / c->each + (size % c->each != 0);
    return EVAL_OK;
}

static int64_t part_size(const cuts *c, int64_t i, int64_t size)
{
    int64_t left = size - i * c->each;
    return c->sizes ? evl_tensor_i64(c->sizes, (size_t)i) : left < c->each ? left : c->each;
}

static EvalStatus infer_split(evl_infer *x)
{
    evl_tensor inside = { .type = x->use.in[0]->type };
    const evl_tensor *split = evl_use_in(&x->use, 1);
    if (evl_type_is_nested(inside.type))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "its input is no tensor");
    if (split && !evl_type_is_integer(split->type))
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "split is of type %s", evl_type_name(split->type));
    if (split && split->shape.rank > 1)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "split is neither a number nor a list of them");
    return evl_infer_around(x, EVAL_SEQUENCE, &inside);
}

static void drop_axis(evl_shape *s, int32_t axis)
{
    s->rank--;
    for (int32_t i = axis; i < s->rank; i++)
        s->dim[i] = s->dim[i + 1];
}

static EvalStatus prepare_split(evl_prepare *p)
{
    const evl_tensor *in = p->use.in[0];
    cuts c;
    EvalStatus st = find_cuts(p->ctx, &p->use, &c);
    if (st != EVAL_OK)
        return st;
    if ((size_t)c.n > p->ctx->limits->max_tensor_bytes / sizeof *in)
        return evl_fail(p->ctx, EVAL_ERR_LIMIT, "%" PRId64 " parts", c.n);
    if (!evl_nested_take(p->arena, (size_t)c.n, &p->nested[0]))
        return evl_no_memory(p->ctx);
    evl_tensor *to = p->nested[0].data;
    for (int64_t i = 0; i < c.n; i++) {
        to[i] = (evl_tensor){ .type = in->type, .shape = in->shape };
        to[i].shape.dim[c.axis] = part_size(&c, i, in->shape.dim[c.axis]);
        if (!c.keeps_axis)
            drop_axis(&to[i].shape, c.axis);
    }
    return EVAL_OK;
}

static EvalStatus run_split(const evl_call *call)
{
    const evl_tensor *in = call->in[0];
    const evl_use use = { call->node, call->in, call->n_in };
    cuts c;
    EvalStatus st = find_cuts(call->ctx, &use, &c);
    if (st != EVAL_OK)
        return st;
    size_t inner = evl_shape_count_part(&in->shape, c.axis + 1, in->shape.rank) *
                   evl_type_size(in->type);
    strip s = { .outer = evl_shape_count_part(&in->shape, 0, c.axis),
                .row = (size_t)in->shape.dim[c.axis] * inner };
    for (int64_t i = 0; i < c.n; i++) {
        s.bytes = (size_t)part_size(&c, i, in->shape.dim[c.axis]) * inner;
        copy_strip(&s, (const char *)in->data + s.at, s.row,
                   evl_nested_at(call->out[0], (size_t)i)->data, s.bytes);
        s.at += s.bytes;
    }
    return EVAL_OK;
}

/* Element i as the result sees it: with a new axis of one, where there is to be one. */
static EvalStatus part_shape(const evl_infer *x, size_t i, evl_shape *s, int32_t *axis)
{
    bool is_new = evl_node_int(x->use.node, "new_axis", 0) != 0;
    int64_t given = evl_node_int(x->use.node, "axis", 0);
    *s = evl_nested_at(x->use.in[0], i)->shape;
    if (is_new && s->rank == EVAL_MAX_RANK)
        return evl_fail(x->ctx, EVAL_ERR_LIMIT, "the result has more than %d axes", EVAL_MAX_RANK);
    EvalStatus st = evl_axis(x->ctx, "axis", given, s->rank + is_new, axis);
    if (st != EVAL_OK || !is_new)
        return st;
    for (int32_t d = s->rank++; d > *axis; d--)
        s->dim[d] = s->dim[d - 1];
    s->dim[*axis] = 1;
    return EVAL_OK;
}

static EvalStatus check_part(const evl_infer *x, size_t i, const evl_shape *part, int32_t axis,
                             const evl_shape *whole)
{
    char a[EVL_SHAPE_TEXT], b[EVL_SHAPE_TEXT];
    evl_shape same = *part;
    if (same.rank == whole->rank)
        same.dim[axis] = whole->dim[axis];
    if (evl_shape_equal(&same, whole) &&
        evl_nested_at(x->use.in[0], i)->type == evl_nested_at(x->use.in[0], 0)->type &&
        part->dim[axis] <= INT64_MAX - whole->dim[axis])
        return EVAL_OK;
    return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                    "element %zu has shape %s, which cannot be joined to %s along axis %d", i,
                    evl_shape_text(part, a), evl_shape_text(whole, b), (int)axis);
}

static EvalStatus infer_concat(evl_infer *x)
{
    const evl_tensor *sequence = x->use.in[0];
    evl_shape whole, part;
    int32_t axis;
    EvalStatus st = evl_infer_sequence(x, 0);
    x->out[0] = evl_nested_inside(sequence, 0);
    if (st != EVAL_OK || !sequence->data)
        return st;
    if (sequence->shape.dim[0] == 0)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "its sequence has no element");
    x->out[0].type = evl_nested_at(sequence, 0)->type;
    st = part_shape(x, 0, &whole, &axis);
    for (size_t i = 1; i < (size_t)sequence->shape.dim[0] && st == EVAL_OK; i++) {
        st = part_shape(x, i, &part, &axis);
        if (st == EVAL_OK)
            st = check_part(x, i, &part, axis, &whole);
        if (st == EVAL_OK)
            whole.dim[axis] += part.dim[axis];
    }
    x->out[0].shape = whole;
    return st;
}

static EvalStatus run_concat(const evl_call *call)
{
    const evl_tensor *out = call->out[0];
    evl_infer again = { .ctx = call->ctx, .use = { call->node, call->in, call->n_in } };
    evl_shape part;
    int32_t axis;
    EvalStatus st = part_shape(&again, 0, &part, &axis);
    if (st != EVAL_OK)
        return st;
    size_t inner = evl_shape_count_part(&out->shape, axis + 1, out->shape.rank) *
                   evl_type_size(out->type);
    strip s = { .outer = evl_shape_count_part(&out->shape, 0, axis),
                .row = (size_t)out->shape.dim[axis] * inner };
    for (size_t i = 0; i < (size_t)call->in[0]->shape.dim[0]; i++) {
        if ((st = part_shape(&again, i, &part, &axis)))
            return st;
        s.bytes = (size_t)part.dim[axis] * inner;
        copy_strip(&s, evl_nested_at(call->in[0], i)->data, s.bytes, (char *)out->data + s.at,
                   s.row);
        s.at += s.bytes;
    }
    return EVAL_OK;
}

static const evl_impl split_impl = { prepare_split, run_split }, concat_impl = { NULL, run_concat };

static const evl_op split = { .name = "SplitToSequence",
                              .min_inputs = 1,
                              .max_inputs = 2,
                              .min_outputs = 1,
                              .max_outputs = 1,
                              .traits = EVL_OP_NESTED,
                              .infer = infer_split,
                              .any = &split_impl };
static const evl_op concat = { .name = "ConcatFromSequence",
                               .min_inputs = 1,
                               .max_inputs = 1,
                               .min_outputs = 1,
                               .max_outputs = 1,
                               .traits = EVL_OP_NESTED,
                               .infer = infer_concat,
                               .any = &concat_impl };

const evl_op *const evl_ops_split_sequence[] = { &split, &concat, NULL };
