/* NonZero, Compress, OneHot: positions and elements chosen by values. How many there are
** depends on the data, so the shape rules count it when they can. */
#include "ops/axes.h"
#include "ops/indices.h"
#include "ops/ops.h"
#include "ops/strided.h"
#include <inttypes.h>

static bool is_zero(const evl_tensor *t, size_t i)
{
    static const char zeros[16];
    size_t size = evl_type_size(t->type);
    if (t->type == EVAL_STRING)
        return ((const EvalString *)t->data)[i].size == 0;
    if (evl_type_is_float(t->type)) /* -0 is zero */
        return evl_tensor_f64(t, i) == 0;
    return memcmp((const char *)t->data + i * size, zeros, size) == 0;
}

static int64_t count_non_zero(const evl_tensor *t)
{
    size_t n = evl_shape_count(&t->shape);
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += !is_zero(t, i);
    return count;
}

static bool is_here(const evl_tensor *t)
{
    return evl_shape_is_known(&t->shape) && (t->data || evl_shape_count(&t->shape) == 0);
}

/* A scalar gives shape [0, n]. */
static EvalStatus infer_non_zero(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    x->out[0].type = EVAL_INT64;
    x->out[0].shape = evl_shape_of_rank(2);
    if (in->shape.rank >= 0)
        x->out[0].shape.dim[0] = in->shape.rank;
    if (is_here(in))
        x->out[0].shape.dim[1] = count_non_zero(in);
    return EVAL_OK;
}

static void next_position(const evl_shape *shape, int64_t *at)
{
    for (int32_t d = shape->rank; d-- > 0;) {
        if (++at[d] < shape->dim[d])
            return;
        at[d] = 0;
    }
}

static EvalStatus wrong_count(evl_context *ctx, int64_t found, int64_t declared)
{
    return evl_fail(ctx, EVAL_ERR_SHAPE,
                    "%" PRId64 " elements are chosen, the model declares %" PRId64, found,
                    declared);
}

static EvalStatus run_non_zero(const evl_call *call)
{
    const evl_tensor *in = call->in[0];
    int64_t *out = call->out[0]->data, n = call->out[0]->shape.dim[1], found = count_non_zero(in);
    int64_t at[EVAL_MAX_RANK] = { 0 }, next = 0;
    if (found != n)
        return wrong_count(call->ctx, found, n);
    for (size_t i = 0; next < n; i++) {
        if (!is_zero(in, i)) {
            for (int32_t d = 0; d < in->shape.rank; d++)
                out[d * n + next] = at[d];
            next++;
        }
        next_position(&in->shape, at);
    }
    return EVAL_OK;
}

/* Compress. Without an axis the input counts as flat. */
typedef struct compressed {
    int64_t outer, size, inner; /* EVL_UNKNOWN_DIM: not known */
    int32_t axis;               /* -1: flat */
} compressed;

static EvalStatus read_compressed(evl_context *ctx, const evl_use *use, compressed *c)
{
    const evl_shape *in = &use->in[0]->shape;
    const bool has_axis = evl_node_attribute(use->node, "axis") != NULL;
    EvalStatus st;
    *c = (compressed){ .outer = 1, .inner = 1, .axis = -1 };
    if (!has_axis)
        return evl_dims_product(ctx, in, 0, in->rank, &c->size);
    if ((st = evl_axis(ctx, "axis", evl_node_int(use->node, "axis", 0), in->rank, &c->axis)))
        return st;
    c->size = in->dim[c->axis];
    if ((st = evl_dims_product(ctx, in, 0, c->axis, &c->outer)))
        return st;
    return evl_dims_product(ctx, in, c->axis + 1, in->rank, &c->inner);
}

/* How many of the first `size` elements are chosen; the condition may be shorter. */
static int64_t count_chosen(const evl_tensor *condition, int64_t size)
{
    const uint8_t *is_chosen = condition->data;
    int64_t count = 0, n = evl_list_length(condition);
    for (int64_t i = 0; i < n && i < size; i++)
        count += is_chosen[i] != 0;
    return count;
}

static EvalStatus infer_compress(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0], *condition = x->use.in[1];
    compressed c;
    EvalStatus st;
    if (condition->type != EVAL_BOOL && condition->type != EVAL_UNDEFINED)
        return evl_fail(x->ctx, EVAL_ERR_TYPE, "the condition is %s, it must be bool",
                        evl_type_name(condition->type));
    if (condition->shape.rank >= 0 && condition->shape.rank != 1)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the condition has rank %" PRId32 ", it must be 1",
                        condition->shape.rank);
    x->out[0].type = in->type;
    if (in->shape.rank < 0)
        return EVAL_OK;
    if ((st = read_compressed(x->ctx, &x->use, &c)))
        return st;
    x->out[0].shape = c.axis < 0 ? evl_shape_of_rank(1) : in->shape;
    x->out[0].shape.dim[c.axis < 0 ? 0 : c.axis] =
        c.size >= 0 && is_here(condition) ? count_chosen(condition, c.size) : EVL_UNKNOWN_DIM;
    return EVAL_OK;
}

static EvalStatus run_compress(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    const evl_tensor *in = call->in[0], *condition = call->in[1];
    const uint8_t *is_chosen = condition->data;
    char *to = call->out[0]->data;
    int64_t n, declared;
    size_t bytes;
    compressed c;
    EvalStatus st = read_compressed(call->ctx, &use, &c);
    if (st)
        return st;
    n = count_chosen(condition, c.size);
    declared = call->out[0]->shape.dim[c.axis < 0 ? 0 : c.axis];
    if (n != declared)
        return wrong_count(call->ctx, n, declared);
    bytes = (size_t)c.inner * evl_type_size(in->type);
    n = evl_list_length(condition) < c.size ? evl_list_length(condition) : c.size;
    for (int64_t i = 0; i < c.outer * n && bytes > 0; i++) {
        if (is_chosen[i % n]) {
            evl_move_bytes(to, (const char *)in->data + (size_t)(i / n * c.size + i % n) * bytes,
                           bytes);
            to += bytes;
        }
    }
    return EVAL_OK;
}

/* OneHot: a new axis of the indices, which count from either end of it. */
static EvalStatus check_depth(evl_context *ctx, int64_t depth)
{
    if (depth >= 0)
        return EVAL_OK;
    return evl_fail(ctx, EVAL_ERR_SHAPE, "the depth is %" PRId64, depth);
}

static EvalStatus infer_one_hot(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape, *values = &x->use.in[2]->shape;
    evl_shape *out = &x->out[0].shape;
    int64_t depth = EVL_UNKNOWN_DIM;
    int32_t axis;
    EvalStatus st;
    x->out[0].type = x->use.in[2]->type;
    if (evl_shape_is_known(values) && evl_shape_count(values) != 2)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "values must be two: off and on");
    evl_known known = evl_use_int(&x->use, "depth", 1, &depth);
    if (known == EVL_ABSENT)
        return evl_fail(x->ctx, EVAL_ERR_SHAPE, "the depth has no element, it needs one");
    if (known == EVL_KNOWN && (st = check_depth(x->ctx, depth)))
        return st;
    if (in->rank < 0)
        return EVAL_OK;
    if ((st = evl_rank_check(x->ctx, (size_t)in->rank + 1)) ||
        (st = evl_axis(x->ctx, "axis", evl_node_int(x->use.node, "axis", -1), in->rank + 1, &axis)))
        return st;
    *out = evl_shape_of((size_t)axis, in->dim);
    out->dim[out->rank++] = depth;
    for (int32_t d = axis; d < in->rank; d++)
        out->dim[out->rank++] = in->dim[d];
    return EVAL_OK;
}

static void fill(const evl_call *call, const evl_tensor *out, const void *value)
{
    evl_strided box;
    size_t size = evl_type_size(out->type);
    evl_strided_begin(&box, size);
    evl_strided_add(&box, evl_shape_count(&out->shape), 0, (ptrdiff_t)size);
    evl_strided_ready(&box);
    evl_strided_copy(&box, call->machine->pool, value, out->data);
}

static EvalStatus run_one_hot(const evl_call *call)
{
    const evl_tensor *indices = call->in[0], *out = call->out[0];
    size_t size = evl_type_size(out->type), inner, n = evl_shape_count(&indices->shape);
    const char *values = call->in[2]->data;
    int64_t depth;
    int32_t axis;
    EvalStatus st =
        evl_axis(call->ctx, "axis", evl_node_int(call->node, "axis", -1), out->shape.rank, &axis);
    if (st || evl_shape_count(&out->shape) == 0)
        return st;
    depth = out->shape.dim[axis];
    inner = evl_shape_count_part(&out->shape, axis + 1, out->shape.rank);
    fill(call, out, values);
    for (size_t i = 0; i < n; i++) {
        int64_t index = evl_tensor_i64(indices, i);
        index += index < 0 ? depth : 0;
        if (index >= 0 && index < depth) {
            size_t at = (i / inner * (size_t)depth + (size_t)index) * inner + i % inner;
            evl_move_bytes((char *)out->data + at * size, values + size, size);
        }
    }
    return EVAL_OK;
}

static const evl_impl non_zero_impl = { NULL, run_non_zero };
static const evl_impl compress_impl = { NULL, run_compress };
static const evl_impl one_hot_impl = { NULL, run_one_hot };

const evl_op evl_op_non_zero = { .name = "NonZero",
                                 .min_inputs = 1,
                                 .max_inputs = 1,
                                 .min_outputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_non_zero,
                                 .any = &non_zero_impl };
static const evl_op compress = { .name = "Compress",
                                 .min_inputs = 2,
                                 .max_inputs = 2,
                                 .min_outputs = 1,
                                 .max_outputs = 1,
                                 .infer = infer_compress,
                                 .any = &compress_impl };
const evl_op evl_op_one_hot = { .name = "OneHot",
                                .min_inputs = 3,
                                .max_inputs = 3,
                                .min_outputs = 1,
                                .max_outputs = 1,
                                .type_input = 2,
                                .infer = infer_one_hot,
                                .any = &one_hot_impl };

const evl_op *const evl_ops_select[] = { &evl_op_non_zero, &compress, &evl_op_one_hot, NULL };
