/* reduce.c - sums and the like: over axes of a sample, over samples, over everything. */
#include "readers/cntk/maker.h"
#include <string.h>

/* Axes that ReduceElements names besides 1, 2, ... */
enum { ALL_OF_SAMPLE = 0, EVERYTHING = -1, SEQUENCE = -2, BATCH = -3 };

typedef struct reduction {
    const char *name, *operator;
    bool of_truth, to_index;
} reduction;

static const reduction reductions[] = {
    { "Sum", "ReduceSum", false, false },   { "LogSum", "ReduceLogSumExp", false, false },
    { "Mean", "ReduceMean", false, false }, { "Max", "ReduceMax", false, false },
    { "Min", "ReduceMin", false, false },   { "Prod", "ReduceProd", false, false },
    { "All", "ReduceMin", true, false },    { "Any", "ReduceMax", true, false },
    { "Argmax", "ArgMax", false, true },    { "Argmin", "ArgMin", false, true },
};

static const reduction *find_reduction(const char *name)
{
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(reductions[i].name, name) == 0)
            return &reductions[i];
    return NULL;
}

static bool find_axes(evl_cntk_maker *k, const evl_value *x, size_t *axes)
{
    const evl_cntk_list *list = &k->node->f.axes;
    for (size_t i = 0; i < list->n; i++) {
        axes[i] = (size_t)(list->at[i] - 1);
        if (list->at[i] < 1 || axes[i] >= evl_cntk_rank(x)) {
            evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "a reduction over axis %lld, samples have %zu",
                          (long long)list->at[i], evl_cntk_rank(x));
            return false;
        }
    }
    return true;
}

/* The place of the extreme in one axis, as a number. */
static evl_value *reduce_to_index(evl_cntk_maker *k, const char *op, evl_value *x, size_t axis)
{
    evl_attribute a[2] = { evl_attribute_int("axis", x->t.shape.rank - 1 - (int64_t)axis),
                           evl_attribute_int("keepdims", 1) };
    return evl_cntk_to_real(k, evl_cntk_call(k, op, &x, 1, a, 2));
}

static evl_value *without(evl_cntk_maker *k, evl_value *y, const size_t *axes, size_t n)
{
    bool is_gone[EVAL_MAX_RANK] = { false };
    for (size_t i = 0; i < n; i++)
        is_gone[axes[i]] = true;
    return k->node->f.keeps_axes ? y : evl_cntk_squeeze(k, y, is_gone);
}

static evl_value *reduce_axes(evl_cntk_maker *k, const reduction *r, evl_value *x)
{
    size_t axes[EVAL_MAX_RANK], n = k->node->f.axes.n;
    if (!find_axes(k, x, axes))
        return NULL;
    if (r->to_index && n != 1)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "%s over %zu axes", r->name, n);
    evl_value *y = r->to_index ? reduce_to_index(k, r->operator, x, axes[0])
                               : evl_cntk_reduce(k, r->operator, x, axes, n);
    return without(k, y, axes, n);
}

static evl_value *truth(evl_cntk_maker *k, evl_value *x)
{
    evl_value *is_zero = evl_cntk_call_number(k, "Equal", x, 0);
    return evl_cntk_to_real(k, evl_cntk_call_1(k, "Not", is_zero));
}

evl_value *evl_cntk_reduce_elements(evl_cntk_maker *k)
{
    const evl_cntk_list *axes = &k->node->f.axes;
    const reduction *r = find_reduction(k->node->f.word);
    if (!r)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "the reduction '%s'", k->node->f.word);
    evl_value *x = r->of_truth ? truth(k, k->in[0]) : k->in[0];
    if (k->b.status != EVAL_OK)
        return NULL;
    if (axes->n != 1 || axes->at[0] > 0)
        return reduce_axes(k, r, x);
    if (axes->at[0] == SEQUENCE || axes->at[0] == BATCH)
        return evl_cntk_reduce_frames(k);
    if (axes->at[0] == EVERYTHING && !r->to_index)
        return evl_cntk_reduce_all(k, r->operator, x);
    if (axes->at[0] != ALL_OF_SAMPLE)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "a reduction over axis %lld",
                             (long long)axes->at[0]);
    if (r->to_index)
        return reduce_to_index(k, r->operator, evl_cntk_flatten(k, x), 0);
    return evl_cntk_reduce_sample(k, r->operator, x);
}

/* Over the frames, which are the batch: what is left has none. */
evl_value *evl_cntk_reduce_frames(evl_cntk_maker *k)
{
    const int64_t first = 0;
    const reduction *r = find_reduction(k->node->f.word);
    evl_value *x = r && r->of_truth ? truth(k, k->in[0]) : k->in[0];
    if (!r || r->to_index)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "the reduction '%s' over frames",
                             k->node->f.word);
    evl_attribute a[2] = { evl_attribute_int("keepdims", 0), evl_cntk_ints(k, "axes", &first, 1) };
    if (!x || !x->has_frames)
        return x;
    evl_value *y = evl_cntk_call(k, r->operator, & x, 1, a, 2);
    if (y)
        y->has_frames = false;
    return y;
}

evl_value *evl_cntk_sum_elements(evl_cntk_maker *k)
{
    return evl_cntk_reduce_all(k, "ReduceSum", k->in[0]);
}

evl_value *evl_cntk_sum_columns(evl_cntk_maker *k)
{
    return evl_cntk_reduce_sample(k, "ReduceSum", k->in[0]);
}

evl_value *evl_cntk_l1(evl_cntk_maker *k)
{
    return evl_cntk_reduce_all(k, "ReduceSum", evl_cntk_call_1(k, "Abs", k->in[0]));
}

evl_value *evl_cntk_l2(evl_cntk_maker *k)
{
    evl_value *squares = evl_cntk_call_2(k, "Mul", k->in[0], k->in[0]);
    return evl_cntk_call_1(k, "Sqrt", evl_cntk_reduce_all(k, "ReduceSum", squares));
}

static evl_value *norm(evl_cntk_maker *k, evl_value *x)
{
    evl_value *squares = evl_cntk_reduce_sample(k, "ReduceSum", evl_cntk_call_2(k, "Mul", x, x));
    return evl_cntk_call_number(k, "Max", evl_cntk_call_1(k, "Sqrt", squares), 1e-30);
}

/* The cosine of the angle between two samples. */
evl_value *evl_cntk_cos_distance(evl_cntk_maker *k)
{
    evl_value *a = k->in[0], *b = k->in[1];
    evl_value *product = evl_cntk_reduce_sample(k, "ReduceSum", evl_cntk_call_2(k, "Mul", a, b));
    evl_value *y = evl_cntk_call_2(k, "Div", product, norm(k, a));
    return evl_cntk_call_2(k, "Div", y, norm(k, b));
}

/* A whole number that is a constant; -1 otherwise. */
static int64_t whole_of(const evl_value *v)
{
    bool is_one = v->is_constant && evl_shape_count(&v->t.shape) == 1;
    double number = is_one ? evl_tensor_f64(&v->t, 0) : -1;
    return number >= 0 && number < INT32_MAX ? (int64_t)number : -1;
}

enum { MOST_NEGATIVES = 1 << 12 };

/* [T, n + 1]: for each frame itself and n others, which follow each other from `shift` on. */
static evl_value *others(evl_cntk_maker *k, evl_value *x, int64_t shift, int64_t n)
{
    const int64_t zero = 0, one = 1, last = -1;
    evl_value *count = evl_cntk_frame_count(k, x), *first = evl_build_ints(&k->b, &zero, 1);
    int64_t *ahead = evl_arena_take_many(k->b.graph->arena, (size_t)n + 1, sizeof *ahead);
    if (!ahead || !count || !first)
        return evl_cntk_fail(k, EVAL_ERR_MEMORY, "no memory");
    for (int64_t i = 1; i <= n; i++)
        ahead[i] = shift + i - 1;
    evl_value *range[3] = { evl_build_reshape(&k->b, NULL, first, NULL, 0),
                            evl_build_reshape(&k->b, NULL, count, NULL, 0), NULL };
    range[2] = evl_build_ints(&k->b, &one, 1);
    range[2] = range[2] ? evl_build_reshape(&k->b, NULL, range[2], NULL, 0) : NULL;
    evl_value *in[2] = { evl_cntk_call(k, "Range", range, 3, NULL, 0),
                         evl_build_ints(&k->b, &last, 1) };
    evl_value *place = evl_cntk_call(k, "Unsqueeze", in, 2, NULL, 0);
    place = evl_cntk_call_2(k, "Add", place, evl_build_ints(&k->b, ahead, (size_t)n + 1));
    return evl_cntk_call_2(k, "Mod", place, count);
}

/* Operands: a, b, the shift and the number of negative samples. The cosines of a with b's frame and
** with others of b's. */
evl_value *evl_cntk_cos_distance_negative(evl_cntk_maker *k)
{
    static const size_t first = 0;
    int64_t shift = whole_of(k->in[2]), n = whole_of(k->in[3]);
    evl_value *a = evl_cntk_flatten(k, k->in[0]), *b = evl_cntk_flatten(k, k->in[1]);
    if (shift < 0 || n < 0 || n > MOST_NEGATIVES || !a || !b || !a->has_frames || !b->has_frames)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED,
                             "it wants two sequences, and constants for shift and number");
    int64_t wide[2] = { evl_cntk_dim(a, 0), 1 }, flat = n + 1;
    evl_attribute axis = evl_attribute_int("axis", 0);
    evl_value *in[2] = { b, others(k, b, shift, n) };
    b = evl_cntk_call(k, "Gather", in, 2, &axis, 1);
    a = evl_cntk_reshape(k, a, wide, 2);
    evl_value *sums[3] = { evl_cntk_call_2(k, "Mul", a, b), evl_cntk_call_2(k, "Mul", a, a),
                           evl_cntk_call_2(k, "Mul", b, b) };
    for (size_t i = 0; i < 3; i++)
        sums[i] = evl_cntk_reduce(k, "ReduceSum", sums[i], &first, 1);
    for (size_t i = 1; i < 3; i++)
        sums[0] = evl_cntk_call_2(k, "Div", sums[0],
                                  evl_cntk_call_number(k, "Max", evl_cntk_call_1(k, "Sqrt", sums[i]),
                                                       1e-30));
    return evl_cntk_reshape(k, sums[0], &flat, 1);
}
