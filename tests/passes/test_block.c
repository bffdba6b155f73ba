/* Networks of convolutions, rewritten over blocked channels, against the same networks node
** by node. */
#include "ops/blocked.h"
#include "ops/build.h"
#include "ops/ops.h"
#include "passes/passes.h"
#include "support/run_op.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    evl_context *ctx;
    evl_machine machine;
    evl_store *store;
    evl_graph *g, *copy;
    uint64_t seed;
} fixture;

static fixture begin(evl_precision precision, unsigned cpu, evl_accuracy accuracy, size_t threads)
{
    fixture f = { .ctx = evl_test_begin(), .seed = 5 };
    evl_test_machine(&f.machine, precision, cpu);
    f.machine.accuracy = accuracy;
    if (threads > 1)
        assert_int_equal(evl_pool_new(f.ctx, threads, 20, &f.machine.pool), EVAL_OK);
    f.store = evl_store_new(f.ctx->memory);
    f.g = evl_graph_new(evl_arena_new(f.ctx->memory), NULL);
    return f;
}

static void end(fixture *f)
{
    evl_store_free(f->store);
    evl_pool_free(f->machine.pool);
    evl_arena_free(f->g->arena);
    evl_test_end(f->ctx);
}

/* --- networks --- */

static double *numbers(fixture *f, size_t n, double lo, double hi)
{
    double *x = evl_arena_take_many(f->g->arena, n + 1, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = evl_test_random(&f->seed, lo, hi);
    return x;
}

static evl_value *constant(fixture *f, const evl_shape *shape, double lo, double hi)
{
    evl_value *v = evl_graph_constant(f->g, NULL, EVAL_FLOAT64, shape,
                                      numbers(f, evl_shape_count(shape), lo, hi));
    assert_non_null(v);
    return v;
}

static evl_value *vector(fixture *f, int64_t n, double lo, double hi)
{
    evl_shape shape = evl_shape_of(1, &n);
    return constant(f, &shape, lo, hi);
}

static evl_value *input(fixture *f, const evl_shape *shape)
{
    evl_value *v = evl_graph_value(f->g, "x");
    v->t.type = EVAL_FLOAT64;
    v->t.shape = *shape;
    assert_true(evl_graph_add_input(f->g, v));
    return v;
}

static evl_value *node(fixture *f, const evl_op *op, evl_value *const *inputs, size_t n,
                       const evl_attribute *attributes, size_t n_attributes)
{
    evl_node *made = evl_graph_node(f->g, op, op->name, n, 1);
    evl_value *y = evl_graph_value(f->g, NULL);
    for (size_t i = 0; i < n; i++)
        made->inputs[i] = inputs[i];
    evl_node_output(made, 0, y);
    made->version = 22;
    assert_true(evl_node_attributes(made, attributes, n_attributes));
    return y;
}

static evl_value *unary(fixture *f, const evl_op *op, evl_value *x)
{
    return node(f, op, &x, 1, NULL, 0);
}

static evl_value *binary(fixture *f, const evl_op *op, evl_value *a, evl_value *b)
{
    return node(f, op, (evl_value *[]){ a, b }, 2, NULL, 0);
}

static evl_value *batch_normalization(fixture *f, evl_value *x, int64_t channels)
{
    evl_value *in[] = { x, vector(f, channels, 0.5, 2), vector(f, channels, -1, 1),
                        vector(f, channels, -1, 1), vector(f, channels, 0.5, 2) };
    return node(f, &evl_op_batch_normalization, in, 5, NULL, 0);
}

static evl_value *clip(fixture *f, evl_value *x)
{
    evl_shape scalar = evl_shape_scalar();
    evl_value *in[] = { x, constant(f, &scalar, -0.25, -0.25), constant(f, &scalar, 1.5, 1.5) };
    return node(f, &evl_op_clip, in, 3, NULL, 0);
}

/* Where windows lie; n spatial dimensions. */
typedef struct layer {
    size_t n;
    int64_t in, out, group;
    int64_t size[3], kernel[3], stride[3], dilation[3], pads[6];
} layer;

static evl_value *conv(fixture *f, evl_value *x, const layer *l, bool has_bias)
{
    int64_t dims[5] = { l->out, l->in / l->group };
    memcpy(dims + 2, l->kernel, l->n * sizeof *dims);
    evl_shape shape = evl_shape_of(l->n + 2, dims);
    evl_value *in[] = { x, constant(f, &shape, -0.5, 0.5),
                        has_bias ? vector(f, l->out, -1, 1) : NULL };
    evl_attribute attributes[] = { evl_attribute_int("group", l->group),
                                   evl_attribute_ints("strides", l->stride, l->n),
                                   evl_attribute_ints("dilations", l->dilation, l->n),
                                   evl_attribute_ints("pads", l->pads, 2 * l->n) };
    return node(f, &evl_op_conv, in, 3, attributes, 4);
}

static evl_shape shape_of(const layer *l, int64_t batch)
{
    int64_t dims[5] = { batch, l->in };
    memcpy(dims + 2, l->size, l->n * sizeof *dims);
    return evl_shape_of(l->n + 2, dims);
}

/* --- both ways --- */

/* Node by node: values get data as they come. */
static void evaluate(fixture *f, evl_graph *g)
{
    for (size_t i = 0; i < g->n_nodes; i++) {
        evl_node *at = g->nodes[i];
        const evl_tensor *in[8] = { NULL };
        evl_tensor out;
        for (size_t j = 0; j < at->n_inputs; j++)
            in[j] = at->inputs[j] ? &evl_value_final(at->inputs[j])->t : NULL;
        evl_use use = { at, in, at->n_inputs };
        if (evl_infer_use(f->ctx, &use, f->machine.real, &out, 1) != EVAL_OK)
            fail_msg("%s", f->ctx->error.text);
        if (evl_evaluate_use(f->ctx, &f->machine, f->store, g->arena, &use, &out, 1) != EVAL_OK)
            fail_msg("%s", f->ctx->error.text);
        assert_true(evl_shape_equal(&out.shape, &at->outputs[0]->t.shape));
        at->outputs[0]->t = out;
    }
}

static evl_graph *rewrite(fixture *f, evl_value *asked, evl_pass *const *passes, size_t n)
{
    evl_pass_env env = { .machine = &f->machine, .store = f->store };
    evl_selection s = { f->g->inputs, &f->g->inputs[0]->t, 1, &asked, 1 };
    evl_graph *copy;
    assert_int_equal(evl_graph_copy(f->ctx, f->g->arena, f->g, f->machine.real, &s, &copy), EVAL_OK);
    copy->inputs[0]->t.type = f->machine.real;
    for (size_t i = 0; i < n; i++)
        if (passes[i](f->ctx, &env, copy) != EVAL_OK)
            fail_msg("%s", f->ctx->error.text);
    return copy;
}

static const double *run(fixture *f, evl_graph *copy, const double *x)
{
    evl_tensor *in = &copy->inputs[0]->t, *out = &evl_value_final(copy->outputs[0])->t;
    size_t n = evl_shape_count(&in->shape);
    in->data = evl_arena_take_many(copy->arena, n, sizeof(double));
    assert_true(evl_convert(n, EVAL_FLOAT64, x, in->type, in->data));
    evaluate(f, copy);
    double *y = evl_arena_take_many(copy->arena, evl_shape_count(&out->shape), sizeof *y);
    assert_true(evl_convert(evl_shape_count(&out->shape), out->type, out->data, EVAL_FLOAT64, y));
    return y;
}

static evl_pass *const plain[] = { evl_pass_fold, evl_pass_dead };
static evl_pass *const blocked[] = { evl_pass_fold, evl_pass_dead, evl_pass_block };

typedef evl_value *network(fixture *, evl_value *x, const layer *);

static size_t count_of(const evl_graph *g, const evl_op *op)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        n += g->nodes[i]->op == op;
    return n;
}

/* The rewritten network computes the same; every Conv has become blocked. */
static void check(network *build, const layer *l, int64_t batch, evl_precision precision, unsigned cpu,
                  evl_accuracy accuracy, size_t threads)
{
    fixture f = begin(precision, cpu, accuracy, threads);
    evl_shape shape = shape_of(l, batch);
    evl_value *y = build(&f, input(&f, &shape), l);
    assert_int_equal(evl_infer_graph(f.ctx, f.g), EVAL_OK);
    const double *x = numbers(&f, evl_shape_count(&shape), -1, 1);
    evl_graph *a = rewrite(&f, y, plain, 2), *b = rewrite(&f, y, blocked, 3);
    assert_true(count_of(a, &evl_op_conv) > 0);
    assert_int_equal(count_of(b, &evl_op_conv), 0);
    assert_int_equal(count_of(b, &evl_op_batch_normalization), 0);
    const double *expected = run(&f, a, x), *found = run(&f, b, x);
    size_t n = evl_shape_count(&evl_value_final(a->outputs[0])->t.shape);
    double largest = 0, bound = precision == EVL_DOUBLE ? 1e-13 : accuracy == EVL_FAST ? 2e-5 : 5e-6;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(expected[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(found[i] - expected[i]) <= bound * (1 + largest)))
            fail_msg("%zu of %zu: %.9g, expected %.9g", i, n, found[i], expected[i]);
    end(&f);
}

static evl_value *alone(fixture *f, evl_value *x, const layer *l)
{
    return conv(f, x, l, true);
}

/* y and a number a channel, [C, 1 ...], before or behind it. */
static evl_value *a_channel(fixture *f, const evl_op *op, evl_value *y, const layer *l, bool is_first)
{
    evl_shape shape = evl_shape_of(l->n + 1, (int64_t[]){ l->out, 1, 1, 1 });
    evl_value *c = constant(f, &shape, 0.5, 2);
    return is_first ? binary(f, op, c, y) : binary(f, op, y, c);
}

/* Everything that a convolution takes along. */
static evl_value *with_all(fixture *f, evl_value *x, const layer *l)
{
    evl_value *other = conv(f, x, l, true);
    evl_value *y = a_channel(f, &evl_op_add, conv(f, x, l, l->n != 2), l, true);
    y = a_channel(f, &evl_op_mul, batch_normalization(f, y, l->out), l, false);
    return clip(f, binary(f, &evl_op_add, y, unary(f, &evl_op_relu, other)));
}

static const layer layers[] = {
    { 2, 8, 16, 1, { 9, 11 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } },
    { 2, 24, 40, 1, { 14, 13 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } },
    { 2, 20, 19, 1, { 7, 7 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 0, 1, 2, 0 } },
    { 2, 3, 17, 1, { 23, 20 }, { 7, 7 }, { 2, 2 }, { 1, 1 }, { 3, 3, 3, 3 } },
    { 2, 1, 6, 1, { 12, 12 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 } },
    { 2, 33, 9, 1, { 5, 6 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0, 0, 0 } },
    { 2, 16, 8, 1, { 8, 9 }, { 1, 1 }, { 2, 2 }, { 1, 1 }, { 0, 0, 0, 0 } },
    { 2, 64, 32, 1, { 12, 5 }, { 3, 2 }, { 2, 1 }, { 2, 3 }, { 2, 0, 1, 3 } },
    { 2, 32, 32, 2, { 10, 10 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } },
    { 1, 12, 21, 1, { 50 }, { 9 }, { 2 }, { 3 }, { 4, 7 } },
    { 3, 5, 10, 1, { 4, 6, 7 }, { 3, 2, 3 }, { 1, 2, 1 }, { 1, 1, 1 }, { 1, 0, 1, 1, 1, 0 } },
};

static const layer depthwise[] = {
    { 2, 20, 20, 20, { 11, 13 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } },
    { 2, 16, 16, 16, { 11, 12 }, { 5, 5 }, { 2, 2 }, { 1, 1 }, { 2, 2, 2, 2 } },
    { 2, 20, 20, 5, { 11, 13 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } },
    { 2, 12, 24, 6, { 40, 30 }, { 3, 2 }, { 2, 1 }, { 1, 2 }, { 0, 0, 0, 0 } },
    { 2, 20, 40, 20, { 9, 14 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 1, 1, 0, 0 } },
    { 1, 9, 9, 9, { 70 }, { 33 }, { 1 }, { 2 }, { 32, 32 } },
};

enum { N_LAYERS = sizeof layers / sizeof layers[0], N_DEPTHWISE = sizeof depthwise / sizeof depthwise[0] };

static void check_all(unsigned cpu, evl_precision precision)
{
    for (size_t i = 0; i < N_LAYERS; i++) {
        check(alone, &layers[i], 1, precision, cpu, EVL_EXACT, 1);
        check(with_all, &layers[i], 2, precision, cpu, EVL_EXACT, 3);
    }
    for (size_t i = 0; i < N_DEPTHWISE; i++) {
        check(alone, &depthwise[i], 2, precision, cpu, EVL_EXACT, 1);
        check(with_all, &depthwise[i], 1, precision, cpu, EVL_EXACT, 2);
    }
}

static void convolutions_are_what_they_were(void **state)
{
    (void)state;
    check_all(evl_cpu_features(), EVL_FLOAT);
    check_all(evl_cpu_features(), EVL_DOUBLE);
}

/* Also with blocks of half the width, where that is chosen, or not. */
static void other_sets_compute_them_too(void **state)
{
    unsigned have = evl_cpu_features();
    (void)state;
    check_all(have & EVL_CPU_AVX512 ? have | EVL_CPU_HALVES : have, EVL_FLOAT);
    check_all(have & ~EVL_CPU_HALVES, EVL_FLOAT);
    check_all(have & ~EVL_CPU_HALVES, EVL_DOUBLE);
    check_all(0, EVL_FLOAT);
    check_all(0, EVL_DOUBLE);
}

/* Winograd's way, which the accuracy decides, on tiles that are cut by every border. */
static void winograd_is_near_the_sums(void **state)
{
    (void)state;
    for (int64_t size = 1; size < 20; size += 3) {
        layer l = { 2, 32, 40, 1, { size + 6, 20 - size }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } };
        check(with_all, &l, 2, EVL_FLOAT, evl_cpu_features(), EVL_FAST, 2);
        check(with_all, &l, 1, EVL_DOUBLE, evl_cpu_features(), EVL_NORMAL, 1);
    }
}

/* --- what goes on with blocks --- */

static evl_value *pool(fixture *f, const evl_op *op, evl_value *x, int64_t ceil_mode, int64_t counts)
{
    static const int64_t kernel[] = { 3, 2 }, stride[] = { 2, 2 }, pads[] = { 1, 0, 1, 1 };
    evl_attribute attributes[] = { evl_attribute_ints("kernel_shape", kernel, 2),
                                   evl_attribute_ints("strides", stride, 2),
                                   evl_attribute_ints("pads", pads, 4),
                                   evl_attribute_int("ceil_mode", ceil_mode),
                                   evl_attribute_int("count_include_pad", counts) };
    return node(f, op, &x, 1, attributes, op == &evl_op_max_pool ? 4 : 5);
}

static evl_value *with_pools(fixture *f, evl_value *x, const layer *l)
{
    evl_value *y = conv(f, x, l, true);
    evl_value *sum = binary(f, &evl_op_add, pool(f, &evl_op_max_pool, y, 0, 0),
                            pool(f, &evl_op_average_pool, y, 0, 1));
    sum = binary(f, &evl_op_mul, sum, unary(f, &evl_op_global_average_pool, y));
    return binary(f, &evl_op_sub, sum, unary(f, &evl_op_global_max_pool, unary(f, &evl_op_tanh, sum)));
}

static evl_value *with_ceiling(fixture *f, evl_value *x, const layer *l)
{
    evl_value *y = conv(f, x, l, true);
    return binary(f, &evl_op_add, pool(f, &evl_op_max_pool, y, 1, 0),
                  pool(f, &evl_op_average_pool, y, 1, 0));
}

/* Branches of 16 and 24 channels side by side, into a plain operator and a convolution. */
static evl_value *with_branches(fixture *f, evl_value *x, const layer *l)
{
    static layer first, second, last; /* attributes point into them */
    first = second = last = *l;
    first.out = 16;
    second.out = 24;
    last.in = 40;
    evl_attribute axis = evl_attribute_int("axis", 1);
    evl_value *both[] = { unary(f, &evl_op_sigmoid, conv(f, x, &first, true)),
                          clip(f, conv(f, x, &second, false)) };
    evl_value *joined = node(f, &evl_op_concat, both, 2, &axis, 1);
    return binary(f, &evl_op_mul, unary(f, &evl_op_exp, joined), conv(f, joined, &last, true));
}

static void what_lies_between_goes_on_with_blocks(void **state)
{
    (void)state;
    layer l = { 2, 5, 19, 1, { 13, 12 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } };
    layer branches = { 2, 5, 40, 1, { 13, 12 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } };
    for (int precision = EVL_FLOAT; precision <= EVL_DOUBLE; precision++) {
        check(with_pools, &l, 2, (evl_precision)precision, evl_cpu_features(), EVL_EXACT, 2);
        check(with_ceiling, &l, 2, (evl_precision)precision, evl_cpu_features(), EVL_EXACT, 2);
        check(with_branches, &branches, 2, (evl_precision)precision, evl_cpu_features(), EVL_EXACT, 1);
    }
}

/* Three convolutions with what they take along: the second's input needs no Block, and one
** Unblock gives the result. */
static void blocks_are_made_once(void **state)
{
    (void)state;
    fixture f = begin(EVL_FLOAT, evl_cpu_features(), EVL_NORMAL, 1);
    layer l = { 2, 32, 32, 1, { 8, 8 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1, 1, 1 } };
    evl_shape shape = shape_of(&l, 1);
    evl_value *y = conv(&f, with_all(&f, input(&f, &shape), &l), &l, true);
    assert_int_equal(evl_infer_graph(f.ctx, f.g), EVAL_OK);
    evl_graph *copy = rewrite(&f, y, blocked, 3);
    assert_int_equal(count_of(copy, &evl_op_blocked_conv), 3);
    assert_int_equal(count_of(copy, &evl_op_block), 1);
    assert_int_equal(count_of(copy, &evl_op_unblock), 1);
    assert_int_equal(copy->n_nodes, 5);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_are_what_they_were),
        cmocka_unit_test(other_sets_compute_them_too),
        cmocka_unit_test(winograd_is_near_the_sums),
        cmocka_unit_test(what_lies_between_goes_on_with_blocks),
        cmocka_unit_test(blocks_are_made_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
