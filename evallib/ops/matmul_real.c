/* MatMul, Gemm and Product by tiles. A constant B is packed once; one known only in the run is
** packed by each tile. */
#include "evallib/plugin.h"
#include "kernels/kernels.h"
#include "ops/einsum.h"
#include "ops/matmul.h"
#include "ops/operands.h"
#include "ops/ops.h"

typedef struct plan {
    evl_matmul shape;
    evl_product product; /* all but addresses of the run */
    evl_product_cut cut;
    size_t panels;       /* of one packed matrix of B */
    size_t per_tile;     /* products that one tile of threads takes when they are small */
    size_t scratch;      /* elements of one lane */
    real beta;           /* Gemm: of C */
    const real *scaled;  /* Gemm: beta * C */
    const real *turned;  /* for a plug-in's kernel: constant B in rows; NULL: as it is */
    size_t n_scaled;     /* Gemm: elements of beta * C that the run makes */
    evl_number parameters[3]; /* of the activation */
} plan;

/* --- prepare --- */

typedef struct packing {
    const evl_kernels *k;
    const evl_matmul *shape;
    size_t panels, n_matrices;
} packing;

/* B's matrices lie one after another, whichever of A's they meet. */
static void pack(void *block, const evl_tensor *source, const void *arg)
{
    const packing *p = arg;
    const evl_matmul *s = p->shape;
    const real *b = source->data;
    real *panels = block;
    size_t panel = s->k * p->k->gemm->columns;
    for (size_t i = 0; i < p->n_matrices; i++) {
        evl_gemm_matrix matrix = { b + i * s->k * s->n, s->of[EVL_MATMUL_B].row,
                                   s->of[EVL_MATMUL_B].column };
        p->k->gemm->pack_panels(s->k, s->n, matrix, panel, panels + i * p->panels);
    }
}

static EvalStatus pack_constant(evl_prepare *p, plan *x)
{
    const evl_tensor *b = p->use.in[1];
    const evl_matmul *s = &x->shape;
    packing how = { p->machine->k, s, x->panels, 1 };
    size_t n, bytes;
    if (s->k && s->n)
        how.n_matrices = evl_shape_count(&b->shape) / (s->k * s->n);
    if (!evl_size_multiply(x->panels, how.n_matrices, &n) ||
        !evl_size_multiply(n, sizeof(real), &bytes) || (x->panels == 0 && s->k && s->n))
        return evl_no_memory(p->ctx);
    const char *kind = evl_prepare_kind(p, "gemm panels", s->k, s->n, how.n_matrices);
    if (!kind)
        return evl_no_memory(p->ctx);
    const void *block;
    EvalStatus st = evl_prepare_block(p, 1, kind, s->of[EVL_MATMUL_B].column != 1,
                                      bytes ? bytes : 1, pack, &how, &block);
    if (st == EVAL_OK)
        x->product.panels = block;
    return st;
}

static EvalStatus take_scratch(evl_prepare *p, const plan *x)
{
    size_t lanes, n, bytes;
    if (!evl_size_multiply(x->scratch, evl_pool_threads(p->machine->pool), &lanes) ||
        !evl_size_add(lanes, x->n_scaled, &n) || !evl_size_multiply(n, sizeof(real), &bytes))
        return evl_no_memory(p->ctx);
    p->scratch_bytes = bytes;
    return EVAL_OK;
}

/* So many pieces of work at once that waking a thread is worth it. */
static size_t per_tile(size_t work, size_t pieces)
{
    size_t each = pieces ? work / pieces : 0;
    return each < EVL_PRODUCT_SMALL ? EVL_PRODUCT_SMALL / (each + 1) + 1 : 1;
}

static EvalStatus plan_product(evl_prepare *p, plan *x)
{
    const evl_matmul *s = &x->shape;
    const evl_product_kernels *k = p->machine->k->product;
    const evl_tensor *b = p->use.in[1]; /* matrices in another order are not packed */
    bool in_order = p->use.node->op != &evl_op_einsum && !evl_node_attribute(p->use.node, "perm_b");
    bool is_constant = b->data && (b->shape.rank <= 2 || in_order);
    x->product.m = s->m;
    x->product.n = s->n;
    x->product.k = s->k;
    x->product.c_row = s->of[EVL_MATMUL_Y].row;
    x->cut = k->cut(s->m, s->n, s->k, s->batch, is_constant);
    x->panels = k->panels_size(s->k, s->n);
    x->per_tile = per_tile(x->cut.work, s->batch);
    x->scratch = x->cut.scratch;
    p->state = x;
    p->strategy = is_constant ? "packed" : "packing";
    EvalStatus st = is_constant ? pack_constant(p, x) : EVAL_OK;
    return st == EVAL_OK ? take_scratch(p, x) : st;
}

static void scale(size_t n, real by, const real *x, real *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = by * x[i];
}

static void scale_constant(void *block, const evl_tensor *source, const void *arg)
{
    scale(evl_shape_count(&source->shape), *(const real *)arg, source->data, block);
}

static EvalStatus prepare_addend(evl_prepare *p, plan *x)
{
    const evl_tensor *c = evl_use_in(&p->use, 2);
    if (!c || x->beta == 0)
        return EVAL_OK;
    size_t n = evl_shape_count(&c->shape);
    if (x->beta == 1 || n == 0)
        return EVAL_OK;
    if (!c->data) {
        x->n_scaled = n;
        return EVAL_OK;
    }
    const void *block;
    union {
        evl_number number;
        uint64_t bits;
    } beta = { .number = (evl_number)x->beta };
    EvalStatus st = evl_prepare_block(p, 2, "scaled", beta.bits, n * sizeof(real), scale_constant,
                                      &x->beta, &block);
    if (st == EVAL_OK)
        x->scaled = block;
    return st;
}

static void prepare_activation(const evl_prepare *p, plan *x)
{
    size_t n;
    int64_t kind = evl_node_int(p->use.node, "activation", EVL_N_UNARY);
    const evl_number *parameters = evl_node_numbers(p->use.node, "activation_parameters", &n);
    for (size_t i = 0; i < n && i < 3; i++)
        x->parameters[i] = parameters[i];
    if (kind < EVL_N_UNARY)
        x->product.epilogue.activation =
            evl_activation_of(p->machine->k->loops, (evl_unary_kind)kind, x->parameters);
}

/* --- by a plug-in's kernel --- */

enum { FOREIGN_ROWS = 64 }; /* a tile: of the sizes alone, as everywhere */

static evl_run run_foreign;

/* B's rows are to lie in rows; a constant one can be turned round. */
static bool is_for_foreign(const evl_prepare *p, const plan *x)
{
    const evl_matmul *s = &x->shape;
    const evl_tensor *b = p->use.in[1];
    return p->machine->foreign_gemm && s->k && s->n && s->of[EVL_MATMUL_A].column == 1 &&
           (s->of[EVL_MATMUL_B].column == 1 || (b->data && b->shape.rank <= 2));
}

static void turn(void *block, const evl_tensor *source, const void *arg)
{
    const evl_matmul *s = arg;
    for (size_t i = 0; i < s->k; i++)
        for (size_t j = 0; j < s->n; j++)
            ((real *)block)[i * s->n + j] =
                ((const real *)source->data)[i * s->of[EVL_MATMUL_B].row + j * s->of[EVL_MATMUL_B].column];
}

static EvalStatus prepare_foreign(evl_prepare *p, plan *x)
{
    evl_matmul *s = &x->shape;
    EvalStatus st = EVAL_OK;
    if (s->of[EVL_MATMUL_B].column != 1) {
        const void *block;
        st = evl_prepare_block(p, 1, "rows", s->n, s->k * s->n * sizeof(real), turn, s, &block);
        x->turned = block;
        s->of[EVL_MATMUL_B].row = s->n;
    }
    x->cut = p->machine->k->product->cut(s->m, s->n, s->k, s->batch, true);
    size_t pieces = (s->m + FOREIGN_ROWS - 1) / FOREIGN_ROWS * s->batch;
    x->per_tile = per_tile(x->cut.work, pieces);
    p->state = x;
    p->run = run_foreign;
    p->strategy = p->machine->foreign_gemm->name;
    p->scratch_bytes = x->n_scaled * sizeof(real);
    return st;
}

static EvalStatus prepare(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    bool has_factors = p->use.node->op != &evl_op_matmul && p->use.node->op != &evl_op_einsum;
    if (!x)
        return evl_no_memory(p->ctx);
    x->shape = evl_matmul_of(&p->use);
    x->product.epilogue.alpha =
        has_factors ? (real)evl_node_number(p->use.node, "alpha", 1) : 1;
    x->beta = has_factors ? (real)evl_node_number(p->use.node, "beta", 1) : 1;
    EvalStatus st = prepare_addend(p, x);
    if (p->use.node->op == &evl_op_product)
        prepare_activation(p, x);
    if (st != EVAL_OK)
        return st;
    return is_for_foreign(p, x) ? prepare_foreign(p, x) : plan_product(p, x);
}

/* --- run --- */

typedef struct running {
    const plan *x;
    evl_product product;
    const evl_kernels *k;
    const EvalKernelSet *foreign;
    const real *of[EVL_MATMUL_OPERANDS]; /* NULL: not there */
    real *y, *scratch;
} running;

static evl_gemm_matrix matrix_at(const running *r, size_t which, size_t at)
{
    const evl_matrices *o = &r->x->shape.of[which];
    return (evl_gemm_matrix){ r->of[which] + at, o->row, o->column };
}

static evl_addend addend_at(const running *r, size_t which, size_t at)
{
    const evl_matrices *o = &r->x->shape.of[which];
    return (evl_addend){ r->of[which] ? r->of[which] + at : NULL, o->row, o->column };
}

static void run_tile(const running *r, size_t product, size_t tile, size_t lane)
{
    const plan *x = r->x;
    evl_product p = r->product;
    size_t at[EVL_MATMUL_OPERANDS];
    evl_matmul_at(&x->shape, product, at);
    p.a = matrix_at(r, EVL_MATMUL_A, at[EVL_MATMUL_A]);
    if (!p.panels)
        p.b = matrix_at(r, EVL_MATMUL_B, at[EVL_MATMUL_B]);
    else if (at[EVL_MATMUL_B])
        p.panels += at[EVL_MATMUL_B] / (x->shape.k * x->shape.n) * x->panels;
    p.epilogue.add[0] = addend_at(r, EVL_MATMUL_C, at[EVL_MATMUL_C]);
    p.epilogue.add[1] = addend_at(r, EVL_MATMUL_D, at[EVL_MATMUL_D]);
    p.c = r->y + at[EVL_MATMUL_Y];
    r->k->product->tile(&p, &x->cut, tile, r->scratch ? r->scratch + lane * x->scratch : NULL);
}

/* Large products are cut; small ones are taken several at a time. */
static void work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    size_t each = r->x->cut.n_down * r->x->cut.n_across;
    size_t from = index * r->x->per_tile, to = from + r->x->per_tile;
    for (size_t i = from; i < to && i < each * r->x->shape.batch; i++)
        run_tile(r, i / each, i % each, lane);
}

static void run_all(const evl_call *call, size_t n, evl_tile_work *tile, running *r)
{
    const plan *x = r->x;
    evl_pool *pool = x->cut.work < EVL_PRODUCT_SMALL ? NULL : call->machine->pool;
    evl_parallel_for(pool, n / x->per_tile + (n % x->per_tile != 0), tile, r);
}

static running begin(const evl_call *call)
{
    const plan *x = call->state;
    running r = { .x = x,
                  .product = x->product,
                  .k = call->machine->k,
                  .foreign = call->machine->foreign_gemm,
                  .y = call->out[0]->data,
                  .scratch = call->scratch };
    for (size_t i = 0; i < call->n_in; i++)
        r.of[i] = call->in[i] ? call->in[i]->data : NULL;
    if (x->n_scaled) {
        scale(x->n_scaled, x->beta, r.of[EVL_MATMUL_C], r.scratch);
        r.of[EVL_MATMUL_C] = r.scratch;
        r.scratch += x->n_scaled;
    } else if (x->scaled || x->beta == 0) {
        r.of[EVL_MATMUL_C] = x->scaled;
    }
    return r;
}

static EvalStatus run(const evl_call *call)
{
    running r = begin(call);
    run_all(call, r.x->cut.n_down * r.x->cut.n_across * r.x->shape.batch, work, &r);
    return EVAL_OK;
}

/* What kernels of our own do while sums are in registers. */
static void finish(const running *r, const evl_addend add[2], size_t i, real *y)
{
    const evl_epilogue *e = &r->x->product.epilogue;
    const evl_activation *f = &e->activation;
    size_t n = r->x->shape.n;
    for (size_t j = 0; j < n; j++) {
        real sum = y[j] * e->alpha;
        for (size_t a = 0; a < 2; a++)
            sum += add[a].data ? add[a].data[i * add[a].row + j * add[a].column] : 0;
        if (f->clips)
            sum = sum < f->least ? f->least : sum > f->most ? f->most : sum;
        y[j] = sum;
    }
    if (f->loop)
        f->loop(n, y, y, f->parameters);
}

static void foreign_tile(const running *r, size_t product, size_t row)
{
    const evl_matmul *s = &r->x->shape;
    const evl_matrices *a = &s->of[EVL_MATMUL_A], *b = &s->of[EVL_MATMUL_B];
    size_t at[EVL_MATMUL_OPERANDS], y_row = s->of[EVL_MATMUL_Y].row;
    size_t end = s->m - row < FOREIGN_ROWS ? s->m : row + FOREIGN_ROWS;
    evl_matmul_at(s, product, at);
    const evl_addend add[] = { addend_at(r, EVL_MATMUL_C, at[EVL_MATMUL_C]),
                               addend_at(r, EVL_MATMUL_D, at[EVL_MATMUL_D]) };
    const real *panel = r->x->turned ? r->x->turned : r->of[EVL_MATMUL_B] + at[EVL_MATMUL_B];
    real *y = r->y + at[EVL_MATMUL_Y];
    r->foreign->PUBLIC(Gemm)(end - row, s->n, s->k, r->of[EVL_MATMUL_A] + at[EVL_MATMUL_A] + row * a->row,
                             a->row, panel, b->row, y + row * y_row, y_row);
    for (size_t i = row; i < end; i++)
        finish(r, add, i, y + i * y_row);
}

static void foreign_work(void *arg, size_t index, size_t lane)
{
    const running *r = arg;
    const evl_matmul *s = &r->x->shape;
    size_t each = (s->m + FOREIGN_ROWS - 1) / FOREIGN_ROWS;
    size_t from = index * r->x->per_tile, to = from + r->x->per_tile;
    (void)lane;
    for (size_t i = from; i < to && i < each * s->batch; i++)
        foreign_tile(r, i / each, i % each * FOREIGN_ROWS);
}

static EvalStatus run_foreign(const evl_call *call)
{
    running r = begin(call);
    run_all(call, (r.x->shape.m + FOREIGN_ROWS - 1) / FOREIGN_ROWS * r.x->shape.batch, foreign_work,
            &r);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_matmul);
const evl_impl TWIN(evl_matmul) = { .prepare = prepare, .run = run };
