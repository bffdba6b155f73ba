/* Passes from plug-ins: what they see of a network, what they may make of it, and what is
** refused. */
#include "lines.h"
#include <math.h>

/* The pass under test; what it says of itself afterwards. */
static EvalStatus (*pass)(EvalCall *);
static char seen[512];
static size_t n_runs;

static EvalStatus run_pass(EvalCall *call)
{
    n_runs++;
    return pass(call);
}

static const EvalPass passes[] = { { sizeof passes[0], "the pass", run_pass } };
static const EvalPass *const pass_list[] = { passes };

/* Fma: a * b + c, which nobody but a pass asks for. */
static EvalStatus run_fma(EvalCall *call)
{
    const EvalTensor *in = call->in;
    real *y = call->out[0].data;
    for (size_t i = 0; i < call->out[0].bytes / sizeof *y; i++)
        y[i] = ((real *)in[0].data)[i] * ((real *)in[1].data)[i] + ((real *)in[2].data)[i] +
               (real)call->host->Int(call, "more", 0);
    return EVAL_OK;
}

static const EvalImplementation fma_any = { sizeof fma_any, EVAL_UNDEFINED, NULL, run_fma };
static const EvalImplementation *const fma_list[] = { &fma_any };
static const EvalOperator fma_op = { .size = sizeof fma_op, .domain = "test", .name = "Fma",
                                     .minInputs = 3, .maxInputs = 3, .minOutputs = 1,
                                     .maxOutputs = 1, .implementations = fma_list,
                                     .nImplementations = 1 };
static const EvalOperator *const operators[] = { &fma_op };
static const EvalPlugin mine = { .size = sizeof mine, .abi = EVAL_PLUGIN_ABI, .name = "mine",
                                 .operators = operators, .nOperators = 1, .passes = pass_list,
                                 .nPasses = 1 };

static const real x[] = { -2, -1, 0, 1, 2, 3 };

static const char relu[] = "lines\nin x -1\nnode n1 - Relu 14 x > y\nout y\n";
static const char chain[] = "lines\nin x -1\nnode n1 - Mul 14 x x > p\nnode n2 - Add 14 p x > y\nout y\n";

/* y for x through that network and pass; the text of what fails. */
static void expect(const char *text, EvalStatus (*with)(EvalCall *), const real *wanted)
{
    real y[6];
    size_t n = 6;
    pass = with;
    n_runs = 0;
    model *m = load_lines(&mine, text, NULL);
    if (run_lines(m, x, 6, 0, y, &n) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_int_equal(n, 6);
    assert_int_equal(n_runs, 1);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs((double)(y[i] - wanted[i])) < 1e-5);
    m->vtbl->Destroy(m);
}

static void expect_failure(const char *text, EvalStatus (*with)(EvalCall *), EvalStatus status,
                           const char *why)
{
    real y[6];
    size_t n = 6;
    pass = with;
    model *m = load_lines(&mine, text, NULL);
    for (int again = 0; again < 2; again++) {
        n = 6;
        assert_int_equal(run_lines(m, x, 6, 0, y, &n), status);
        if (!strstr(m->vtbl->LastError(m), why) || !strstr(m->vtbl->LastError(m), "plug-in 'mine'"))
            fail_msg("%s", m->vtbl->LastError(m));
    }
    pass = NULL;
    m->vtbl->Destroy(m);
}

/* --- what it sees ----------------------------------------------------------------------- */

static void say(const char *format, ...)
{
    va_list values;
    size_t n = strlen(seen);
    va_start(values, format);
    vsnprintf(seen + n, sizeof seen - n, format, values);
    va_end(values);
}

static void say_value(EvalCall *call, EvalValue value)
{
    EvalValueView v = { .size = sizeof v };
    if (!call->host->Value(call, value, &v)) {
        say(" none");
        return;
    }
    say(" %s[%d]%s%s by %d for %d", v.tensor.name, v.tensor.rank ? (int)v.tensor.dims[0] : -9,
        v.tensor.data ? " known" : "", v.isOutput ? " out" : "", (int)v.producer, (int)v.readers);
    assert_false(v.isOutside);
}

static EvalStatus look(EvalCall *call)
{
    const EvalHost *host = call->host;
    EvalNode node = { .size = sizeof node };
    assert_string_equal(call->op, "the pass");
    assert_int_equal(call->real, REAL_TYPE);
    for (size_t i = 0; i < host->Nodes(call); i++) {
        assert_int_equal(host->Node(call, i, &node), 1);
        say("%s:%s %s v%d beta %d;", node.domain, node.op, node.name, (int)node.version,
            (int)host->Int(call, "axis", -7));
        for (size_t j = 0; j < node.nIn; j++)
            say_value(call, host->NodeInput(call, i, j));
        say(" >");
        for (size_t j = 0; j < node.nOut; j++)
            say_value(call, host->NodeOutput(call, i, j));
        say("\n");
    }
    return EVAL_OK;
}

static void it_sees_nodes_attributes_and_values(void **state)
{
    (void)state;
    seen[0] = '\0';
    expect("lines\nin x -1\nconstant k 1 = 2\nnode a - Mul 14 x k > p\n"
           "node b - Concat 13 p > q axis=0\nnode c test Fma 1 q p x > y\nout y\n",
           look, (real[]){ 14, 3, 0, 5, 18, 39 });
    assert_string_equal(seen, ":Mul a v14 beta -7; x[6] by -1 for 2 k[1] known by -1 for 1 >"
                              " p[6] by 0 for 2\n"
                              ":Concat b v13 beta 0; p[6] by 0 for 2 > q[6] by 1 for 1\n"
                              "test:Fma c v1 beta -7; q[6] by 1 for 1 p[6] by 0 for 2"
                              " x[6] by -1 for 2 > y[6] out by 2 for 1\n");
}

static EvalStatus look_where_nothing_is(EvalCall *call)
{
    const EvalHost *host = call->host;
    struct {
        size_t size;
        char guard[sizeof(EvalNode)];
    } small = { .size = sizeof(size_t) };
    EvalValueView v = { .size = sizeof v };
    EvalNode node = { .size = sizeof node };
    assert_int_equal(host->Node(call, 1, &node), 0);
    assert_int_equal(host->Node(call, SIZE_MAX, &node), 0);
    assert_int_equal(host->Node(call, 0, NULL), 0);
    assert_int_equal(host->Node(call, 0, (EvalNode *)&small), 1); /* of an older plug-in */
    for (size_t i = 0; i < sizeof small.guard; i++)
        assert_int_equal(small.guard[i], 0);
    assert_int_equal(host->NodeInput(call, 0, 1), 0);
    assert_int_equal(host->NodeInput(call, 9, 0), 0);
    assert_int_equal(host->NodeOutput(call, 0, SIZE_MAX), 0);
    for (EvalValue value = 0; value < 100; value++)
        assert_int_equal(host->Value(call, value, &v), value >= 1 && value <= 2);
    for (int bit = 2; bit < 64; bit++)
        assert_int_equal(host->Value(call, ((EvalValue)1 << bit) + 1, &v), 0);
    assert_int_equal(host->Value(call, (EvalValue)-1, &v), 0);
    return EVAL_OK;
}

static void what_there_is_not_is_not_seen(void **state)
{
    (void)state;
    expect(relu, look_where_nothing_is, (real[]){ 0, 0, 0, 1, 2, 3 });
}

/* --- what it makes ------------------------------------------------------------------------ */

static EvalStatus rename_relu(EvalCall *call)
{
    return call->host->RenameNode(call, 0, "", "Neg", 13);
}

static EvalStatus put_fma(EvalCall *call)
{
    const EvalHost *host = call->host;
    int64_t more = 5;
    EvalAttribute attribute = { "more", EVAL_ATTRIBUTE_INT, 0, 1, &more };
    EvalValue v = host->NodeInput(call, 0, 0), in[] = { v, v, v }, out = host->NodeOutput(call, 1, 0);
    EvalNode node = { .size = sizeof node };
    EvalStatus st = host->PutNode(call, "test", "Fma", 1, "fused", in, 3, &out, 1, &attribute, 1);
    assert_int_equal(host->Nodes(call), 3);
    assert_int_equal(host->Node(call, 0, &node), 1);
    assert_int_equal(host->Node(call, 1, &node), 0); /* it computes nothing any more */
    assert_int_equal(host->Node(call, 2, &node), 1);
    assert_string_equal(node.name, "fused");
    EvalValueView view = { .size = sizeof view };
    assert_int_equal(host->Value(call, out, &view), 1);
    assert_int_equal(view.producer, 2);
    return st;
}

/* x * x becomes numbers, by a constant and Identity. */
static EvalStatus fold(EvalCall *call)
{
    const EvalHost *host = call->host;
    double numbers[] = { 1, 2, 3, 4, 5, 6 };
    EvalTensor t = { .name = "six", .type = EVAL_FLOAT64, .rank = 1, .dims = { 6 }, .data = numbers,
                     .bytes = sizeof numbers };
    EvalValue six = host->NewConstant(call, &t), out = host->NodeOutput(call, 0, 0);
    assert_int_not_equal(six, 0);
    return host->PutNode(call, NULL, "Identity", 13, "", &six, 1, &out, 1, NULL, 0);
}

/* Two nodes in the place of one: y = -relu(x). */
static EvalStatus put_two(EvalCall *call)
{
    const EvalHost *host = call->host;
    EvalValue in = host->NodeInput(call, 0, 0), out = host->NodeOutput(call, 0, 0);
    EvalValue between = host->NewValue(call, "between");
    EvalStatus st = host->PutNode(call, "", "Neg", 13, "last", &between, 1, &out, 1, NULL, 0);
    return st == EVAL_OK ? host->PutNode(call, "", "Relu", 14, "first", &in, 1, &between, 1, NULL, 0)
                         : st;
}

static void a_node_is_renamed(void **state)
{
    (void)state;
    expect(relu, rename_relu, (real[]){ 2, 1, 0, -1, -2, -3 });
}

static void a_chain_becomes_a_node_of_its_own(void **state)
{
    (void)state;
    expect(chain, put_fma, (real[]){ 7, 5, 5, 7, 11, 17 });
}

static void a_value_becomes_a_constant(void **state)
{
    (void)state;
    expect(chain, fold, (real[]){ -1, 1, 3, 5, 7, 9 });
}

static void nodes_may_come_in_any_order(void **state)
{
    (void)state;
    expect(relu, put_two, (real[]){ 0, 0, 0, -1, -2, -3 });
}

static EvalStatus subtract_in_bodies(EvalCall *call)
{
    const EvalHost *host = call->host;
    EvalValueView v = { .size = sizeof v };
    EvalNode node = { .size = sizeof node };
    say("[%d]", (int)host->Nodes(call));
    for (size_t i = 0; i < host->Nodes(call); i++) {
        if (!host->Node(call, i, &node) || strcmp(node.op, "Add") != 0)
            continue;
        EvalValue in = host->NodeInput(call, i, 0);
        assert_int_equal(host->Value(call, in, &v), 1);
        if (!v.isOutside)
            continue;
        say("%s", v.tensor.name);
        assert_int_equal(v.producer, -1);
        if (host->RenameNode(call, i, "", "Sub", 14) != EVAL_OK)
            return EVAL_ERR_FORMAT;
    }
    return EVAL_OK;
}

/* nested_if.onnx: late = x + x; y = c ? (c ? late + k : late) : 9. */
static void bodies_are_passed_over_before_what_is_around_them(void **state)
{
    (void)state;
    bool c = true;
    real in[] = { 1, 2 }, out[2];
    EvalTensor given[] = { { .name = "c", .type = EVAL_BOOL, .data = &c, .bytes = sizeof c },
                           { .name = "x", .type = REAL_TYPE, .rank = 1, .dims = { 2 }, .data = in,
                             .bytes = sizeof in } };
    EvalTensor asked = { .name = "y", .type = REAL_TYPE, .data = out, .bytes = sizeof out };
    pass = subtract_in_bodies;
    seen[0] = '\0';
    model *m = make();
    assert_int_equal(plugins(m)->LoadStatic(m, &mine), EVAL_OK);
    assert_int_equal(m->vtbl->CreateNetwork(m, "modelPath=\"" EVL_TEST_DATA "/onnx/nested_if.onnx\""),
                     EVAL_OK);
    if (m->vtbl->Run(m, given, 2, &asked, 1, NULL) != EVAL_OK)
        fail_msg("%s", m->vtbl->LastError(m));
    assert_true(out[0] == 2 - 5 && out[1] == 4 - 6);
    assert_string_equal(seen, "[0][1][1]late[1][2]");
    m->vtbl->Destroy(m);
}

/* --- what is refused ------------------------------------------------------------------------- */

static EvalStatus give_up(EvalCall *call)
{
    return call->host->Fail(call, EVAL_ERR_UNSUPPORTED, "not on a %s", "Monday");
}

static EvalStatus give_up_silently(EvalCall *call)
{
    (void)call;
    return EVAL_ERR_TYPE;
}

static EvalStatus ask_for_an_operator_that_there_is_not(EvalCall *call)
{
    EvalValue in = call->host->NodeInput(call, 0, 0), out = call->host->NodeOutput(call, 0, 0);
    (void)call->host->PutNode(call, "test", "Nothing", 1, "", &in, 1, &out, 1, NULL, 0);
    return EVAL_OK; /* as if it had worked */
}

static EvalStatus ask_for_a_body(EvalCall *call)
{
    return call->host->RenameNode(call, 0, "", "Loop", 13);
}

static EvalStatus ask_for_one_of_ours(EvalCall *call)
{
    return call->host->RenameNode(call, 0, "evl", "Product", 1);
}

static EvalStatus compute_the_input(EvalCall *call)
{
    EvalValue in = call->host->NodeInput(call, 0, 0);
    return call->host->PutNode(call, "", "Neg", 13, "", &in, 1, &in, 1, NULL, 0);
}

static EvalStatus read_what_there_is_not(EvalCall *call)
{
    EvalValue in = 77, out = call->host->NodeOutput(call, 0, 0);
    return call->host->PutNode(call, "", "Neg", 13, "", &in, 1, &out, 1, NULL, 0);
}

static EvalStatus make_a_circle(EvalCall *call)
{
    EvalValue out = call->host->NodeOutput(call, 0, 0), more = call->host->NewValue(call, NULL);
    EvalStatus st = call->host->PutNode(call, "", "Neg", 13, "a", &out, 1, &more, 1, NULL, 0);
    return st == EVAL_OK ? call->host->PutNode(call, "", "Neg", 13, "b", &more, 1, &out, 1, NULL, 0) : st;
}

static EvalStatus leave_it_without_inputs(EvalCall *call)
{
    EvalValue out = call->host->NodeOutput(call, 0, 0);
    return call->host->PutNode(call, "", "Neg", 13, "", NULL, 0, &out, 1, NULL, 0);
}

static EvalStatus read_what_nobody_computes(EvalCall *call)
{
    EvalValue in = call->host->NewValue(call, "nobody's"), out = call->host->NodeOutput(call, 0, 0);
    return call->host->PutNode(call, "", "Neg", 13, "", &in, 1, &out, 1, NULL, 0);
}

static EvalStatus give_a_short_constant(EvalCall *call)
{
    double number = 1;
    EvalTensor t = { .name = "k", .type = EVAL_FLOAT64, .rank = 1, .dims = { 2 }, .data = &number,
                     .bytes = sizeof number };
    assert_int_equal(call->host->NewConstant(call, &t), 0);
    return EVAL_OK;
}

static EvalStatus add_what_readers_add(EvalCall *call)
{
    EvalTensor t = { .name = "k", .type = EVAL_FLOAT32 };
    assert_int_not_equal(call->host->AddInput(call, &t, NULL), EVAL_OK);
    assert_int_not_equal(call->host->AddOutput(call, "k"), EVAL_OK);
    return EVAL_OK;
}

static void what_fails_is_told(void **state)
{
    (void)state;
    expect_failure(relu, give_up, EVAL_ERR_UNSUPPORTED, "pass 'the pass' of plug-in 'mine': plug-in 'mine': not on a Monday");
    expect_failure(relu, give_up_silently, EVAL_ERR_TYPE, "gives no reason");
    expect_failure(relu, ask_for_an_operator_that_there_is_not, EVAL_ERR_FORMAT, "'Nothing' is not offered");
    expect_failure(relu, ask_for_a_body, EVAL_ERR_FORMAT, "'Loop' has bodies");
    expect_failure(relu, ask_for_one_of_ours, EVAL_ERR_FORMAT, "'Product' is not offered");
    expect_failure(relu, compute_the_input, EVAL_ERR_FORMAT, "computes a value that there is not");
    expect_failure(relu, read_what_there_is_not, EVAL_ERR_FORMAT, "reads a value that there is not");
    expect_failure(relu, give_a_short_constant, EVAL_ERR_FORMAT, "of another size");
    expect_failure(relu, add_what_readers_add, EVAL_ERR_FORMAT, "not a reader's");
}

/* Found when the whole is looked at. */
static void what_makes_no_network_is_told(void **state)
{
    (void)state;
    expect_failure(relu, make_a_circle, EVAL_ERR_FORMAT, "a cycle");
    expect_failure(relu, leave_it_without_inputs, EVAL_ERR_FORMAT, "inputs");
    expect_failure(relu, read_what_nobody_computes, EVAL_ERR_FORMAT, "nobody's");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_sees_nodes_attributes_and_values),
        cmocka_unit_test(what_there_is_not_is_not_seen),
        cmocka_unit_test(a_node_is_renamed),
        cmocka_unit_test(a_chain_becomes_a_node_of_its_own),
        cmocka_unit_test(a_value_becomes_a_constant),
        cmocka_unit_test(nodes_may_come_in_any_order),
        cmocka_unit_test(bodies_are_passed_over_before_what_is_around_them),
        cmocka_unit_test(what_fails_is_told),
        cmocka_unit_test(what_makes_no_network_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
