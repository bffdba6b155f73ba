#include "support/run_op.h"
#include "ir/nested.h"
#include "kernels/loops.h"
#include <string.h>

void evl_test_machine(evl_machine *m, evl_precision precision, unsigned cpu)
{
    static const evl_blas no_blas;
    evl_kernel_choice choice =
        precision == EVL_DOUBLE ? evl_kernels_choose_d(cpu) : evl_kernels_choose_f(cpu);
    *m = (evl_machine){ .precision = precision, .k = choice.k, .lanes = choice.lanes,
                       .narrow_lanes = choice.narrow_lanes, .blas = &no_blas };
    m->real = precision == EVL_DOUBLE ? EVAL_FLOAT64 : EVAL_FLOAT32;
    for (int type = 0; type < EVL_N_TYPES; type++)
        m->loops[type] = evl_loops_integer((EvalType)type);
    m->loops[EVAL_FLOAT32] = evl_kernels_choose_f(cpu).loops;
    m->loops[m->real] = choice.loops;
}

evl_tensor evl_test_tensor(EvalType type, const void *data, size_t rank, const int64_t *dims)
{
    evl_tensor t = { .type = type, .shape = evl_shape_of(rank, dims) };
    memcpy(&t.data, &data, sizeof data);
    return t;
}

evl_tensor evl_test_reals(const double *data, size_t rank, const int64_t *dims)
{
    return evl_test_tensor(EVAL_FLOAT64, data, rank, dims);
}

evl_tensor evl_test_ints(const int64_t *data, size_t rank, const int64_t *dims)
{
    return evl_test_tensor(EVAL_INT64, data, rank, dims);
}

static evl_tensor stored(const evl_op_run *r, const evl_machine *m, const evl_tensor *t);

static evl_tensor stored_elements(const evl_op_run *r, const evl_machine *m, const evl_tensor *t)
{
    evl_tensor s = *t;
    evl_type_make_real(&s, m->real);
    assert_true(evl_nested_take(r->arena, evl_shape_count(&t->shape), &s));
    for (size_t i = 0; i < evl_shape_count(&t->shape); i++)
        ((evl_tensor *)s.data)[i] = stored(r, m, evl_nested_at(t, i));
    return s;
}

/* The same elements in the storage type of the machine. */
static evl_tensor stored(const evl_op_run *r, const evl_machine *m, const evl_tensor *t)
{
    evl_tensor s = *t;
    if (evl_type_is_nested(t->type))
        return stored_elements(r, m, t);
    size_t n = evl_shape_count(&t->shape);
    s.type = evl_type_is_float(t->type) ? m->real : t->type;
    s.life = EVL_LIFE_PLAN;
    s.data = evl_arena_take(r->arena, n * evl_type_size(s.type) + 1);
    assert_non_null(s.data);
    if (t->type == EVAL_STRING)
        memcpy(s.data, t->data, n * sizeof(EvalString));
    else
        assert_true(evl_convert(n, t->type, t->data, s.type, s.data));
    return s;
}

typedef struct running {
    evl_op_run *r;
    evl_machine machine;
    evl_store *store;
    evl_tensor in[16], hidden[16];
    const evl_tensor *in_at[16], *planned_at[16], *out_at[8];
    evl_tensor *run_out_at[8];
    evl_tensor out[8];
    size_t bytes[8]; /* of outputs that are nested */
} running;

static evl_node *make_node(evl_op_run *r, evl_graph **graph)
{
    *graph = evl_graph_new(r->arena, NULL);
    assert_non_null(*graph);
    evl_node *node = evl_graph_node(*graph, r->op, "tested", r->n_in, r->n_out);
    assert_non_null(node);
    assert_true(evl_node_attributes(node, r->attributes, r->n_attributes));
    if (r->version)
        node->version = r->version;
    return node;
}

static void take_inputs(running *x)
{
    for (size_t i = 0; i < x->r->n_in; i++) {
        if (x->r->in[i].type == EVAL_UNDEFINED)
            continue;
        x->in[i] = x->hidden[i] = stored(x->r, &x->machine, &x->r->in[i]);
        x->hidden[i].data = NULL;
        if (evl_type_is_nested(x->in[i].type))
            x->hidden[i].shape.dim[0] = EVL_UNKNOWN_DIM;
        x->in_at[i] = &x->in[i];
        x->planned_at[i] = &x->hidden[i];
    }
}

/* As a plan sees them: how many elements there are shows in the run. */
static bool has_nested(const running *x)
{
    bool has = false;
    for (size_t i = 0; i < x->r->n_in; i++)
        has |= evl_type_is_nested(x->in[i].type);
    for (size_t i = 0; i < x->r->n_out; i++)
        has |= evl_type_is_nested(x->out[i].type);
    return has;
}

static bool is_known(const running *x)
{
    for (size_t i = 0; i < x->r->n_out; i++)
        if (!evl_type_is_nested(x->out[i].type) && !evl_shape_is_known(&x->out[i].shape))
            return false;
    return true;
}

static void take_outputs(running *x)
{
    for (size_t i = 0; i < x->r->n_out; i++) {
        evl_tensor *t = &x->out[i];
        x->out_at[i] = x->run_out_at[i] = t;
        if (evl_type_is_nested(t->type))
            continue;
        size_t bytes = evl_shape_count(&t->shape) * evl_type_size(t->type);
        t->data = evl_arena_take(x->r->arena, bytes + 64);
        assert_non_null(t->data);
        memset(t->data, 0xa5, bytes + 64);
    }
    if (x->r->in_place)
        x->out[0].data = x->in[0].data;
}

/* What prepare said that the elements are, copied as exec/ does. */
static void take_elements(running *x, const evl_tensor *nested)
{
    for (size_t i = 0; i < x->r->n_out; i++) {
        evl_tensor *t = &x->out[i];
        if (!evl_type_is_nested(t->type))
            continue;
        t->shape = nested[i].shape;
        t->data = nested[i].data;
        assert_true(evl_value_bytes(t, &x->bytes[i]));
        char *block = evl_arena_take(x->r->arena, x->bytes[i] + 64);
        assert_non_null(block);
        memset(block, 0xa5, x->bytes[i] + 64);
        evl_value_copy(t, block, t);
    }
}

/* Floating-point values as double. */
static evl_tensor given(evl_arena *arena, const evl_tensor *t)
{
    evl_tensor g = *t;
    size_t n = evl_shape_count(&t->shape);
    evl_type_make_real(&g, EVAL_FLOAT64);
    if (evl_type_is_nested(t->type)) {
        assert_true(evl_nested_take(arena, n, &g));
        for (size_t i = 0; i < n; i++)
            ((evl_tensor *)g.data)[i] = given(arena, evl_nested_at(t, i));
    } else if (evl_type_is_float(t->type)) {
        g.data = evl_arena_take(arena, n * sizeof(double) + 1);
        assert_true(evl_convert(n, t->type, t->data, EVAL_FLOAT64, g.data));
    }
    return g;
}

static void give_outputs(running *x)
{
    for (size_t i = 0; i < x->r->n_out; i++) {
        evl_tensor *t = &x->out[i];
        size_t bytes = evl_type_is_nested(t->type)
                           ? x->bytes[i]
                           : evl_shape_count(&t->shape) * evl_type_size(t->type);
        for (size_t j = 0; j < 64 && !(i == 0 && x->r->in_place); j++) /* nothing written behind */
            assert_int_equal(((unsigned char *)t->data)[bytes + j], 0xa5);
        x->r->out[i] = given(x->r->arena, t);
    }
}

static EvalStatus prepare_and_run(evl_context *ctx, running *x, const evl_use *use)
{
    const evl_impl *impl;
    EvalStatus st = evl_use_impl(ctx, use, x->machine.precision, &impl);
    if (st != EVAL_OK)
        return st;
    evl_tensor nested[8] = { 0 };
    take_outputs(x);
    evl_prepare p = { .ctx = ctx, .use = *use, .out = x->out_at, .n_out = x->r->n_out,
                      .machine = &x->machine, .arena = x->r->arena, .store = x->store,
                      .run = impl->run, .nested = has_nested(x) ? nested : NULL };
    st = impl->prepare ? impl->prepare(&p) : EVAL_OK;
    if (st != EVAL_OK)
        return st;
    take_elements(x, nested);
    size_t before = evl_test_requests(ctx->memory);
    void *scratch = p.scratch_bytes ? evl_arena_take(x->r->arena, p.scratch_bytes) : NULL;
    evl_call call = { .ctx = ctx, .machine = &x->machine, .node = use->node, .state = p.state,
                      .in = x->in_at, .n_in = x->r->n_in, .out = x->run_out_at,
                      .n_out = x->r->n_out, .scratch = scratch, .texts = x->r->arena };
    before = evl_test_requests(ctx->memory);
    st = p.run(&call);
    bool makes_texts = x->out[0].type == EVAL_STRING;
    if (st == EVAL_OK && !makes_texts)
        assert_int_equal(evl_test_requests(ctx->memory), before); /* run allocates nothing */
    return st;
}

EvalStatus evl_run_op(evl_context *ctx, evl_op_run *r, evl_precision precision, unsigned cpu)
{
    running x = { .r = r };
    evl_graph *graph;
    r->n_out = r->n_out ? r->n_out : 1;
    r->arena = evl_arena_new(ctx->memory);
    assert_non_null(r->arena);
    evl_test_machine(&x.machine, precision, cpu);
    if (r->threads)
        assert_int_equal(evl_pool_new(ctx, r->threads, 20, &x.machine.pool), EVAL_OK);
    x.store = evl_store_new(ctx->memory);
    evl_node *node = make_node(r, &graph);
    take_inputs(&x);
    evl_use use = { node, r->hide_data ? x.planned_at : x.in_at, r->n_in };
    EvalStatus st = evl_infer_use(ctx, &use, x.machine.real, x.out, r->n_out);
    if (st == EVAL_OK && (!is_known(&x) || has_nested(&x))) { /* as a plan does: again in the run, with all data */
        use.in = x.in_at;
        st = evl_infer_use(ctx, &use, x.machine.real, x.out, r->n_out);
        assert_true(st != EVAL_OK || is_known(&x));
    }
    if (st == EVAL_OK)
        st = prepare_and_run(ctx, &x, &use);
    if (st == EVAL_OK)
        give_outputs(&x);
    evl_store_free(x.store);
    evl_pool_free(x.machine.pool);
    return st;
}

void evl_run_op_end(evl_op_run *r)
{
    evl_arena_free(r->arena);
    r->arena = NULL;
}
