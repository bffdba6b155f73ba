#include "readers/cntk.h"

#define FOLDER EVL_TEST_DATA "/cntk2"

static fixture open_model(const char *name)
{
    fixture f = open_bytes(&evl_reader_cntk2, own_file(FOLDER, name));
    return f;
}

static fixture open_good(const char *name)
{
    fixture f = open_model(name);
    if (!f.graph)
        fail_msg("%s: %s", name, f.ctx->error.text);
    return f;
}

static void a_model_becomes_a_graph_whose_blocks_are_gone(void **state)
{
    static const int64_t sample[] = { -1, 3 };
    (void)state;
    fixture f = open_good("mlp");
    assert_int_equal(f.graph->n_inputs, 1);
    assert_string_equal(f.graph->inputs[0]->name, "features");
    assert_int_equal(f.graph->n_outputs, 1);
    assert_string_equal(f.graph->outputs[0]->name, "z");
    assert_shape(f.graph->outputs[0], 2, sample);
    assert_true(f.graph->outputs[0]->has_frames);
    close_model(&f);
}

static void a_value_answers_to_its_name_and_its_uids(void **state)
{
    (void)state;
    fixture f = open_good("mlp");
    const evl_value *z = f.graph->outputs[0];
    assert_ptr_equal(value_of(&f, "z"), z);
    assert_ptr_equal(value_of(&f, "Plus14"), z); /* the function in the Block */
    assert_ptr_equal(value_of(&f, "Plus14_Output_0"), z);
    assert_ptr_equal(value_of(&f, "Block16_Output_0"), z);
    assert_ptr_equal(value_of(&f, "Input1"), f.graph->inputs[0]);
    assert_null(evl_graph_find(f.graph, "W", 1)); /* two bear this name */
    close_model(&f);
}

static void parameters_point_into_the_file(void **state)
{
    static const char *const names[] = { "mlp", "mlp_double", "mlp_large" };
    static const EvalType types[] = { EVAL_FLOAT32, EVAL_FLOAT64, EVAL_FLOAT32 };
    static const int64_t turned[] = { 4, 5 }; /* CNTK's [5, 4] */
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fixture f = open_good(names[i]);
        const evl_value *w = value_of(&f, "Parameter3");
        const uint8_t *data = w->t.data;
        assert_true(w->is_constant);
        assert_true(data > f.file.data && data < f.file.data + f.file.size);
        assert_shape(w, 2, turned);
        assert_int_equal(w->t.type, types[i]);
        close_model(&f);
    }
}

static void the_values_of_a_large_file_are_those_of_a_small_one(void **state)
{
    static const char *const names[] = { "Parameter3", "Parameter4", "Parameter12" };
    uint8_t values[3][4];
    (void)state;
    fixture f = open_good("mlp");
    for (size_t i = 0; i < 3; i++)
        memcpy(values[i], value_of(&f, names[i])->t.data, sizeof values[i]);
    close_model(&f);
    f = open_good("mlp_large");
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(value_of(&f, names[i])->t.data, values[i], sizeof values[i]);
    close_model(&f);
}

static void every_type_of_array_is_read(void **state)
{
    static const char *const names[] = { "float", "half", "int8", "int16", "double" };
    (void)state;
    fixture f = open_good("types");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const evl_value *v = value_of(&f, names[i]);
        assert_true(evl_tensor_f64(&v->t, 0) == 1);
        assert_true(evl_tensor_f64(&v->t, 1) == -2);
        assert_true(evl_tensor_f64(&v->t, 2) == 100);
    }
    close_model(&f);
}

static const evl_node *recurrence_of(const fixture *f)
{
    for (size_t i = 0; i < f->graph->n_nodes; i++)
        if (f->graph->nodes[i]->op == &evl_op_recurrence)
            return f->graph->nodes[i];
    fail_msg("no recurrence");
    return NULL;
}

static void a_placeholder_that_is_an_output_closes_a_cycle(void **state)
{
    size_t n;
    (void)state;
    fixture f = open_good("recurrent");
    const evl_node *node = recurrence_of(&f);
    assert_true(evl_node_numbers(node, "delay_initial", &n)[0] == 0.5);
    assert_int_equal(evl_node_ints(node, "delay_state", &n)[0], 0);
    assert_int_equal(f.graph->n_states, 2); /* the delay's, and its flags' */
    assert_true(f.graph->states[0].has_flags);
    assert_int_equal(f.graph->n_outputs, 2);
    close_model(&f);
}

static void a_vector_before_the_first_frame_is_chosen_by_a_flag(void **state)
{
    (void)state;
    fixture f = open_good("recurrent_vector");
    const evl_node *node = recurrence_of(&f);
    assert_int_equal(node->n_inputs, 2); /* W x, and the flags */
    assert_int_equal(node->inputs[1]->t.type, EVAL_BOOL);
    close_model(&f);
}

static void an_unbound_placeholder_is_an_input(void **state)
{
    (void)state;
    fixture f = open_good("placeholder");
    assert_int_equal(f.graph->n_inputs, 1);
    assert_ptr_equal(value_of(&f, "x"), f.graph->inputs[0]);
    close_model(&f);
}

static void a_stack_becomes_its_layers(void **state)
{
    static const int64_t both[] = { -1, 6 };
    size_t n = 0;
    (void)state;
    fixture f = open_good("tanh_both");
    for (size_t i = 0; i < f.graph->n_nodes; i++)
        n += f.graph->nodes[i]->op == &evl_op_rnn;
    assert_int_equal(n, 2);
    assert_shape(value_of(&f, "z"), 2, both);
    close_model(&f);
}

typedef struct bad {
    const char *name;
    EvalStatus status;
    const char *says;
} bad;

static void what_is_no_good_model_is_refused_with_its_reason(void **state)
{
    static const bad all[] = {
        { "bad_checkpoint", EVAL_ERR_FORMAT, "a checkpoint of a trainer" },
        { "bad_learner", EVAL_ERR_FORMAT, "the state of a learner" },
        { "bad_dictionary", EVAL_ERR_FORMAT, "a dictionary, and no model" },
        { "bad_circle", EVAL_ERR_FORMAT, "'p' is bound to itself" },
        { "bad_cycle", EVAL_ERR_FORMAT, "a cycle without a delay" },
        { "bad_count", EVAL_ERR_FORMAT, "another number of values" },
        { "bad_operator", EVAL_ERR_UNSUPPORTED, "the operator 1000" },
        { "bad_reference", EVAL_ERR_FORMAT, "'Nobody_Output_0'" },
        { "bad_root", EVAL_ERR_FORMAT, "'Nobody'" },
        { "bad_user", EVAL_ERR_UNSUPPORTED, "'mine' (UserDefinedFunction)" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fixture f = open_model(all[i].name);
        if (f.graph || f.ctx->error.status != all[i].status ||
            !strstr(f.ctx->error.text, all[i].says))
            fail_msg("%s: status %d, %s", all[i].name, (int)f.ctx->error.status, f.ctx->error.text);
        close_model(&f);
    }
}

static void only_this_format_is_claimed(void **state)
{
    static const char onnx[] = "\x08\x07\x12\x04", v1[] = "B\0C\0N\0\0\0";
    (void)state;
    file_bytes file = own_file(FOLDER, "mlp");
    evl_bytes bytes = evl_bytes_of(file.data, file.size);
    assert_true(evl_reader_cntk2.claims(&bytes));
    bytes = evl_bytes_of("ktnc", 4);
    assert_true(evl_reader_cntk2.claims(&bytes));
    bytes = evl_bytes_of(onnx, sizeof onnx);
    assert_false(evl_reader_cntk2.claims(&bytes));
    bytes = evl_bytes_of(v1, sizeof v1);
    assert_false(evl_reader_cntk2.claims(&bytes));
    free(file.data);
}

static void every_real_file_is_read(void **state)
{
    static const char *const names[] = {
        "ATIS_model.cmf",
        "NIN_cifar.cntkmodel",
        "batch.norm.no.sample.count.v2.bin",
        "dlcs_ch6-2.cntk.model",
        "dlcs_ch6-3_model_type_1.model",
        "dlcs_ch6-3_model_type_2.model",
        "dlcs_ch8-1_cntk.model",
        "initial_policy_network.dnn",
        "load_and_eval.dnn",
        "pscntk_cifar10.model",
        "pscntk_logistic.model",
        "pscntk_lstm.model",
        "pscntk_moon.model",
        "seq2seq_model_attFalse.cmf",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        file_bytes file = file_of(EVL_TEST_SHARED "/cntk/v2", names[i], "");
        if (!file.data) {
            print_message("skipped: no shared files\n");
            skip();
        }
        fixture f = open_bytes(&evl_reader_cntk2, file);
        if (!f.graph)
            fail_msg("%s: %s", names[i], f.ctx->error.text);
        assert_int_equal(f.graph->n_outputs, 1);
        assert_int_equal(f.graph->n_inputs, 1);
        assert_int_equal(evl_graph_sort(f.ctx, f.graph), EVAL_OK);
        close_model(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_becomes_a_graph_whose_blocks_are_gone),
        cmocka_unit_test(a_value_answers_to_its_name_and_its_uids),
        cmocka_unit_test(parameters_point_into_the_file),
        cmocka_unit_test(the_values_of_a_large_file_are_those_of_a_small_one),
        cmocka_unit_test(every_type_of_array_is_read),
        cmocka_unit_test(a_placeholder_that_is_an_output_closes_a_cycle),
        cmocka_unit_test(a_vector_before_the_first_frame_is_chosen_by_a_flag),
        cmocka_unit_test(an_unbound_placeholder_is_an_input),
        cmocka_unit_test(a_stack_becomes_its_layers),
        cmocka_unit_test(what_is_no_good_model_is_refused_with_its_reason),
        cmocka_unit_test(only_this_format_is_claimed),
        cmocka_unit_test(every_real_file_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
