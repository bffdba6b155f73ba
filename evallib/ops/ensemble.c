/* TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble: sums over trees (ops/trees.h),
** then base values, labels and scores. */
#include "ops/ml.h"
#include "ops/ops.h"
#include "ops/trees.h"

/* Rows are cut into parts for threads: as many as have their tiles in a cache, but four parts
** or more of what takes as many steps as LARGE. */
enum { PART = 128, TILES = 1 << 15, LARGE = 1 << 14, PARTS = 4 };

typedef struct ensemble {
    const evl_forest *forest;
    const evl_tree_kit *trees;
    const evl_ml_kit *ml;
    size_t n, width;         /* of the rows */
    size_t part, tile_bytes; /* rows of a part; memory for it */
    const void *base;
    size_t n_base, base_to; /* a lone base value is of that target */
    evl_ml_scores scores;
    evl_ml_labels labels;
    bool is_large;               /* worth several threads */
    bool is_classifier, is_lone; /* lone: of two classes leaves vote for one only, */
    size_t lone;
    double least; /* which wins above this */
} ensemble;

typedef struct rows {
    const ensemble *e;
    const char *x;
    char *sums, *tiles;
    const evl_tensor *label, *scores; /* NULL: not wanted */
} rows;

static size_t choose(const ensemble *e, const void *sums)
{
    if (e->is_lone)
        return e->ml->at(sums, e->lone) > e->least;
    return e->forest->n_targets == 1 ? e->ml->at(sums, 0) > 0
                                     : e->ml->best(e->forest->n_targets, sums);
}

static void finish_row(const rows *r, size_t row, void *sums)
{
    const ensemble *e = r->e;
    size_t n = e->forest->n_targets, bytes = e->ml->bytes;
    if (e->n_base)
        e->ml->add(e->n_base, e->base, (char *)sums + e->base_to * bytes);
    if (r->label)
        evl_ml_label_put(&e->labels, choose(e, sums), r->label, row);
    if (r->scores)
        e->ml->write(&e->scores, (char *)sums + (e->scores.second ? e->lone * bytes : 0),
                     (char *)r->scores->data + row * n * bytes);
}

static void work(void *arg, size_t part, size_t lane)
{
    const rows *r = arg;
    const ensemble *e = r->e;
    size_t from = part * e->part, n = e->n - from < e->part ? e->n - from : e->part;
    size_t sum_bytes = e->forest->n_targets * e->ml->bytes;
    char *sums = r->sums + from * sum_bytes;
    e->trees->rows(e->forest, n, e->width, r->x + from * e->width * e->ml->bytes,
                   r->tiles + lane * e->tile_bytes, sums);
    for (size_t i = 0; i < n; i++)
        finish_row(r, from + i, sums + i * sum_bytes);
}

static size_t rounded(size_t bytes)
{
    return bytes + (EVL_ALIGNMENT - bytes % EVL_ALIGNMENT) % EVL_ALIGNMENT;
}

static size_t sums_bytes(const ensemble *e)
{
    return rounded(e->n * e->scores.n * e->ml->bytes);
}

static EvalStatus run(const evl_call *call)
{
    const ensemble *e = call->state;
    rows r = { .e = e, .x = evl_ml_reals(call) };
    r.sums = (char *)call->scratch + evl_ml_scratch(call->in[0], call->machine);
    r.tiles = r.sums + sums_bytes(e);
    r.label = e->is_classifier ? call->out[0] : NULL;
    r.scores = !e->is_classifier ? call->out[0] : call->n_out > 1 ? call->out[1] : NULL;
    evl_parallel_for(e->is_large ? call->machine->pool : NULL, (e->n + e->part - 1) / e->part, work,
                     &r);
    return EVAL_OK;
}

/* By the shape alone, so that sums are the same for any number of threads. */
static void cut_rows(ensemble *e)
{
    const evl_forest *f = e->forest;
    size_t in_tile = e->trees->rows_in_tile, tile_bytes = e->trees->tile_bytes(f);
    size_t n_tiles = TILES / tile_bytes, fair = (e->n + in_tile * PARTS - 1) / (in_tile * PARTS);
    e->is_large = e->n > LARGE / (f->n_steps + f->n_columns + 1);
    n_tiles = n_tiles < PART / in_tile ? n_tiles : PART / in_tile;
    n_tiles = e->is_large && fair < n_tiles ? fair : n_tiles;
    n_tiles = n_tiles ? n_tiles : 1;
    e->part = n_tiles * in_tile;
    e->tile_bytes =
        rounded((e->n < e->part ? (e->n + in_tile - 1) / in_tile : n_tiles) * tile_bytes);
}

static EvalStatus read_base(evl_prepare *p, ensemble *e, size_t n_targets)
{
    EvalStatus st = evl_ml_numbers(p, "base_values", &e->base, &e->n_base);
    if (st == EVAL_OK && e->n_base > 1 && e->n_base != n_targets)
        return evl_ml_wrong_count(p->ctx, "base_values", e->n_base, n_targets);
    e->base_to = e->n_base == 1 && e->is_lone ? e->lone : 0;
    return st;
}

/* Opset 5 numbers what earlier ones name. */
static EvalStatus read_choice(evl_context *ctx, const evl_node *node, const char *name,
                              const char *const *choices, int64_t n, int64_t otherwise,
                              size_t *choice)
{
    const evl_attribute *a = evl_node_attribute(node, name);
    *choice = (size_t)otherwise;
    if (a && a->kind == EVL_ATTRIBUTE_TEXT)
        return evl_ml_choice(ctx, node, name, choices, (size_t)n, choice);
    int64_t number = evl_node_int(node, name, otherwise);
    if (number < 0 || number >= n)
        return evl_fail(ctx, EVAL_ERR_FORMAT, "attribute %s is %lld, expected 0 to %lld", name,
                        (long long)number, (long long)n - 1);
    *choice = (size_t)number;
    return EVAL_OK;
}

static EvalStatus prepare_with(evl_prepare *p, ensemble *e, const char *leaves, size_t n_targets,
                               evl_tree_sum sum)
{
    bool is_double = p->machine->precision == EVL_DOUBLE;
    size_t transform = 0;
    e->trees = is_double ? &evl_tree_kit_d : &evl_tree_kit_f;
    e->ml = evl_ml_kit_of(p->machine);
    evl_ml_rows(&p->use.in[0]->shape, &e->n, &e->width);
    EvalStatus st = read_choice(p->ctx, p->use.node, "post_transform", evl_ml_transforms,
                                EVL_ML_TRANSFORMS, 0, &transform);
    if (st == EVAL_OK)
        st = read_base(p, e, n_targets);
    if (st == EVAL_OK)
        st = evl_forest_of(p, leaves, e->width, n_targets, sum, &e->forest);
    if (st != EVAL_OK)
        return st;
    e->scores.n = n_targets;
    e->scores.transform = (evl_ml_transform)transform;
    cut_rows(e);
    p->state = e;
    p->scratch_bytes = evl_ml_scratch(p->use.in[0], p->machine) + sums_bytes(e) +
                       evl_pool_threads(p->machine->pool) * e->tile_bytes;
    return EVAL_OK;
}

static size_t targets_of(const evl_use *use)
{
    return (size_t)evl_node_int(use->node, "n_targets", 1);
}

static EvalStatus prepare_regressor(evl_prepare *p)
{
    static const char *const sums[] = { "AVERAGE", "SUM", "MIN", "MAX" };
    ensemble *e = evl_arena_take(p->arena, sizeof *e);
    size_t sum;
    if (!e)
        return evl_no_memory(p->ctx);
    EvalStatus st =
        read_choice(p->ctx, p->use.node, "aggregate_function", sums, 4, EVL_TREE_SUM, &sum);
    if (st != EVAL_OK)
        return st;
    bool is_5 = evl_node_attribute(p->use.node, "tree_roots");
    return prepare_with(p, e, is_5 ? "leaf" : "target", targets_of(&p->use), (evl_tree_sum)sum);
}

static EvalStatus infer_regressor(evl_infer *x)
{
    int64_t n, width, targets = evl_node_int(x->use.node, "n_targets", 1);
    EvalStatus st = evl_ml_infer_rows(x, 0, &n, &width);
    if (targets < 1)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "attribute n_targets is %lld, expected 1 or more",
                        (long long)targets);
    x->out[0].type = EVAL_FLOAT32;
    x->out[0].shape = evl_shape_of(2, (int64_t[]){ n, targets });
    return st;
}

/* The newer operator's scores are of its input's type. */
static EvalStatus infer_ensemble(evl_infer *x)
{
    EvalStatus st = infer_regressor(x);
    x->out[0].type = x->use.in[0]->type;
    return st;
}

static evl_ml_labels labels_of(const evl_use *use)
{
    return evl_ml_labels_of(use->node, "classlabels_int64s", "classlabels_strings");
}

static EvalStatus infer_classifier(evl_infer *x)
{
    evl_ml_labels labels = labels_of(&x->use);
    if (labels.n == 0)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT,
                        "attribute classlabels_int64s or classlabels_strings is needed");
    return evl_ml_infer_classes(x, (int64_t)labels.n, labels.texts ? EVAL_STRING : EVAL_INT64);
}

/* Two classes and votes for one of them: weights above 0 are shares of 1, others speak for
** the one class by their sign. Votes for the first are meant for the second. */
static void look_for_lone(const evl_use *use, ensemble *e)
{
    size_t n;
    const int64_t *ids = evl_node_ints(use->node, "class_ids", &n);
    e->is_lone = e->labels.n == 2 && n > 0;
    for (size_t i = 0; i < n; i++)
        e->is_lone &= ids[i] == ids[0];
    e->lone = e->is_lone && ids[0] == 1;
}

static EvalStatus prepare_classifier(evl_prepare *p)
{
    ensemble *e = evl_arena_take(p->arena, sizeof *e);
    if (!e)
        return evl_no_memory(p->ctx);
    e->is_classifier = true;
    e->labels = labels_of(&p->use);
    look_for_lone(&p->use, e);
    EvalStatus st = prepare_with(p, e, "class", e->labels.n, EVL_TREE_SUM);
    if (st != EVAL_OK)
        return st;
    e->is_lone &= e->n_base < 2;
    e->least = e->forest->is_positive ? 0.5 : 0;
    if (e->is_lone && e->lone == 0)
        e->scores.second = e->forest->is_positive ? EVL_ML_COMPLEMENT : EVL_ML_NEGATIVE;
    return st;
}

static const evl_impl regressor = { prepare_regressor, run };
static const evl_impl classifier = { prepare_classifier, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op ops[] = {
    { "TreeEnsemble", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer_ensemble,
      { &regressor, &regressor }, NULL, NULL, 0 },
    { "TreeEnsembleClassifier", "ai.onnx.ml", 1, 1, 1, 2, 0, 0, infer_classifier,
      { &classifier, &classifier }, &classifier, NULL, 0 },
    { "TreeEnsembleRegressor", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer_regressor,
      { &regressor, &regressor }, &regressor, NULL, 0 },
};
/* clang-format on */

const evl_op *const evl_ops_ensemble[] = { &ops[0], &ops[1], &ops[2], NULL };
