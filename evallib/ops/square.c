/* Det, and Inverse of com.microsoft: their shapes. */
#include "ops/square.h"
#include "ops/operands.h"
#include "ops/ops.h"

static EvalStatus infer_inverse(evl_infer *x)
{
    const evl_shape *in = &x->use.in[0]->shape;
    int64_t columns = evl_infer_dim_of(x, 0, in->rank - 1);
    EvalStatus st = evl_infer_rank(x, 0, 2, EVAL_MAX_RANK);
    if (!st)
        st = evl_infer_dim(x, "the number of columns", evl_infer_dim_of(x, 0, in->rank - 2),
                           &columns);
    return st ? st : evl_infer_same(x);
}

static EvalStatus infer_det(evl_infer *x)
{
    EvalStatus st = infer_inverse(x);
    if (!st && x->out[0].shape.rank >= 2)
        x->out[0].shape.rank -= 2;
    return st;
}

/* A copy of the matrix for each thread. */
EvalStatus evl_square_prepare(evl_prepare *p)
{
    const evl_tensor *x = p->use.in[0];
    evl_square *s = evl_arena_take(p->arena, sizeof *s);
    size_t n;
    if (!s)
        return evl_no_memory(p->ctx);
    s->n = (size_t)x->shape.dim[x->shape.rank - 1];
    s->count = evl_shape_count_part(&x->shape, 0, x->shape.rank - 2);
    p->state = s;
    if (!evl_size_multiply(s->n * s->n * evl_type_size(x->type), evl_pool_threads(p->machine->pool),
                           &n))
        return evl_no_memory(p->ctx);
    p->scratch_bytes = n;
    return EVAL_OK;
}

extern const evl_impl evl_det_f, evl_det_d, evl_inverse_f, evl_inverse_d;

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_det = {
    "Det", NULL, 1, 1, 1, 1, 0, 0, infer_det,
    { &evl_det_f, &evl_det_d }, NULL, NULL, 0
};
static const evl_op op_inverse = {
    "Inverse", "com.microsoft", 1, 1, 1, 1, 0, 0, infer_inverse,
    { &evl_inverse_f, &evl_inverse_d }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_square[] = { &op_det, &op_inverse, NULL };
