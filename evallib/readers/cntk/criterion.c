/* criterion.c - what training minimises: one number, the sum over all samples. Operands:
** the label, then what the network says. */
#include "readers/cntk/maker.h"
#include <string.h>

/* Minus the sum of label * logarithm. */
static evl_value *entropy(evl_cntk_maker *k, evl_value *logarithm)
{
    evl_value *each = evl_cntk_call_2(k, "Mul", evl_cntk_flatten(k, k->in[0]), logarithm);
    return evl_cntk_call_1(k, "Neg", evl_cntk_reduce_all(k, "ReduceSum", each));
}

evl_value *evl_cntk_cross_entropy_with_softmax(evl_cntk_maker *k)
{
    evl_value *z = evl_cntk_flatten(k, k->in[1]);
    evl_attribute axis = evl_attribute_int("axis", -1);
    return entropy(k, evl_cntk_call(k, "LogSoftmax", &z, 1, &axis, 1));
}

evl_value *evl_cntk_cross_entropy(evl_cntk_maker *k)
{
    return entropy(k, evl_cntk_safe_log(k, evl_cntk_flatten(k, k->in[1])));
}

evl_value *evl_cntk_square_error(evl_cntk_maker *k)
{
    evl_value *a = evl_cntk_flatten(k, k->in[0]), *b = evl_cntk_flatten(k, k->in[1]);
    evl_value *gap = evl_cntk_call_2(k, "Sub", a, b);
    return evl_cntk_reduce_all(k, "ReduceSum", evl_cntk_call_2(k, "Mul", gap, gap));
}

/* 1 - x */
static evl_value *rest(evl_cntk_maker *k, evl_value *x)
{
    return evl_cntk_call_number(k, "Add", evl_cntk_call_1(k, "Neg", x), 1);
}

/* A third operand weighs the samples. */
evl_value *evl_cntk_logistic(evl_cntk_maker *k)
{
    evl_value *label = evl_cntk_flatten(k, k->in[0]), *p = evl_cntk_flatten(k, k->in[1]);
    evl_value *yes = evl_cntk_call_2(k, "Mul", label, evl_cntk_safe_log(k, p));
    evl_value *no = evl_cntk_call_2(k, "Mul", rest(k, label), evl_cntk_safe_log(k, rest(k, p)));
    evl_value *each = evl_cntk_call_2(k, "Add", yes, no);
    if (k->node->n_inputs > 2 && k->in[2])
        each = evl_cntk_call_2(k, "Mul", each, evl_cntk_flatten(k, k->in[2]));
    return evl_cntk_call_1(k, "Neg", evl_cntk_reduce_all(k, "ReduceSum", each));
}

/* --- words in classes ------------------------------------------------------------------- */

/* One element of the label. */
static evl_value *element(evl_cntk_maker *k, int64_t i)
{
    int64_t end = i + 1, last = -1;
    evl_value *label = evl_cntk_flatten(k, k->in[0]);
    evl_attribute a[3] = { evl_cntk_ints(k, "starts", &i, 1), evl_cntk_ints(k, "ends", &end, 1),
                           evl_cntk_ints(k, "axes", &last, 1) };
    return evl_cntk_call(k, "Slice", &label, 1, a, 3);
}

/* 0, 1, ... for each element of x. */
static evl_value *places_in(evl_cntk_maker *k, const evl_value *x)
{
    int64_t n = x ? evl_cntk_sample_size(x) : 0;
    int64_t *places = evl_arena_take_many(k->b.graph->arena, (size_t)n, sizeof *places);
    if (k->b.status != EVAL_OK)
        return NULL;
    if (!places)
        return evl_cntk_fail(k, EVAL_ERR_MEMORY, "no memory for %lld words", (long long)n);
    for (int64_t i = 0; i < n; i++)
        places[i] = i;
    return evl_cntk_to_real(k, evl_build_ints(&k->b, places, (size_t)n));
}

/* The logarithm of the softmax of x at one place of each sample. */
static evl_value *log_chance(evl_cntk_maker *k, evl_value *x, evl_value *places, evl_value *at)
{
    evl_attribute axis = evl_attribute_int("axis", -1);
    evl_value *none = evl_build_number(&k->b, k->node->real, 0);
    evl_value *y = evl_cntk_call(k, "LogSoftmax", &x, 1, &axis, 1);
    y = evl_cntk_call_3(k, "Where", evl_cntk_call_2(k, "Equal", places, at), y, none);
    return evl_cntk_reduce_sample(k, "ReduceSum", y);
}

/* What words get that the label's class does not hold: nothing is left of it by Softmax. */
static const double IMPOSSIBLE = -1e30;

/* x by the columns of the words, where they are in the label's class. */
static evl_value *words_of_class(evl_cntk_maker *k, evl_value *scores, evl_value *places)
{
    evl_value *outside = evl_cntk_call_2(k, "Or", evl_cntk_call_2(k, "Less", places, element(k, 2)),
                                         evl_cntk_call_2(k, "GreaterOrEqual", places, element(k, 3)));
    return evl_cntk_call_3(k, "Where", outside, evl_build_number(&k->b, k->node->real, IMPOSSIBLE),
                           scores);
}

/* Operands: the label, which is a word, its class and where the words of the class begin and
** end; what the network says; a column for each word; scores of the classes. */
evl_value *evl_cntk_class_entropy(evl_cntk_maker *k)
{
    evl_value *factors[2] = { k->in[2], k->in[1] };
    evl_cntk_maker product = *k;
    if (evl_cntk_sample_size(k->in[0]) != 4 || k->in[2]->has_frames || evl_cntk_rank(k->in[2]) != 2)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "it wants labels of 4 elements and a matrix of words");
    product.in = factors;
    evl_value *words = evl_cntk_transpose_times(&product);
    k->b.status = product.b.status;
    evl_value *places = places_in(k, words), *classes = evl_cntk_flatten(k, k->in[3]);
    evl_value *word = log_chance(k, words_of_class(k, words, places), places, element(k, 0));
    evl_value *class = log_chance(k, classes, places_in(k, classes), element(k, 1));
    evl_value *each = evl_cntk_call_2(k, "Add", word, class);
    return evl_cntk_call_1(k, "Neg", evl_cntk_reduce_all(k, "ReduceSum", each));
}

/* --- how many are wrong ----------------------------------------------------------------- */

static evl_value *place_of_most(evl_cntk_maker *k, evl_value *x)
{
    evl_attribute a[2] = { evl_attribute_int("axis", -1), evl_attribute_int("keepdims", 1) };
    return evl_cntk_call(k, "ArgMax", &x, 1, a, 2);
}

static evl_value *is_wrong(evl_cntk_maker *k, evl_value *label, evl_value *z)
{
    evl_value *same = evl_cntk_call_2(k, "Equal", place_of_most(k, label), place_of_most(k, z));
    return evl_cntk_call_1(k, "Not", same);
}

/* Wrong when at least n classes are above that of the label. */
static evl_value *is_not_in_top(evl_cntk_maker *k, evl_value *label, evl_value *z, evl_value *n)
{
    evl_attribute axis = evl_attribute_int("axis", -1);
    evl_value *chosen =
        evl_cntk_call_2(k, "Mul", evl_cntk_call(k, "Hardmax", &label, 1, &axis, 1), z);
    evl_value *score = evl_cntk_reduce_sample(k, "ReduceSum", chosen);
    evl_value *above = evl_cntk_to_real(k, evl_cntk_call_2(k, "Greater", z, score));
    evl_value *count = evl_cntk_reduce_sample(k, "ReduceSum", above);
    return evl_cntk_call_2(k, "GreaterOrEqual", count, evl_cntk_flatten(k, n));
}

/* How many samples are wrong; a third operand says among how many classes one may be. */
evl_value *evl_cntk_classification_error(evl_cntk_maker *k)
{
    evl_value *label = evl_cntk_flatten(k, k->in[0]), *z = evl_cntk_flatten(k, k->in[1]);
    bool has_n = k->node->n_inputs > 2 && k->in[2];
    evl_value *wrong = has_n ? is_not_in_top(k, label, z, k->in[2]) : is_wrong(k, label, z);
    return evl_cntk_reduce_all(k, "ReduceSum", evl_cntk_to_real(k, wrong));
}

/* A number that one of our own operators finds from all frames. */
static evl_value *judged(evl_cntk_maker *k, const evl_op *op, evl_value *const *in, size_t n,
                         const evl_attribute *attributes, size_t n_attributes)
{
    evl_value *y = evl_build(&k->b, op, NULL, in, n, attributes, n_attributes);
    if (!y)
        return NULL;
    y->has_frames = false;
    y->t.type = k->node->real;
    return y;
}

/* Operands: two sequences, whose largest elements are their labels. CNTK v1 divides by what is
** left of the first, v2 by what is left of the second. */
evl_value *evl_cntk_edit_distance(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    evl_value *in[2];
    for (size_t i = 0; i < 2; i++)
        in[i] = evl_cntk_flat_index(k, place_of_most(k, evl_cntk_flatten(k, k->in[i])));
    evl_attribute a[6] = {
        evl_attribute_number("substitution", f->substitution),
        evl_attribute_number("deletion", f->deletion),
        evl_attribute_number("insertion", f->insertion),
        evl_attribute_int("squashes", f->squashes),
        evl_attribute_int("counts_first", strcmp(k->model->format, "CNTK v2") != 0),
        evl_cntk_ints(k, "ignored", f->ignored.at, f->ignored.n),
    };
    return judged(k, &evl_op_edit_distance, in, 2, a, 6);
}

/* Operands: gains, scores, groups. */
evl_value *evl_cntk_ranking(evl_cntk_maker *k)
{
    evl_attribute first = evl_attribute_int("first", strstr(k->node->op->name, "NDCG") != NULL);
    return judged(k, &evl_op_ranking, k->in, 3, &first, 1);
}

/* Operands: labels, of which 2 begins one, and what the network says. */
evl_value *evl_cntk_forward_backward(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    evl_value *z = evl_cntk_flatten(k, k->in[1]);
    evl_attribute axis = evl_attribute_int("axis", -1);
    evl_attribute a[2] = { evl_attribute_int("blank", f->blank), evl_attribute_int("delay", f->delay) };
    if (!k->in[0]->has_frames || !k->in[1]->has_frames)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "labels or scores are no sequence");
    evl_value *in[2] = { evl_cntk_flatten(k, k->in[0]),
                         evl_cntk_call(k, "LogSoftmax", &z, 1, &axis, 1) };
    return judged(k, &evl_op_alignment, in, 2, a, 2);
}
