#include "readers/cntk.h"

#define FOLDER EVL_TEST_DATA "/cntk1"

static fixture open_model(const char *name)
{
    return open_bytes(&evl_reader_cntk1, own_file(FOLDER, name));
}

static void a_model_of_any_version_becomes_a_graph(void **state)
{
    static const char *const names[] = { "mlp_v1",  "mlp_v2",  "mlp_v5_double",
                                         "mlp_v12", "mlp_v19", "mlp_v31" };
    static const int64_t sample[] = { -1, 3 }, column[] = { -1, 1, 3 };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture f = open_model(names[i]);
        if (!f.graph)
            fail_msg("%s: %s", names[i], f.ctx->error.text);
        assert_int_equal(f.graph->n_outputs, 1);
        assert_string_equal(f.graph->outputs[0]->name, "z");
        bool is_oldest = i < 2; /* parameters are matrices there, so a vector is a column */
        assert_shape(f.graph->outputs[0], is_oldest ? 3 : 2, is_oldest ? column : sample);
        assert_true(f.graph->outputs[0]->has_frames);
        assert_int_equal(f.graph->n_inputs, 2);
        assert_string_equal(f.graph->inputs[0]->name, "features");
        assert_string_equal(f.graph->inputs[1]->name, "labels");
        close_model(&f);
    }
}

static void parameters_point_into_the_file(void **state)
{
    static const int64_t turned[] = { 4, 5 }; /* CNTK's [5, 4] */
    (void)state;
    fixture f = open_model("mlp_v12");
    const evl_value *w = value_of(&f, "W1");
    const uint8_t *data = w->t.data;
    assert_true(w->is_constant);
    assert_true(data > f.file.data && data < f.file.data + f.file.size);
    assert_shape(w, 2, turned);
    assert_int_equal(w->t.type, EVAL_FLOAT32);
    close_model(&f);
}

static void a_file_without_precisions_tells_by_its_matrices(void **state)
{
    (void)state;
    fixture f = open_model("mlp_v5_double");
    assert_int_equal(value_of(&f, "W1")->t.type, EVAL_FLOAT64);
    assert_int_equal(value_of(&f, "features")->t.type, EVAL_FLOAT64);
    close_model(&f);
}

static void a_criterion_is_one_number(void **state)
{
    static const int64_t one[] = { 1 };
    (void)state;
    fixture f = open_model("mlp_v31");
    assert_shape(value_of(&f, "ce"), 1, one);
    assert_false(value_of(&f, "ce")->has_frames);
    assert_shape(value_of(&f, "err"), 1, one);
    close_model(&f);
}

static void images_keep_their_order_in_both_layouts(void **state)
{
    static const int64_t chw[] = { -1, 3, 3, 3 }, z[] = { -1, 4 };
    static const char *const names[] = { "image_hwc_v4", "image_hwc_v15", "image_chw_v23" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture f = open_model(names[i]);
        if (!f.graph)
            fail_msg("%s: %s", names[i], f.ctx->error.text);
        assert_shape(value_of(&f, "p"), 4, chw);
        assert_shape(value_of(&f, "z"), 2, z);
        close_model(&f);
    }
}

static const evl_node *recurrence_of(const fixture *f)
{
    for (size_t i = 0; i < f->graph->n_nodes; i++)
        if (f->graph->nodes[i]->op == &evl_op_recurrence)
            return f->graph->nodes[i];
    fail_msg("no recurrence");
    return NULL;
}

static void a_cycle_becomes_a_recurrence(void **state)
{
    size_t n;
    (void)state;
    fixture f = open_model("recurrent_v14");
    const evl_node *node = recurrence_of(&f);
    const evl_graph *body = evl_node_graph(node, "body");
    assert_int_equal(node->n_inputs, 1);
    assert_string_equal(node->inputs[0]->name, "wx"); /* the product over W stays outside */
    assert_int_equal(body->n_inputs, 2);
    assert_int_equal(body->n_outputs, 4);
    assert_int_equal(evl_node_int(node, "backward", -1), 0);
    assert_int_equal(evl_node_ints(node, "delay_offset", &n)[0], 1);
    assert_int_equal(n, 1);
    int64_t output = evl_node_ints(node, "delay_output", &n)[0];
    assert_string_equal(node->outputs[output]->name, "h");
    assert_true(evl_node_numbers(node, "delay_initial", &n)[0] == 0.5);
    assert_int_equal(f.graph->n_states, 2);
    assert_int_equal(evl_node_ints(node, "delay_state", &n)[0], 1); /* "before" is the first */
    close_model(&f);
}

static void every_node_of_a_loop_can_be_asked_for(void **state)
{
    static const char *const names[] = { "h1", "rh", "s", "h" };
    static const int64_t sequence[] = { -1, 3 };
    (void)state;
    fixture f = open_model("recurrent_v14");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ptr_equal(value_of(&f, names[i])->producer, recurrence_of(&f));
        assert_shape(value_of(&f, names[i]), 2, sequence);
    }
    close_model(&f);
}

static void a_delay_outside_loops_is_a_delay(void **state)
{
    (void)state;
    fixture f = open_model("recurrent_v14");
    const evl_node *node = value_of(&f, "before")->producer;
    assert_ptr_equal(node->op, &evl_op_delay);
    assert_int_equal(evl_node_int(node, "offset", 0), 2);
    assert_int_equal(evl_node_int(node, "state", -1), 0);
    assert_true(evl_node_number(node, "initial", 0) == -1);
    close_model(&f);
}

static void a_delay_without_a_shape_takes_its_operands(void **state)
{
    static const int64_t sequence[] = { -1, 3 };
    (void)state;
    fixture f = open_model("shapeless_v14");
    if (!f.graph)
        fail_msg("%s", f.ctx->error.text);
    assert_shape(value_of(&f, "h1"), 2, sequence);
    close_model(&f);
}

static void a_future_value_runs_backward_and_carries_nothing(void **state)
{
    size_t n;
    (void)state;
    fixture f = open_model("backward_v27");
    const evl_node *node = recurrence_of(&f);
    assert_int_equal(evl_node_int(node, "backward", -1), 1);
    assert_int_equal(evl_node_ints(node, "delay_state", &n)[0], -1);
    assert_int_equal(f.graph->n_states, 1);
    close_model(&f);
}

static void payloads_of_all_kinds_are_read_over(void **state)
{
    static const char *const names[] = { "everything_v14", "everything_v16", "everything_v31" };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture f = open_model(names[i]);
        if (!f.graph)
            fail_msg("%s: %s", names[i], f.ctx->error.text);
        assert_null(evl_graph_find(f.graph, "n.Crop", 6));
        assert_int_equal(f.graph->n_outputs, 1);
        close_model(&f);
    }
}

typedef struct bad {
    const char *name;
    EvalStatus status;
    const char *says, *says_too;
} bad;

static void a_bad_file_is_refused_with_its_reason(void **state)
{
    static const bad all[] = {
        { "bad_version", EVAL_ERR_UNSUPPORTED, "version 32", "31" },
        { "bad_cycle", EVAL_ERR_FORMAT, "without a delay", "rh" },
        { "bad_both_ways", EVAL_ERR_UNSUPPORTED, "'h1'", "'ahead'" },
        { "bad_unknown_child", EVAL_ERR_FORMAT, "'nobody'", "z" },
        { "bad_same_name", EVAL_ERR_FORMAT, "two nodes", "'H'" },
        { "bad_unknown_operator", EVAL_ERR_UNSUPPORTED, "'Mystery'", "'puzzle'" },
        { "bad_not_offered", EVAL_ERR_UNSUPPORTED, "'o1' (SequenceDecoderNode)",
          "'o2' (GMMLogLikelihood)" },
        { "bad_no_sequence", EVAL_ERR_UNSUPPORTED, "reads no sequence", "" },
        { "bad_misshapen", EVAL_ERR_SHAPE, "'rh'", "4" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fixture f = open_model(all[i].name);
        const char *text = f.ctx->error.text;
        if (f.graph || f.ctx->error.status != all[i].status || !strstr(text, all[i].says) ||
            !strstr(text, all[i].says_too))
            fail_msg("%s: status %d, %s", all[i].name, (int)f.ctx->error.status, text);
        close_model(&f);
    }
}

static void only_this_format_is_claimed(void **state)
{
    static const char onnx[] = "\x08\x07\x12\x04";
    (void)state;
    file_bytes file = own_file(FOLDER, "mlp_v31");
    evl_bytes bytes = evl_bytes_of(file.data, file.size);
    assert_true(evl_reader_cntk1.claims(&bytes));
    bytes = evl_bytes_of(file.data, 3); /* cut: still ours to refuse */
    assert_true(evl_reader_cntk1.claims(&bytes));
    bytes = evl_bytes_of(onnx, sizeof onnx);
    assert_false(evl_reader_cntk1.claims(&bytes));
    bytes = evl_bytes_of("B", 1);
    assert_false(evl_reader_cntk1.claims(&bytes));
    free(file.data);
}

static void names_from_v2_have_short_forms(void **state)
{
    (void)state;
    fixture f = { .ctx = evl_test_begin(),
                  .file = file_of(EVL_TEST_SHARED "/cntk/v1", "JavaEvalTest_z", ".model") };
    if (!f.file.data) {
        evl_test_end(f.ctx);
        print_message("skipped: no shared files\n");
        skip();
    }
    f.arena = evl_arena_new(f.ctx->memory);
    f.graph = read_bytes(f.ctx, &evl_reader_cntk1, f.arena, f.file.data, f.file.size);
    if (!f.graph)
        fail_msg("%s", f.ctx->error.text);
    const evl_value *z = value_of(&f, "__v2libuid__Plus2069__v2libname__Plus2060");
    assert_int_equal(f.graph->n_outputs, 1);
    assert_ptr_equal(f.graph->outputs[0], z);
    assert_ptr_equal(value_of(&f, "Plus2069"), z);
    assert_ptr_equal(value_of(&f, "Plus2060"), z);
    assert_ptr_equal(value_of(&f, "Input2")->producer, NULL);
    assert_null(evl_graph_find(f.graph, "W", 1)); /* several nodes are called so */
    close_model(&f);
}

static void every_real_file_is_read_to_its_end(void **state)
{
    static const struct {
        const char *name;
        size_t n_inputs, n_states;
    } files[] = {
        { "AsynchronousSGD_ASGD_Resnet.model.1", 2, 0 },
        { "BrainScriptTests_01_OneHidden.dnn", 2, 0 },
        { "BrainScriptTests_LR_reg.dnn", 2, 0 },
        { "BrainScriptTests_MC.dnn", 2, 0 },
        { "JavaEvalTest_z.model", 1, 0 },
        { "NetworkTests_01_OneHidden.dnn", 2, 0 },
        { "NetworkTests_ResNet20_CIFAR10_DataAug.dnn", 2, 0 },
        { "cifar10.ResNet.cmf", 2, 0 },
        { "cifar10.pretrained.cmf", 2, 0 },
        { "cifar10.pretrained.v10.cmf", 2, 0 },
        { "slu.forward.backward.cmf", 2, 2 },
        { "slu.forward.cmf", 2, 2 },
        { "slu.forward.lookahead.cmf", 2, 2 },
        { "slu.forward.nobn.cmf", 2, 2 },
        { "slu_v10_2218855_1c863e80.cmf", 2, 2 },
        { "slu_v10_2908074_32b64cd9.cmf", 2, 2 },
        { "slu_v10_3641638_9d665734.cmf", 2, 2 },
        { "tiny_ver3_53357688.model", 2, 0 },
        { "tiny_ver3_b4c11db8.model", 2, 0 },
        { "tiny_ver3_c98cafcf.model", 2, 0 },
        { "tiny_ver3_d3658744.model", 2, 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        fixture f = { .ctx = evl_test_begin(),
                      .file = file_of(EVL_TEST_SHARED "/cntk/v1", files[i].name, "") };
        if (!f.file.data) {
            evl_test_end(f.ctx);
            print_message("skipped: no shared files\n");
            skip();
        }
        f.arena = evl_arena_new(f.ctx->memory);
        f.graph = read_bytes(f.ctx, &evl_reader_cntk1, f.arena, f.file.data, f.file.size);
        if (!f.graph)
            fail_msg("%s: %s", files[i].name, f.ctx->error.text);
        assert_int_equal(f.graph->n_outputs, 1);
        assert_int_equal(f.graph->n_inputs, files[i].n_inputs);
        assert_int_equal(f.graph->n_states, files[i].n_states);
        assert_true(evl_shape_count_part(&f.graph->outputs[0]->t.shape, 1,
                                         f.graph->outputs[0]->t.shape.rank) >= 1);
        assert_int_equal(evl_graph_sort(f.ctx, f.graph), EVAL_OK);
        close_model(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_of_any_version_becomes_a_graph),
        cmocka_unit_test(parameters_point_into_the_file),
        cmocka_unit_test(a_file_without_precisions_tells_by_its_matrices),
        cmocka_unit_test(a_criterion_is_one_number),
        cmocka_unit_test(images_keep_their_order_in_both_layouts),
        cmocka_unit_test(a_cycle_becomes_a_recurrence),
        cmocka_unit_test(every_node_of_a_loop_can_be_asked_for),
        cmocka_unit_test(a_delay_outside_loops_is_a_delay),
        cmocka_unit_test(a_delay_without_a_shape_takes_its_operands),
        cmocka_unit_test(a_future_value_runs_backward_and_carries_nothing),
        cmocka_unit_test(payloads_of_all_kinds_are_read_over),
        cmocka_unit_test(a_bad_file_is_refused_with_its_reason),
        cmocka_unit_test(only_this_format_is_claimed),
        cmocka_unit_test(names_from_v2_have_short_forms),
        cmocka_unit_test(every_real_file_is_read_to_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
