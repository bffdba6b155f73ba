/* random.c - what is drawn anew in each run, as CNTK does: numbers of a distribution, and classes
** by weight; and how often a class is to be expected among those. */
#include "readers/cntk/maker.h"
#include <math.h>
#include <string.h>

/* -log(-log(u)), u between 0 and 1, in the shape of x. */
static evl_value *gumbel(evl_cntk_maker *k, evl_value *u)
{
    evl_value *y = evl_cntk_call_1(k, "Neg", evl_cntk_call_1(k, "Log", u));
    return evl_cntk_call_1(k, "Neg", evl_cntk_call_1(k, "Log", y));
}

/* Numbers in the shape of the operand, or in that which the node tells. */
static evl_value *drawn(evl_cntk_maker *k, bool is_normal, double first, double second)
{
    const evl_cntk_list *told = &k->node->f.shape;
    int64_t dims[EVAL_MAX_RANK];
    bool is_like = k->node->n_inputs > 0;
    for (size_t i = 0; i < told->n && i < EVAL_MAX_RANK; i++)
        dims[told->n - 1 - i] = told->at[i];
    evl_attribute a[4] = { evl_attribute_number(is_normal ? "mean" : "low", first),
                           evl_attribute_number(is_normal ? "scale" : "high", second),
                           evl_attribute_int("dtype", k->node->real),
                           evl_cntk_ints(k, "shape", dims, told->n) };
    const char *op = is_normal ? "RandomNormal" : "RandomUniform";
    const char *like = is_normal ? "RandomNormalLike" : "RandomUniformLike";
    return evl_cntk_call(k, is_like ? like : op, k->in, is_like, a, is_like ? 3 : 4);
}

evl_value *evl_cntk_random(evl_cntk_maker *k)
{
    const evl_cntk_fields *f = &k->node->f;
    double first = f->arguments[0], second = f->arguments[1];
    if (strcmp(f->word, "uniform") == 0 || strcmp(f->word, "normal") == 0)
        return drawn(k, *f->word == 'n', first, second);
    evl_value *u = drawn(k, false, 0, 1);
    if (strcmp(f->word, "bernoulli") == 0)
        return evl_cntk_to_real(k, evl_cntk_call_number(k, "Less", u, first));
    if (strcmp(f->word, "gumbel") == 0)
        return evl_cntk_call_number(k, "Add", evl_cntk_call_number(k, "Mul", gumbel(k, u), second),
                                    first);
    return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "the distribution '%s'", f->word);
}

/* Weights of classes, of rank 1. */
static evl_value *weights_of(evl_cntk_maker *k)
{
    evl_value *x = evl_cntk_flatten(k, k->in[0]);
    int64_t n = x ? evl_cntk_dim(x, 0) : 0, most = k->node->f.is_repeated ? INT64_MAX : n;
    if (x && (x->has_frames || n < 1 || k->node->f.size < 1 || k->node->f.size > most))
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "%lld samples of %lld classes",
                             (long long)k->node->f.size, (long long)n);
    return x;
}

/* Classes drawn by weight: with the largest of log(weight) + gumbel none is drawn twice. */
static evl_value *classes(evl_cntk_maker *k, evl_value *x, int64_t n)
{
    const int64_t row[2] = { 1, n };
    const evl_cntk_fields *f = &k->node->f;
    evl_value *log = evl_cntk_call_1(k, "Log", x);
    if (f->is_repeated) {
        evl_attribute a[2] = { evl_attribute_int("sample_size", f->size),
                               evl_attribute_int("dtype", EVAL_INT64) };
        log = log ? evl_build_reshape(&k->b, NULL, log, row, 2) : NULL;
        return evl_cntk_call(k, "Multinomial", &log, 1, a, 2);
    }
    evl_attribute a[3] = { evl_attribute_number("low", 0), evl_attribute_number("high", 1),
                           evl_attribute_int("dtype", k->node->real) };
    evl_value *in[2] = { NULL, evl_build_ints(&k->b, &f->size, 1) };
    in[0] = gumbel(k, evl_cntk_call(k, "RandomUniformLike", &x, 1, a, 3));
    in[0] = evl_cntk_call_2(k, "Add", in[0], log);
    return evl_cntk_call_output(k, "TopK", in, 2, NULL, 0, 2, 1);
}

/* As columns that are 1 where the class is. */
evl_value *evl_cntk_random_sample(evl_cntk_maker *k)
{
    static const int64_t off_on[2] = { 0, 1 };
    evl_value *x = weights_of(k), *in[3];
    if (!x)
        return NULL;
    const int64_t n = evl_cntk_dim(x, 0), dims[2] = { n, k->node->f.size };
    in[0] = classes(k, x, n);
    in[1] = evl_build_ints(&k->b, &n, 1);
    in[2] = evl_cntk_to_real(k, evl_build_ints(&k->b, off_on, 2));
    return evl_cntk_reshape(k, evl_cntk_call(k, "OneHot", in, 3, NULL, 0), dims, 2);
}

/* How many classes m draws show, of weights w that sum to `sum`. */
static double shown(const evl_tensor *w, size_t n, double sum, double m)
{
    double found = 0;
    for (size_t i = 0; i < n; i++)
        found -= expm1(m * log1p(-evl_tensor_f64(w, i) / sum));
    return found;
}

/* The number of draws that shows as many classes as are wanted. */
static double draws(const evl_tensor *w, size_t n, double sum, double wanted)
{
    double low = 0, high = wanted;
    for (int i = 0; i < 200 && shown(w, n, sum, high) < wanted; i++)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(shown(w, n, sum, middle) < wanted ? &low : &high) = middle;
    }
    return low;
}

/* How often each class is to be expected in the sample. Where none is drawn twice CNTK estimates the
** number of draws by ten attempts; here it is the one that fits. */
evl_value *evl_cntk_inclusion_frequency(evl_cntk_maker *k)
{
    evl_value *x = weights_of(k);
    if (!x)
        return NULL;
    evl_value *share = evl_cntk_call_2(k, "Div", x, evl_cntk_reduce_all(k, "ReduceSum", x));
    if (k->node->f.is_repeated)
        return evl_cntk_call_number(k, "Mul", share, (double)k->node->f.size);
    const evl_value *w = k->in[0];
    size_t n = evl_shape_count(&w->t.shape);
    double sum = 0;
    for (size_t i = 0; w->is_constant && i < n; i++)
        sum += evl_tensor_f64(&w->t, i);
    if (!(sum > 0) || k->node->f.size == (int64_t)n)
        return evl_cntk_fail(k, EVAL_ERR_UNSUPPORTED, "the weights are no constant that tells");
    double m = draws(&w->t, n, sum, (double)k->node->f.size);
    evl_value *missed = evl_cntk_call_number(k, "Pow",
                                             evl_cntk_call_number(k, "Add",
                                                                  evl_cntk_call_1(k, "Neg", share), 1), m);
    return evl_cntk_call_number(k, "Add", evl_cntk_call_1(k, "Neg", missed), 1);
}
