/* MatMul (numpy's rule) and Gemm. */
#include "ops/matmul.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

/* The matrix of an operand: its last two dimensions; a vector has one. */
static size_t matrix_row(const evl_shape *s)
{
    return s->rank > 1 ? (size_t)s->dim[s->rank - 1] : 1;
}

static void take_batch(evl_matmul *x, const evl_shape *s, size_t *step)
{
    size_t stride = s->rank > 1 ? (size_t)s->dim[s->rank - 1] * (size_t)s->dim[s->rank - 2] : 0;
    for (int32_t i = s->rank - 3, j = x->rank - 1; j >= 0; i--, j--) {
        size_t dim = i >= 0 ? (size_t)s->dim[i] : 1;
        step[j] = dim == 1 ? 0 : stride;
        if (dim != 1)
            x->dim[j] = dim;
        stride *= dim;
    }
}

/* One matrix B for all rows of A: the matrices of A are one with more rows. */
static void join_rows(evl_matmul *x, const evl_shape *a, const evl_shape *b)
{
    if (b->rank > 2 && evl_shape_count_part(b, 0, b->rank - 2) != 1)
        return;
    if (a->rank < 2 || evl_shape_count_part(a, 0, a->rank - 2) != x->batch)
        return;
    x->m *= x->batch;
    x->batch = 1;
    x->rank = 0;
}

evl_matmul evl_matmul_of(const evl_use *use)
{
    const evl_shape *a = &use->in[0]->shape, *b = &use->in[1]->shape;
    evl_matmul x = { .m = 1, .n = 1, .batch = 1, .a_column = 1, .b_column = 1 };
    x.m = a->rank > 1 ? (size_t)a->dim[a->rank - 2] : 1;
    x.k = (size_t)a->dim[a->rank - 1];
    x.n = b->rank > 1 ? (size_t)b->dim[b->rank - 1] : 1;
    x.a_row = matrix_row(a);
    x.b_row = matrix_row(b);
    x.rank = (a->rank > b->rank ? a->rank : b->rank) - 2;
    if (x.rank < 0)
        x.rank = 0;
    for (int32_t i = 0; i < x.rank; i++)
        x.dim[i] = 1;
    take_batch(&x, a, x.a_step);
    take_batch(&x, b, x.b_step);
    for (int32_t i = 0; i < x.rank; i++)
        x.batch *= x.dim[i];
    join_rows(&x, a, b);
    return x;
}

void evl_matmul_at(const evl_matmul *x, size_t index, size_t *a, size_t *b)
{
    *a = *b = 0;
    for (int32_t i = x->rank - 1; i >= 0; i--) {
        *a += index % x->dim[i] * x->a_step[i];
        *b += index % x->dim[i] * x->b_step[i];
        index /= x->dim[i];
    }
}

evl_matmul evl_gemm_of(const evl_use *use)
{
    const int64_t *a = use->in[0]->shape.dim, *b = use->in[1]->shape.dim;
    bool trans_a = evl_node_int(use->node, "transA", 0) != 0;
    bool trans_b = evl_node_int(use->node, "transB", 0) != 0;
    size_t a_dim = (size_t)a[1], b_dim = (size_t)b[1];
    return (evl_matmul){
        .m = (size_t)a[trans_a],
        .k = (size_t)a[!trans_a],
        .n = (size_t)b[!trans_b],
        .batch = 1,
        .a_row = trans_a ? 1 : a_dim,
        .a_column = trans_a ? a_dim : 1,
        .b_row = trans_b ? 1 : b_dim,
        .b_column = trans_b ? b_dim : 1,
    };
}

evl_gemm_addend evl_gemm_addend_of(const evl_tensor *c)
{
    const evl_shape *s = &c->shape;
    size_t n = s->rank > 0 ? (size_t)s->dim[s->rank - 1] : 1;
    size_t m = s->rank > 1 ? (size_t)s->dim[s->rank - 2] : 1;
    return (evl_gemm_addend){ .row = m > 1 ? n : 0, .column = n > 1 };
}

/* The dimensions before the matrix. */
static evl_shape batch_of(const evl_shape *s)
{
    return s->rank > 2 ? evl_shape_of((size_t)s->rank - 2, s->dim) : evl_shape_scalar();
}

static void append(evl_shape *s, int64_t dim)
{
    s->dim[s->rank++] = dim;
}

static EvalStatus refuse_bool(const evl_infer *infer)
{
    if (infer->use.in[0]->type != EVAL_BOOL)
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_TYPE, "input 0 is bool, expected numbers");
}

static EvalStatus infer_matmul(evl_infer *infer)
{
    const evl_shape *a = &infer->use.in[0]->shape, *b = &infer->use.in[1]->shape;
    evl_tensor *out = &infer->out[0];
    EvalStatus st = evl_infer_one_type(infer, 2);
    for (size_t i = 0; i < 2 && st == EVAL_OK; i++)
        st = evl_infer_rank(infer, i, 1, EVAL_MAX_RANK);
    if (st == EVAL_OK)
        st = refuse_bool(infer);
    if (st != EVAL_OK)
        return st;
    out->type = infer->use.in[0]->type;
    if (a->rank == EVL_UNKNOWN_RANK || b->rank == EVL_UNKNOWN_RANK)
        return EVAL_OK;
    int64_t k = b->dim[b->rank > 1 ? b->rank - 2 : 0];
    evl_shape batch_a = batch_of(a), batch_b = batch_of(b);
    st = evl_infer_dim(infer, "rows of the second matrix", a->dim[a->rank - 1], &k);
    if (st == EVAL_OK)
        st = evl_shape_broadcast(infer->ctx, &batch_a, &batch_b, &out->shape);
    if (st != EVAL_OK)
        return st;
    if (a->rank > 1)
        append(&out->shape, a->dim[a->rank - 2]);
    if (b->rank > 1)
        append(&out->shape, b->dim[b->rank - 1]);
    return EVAL_OK;
}

/* C must broadcast to the product, and not the other way round. */
static EvalStatus check_addend(evl_infer *infer, const evl_shape *product)
{
    const evl_tensor *c = evl_use_in(&infer->use, 2);
    evl_shape both;
    char text[EVL_SHAPE_TEXT], wanted[EVL_SHAPE_TEXT];
    if (!c || c->shape.rank == EVL_UNKNOWN_RANK)
        return EVAL_OK;
    EvalStatus st = evl_shape_broadcast(infer->ctx, product, &c->shape, &both);
    if (st != EVAL_OK)
        return st;
    bool grows = c->shape.rank > 2;
    for (int32_t i = 0; i < 2 && !grows; i++)
        grows = product->dim[i] != EVL_UNKNOWN_DIM && both.dim[i] != product->dim[i];
    if (!grows)
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_SHAPE,
                    "C has shape %s, expected one that broadcasts to %s",
                    evl_shape_text(&c->shape, text), evl_shape_text(product, wanted));
}

static EvalStatus infer_gemm(evl_infer *infer)
{
    int32_t trans_a = evl_node_int(infer->use.node, "transA", 0) != 0;
    int32_t trans_b = evl_node_int(infer->use.node, "transB", 0) != 0;
    EvalStatus st = evl_infer_one_type(infer, 3);
    for (size_t i = 0; i < 2 && st == EVAL_OK; i++)
        st = evl_infer_rank(infer, i, 2, 2);
    if (st == EVAL_OK)
        st = refuse_bool(infer);
    int64_t k = evl_infer_dim_of(infer, 1, trans_b);
    if (st == EVAL_OK)
        st = evl_infer_dim(infer, "the common dimension in B", evl_infer_dim_of(infer, 0, !trans_a),
                           &k);
    if (st != EVAL_OK)
        return st;
    const int64_t dims[2] = { evl_infer_dim_of(infer, 0, trans_a),
                              evl_infer_dim_of(infer, 1, !trans_b) };
    infer->out[0].type = infer->use.in[0]->type;
    infer->out[0].shape = evl_shape_of(2, dims);
    return check_addend(infer, &infer->out[0].shape);
}

extern evl_integer_gemm_loop *const evl_integer_gemm_u8,
    *const evl_integer_gemm_i8, *const evl_integer_gemm_u16,
                                    *const evl_integer_gemm_i16,
                                        *const evl_integer_gemm_i32,
                                            *const evl_integer_gemm_i64,
                                                *const evl_integer_gemm_u32,
                                                    *const evl_integer_gemm_u64;

static evl_integer_gemm_loop *loop_of(EvalType type)
{
    switch (type) {
    case EVAL_UINT8: return evl_integer_gemm_u8;
    case EVAL_INT8: return evl_integer_gemm_i8;
    case EVAL_UINT16: return evl_integer_gemm_u16;
    case EVAL_INT16: return evl_integer_gemm_i16;
    case EVAL_INT32: return evl_integer_gemm_i32;
    case EVAL_INT64: return evl_integer_gemm_i64;
    case EVAL_UINT32: return evl_integer_gemm_u32;
    default: return evl_integer_gemm_u64;
    }
}

static EvalStatus run_integer_matmul(const evl_call *call)
{
    evl_use use = { call->node, call->in, call->n_in };
    evl_matmul shape = evl_matmul_of(&use);
    evl_integer_gemm g = { .shape = &shape,
                           .a = call->in[0]->data,
                           .b = call->in[1]->data,
                           .c = call->out[0]->data,
                           .alpha = 1,
                           .beta = 1 };
    loop_of(call->in[0]->type)(&g);
    return EVAL_OK;
}

static EvalStatus run_integer_gemm(const evl_call *call)
{
    evl_use use = { call->node, call->in, call->n_in };
    evl_matmul shape = evl_gemm_of(&use);
    const evl_tensor *add = evl_use_in(&use, 2);
    evl_integer_gemm g = { .shape = &shape,
                           .a = call->in[0]->data,
                           .b = call->in[1]->data,
                           .c = call->out[0]->data,
                           .add = add ? add->data : NULL,
                           .alpha = evl_node_number(call->node, "alpha", 1),
                           .beta = evl_node_number(call->node, "beta", 1) };
    if (add)
        g.addend = evl_gemm_addend_of(add);
    loop_of(call->in[0]->type)(&g);
    return EVAL_OK;
}

static const evl_impl integer_matmul = { .run = run_integer_matmul };
static const evl_impl integer_gemm = { .run = run_integer_gemm };
extern const evl_impl evl_matmul_f, evl_matmul_d, evl_gemm_f, evl_gemm_d;

const evl_op evl_op_matmul = {
    .name = "MatMul",
    .min_inputs = 2,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer_matmul,
    .real = { [EVL_FLOAT] = &evl_matmul_f, [EVL_DOUBLE] = &evl_matmul_d },
    .integer = &integer_matmul,
};

/* Opsets before 7 broadcast C only when asked to; that C broadcasts here always gives
** the same answers to every model that was right. */
const evl_op evl_op_gemm = {
    .name = "Gemm",
    .min_inputs = 2,
    .max_inputs = 3,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer_gemm,
    .real = { [EVL_FLOAT] = &evl_gemm_f, [EVL_DOUBLE] = &evl_gemm_d },
    .integer = &integer_gemm,
};

const evl_op *const evl_ops_matmul[] = { &evl_op_matmul, &evl_op_gemm, NULL };
