/* Unique: the different elements, or slices along an axis, of a tensor. How many there are
** depends on the data, so the shape rule counts them when it can. */
#include "ops/axes.h"
#include "ops/ops.h"
#include "ops/sort.h"
#include <inttypes.h>
#include <string.h>

/* The tensor as [outer, n, inner]: n slices, which are compared element by element. Without
** an axis every element is a slice. */
typedef struct slices {
    const evl_tensor *x;
    size_t outer, n, inner;
    int32_t axis; /* -1: none */
} slices;

/* Each of the arrays has room for n. */
typedef struct groups {
    size_t *order, *other;
    size_t *of;    /* the group of each slice */
    size_t *first; /* of each group: its first slice */
} groups;

static groups divide(size_t *memory, size_t n)
{
    return (groups){ memory, memory + n, memory + 2 * n, memory + 3 * n };
}

static int compare_text(const EvalString *a, const EvalString *b)
{
    size_t n = a->size < b->size ? a->size : b->size;
    int order = n ? memcmp(a->text, b->text, n) : 0;
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

/* NaN goes last, and equals NaN. */
static int compare_numbers(double a, double b)
{
    if (a != a || b != b)
        return (a != a) - (b != b);
    return (a > b) - (a < b);
}

static int compare_elements(const evl_tensor *t, size_t a, size_t b)
{
    if (t->type == EVAL_STRING)
        return compare_text((const EvalString *)t->data + a, (const EvalString *)t->data + b);
    if (evl_type_is_float(t->type))
        return compare_numbers(evl_tensor_f64(t, a), evl_tensor_f64(t, b));
    int64_t x = evl_tensor_i64(t, a), y = evl_tensor_i64(t, b);
    if (t->type == EVAL_UINT64)
        return ((uint64_t)x > (uint64_t)y) - ((uint64_t)x < (uint64_t)y);
    return (x > y) - (x < y);
}

static int compare(const slices *s, size_t a, size_t b)
{
    int order = 0;
    for (size_t i = 0; i < s->outer * s->inner && !order; i++) {
        size_t row = i / s->inner * s->n, column = i % s->inner;
        order =
            compare_elements(s->x, (row + a) * s->inner + column, (row + b) * s->inner + column);
    }
    return order;
}

static bool is_less(const void *arg, size_t a, size_t b)
{
    return compare(arg, a, b) < 0;
}

/* Groups numbered as they are first met instead of by order. */
static void renumber(const slices *s, const groups *g, size_t n)
{
    size_t *number = g->order, next = 0;
    for (size_t i = 0; i < s->n; i++)
        if (g->first[g->of[i]] == i)
            number[g->of[i]] = next++;
    for (size_t i = 0; i < n; i++)
        g->other[number[i]] = g->first[i];
    if (n)
        memcpy(g->first, g->other, n * sizeof *g->first);
    for (size_t i = 0; i < s->n; i++)
        g->of[i] = number[g->of[i]];
}

static size_t group(const slices *s, const groups *g, bool is_sorted)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        g->order[i] = i;
    evl_sort(s->n, g->order, g->other, is_less, s);
    for (size_t i = 0; i < s->n; i++) {
        if (i == 0 || compare(s, g->order[i - 1], g->order[i]) != 0)
            g->first[n++] = g->order[i];
        g->of[g->order[i]] = n - 1;
    }
    if (!is_sorted)
        renumber(s, g, n);
    return n;
}

static EvalStatus axis_of(evl_context *ctx, const evl_use *use, int32_t *axis)
{
    *axis = -1;
    if (!evl_node_attribute(use->node, "axis"))
        return EVAL_OK;
    return evl_axis(ctx, "axis", evl_node_int(use->node, "axis", 0), use->in[0]->shape.rank, axis);
}

/* Of a known shape. */
static slices slices_of(const evl_tensor *x, int32_t axis)
{
    const evl_shape *shape = &x->shape;
    if (axis < 0)
        return (slices){ x, 1, evl_shape_count(shape), 1, axis };
    return (slices){ x, evl_shape_count_part(shape, 0, axis), (size_t)shape->dim[axis],
                     evl_shape_count_part(shape, axis + 1, shape->rank), axis };
}

/* Slices without elements are all equal, and not there to be compared. */
static EvalStatus count(evl_context *ctx, const slices *s, int64_t *n)
{
    size_t bytes;
    if (!evl_size_multiply(s->n, 4 * sizeof(size_t), &bytes))
        return evl_no_memory(ctx);
    size_t *memory = evl_allocate(ctx->memory, bytes + 1);
    if (!memory)
        return evl_no_memory(ctx);
    groups g = divide(memory, s->n);
    *n = (int64_t)group(s, &g, true);
    evl_release(ctx->memory, memory);
    return EVAL_OK;
}

static EvalStatus infer(evl_infer *x)
{
    const evl_tensor *in = x->use.in[0];
    int64_t n = EVL_UNKNOWN_DIM, all = EVL_UNKNOWN_DIM;
    int32_t axis = -1;
    EvalStatus st = EVAL_OK;
    bool is_known = evl_shape_is_known(&in->shape);
    if (in->shape.rank >= 0 && (st = axis_of(x->ctx, &x->use, &axis)))
        return st;
    if (is_known) {
        slices s = slices_of(in, axis);
        all = (int64_t)s.n;
        if (in->data || evl_shape_count(&in->shape) == 0)
            st = count(x->ctx, &s, &n);
    }
    x->out[0].type = in->type;
    if (axis >= 0) {
        x->out[0].shape = in->shape;
        x->out[0].shape.dim[axis] = n;
    } else if (!evl_node_attribute(x->use.node, "axis"))
        x->out[0].shape = evl_shape_of(1, &n);
    for (size_t i = 1; i < x->n_out; i++) {
        x->out[i].type = EVAL_INT64;
        x->out[i].shape = evl_shape_of(1, i == 2 ? &all : &n);
    }
    return st;
}

static EvalStatus prepare(evl_prepare *p)
{
    int32_t axis;
    EvalStatus st = axis_of(p->ctx, &p->use, &axis);
    if (st == EVAL_OK &&
        !evl_size_multiply(slices_of(p->use.in[0], axis).n, 4 * sizeof(size_t), &p->scratch_bytes))
        st = evl_no_memory(p->ctx);
    return st;
}

static void copy_slices(const slices *s, const groups *g, size_t n, char *y)
{
    size_t bytes = s->inner * evl_type_size(s->x->type);
    for (size_t row = 0; row < s->outer && bytes; row++)
        for (size_t i = 0; i < n; i++, y += bytes)
            memcpy(y, (const char *)s->x->data + (row * s->n + g->first[i]) * bytes, bytes);
}

static int64_t *numbers(const evl_call *call, size_t output)
{
    return output < call->n_out && call->out[output] ? call->out[output]->data : NULL;
}

static void write_numbers(const evl_call *call, const slices *s, const groups *g, size_t n)
{
    int64_t *first = numbers(call, 1), *inverse = numbers(call, 2), *counts = numbers(call, 3);
    for (size_t i = 0; first && i < n; i++)
        first[i] = (int64_t)g->first[i];
    for (size_t i = 0; inverse && i < s->n; i++)
        inverse[i] = (int64_t)g->of[i];
    if (counts && n)
        memset(counts, 0, n * sizeof *counts);
    for (size_t i = 0; counts && i < s->n; i++)
        counts[g->of[i]]++;
}

/* How many groups the outputs have room for. */
static size_t room(const evl_call *call, const slices *s)
{
    if (call->out[0])
        return (size_t)call->out[0]->shape.dim[s->axis < 0 ? 0 : s->axis];
    for (size_t i = 1; i < call->n_out; i += 2)
        if (call->out[i])
            return (size_t)call->out[i]->shape.dim[0];
    return SIZE_MAX;
}

static EvalStatus run(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    int32_t axis;
    EvalStatus st = axis_of(call->ctx, &use, &axis);
    if (st)
        return st;
    slices s = slices_of(call->in[0], axis);
    groups g = divide(call->scratch, s.n);
    size_t n = group(&s, &g, evl_node_int(call->node, "sorted", 1) != 0), most = room(call, &s);
    if (most != SIZE_MAX && n != most)
        return evl_fail(call->ctx, EVAL_ERR_SHAPE, "%zu are unique, the model declares %zu", n,
                        most);
    if (call->out[0])
        copy_slices(&s, &g, n, call->out[0]->data);
    write_numbers(call, &s, &g, n);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_unique = {
    "Unique", NULL, 1, 1, 1, 4, 0, 0, infer,
    { NULL, NULL }, NULL, &impl, 0
};
/* clang-format on */

const evl_op *const evl_ops_unique[] = { &op_unique, NULL };
