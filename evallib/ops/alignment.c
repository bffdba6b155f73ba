/* Alignment: minus the logarithm of how likely labels are, over all ways to align them with the
** frames (CNTK's ForwardBackward, connectionist temporal classification).
**
** Operands: frames of labels, where a largest element of 2 tells that a label begins; logarithms
** of probabilities, as many. A blank may stand before, between and behind labels. `blank`: its
** number, -1 for the last. `delay`: the frames by which a label may end after the next one begins
** in the first operand, -1 for any. */
#include "ops/ops.h"
#include <math.h>

static EvalStatus infer(evl_infer *x)
{
    static const int64_t one = 1;
    x->out[0].type = x->use.in[1]->type;
    x->out[0].shape = evl_shape_of(1, &one);
    return EVAL_OK;
}

/* Labels with blanks around them, where each begins, and the scores of a frame. */
typedef struct states {
    size_t n, *label, *begin;
    double *score; /* two more than n: nothing can stand behind the last */
} states;

static size_t frames_of(const evl_tensor *t)
{
    return t->shape.rank > 0 ? (size_t)t->shape.dim[0] : 0;
}

static size_t classes_of(const evl_tensor *t)
{
    return frames_of(t) ? evl_shape_count(&t->shape) / frames_of(t) : 0;
}

static EvalStatus prepare(evl_prepare *p)
{
    const evl_tensor *labels = p->use.in[0], *x = p->use.in[1];
    int64_t blank = evl_node_int(p->use.node, "blank", -1);
    if (frames_of(labels) != frames_of(x) || classes_of(labels) != classes_of(x))
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "labels and scores differ in shape");
    if (blank < -1 || (classes_of(x) && blank >= (int64_t)classes_of(x)))
        return evl_fail(p->ctx, EVAL_ERR_FORMAT, "the blank is no class of %zu", classes_of(x));
    size_t most = 2 * frames_of(x) + 1;
    p->scratch_bytes = (most + 2) * sizeof(double) + 2 * most * sizeof(size_t);
    return EVAL_OK;
}

static void add_state(states *s, size_t label, size_t begin)
{
    s->label[s->n] = label;
    s->begin[s->n++] = begin;
}

static states find_states(const evl_call *call, size_t blank)
{
    const evl_tensor *t = call->in[0];
    size_t frames = frames_of(t), classes = classes_of(t), most = 2 * frames + 1;
    states s = { .score = call->scratch };
    s.label = (size_t *)(void *)(s.score + most + 2);
    s.begin = s.label + most;
    for (size_t i = 0; i < frames; i++) {
        size_t best = 0;
        for (size_t j = 1; j < classes; j++)
            if (evl_tensor_f64(t, i * classes + j) > evl_tensor_f64(t, i * classes + best))
                best = j;
        if (evl_tensor_f64(t, i * classes + best) != 2)
            continue;
        add_state(&s, blank, i);
        add_state(&s, best, i);
    }
    add_state(&s, blank, frames);
    return s;
}

static double log_add(double a, double b)
{
    double most = a > b ? a : b, least = a > b ? b : a;
    return most == -INFINITY ? most : most + log1p(exp(least - most));
}

/* Whether state i may still stand at a frame: within the delay after the label behind it began. */
static bool is_allowed(const states *s, size_t i, size_t frame, size_t frames, int64_t delay,
                       size_t blank)
{
    size_t begin = i + 2 < s->n ? s->begin[i + 2] : frames;
    int64_t last = (int64_t)begin + delay - (s->label[i] == blank);
    return delay < 0 || (int64_t)frame <= last;
}

/* Scores of a frame from those of the next one, in place: a state looks at those behind it. */
static void step_back(const evl_call *call, const states *s, size_t frame, size_t blank)
{
    const evl_tensor *x = call->in[1];
    size_t frames = frames_of(x), classes = classes_of(x);
    int64_t delay = evl_node_int(call->node, "delay", -1);
    bool is_last = frame + 1 == frames;
    for (size_t i = 0; i < s->n; i++) {
        double sum = log_add(s->score[i], s->score[i + 1]);
        if (s->label[i] != blank && i + 2 < s->n && s->label[i] != s->label[i + 2])
            sum = log_add(sum, s->score[i + 2]);
        if (is_last)
            sum = i + 2 >= s->n ? 0 : -INFINITY;
        else if (!is_allowed(s, i, frame, frames, delay, blank))
            sum = -INFINITY;
        s->score[i] = sum + evl_tensor_f64(x, frame * classes + s->label[i]);
    }
}

static EvalStatus run(const evl_call *call)
{
    size_t frames = frames_of(call->in[1]);
    int64_t told = evl_node_int(call->node, "blank", -1);
    size_t blank = told < 0 ? classes_of(call->in[1]) - 1 : (size_t)told;
    double y = 0;
    if (frames > 0 && classes_of(call->in[1]) > 0) {
        states s = find_states(call, blank);
        for (size_t i = 0; i < s.n + 2; i++)
            s.score[i] = -INFINITY;
        for (size_t t = frames; t-- > 0;)
            step_back(call, &s, t, blank);
        y = -log_add(s.score[0], s.score[1]);
    }
    evl_convert(1, EVAL_FLOAT64, &y, call->out[0]->type, call->out[0]->data);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

const evl_op evl_op_alignment = {
    .name = "Alignment",
    .domain = "evl",
    .min_inputs = 2,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = 1,
    .type_input = 1,
    .infer = infer,
    .real = { &impl, &impl },
};

const evl_op *const evl_ops_alignment[] = { &evl_op_alignment, NULL };
