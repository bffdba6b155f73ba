/* Ensembles of trees: every way to branch, missing values, sums, labels; and files that do not
** fit together. */
#include "op_case.h"
#include <stdlib.h>

static const char classifier[] = "ai.onnx.ml.TreeEnsembleClassifier";
static const char regressor[] = "ai.onnx.ml.TreeEnsembleRegressor";
static const char ensemble[] = "ai.onnx.ml.TreeEnsemble";

static evl_attribute texts(const char *name, const EvalString *list, size_t n)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_TEXTS, .n = n, .u.texts = list };
}

static evl_attribute held(const char *name, const evl_tensor *t)
{
    return (evl_attribute){ .name = name, .kind = EVL_ATTRIBUTE_TENSOR, .u.tensor = t };
}

static EvalString text(const char *t)
{
    return (EvalString){ t, strlen(t) };
}

enum { ATTRIBUTES = 24 };

/* A case with more attributes than op_case holds. */
static EvalStatus run_with(const char *op, const evl_attribute *a, size_t n, evl_tensor x,
                           size_t n_out, evl_precision precision, double out[2][64])
{
    evl_context *ctx = evl_test_begin();
    evl_op_run r = { .op = case_op(op),
                     .attributes = a,
                     .n_attributes = n,
                     .n_in = 1,
                     .n_out = n_out,
                     .threads = 2 };
    assert_non_null(r.op);
    r.in[0] = x;
    EvalStatus st = evl_run_op(ctx, &r, precision, evl_cpu_features());
    if (st != EVAL_OK)
        assert_true(ctx->error.text[0] != '\0');
    for (size_t i = 0; st == EVAL_OK && i < n_out; i++)
        for (size_t j = 0; j < evl_shape_count(&r.out[i].shape) && j < 64; j++)
            out[i][j] = evl_tensor_f64(&r.out[i], j);
    evl_run_op_end(&r);
    evl_test_end(ctx);
    return st;
}

/* One split over leaves of 1 and 2, in the form before opset 5. */
typedef struct stump {
    int64_t trees[3], numbers[3], features[3], yes[3], no[3], tracks[3];
    double values[3];
    EvalString modes[3];
    int64_t leaf_trees[2], leaf_numbers[2], leaf_targets[2];
    double weights[2];
} stump;

static stump make_stump(const char *mode, double value, int64_t tracks)
{
    return (stump){ .numbers = { 0, 1, 2 },
                    .yes = { 1, 0, 0 },
                    .no = { 2, 0, 0 },
                    .tracks = { tracks, 0, 0 },
                    .values = { value, 0, 0 },
                    .modes = { text(mode), text("LEAF"), text("LEAF") },
                    .leaf_numbers = { 1, 2 },
                    .weights = { 1, 2 } };
}

static size_t stump_attributes(const stump *s, const char *leaves, evl_attribute *a)
{
    static char name[4][32];
    const char *ends[] = { "treeids", "nodeids", "ids", "weights" };
    size_t n = 0;
    for (int i = 0; i < 4; i++)
        snprintf(name[i], sizeof name[i], "%s_%s", leaves, ends[i]);
    a[n++] = evl_attribute_ints("nodes_treeids", s->trees, 3);
    a[n++] = evl_attribute_ints("nodes_nodeids", s->numbers, 3);
    a[n++] = evl_attribute_ints("nodes_featureids", s->features, 3);
    a[n++] = evl_attribute_ints("nodes_truenodeids", s->yes, 3);
    a[n++] = evl_attribute_ints("nodes_falsenodeids", s->no, 3);
    a[n++] = evl_attribute_ints("nodes_missing_value_tracks_true", s->tracks, 3);
    a[n++] = evl_attribute_numbers("nodes_values", s->values, 3);
    a[n++] = texts("nodes_modes", s->modes, 3);
    a[n++] = evl_attribute_ints(name[0], s->leaf_trees, 2);
    a[n++] = evl_attribute_ints(name[1], s->leaf_numbers, 2);
    a[n++] = evl_attribute_ints(name[2], s->leaf_targets, 2);
    a[n++] = evl_attribute_numbers(name[3], s->weights, 2);
    return n;
}

static const double columns[] = { -1, 0.1f, 0.5, 2, NAN, -INFINITY, INFINITY, 0 };
enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

static bool holds(const char *mode, double x, double t)
{
    return strcmp(mode, "BRANCH_LEQ") == 0   ? x <= t
           : strcmp(mode, "BRANCH_LT") == 0  ? x < t
           : strcmp(mode, "BRANCH_GTE") == 0 ? x >= t
           : strcmp(mode, "BRANCH_GT") == 0  ? x > t
           : strcmp(mode, "BRANCH_EQ") == 0  ? x == t
                                             : x != t;
}

static void check_mode(const char *mode, double threshold, int64_t tracks)
{
    evl_attribute a[ATTRIBUTES];
    double got[2][64];
    stump s = make_stump(mode, threshold, tracks);
    size_t n = stump_attributes(&s, "target", a);
    for (int precision = 0; precision < EVL_PRECISIONS; precision++) {
        assert_int_equal(run_with(regressor, a, n, matrix(EVAL_FLOAT64, columns, N_COLUMNS, 1), 1,
                                  (evl_precision)precision, got),
                         EVAL_OK);
        for (size_t i = 0; i < N_COLUMNS; i++) {
            bool yes = holds(mode, columns[i], threshold) || (isnan(columns[i]) && tracks);
            if (got[0][i] != (yes ? 1 : 2))
                fail_msg("%s %g, x %g: %g", mode, threshold, columns[i], got[0][i]);
        }
    }
}

static void every_mode_compares_as_it_is_named(void **state)
{
    static const char *const modes[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ" };
    static const double thresholds[] = { -1, 0.1f, 0, 2, INFINITY, -INFINITY };
    (void)state;
    for (size_t m = 0; m < 6; m++)
        for (size_t t = 0; t < 6; t++)
            for (int64_t tracks = 0; tracks < 2; tracks++)
                check_mode(modes[m], thresholds[t], tracks);
}

/* In double, 0.1 lies below the float32 that a file holds for it. */
static void a_threshold_is_the_files_own_number(void **state)
{
    evl_attribute a[ATTRIBUTES];
    double got[2][64];
    const double x[] = { 0.1, 0.1f, 0.10000001 };
    stump s = make_stump("BRANCH_LT", 0.1f, 0);
    size_t n = stump_attributes(&s, "target", a);
    (void)state;
    assert_int_equal(run_with(regressor, a, n, matrix(EVAL_FLOAT64, x, 3, 1), 1, EVL_DOUBLE, got),
                     EVAL_OK);
    assert_true(got[0][0] == 1 && got[0][1] == 2 && got[0][2] == 2);
}

static void two_classes_of_one_score(void **state)
{
    evl_attribute a[ATTRIBUTES];
    double got[2][64];
    const double x[] = { -1, 1 };
    const int64_t labels[] = { 70, 80 };
    stump s = make_stump("BRANCH_LEQ", 0, 0);
    size_t n = stump_attributes(&s, "class", a);
    (void)state;
    a[n++] = evl_attribute_ints("classlabels_int64s", labels, 2);
    s.weights[0] = 0.25;
    s.weights[1] = 0.75;
    assert_int_equal(run_with(classifier, a, n, matrix(EVAL_FLOAT64, x, 2, 1), 2, EVL_FLOAT, got),
                     EVAL_OK);
    assert_true(got[0][0] == 70 && got[0][1] == 80);
    assert_true(got[1][0] == 0.75 && got[1][1] == 0.25 && got[1][2] == 0.25 && got[1][3] == 0.75);
    s.weights[0] = -0.25;
    assert_int_equal(run_with(classifier, a, n, matrix(EVAL_FLOAT64, x, 2, 1), 2, EVL_DOUBLE, got),
                     EVAL_OK);
    assert_true(got[0][0] == 70 && got[0][1] == 80);
    assert_true(got[1][0] == 0.25 && got[1][1] == -0.25 && got[1][2] == -0.75 && got[1][3] == 0.75);
}

/* Opset 5: a set of three below the root, a leaf that both share. */
static void a_set_is_asked_for_its_members(void **state)
{
    const uint8_t modes[] = { 6, 0 };
    const double splits[] = { 0, 3 }, weights[] = { 10, 20 }, members[] = { 7, 1.5, 4, NAN };
    const int64_t roots[] = { 0 }, features[] = { 0, 0 }, yes[] = { 0, 0 }, yes_leaf[] = { 1, 1 },
                  no[] = { 1, 1 }, no_leaf[] = { 0, 1 }, targets[] = { 0, 0 };
    const double x[] = { 7, 1.5, 4, 3, 2, 9, 1.4999, NAN },
                 right[] = { 10, 10, 10, 10, 10, 20, 10, 20 };
    const evl_tensor t_modes = vector(EVAL_UINT8, modes, 2), t_splits = reals(splits, 2),
                     t_weights = reals(weights, 2), t_members = reals(members, 4);
    const evl_attribute a[] = { evl_attribute_ints("tree_roots", roots, 1),
                                held("nodes_modes", &t_modes),
                                held("nodes_splits", &t_splits),
                                held("leaf_weights", &t_weights),
                                held("membership_values", &t_members),
                                evl_attribute_ints("nodes_featureids", features, 2),
                                evl_attribute_ints("nodes_truenodeids", yes, 2),
                                evl_attribute_ints("nodes_trueleafs", yes_leaf, 2),
                                evl_attribute_ints("nodes_falsenodeids", no, 2),
                                evl_attribute_ints("nodes_falseleafs", no_leaf, 2),
                                evl_attribute_ints("leaf_targetids", targets, 2) };
    double got[2][64];
    (void)state;
    for (int precision = 0; precision < EVL_PRECISIONS; precision++) {
        assert_int_equal(run_with(ensemble, a, sizeof a / sizeof a[0],
                                  matrix(EVAL_FLOAT64, x, 8, 1), 1, (evl_precision)precision, got),
                         EVAL_OK);
        assert_memory_equal(got[0], right, sizeof right);
    }
}

/* Two trees that are leaves: nothing is looked at. */
static void a_tree_may_be_a_leaf(void **state)
{
    const int64_t trees[] = { 0, 1 }, zeros[] = { 0, 0 };
    const double values[] = { 0, 0 }, weights[] = { 0.5, -2 }, x[] = { 1, 2, 3, 4, 5, 6 };
    const EvalString modes[] = { text("LEAF"), text("LEAF") };
    double got[2][64];
    const evl_attribute a[] = { evl_attribute_ints("nodes_treeids", trees, 2),
                                evl_attribute_ints("nodes_nodeids", zeros, 2),
                                evl_attribute_ints("nodes_featureids", zeros, 2),
                                evl_attribute_ints("nodes_truenodeids", zeros, 2),
                                evl_attribute_ints("nodes_falsenodeids", zeros, 2),
                                evl_attribute_numbers("nodes_values", values, 2),
                                texts("nodes_modes", modes, 2),
                                evl_attribute_ints("target_treeids", trees, 2),
                                evl_attribute_ints("target_nodeids", zeros, 2),
                                evl_attribute_ints("target_ids", zeros, 2),
                                evl_attribute_numbers("target_weights", weights, 2) };
    (void)state;
    for (int precision = 0; precision < EVL_PRECISIONS; precision++)
        for (int64_t n = 1; n < 7; n++) {
            assert_int_equal(run_with(regressor, a, sizeof a / sizeof a[0],
                                      matrix(EVAL_FLOAT64, x, n, 1), 1, (evl_precision)precision,
                                      got),
                             EVAL_OK);
            for (int64_t i = 0; i < n; i++)
                assert_true(got[0][i] == -1.5);
        }
}

enum { LEVELS = 17, NODES = (1 << LEVELS) - 1, INNER = NODES / 2, LEAVES = NODES - INNER };

/* Its lowest nodes are too far from their kids for the small form of nodes. */
typedef struct large_tree {
    int64_t zeros[NODES], numbers[NODES], features[NODES], yes[NODES], no[NODES];
    double values[NODES], weights[LEAVES];
    EvalString modes[NODES];
} large_tree;

/* Of any kind: gaps, negative ones, and the root's is the largest. */
static int64_t number_of(int64_t node, bool is_odd)
{
    return is_odd ? 1000 - 3 * node : node;
}

static large_tree *grow_large_tree(bool is_odd)
{
    large_tree *t = calloc(1, sizeof *t);
    assert_non_null(t);
    for (int64_t i = 0; i < NODES; i++) {
        t->numbers[i] = number_of(i, is_odd);
        t->features[i] = i * 7 % 3;
        t->values[i] = (double)(i * 37 % 101) / 64 - 0.75;
        t->modes[i] = text(i < INNER ? "BRANCH_LEQ" : "LEAF");
        t->yes[i] = i < INNER ? number_of(2 * i + 1, is_odd) : 0;
        t->no[i] = i < INNER ? number_of(2 * i + 2, is_odd) : 0;
    }
    for (int64_t i = 0; i < LEAVES; i++)
        t->weights[i] = (double)i;
    return t;
}

static double leaf_of(const large_tree *t, const double *x)
{
    int64_t at = 0;
    while (at < INNER)
        at = 2 * at + (x[t->features[at]] <= t->values[at] ? 1 : 2);
    return t->weights[at - INNER];
}

static void check_large_tree(bool is_odd)
{
    enum { ROWS = 21 };
    large_tree *t = grow_large_tree(is_odd);
    double x[ROWS * 3], got[2][64];
    const evl_attribute a[] = { evl_attribute_ints("nodes_treeids", t->zeros, NODES),
                                evl_attribute_ints("nodes_nodeids", t->numbers, NODES),
                                evl_attribute_ints("nodes_featureids", t->features, NODES),
                                evl_attribute_ints("nodes_truenodeids", t->yes, NODES),
                                evl_attribute_ints("nodes_falsenodeids", t->no, NODES),
                                evl_attribute_numbers("nodes_values", t->values, NODES),
                                texts("nodes_modes", t->modes, NODES),
                                evl_attribute_ints("target_treeids", t->zeros, LEAVES),
                                evl_attribute_ints("target_nodeids", t->numbers + INNER, LEAVES),
                                evl_attribute_ints("target_ids", t->zeros, LEAVES),
                                evl_attribute_numbers("target_weights", t->weights, LEAVES) };
    for (int i = 0; i < ROWS * 3; i++)
        x[i] = (double)(i * 29 % 97) / 64 - 0.75;
    for (int precision = 0; precision < EVL_PRECISIONS; precision++)
        for (int64_t n = 1; n <= ROWS; n += 10) {
            assert_int_equal(run_with(regressor, a, sizeof a / sizeof a[0],
                                      matrix(EVAL_FLOAT64, x, n, 3), 1, (evl_precision)precision,
                                      got),
                             EVAL_OK);
            for (int64_t i = 0; i < n; i++)
                assert_true(got[0][i] == leaf_of(t, x + 3 * i));
        }
    free(t);
}

static void a_large_tree_is_walked_to_its_leaves(void **state)
{
    (void)state;
    check_large_tree(false);
}

static void nodes_may_have_any_numbers(void **state)
{
    (void)state;
    check_large_tree(true);
}

static void expect(EvalStatus status, const stump *s)
{
    evl_attribute a[ATTRIBUTES];
    double got[2][64];
    size_t n = stump_attributes(s, "target", a);
    assert_int_equal(
        run_with(regressor, a, n, matrix(EVAL_FLOAT64, columns, 2, 1), 1, EVL_FLOAT, got), status);
}

static void what_does_not_fit_together_is_refused(void **state)
{
    stump s;
    (void)state;
    s = make_stump("BRANCH_LEQ", 0, 0), s.yes[0] = 0;
    expect(EVAL_ERR_FORMAT, &s); /* a node that follows itself */
    s = make_stump("BRANCH_LEQ", 0, 0), s.modes[1] = s.modes[0], s.yes[1] = s.no[1] = 0;
    expect(EVAL_ERR_FORMAT, &s); /* a circle */
    s = make_stump("BRANCH_LEQ", 0, 0), s.no[0] = 9;
    expect(EVAL_ERR_FORMAT, &s);
    s = make_stump("BRANCH_LEQ", 0, 0), s.numbers[2] = 1;
    expect(EVAL_ERR_FORMAT, &s);
    s = make_stump("BRANCH_LESS", 0, 0);
    expect(EVAL_ERR_FORMAT, &s);
    s = make_stump("BRANCH_LEQ", 0, 0), s.features[0] = 1;
    expect(EVAL_ERR_SHAPE, &s);
    s = make_stump("BRANCH_LEQ", 0, 0), s.features[0] = -1;
    expect(EVAL_ERR_FORMAT, &s);
    s = make_stump("BRANCH_LEQ", 0, 0), s.leaf_targets[1] = 1;
    expect(EVAL_ERR_FORMAT, &s);
    s = make_stump("BRANCH_LEQ", 0, 0), s.leaf_numbers[1] = -5;
    expect(EVAL_ERR_FORMAT, &s);
}

static void an_empty_batch_gives_nothing(void **state)
{
    evl_attribute a[ATTRIBUTES];
    double got[2][64];
    stump s = make_stump("BRANCH_LEQ", 0, 0);
    size_t n = stump_attributes(&s, "target", a);
    (void)state;
    assert_int_equal(
        run_with(regressor, a, n, matrix(EVAL_FLOAT64, columns, 0, 1), 1, EVL_FLOAT, got), EVAL_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_compares_as_it_is_named),
        cmocka_unit_test(a_threshold_is_the_files_own_number),
        cmocka_unit_test(two_classes_of_one_score),
        cmocka_unit_test(a_set_is_asked_for_its_members),
        cmocka_unit_test(a_tree_may_be_a_leaf),
        cmocka_unit_test(a_large_tree_is_walked_to_its_leaves),
        cmocka_unit_test(nodes_may_have_any_numbers),
        cmocka_unit_test(what_does_not_fit_together_is_refused),
        cmocka_unit_test(an_empty_batch_gives_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
