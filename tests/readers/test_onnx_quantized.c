/* Operators of com.microsoft on integers, written as others. */
#include "ir/op.h"
#include "readers/onnx/onnx.h"
#include "support/support.h"
#include <string.h>

typedef struct writing {
    evl_onnx o;
    evl_onnx_scope scope;
    evl_onnx_draft d;
    evl_value *inputs[16], values[16];
    evl_attribute attributes[8];
} writing;

static void write_op(writing *w, const char *op, const char *domain, size_t n_inputs)
{
    w->o.ctx = evl_test_begin();
    w->o.arena = w->o.scratch = evl_arena_new(w->o.ctx->memory);
    assert_non_null(w->o.arena);
    w->scope.graph = evl_graph_new(w->o.arena, NULL);
    assert_non_null(w->scope.graph);
    w->d = (evl_onnx_draft){ .name = "", .op = op, .domain = domain, .version = 1,
                             .n_inputs = n_inputs, .n_attributes = w->d.n_attributes,
                             .inputs = w->inputs, .attributes = w->attributes };
    for (size_t i = 0; i < n_inputs; i++)
        w->inputs[i] = &w->values[i];
    assert_int_equal(evl_onnx_quantized(&w->o, &w->scope, &w->d), EVAL_OK);
}

static void end(writing *w)
{
    evl_arena_free(w->o.arena);
    evl_test_end(w->o.ctx);
}

static const evl_node *node_at(const writing *w, size_t i, const char *name, size_t n_inputs)
{
    assert_true(i < w->scope.graph->n_nodes);
    const evl_node *node = w->scope.graph->nodes[i];
    assert_string_equal(node->op->name, name);
    assert_int_equal(node->n_inputs, n_inputs);
    return node;
}

static void check_end(const writing *w, const evl_node *last, size_t scale)
{
    assert_string_equal(w->d.op, "QuantizeLinear");
    assert_string_equal(w->d.domain, "");
    assert_int_equal(w->d.n_inputs, 3);
    assert_int_equal(w->d.n_attributes, 0);
    assert_ptr_equal(w->d.inputs[0], last->outputs[0]);
    assert_ptr_equal(w->d.inputs[1], &w->values[scale]);
    assert_ptr_equal(w->d.inputs[2], &w->values[scale + 1]);
}

static void one_input_is_made_real_and_the_result_quantized(void **state)
{
    static const char *const names[] = { "AveragePool", "GlobalAveragePool", "LeakyRelu", "Sigmoid" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        writing w = { .attributes = { evl_attribute_number("alpha", 0.5) }, .d.n_attributes = 1 };
        char op[40] = "QLinear";
        strncat(op, names[i], sizeof op - sizeof "QLinear");
        write_op(&w, op, "com.microsoft", 5);
        const evl_node *from = node_at(&w, 0, "DequantizeLinear", 3), *node = node_at(&w, 1, names[i], 1);
        assert_ptr_equal(from->inputs[2], &w.values[2]);
        assert_ptr_equal(node->inputs[0], from->outputs[0]);
        assert_int_equal(node->n_attributes, 1);
        check_end(&w, node, 3);
        end(&w);
    }
}

static void a_zero_point_left_out_is_0_of_the_inputs_type(void **state)
{
    (void)state;
    writing w = { .d.n_attributes = 0 };
    write_op(&w, "QLinearSigmoid", "com.microsoft", 4);
    const evl_node *zero = node_at(&w, 3, "CastLike", 2);
    assert_ptr_equal(zero->inputs[0], node_at(&w, 2, "Squeeze", 1)->outputs[0]);
    assert_ptr_equal(zero->inputs[1], &w.values[2]);
    assert_ptr_equal(w.d.inputs[2], zero->outputs[0]);
    end(&w);
}

static void each_input_of_a_concat_has_a_scale_and_a_zero_point(void **state)
{
    writing w = { .attributes = { evl_attribute_int("axis", 1) }, .d.n_attributes = 1 };
    (void)state;
    write_op(&w, "QLinearConcat", "com.microsoft", 7); /* the last zero point is left out */
    assert_ptr_equal(node_at(&w, 0, "DequantizeLinear", 3)->inputs[0], &w.values[2]);
    assert_ptr_equal(node_at(&w, 1, "DequantizeLinear", 2)->inputs[0], &w.values[5]);
    const evl_node *concat = node_at(&w, 2, "Concat", 2);
    assert_int_equal(evl_node_int(concat, "axis", 0), 1);
    check_end(&w, concat, 0);
    end(&w);
}

static void hold(evl_value *v, EvalType type, const void *data, int64_t n)
{
    *v = (evl_value){ .is_constant = true, .t = { .type = type, .shape = evl_shape_of(1, &n) } };
    v->t.data = (void *)(uintptr_t)data;
}

/* Two columns of 9 numbers of 4 bits, in blocks of 8: of the second the first number counts. */
static void numbers_of_few_bits_become_bytes_with_a_scale_for_each_block(void **state)
{
    static const uint8_t b[16] = { 0x10, 0x32, 0x54, 0x76, 0xa8, 1, 1, 1, 0xef, 0, 0, 0, 0x3c, 2, 2, 2 };
    static const uint8_t zeros[2] = { 0x25, 0x97 };
    static const float scales[4] = { 1, 2, 3, 4 };
    writing w = { .attributes = { evl_attribute_int("K", 9), evl_attribute_int("N", 2),
                                  evl_attribute_int("block_size", 8) },
                  .d.n_attributes = 3 };
    (void)state;
    hold(&w.values[1], EVAL_UINT8, b, 16);
    hold(&w.values[2], EVAL_FLOAT32, scales, 4);
    hold(&w.values[3], EVAL_UINT8, zeros, 2);
    write_op(&w, "MatMulNBits", "com.microsoft", 4);
    const evl_node *shaped = node_at(&w, 0, "Reshape", 2), *from = node_at(&w, 1, "DequantizeLinear", 3);
    const evl_node *turned = node_at(&w, 2, "Transpose", 1);
    assert_ptr_equal(shaped->inputs[0], &w.values[2]);
    assert_int_equal(evl_node_int(from, "block_size", 0), 8);
    assert_memory_equal(from->inputs[0]->t.data,
                        ((uint8_t[]){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 15, 14, 0, 0, 0, 0, 0, 0, 12 }), 18);
    assert_memory_equal(from->inputs[2]->t.data, ((uint8_t[]){ 5, 2, 7, 9 }), 4);
    assert_string_equal(w.d.op, "MatMul");
    assert_ptr_equal(w.d.inputs[1], turned->outputs[0]);
    end(&w);
}

static void weights_of_a_run_are_spread_by_shifts(void **state)
{
    writing w = { .attributes = { evl_attribute_int("K", 9), evl_attribute_int("N", 2),
                                  evl_attribute_int("block_size", 8) },
                  .d.n_attributes = 3 };
    (void)state;
    write_op(&w, "MatMulNBits", "com.microsoft", 3);
    const evl_node *shift = node_at(&w, 2, "BitShift", 2), *mask = node_at(&w, 3, "BitwiseAnd", 2);
    assert_memory_equal(shift->inputs[1]->t.data, ((uint8_t[]){ 0, 4 }), 2);
    assert_int_equal(*(const uint8_t *)mask->inputs[1]->t.data, 15);
    assert_string_equal(w.d.op, "MatMul");
    end(&w);
}

/* A block's number for each of K: no neighbours share one, so each weight gets its own scale. */
static void groups_give_each_weight_its_scale(void **state)
{
    writing w = { .attributes = { evl_attribute_int("K", 16), evl_attribute_int("N", 1),
                                  evl_attribute_int("block_size", 16), evl_attribute_int("bits", 8) },
                  .d.n_attributes = 4 };
    (void)state;
    write_op(&w, "MatMulNBits", "com.microsoft", 6);
    bool gathers = false;
    for (size_t i = 0; i < w.scope.graph->n_nodes; i++) {
        const evl_node *node = w.scope.graph->nodes[i];
        gathers |= strcmp(node->op->name, "Gather") == 0;
        assert_string_not_equal(node->op->name, "DequantizeLinear");
    }
    assert_true(gathers);
    assert_string_equal(w.d.op, "Add");
    end(&w);
}

static void bytes_are_gathered_before_they_are_spread(void **state)
{
    writing w = { .attributes = { evl_attribute_int("block_size", 16) }, .d.n_attributes = 1 };
    (void)state;
    w.values[0].t.type = EVAL_UINT8;
    write_op(&w, "GatherBlockQuantized", "com.microsoft", 3);
    assert_ptr_equal(node_at(&w, 0, "Gather", 2)->inputs[0], &w.values[0]);
    assert_ptr_equal(node_at(&w, 1, "Gather", 2)->inputs[0], &w.values[2]);
    assert_string_equal(w.d.op, "DequantizeLinear");
    assert_int_equal(w.d.n_inputs, 3);
    assert_int_equal(w.d.n_attributes, 2);
    end(&w);
}

static void channels_that_are_last_are_moved_and_moved_back(void **state)
{
    static const int64_t kernel[] = { 2, 2 }, there[] = { 0, 3, 1, 2 }, back[] = { 0, 2, 3, 1 };
    writing w = { .attributes = { evl_attribute_int("channels_last", 1),
                                  evl_attribute_ints("kernel_shape", kernel, 2) },
                  .d.n_attributes = 2 };
    (void)state;
    write_op(&w, "QLinearAveragePool", "com.microsoft", 5);
    size_t n;
    assert_memory_equal(evl_node_ints(node_at(&w, 0, "Transpose", 1), "perm", &n), there, sizeof there);
    (void)node_at(&w, 2, "AveragePool", 1);
    (void)node_at(&w, 3, "QuantizeLinear", 3);
    assert_string_equal(w.d.op, "Transpose");
    assert_memory_equal(w.d.attributes[0].u.ints, back, sizeof back);
    end(&w);
}

static void softmax_of_an_old_opset_is_one_of_rows(void **state)
{
    (void)state;
    for (int64_t opset = 11; opset <= 13; opset += 2) {
        writing w = { .attributes = { evl_attribute_int("opset", opset), evl_attribute_int("axis", 1) },
                      .d.n_attributes = 2 };
        write_op(&w, "QLinearSoftmax", "com.microsoft", 5);
        if (opset == 11)
            assert_int_equal(evl_node_int(node_at(&w, 1, "Flatten", 1), "axis", 0), 1);
        else
            assert_int_equal(evl_node_int(node_at(&w, 1, "Softmax", 1), "axis", 0), 1);
        assert_string_equal(w.d.op, "QuantizeLinear");
        end(&w);
    }
}

static void what_is_real_is_quantized_by_its_own_range(void **state)
{
    writing w = { .d.n_attributes = 0 };
    (void)state;
    write_op(&w, "DynamicQuantizeMatMul", "com.microsoft", 5);
    const evl_node *node = w.scope.graph->nodes[0];
    assert_string_equal(node->op->name, "DynamicQuantizeLinear");
    assert_string_equal(w.d.op, "MatMulIntegerToFloat");
    assert_string_equal(w.d.domain, "com.microsoft");
    assert_ptr_equal(w.d.inputs[4], node->outputs[2]);
    assert_ptr_equal(w.d.inputs[6], &w.values[4]);
    end(&w);
}

static void other_operators_stay_as_they_are(void **state)
{
    writing few = { .d.n_attributes = 0 }, other = { .d.n_attributes = 0 };
    (void)state;
    write_op(&few, "QLinearAveragePool", "com.microsoft", 3);
    assert_string_equal(few.d.op, "QLinearAveragePool");
    end(&few);
    write_op(&other, "QLinearSigmoid", "", 5);
    assert_string_equal(other.d.op, "QLinearSigmoid");
    assert_int_equal(other.scope.graph->n_nodes, 0);
    end(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_input_is_made_real_and_the_result_quantized),
        cmocka_unit_test(a_zero_point_left_out_is_0_of_the_inputs_type),
        cmocka_unit_test(each_input_of_a_concat_has_a_scale_and_a_zero_point),
        cmocka_unit_test(numbers_of_few_bits_become_bytes_with_a_scale_for_each_block),
        cmocka_unit_test(weights_of_a_run_are_spread_by_shifts),
        cmocka_unit_test(groups_give_each_weight_its_scale),
        cmocka_unit_test(bytes_are_gathered_before_they_are_spread),
        cmocka_unit_test(channels_that_are_last_are_moved_and_moved_back),
        cmocka_unit_test(softmax_of_an_old_opset_is_one_of_rows),
        cmocka_unit_test(what_is_real_is_quantized_by_its_own_range),
        cmocka_unit_test(other_operators_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
