/* SVMClassifier and SVMRegressor: kernels against support vectors; without vectors, a product
** with coefficients. Each pair of classes has a classifier, whose votes choose the class;
** with prob_a and prob_b their scores become probabilities (Wu, Lin, Weng 2004, as libsvm). */
#include "ops/lines.h"
#include "ops/ml.h"
#include "ops/ops.h"
#include <math.h>

typedef struct svm {
    const evl_ml_kit *ml;
    size_t n, width;
    evl_ml_kernel kernel;
    double parameters[3]; /* gamma, coef0, degree */
    const void *vectors, *coefficients, *prob_a, *prob_b, *rho;
    size_t n_vectors, n_coefficients, n_a, n_b, n_rho;
    size_t n_classes, n_pairs; /* a regressor has neither */
    const int64_t *per_class;  /* vectors of each class */
    bool is_one_class;
    evl_ml_scores scores;
    evl_ml_labels labels;
    size_t row_bytes; /* of scratch for a row */
} svm;

typedef struct rows {
    const svm *s;
    const char *x;
    char *memory;
    const evl_tensor *label, *scores; /* NULL: not wanted */
} rows;

/* The classifier of classes i and j: the coefficients of i's vectors against j, of j's against i.
 */
static double pair_score(const svm *s, const char *kernels, const size_t from[2],
                         const size_t class[2])
{
    size_t bytes = s->ml->bytes;
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        size_t row = side == 0 ? class[1] - 1 : class[0];
        sum += s->ml->dot((size_t)s->per_class[class[side]],
                          (const char *)s->coefficients + (row * s->n_vectors + from[side]) * bytes,
                          kernels + from[side] * bytes);
    }
    return sum;
}

/* Scores of all pairs; the class with most votes, of equals the first. */
static size_t vote(const svm *s, const char *kernels, char *scores, double *votes)
{
    size_t pair = 0, from[2] = { 0, 0 }, best = 0;
    for (size_t i = 0; i < s->n_classes; i++)
        votes[i] = 0;
    for (size_t i = 0; i < s->n_classes; i++) {
        from[1] = from[0] + (size_t)s->per_class[i];
        for (size_t j = i + 1; j < s->n_classes; j++, pair++) {
            double score =
                pair_score(s, kernels, from, (size_t[]){ i, j }) + s->ml->at(s->rho, pair);
            s->ml->set(scores, pair, score);
            votes[score > 0 ? i : j]++;
            from[1] += (size_t)s->per_class[j];
        }
        from[0] += (size_t)s->per_class[i];
    }
    for (size_t i = 1; i < s->n_classes; i++)
        best = votes[i] > votes[best] ? i : best;
    return best;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(x));
}

/* One sweep over the probabilities; false when they have settled. */
static bool improve(size_t n, const double *q, double *qp, double *p)
{
    double pqp = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        qp[i] = 0;
        for (size_t j = 0; j < n; j++)
            qp[i] += q[i * n + j] * p[j];
        pqp += p[i] * qp[i];
    }
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(qp[i] - pqp));
    if (most < 0.005 / (double)n)
        return false;
    for (size_t i = 0; i < n; i++) {
        double d = (pqp - qp[i]) / q[i * n + i];
        p[i] += d;
        pqp = (pqp + d * (d * q[i * n + i] + 2 * qp[i])) / (1 + d) / (1 + d);
        for (size_t j = 0; j < n; j++) {
            qp[j] = (qp[j] + d * q[i * n + j]) / (1 + d);
            p[j] /= 1 + d;
        }
    }
    return true;
}

/* room: n * n + 2 n numbers. */
static void probabilities(const svm *s, const char *pairs, double *room, char *to)
{
    size_t n = s->n_classes, pair = 0;
    double *q = room, *qp = q + n * n, *p = qp + n;
    for (size_t i = 0; i < n * n; i++)
        q[i] = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++, pair++) {
            double r = sigmoid(s->ml->at(pairs, pair) * s->ml->at(s->prob_a, pair) +
                               s->ml->at(s->prob_b, pair));
            r = fmin(fmax(r, 1e-7), 1 - 1e-7);
            q[i * n + i] += (1 - r) * (1 - r);
            q[j * n + j] += r * r;
            q[i * n + j] = q[j * n + i] = -r * (1 - r);
        }
    for (size_t i = 0; i < n; i++)
        p[i] = 1 / (double)n;
    for (int sweep = 0; sweep < 100 && improve(n, q, qp, p); sweep++)
        ;
    for (size_t i = 0; i < n; i++)
        s->ml->set(to, i, p[i]);
}

static size_t rounded(size_t bytes)
{
    return bytes + (EVL_ALIGNMENT - bytes % EVL_ALIGNMENT) % EVL_ALIGNMENT;
}

static void classify(void *arg, size_t row)
{
    const rows *r = arg;
    const svm *s = r->s;
    size_t bytes = s->ml->bytes, best;
    char *scores = r->memory + row * s->row_bytes,
         *kernels = scores + rounded((s->n_pairs + s->n_classes) * bytes);
    double *room = (double *)(void *)(kernels + rounded(s->n_vectors * bytes));
    const char *x = r->x + row * s->width * bytes;
    if (s->n_vectors == 0) {
        double rho = s->ml->at(s->rho, 0);
        s->ml->kernel(EVL_ML_LINEAR, s->parameters, s->width, x, s->n_classes, s->coefficients,
                      scores);
        for (size_t i = 0; i < s->n_classes; i++)
            s->ml->set(scores, i, s->ml->at(scores, i) + rho);
        best = s->ml->best(s->n_classes, scores);
    } else {
        s->ml->kernel(s->kernel, s->parameters, s->width, x, s->n_vectors, s->vectors, kernels);
        best = vote(s, kernels, scores, room);
        if (s->n_a) {
            probabilities(s, scores, room, scores + s->n_pairs * bytes);
            scores += s->n_pairs * bytes;
        }
    }
    evl_ml_label_put(&s->labels, best, r->label, row);
    size_t n_out = s->scores.second ? 2 : s->scores.n;
    if (r->scores)
        s->ml->write(&s->scores, scores, (char *)r->scores->data + row * n_out * bytes);
}

static EvalStatus run_classifier(const evl_call *call)
{
    const svm *s = call->state;
    rows r = { .s = s, .x = evl_ml_reals(call) };
    r.memory = (char *)call->scratch + evl_ml_scratch(call->in[0], call->machine);
    r.label = call->out[0];
    r.scores = call->n_out > 1 ? call->out[1] : NULL;
    evl_each_for(s->n, (s->n_vectors + s->n_classes) * (s->width + s->n_classes),
                 call->machine->pool, classify, &r);
    return EVAL_OK;
}

static void regress(void *arg, size_t row)
{
    const rows *r = arg;
    const svm *s = r->s;
    size_t bytes = s->ml->bytes;
    char *kernels = r->memory + row * s->row_bytes, *y = r->scores->data;
    const char *x = r->x + row * s->width * bytes;
    double sum;
    if (s->n_vectors) {
        s->ml->kernel(s->kernel, s->parameters, s->width, x, s->n_vectors, s->vectors, kernels);
        sum = s->ml->dot(s->n_vectors, kernels, s->coefficients);
    } else
        sum = s->ml->dot(s->width, x, s->coefficients);
    sum += s->ml->at(s->rho, 0);
    s->ml->set(kernels, 0, s->is_one_class ? (sum > 0 ? 1 : -1) : sum);
    s->ml->write(&s->scores, kernels, y + row * bytes);
}

static EvalStatus run_regressor(const evl_call *call)
{
    const svm *s = call->state;
    rows r = { .s = s, .x = evl_ml_reals(call), .scores = call->out[0] };
    r.memory = (char *)call->scratch + evl_ml_scratch(call->in[0], call->machine);
    evl_each_for(s->n, (s->n_vectors + 1) * s->width, call->machine->pool, regress, &r);
    return EVAL_OK;
}

static EvalStatus read_kernel(evl_prepare *p, svm *s)
{
    static const char *const kernels[] = { "LINEAR", "POLY", "RBF", "SIGMOID" };
    size_t kernel, n;
    const double *parameters = evl_node_numbers(p->use.node, "kernel_params", &n);
    EvalStatus st = evl_ml_choice(p->ctx, p->use.node, "kernel_type", kernels, 4, &kernel);
    if (st != EVAL_OK)
        return st;
    s->kernel = (evl_ml_kernel)kernel;
    if (n != 0 && n != 3)
        return evl_ml_wrong_count(p->ctx, "kernel_params", n, 3);
    for (size_t i = 0; i < n; i++)
        s->parameters[i] = parameters[i];
    return EVAL_OK;
}

static EvalStatus read_numbers(evl_prepare *p, svm *s)
{
    size_t n = 0, transform, expected;
    s->ml = evl_ml_kit_of(p->machine);
    evl_ml_rows(&p->use.in[0]->shape, &s->n, &s->width);
    EvalStatus st = read_kernel(p, s);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "coefficients", &s->coefficients, &s->n_coefficients);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "support_vectors", &s->vectors, &n);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "rho", &s->rho, &s->n_rho);
    if (st == EVAL_OK)
        st = evl_ml_choice(p->ctx, p->use.node, "post_transform", evl_ml_transforms,
                           EVL_ML_TRANSFORMS, &transform);
    if (st != EVAL_OK)
        return st;
    s->scores.transform = (evl_ml_transform)transform;
    if (s->n_vectors && (!evl_size_multiply(s->n_vectors, s->width, &expected) || n != expected))
        return evl_ml_wrong_count(p->ctx, "support_vectors", n, s->n_vectors * s->width);
    return EVAL_OK;
}

static EvalStatus at_least(evl_prepare *p, const char *name, size_t n, size_t expected)
{
    return n < expected ? evl_ml_wrong_count(p->ctx, name, n, expected) : EVAL_OK;
}

static EvalStatus prepare_regressor(evl_prepare *p)
{
    svm *s = evl_arena_take(p->arena, sizeof *s);
    if (!s)
        return evl_no_memory(p->ctx);
    int64_t n_vectors = evl_node_int(p->use.node, "n_supports", 0);
    s->n_vectors = n_vectors > 0 ? (size_t)n_vectors : 0;
    s->is_one_class = evl_node_int(p->use.node, "one_class", 0) != 0;
    s->scores.n = 1;
    EvalStatus st = read_numbers(p, s);
    if (st == EVAL_OK)
        st = at_least(p, "rho", s->n_rho, 1);
    if (st == EVAL_OK)
        st = at_least(p, "coefficients", s->n_coefficients, s->n_vectors ? s->n_vectors : s->width);
    s->row_bytes = rounded((s->n_vectors + 1) * s->ml->bytes);
    p->state = s;
    p->scratch_bytes = evl_ml_scratch(p->use.in[0], p->machine) + s->n * s->row_bytes;
    return st;
}

static EvalStatus infer_regressor(evl_infer *x)
{
    int64_t n, width;
    EvalStatus st = evl_ml_infer_rows(x, 0, &n, &width);
    x->out[0].type = EVAL_FLOAT32;
    x->out[0].shape = evl_shape_of(2, (int64_t[]){ n, 1 });
    return st;
}

static evl_ml_labels labels_of(const evl_use *use)
{
    return evl_ml_labels_of(use->node, "classlabels_ints", "classlabels_strings");
}

/* Of all classes; -1: a count is negative, or they are too many. */
static int64_t count_vectors(const evl_node *node)
{
    size_t n;
    int64_t sum = 0;
    const int64_t *counts = evl_node_ints(node, "vectors_per_class", &n);
    for (size_t i = 0; i < n; i++) {
        if (counts[i] < 0 || counts[i] > INT32_MAX || sum > INT32_MAX)
            return -1;
        sum += counts[i];
    }
    return sum;
}

enum { MOST_CLASSES = 1 << 16 };

static EvalStatus infer_classifier(evl_infer *x)
{
    size_t n_a;
    evl_ml_labels labels = labels_of(&x->use);
    int64_t n = (int64_t)labels.n, n_vectors = count_vectors(x->use.node);
    (void)evl_node_numbers(x->use.node, "prob_a", &n_a);
    if (n == 0 || n >= MOST_CLASSES)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT,
                        "%lld labels in classlabels_ints and classlabels_strings, expected 1 to %d",
                        (long long)n, MOST_CLASSES - 1);
    if (n_vectors < 0)
        return evl_fail(x->ctx, EVAL_ERR_FORMAT,
                        "attribute vectors_per_class holds what is no count of vectors");
    int64_t scores = n_vectors == 0 || n_a || n <= 2 ? n : n * (n - 1) / 2;
    return evl_ml_infer_classes(x, scores, labels.texts ? EVAL_STRING : EVAL_INT64);
}

static EvalStatus check_classifier(evl_prepare *p, const svm *s, size_t n_counts)
{
    size_t expected = s->n_vectors ? (s->n_classes - 1) * s->n_vectors : s->n_classes * s->width;
    size_t n_rho = s->n_vectors ? s->n_pairs : 1;
    EvalStatus st = at_least(p, "coefficients", s->n_coefficients, expected);
    if (st == EVAL_OK)
        st = at_least(p, "rho", s->n_rho, n_rho);
    if (st == EVAL_OK && s->n_vectors && n_counts != s->n_classes)
        return evl_ml_wrong_count(p->ctx, "vectors_per_class", n_counts, s->n_classes);
    if (st == EVAL_OK && s->n_a)
        st = at_least(p, "prob_a", s->n_a, s->n_pairs);
    return st == EVAL_OK && s->n_a ? at_least(p, "prob_b", s->n_b, s->n_pairs) : st;
}

static EvalStatus prepare_classifier(evl_prepare *p)
{
    svm *s = evl_arena_take(p->arena, sizeof *s);
    size_t n_counts;
    if (!s)
        return evl_no_memory(p->ctx);
    s->labels = labels_of(&p->use);
    s->n_classes = s->labels.n;
    s->n_vectors = (size_t)count_vectors(p->use.node);
    s->n_pairs = s->n_classes * (s->n_classes - 1) / 2;
    s->per_class = evl_node_ints(p->use.node, "vectors_per_class", &n_counts);
    EvalStatus st = read_numbers(p, s);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "prob_a", &s->prob_a, &s->n_a);
    if (st == EVAL_OK)
        st = evl_ml_numbers(p, "prob_b", &s->prob_b, &s->n_b);
    if (st == EVAL_OK)
        st = check_classifier(p, s, n_counts);
    bool is_pair = s->n_vectors && !s->n_a && s->n_classes == 2;
    s->scores.n = s->n_vectors && !s->n_a ? s->n_pairs : s->n_classes;
    if (is_pair)
        s->scores.second = s->scores.transform == EVL_ML_NONE ? EVL_ML_NEGATIVE : EVL_ML_COMPLEMENT;
    s->row_bytes =
        rounded((s->n_pairs + s->n_classes) * s->ml->bytes) + rounded(s->n_vectors * s->ml->bytes) +
        rounded((s->n_a ? s->n_classes * s->n_classes + 2 * s->n_classes : s->n_classes) *
                sizeof(double));
    p->state = s;
    p->scratch_bytes = evl_ml_scratch(p->use.in[0], p->machine) + s->n * s->row_bytes;
    return st;
}

static const evl_impl classifier = { prepare_classifier, run_classifier };
static const evl_impl regressor = { prepare_regressor, run_regressor };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op ops[] = {
    { "SVMClassifier", "ai.onnx.ml", 1, 1, 1, 2, 0, 0, infer_classifier,
      { &classifier, &classifier }, &classifier, NULL, 0 },
    { "SVMRegressor", "ai.onnx.ml", 1, 1, 1, 1, 0, 0, infer_regressor,
      { &regressor, &regressor }, &regressor, NULL, 0 },
};
/* clang-format on */

const evl_op *const evl_ops_svm[] = { &ops[0], &ops[1], NULL };
