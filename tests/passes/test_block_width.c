/* How wide the blocks of a graph are made. */
#include "passes/block_width.h"
#include "kernels/loops.h"
#include "ops/ops.h"
#include "os/os.h"
#include "support/run_op.h"

typedef struct layer {
    int64_t in, out, group, size;
} layer;

/* 3 x 3 convolutions, each of an input of its own. */
static size_t width(const evl_machine *machine, const layer *layers, size_t n)
{
    evl_context *ctx = evl_test_begin();
    evl_graph *g = evl_graph_new(evl_arena_new(ctx->memory), NULL);
    for (size_t i = 0; i < n; i++) {
        const layer *l = &layers[i];
        evl_node *node = evl_graph_node(g, &evl_op_conv, NULL, 2, 1);
        evl_value *x = evl_graph_value(g, NULL), *y = evl_graph_value(g, NULL);
        evl_shape shape = evl_shape_of(4, (int64_t[]){ l->out, l->in / l->group, 3, 3 });
        float *weights = evl_arena_take_many(g->arena, evl_shape_count(&shape), sizeof *weights);
        evl_attribute *group = evl_arena_take(g->arena, sizeof *group);
        *group = evl_attribute_int("group", l->group);
        x->t.type = EVAL_FLOAT32;
        x->t.shape = evl_shape_of(4, (int64_t[]){ 1, l->in, l->size, l->size });
        node->inputs[0] = x;
        node->inputs[1] = evl_graph_constant(g, NULL, EVAL_FLOAT32, &shape, weights);
        node->attributes = group;
        node->n_attributes = 1;
        evl_node_output(node, 0, y);
    }
    size_t found = evl_block_width(ctx, machine, g);
    evl_arena_free(g->arena);
    evl_test_end(ctx);
    return found;
}

static evl_machine machine_of(size_t lanes, size_t narrow)
{
    return (evl_machine){ .real = EVAL_FLOAT32, .lanes = lanes, .narrow_lanes = narrow };
}

static void full_blocks_stay_wide(void **state)
{
    evl_machine m = machine_of(16, 8);
    layer full[] = { { 16, 64, 1, 9 }, { 64, 32, 2, 20 }, { 48, 48, 48, 10 } };
    (void)state;
    assert_int_equal(width(&m, full, 3), 16);
    assert_int_equal(width(&m, full, 0), 16);
}

static void what_would_be_half_empty_is_narrow(void **state)
{
    evl_machine m = machine_of(16, 8);
    layer few[] = { { 8, 8, 1, 9 } }, grouped[] = { { 32, 32, 4, 9 } }, apart[] = { { 8, 8, 8, 9 } };
    (void)state;
    assert_int_equal(width(&m, few, 1), 8);
    assert_int_equal(width(&m, grouped, 1), 8);
    assert_int_equal(width(&m, apart, 1), 8);
}

static void the_larger_part_decides(void **state)
{
    evl_machine m = machine_of(16, 8);
    layer layers[] = { { 8, 8, 1, 40 }, { 64, 64, 1, 20 } };
    (void)state;
    assert_int_equal(width(&m, layers, 2), 16);
    layers[1].size = 3;
    assert_int_equal(width(&m, layers, 2), 8);
}

static void there_may_be_one_width_only(void **state)
{
    evl_machine m = machine_of(16, 0);
    layer few[] = { { 8, 8, 1, 9 } };
    (void)state;
    assert_int_equal(width(&m, few, 1), 16);
}

/* Only where the processor computes by halves, and the narrow set has fused sums. */
static void processors_say_what_is_as_fast(void **state)
{
    const unsigned both = EVL_CPU_AVX2 | EVL_CPU_AVX512;
    size_t wide = evl_kernels_choose_f(both).lanes;
    (void)state;
    assert_int_equal(evl_kernels_choose_f(both).narrow_lanes, 0);
    assert_int_equal(evl_kernels_choose_d(EVL_CPU_AVX2 | EVL_CPU_HALVES).narrow_lanes, 0);
    assert_int_equal(evl_kernels_choose_f(0).narrow_lanes, 0);
    if (wide == 16) {
        assert_int_equal(evl_kernels_choose_f(both | EVL_CPU_HALVES).narrow_lanes, 8);
        assert_int_equal(evl_kernels_choose_d(both | EVL_CPU_HALVES).narrow_lanes, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_blocks_stay_wide),
        cmocka_unit_test(what_would_be_half_empty_is_narrow),
        cmocka_unit_test(the_larger_part_decides),
        cmocka_unit_test(there_may_be_one_width_only),
        cmocka_unit_test(processors_say_what_is_as_fast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
