/* TopK: the largest or least elements along an axis, and where they are. */
#include "ops/elementwise.h"
#include "ops/lines.h"
#include "ops/ops.h"
#include <inttypes.h>

static EvalStatus axis_of(evl_context *ctx, const evl_use *use, int32_t *axis)
{
    return evl_axis(ctx, "axis", evl_node_int(use->node, "axis", -1), use->in[0]->shape.rank, axis);
}

/* k is an attribute before opset 10, then an input. */
static EvalStatus infer(evl_infer *x)
{
    evl_shape shape = x->use.in[0]->shape;
    int32_t axis;
    int64_t k;
    x->out[0].type = x->use.in[0]->type;
    x->out[1].type = EVAL_INT64;
    if (shape.rank < 0)
        return EVAL_OK;
    EvalStatus st = axis_of(x->ctx, &x->use, &axis);
    if (st != EVAL_OK)
        return st;
    evl_known known = evl_use_int(&x->use, "k", 1, &k);
    if (known == EVL_ABSENT)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "k is neither an attribute nor an input");
    if (known == EVL_KNOWN && (k < 0 || (shape.dim[axis] >= 0 && k > shape.dim[axis])))
        return evl_fail(x->ctx, EVAL_ERR_SHAPE,
                        "k is %" PRId64 ", axis %d has %" PRId64 " elements", k, (int)axis,
                        shape.dim[axis]);
    shape.dim[axis] = known == EVL_KNOWN ? k : EVL_UNKNOWN_DIM;
    x->out[0].shape = x->out[1].shape = shape;
    return EVAL_OK;
}

typedef struct top_state {
    evl_lines lines;
    evl_top_loop *loop;
    size_t k, size;
    bool least;
} top_state;

typedef struct top_arrays {
    const top_state *s;
    const char *x;
    char *values;
    int64_t *index;
} top_arrays;

static void top_part(void *arg, const evl_lines_part *part)
{
    const top_arrays *a = arg;
    const top_state *s = a->s;
    size_t in_one = s->lines.n * s->lines.inner; /* of x; the results have k for its n */
    size_t at = part->x / in_one * s->k * s->lines.inner + part->x % in_one;
    evl_top how = { s->k, s->least, a->values + at * s->size, a->index + at };
    s->loop(part->at, a->x + part->x * s->size, &how);
}

static EvalStatus run(const evl_call *call)
{
    top_arrays arrays = { call->state, call->in[0]->data, call->out[0]->data, call->out[1]->data };
    if (arrays.s->k)
        evl_lines_for(&arrays.s->lines, call->machine->pool, top_part, &arrays);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    top_state *s = evl_arena_take(p->arena, sizeof *s);
    int32_t axis;
    if (!s)
        return evl_no_memory(p->ctx);
    if (!p->out[0] || !p->out[1])
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "an output is left out, and needed");
    EvalStatus st = axis_of(p->ctx, &p->use, &axis);
    if (st != EVAL_OK)
        return st;
    s->lines = evl_lines_along(&x->shape, axis);
    s->loop = evl_loops_of(p, 0)->top;
    s->k = (size_t)p->out[0]->shape.dim[axis];
    s->size = evl_type_size(x->type);
    s->least = !evl_node_int(p->use.node, "largest", 1);
    p->state = s;
    return s->loop ? EVAL_OK : evl_no_arithmetic(p->ctx, x->type);
}

static const evl_impl impl = { prepare, run };

static const evl_op op_top_k = {
    .name = "TopK",
    .min_inputs = 1,
    .max_inputs = 2,
    .min_outputs = 2,
    .max_outputs = 2,
    .infer = infer,
    .real = { &impl, &impl },
    .integer = &impl,
};

const evl_op *const evl_ops_top[] = { &op_top_k, NULL };
