/* times.c - matrix products.
**
** Times(W, x): W's first output_rank axes are the result's, its others are summed with
** x's first. Told row-major, W is [K, O] and x [T, R, K], so the product is x W, [T, R,
** O], and no weight is turned round. */
#include "readers/cntk/maker.h"

typedef struct product {
    size_t output_rank, inner_rank; /* W's axes */
    int64_t outer, inner, rest;     /* O, K, R */
} product;

static bool measure(evl_cntk_maker *k, const evl_value *w, const evl_value *x, size_t output_rank,
                    product *p)
{
    size_t rank = evl_cntk_rank(w);
    *p = (product){ .output_rank = output_rank, .outer = 1, .inner = 1, .rest = 1 };
    p->inner_rank = rank > output_rank ? rank - output_rank : 0;
    for (size_t i = 0; i < rank; i++)
        *(i < output_rank ? &p->outer : &p->inner) *= evl_cntk_dim(w, i);
    int64_t met = 1;
    for (size_t i = 0; i < evl_cntk_rank(x); i++)
        *(i < p->inner_rank ? &met : &p->rest) *= evl_cntk_dim(x, i);
    if (met == p->inner)
        return true;
    evl_cntk_fail(k, EVAL_ERR_SHAPE, "the left operand's %lld columns meet %lld rows of the right",
                  (long long)p->inner, (long long)met);
    return false;
}

/* [T, R, K] by [K, O], or with frames on both sides [T, K, O]. */
static evl_value *multiply(evl_cntk_maker *k, evl_value *w, evl_value *x, const product *p)
{
    int64_t w_dims[2] = { p->outer, p->inner }, x_dims[2] = { p->inner, p->rest };
    bool is_vector = p->rest == 1 && x->has_frames && !w->has_frames;
    if (evl_cntk_rank(w) != 2 || evl_cntk_dim(w, 0) != p->outer)
        w = evl_cntk_reshape(k, w, w_dims, 2);
    if (is_vector)
        x = evl_cntk_flatten(k, x);
    else if (evl_cntk_rank(x) != 2 || evl_cntk_dim(x, 0) != p->inner)
        x = evl_cntk_reshape(k, x, x_dims, 2);
    evl_value *in[2] = { x, w };
    return evl_cntk_call(k, "MatMul", in, 2, NULL, 0);
}

static evl_value *times(evl_cntk_maker *k, evl_value *w, evl_value *x, size_t output_rank)
{
    int64_t dims[2 * EVAL_MAX_RANK];
    product p;
    if (k->b.status != EVAL_OK || !measure(k, w, x, output_rank, &p))
        return NULL;
    size_t n = 0, most = evl_cntk_rank(x);
    for (size_t i = 0; i < output_rank; i++)
        dims[n++] = evl_cntk_dim(w, i);
    for (size_t i = p.inner_rank; i < most; i++)
        dims[n++] = evl_cntk_dim(x, i);
    evl_value *y = multiply(k, w, x, &p);
    if (!y || (n == 1 && evl_cntk_rank(y) == 1))
        return y;
    return evl_cntk_reshape(k, y, dims, n);
}

evl_value *evl_cntk_times(evl_cntk_maker *k)
{
    int64_t output_rank = k->node->f.output_rank;
    if (output_rank < 0 || output_rank > EVL_CNTK_MAX_RANK)
        return evl_cntk_fail(k, EVAL_ERR_FORMAT, "an output rank of %lld", (long long)output_rank);
    return times(k, k->in[0], k->in[1], (size_t)output_rank);
}

static evl_value *transposed(evl_cntk_maker *k, evl_value *w)
{
    static const size_t swapped[2] = { 1, 0 };
    if (evl_cntk_rank(w) > 2)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "the left operand is no matrix");
    return evl_cntk_permute(k, evl_cntk_with_rank(k, w, 2), swapped, 2);
}

evl_value *evl_cntk_transpose_times(evl_cntk_maker *k)
{
    return times(k, transposed(k, k->in[0]), k->in[1], 1);
}

/* LookupTable(W, x): x holds blocks of V elements, one in each set; the result has a
** column of W for each block, one below the other. */
evl_value *evl_cntk_lookup(evl_cntk_maker *k)
{
    int64_t words = evl_cntk_dim(k->in[0], 1), size = evl_cntk_sample_size(k->in[1]);
    if (words < 1 || size % words != 0)
        return evl_cntk_fail(k, EVAL_ERR_SHAPE, "%lld values are no blocks of %lld",
                             (long long)size, (long long)words);
    int64_t blocks[2] = { words, size / words };
    evl_value *y = times(k, k->in[0], evl_cntk_reshape(k, k->in[1], blocks, 2), 1);
    return evl_cntk_flatten(k, y);
}

/* The products of all pairs of elements, the first operand's varying fastest. */
evl_value *evl_cntk_khatri_rao(evl_cntk_maker *k)
{
    int64_t across[2] = { 1, evl_cntk_sample_size(k->in[1]) };
    evl_value *b = evl_cntk_reshape(k, k->in[1], across, 2);
    evl_value *y = evl_cntk_call_2(k, "Mul", evl_cntk_flatten(k, k->in[0]), b);
    return evl_cntk_flatten(k, y);
}
