/* Ranking: how well scores order what belongs together, as CNTK's LambdaRank and NDCG1Eval tell.
**
** Operands: gains, scores, and what group each belongs to; a group's elements follow each other,
** best gain first. The measure of a group is what the order by score gains over what the order
** given does, each gain divided by the logarithm of its place: all of them, or (`first`) the first
** alone. Tied scores: the lower gain comes first. Over all groups: 100 times the mean, or for all
** gains what is missing to it, times the number of elements. */
#include "ops/ops.h"
#include "ops/sort.h"
#include <math.h>

static EvalStatus infer(evl_infer *x)
{
    static const int64_t one = 1;
    x->out[0].type = x->use.in[0]->type;
    x->out[0].shape = evl_shape_of(1, &one);
    return EVAL_OK;
}

static EvalStatus prepare(evl_prepare *p)
{
    size_t n = evl_shape_count(&p->use.in[0]->shape);
    if (n != evl_shape_count(&p->use.in[1]->shape) || n != evl_shape_count(&p->use.in[2]->shape))
        return evl_fail(p->ctx, EVAL_ERR_SHAPE, "gains, scores and groups differ in number");
    p->scratch_bytes = 2 * n * sizeof(size_t);
    return EVAL_OK;
}

static double gain(const evl_call *call, size_t i)
{
    return evl_tensor_f64(call->in[0], i);
}

static bool is_before(const void *arg, size_t a, size_t b)
{
    const evl_call *call = arg;
    double x = evl_tensor_f64(call->in[1], a), y = evl_tensor_f64(call->in[1], b);
    if (x == y || isnan(x) || isnan(y))
        return gain(call, a) < gain(call, b);
    return x > y;
}

/* Of elements first .. end - 1; 0 when there is nothing to gain. */
static double measure(const evl_call *call, size_t first, size_t end)
{
    size_t n = end - first, *order = call->scratch;
    double ideal = 0, found = 0;
    for (size_t i = 0; i < n; i++)
        order[i] = first + i;
    evl_sort(n, order, order + evl_shape_count(&call->in[0]->shape), is_before, call);
    n = evl_node_int(call->node, "first", 0) ? 1 : n;
    for (size_t i = 0; i < n; i++) {
        double place = log((double)i + 2);
        ideal += gain(call, first + i) / place;
        found += gain(call, order[i]) / place;
    }
    return ideal == 0 ? 0 : found / ideal;
}

static EvalStatus run(const evl_call *call)
{
    size_t n = evl_shape_count(&call->in[0]->shape), n_groups = 0;
    double sum = 0;
    for (size_t first = 0, end; first < n; first = end, n_groups++) {
        double group = trunc(evl_tensor_f64(call->in[2], first));
        for (end = first + 1; end < n && trunc(evl_tensor_f64(call->in[2], end)) == group;)
            end++;
        sum += measure(call, first, end);
    }
    double mean = sum / (double)n_groups;
    bool is_first = evl_node_int(call->node, "first", 0) != 0;
    double y = (is_first ? mean : 1 - mean) * 100 * (double)n;
    evl_convert(1, EVAL_FLOAT64, &y, call->out[0]->type, call->out[0]->data);
    return EVAL_OK;
}

static const evl_impl impl = { prepare, run };

const evl_op evl_op_ranking = {
    .name = "Ranking",
    .domain = "evl",
    .min_inputs = 3,
    .max_inputs = 3,
    .min_outputs = 1,
    .max_outputs = 1,
    .infer = infer,
    .real = { &impl, &impl },
};

const evl_op *const evl_ops_ranking[] = { &evl_op_ranking, NULL };
