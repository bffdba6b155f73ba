/* MatMul and Gemm by tiles. A constant B is packed once; one known only in the run is
** packed by each tile. */
#include "kernels/kernels.h"
#include "ops/matmul.h"
#include "ops/operands.h"

typedef struct plan {
    evl_matmul shape;
    evl_product product; /* all but addresses of the run */
    evl_product_cut cut;
    size_t panels;      /* of one packed matrix of B */
    size_t per_tile;    /* products that one tile of threads takes when they are small */
    size_t scratch;     /* elements of one lane */
    const real *scaled; /* Gemm: beta * C */
    real beta;
    evl_gemm_addend addend;
    size_t n_scaled; /* Gemm: elements of beta * C that the run makes */
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
        evl_gemm_matrix matrix = { b + i * s->k * s->n, s->b_row, s->b_column };
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
    EvalStatus st =
        evl_prepare_block(p, 1, kind, s->b_column != 1, bytes ? bytes : 1, pack, &how, &block);
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

/* What both have in common, from the shape. */
static EvalStatus plan_product(evl_prepare *p, plan *x)
{
    const evl_matmul *s = &x->shape;
    const evl_product_kernels *k = p->machine->k->product;
    bool is_constant = p->use.in[1]->data != NULL;
    x->product.m = s->m;
    x->product.n = s->n;
    x->product.k = s->k;
    x->product.c_row = s->n;
    x->cut = k->cut(s->m, s->n, s->k, s->batch, is_constant);
    x->panels = k->panels_size(s->k, s->n);
    size_t each = s->batch ? x->cut.work / s->batch : 0;
    x->per_tile = each < EVL_PRODUCT_SMALL ? EVL_PRODUCT_SMALL / (each + 1) + 1 : 1;
    x->scratch = x->cut.scratch;
    p->state = x;
    p->strategy = is_constant ? "packed" : "packing";
    EvalStatus st = is_constant ? pack_constant(p, x) : EVAL_OK;
    return st == EVAL_OK ? take_scratch(p, x) : st;
}

static EvalStatus prepare_matmul(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    x->shape = evl_matmul_of(&p->use);
    x->product.epilogue.alpha = 1;
    return plan_product(p, x);
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
    x->addend = evl_gemm_addend_of(c);
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

static EvalStatus prepare_gemm(evl_prepare *p)
{
    plan *x = evl_arena_take(p->arena, sizeof *x);
    if (!x)
        return evl_no_memory(p->ctx);
    x->shape = evl_gemm_of(&p->use);
    x->product.epilogue.alpha = (real)evl_node_number(p->use.node, "alpha", 1);
    x->beta = (real)evl_node_number(p->use.node, "beta", 1);
    EvalStatus st = prepare_addend(p, x);
    return st == EVAL_OK ? plan_product(p, x) : st;
}

/* --- run --- */

typedef struct running {
    const plan *x;
    evl_product product;
    const evl_kernels *k;
    const real *a, *b;
    real *c, *scratch;
} running;

static void run_tile(const running *r, size_t product, size_t tile, size_t lane)
{
    const plan *x = r->x;
    evl_product p = r->product;
    size_t a, b;
    evl_matmul_at(&x->shape, product, &a, &b);
    p.a = (evl_gemm_matrix){ r->a + a, x->shape.a_row, x->shape.a_column };
    if (p.panels && b)
        p.panels += b / (x->shape.k * x->shape.n) * x->panels;
    else if (!p.panels)
        p.b = (evl_gemm_matrix){ r->b + b, x->shape.b_row, x->shape.b_column };
    p.c = r->c + product * p.m * p.n;
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

static void run_all(const evl_call *call, running *r)
{
    const plan *x = r->x;
    size_t n = x->cut.n_down * x->cut.n_across * x->shape.batch;
    evl_pool *pool = x->cut.work < EVL_PRODUCT_SMALL ? NULL : call->machine->pool;
    evl_parallel_for(pool, n / x->per_tile + (n % x->per_tile != 0), work, r);
}

static running begin(const evl_call *call)
{
    const plan *x = call->state;
    return (running){ .x = x,
                      .product = x->product,
                      .k = call->machine->k,
                      .a = call->in[0]->data,
                      .b = call->in[1]->data,
                      .c = call->out[0]->data,
                      .scratch = call->scratch };
}

static EvalStatus run_matmul(const evl_call *call)
{
    running r = begin(call);
    run_all(call, &r);
    return EVAL_OK;
}

static EvalStatus run_gemm(const evl_call *call)
{
    running r = begin(call);
    const plan *x = r.x;
    const real *add = x->scaled;
    if (x->n_scaled) {
        scale(x->n_scaled, x->beta, call->in[2]->data, r.scratch);
        add = r.scratch;
        r.scratch += x->n_scaled;
    } else if (!add && call->n_in > 2 && call->in[2] && x->beta != 0) {
        add = call->in[2]->data;
    }
    r.product.epilogue.add[0] = (evl_addend){ add, x->addend.row, x->addend.column };
    run_all(call, &r);
    return EVAL_OK;
}

extern const evl_impl TWIN(evl_matmul), TWIN(evl_gemm);
const evl_impl TWIN(evl_matmul) = { .prepare = prepare_matmul, .run = run_matmul };
const evl_impl TWIN(evl_gemm) = { .prepare = prepare_gemm, .run = run_gemm };
