/* EditDistance: how many changes make one sequence of labels the other, as CNTK counts them.
**
** Operands: labels of both sequences, a frame each. Those of `ignored` are left out; where
** `squashes` is set, so are repetitions. Of several cheapest ways a substitution comes before an
** insertion, and that before a deletion. The number is scaled by the frames over what is left of
** the second sequence, or of the first (`counts_first`). */
#include "ops/ops.h"

static EvalStatus infer(evl_infer *x)
{
    static const int64_t one = 1;
    x->out[0].type = EVAL_FLOAT64;
    x->out[0].shape = evl_shape_of(1, &one);
    return EVAL_OK;
}

/* Labels that are left of both, and two rows of costs and of changes. */
typedef struct space {
    int64_t *a, *b;
    float *cost[2]; /* single: CNTK's ties depend on it */
    size_t *changes[2];
} space;

static size_t count(const evl_use *use, size_t i)
{
    return evl_shape_count(&use->in[i]->shape);
}

static EvalStatus prepare(evl_prepare *p)
{
    size_t n = count(&p->use, 0), m = count(&p->use, 1);
    size_t row = (m + 1) * (sizeof(float) + sizeof(size_t));
    p->scratch_bytes = (n + m) * sizeof(int64_t) + 2 * row;
    return EVAL_OK;
}

static space divide(char *memory, size_t n, size_t m)
{
    space s = { .a = (int64_t *)(void *)memory };
    s.b = s.a + n;
    s.changes[0] = (size_t *)(void *)(s.b + m);
    s.changes[1] = s.changes[0] + m + 1;
    s.cost[0] = (float *)(void *)(s.changes[1] + m + 1);
    s.cost[1] = s.cost[0] + m + 1;
    return s;
}

static bool is_ignored(const evl_node *node, int64_t label)
{
    size_t n = 0;
    const int64_t *ignored = evl_node_ints(node, "ignored", &n);
    for (size_t i = 0; i < n; i++)
        if (ignored[i] == label)
            return true;
    return false;
}

static size_t take_labels(const evl_node *node, const evl_tensor *t, int64_t *labels)
{
    bool squashes = evl_node_int(node, "squashes", 0) != 0;
    size_t n = evl_shape_count(&t->shape), left = 0;
    const int64_t *all = t->data;
    for (size_t i = 0; i < n; i++)
        if (!(squashes && i > 0 && all[i] == all[i - 1]) && !is_ignored(node, all[i]))
            labels[left++] = all[i];
    return left;
}

typedef struct penalties {
    float substitution, deletion, insertion;
} penalties;

static void fill_row(const space *s, const penalties *p, size_t i, size_t m)
{
    const float *above = s->cost[(i + 1) % 2];
    const size_t *changes_above = s->changes[(i + 1) % 2];
    float *cost = s->cost[i % 2];
    size_t *changes = s->changes[i % 2];
    cost[0] = (float)i * p->deletion;
    changes[0] = i;
    for (size_t j = 1; j <= m; j++) {
        float deleted = above[j] + p->deletion, inserted = cost[j - 1] + p->insertion;
        float substituted = above[j - 1] + p->substitution;
        bool is_same = s->a[i - 1] == s->b[j - 1];
        bool is_diagonal = is_same || (substituted <= deleted && substituted <= inserted);
        cost[j] = is_same ? above[j - 1]
                  : is_diagonal ? substituted
                  : deleted < inserted ? deleted : inserted;
        changes[j] = is_same ? changes_above[j - 1]
                     : 1 + (is_diagonal ? changes_above[j - 1]
                            : deleted < inserted ? changes_above[j] : changes[j - 1]);
    }
}

static EvalStatus run(const evl_call *call)
{
    const evl_node *node = call->node;
    const penalties p = { (float)evl_node_number(node, "substitution", 1),
                          (float)evl_node_number(node, "deletion", 1),
                          (float)evl_node_number(node, "insertion", 1) };
    size_t frames = evl_shape_count(&call->in[0]->shape);
    space s = divide(call->scratch, frames, evl_shape_count(&call->in[1]->shape));
    size_t n = take_labels(node, call->in[0], s.a), m = take_labels(node, call->in[1], s.b);
    for (size_t j = 0; j <= m; j++) {
        s.cost[0][j] = (float)j * p.insertion;
        s.changes[0][j] = j;
    }
    for (size_t i = 1; i <= n; i++)
        fill_row(&s, &p, i, m);
    size_t left = evl_node_int(node, "counts_first", 0) ? n : m;
    double y = (double)s.changes[n % 2][m] * (double)frames / (double)left;
    evl_convert(1, EVAL_FLOAT64, &y, call->out[0]->type, call->out[0]->data);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

const evl_op evl_op_edit_distance = {
    .name = "EditDistance",
    .domain = "evl",
    .min_inputs = 2,
    .max_inputs = 2,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .any = &impl,
};

const evl_op *const evl_ops_edit_distance[] = { &evl_op_edit_distance, NULL };
