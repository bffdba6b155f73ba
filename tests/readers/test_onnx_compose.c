/* Operators that the reader writes as others in a row: what comes of them is computed, and
** compared with plain loops. */
#include "passes/network.h"
#include "readers/onnx/compose.h"
#include <string.h>

enum { MOST_INPUTS = 8 };

/* A node as read, its inputs those of a graph. */
typedef struct composed {
    network n;
    evl_onnx o;
    evl_onnx_scope scope;
    evl_onnx_draft d;
    evl_value *inputs[MOST_INPUTS + EVL_ONNX_SPARE], *outputs[4];
    evl_attribute attributes[8];
} composed;

static void begin(composed *c, const char *domain, const char *op)
{
    evl_context *ctx = evl_test_begin();
    *c = (composed){ .n = { .b = { ctx, evl_graph_new(evl_arena_new(ctx->memory), NULL), EVAL_OK },
                            .precision = EVL_DOUBLE } };
    c->o = (evl_onnx){ .ctx = ctx, .arena = c->n.b.graph->arena, .scratch = c->n.b.graph->arena };
    c->scope.graph = c->n.b.graph;
    c->outputs[0] = evl_graph_value(c->n.b.graph, "y");
    c->d = (evl_onnx_draft){ .name = "node", .op = op, .domain = domain, .version = 1,
                             .inputs = c->inputs, .outputs = c->outputs, .n_outputs = 1,
                             .attributes = c->attributes };
}

static void take(composed *c, evl_value *v)
{
    c->inputs[c->d.n_inputs++] = v;
}

static void set(composed *c, evl_attribute a)
{
    c->attributes[c->d.n_attributes++] = a;
}

static const double *data_of(const evl_value *v)
{
    return v->t.data;
}

/* The draft's node joins the graph, which is then run for `asked`. */
static void result(composed *c, evl_value *asked, double *y)
{
    evl_machine machine;
    evl_context *ctx = c->n.b.ctx;
    evl_test_machine(&machine, EVL_DOUBLE, 0);
    if (evl_onnx_compose(&c->o, &c->scope, &c->d) != EVAL_OK)
        fail_msg("%s", ctx->error.text);
    const evl_op *op = evl_op_find(c->d.domain, c->d.op);
    assert_non_null(op);
    evl_node *node = evl_graph_node(c->scope.graph, op, "", c->d.n_inputs, c->d.n_outputs);
    assert_true(evl_node_attributes(node, c->d.attributes, c->d.n_attributes));
    node->version = c->d.version;
    for (size_t i = 0; i < c->d.n_inputs; i++)
        node->inputs[i] = c->d.inputs[i];
    for (size_t i = 0; i < c->d.n_outputs; i++)
        if (c->d.outputs[i])
            evl_node_output(node, i, c->d.outputs[i]);
    assert_int_equal(evl_graph_sort(ctx, c->scope.graph), EVAL_OK);
    if (evl_infer_graph(ctx, c->scope.graph) != EVAL_OK)
        fail_msg("%s", ctx->error.text);
    run(&c->n, &machine, &asked, 1, y);
}

static void end(composed *c)
{
    evl_arena_free(c->n.b.graph->arena);
    evl_test_end(c->n.b.ctx);
}

static void near(double got, double right)
{
    if (!(fabs(got - right) <= 1e-12 * (1 + fabs(right))))
        fail_msg("%.17g, expected %.17g", got, right);
}

enum { ROWS = 3, SIZE = 5 };
static const int64_t table[] = { ROWS, SIZE }, line[] = { SIZE };

static void gates_and_gelus(void **state)
{
    (void)state;
    static const struct {
        const char *domain, *op;
        bool has_second;
    } all[] = { { "", "SwiGLU", true },
                { "com.microsoft", "QuickGelu", false },
                { "com.microsoft", "BiasGelu", true },
                { "com.microsoft", "FastGelu", true } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        composed c;
        double y[ROWS * SIZE];
        begin(&c, all[i].domain, all[i].op);
        take(&c, constant(&c.n, 2, table));
        if (all[i].has_second)
            take(&c, constant(&c.n, i ? 1 : 2, i ? line : table));
        const double *a = data_of(c.inputs[0]), *b = i == 1 ? NULL : data_of(c.inputs[1]);
        result(&c, c.outputs[0], y);
        for (size_t j = 0; j < ROWS * SIZE; j++) {
            double x = a[j], sum = b ? x + b[j % SIZE] : x, t = sqrt(2 / acos(-1));
            double right[] = { b ? x / (1 + exp(-x)) * b[j] : 0,
                               x / (1 + exp(-(double)1.702f * x)),
                               sum / 2 * (1 + erf(sum / sqrt(2))),
                               sum / 2 * (1 + tanh(t * (sum + 0.044715 * sum * sum * sum))) };
            if (i == 3) /* its coefficient is a float's */
                assert_true(fabs(y[j] - right[i]) < 1e-8);
            else
                near(y[j], right[i]);
        }
        end(&c);
    }
}

/* Both outputs: the normalized rows, and the sum that was normalized. */
static void skips_are_added_and_normalized(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) {
        composed c;
        double y[ROWS * SIZE];
        bool is_rms = way & 1, wants_sum = way & 2;
        begin(&c, "com.microsoft",
              is_rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization");
        set(&c, evl_attribute_number("epsilon", 1e-3));
        take(&c, constant(&c.n, 2, table));
        take(&c, constant(&c.n, 2, table));
        take(&c, constant(&c.n, 1, line));
        if (!is_rms)
            take(&c, NULL);
        take(&c, constant(&c.n, 1, line));
        c.outputs[3] = evl_graph_value(c.n.b.graph, "sum");
        c.d.n_outputs = 4;
        const double *a = data_of(c.inputs[0]), *b = data_of(c.inputs[1]), *scale = data_of(c.inputs[2]),
                     *bias = data_of(c.inputs[is_rms ? 3 : 4]);
        result(&c, c.outputs[wants_sum ? 3 : 0], y);
        for (size_t r = 0; r < ROWS; r++) {
            double x[SIZE], mean = 0, square = 0;
            for (size_t j = 0; j < SIZE; j++) {
                x[j] = a[r * SIZE + j] + b[r * SIZE + j] + bias[j];
                mean += is_rms ? 0 : x[j] / SIZE;
            }
            for (size_t j = 0; j < SIZE; j++)
                square += (x[j] - mean) * (x[j] - mean) / SIZE;
            for (size_t j = 0; j < SIZE; j++)
                near(y[r * SIZE + j],
                     wants_sum ? x[j] : (x[j] - mean) / sqrt(square + 1e-3) * scale[j]);
        }
        end(&c);
    }
}

static void transposed_factors_are_read_where_they_lie(void **state)
{
    (void)state;
    enum { M = 3, N = 4, K = 5 };
    for (size_t way = 0; way < 4; way++) {
        composed c;
        double y[M * N];
        bool a_turned = way & 1, b_turned = way & 2;
        begin(&c, "com.microsoft", "FusedMatMul");
        set(&c, evl_attribute_int("transA", a_turned));
        set(&c, evl_attribute_int("transB", b_turned));
        set(&c, evl_attribute_number("alpha", 0.5));
        take(&c, constant(&c.n, 2, a_turned ? (int64_t[]){ K, M } : (int64_t[]){ M, K }));
        take(&c, constant(&c.n, 2, b_turned ? (int64_t[]){ N, K } : (int64_t[]){ K, N }));
        const double *a = data_of(c.inputs[0]), *b = data_of(c.inputs[1]);
        result(&c, c.outputs[0], y);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double sum = 0;
                for (size_t k = 0; k < K; k++)
                    sum += a[a_turned ? k * M + i : i * K + k] * b[b_turned ? j * K + k : k * N + j];
                near(y[i * N + j], sum / 2);
            }
        end(&c);
    }
}

static void activations_end_products(void **state)
{
    (void)state;
    composed c;
    double y[ROWS * ROWS];
    begin(&c, "com.microsoft", "FusedGemm");
    set(&c, evl_attribute_text("activation", "LeakyRelu"));
    set(&c, evl_attribute_number("activation_alpha", 0.25));
    set(&c, evl_attribute_int("transB", 1));
    take(&c, constant(&c.n, 2, table));
    take(&c, constant(&c.n, 2, table));
    const double *a = data_of(c.inputs[0]), *b = data_of(c.inputs[1]);
    result(&c, c.outputs[0], y);
    for (size_t i = 0; i < ROWS * ROWS; i++) {
        double sum = 0;
        for (size_t k = 0; k < SIZE; k++)
            sum += a[i / ROWS * SIZE + k] * b[i % ROWS * SIZE + k];
        near(y[i], sum < 0 ? sum / 4 : sum);
    }
    end(&c);
}

static void an_unknown_activation_is_refused(void **state)
{
    (void)state;
    composed c;
    begin(&c, "com.microsoft", "FusedGemm");
    set(&c, evl_attribute_text("activation", "Sine"));
    take(&c, constant(&c.n, 2, table));
    take(&c, constant(&c.n, 2, table));
    assert_int_equal(evl_onnx_compose(&c.o, &c.scope, &c.d), EVAL_ERR_UNSUPPORTED);
    assert_non_null(strstr(c.n.b.ctx->error.text, "Sine"));
    end(&c);
}

enum { HEADS = 2, HEAD = 3, N_Q = 3, N_K = 4 };

/* A row of a head; `sum` is that of the weights which have no value. */
static void check_head(const double *y, const double *q, const double *k, const double *v,
                       size_t row, const double *added, double scale, double sum)
{
    double weight[N_K];
    for (size_t j = 0; j < N_K; j++) {
        weight[j] = added[j];
        for (size_t d = 0; d < HEAD; d++)
            weight[j] += scale * q[d] * k[j * row + d];
        sum += weight[j] = exp(weight[j]);
    }
    for (size_t d = 0; d < HEAD; d++) {
        double right = 0;
        for (size_t j = 0; j < N_K; j++)
            right += weight[j] / sum * v[j * row + d];
        near(y[d], right);
    }
}

static void heads_of_a_padded_sample(void **state)
{
    (void)state;
    composed c;
    double y[N_Q * HEADS * HEAD];
    const int64_t q[] = { 1, N_Q, HEADS * HEAD }, k[] = { 1, N_K, HEADS * HEAD }, mask[] = { 1, N_K };
    static int32_t keeps[N_K] = { 1, 1, 0, 1 };
    const double added[N_K] = { 0, 0, -50, 0 };
    evl_shape shape = evl_shape_of(2, mask);
    begin(&c, "com.microsoft", "MultiHeadAttention");
    set(&c, evl_attribute_int("num_heads", HEADS));
    set(&c, evl_attribute_number("mask_filter_value", -50));
    take(&c, constant(&c.n, 3, q));
    take(&c, constant(&c.n, 3, k));
    take(&c, constant(&c.n, 3, k));
    take(&c, NULL);
    take(&c, evl_graph_constant(c.n.b.graph, NULL, EVAL_INT32, &shape, keeps));
    evl_value *in[3] = { c.inputs[0], c.inputs[1], c.inputs[2] };
    result(&c, c.outputs[0], y);
    for (size_t i = 0; i < N_Q * HEADS; i++)
        check_head(y + i * HEAD, data_of(in[0]) + i * HEAD, data_of(in[1]) + i % HEADS * HEAD,
                   data_of(in[2]) + i % HEADS * HEAD, (size_t)HEADS * HEAD, added, 1 / sqrt(HEAD), 0);
    end(&c);
}

/* Keys after the row's own are excluded by a body; two heads share K and V. */
static void bodies_change_scores(void **state)
{
    (void)state;
    composed c;
    double y[HEADS * N_Q * HEAD];
    const int64_t q[] = { 1, HEADS, N_Q, HEAD }, k[] = { 1, 1, N_K, HEAD }, bias[] = { N_Q, N_K };
    begin(&c, "ai.onnx.preview", "FlexAttention");
    take(&c, constant(&c.n, 4, q));
    take(&c, constant(&c.n, 4, k));
    take(&c, constant(&c.n, 4, k));
    evl_graph *body = evl_graph_new(c.n.b.graph->arena, c.n.b.graph);
    evl_value *scores = evl_graph_value(body, "scores"), *added = constant(&c.n, 2, bias);
    assert_true(evl_graph_add_input(body, scores));
    evl_node *add = evl_graph_node(body, &evl_op_add, "", 2, 1);
    add->version = EVL_ONNX_NEWEST_OPSET;
    add->inputs[0] = scores;
    add->inputs[1] = added;
    evl_node_output(add, 0, evl_graph_value(body, "biased"));
    assert_true(evl_graph_add_output(body, add->outputs[0]));
    set(&c, evl_attribute_graph("score_mod", body));
    set(&c, evl_attribute_number("scale", 0.5));
    evl_value *in[3] = { c.inputs[0], c.inputs[1], c.inputs[2] };
    result(&c, c.outputs[0], y);
    for (size_t i = 0; i < HEADS * N_Q; i++)
        check_head(y + i * HEAD, data_of(in[0]) + i * HEAD, data_of(in[1]), data_of(in[2]), HEAD,
                   data_of(added) + i % N_Q * N_K, 0.5, 0);
    end(&c);
}

/* K and V in one tensor, side by side for each head; a sample has three keys of four. */
static void keys_and_values_come_in_one_input(void **state)
{
    (void)state;
    composed c;
    double y[N_Q * HEADS * HEAD];
    const int64_t q[] = { 1, N_Q, HEADS * HEAD }, kv[] = { 1, N_K, HEADS, 2, HEAD }, samples = 1;
    static int32_t keys[] = { 3 };
    const double added[N_K] = { 0, 0, 0, -50 };
    evl_shape shape = evl_shape_of(1, &samples);
    begin(&c, "com.microsoft", "MultiHeadAttention");
    set(&c, evl_attribute_int("num_heads", HEADS));
    set(&c, evl_attribute_number("mask_filter_value", -50));
    take(&c, constant(&c.n, 3, q));
    take(&c, constant(&c.n, 5, kv));
    take(&c, NULL);
    take(&c, NULL);
    take(&c, evl_graph_constant(c.n.b.graph, NULL, EVAL_INT32, &shape, keys));
    const double *from = data_of(c.inputs[0]), *pair = data_of(c.inputs[1]);
    result(&c, c.outputs[0], y);
    for (size_t i = 0; i < N_Q * HEADS; i++) {
        const double *k = pair + i % HEADS * 2 * HEAD;
        check_head(y + i * HEAD, from + i * HEAD, k, k + HEAD, (size_t)HEADS * 2 * HEAD, added,
                   1 / sqrt(HEAD), 0);
    }
    end(&c);
}

/* Three new rows behind one that was before, for two heads of Q; each row sees what is before
** it, no farther than two keys back; then with a weight that goes nowhere. */
static void queries_share_keys_that_are_stored(void **state)
{
    (void)state;
    for (int64_t is_smooth = 0; is_smooth < 2; is_smooth++) {
        composed c;
        double y[N_Q * HEADS * HEAD], k[N_K * HEAD], v[N_K * HEAD];
        const int64_t q[] = { 1, N_Q, HEADS * HEAD }, new[] = { 1, N_Q, HEAD }, past[] = { 1, 1, 1, HEAD };
        static int32_t last[] = { N_K - 1 }, total[] = { N_K };
        evl_shape shape = evl_shape_of(1, (const int64_t[]){ 1 }), one = evl_shape_scalar();
        begin(&c, "com.microsoft", "GroupQueryAttention");
        set(&c, evl_attribute_int("num_heads", HEADS));
        set(&c, evl_attribute_int("kv_num_heads", 1));
        set(&c, evl_attribute_int("local_window_size", 2));
        set(&c, evl_attribute_int("smooth_softmax", is_smooth));
        take(&c, constant(&c.n, 3, q));
        for (size_t i = 0; i < 4; i++)
            take(&c, constant(&c.n, i < 2 ? 3 : 4, i < 2 ? new : past));
        take(&c, evl_graph_constant(c.n.b.graph, NULL, EVAL_INT32, &shape, last));
        take(&c, evl_graph_constant(c.n.b.graph, NULL, EVAL_INT32, &one, total));
        const double *from = data_of(c.inputs[0]);
        memcpy(k, data_of(c.inputs[3]), HEAD * sizeof *k);
        memcpy(k + HEAD, data_of(c.inputs[1]), sizeof k - HEAD * sizeof *k);
        memcpy(v, data_of(c.inputs[4]), HEAD * sizeof *v);
        memcpy(v + HEAD, data_of(c.inputs[2]), sizeof v - HEAD * sizeof *v);
        result(&c, c.outputs[0], y);
        for (size_t i = 0; i < N_Q * HEADS; i++) {
            double added[N_K];
            for (size_t j = 0; j < N_K; j++)
                added[j] = j == i / HEADS || j == i / HEADS + 1 ? 0 : -900;
            check_head(y + i * HEAD, from + i * HEAD, k, v, HEAD, added, 1 / sqrt(HEAD), (double)is_smooth);
        }
        end(&c);
    }
}

/* The axis of rows stands in front of that of the batch. */
static void rows_may_stand_in_front_of_a_batch(void **state)
{
    (void)state;
    enum { BATCH = 2, M = 3, N = 4, K = 5 };
    composed c;
    double y[BATCH * M * N];
    begin(&c, "com.microsoft", "FusedMatMul");
    set(&c, evl_attribute_int("transBatchA", 1));
    take(&c, constant(&c.n, 3, (int64_t[]){ M, BATCH, K }));
    take(&c, constant(&c.n, 3, (int64_t[]){ BATCH, K, N }));
    const double *a = data_of(c.inputs[0]), *b = data_of(c.inputs[1]);
    result(&c, c.outputs[0], y);
    for (size_t i = 0; i < BATCH * M * N; i++) {
        size_t batch = i / (M * N), row = i / N % M;
        double sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += a[(row * BATCH + batch) * K + k] * b[(batch * K + k) * N + i % N];
        near(y[i], sum);
    }
    end(&c);
}

/* What is not composed is left for the list of what is missing. */
static void other_forms_are_left(void **state)
{
    (void)state;
    composed c;
    begin(&c, "com.microsoft", "MultiHeadAttention");
    take(&c, constant(&c.n, 2, table));
    take(&c, NULL);
    take(&c, constant(&c.n, 2, table));
    assert_int_equal(evl_onnx_compose(&c.o, &c.scope, &c.d), EVAL_OK);
    assert_string_equal(c.d.op, "MultiHeadAttention");
    assert_int_equal(c.n.b.graph->n_nodes, 0);
    end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_and_gelus),
        cmocka_unit_test(skips_are_added_and_normalized),
        cmocka_unit_test(transposed_factors_are_read_where_they_lie),
        cmocka_unit_test(activations_end_products),
        cmocka_unit_test(an_unknown_activation_is_refused),
        cmocka_unit_test(heads_of_a_padded_sample),
        cmocka_unit_test(bodies_change_scores),
        cmocka_unit_test(keys_and_values_come_in_one_input),
        cmocka_unit_test(queries_share_keys_that_are_stored),
        cmocka_unit_test(rows_may_stand_in_front_of_a_batch),
        cmocka_unit_test(other_forms_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
