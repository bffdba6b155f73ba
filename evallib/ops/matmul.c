/* MatMul (numpy's rule) and Gemm. */
#include "ops/matmul.h"
#include "ops/einsum.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include <string.h>

/* An operand as the product sees it: its dimensions in the order wanted. */
typedef struct view {
    int32_t rank;
    size_t dim[EVAL_MAX_RANK], step[EVAL_MAX_RANK];
} view;

/* perm of n entries; none: as it is. */
typedef struct order {
    const int64_t *perm;
    size_t n;
} order;

static order order_of(const evl_node *node, const char *name, const char *trans)
{
    static const int64_t swapped[] = { 1, 0 };
    order o = { NULL, 0 };
    bool may_swap = node->op == &evl_op_gemm || node->op == &evl_op_qgemm;
    if (may_swap && trans && evl_node_int(node, trans, 0) != 0)
        return (order){ swapped, 2 };
    if (node->op == &evl_op_product)
        o.perm = evl_node_ints(node, name, &o.n);
    return o;
}

static view view_of(const evl_shape *s, order o)
{
    view v = { .rank = s->rank };
    size_t steps[EVAL_MAX_RANK], step = 1;
    for (int32_t i = s->rank - 1; i >= 0; i--) {
        steps[i] = step;
        step *= (size_t)s->dim[i];
    }
    for (int32_t i = 0; i < s->rank; i++) {
        int64_t from = o.perm ? o.perm[i] : i;
        v.dim[i] = (size_t)s->dim[from];
        v.step[i] = steps[from];
    }
    return v;
}

/* The result: rows and columns behind the dimensions that run over matrices, and then in
** the order in which they are stored. */
static view view_of_result(const evl_matmul *x, order o)
{
    view v = { .rank = x->rank + 2 };
    size_t step = 1;
    for (int32_t i = 0; i < x->rank; i++)
        v.dim[i] = x->dim[i];
    v.dim[x->rank] = x->m;
    v.dim[x->rank + 1] = x->n;
    for (int32_t i = v.rank - 1; i >= 0; i--) {
        int64_t which = o.perm ? o.perm[i] : i;
        v.step[which] = step;
        step *= v.dim[which];
    }
    return v;
}

static void take_dims(evl_matmul *x, const view *v)
{
    for (int32_t i = v->rank - 3, j = x->rank - 1; j >= 0 && i >= 0; i--, j--)
        if (v->dim[i] != 1)
            x->dim[j] = v->dim[i];
}

/* A dimension of 1 may meet a longer one: it stands still. */
static void take_steps(const evl_matmul *x, const view *v, evl_matrices *to)
{
    for (int32_t i = v->rank - 3, j = x->rank - 1; j >= 0; i--, j--)
        to->step[j] = i < 0 || v->dim[i] == 1 ? 0 : v->step[i];
    to->row = v->rank > 1 ? v->step[v->rank - 2] : 1;
    to->column = v->rank > 0 ? v->step[v->rank - 1] : 1;
}

static void take_addend(evl_matmul *x, const evl_use *use, size_t which)
{
    const evl_tensor *t = evl_use_in(use, which);
    if (!t)
        return;
    view v = view_of(&t->shape, (order){ NULL, 0 });
    take_steps(x, &v, &x->of[which]);
    if (v.rank < 2 || v.dim[v.rank - 2] == 1)
        x->of[which].row = 0;
    if (v.rank < 1 || v.dim[v.rank - 1] == 1)
        x->of[which].column = 0;
}

/* Whether the rows of an operand's matrices are, one after another, rows of one matrix. */
static bool joins(const evl_matmul *x, const evl_matrices *o, size_t *row)
{
    size_t n = x->m;
    *row = o->row;
    for (int32_t i = x->rank - 1; i >= 0; i--) {
        if (x->dim[i] == 1)
            continue;
        if (n == 1)
            *row = o->step[i];
        else if (o->step[i] != *row * n)
            return false;
        n *= x->dim[i];
    }
    return true;
}

/* One matrix B for all rows of A: the matrices of A are one with more rows. */
static void join_rows(evl_matmul *x)
{
    size_t row[EVL_MATMUL_OPERANDS];
    for (int32_t i = 0; i < x->rank; i++)
        if (x->dim[i] != 1 && x->of[EVL_MATMUL_B].step[i] != 0)
            return;
    for (size_t which = 0; which < EVL_MATMUL_OPERANDS; which++)
        if (which != EVL_MATMUL_B && !joins(x, &x->of[which], &row[which]))
            return;
    for (size_t which = 0; which < EVL_MATMUL_OPERANDS; which++)
        if (which != EVL_MATMUL_B)
            x->of[which].row = row[which];
    x->m *= x->batch;
    x->batch = 1;
    x->rank = 0;
}

static evl_matmul product_of(const evl_use *use)
{
    view a = view_of(&use->in[0]->shape, order_of(use->node, "perm_a", "transA"));
    view b = view_of(&use->in[1]->shape, order_of(use->node, "perm_b", "transB"));
    evl_matmul x = { .m = a.rank > 1 ? a.dim[a.rank - 2] : 1,
                     .n = b.rank > 1 ? b.dim[b.rank - 1] : 1,
                     .k = a.dim[a.rank - 1],
                     .batch = 1,
                     .rank = (a.rank > b.rank ? a.rank : b.rank) - 2 };
    x.rank = x.rank < 0 ? 0 : x.rank;
    for (int32_t i = 0; i < x.rank; i++)
        x.dim[i] = 1;
    take_dims(&x, &a);
    take_dims(&x, &b);
    for (int32_t i = 0; i < x.rank; i++)
        x.batch *= x.dim[i];
    view y = view_of_result(&x, order_of(use->node, "perm_y", NULL));
    take_steps(&x, &a, &x.of[EVL_MATMUL_A]);
    take_steps(&x, &b, &x.of[EVL_MATMUL_B]);
    take_steps(&x, &y, &x.of[EVL_MATMUL_Y]);
    take_addend(&x, use, EVL_MATMUL_C);
    take_addend(&x, use, EVL_MATMUL_D);
    return x;
}

evl_matmul evl_matmul_of(const evl_use *use)
{
    evl_matmul x;
    if (use->node->op != &evl_op_einsum || !evl_einsum_product(use, &x))
        x = product_of(use);
    join_rows(&x);
    return x;
}

void evl_matmul_at(const evl_matmul *x, size_t index, size_t at[EVL_MATMUL_OPERANDS])
{
    for (size_t which = 0; which < EVL_MATMUL_OPERANDS; which++)
        at[which] = 0;
    for (int32_t i = x->rank - 1; i >= 0; i--) {
        for (size_t which = 0; which < EVL_MATMUL_OPERANDS; which++)
            at[which] += index % x->dim[i] * x->of[which].step[i];
        index /= x->dim[i];
    }
}

bool evl_matmul_can_add(const evl_shape *y, const evl_shape *added)
{
    if (!evl_shape_is_known(y) || !evl_shape_is_known(added) || added->rank > y->rank)
        return false;
    for (int32_t i = added->rank - 1, j = y->rank - 1; i >= 0; i--, j--)
        if (added->dim[i] != 1 && added->dim[i] != y->dim[j])
            return false;
    return true;
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

static evl_shape permuted(const evl_shape *s, order o)
{
    evl_shape p = *s;
    for (size_t i = 0; o.perm && s->rank == (int32_t)o.n && i < o.n; i++)
        p.dim[i] = s->dim[o.perm[i]];
    return p;
}

EvalStatus evl_infer_product(evl_infer *infer)
{
    const evl_node *node = infer->use.node;
    evl_tensor *out = &infer->out[0];
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < 2 && st == EVAL_OK; i++)
        st = evl_infer_rank(infer, i, 1, EVAL_MAX_RANK);
    if (st != EVAL_OK)
        return st;
    evl_shape a = permuted(&infer->use.in[0]->shape, order_of(node, "perm_a", NULL));
    evl_shape b = permuted(&infer->use.in[1]->shape, order_of(node, "perm_b", NULL));
    if (a.rank == EVL_UNKNOWN_RANK || b.rank == EVL_UNKNOWN_RANK)
        return EVAL_OK;
    int64_t k = b.dim[b.rank > 1 ? b.rank - 2 : 0];
    evl_shape batch_a = batch_of(&a), batch_b = batch_of(&b);
    st = evl_infer_dim(infer, "rows of the second matrix", a.dim[a.rank - 1], &k);
    if (st == EVAL_OK)
        st = evl_shape_broadcast(infer->ctx, &batch_a, &batch_b, &out->shape);
    if (st != EVAL_OK)
        return st;
    if (a.rank > 1)
        append(&out->shape, a.dim[a.rank - 2]);
    if (b.rank > 1)
        append(&out->shape, b.dim[b.rank - 1]);
    out->shape = permuted(&out->shape, order_of(node, "perm_y", NULL));
    return EVAL_OK;
}

static EvalStatus infer_matmul(evl_infer *infer)
{
    EvalStatus st = evl_infer_one_type(infer, 2);
    if (st == EVAL_OK)
        st = refuse_bool(infer);
    infer->out[0].type = infer->use.in[0]->type;
    return st == EVAL_OK ? evl_infer_product(infer) : st;
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
        grows = product->dim[i] != EVL_UNKNOWN_DIM && both.dim[i] != EVL_UNKNOWN_DIM &&
                both.dim[i] != product->dim[i];
    if (!grows)
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_SHAPE,
                    "C has shape %s, expected one that broadcasts to %s",
                    evl_shape_text(&c->shape, text), evl_shape_text(product, wanted));
}

EvalStatus evl_infer_gemm(evl_infer *infer)
{
    int32_t trans_a = evl_node_int(infer->use.node, "transA", 0) != 0;
    int32_t trans_b = evl_node_int(infer->use.node, "transB", 0) != 0;
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < 2 && st == EVAL_OK; i++)
        st = evl_infer_rank(infer, i, 2, 2);
    int64_t k = evl_infer_dim_of(infer, 1, trans_b);
    if (st == EVAL_OK)
        st = evl_infer_dim(infer, "the common dimension in B", evl_infer_dim_of(infer, 0, !trans_a),
                           &k);
    if (st != EVAL_OK)
        return st;
    const int64_t dims[2] = { evl_infer_dim_of(infer, 0, trans_a),
                              evl_infer_dim_of(infer, 1, !trans_b) };
    infer->out[0].shape = evl_shape_of(2, dims);
    return check_addend(infer, &infer->out[0].shape);
}

static EvalStatus infer_gemm(evl_infer *infer)
{
    EvalStatus st = evl_infer_one_type(infer, 3);
    if (st == EVAL_OK)
        st = refuse_bool(infer);
    infer->out[0].type = infer->use.in[0]->type;
    return st == EVAL_OK ? evl_infer_gemm(infer) : st;
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

static EvalStatus run_integers(const evl_call *call)
{
    evl_use use = { call->node, call->in, call->n_in };
    evl_matmul shape = evl_matmul_of(&use);
    const evl_tensor *add = evl_use_in(&use, EVL_MATMUL_C);
    evl_integer_gemm g = { .shape = &shape,
                           .a = call->in[0]->data,
                           .b = call->in[1]->data,
                           .c = call->out[0]->data,
                           .add = add ? add->data : NULL,
                           .alpha = 1,
                           .beta = 1 };
    if (call->node->op == &evl_op_gemm) {
        g.alpha = evl_node_number(call->node, "alpha", 1);
        g.beta = evl_node_number(call->node, "beta", 1);
    }
    loop_of(call->in[0]->type)(&g);
    return EVAL_OK;
}

static const evl_impl integers = { .run = run_integers };
extern const evl_impl evl_matmul_f, evl_matmul_d;

const evl_op evl_op_matmul = {
    .name = "MatMul",
    .min_inputs = 2,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer_matmul,
    .real = { [EVL_FLOAT] = &evl_matmul_f, [EVL_DOUBLE] = &evl_matmul_d },
    .traits = EVL_OP_PACKS,
    .integer = &integers,
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
    .real = { [EVL_FLOAT] = &evl_matmul_f, [EVL_DOUBLE] = &evl_matmul_d },
    .traits = EVL_OP_PACKS,
    .integer = &integers,
};

/* Only passes make it, so readers do not find it. */
const evl_op evl_op_product = {
    .name = "Product",
    .domain = "evl",
    .min_inputs = 2,
    .max_inputs = 4,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer_matmul,
    .real = { [EVL_FLOAT] = &evl_matmul_f, [EVL_DOUBLE] = &evl_matmul_d },
    .traits = EVL_OP_PACKS,
};

const evl_op *const evl_ops_matmul[] = { &evl_op_matmul, &evl_op_gemm, NULL };
