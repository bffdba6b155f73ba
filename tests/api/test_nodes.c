/* What an object tells of its network. */
#include "api/core.h"

static core c;

/* z = x + x + k and a value without a name, of x [N,3]; `whole` of an input of which nothing
** is known. Inputs u, f and s are needed by no output. */
static int setup(void **state)
{
    (void)state;
    static const char *const symbols[EVAL_MAX_RANK] = { "N", NULL };
    static const int64_t x_dims[] = { -1, 3 }, u_dims[] = { 2, 2 }, f_dims[] = { 7, 5, 2 },
                         s_dims[] = { -1, 4, -1 };
    static float two = 2;
    const evl_shape scalar = evl_shape_scalar();
    core_begin(&c, EVL_DOUBLE);
    core_input(&c, "u", EVAL_INT64, 2, u_dims);
    core_input(&c, "f", EVAL_FLOAT64, 3, f_dims)->has_frames = true;
    core_input(&c, "s", EVAL_STRING, 3, s_dims);
    evl_value *unknown = core_input(&c, "unknown", EVAL_UNDEFINED, 0, NULL);
    unknown->t.shape = evl_shape_unknown();
    evl_value *x = core_input(&c, "x", EVAL_FLOAT32, 2, x_dims);
    x->dim_names = symbols;
    evl_value *k = evl_graph_constant(c.g, "k", EVAL_FLOAT32, &scalar, &two);
    evl_value *z = core_output(&c, &evl_op_add, "z", evl_build_2(&c.b, &evl_op_add, "y", x, x), k);
    core_output(&c, &evl_op_abs, "whole", unknown, NULL);
    assert_non_null(evl_build_2(&c.b, &evl_op_mul, NULL, z, z));
    assert_true(evl_graph_add_metadata(c.g, "producer", "a test"));
    assert_true(evl_graph_add_metadata(c.g, "version", "3"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    core_end(&c);
    return 0;
}

static void check_sizes(const EvalDimension *dims, size_t n, const char *const *names,
                        const size_t *sizes)
{
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(dims[i].name, names[i]);
        assert_int_equal(dims[i].size, sizes[i]);
    }
}

static void groups_have_the_sizes_of_one_sample(void **state)
{
    (void)state;
    static const char *const in[] = { "unknown", "x" }, *const out[] = { "z", "whole" };
    EvalDimension dims[2];
    size_t n = 2;
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, EVAL_NODE_INPUT, dims, &n), EVAL_OK);
    assert_int_equal(n, 2); /* only what an output needs */
    check_sizes(dims, 2, in, (size_t[]){ 0, 3 });
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, EVAL_NODE_OUTPUT, dims, &n), EVAL_OK);
    check_sizes(dims, 2, out, (size_t[]){ 3, 0 });
}

static void names_of_the_caller_get_their_sizes(void **state)
{
    (void)state;
    EvalDimension dims[] = { { "f", 9 }, { "s", 9 }, { "u", 9 }, { "k", 9 }, { "y", 9 } };
    static const char *const names[] = { "f", "s", "u", "k", "y" };
    size_t n = 5;
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, EVAL_NODE_SPECIFIED, dims, &n), EVAL_OK);
    check_sizes(dims, 5, names, (size_t[]){ 10, 0, 4, 1, 3 });
    dims[0].size = 9;
    dims[4].name = "yy";
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, EVAL_NODE_SPECIFIED, dims, &n),
                     EVAL_ERR_NOT_FOUND);
    assert_int_equal(dims[0].size, 9); /* nothing is changed */
    dims[4].name = NULL;
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, EVAL_NODE_SPECIFIED, dims, &n),
                     EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, EVAL_NODE_SPECIFIED, NULL, &n),
                     EVAL_ERR_ARGUMENT);
    n = 0;
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, EVAL_NODE_SPECIFIED, NULL, &n), EVAL_OK);
}

static void a_group_that_has_no_room_is_counted(void **state)
{
    (void)state;
    EvalDimension dims[2] = { { NULL, 7 }, { NULL, 7 } };
    static const EvalNodeGroup groups[] = { EVAL_NODE_INPUT, EVAL_NODE_OUTPUT };
    for (size_t i = 0; i < 2; i++) {
        size_t n = 1;
        assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, groups[i], dims, &n),
                         EVAL_ERR_LIMIT);
        assert_int_equal(n, 2);
        assert_int_equal(dims[0].size, 7);
        n = 0;
        assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, groups[i], NULL, &n), EVAL_OK);
        assert_int_equal(n, 2);
    }
    size_t n = 2;
    assert_int_equal(evl_evaluator_dimensions(c.ctx, &c.e, (EvalNodeGroup)3, dims, &n),
                     EVAL_ERR_ARGUMENT);
    assert_string_equal(c.ctx->error.text, "3 is no group of nodes");
}

static void a_node_is_there_or_not(void **state)
{
    (void)state;
    assert_int_equal(evl_evaluator_find(c.ctx, &c.e, "y"), EVAL_OK);
    assert_int_equal(evl_evaluator_find(c.ctx, &c.e, "w"), EVAL_ERR_NOT_FOUND);
    assert_int_equal(evl_evaluator_find(c.ctx, &c.e, NULL), EVAL_ERR_ARGUMENT);
}

static void check_info(const EvalNodeInfo *info, const char *name, const char *op, EvalType type,
                       int32_t rank)
{
    assert_string_equal(info->name, name);
    assert_string_equal(info->op, op);
    assert_string_equal(info->domain, "");
    assert_int_equal(info->type, type);
    assert_int_equal(info->rank, rank);
}

static void lists_hold_what_the_model_declares(void **state)
{
    (void)state;
    EvalNodeInfo infos[16] = { { .size = sizeof infos[0] } };
    size_t n = 16;
    assert_int_equal(evl_evaluator_describe(c.ctx, &c.e, EVL_LIST_INPUTS, infos, &n), EVAL_OK);
    assert_int_equal(n, 5);
    check_info(&infos[3], "unknown", "", EVAL_UNDEFINED, -1);
    check_info(&infos[4], "x", "", EVAL_FLOAT32, 2);
    assert_int_equal(infos[4].dims[0], -1);
    assert_int_equal(infos[4].dims[1], 3);
    assert_int_equal(infos[4].dims[2], 0);
    assert_string_equal(infos[4].dimNames[0], "N");
    assert_null(infos[4].dimNames[1]);
    assert_null(infos[0].dimNames[0]);
    n = 16;
    assert_int_equal(evl_evaluator_describe(c.ctx, &c.e, EVL_LIST_OUTPUTS, infos, &n), EVAL_OK);
    assert_int_equal(n, 2);
    check_info(&infos[0], "z", "Add", EVAL_FLOAT32, 2);
    check_info(&infos[1], "whole", "Abs", EVAL_UNDEFINED, -1);
    n = 16;
    assert_int_equal(evl_evaluator_describe(c.ctx, &c.e, EVL_LIST_NODES, infos, &n), EVAL_OK);
    assert_int_equal(n, 9); /* all but the one without a name */
    check_info(&infos[5], "k", "Constant", EVAL_FLOAT32, 0);
    check_info(&infos[6], "y", "Add", EVAL_FLOAT32, 2);
}

static void a_list_that_has_no_room_is_filled_and_counted(void **state)
{
    (void)state;
    EvalNodeInfo infos[2] = { { .size = sizeof infos[0] } };
    size_t n = 2;
    assert_int_equal(evl_evaluator_describe(c.ctx, &c.e, EVL_LIST_NODES, infos, &n),
                     EVAL_ERR_LIMIT);
    assert_int_equal(n, 9);
    assert_string_equal(infos[1].name, "f");
    n = 0;
    assert_int_equal(evl_evaluator_describe(c.ctx, &c.e, EVL_LIST_NODES, NULL, &n), EVAL_OK);
    assert_int_equal(n, 9);
    infos[0].size--;
    n = 2;
    assert_int_equal(evl_evaluator_describe(c.ctx, &c.e, EVL_LIST_NODES, infos, &n),
                     EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_evaluator_describe(c.ctx, &c.e, EVL_LIST_NODES, infos, NULL),
                     EVAL_ERR_ARGUMENT);
}

static void metadata_is_numbered(void **state)
{
    (void)state;
    const char *key, *value;
    assert_int_equal(evl_evaluator_metadata(c.ctx, &c.e, 1, &key, &value), EVAL_OK);
    assert_string_equal(key, "version");
    assert_string_equal(value, "3");
    assert_int_equal(evl_evaluator_metadata(c.ctx, &c.e, 2, &key, &value), EVAL_ERR_NOT_FOUND);
    assert_string_equal(c.ctx->error.text, "there are 2 entries of metadata");
    assert_int_equal(evl_evaluator_metadata(c.ctx, &c.e, 0, NULL, &value), EVAL_ERR_ARGUMENT);
    assert_int_equal(evl_evaluator_metadata(c.ctx, &c.e, 0, &key, NULL), EVAL_ERR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_have_the_sizes_of_one_sample),
        cmocka_unit_test(names_of_the_caller_get_their_sizes),
        cmocka_unit_test(a_group_that_has_no_room_is_counted),
        cmocka_unit_test(a_node_is_there_or_not),
        cmocka_unit_test(lists_hold_what_the_model_declares),
        cmocka_unit_test(a_list_that_has_no_room_is_filled_and_counted),
        cmocka_unit_test(metadata_is_numbered),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
