/* NonMaxSuppression: of boxes that overlap, those with the best scores. How many there are
** depends on the data, so the shape rule chooses them when it can, and the run again. */
#include "ops/operands.h"
#include "ops/ops.h"
#include "ops/sort.h"
#include <inttypes.h>
#include <string.h>

typedef struct box {
    double low[2], high[2], area;
} box;

/* Memory for the boxes of one sample and one class. */
typedef struct space {
    box *boxes;
    double *scores;
    size_t *order, *other;
} space;

typedef struct suppression {
    const evl_tensor *boxes, *scores;
    size_t batch, classes, n; /* n: boxes of a sample */
    size_t most;              /* of a class */
    double overlap, score;
    bool has_score, is_centred;
} suppression;

static size_t space_bytes(size_t n)
{
    return n * (sizeof(box) + sizeof(double) + 2 * sizeof(size_t));
}

static space divide(void *memory, size_t n)
{
    space s = { .boxes = memory };
    s.scores = (double *)(s.boxes + n);
    s.order = (void *)(s.scores + n);
    s.other = s.order + n;
    return s;
}

/* False: a threshold is not known yet. */
static bool read_thresholds(const evl_use *use, suppression *s)
{
    int64_t most = 0;
    s->overlap = s->score = 0;
    evl_known known[] = { evl_use_int(use, "max_output_boxes_per_class", 2, &most),
                          evl_use_number(use, "iou_threshold", 3, &s->overlap),
                          evl_use_number(use, "score_threshold", 4, &s->score) };
    s->most = most > 0 ? (size_t)most : 0;
    s->has_score = known[2] == EVL_KNOWN;
    return known[0] != EVL_UNKNOWN && known[1] != EVL_UNKNOWN && known[2] != EVL_UNKNOWN;
}

static bool is_here(const evl_tensor *t)
{
    return evl_shape_is_known(&t->shape) && (t->data || evl_shape_count(&t->shape) == 0);
}

static bool read_all(const evl_use *use, suppression *s)
{
    const evl_tensor *boxes = use->in[0], *scores = use->in[1];
    *s = (suppression){ 0 };
    if (!is_here(boxes) || !is_here(scores) || !read_thresholds(use, s))
        return false;
    s->boxes = boxes;
    s->scores = scores;
    s->batch = (size_t)boxes->shape.dim[0];
    s->n = (size_t)boxes->shape.dim[1];
    s->classes = (size_t)scores->shape.dim[1];
    s->is_centred = evl_node_int(use->node, "center_point_box", 0) != 0;
    return true;
}

static const void *at(const evl_tensor *t, size_t i)
{
    return t->data ? (const char *)t->data + i * evl_type_size(t->type) : NULL;
}

/* Corners come in any order; or the middle and the sizes, x first. */
static box make_box(const double v[4], bool is_centred)
{
    box b;
    for (int i = 0; i < 2; i++) {
        double from = is_centred ? v[i] - v[i + 2] / 2 : v[i];
        double to = is_centred ? v[i] + v[i + 2] / 2 : v[i + 2];
        bool is_turned = !is_centred && to < from;
        b.low[i] = is_turned ? to : from;
        b.high[i] = is_turned ? from : to;
    }
    b.area = (b.high[0] - b.low[0]) * (b.high[1] - b.low[1]);
    return b;
}

static bool do_overlap(const box *a, const box *b, double threshold)
{
    double common = 1;
    for (int i = 0; i < 2; i++) {
        double low = a->low[i] > b->low[i] ? a->low[i] : b->low[i];
        double high = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
        if (!(high > low))
            return false;
        common *= high - low;
    }
    double both = a->area + b->area - common;
    return a->area > 0 && b->area > 0 && both > 0 && common / both > threshold;
}

static bool is_better(const void *arg, size_t a, size_t b)
{
    const double *scores = arg;
    return scores[a] > scores[b];
}

static void read_boxes(const suppression *s, size_t sample, const space *m)
{
    for (size_t i = 0; i < s->n; i++) {
        double v[4];
        evl_convert(4, s->boxes->type, at(s->boxes, (sample * s->n + i) * 4), EVAL_FLOAT64, v);
        m->boxes[i] = make_box(v, s->is_centred);
    }
}

/* Leaves the chosen boxes at the beginning of m->order; gives how many. */
static size_t choose(const suppression *s, size_t line, const space *m)
{
    size_t n = 0, chosen = 0;
    evl_convert(s->n, s->scores->type, at(s->scores, line * s->n), EVAL_FLOAT64, m->scores);
    for (size_t i = 0; i < s->n; i++)
        if (!s->has_score || m->scores[i] > s->score)
            m->order[n++] = i;
    evl_sort(n, m->order, m->other, is_better, m->scores);
    for (size_t i = 0; i < n && chosen < s->most; i++) {
        size_t j = 0;
        const box *candidate = &m->boxes[m->order[i]];
        while (j < chosen && !do_overlap(candidate, &m->boxes[m->order[j]], s->overlap))
            j++;
        if (j == chosen)
            m->order[chosen++] = m->order[i];
    }
    return chosen;
}

/* y: rows of sample, class, box, or NULL; at most `room` of them are written. */
static size_t suppress(const suppression *s, const space *m, int64_t *y, size_t room)
{
    size_t n = 0;
    for (size_t line = 0; s->most && s->n && line < s->batch * s->classes; line++) {
        if (line % s->classes == 0)
            read_boxes(s, line / s->classes, m);
        size_t chosen = choose(s, line, m);
        for (size_t i = 0; i < chosen && y && n + i < room; i++) {
            y[3 * (n + i)] = (int64_t)(line / s->classes);
            y[3 * (n + i) + 1] = (int64_t)(line % s->classes);
            y[3 * (n + i) + 2] = (int64_t)m->order[i];
        }
        n += chosen;
    }
    return n;
}

static EvalStatus check(evl_infer *x)
{
    int64_t four = evl_infer_dim_of(x, 0, 2), batch = evl_infer_dim_of(x, 1, 0);
    int64_t n = evl_infer_dim_of(x, 1, 2);
    EvalStatus st = evl_infer_one_type(x, 2);
    if (st || (st = evl_infer_rank(x, 0, 3, 3)) || (st = evl_infer_rank(x, 1, 3, 3)) ||
        (st = evl_infer_dim(x, "the numbers of a box", 4, &four)) ||
        (st = evl_infer_dim(x, "the batch of the scores", evl_infer_dim_of(x, 0, 0), &batch)))
        return st;
    return evl_infer_dim(x, "the scores' number of boxes", evl_infer_dim_of(x, 0, 1), &n);
}

static EvalStatus infer(evl_infer *x)
{
    suppression s;
    EvalStatus st = check(x);
    x->out[0].type = EVAL_INT64;
    x->out[0].shape = evl_shape_of(2, (const int64_t[2]){ EVL_UNKNOWN_DIM, 3 });
    if (st || !read_all(&x->use, &s))
        return st;
    void *memory = evl_allocate(x->ctx->memory, space_bytes(s.n) + 1);
    if (!memory)
        return evl_no_memory(x->ctx);
    space m = divide(memory, s.n);
    x->out[0].shape.dim[0] = (int64_t)suppress(&s, &m, NULL, 0);
    evl_release(x->ctx->memory, memory);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    p->scratch_bytes = space_bytes((size_t)p->use.in[0]->shape.dim[1]);
    return EVAL_OK;
}

static EvalStatus run(const evl_call *call)
{
    const evl_use use = { call->node, call->in, call->n_in };
    size_t n, declared = (size_t)call->out[0]->shape.dim[0];
    suppression s;
    (void)read_all(&use, &s); /* in a run everything is known */
    space m = divide(call->scratch, s.n);
    n = suppress(&s, &m, call->out[0]->data, declared);
    if (n == declared)
        return EVAL_OK;
    return evl_fail(call->ctx, EVAL_ERR_SHAPE, "%zu boxes are chosen, the model declares %zu", n,
                    declared);
}

static const evl_impl impl = { prepare, run };

/* name, domain, inputs, outputs, type input, traits, infer, real, integer, any, kind */
/* clang-format off */
static const evl_op op_non_max_suppression = {
    "NonMaxSuppression", NULL, 2, 5, 1, 1, 0, 0, infer,
    { &impl, &impl }, NULL, NULL, 0
};
/* clang-format on */

const evl_op *const evl_ops_suppress[] = { &op_non_max_suppression, NULL };
