/* MatMulInteger, QLinearMatMul and com.microsoft's MatMulIntegerToFloat and QGemm: matrices of
** bytes multiplied into 32-bit sums.
**
** Rows of A are widened first, all of them, then tiles of the product go to the threads. B is
** packed once when it is constant, in bytes; a tile widens a part of a panel, its zero point taken
** off, and multiplies the same part of its rows by it. */
#include "ops/matmul.h"
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/quantize.h"
#include "ops/sums.h"
#include <string.h>

enum { MATMUL_INTEGER, QLINEAR_MATMUL, TO_FLOAT, QGEMM, NONE = 255 };

/* Which input is what. */
typedef struct roles {
    uint8_t a, b, a_zero, b_zero, a_scale, b_scale, y_scale, y_zero;
    uint8_t bias, addend; /* real numbers, to a product of that kind; sums */
} roles;

static const roles roles_of[] = {
    [MATMUL_INTEGER] = { 0, 1, 2, 3, NONE, NONE, NONE, NONE, NONE, NONE },
    [QLINEAR_MATMUL] = { 0, 3, 2, 5, 1, 4, 6, 7, NONE, NONE },
    [TO_FLOAT] = { 0, 1, 4, 5, 2, 3, NONE, NONE, 6, NONE },
    [QGEMM] = { 0, 3, 2, 5, 1, 4, 7, 8, NONE, 6 },
};

enum {
    SMALL = 1 << 17,  /* multiplications that are not worth a second thread */
    ROWS = 8,         /* of the kernels' rows and columns in a tile */
    COLUMNS = 8,
    STEPS = 96,       /* pairs of a column that are widened at once */
    PACKED_AT_ONCE = 16
};

static evl_matmul product_of(const evl_use *use, const roles *of)
{
    const evl_tensor *in[] = { use->in[of->a], use->in[of->b], evl_use_in(use, of->addend) };
    evl_use three = { use->node, in, 3 };
    return evl_matmul_of(&three);
}

/* --- shapes --- */

static bool counts_lines(const evl_shape *s, int64_t lines, bool are_rows)
{
    if (s->rank < 2)
        return s->rank == 0 || s->dim[0] == 1 || s->dim[0] == lines;
    int64_t along = s->dim[s->rank - (are_rows ? 2 : 1)], beside = s->dim[s->rank - (are_rows ? 1 : 2)];
    return beside == 1 && (along == lines || along == 1);
}

/* One number, one a row (of A and Y) or column (of B), or those of each matrix. */
static EvalStatus check_parameter(const evl_infer *infer, size_t input, int64_t lines, bool are_rows)
{
    const evl_tensor *t = evl_use_in(&infer->use, input);
    char text[EVL_SHAPE_TEXT];
    if (!t || lines == EVL_UNKNOWN_DIM || !evl_shape_is_known(&t->shape) ||
        evl_shape_count(&t->shape) == 1)
        return EVAL_OK;
    const evl_shape *y = &infer->out[0].shape;
    size_t matrices = evl_shape_is_known(y) && y->rank > 2 ? evl_shape_count_part(y, 0, y->rank - 2) : 1;
    size_t n = evl_shape_count(&t->shape);
    bool fits = counts_lines(&t->shape, lines, are_rows) &&
                (n == (size_t)lines || (t->shape.rank > 2 && n == matrices * (size_t)lines));
    if (fits)
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_SHAPE,
                    "input %zu has shape %s, expected one number or one for each of %lld %s", input,
                    evl_shape_text(&t->shape, text), (long long)lines, are_rows ? "rows" : "columns");
}

static int64_t lines_of(const evl_shape *s, int32_t behind, bool is_transposed)
{
    if (s->rank < 2)
        return s->rank == 1 ? 1 : EVL_UNKNOWN_DIM;
    return s->dim[s->rank - (is_transposed ? 3 - behind : behind)];
}

static EvalStatus check_parameters(const evl_infer *infer, const roles *of)
{
    const evl_node *node = infer->use.node;
    bool is_gemm = node->op == &evl_op_qgemm;
    bool trans_a = is_gemm && evl_node_int(node, "transA", 0) != 0;
    bool trans_b = is_gemm && evl_node_int(node, "transB", 0) != 0;
    int64_t rows = lines_of(&infer->use.in[of->a]->shape, 2, trans_a);
    int64_t columns = lines_of(&infer->use.in[of->b]->shape, 1, trans_b);
    const uint8_t inputs[] = { of->a_zero,  of->a_scale, of->y_scale, of->y_zero,
                               of->b_zero, of->b_scale, of->bias };
    EvalStatus st = EVAL_OK;
    for (size_t i = 0; i < sizeof inputs && st == EVAL_OK; i++)
        st = check_parameter(infer, inputs[i], i < 4 ? rows : columns, i < 4);
    return st;
}

static EvalType result_of(const evl_infer *infer, const roles *of)
{
    const evl_tensor *zero = evl_use_in(&infer->use, of->y_zero);
    if (infer->use.node->op->kind == MATMUL_INTEGER)
        return EVAL_INT32;
    return zero ? zero->type : EVAL_FLOAT32;
}

static EvalStatus check_addend(const evl_infer *infer, const evl_tensor *t)
{
    if (!t || t->type == EVAL_INT32 || t->type == EVAL_UNDEFINED)
        return EVAL_OK;
    return evl_fail(infer->ctx, EVAL_ERR_TYPE, "C is %s, expected int32", evl_type_name(t->type));
}

static EvalStatus infer(evl_infer *infer)
{
    const evl_node *node = infer->use.node;
    const roles *of = &roles_of[node->op->kind];
    const evl_tensor *in[] = { infer->use.in[of->a], infer->use.in[of->b],
                               evl_use_in(&infer->use, of->addend) };
    evl_infer three = *infer;
    three.use = (evl_use){ node, in, 3 };
    EvalStatus st = evl_infer_bytes(infer, of->a);
    if (st == EVAL_OK)
        st = evl_infer_bytes(infer, of->b);
    if (st == EVAL_OK)
        st = evl_infer_bytes(infer, of->y_zero);
    if (st == EVAL_OK)
        st = check_addend(infer, in[2]);
    if (st == EVAL_OK)
        st = node->op->kind == QGEMM ? evl_infer_gemm(&three) : evl_infer_product(&three);
    infer->out[0].type = result_of(infer, of);
    return st == EVAL_OK ? check_parameters(infer, of) : st;
}

/* --- preparing --- */

typedef struct plan {
    evl_matmul shape;
    const roles *of;
    const evl_integer_kernels *k;
    evl_sums sums;
    size_t depth;         /* of packed rows and columns: k, made even */
    size_t tile_rows, tile_columns, n_down, n_across;
    size_t panels, n_b;   /* bytes of one packed B; how many there are */
    const int8_t *packed; /* or NULL */
    size_t *at;           /* where each step of a panel begins */
    size_t rows_at, panels_at, lanes_at, lane; /* bytes of scratch */
} plan;

static evl_bytes_matrix matrix_of(const evl_tensor *t, const evl_matrices *m, size_t at)
{
    return (evl_bytes_matrix){ (const char *)t->data + at, m->row, m->column, t->type == EVAL_INT8 };
}

static void pack_b(const plan *s, const evl_tensor *b, size_t product, int8_t *panels)
{
    size_t at[EVL_MATMUL_OPERANDS];
    evl_matmul_at(&s->shape, product, at);
    s->k->pack_panels(s->shape.k, s->shape.n,
                      matrix_of(b, &s->shape.of[EVL_MATMUL_B], at[EVL_MATMUL_B]), panels);
}

static void pack_all(void *block, const evl_tensor *source, const void *arg)
{
    const plan *s = arg;
    for (size_t i = 0; i < s->n_b; i++)
        pack_b(s, source, i, (int8_t *)block + i * s->panels);
}

static EvalStatus pack_constant(evl_prepare *p, plan *s)
{
    const void *block;
    size_t bytes;
    const char *kind = evl_prepare_kind(p, "matrices of bytes", s->n_b, s->shape.k, s->shape.n);
    if (!kind || !evl_size_multiply(s->n_b, s->panels, &bytes))
        return evl_no_memory(p->ctx);
    EvalStatus st =
        evl_prepare_block(p, s->of->b, kind, 0, bytes ? bytes : 1, pack_all, s, &block);
    if (st == EVAL_OK)
        s->packed = block;
    return st;
}

static void cut(plan *s)
{
    s->tile_rows = ROWS * s->k->rows;
    s->tile_columns = COLUMNS * s->k->columns;
    s->n_down = (s->shape.m + s->tile_rows - 1) / s->tile_rows;
    s->n_across = (s->shape.n + s->tile_columns - 1) / s->tile_columns;
    s->depth = s->shape.k + (s->shape.k & 1);
    s->n_b = s->shape.batch ? 1 : 0;
    for (int32_t i = 0; i < s->shape.rank; i++)
        if (s->shape.dim[i] != 1 && s->shape.of[EVL_MATMUL_B].step[i] != 0)
            s->n_b = s->shape.batch;
}

/* Adds n elements of `size` bytes to the scratch; false: they do not fit. */
static bool reserve(evl_prepare *p, size_t n, size_t size, size_t *at)
{
    size_t bytes;
    *at = (p->scratch_bytes + EVL_ALIGNMENT - 1) / EVL_ALIGNMENT * EVL_ALIGNMENT;
    return evl_size_multiply(n, size, &bytes) && evl_size_add(*at, bytes, &p->scratch_bytes);
}

static EvalStatus take_scratch(evl_prepare *p, plan *s)
{
    size_t rows, n, panels;
    s->lane = (s->tile_rows + 1) * s->tile_columns * sizeof(int32_t) +
              STEPS * s->k->columns * 2 * sizeof(int16_t) +
              s->tile_columns * (sizeof(int16_t) + 3 * sizeof(evl_number));
    bool fits = evl_size_multiply(s->shape.batch, s->shape.m, &rows) &&
                evl_size_multiply(rows, s->depth, &n) &&
                evl_size_multiply(s->n_b, s->packed ? 0 : s->panels, &panels) &&
                reserve(p, n, sizeof(int16_t), &s->rows_at) &&
                reserve(p, panels, 1, &s->panels_at) &&
                reserve(p, evl_pool_threads(p->machine->pool), s->lane, &s->lanes_at);
    return fits ? EVAL_OK : evl_no_memory(p->ctx);
}

static EvalStatus prepare(evl_prepare *p)
{
    plan *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    s->of = &roles_of[p->use.node->op->kind];
    s->shape = product_of(&p->use, s->of);
    s->sums = evl_sums_of(p->machine, &p->use, s->of->a_scale, p->out[0]->type);
    s->k = p->machine->loops[EVAL_FLOAT32]->integers;
    s->at = evl_arena_take_many(p->arena, STEPS, sizeof *s->at);
    if (!s->at)
        return evl_no_memory(p->ctx);
    for (size_t i = 0; i < STEPS; i++)
        s->at[i] = i * s->k->columns;
    cut(s);
    size_t columns = (s->shape.n + s->k->columns - 1) / s->k->columns * s->k->columns;
    p->state = s;
    if (!evl_size_multiply(columns, s->depth, &s->panels))
        return evl_no_memory(p->ctx);
    const evl_tensor *b = p->use.in[s->of->b];
    EvalStatus st = b->data && s->panels ? pack_constant(p, s) : EVAL_OK;
    return st == EVAL_OK ? take_scratch(p, s) : st;
}

/* --- running --- */

typedef struct running {
    const evl_call *call;
    const plan *s;
    evl_use use;
    int16_t *rows;
    int8_t *panels;
    const int8_t *b; /* all panels, of this run or of the plan */
} running;

static const evl_tensor *operand(const running *r, uint8_t role)
{
    return evl_use_in(&r->use, role);
}

static void pack_rows_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *s = r->s;
    size_t in_one = (s->shape.m + PACKED_AT_ONCE - 1) / PACKED_AT_ONCE, product = index / in_one;
    size_t from = index % in_one * PACKED_AT_ONCE, at[EVL_MATMUL_OPERANDS];
    size_t n = s->shape.m - from < PACKED_AT_ONCE ? s->shape.m - from : PACKED_AT_ONCE;
    size_t row = product * s->shape.m + from;
    const evl_matrices *a = &s->shape.of[EVL_MATMUL_A];
    int32_t zero[PACKED_AT_ONCE];
    (void)lane;
    for (size_t i = 0; i < n; i++)
        zero[i] = (int32_t)evl_parameter(operand(r, s->of->a_zero), row + i, 0);
    evl_matmul_at(&s->shape, product, at);
    s->k->pack_rows(n, s->shape.k, matrix_of(operand(r, s->of->a), a, at[EVL_MATMUL_A] + from * a->row),
                    zero, 1, r->rows + row * s->depth);
}

static void pack_b_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    (void)lane;
    pack_b(r->s, operand(r, r->s->of->b), index, r->panels + index * r->s->panels);
}

/* What lies in a lane: sums, what is added to those of each column, scales, zero points of the
** results and of B, and a part of B, widened. */
typedef struct tile {
    size_t product, row, column, m, n;
    int32_t *c, *add;
    void *scale, *zero;
    evl_number *numbers;
    int16_t *b_zero, *b;
} tile;

static void read_columns(const running *r, const tile *t)
{
    const plan *s = r->s;
    const int32_t base = operand(r, s->of->b)->type == EVAL_UINT8 ? 128 : 0;
    const evl_tensor *addend = operand(r, s->of->addend);
    const evl_matrices *c = &s->shape.of[EVL_MATMUL_C];
    bool is_one_row = addend && c->row == 0;
    evl_parameters(operand(r, s->of->b_zero), t->product * s->shape.n + t->column, t->n, 0, t->numbers);
    for (size_t j = 0; j < t->n; j++) {
        t->b_zero[j] = (int16_t)((int32_t)t->numbers[j] - base);
        t->add[j] = is_one_row ? ((const int32_t *)addend->data)[(t->column + j) * c->column] : 0;
    }
}

/* Some of the rows of A, from step `from` on, by a panel of B. */
static void multiply(const running *r, const tile *t, size_t column, size_t from)
{
    const plan *s = r->s;
    size_t left = s->depth / 2 - from;
    const int8_t *b = r->b + (s->n_b > 1 ? t->product * s->panels : 0) + (t->column + column) * s->depth;
    evl_pairs_product g = { .m = t->m,
                            .n = s->k->columns,
                            .steps = left < STEPS ? left : STEPS,
                            .a = r->rows + (t->product * s->shape.m + t->row) * s->depth + 2 * from,
                            .a_row = s->depth,
                            .a_step = 2,
                            .b = t->b,
                            .b_at = s->at,
                            .c = t->c + column,
                            .c_row = s->tile_columns,
                            .adds = from > 0 };
    s->k->widen(g.steps, b + from * 2 * s->k->columns, t->b_zero + column, t->b);
    s->k->product(&g);
}

/* C of Gemm where it is not one row. */
static void add_rows(const running *r, const tile *t)
{
    const evl_matrices *of = &r->s->shape.of[EVL_MATMUL_C];
    const evl_tensor *addend = operand(r, r->s->of->addend);
    const int32_t *add = addend && of->row ? addend->data : NULL;
    for (size_t i = 0; add && i < t->m; i++) {
        uint32_t *c = (uint32_t *)(t->c + i * r->s->tile_columns);
        for (size_t j = 0; j < t->n; j++)
            c[j] += (uint32_t)add[(t->row + i) * of->row + (t->column + j) * of->column];
    }
}

/* The scales of a row, and its zero point beside each. */
static void scales(const running *r, const tile *t, size_t row)
{
    const plan *s = r->s;
    const roles *of = s->of;
    evl_number a = evl_parameter(operand(r, of->a_scale), row, 1) *
                   evl_node_number(r->call->node, "alpha", 1);
    evl_number y = evl_parameter(operand(r, of->y_scale), row, 1);
    evl_number zero = evl_parameter(operand(r, of->y_zero), row, 0);
    evl_parameters(operand(r, of->b_scale), t->product * s->shape.n + t->column, t->n, 1, t->numbers);
    for (size_t j = 0; j < t->n; j++)
        t->numbers[j] = evl_sums_scale(&s->sums, a, t->numbers[j], y);
    (void)evl_convert(t->n, EVAL_FLOAT64, t->numbers, s->sums.real, t->scale);
    for (size_t j = 0; j < t->n; j++)
        t->numbers[j] = zero;
    (void)evl_convert(t->n, EVAL_FLOAT64, t->numbers, s->sums.real, t->zero);
}

static bool is_by_row(const running *r)
{
    const uint8_t rows[] = { r->s->of->a_scale, r->s->of->y_scale, r->s->of->y_zero };
    for (size_t i = 0; i < sizeof rows; i++)
        if (operand(r, rows[i]) && evl_shape_count(&operand(r, rows[i])->shape) > 1)
            return true;
    return false;
}

static void finish(const running *r, const tile *t)
{
    const plan *s = r->s;
    const evl_tensor *y = r->call->out[0], *bias = operand(r, s->of->bias);
    bool has_scales = y->type != EVAL_INT32, by_row = has_scales && is_by_row(r);
    const int32_t *add = operand(r, s->of->addend) || evl_is_byte(y->type) ? t->add : NULL;
    size_t first = t->product * s->shape.m + t->row, size = evl_type_size(y->type);
    for (size_t i = 0; i < t->m; i++) {
        char *to = (char *)y->data + ((first + i) * s->shape.n + t->column) * size;
        if (has_scales && (i == 0 || by_row))
            scales(r, t, first + i);
        evl_sums_finish(&s->sums, t->n, t->c + i * s->tile_columns, add, t->scale, t->zero, 1, to);
        size_t step = bias && evl_shape_count(&bias->shape) > 1;
        if (bias)
            s->sums.loops->binary[EVL_ADD](
                t->n, to, 1, (const char *)bias->data + step * t->column * size, step, to);
    }
}

static void tile_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const plan *s = r->s;
    char *room = (char *)r->call->scratch + s->lanes_at + lane * s->lane;
    size_t each = s->n_down * s->n_across, place = index % each;
    tile t = { .product = index / each,
               .row = place % s->n_down * s->tile_rows, /* those of the same columns follow each other */
               .column = place / s->n_down * s->tile_columns };
    size_t m = s->shape.m - t.row, n = s->shape.n - t.column;
    t.m = m < s->tile_rows ? m : s->tile_rows;
    t.n = n < s->tile_columns ? n : s->tile_columns;
    t.scale = room;
    t.zero = room + s->tile_columns * sizeof(evl_number);
    t.numbers = (void *)(room + 2 * s->tile_columns * sizeof(evl_number));
    t.c = (void *)(t.numbers + s->tile_columns);
    t.add = t.c + s->tile_rows * s->tile_columns;
    t.b_zero = (int16_t *)(t.add + s->tile_columns);
    t.b = t.b_zero + s->tile_columns;
    read_columns(r, &t);
    for (size_t i = 0; i == 0 || i < s->depth / 2; i += STEPS) /* what rows have of it stays in the first cache */
        for (size_t j = 0; j < t.n; j += s->k->columns)
            multiply(r, &t, j, i);
    add_rows(r, &t);
    finish(r, &t);
}

static EvalStatus run(const evl_call *call)
{
    const plan *s = call->state;
    char *scratch = call->scratch;
    running r = { .call = call, .s = s, .use = { call->node, call->in, call->n_in } };
    r.rows = (int16_t *)(scratch + s->rows_at);
    r.panels = (int8_t *)(scratch + s->panels_at);
    r.b = s->packed ? s->packed : r.panels;
    size_t rows = s->shape.batch * s->shape.m, columns = s->shape.n;
    if (rows == 0 || columns == 0)
        return EVAL_OK;
    bool is_small = s->depth == 0 || rows < SMALL / s->depth / columns + 1;
    evl_pool *pool = is_small ? NULL : call->machine->pool;
    if (!s->packed)
        evl_parallel_for(pool, s->n_b, pack_b_work, &r);
    evl_parallel_for(pool, s->shape.batch * ((s->shape.m + PACKED_AT_ONCE - 1) / PACKED_AT_ONCE),
                     pack_rows_work, &r);
    evl_parallel_for(pool, s->shape.batch * s->n_down * s->n_across, tile_work, &r);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_integer = {
    "MatMulInteger", NULL, 2, 4, 1, 1, 0, 0, infer, { NULL, NULL }, &impl, NULL, MATMUL_INTEGER
};
const evl_op evl_op_qlinear_matmul = {
    "QLinearMatMul", NULL, 8, 8, 1, 1, 0, 0, infer, { NULL, NULL }, &impl, NULL, QLINEAR_MATMUL
};
const evl_op evl_op_matmul_integer_to_float = {
    "MatMulIntegerToFloat", "com.microsoft", 4, 7, 1, 1, 0, 0, infer, { NULL, NULL }, &impl, NULL, TO_FLOAT
};
const evl_op evl_op_qgemm = {
    "QGemm", "com.microsoft", 6, 9, 1, 1, 0, 0, infer, { NULL, NULL }, &impl, NULL, QGEMM
};
/* clang-format on */

const evl_op *const evl_ops_matmul_integer[] = { &op_integer, &evl_op_qlinear_matmul,
                                                 &evl_op_matmul_integer_to_float, &evl_op_qgemm, NULL };
