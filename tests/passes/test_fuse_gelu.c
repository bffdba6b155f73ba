/* Which ways to write Gelu are found, and what only looks like one. */
#include "ops/build.h"
#include "passes/passes.h"
#include "support/run_op.h"
#include <math.h>

enum { HALF_LAST, HALF_OF_X, HALF_OF_BELL, HALVES };

/* x / 2 * (1 + erf(x / root)), written down in one of its ways. */
typedef struct writing {
    int half;
    unsigned turned; /* bit i: the operands of the i-th commuting operator change places */
    bool multiplies; /* by the inverse of the root */
    double root, one, parts; /* parts: 2, of which one is taken */
    int rank;        /* of the constant that halves */
    const evl_op *bell;
} writing;

static const writing usual = { .root = 1.41421356237309504880, .one = 1, .parts = 2,
                               .bell = &evl_op_erf };

typedef struct fixture {
    evl_context *ctx;
    evl_machine machine;
    evl_builder b;
    evl_value *x, *other;
} fixture;

static void begin(fixture *f, evl_precision precision)
{
    *f = (fixture){ .ctx = evl_test_begin() };
    evl_test_machine(&f->machine, precision, 0);
    f->b = (evl_builder){ f->ctx, evl_graph_new(evl_arena_new(f->ctx->memory), NULL), EVAL_OK };
    f->x = evl_graph_value(f->b.graph, "x");
    f->other = evl_graph_value(f->b.graph, "other");
    f->x->t.type = f->other->t.type = f->machine.real;
    f->x->t.shape = f->other->t.shape = evl_shape_of(2, (int64_t[]){ 3, 4 });
}

static void end(fixture *f)
{
    evl_arena_free(f->b.graph->arena);
    evl_test_end(f->ctx);
}

static evl_value *two(const fixture *f, evl_builder *b, const evl_op *op, evl_value *x,
                      evl_value *y, bool is_turned)
{
    evl_value *z = is_turned ? evl_build_2(b, op, NULL, y, x) : evl_build_2(b, op, NULL, x, y);
    if (!z)
        fail_msg("%s", f->ctx->error.text);
    return z;
}

static evl_value *number(const fixture *f, evl_builder *b, double x)
{
    return evl_build_number(b, f->machine.real, x);
}

static evl_value *half(const fixture *f, evl_builder *b, const writing *w, evl_value *x,
                       unsigned bit)
{
    evl_value *c = number(f, b, 1 / w->parts);
    c->t.shape = evl_shape_of((size_t)w->rank, (int64_t[]){ 1, 1, 1 });
    return two(f, b, &evl_op_mul, x, c, w->turned & bit);
}

static evl_value *written(const fixture *f, evl_builder *b, const writing *w, evl_value *x)
{
    evl_value *y = w->multiplies
                       ? two(f, b, &evl_op_mul, f->x, number(f, b, 1 / w->root), w->turned & 1)
                       : two(f, b, &evl_op_div, f->x, number(f, b, w->root), false);
    y = evl_build_1(b, w->bell, NULL, y);
    y = two(f, b, &evl_op_add, y, number(f, b, w->one), w->turned & 2);
    if (w->half == HALF_OF_X)
        x = half(f, b, w, x, 4);
    if (w->half == HALF_OF_BELL)
        y = half(f, b, w, y, 4);
    y = two(f, b, &evl_op_mul, x, y, w->turned & 8);
    return w->half == HALF_LAST ? half(f, b, w, y, 4) : y;
}

static bool is_fused(fixture *f, const evl_value *y)
{
    evl_pass_env env = { .machine = &f->machine };
    assert_int_equal(evl_pass_fuse_gelu(f->ctx, &env, f->b.graph), EVAL_OK);
    const evl_node *node = y->producer;
    if (node->op != evl_op_find(NULL, "Gelu"))
        return false;
    assert_int_equal(node->n_inputs, 1);
    assert_ptr_equal(node->inputs[0], f->x);
    assert_int_equal(node->n_attributes, 0);
    assert_int_equal(node->version, EVL_NEWEST);
    return true;
}

static bool found(evl_precision precision, const writing *w, bool multiplies_x)
{
    fixture f;
    begin(&f, precision);
    bool result = is_fused(&f, written(&f, &f.b, w, multiplies_x ? f.x : f.other));
    end(&f);
    return result;
}

static void every_order_of_the_factors_is_found(void **state)
{
    (void)state;
    writing w = usual;
    for (w.half = 0; w.half < HALVES; w.half++)
        for (int inverse = 0; inverse < 2; inverse++)
            for (w.turned = 0; w.turned < 16; w.turned++) {
                w.multiplies = inverse;
                if (!found(EVL_FLOAT, &w, true) || !found(EVL_DOUBLE, &w, true))
                    fail_msg("half %d, inverse %d, turned %u", w.half, inverse, w.turned);
            }
}

static void what_only_looks_like_it_is_left(void **state)
{
    (void)state;
    for (int h = 0; h < HALVES; h++) {
        writing good = usual;
        good.half = h;
        writing other = good, root = good, one = good, parts = good;
        other.bell = &evl_op_tanh;
        root.root = 1.4143;
        one.one = 1.0001;
        parts.parts = 2.001;
        assert_true(found(EVL_FLOAT, &good, true));
        assert_false(found(EVL_FLOAT, &good, false)); /* of another than the bell's */
        assert_false(found(EVL_FLOAT, &other, true));
        assert_false(found(EVL_FLOAT, &root, true));
        assert_false(found(EVL_FLOAT, &one, true));
        assert_false(found(EVL_FLOAT, &parts, true));
    }
}

/* A root that float32 rounded is good enough for float, and not for double. */
static void constants_are_as_near_as_the_precision(void **state)
{
    (void)state;
    writing w = usual;
    w.root = (double)1.4142135f;
    for (int inverse = 0; inverse < 2; inverse++) {
        w.multiplies = inverse;
        assert_true(found(EVL_FLOAT, &w, true));
        assert_false(found(EVL_DOUBLE, &w, true));
    }
}

/* A half of rank 3 makes the result of rank 3, which Gelu of x has not. */
static void the_shape_stays(void **state)
{
    (void)state;
    writing w = usual;
    for (w.rank = 0; w.rank <= 3; w.rank++)
        assert_int_equal(found(EVL_FLOAT, &w, true), w.rank <= 2);
}

static void a_root_over_x_is_no_bell(void **state)
{
    (void)state;
    fixture f;
    begin(&f, EVL_FLOAT);
    evl_builder *b = &f.b;
    evl_value *y = two(&f, b, &evl_op_div, number(&f, b, sqrt(2)), f.x, false);
    y = evl_build_1(b, &evl_op_erf, NULL, y);
    y = two(&f, b, &evl_op_add, y, number(&f, b, 1), false);
    y = two(&f, b, &evl_op_mul, y, f.x, false);
    y = two(&f, b, &evl_op_mul, y, number(&f, b, 0.5), false);
    assert_false(is_fused(&f, y));
    end(&f);
}

static void bodies_are_looked_into(void **state)
{
    (void)state;
    fixture f;
    begin(&f, EVL_FLOAT);
    evl_graph *g = f.b.graph, *yes = evl_graph_new(g->arena, g), *no = evl_graph_new(g->arena, g);
    evl_builder inside = { f.ctx, no, EVAL_OK };
    assert_true(evl_graph_add_output(yes, f.x));
    evl_value *y = written(&f, &inside, &usual, f.x);
    assert_true(evl_graph_add_output(no, y));
    evl_attribute bodies[] = { evl_attribute_graph("then_branch", yes),
                               evl_attribute_graph("else_branch", no) };
    evl_value *condition = evl_graph_value(g, "condition");
    condition->t.type = EVAL_BOOL;
    condition->t.shape = evl_shape_scalar();
    assert_non_null(evl_build(&f.b, &evl_op_if, NULL, &condition, 1, bodies, 2));
    assert_true(is_fused(&f, y));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_the_factors_is_found),
        cmocka_unit_test(what_only_looks_like_it_is_left),
        cmocka_unit_test(constants_are_as_near_as_the_precision),
        cmocka_unit_test(the_shape_stays),
        cmocka_unit_test(a_root_over_x_is_no_bell),
        cmocka_unit_test(bodies_are_looked_into),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
