/* LinearClassifier and LinearRegressor: a product with coefficients, then scores. */
#include "ops/lines.h"
#include "ops/ml.h"
#include "ops/ops.h"

typedef struct linear {
    const evl_ml_kit *ml;
    const void *weights, *intercepts;
    size_t n, width, n_targets, n_intercepts, n_scores;
    evl_ml_scores scores;
    evl_ml_labels labels;
    bool is_classifier;
} linear;

typedef struct rows {
    const linear *l;
    const char *x;
    char *sums;
    const evl_tensor *label, *scores; /* NULL: not wanted */
} rows;

static void work(void *arg, size_t i)
{
    static const double none[3];
    const rows *r = arg;
    const linear *l = r->l;
    size_t bytes = l->ml->bytes;
    char *sums = r->sums + i * l->n_targets * bytes;
    l->ml->kernel(EVL_ML_LINEAR, none, l->width, r->x + i * l->width * bytes, l->n_targets,
                  l->weights, sums);
    if (l->n_intercepts)
        l->ml->add(l->n_targets, l->intercepts, sums);
    if (r->label)
        evl_ml_label_put(&l->labels,
                         l->n_targets == 1 ? l->ml->at(sums, 0) > 0
                                           : l->ml->best(l->n_targets, sums),
                         r->label, i);
    if (r->scores)
        l->ml->write(&l->scores, sums, (char *)r->scores->data + i * l->n_scores * bytes);
}

static EvalStatus run(const evl_call *call)
{
    const linear *l = call->state;
    rows r = { .l = l, .x = evl_ml_reals(call) };
    r.sums = (char *)call->scratch + evl_ml_scratch(call->in[0], call->machine);
    r.label = l->is_classifier ? call->out[0] : NULL;
    r.scores = !l->is_classifier ? call->out[0] : call->n_out > 1 ? call->out[1] : NULL;
    evl_each_for(l->n, l->n_targets * l->width, call->machine->pool, work, &r);
    return EVAL_OK;
}

static EvalStatus prepare_with(evl_prepare *p, linear *l)
{
    size_t n_weights, expected, transform;
    l->ml = evl_ml_kit_of(p->machine);
    evl_ml_rows(&p->use.in[0]->shape, &l->n, &l->width);
    EvalStatus st = evl_ml_numbers(p, "coefficients", &l->weights, &n_weights);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "intercepts", &l->intercepts, &l->n_intercepts);
    if (st == EVAL_OK)
        st = evl_ml_choice(p->ctx, p->use.node, "post_transform", evl_ml_transforms,
                           EVL_ML_TRANSFORMS, &transform);
    if (st != EVAL_OK)
        return st;
    if (!evl_size_multiply(l->n_targets, l->width, &expected) || n_weights != expected)
        return evl_ml_wrong_count(p->ctx, "coefficients", n_weights, expected);
    if (l->n_intercepts && l->n_intercepts != l->n_targets)
        return evl_ml_wrong_count(p->ctx, "intercepts", l->n_intercepts, l->n_targets);
    l->scores.n = l->n_targets;
    l->scores.transform = (evl_ml_transform)transform;
    p->state = l;
    p->scratch_bytes =
        evl_ml_scratch(p->use.in[0], p->machine) + l->n * l->n_targets * l->ml->bytes;
    return EVAL_OK;
}

static evl_ml_labels labels_of(const evl_use *use)
{
    return evl_ml_labels_of(use->node, "classlabels_ints", "classlabels_strings");
}

/* As many as intercepts, else as labels. */
static size_t classes_of(const evl_use *use)
{
    size_t n;
    evl_ml_labels labels = labels_of(use);
    (void)evl_node_numbers(use->node, "intercepts", &n);
    return n ? n : labels.n ? labels.n : 1;
}

static EvalStatus prepare_classifier(evl_prepare *p)
{
    linear *l = evl_arena_take(p->arena, sizeof *l);
    if (!l)
        return evl_no_memory(p->ctx);
    l->is_classifier = true;
    l->labels = labels_of(&p->use);
    l->n_targets = classes_of(&p->use);
    l->n_scores = l->n_targets == 1 && l->labels.n == 2 ? 2 : l->n_targets;
    l->scores.second = l->n_scores > l->n_targets ? EVL_ML_COMPLEMENT : EVL_ML_NO_SECOND;
    if (l->n_targets > 1 && l->labels.n != l->n_targets)
        return evl_fail(p->ctx, EVAL_ERR_FORMAT,
                        "%zu labels of classes, expected %zu as of intercepts", l->labels.n,
                        l->n_targets);
    return prepare_with(p, l);
}

static EvalStatus infer_classifier(evl_infer *x)
{
    evl_ml_labels labels = labels_of(&x->use);
    size_t n = classes_of(&x->use);
    return evl_ml_infer_classes(x, n == 1 && labels.n == 2 ? 2 : (int64_t)n,
                                labels.texts ? EVAL_STRING : EVAL_INT64);
}

static EvalStatus prepare_regressor(evl_prepare *p)
{
    linear *l = evl_arena_take(p->arena, sizeof *l);
    if (!l)
        return evl_no_memory(p->ctx);
    l->n_targets = l->n_scores = (size_t)evl_node_int(p->use.node, "targets", 1);
    return prepare_with(p, l);
}

static EvalStatus infer_regressor(evl_infer *x)
{
    int64_t n, width, targets = evl_node_int(x->use.node, "targets", 1);
    EvalStatus st = evl_ml_infer_rows(x, 0, &n, &width);
    if (targets < 1)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT, "attribute targets is %lld, expected 1 or more",
                        (long long)targets);
    x->out[0].type = EVAL_FLOAT32;
    x->out[0].shape = evl_shape_of(2, (int64_t[]){ n, targets });
    return st;
}

static const evl_impl classifier = { prepare_classifier, run };
static const evl_impl regressor = { prepare_regressor, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op ops[] = {
    { "LinearClassifier", "ai.onnx.ml", 1, 1, 1, 2, 0, 0, infer_classifier,
      { &classifier, &classifier }, &classifier, NULL, 0 },
    { "LinearRegressor", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer_regressor,
      { &regressor, &regressor }, &regressor, NULL, 0 },
};
/* clang-format on */

const evl_op *const evl_ops_linear[] = { &ops[0], &ops[1], NULL };
